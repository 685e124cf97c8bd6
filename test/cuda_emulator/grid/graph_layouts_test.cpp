// Graphs for a GPU whose tensors between nodes get layouts by the prices of kernels: run by the emulator, the results are those of the
// interpreter.

#include <gtest/gtest.h>

#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

const char* const network =
    "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }\n"
    "def each(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s) }\n"
    "def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }\n"
    "def main(float(N,C,H,W) X, float(O,C,R,S) K, float(O,T,U) L, float(P,O,T,V) M) -> (Y) {\n"
    "  A = conv(X, K)  B = positive(A)  Z = each(B, L)  Y = conv(Z, M)\n}\n";

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// Forward: the layout that the first convolution likes, channels last, is kept to the end. Fold: blocks of four channels, which a thread moves
/// at once, between the nodes.
TEST(GraphLayoutsOfAGrid, ComputeTheSame) {
  ProgramFile file;
  file.text = network;
  const auto function = function_of(file, "main");
  const lang::SizeMap sizes{{"N", 1}, {"C", 8}, {"H", 10}, {"W", 10}, {"O", 8}, {"R", 1},
                            {"S", 1}, {"T", 3}, {"U", 3},  {"P", 8},  {"V", 1}};
  const auto arguments = make_arguments(*function, file, sizes);
  const auto want = reference(*function, arguments);
  for (const auto& [mode, layout] : {std::pair(graph::LayoutMode::Forward, "Z: reorder(0, 2, 3, 1)"),
                                     std::pair(graph::LayoutMode::Fold, "Z: split(1, 4) reorder(0, 1, 3, 4, 2)")}) {
    engine::CompileOptions options;
    options.target = Target::parse("cuda:sm_90");
    options.layouts = mode;
    const auto executable = engine::compile(function, arguments.input_specs(), arguments.output_specs(), options);
    EXPECT_TRUE(mentions(executable->stats().layouts, layout)) << join(executable->stats().layouts, "\n");
    const auto wrong = emulated_mismatch(device_program(executable->image()), *function, arguments, {1, 2}, want);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

}  // namespace
}  // namespace tc::test
