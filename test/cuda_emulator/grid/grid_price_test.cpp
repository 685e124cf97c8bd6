// What a price says that a kernel does with memory, beside what its warps do, counted by the emulator.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/engine/describe/describe_work.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test::grid_price_test {
namespace {

/// Sectors of global memory that are read and written, and rounds of the banks of shared memory.
struct Moved {
  double read = 0, written = 0, rounds = 0;
};

struct Counted {
  const char *name, *text;
  lang::SizeMap sizes;
  double near = 0.01;           ///< share of what is read by which the price may be off
  bool texts_are_code = false;  ///< the text loads from shared memory once what it uses several times
  std::size_t blocks = 0;       ///< that stand for all of the only kernel; 0: all run
};

void PrintTo(const Counted& program, std::ostream* out) { *out << program.text; }

/// What \p blocks blocks of \p device move, or all where it is 0, scaled to all.
Moved counted(const DeviceProgram& device, const engine::Function& function, const Arguments& arguments,
              std::size_t blocks) {
  emulator::RunOptions how;
  how.count_accesses = true;
  how.max_blocks = blocks;
  how.counted_blocks = 1 << 20;
  auto run = emulate(device, function, arguments, how);
  EXPECT_EQ(run.faults, "");
  const auto& grid = device.launches[0].kernels[0].shape.grid;
  auto times = blocks ? static_cast<double>(grid.x * grid.y * grid.z) / static_cast<double>(blocks) : 1.0;
  Moved result;
  for (const auto& [kernel, site] : run.sites)
    (site.shared  ? result.rounds
     : site.write ? result.written
                  : result.read) += times * static_cast<double>(site.transactions);
  return result;
}

Moved priced(const std::vector<strategy::GridPrice>& prices) {
  Moved result;
  for (const auto& price : prices) {
    auto blocks = static_cast<double>(price.shape.blocks());
    result.read += blocks * price.counts.sectors_read();
    result.written += blocks * price.counts.sectors_written();
    result.rounds += blocks * price.counts.shared_rounds;
  }
  return result;
}

/// Of the rounds of a text of products, those of its machine code, at least: the text of a thread with 8 x 8 sums loads each of 8
/// values for both vectors of a row, and each vector for all 8; machine code loads four vectors for a step.
constexpr double least_share_of_text = 0.2;

class GridPriceCounts : public testing::TestWithParam<Counted> {};

TEST_P(GridPriceCounts, AreThoseOfTheWarps) {
  ProgramFile program;
  program.text = GetParam().text;
  auto function = function_of(program, "counted");
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto arguments = make_arguments(*function, program, GetParam().sizes);
  auto device = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
  auto report = engine::describe_work(
      function, engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs(), options), options);
  ASSERT_EQ(device.launches.size(), 1u);
  ASSERT_EQ(device.launches[0].kernels.size(), report.grid_prices.size());
  for (std::size_t k = 0; k < report.grid_prices.size(); ++k) {
    const auto& is = device.launches[0].kernels[k].shape;
    const auto& shape = report.grid_prices[k].shape;
    EXPECT_EQ(str(is.grid.x, " ", is.grid.y, " ", is.grid.z),
              str(shape.grid[0], " ", shape.grid[1], " ", shape.grid[2]));
    EXPECT_EQ(str(is.block.x, " ", is.block.y), str(shape.block[0], " ", shape.block[1]));
  }
  auto is = counted(device, *function, arguments, GetParam().blocks), said = priced(report.grid_prices);
  EXPECT_NEAR(said.read, is.read, GetParam().near * is.read);
  EXPECT_NEAR(said.written, is.written, 0.01 * is.written);
  EXPECT_LE(said.rounds, 1.05 * is.rounds + 8 * static_cast<double>(report.grid_prices.back().shape.blocks()));
  EXPECT_GE(said.rounds, (GetParam().texts_are_code ? 1 : least_share_of_text) * is.rounds);
}

const Counted programs[] = {
    {"add", "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }", {{"N", 8192}}},
    {"halves", "def add(half(N,M) A, half(N,M) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }", {{"N", 64}, {"M", 512}}},
    {"bias", "def bias(float(N,M) A, float(M) B) -> (C) { C(i,j) = A(i,j) + B(j) }", {{"N", 512}, {"M", 512}}},
    {"odd_rows", "def odd(float(N,M) A) -> (C) { C(i,j) = A(i,j) * 2 }", {{"N", 64}, {"M", 509}}},
    {"transpose", "def tr(float(N,M) A) -> (B) { B(j,i) = A(i,j) }", {{"N", 256}, {"M", 256}}, 0.01, true},
    {"rows", "def rows(float(N,M) A) -> (B) { B(i) +=! A(i,j) }", {{"N", 512}, {"M", 1024}}, 0.01, true},
    {"columns", "def columns(float(N,M) A) -> (B) { B(j) +=! A(i,j) }", {{"N", 512}, {"M", 1024}}},
    {"softmax",
     "def s(float(N,C) X) -> (Y) { top(n) max=! X(n,c)  e(n,c) = exp(X(n,c) - top(n))  t(n) +=! e(n,c)\n"
     "  Y(n,c) = e(n,c) / t(n) }",
     {{"N", 256}, {"C", 1024}}},
    {"nn",
     "def nn(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 1024}, {"N", 1024}, {"K", 64}},
     0.01,
     false,
     4},
    {"tn",
     "def tn(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }",
     {{"M", 1024}, {"N", 1024}, {"K", 64}},
     0.01,
     false,
     4},
    {"nt",
     "def nt(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
     {{"M", 1024}, {"N", 1024}, {"K", 64}},
     0.01,
     false,
     4},
    {"mv", "def mv(float(M,K) A, float(K) B) -> (C) { C(m) +=! A(m,k) * B(k) }", {{"M", 512}, {"K", 1024}}, 0.01, true},
    {"convolution",
     "def c(float(N,C,H,W) X, float(O,C,KH,KW) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * K(o,c,kh,kw) }",
     {{"N", 2}, {"C", 16}, {"H", 34}, {"W", 34}, {"O", 64}, {"KH", 3}, {"KW", 3}},
     0.25,
     false,
     16},
    {"pool",
     "def p(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2 }",
     {{"N", 2}, {"C", 8}, {"H", 64}, {"W", 64}}},
    {"stencil",
     "def st(float(N,M) A) -> (B) { B(i,j) = A(i,j) + A(i,j+1) + A(i,j+2) + A(i+1,j) + A(i+2,j) }",
     {{"N", 130}, {"M", 130}},
     0.02},
    {"batched",
     "def bmm(float(B,M,K) X, float(B,K,N) W) -> (Z) { Z(b,m,n) +=! X(b,m,k) * W(b,k,n) }",
     {{"B", 16}, {"M", 64}, {"N", 64}, {"K", 64}}},
};

INSTANTIATE_TEST_SUITE_P(Table, GridPriceCounts, testing::ValuesIn(programs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::test::grid_price_test
