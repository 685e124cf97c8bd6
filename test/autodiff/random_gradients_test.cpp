#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"
#include "test/autodiff/random_differentiable.h"
#include "test/autodiff/random_recurrences.h"
#include "test/support/from_environment.h"

namespace tc::test {
namespace {

/// Are all tensors of the def \p text float64 or no floats? Differences with a step of 1e-5 see the rounding of others.
bool is_exact_enough(const std::string& text) {
  const auto understood = understand_def(text);
  for (const auto& [name, tensor] : understood.function.def.tensors)
    if (is_float(tensor.type) && tensor.type != DType::Float64) return false;
  return true;
}

/// The difference of the gradient of \p program from finite differences that stays with other values and another step;
/// empty if there is none. A program whose ranges contradict each other has none, and one that rounds is not compared.
std::string lasting_difference(const RandomDifferentiable& program, const GradCheck& how, bool& valid) {
  try {
    valid = is_exact_enough(program.text);
  } catch (const SemanticError&) {
    valid = false;
  }
  if (!valid) return "";
  GradCheck first = how, second = how;
  first.tolerance = 1e-5;
  second.seed += 1000;
  second.step = 1e-5;
  second.tolerance = 1e-3;
  const std::string difference = gradcheck(program.text, program.sizes, first);
  return difference.empty() ? "" : gradcheck(program.text, program.sizes, second);
}

/// The programs that are usually taken: few, without those whose gradients are long.
constexpr std::uint64_t first_seed = 5, usual_seeds = 8;

/// TC_GRADIENT_SEEDS programs from TC_GRADIENT_FIRST on.
TEST(RandomGradients, EqualFiniteDifferences) {
  const std::uint64_t begin = from_environment("TC_GRADIENT_FIRST", first_seed),
                      count = from_environment("TC_GRADIENT_SEEDS", usual_seeds);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    const auto program = random_differentiable(seed);
    GradCheck how{.seed = seed, .certified = false};
    how.options.by_guards = seed % 4 == 3;
    how.options.save_outputs = seed % 3 != 0;
    bool valid = false;
    EXPECT_EQ(lasting_difference(program, how, valid), "") << "seed " << seed << "\n" << program.text;
    compared += valid;
  }
  EXPECT_GT(compared, count / 2);
}

TEST(RandomGradients, OfLoopsEqualFiniteDifferences) {
  const std::uint64_t begin = from_environment("TC_GRADIENT_FIRST", first_seed),
                      count = from_environment("TC_GRADIENT_SEEDS", usual_seeds);
  std::uint64_t compared = 0, refused = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    RandomDifferentiable program = random_recurrence(seed);
    GradCheck how{.seed = seed, .certified = false};
    how.options.by_guards = seed % 4 == 3;
    how.options.save_outputs = seed % 3 != 0;
    bool valid = false;
    try {
      EXPECT_EQ(lasting_difference(program, how, valid), "") << "seed " << seed << "\n" << program.text;
      compared += valid;
      if (!valid || seed % 8 != 0) continue;
      program.text = print(gradient_of(program.text, {.save_outputs = false}).def());
      if (program.text.size() > 3000) continue;
      EXPECT_EQ(lasting_difference(program, {.seed = seed, .certified = false}, valid), "") << "seed " << seed << "\n"
                                                                                            << program.text;
    } catch (const SemanticError& error) {
      EXPECT_NE(std::string(error.what()).find("TC308"), std::string::npos) << error.what() << program.text;
      ++refused;
    } catch (const ResourceError&) {
    }
  }
  EXPECT_GT(compared, 2 * count / 3);
  EXPECT_EQ(refused, 0);
}

TEST(RandomGradients, OfGradientsEqualFiniteDifferences) {
  const std::uint64_t begin = from_environment("TC_GRADIENT_FIRST", first_seed),
                      count = from_environment("TC_GRADIENT_SEEDS", usual_seeds) / 6;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    RandomDifferentiable program = random_differentiable(seed);
    bool valid = false;
    try {
      program.text = print(gradient_of(program.text, {.save_outputs = false}).def());
      if (program.text.size() > 3000) continue;
      GradCheck how{.seed = seed, .certified = false};
      EXPECT_EQ(lasting_difference(program, how, valid), "") << "seed " << seed << "\n" << program.text;
    } catch (const SemanticError&) {
      continue;
    } catch (const ResourceError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace tc::test
