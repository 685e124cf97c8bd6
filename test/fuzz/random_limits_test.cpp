// Random programs compiled under random limits: no call returns later than half a second after its deadline, and none
// lets the process grow by 100 MB more than it may.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=500 build/bin/random_limits_test

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/engine.h"
#include "test/support/from_environment.h"
#include "test/support/random/random_program.h"

namespace tc::test {
namespace {

/// A text whose last def is long in one stage or another, and the size of all its sizes.
struct LongProgram {
  std::string text;
  std::int64_t size = 0;
};

std::string chain(std::uint64_t count) {
  std::string text = "def f(float(N) X) -> (O) {\n";
  for (std::uint64_t i = 0; i < count; ++i)
    text += str("T", i, "(i) = ", i == 0 ? std::string("X") : str("T", i - 1), "(i) * ", i % 5, " + 1\n");
  return text + str("O(i) = T", count - 1, "(i)\n}");
}

std::string stencils(std::uint64_t count) {
  std::string text = "def f(float(N,N) B0, float(K,K) W) -> (O) {\n";
  for (std::uint64_t i = 0; i < count; ++i)
    text += str("B", i + 1, "(x,y) +=! B", i, "(x+a,y+b) * W(a,b) where a in 0:3, b in 0:3\n");
  return text + str("O(x,y) = B", count, "(x,y)\n}");
}

std::string quotients(std::uint64_t count) {
  std::string subscript = "i";
  for (std::uint64_t i = 0; i < count; ++i) subscript = str("((", subscript, ") * 3 + ", i, ") / 2");
  return str("def f(float(N) X) -> (O) { O(i) = X(min(max(0, ", subscript, "), N - 1)) where i in 0:N }");
}

/// A sum over ranges whose lengths are near what counts end at.
std::string vast(std::mt19937_64& random) {
  auto range = [&] {
    static const char* const all[] = {"N",
                                      "N*N",
                                      "N*N*N",
                                      "N*N*N*N",
                                      "N*N - 1",
                                      "2147483647",
                                      "4503599627370495",
                                      "4503599627370496",
                                      "4503599627370497",
                                      "9223372036854775806",
                                      "9223372036854775807",
                                      "3"};
    return all[random() % std::size(all)];
  };
  static const char* const sums[] = {"+=!", "*=!", "max=!", "min=!"};
  return str("def f(float(N) A, float(N) B) -> (O) { O", random() % 2 ? "(i) " : " ", sums[random() % std::size(sums)],
             " A(i) * B(k) where j in 0:", range(), ", l in 0:", range(), " }");
}

std::int64_t vast_size(std::mt19937_64& random) {
  const auto power = std::int64_t{1} << random() % 48;
  static const std::int64_t roots[] = {20000, 46341, 165140, 67108864, 94906265, 3037000499};
  if (random() % 2) return roots[random() % std::size(roots)];
  return std::max<std::int64_t>(power + static_cast<std::int64_t>(random() % 3) - 1, 0);
}

LongProgram long_program(std::mt19937_64& random) {
  switch (random() % 6) {
    case 4:
    case 5: {
      auto text = vast(random);
      return {std::move(text), vast_size(random)};
    }
    case 0:
      return {chain(1 + random() % 600), 64};
    case 1:
      return {stencils(1 + random() % 16), 100};
    case 2:
      return {quotients(1 + random() % 40), 1000};
    default:
      return {random_program(random()).text(), static_cast<std::int64_t>(1 + random() % 40)};
  }
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Seconds since \p wall and \p processor were read, as far as this process ran: on a busy machine others' time does not count.
double seconds_since(std::chrono::steady_clock::time_point wall, std::clock_t processor) {
  return std::min(std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(),
                  static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
}

std::vector<TensorSpec> specs_of(const engine::Function& function, std::int64_t size) {
  std::vector<TensorSpec> result;
  for (const auto& param : function.def.params) {
    const auto& tensor = function.def.tensors.at(param.name);
    result.push_back(contiguous(tensor.type, std::vector<std::int64_t>(tensor.rank, size)));
  }
  return result;
}

TEST(RandomLimits, AreNotOverrun) {
  const auto first = from_environment("TC_FUZZ_SEED", 1), count = from_environment("TC_FUZZ_COUNT", 12);
  double worst = 0;
  std::size_t grown = 0, reached = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed * 7723 + 5);
    auto program = long_program(random);
    engine::CompileOptions options;
    options.time_limit = std::pow(10, -3 + 3.0 * static_cast<double>(random() % 1000) / 1000);
    if (random() % 4 == 0) options.target = Target::parse("cuda:sm_90");
    if (random() % 3 == 0) options.memory_limit = (1 + random() % 64) << 20;
    auto before = resident_bytes();
    std::chrono::steady_clock::time_point start;
    std::clock_t processor = 0;
    try {
      auto function = engine::define(program.text).functions.back();
      auto specs = specs_of(*function, program.size);
      start = std::chrono::steady_clock::now();
      processor = std::clock();
      engine::compile(function, specs, {}, options);
    } catch (const ResourceError&) {
      ++reached;
      auto after = resident_bytes();
      if (options.memory_limit != 0 && after > before + options.memory_limit)
        grown = std::max(grown, after - before - options.memory_limit);
    } catch (const InternalError& error) {
      ADD_FAILURE() << "seed " << seed << ", size " << program.size << "\n" << error.what();
    } catch (const Error&) {
      continue;
    }
    const auto taken = seconds_since(start, processor);
    worst = std::max(worst, taken - options.time_limit);
    EXPECT_LT(taken, options.time_limit + 0.5) << "seed " << seed << "\n" << program.text.substr(0, 500);
  }
  EXPECT_LT(grown, std::size_t(100) << 20);
  std::cout << "seeds " << first << " to " << first + count - 1 << ": " << reached << " limits reached, at worst "
            << worst << " s and " << (grown >> 20) << " MB late\n";
}

}  // namespace
}  // namespace tc::test
