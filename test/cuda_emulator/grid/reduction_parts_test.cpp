// Reductions with too few results for the multiprocessors, and steps in time: no kernel of much work runs in a few blocks,
// the results are right, and the same for every order in which blocks and threads run.

#include <gtest/gtest.h>

#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

struct Reduction {
  const char *name, *text;
  lang::SizeMap sizes;
  std::size_t kernels;
  std::int64_t blocks;  ///< of the largest kernel, at least
};

const Reduction reductions[] = {
    {"SumOfEverything", "def f(float(N) A) -> (s) { s +=! A(n) / 7 }", {{"N", 100003}}, 2, 16},
    {"SumOfAMatrix", "def f(float(M,N) A) -> (s) { s +=! A(m,n) / 7 }", {{"M", 317}, {"N", 400}}, 2, 16},
    {"ColumnsOfATallMatrix",
     "def f(float(M,N) A) -> (c, mean) { c(n) +=! A(m,n) / 7\n mean(n) = c(n) / M }",
     {{"M", 6007}, {"N", 40}},
     2,
     16},
    {"NormsOfFewRows",
     "def f(float(M,N) A) -> (r) { r(m) +=! A(m,n) * A(m,n)\n r(m) = sqrt(r(m)) }",
     {{"M", 3}, {"N", 50000}},
     2,
     16},
    {"StatisticsOfABatch",
     "def f(float(N,C,H,W) I) -> (mean, var) {\n  mean(c) +=! I(n,c,h,w)\n  mean(c) = mean(c) / (N * H * W)\n"
     "  var(c) +=! (I(n,c,h,w) - mean(c)) * (I(n,c,h,w) - mean(c))\n}",
     {{"N", 20}, {"C", 3}, {"H", 33}, {"W", 33}},
     4,
     16},
    {"ProductAlongALongLoop",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) / 3 }",
     {{"M", 16}, {"N", 17}, {"K", 2051}},
     2,
     7},
    {"WeightGradient",
     "def f(float(B,O) G, float(B,I) X) -> (W) { W(o,i) +=! G(b,o) * X(b,i) }",
     {{"B", 2048}, {"O", 16}, {"I", 16}},
     2,
     8},
    {"StencilInTime",
     "def f(float(T,N) I) -> (x) {\n  x(t,i) = I(t,i)\n  x(t,i) = x(t-1,i-1) + x(t-1,i+1) where t in 1:T, i in "
     "1:N-1\n}",
     {{"T", 9}, {"N", 3000}},
     2,
     16},
    {"PlaceOfTheLeast",
     "def f(float(N) A) -> (lo, at) {\n  lo min=! A(n)\n  at min=! A(n) == lo ? n : N\n}",
     {{"N", 60000}},
     4,
     12},
};

void PrintTo(const Reduction& reduction, std::ostream* out) { *out << reduction.text; }

class ReductionParts : public testing::TestWithParam<Reduction> {
 protected:
  static std::int64_t blocks(const DeviceKernel& kernel) {
    return std::int64_t{kernel.shape.grid.x} * kernel.shape.grid.y * kernel.shape.grid.z;
  }
};

TEST_P(ReductionParts, FillTheProcessorsInAFixedOrder) {
  const auto& reduction = GetParam();
  ProgramFile file;
  file.text = reduction.text;
  auto function = function_of(file, reduction.name);
  auto arguments = make_arguments(*function, file, reduction.sizes);
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90,multiprocessors=16");
  options.mapping = options::MappingOptions::parse("construct=rules");
  options.stages.verify = true;
  auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  std::size_t kernels = 0;
  std::int64_t most = 0;
  for (const auto& launch : program.launches)
    for (const auto& kernel : launch.kernels) {
      ++kernels;
      most = std::max(most, blocks(kernel));
    }
  EXPECT_EQ(kernels, reduction.kernels) << program.text;
  EXPECT_GE(most, reduction.blocks) << program.text;
  auto wrong = emulated_mismatch(program, *function, arguments, {1, 2}, reference(*function, arguments));
  EXPECT_FALSE(wrong) << *wrong;
  auto once = emulate(program, *function, arguments, {.seed = 3}),
       again = emulate(program, *function, arguments, {.seed = 4});
  auto other = first_difference(*function, again.outputs, once.outputs, Tolerances{});
  EXPECT_FALSE(other) << *other;
}

INSTANTIATE_TEST_SUITE_P(Table, ReductionParts, testing::ValuesIn(reductions),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test
