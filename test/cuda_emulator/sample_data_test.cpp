#include "test/cuda_emulator/sample_data.h"

#include <gtest/gtest.h>

#include "test/cuda_emulator/reference.h"

namespace tc::test {
namespace {

/// The arguments that are drawn for \p text are accepted, and hold several indices.
void expect_accepted(const std::string& text) {
  SCOPED_TRACE(text);
  ProgramFile program;
  program.text = text;
  const auto function = function_of(program, "<test>");
  const lang::SizeMap sizes{{"N", 12}, {"M", 20}};
  complete_data(program, *function, sizes);
  EXPECT_EQ(reference(*function, make_arguments(*function, program, sizes)).refusal, "");
  EXPECT_GT(program.data.at("I").second - program.data.at("I").first, 1);
}

TEST(SampleData, HoldsIndicesThatNoCheckRefuses) {
  for (const char* value : {"X(I(i))", "X(I(i) - 3)", "X(I(i) + 2)", "X(2 * I(i) - 5)", "X(I(i) - J(i) + 1)",
                            "X(J(i)) + X(I(i) - 4)", "I(i) > 2 ? X(I(i) - 3) : 0"})
    expect_accepted(std::string("def f(float(N) X, int32(M) I, int64(M) J) -> (O) { O(i) = ") + value +
                    " where i in 0:M }");
  expect_accepted("def f(float(N) X, uint8(M) I) -> (O) { O(i) = X(I(i) - 6) }");
  expect_accepted("def f(float(N) X, int32(M) I) -> (O) { O(i) = X(I(i) + 20) where i in 0:M }");
}

TEST(SampleData, IsWhatAFileGives) {
  ProgramFile program;
  program.text = "def f(float(N) X, int32(M) I) -> (O) { O(i) = X(I(i) - 3) }";
  program.data["I"] = {0, 2};
  complete_data(program, *function_of(program, "<test>"), {{"N", 12}, {"M", 20}});
  EXPECT_EQ(program.data.at("I"), (std::pair<std::int64_t, std::int64_t>{0, 2}));
}

}  // namespace
}  // namespace tc::test
