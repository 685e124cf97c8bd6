#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tc/base/str.h"
#include "test/engine/engine_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/random/random_calls.h"

/// Texts that are nearly programs, and calls that nearly fit: nothing comes out but typed errors, and soon.
namespace tc::engine {
namespace {

namespace fs = std::filesystem;
using test::Random;

std::vector<std::string> sample_texts() {
  std::vector<fs::path> paths;
  for (const char* folder : {"test/filetests/programs", "test/lang/programs", "test/lang/errors"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TC_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".tc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    texts.push_back(out.str());
  }
  return texts;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  std::string word;
  for (char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (letter) {
      word += c;
      continue;
    }
    if (!word.empty()) result.push_back(std::move(word));
    word.clear();
    result.emplace_back(1, c);
  }
  if (!word.empty()) result.push_back(word);
  return result;
}

std::string mutated(Random& random, const std::vector<std::string>& samples) {
  auto text = words(random.chance(30) ? test::random_calls(random).text() : random.pick(samples));
  const auto& other = words(random.pick(samples));
  const auto changes = random.between(1, 3);
  for (int k = 0; k < changes && !text.empty() && !other.empty(); ++k) {
    const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
    const auto here = text.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.between(0, 5)) {
      case 0:
        text.erase(here);
        break;
      case 1:
        *here = random.pick(text);
        break;
      case 2:
        *here = random.pick(other);
        break;
      case 3:
        text.insert(here, random.pick(text));
        break;
      case 4:
        std::swap(*here, text[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1))]);
        break;
      default:
        *here =
            random.pick(std::vector<std::string>{"0", "-1", "9223372036854775807", "1e400", "[", "where", "0.5", "/",
                                                 "%", "N", "i", "float", "uint64", "&&", "?", ":", "\xff", "max="});
    }
  }
  return join(text, "");
}

TEST(MutatedTexts, GiveTypedErrorsOnly) {
  const auto first = test::from_environment("TC_FUZZ_SEED", 1), count = test::from_environment("TC_FUZZ_COUNT", 350);
  std::cout << "seeds " << first << " to " << first + count - 1 << "\n";
  const auto samples = sample_texts();
  ASSERT_FALSE(samples.empty());
  std::uint64_t good = 0;
  double slowest = 0;
  for (auto seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const auto text = mutated(random, samples);
    const auto start = std::chrono::steady_clock::now();
    try {
      const auto module = define(text);
      ++good;
      for (const auto& function : module.functions) {
        std::vector<TensorSpec> inputs;
        for (const auto& param : function->def.params) {
          std::vector<std::int64_t> shape;
          for (std::size_t d = 0; param.dims && d < param.dims->size(); ++d)
            shape.push_back(random.chance(90) ? 6 : random.pick(std::vector<std::int64_t>{0, 1, 7, 1000000000000}));
          if (random.chance(5)) shape.push_back(3);
          inputs.push_back(
              contiguous(random.chance(95) ? function->def.tensors.at(param.name).type : DType::Int8, shape));
        }
        try {
          infer_output_tensor_info(*function, inputs);
        } catch (const ArgumentError&) {
        }
      }
    } catch (const InternalError& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what();
    } catch (const SyntaxError&) {
    } catch (const SemanticError&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << text;
    }
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::cout << good << " of " << count << " are programs; the slowest took " << slowest << " s\n";
  EXPECT_GT(good, count / 20);
}

}  // namespace
}  // namespace tc::engine
