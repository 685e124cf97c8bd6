#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <thread>

#include "tc/base/str.h"
#include "tc/engine/graph/compile_graph.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Defs compiled in parts.
namespace tc::engine::graph_test {
namespace {

using graph::Partition;

const std::string layer =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def bias(float(N,K) X, float(K) b) -> (Y) { Y(n,k) = X(n,k) + b(k) }\n"
    "def limit(float(N,K) X) -> (Y) { Y(n,k) = (X(n,k) < -8) ? -8 : ((X(n,k) > 8) ? 8 : X(n,k)) }\n";

/// A def of \p count layers.
std::string chain(int count) {
  std::string text = layer + "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n";
  for (int k = 0; k < count; ++k) {
    auto before = k == 0 ? "X" : str("C", k - 1), after = k + 1 == count ? "Y" : str("C", k);
    text += str("  A", k, " = fc(", before, ", W)  B", k, " = bias(A", k, ", b)  ", after, " = limit(B", k, ")\n");
  }
  return text + "}\n";
}

/// What \p count layers of chain() give: small integers.
std::vector<float> chain_values(int count, const Floats& x, const Floats& w, const Floats& b) {
  std::vector<float> now = x.values;
  const auto n = x.shape[0], c = x.shape[1];
  for (int k = 0; k < count; ++k) {
    std::vector<float> next(now.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t o = 0; o < c; ++o) {
        float sum = 0;
        for (std::int64_t j = 0; j < c; ++j) sum += now[i * c + j] * w.values[o * c + j];
        next[i * c + o] = std::min(std::max(sum + b.values[o], -8.0f), 8.0f);
      }
    now = next;
  }
  return now;
}

std::vector<float> run_one(const Executable& executable, const std::vector<TensorView>& inputs,
                           std::vector<std::int64_t> shape) {
  Floats result(std::move(shape), -77);
  executable.run(inputs, std::vector<TensorView>{result});
  return result.values;
}

class GraphChain : public ::testing::TestWithParam<int> {};

TEST_P(GraphChain, ComputesWhatItsLayersDo) {
  const int count = GetParam();
  auto function = define(chain(count)).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto executable = compile(function, {x, w, b}, {}, checked());
  EXPECT_EQ(run_one(*executable, {x, w, b}, {3, 5}), chain_values(count, x, w, b));
  EXPECT_EQ(executable->image().parts, static_cast<std::size_t>(count));
  EXPECT_EQ(executable->image().functions.size(), 1u) << "equal parts are compiled once";
  Executable copy(Image::deserialise(executable->image().serialise()));
  EXPECT_EQ(run_one(copy, {x, w, b}, {3, 5}), chain_values(count, x, w, b));
  auto options = checked();
  options.interpret = true;
  EXPECT_EQ(run_one(*compile(function, {x, w, b}, {}, options), {x, w, b}, {3, 5}), chain_values(count, x, w, b));
}

INSTANTIATE_TEST_SUITE_P(Lengths, GraphChain, ::testing::Values(3, 10, 100, 333));

TEST(GraphCompile, ALongDefWithoutCallsIsCut) {
  std::string text = "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n";
  for (int k = 0; k < 12; ++k) {
    auto before = k == 0 ? "X" : str("C", k - 1), after = k == 11 ? "Y" : str("C", k);
    text += str("  A", k, "(n,k) +=! ", before, "(n,c) * W(k,c)  B", k, "(n,k) = A", k, "(n,k) + b(k)  ", after,
                "(n,k) = fmin(fmax(B", k, "(n,k), -8), 8)\n");
  }
  auto function = define(text + "}").functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto executable = compile(function, {x, w, b}, {}, checked());
  EXPECT_EQ(executable->image().parts, 12u);
  EXPECT_EQ(executable->image().functions.size(), 1u);
  EXPECT_TRUE(executable->stats().fallbacks.empty());
  EXPECT_EQ(run_one(*executable, {x, w, b}, {3, 5}), chain_values(12, x, w, b));
}

TEST(GraphCompile, PartitionSaysHowManyParts) {
  auto function = define(chain(2)).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto parts = [&](Partition partition) {
    auto options = checked();
    options.partition = partition;
    auto executable = compile(function, {x, w, b}, {}, options);
    EXPECT_EQ(run_one(*executable, {x, w, b}, {3, 5}), chain_values(2, x, w, b));
    return executable->image().parts;
  };
  EXPECT_EQ(parts(Partition::One), 1u);
  EXPECT_EQ(parts(Partition::Auto), 2u);
  EXPECT_EQ(parts(Partition::Each), 6u);
  EXPECT_ERROR(graph::parse_partition("some"), OptionsError, "partition is 'auto', 'each' or 'one', not 'some'");
  for (auto partition : {Partition::One, Partition::Auto, Partition::Each})
    EXPECT_EQ(graph::parse_partition(to_string(partition)), partition);
}

TEST(GraphCompile, OutputsMayHaveStridesAndBeReadFurther) {
  auto function = define(layer +
                         "def main(float(N,C) X, float(C,C) W, float(C) b) -> (A, Y) {\n"
                         "  A = fc(X, W)  B = bias(A, b)  Y = fc(B, W) }")
                      .functions.back();
  auto x = count_up({3, 4}), w = count_up({4, 4}), b = count_up({4});
  std::vector<float> memory(100, -77);
  TensorView a;
  static_cast<TensorSpec&>(a) = {DType::Float32, {3, 4}, {1, 7}};
  a.data = memory.data();
  Floats y({3, 4}, -77);
  compile(function, {x, w, b}, {a, y}, checked())->run(std::vector<TensorView>{x, w, b}, std::vector<TensorView>{a, y});
  auto wanted_a = chain_values(1, x, w, Floats({4}));
  std::vector<float> first(12), again(12);
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < 4; ++c) first[n * 4 + k] += x.values[n * 4 + c] * w.values[k * 4 + c];
      EXPECT_EQ(memory[n + 7 * k], first[n * 4 + k]);
    }
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 4; ++c) again[n * 4 + k] += (first[n * 4 + c] + b.values[c]) * w.values[k * 4 + c];
  EXPECT_EQ(y.values, again);
}

const char* const lookup =
    "def embed(float(V,D) T, int32(N) I) -> (Y) { Y(n,d) = T(I(n), d) }\n"
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def main(float(V,D) table, float(D,D) W, int32(N) ids) -> (Y) {\n"
    "  P = fc(table, W)  E = embed(table, ids)  F = embed(P, ids)  G = fc(E, W)  Y(n,d) = G(n,d) - F(n,d) }";

TEST(GraphCompile, IndexChecksOfPartsTellTheNamesOfTheText) {
  auto function = define(lookup).functions.back();
  auto table = count_up({7, 4}), w = count_up({4, 4});
  Array<std::int32_t> ids({3});
  ids.values = {0, 6, 2};
  auto options = checked();
  options.partition = Partition::One;
  auto parts = compile(function, {table, w, ids}, {}, checked()),
       whole = compile(function, {table, w, ids}, {}, options);
  EXPECT_GT(parts->image().parts, 1u);
  EXPECT_EQ(run_one(*parts, {table, w, ids}, {3, 4}), std::vector<float>(12, 0));
  ids.values[1] = 7;
  auto text = [&](const Executable& executable) {
    return message<ArgumentError>([&] { run_one(executable, {table, w, ids}, {3, 4}); });
  };
  EXPECT_NE(text(*parts).find("subscript 0 of table, 'ids(n)', must be in [0, 7): a value in ids is not"),
            std::string::npos)
      << text(*parts);
  EXPECT_NE(text(*parts).find("; ids(1) is 7"), std::string::npos) << text(*parts);
  EXPECT_EQ(text(*parts), text(*whole));
}

TEST(GraphCompile, ACallMayAccumulateIntoItsArgument) {
  const std::string text =
      "def add(int(N) X) -> (Y) { Y(i) += X(i) }\n"
      "def twice(int(N) X) -> (Y) { A = pass(X)  Y(i) += X(i)  Y(i) += X(i) + A(i) * 0 }\n"
      "def pass(int(N) X) -> (Y) { Y(i) = X(i) }\n"
      "def main(int(N) X) -> (Y) { C(i) = X(i) + 1  C = twice(C)  C = add(C)  D = pass(C)  Y(i) = D(i) }";
  auto function = define(text).functions.back();
  Array<std::int32_t> x({3}), y({3});
  x.values = {1, 2, 3};
  for (auto partition : {Partition::One, Partition::Auto, Partition::Each}) {
    auto options = checked();
    options.partition = partition;
    compile(function, {x}, {}, options)->run(std::vector<TensorView>{x}, std::vector<TensorView>{y});
    EXPECT_EQ(y.values, (std::vector<std::int32_t>{12, 18, 24})) << to_string(partition);
  }
}

TEST(GraphCompile, ManyThreadsRunOneExecutable) {
  auto function = define(chain(4)).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto executable = compile(function, {x, w, b}, {}, checked());
  const auto want = chain_values(4, x, w, b);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) wrong += run_one(*executable, {x, w, b}, {3, 5}) != want;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(GraphCompile, HeedsLimitsAndCancellation) {
  auto function = define(chain(40)).functions.back();
  auto spec = [](std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); };
  const std::vector<TensorSpec> inputs{spec({64, 64}), spec({64, 64}), spec({64})};
  auto options = checked();
  options.time_limit = 1e-4;
  EXPECT_ERROR(compile(function, inputs, {}, options), ResourceError, "the time limit was reached in the graph");
  options = checked();
  options.stages.cancellation.cancel();
  EXPECT_ERROR(compile(function, inputs, {}, options), CancelledError, "cancelled in the compiler");
  EXPECT_ERROR(compile(function, {spec({64, 64}), spec({64, 65}), spec({64})}), ArgumentError,
               "dimension 1 of parameter 'W' of main is 65, but C is 64 (dimension 1 of 'X')");
}

/// \p count layers in a random order of \p seed, each of what some before it gave, the last of all that nobody read.
std::string random_network(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> values{"X"}, unread{"X"};
  std::string text = layer +
                     "def add(float(N,K) X, float(N,K) Z) -> (Y) { Y(n,k) = X(n,k) - Z(n,k) }\n"
                     "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n";
  auto any = [&] {
    const auto value = values[random() % values.size()];
    std::erase(unread, value);
    return value;
  };
  for (int k = 0; k < count; ++k) {
    const auto kind = random() % 4;
    const auto first = any(), name = str("T", k);
    const auto call = kind == 0   ? str("fc(", first, ", W)")
                      : kind == 1 ? str("bias(", first, ", b)")
                      : kind == 2 ? str("limit(", first, ")")
                                  : str("add(", first, ", ", any(), ")");
    text += str("  ", name, " = ", kind == 0 ? str("fc(", first, ", W)\n  L", k, " = limit(", name, ")") : call, "\n");
    values.push_back(kind == 0 ? str("L", k) : name);
    unread.push_back(values.back());
  }
  std::string sum = unread.front();
  for (std::size_t i = 1; i < unread.size(); ++i) {
    text += str("  U", i, " = add(", sum, ", ", unread[i], ")\n");
    sum = str("U", i);
  }
  return text + str("  Y = limit(", sum, ")\n}\n");
}

/// The launches of \p executable by hand, in a workspace that holds NaN.
std::vector<float> run_poisoned(const Executable& executable, std::vector<void*> arguments,
                                std::vector<std::int64_t> shape) {
  const auto& image = executable.image();
  Floats result(std::move(shape), std::numeric_limits<float>::quiet_NaN());
  arguments.push_back(result.data);
  std::unique_ptr<std::uint8_t, decltype(&std::free)> workspace(
      static_cast<std::uint8_t*>(std::aligned_alloc(64, image.workspace_bytes / 64 * 64 + 64)), std::free);
  std::fill_n(workspace.get(), image.workspace_bytes, std::uint8_t{0xff});
  for (const auto& launch : image.launches) {
    std::vector<void*> pointers;
    for (const auto& slot : launch.slots)
      pointers.push_back(pointer_of(slot, image, arguments.data(), workspace.get()));
    const auto& kernel = executable.functions()[std::get<FunctionCall>(launch.code).function];
    EXPECT_EQ(kernel.function(pointers.data()), 0);
  }
  return result.values;
}

TEST(GraphCompile, PlantedFaultsDie) {
  auto function = define(chain(3)).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto arguments = make_arguments(*function, {x, w, b}, {});
  auto options = checked();
  auto plan = plan_graph(function, arguments, options);
  ASSERT_TRUE(plan);
  auto one = [](const PartProblem& problem, const CompileOptions& own) {
    return compile(problem.function, problem.inputs, problem.outputs, own);
  };
  auto parts = compile_parts(*plan, options, one);
  const auto want = chain_values(3, x, w, b);
  EXPECT_EQ(run_one(*join_parts(*function, arguments, *plan, options, parts), {x, w, b}, {3, 5}), want);
  auto swapped = *plan;
  std::swap(swapped.parts[1], swapped.parts[2]);
  const auto wrong = join_parts(*function, arguments, swapped, options, parts);
  EXPECT_NE(run_one(*wrong, {x, w, b}, {3, 5}), want);
  EXPECT_TRUE(std::isnan(run_poisoned(*wrong, {x.data, w.data, b.data}, {3, 5})[0])) << "poison is seen";
  auto missing = *plan;
  missing.parts.erase(missing.parts.begin() + 1);
  missing.problem_of.erase(missing.problem_of.begin() + 1);
  EXPECT_NE(run_one(*join_parts(*function, arguments, missing, options, parts), {x, w, b}, {3, 5}), want);
}

TEST(GraphCompile, ReadsNoMemoryThatItHasNotWritten) {
  auto x = count_up({6, 5}), w = count_up({5, 5}), b = count_up({5});
  for (unsigned seed = 0; seed < 5; ++seed)
    for (auto partition : {Partition::Auto, Partition::Each}) {
      const auto text = random_network(14, seed);
      SCOPED_TRACE(str("seed ", seed, "\n", text));
      auto function = define(text).functions.back();
      auto options = checked();
      options.partition = partition;
      auto executable = compile(function, {x, w, b}, {}, options);
      options.interpret = true;
      const auto wanted = run_one(*compile(function, {x, w, b}, {}, options), {x, w, b}, {6, 5});
      EXPECT_EQ(run_poisoned(*executable, {x.data, w.data, b.data}, {6, 5}), wanted);
      EXPECT_EQ(run_one(*executable, {x, w, b}, {6, 5}), wanted);
    }
}

TEST(GraphCompile, ProfilesEachLaunch) {
  auto function = define(chain(3)).functions.back();
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto executable = compile(function, {x, w, b}, {}, checked());
  Floats y({3, 5});
  const auto profile = executable->profile(std::vector<TensorView>{x, w, b}, std::vector<TensorView>{y});
  ASSERT_EQ(profile.launches.size(), 3u);
  EXPECT_EQ(profile.launches[0] + profile.launches[1] + profile.launches[2], profile.kernels);
  for (const auto& launch : executable->image().launches) EXPECT_EQ(launch.part, "fc_bias_limit");
  EXPECT_EQ(Image::deserialise(executable->image().serialise()).launches[1].part, "fc_bias_limit");
}

TEST(GraphCompile, PartsAreSharedThroughTheCachesOfTheProcess) {
  ExecutableCache cache;
  auto module = define(chain(3)), other = define(chain(5));
  auto x = count_up({3, 5}), w = count_up({5, 5}), b = count_up({5});
  auto first = compile_cached(cache, module.functions.back(), {x, w, b}, {}, checked());
  EXPECT_EQ(cache.size(), 2u) << "one part, and what joins three of it";
  EXPECT_EQ(compile_cached(cache, module.functions.back(), {x, w, b}, {}, checked()), first);
  auto longer = compile_cached(cache, other.functions.back(), {x, w, b}, {}, checked());
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(run_one(*longer, {x, w, b}, {3, 5}), chain_values(5, x, w, b));
}

}  // namespace
}  // namespace tc::engine::graph_test
