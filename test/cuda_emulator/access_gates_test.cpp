// What the kernels of the default strategy cost in memory, counted warp by warp over some blocks of large defs.

#include <gtest/gtest.h>

#include <set>

#include "tc/base/str.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/program_file.h"

namespace tc::test {
namespace {

/// The accesses of one block of each kernel of the last def of \p text; of all where index tensors, with values of \p
/// indices, are checked by several.
std::vector<std::pair<std::string, emulator::SiteCount>> accesses(const std::string& text, const lang::SizeMap& sizes,
                                                                  decltype(ProgramFile::data) indices = {}) {
  ProgramFile program;
  program.text = text;
  program.data = indices;
  auto function = function_of(program, "gate");
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto arguments = make_arguments(*function, program, sizes);
  emulator::RunOptions run_options;
  run_options.count_accesses = true;
  run_options.max_blocks = indices.empty() ? 1 : 0;
  auto run = emulate(device_program(function, arguments.input_specs(), arguments.output_specs(), options), *function,
                     arguments, run_options);
  EXPECT_EQ(run.faults, "");
  return run.sites;
}

std::string text_of(const emulator::SiteCount& site) {
  return str("line ", site.line, ": ", site.bytes, " bytes, ", site.transactions, " transactions, ideal ", site.ideal);
}

struct Product {
  const char *name, *text;
  int wide;         ///< bytes that are read at once from global memory, at least
  int stored = 16;  ///< that are written at once
  int times = 1;    ///< of the fewest transactions that writes take, at most
};

/// What lies along the reduction is copied by neighbouring threads from different rows, whole sectors of each. Four threads of a
/// unit have 8 neighbouring results, of halves half a sector.
const Product products[] = {
    {"nn", "def nn(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", 16},
    {"tn", "def tn(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }", 16},
    {"nt", "def nt(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", 16},
    {"tt", "def tt(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }", 16},
    {"halves", "def halves(half(M,K) A, half(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", 16, 4, 2},
};

void PrintTo(const Product& product, std::ostream* out) { *out << product.text; }

class AccessGatesOfProducts : public testing::TestWithParam<Product> {};

TEST_P(AccessGatesOfProducts, SectorsAndNoBankConflicts) {
  int shared = 0, reads = 0;
  for (const auto& [kernel, site] : accesses(GetParam().text, {{"M", 1024}, {"N", 1024}, {"K", 64}})) {
    shared += site.shared;
    reads += !site.shared && !site.write;
    bool stores = site.write && !site.shared;
    EXPECT_LE(site.transactions, site.ideal * (stores ? GetParam().times : 1))
        << (site.write ? "write of " : "read of ") << (site.shared ? "shared memory, " : "global memory, ")
        << text_of(site);
    if (!site.shared) {
      EXPECT_GE(site.bytes, stores ? GetParam().stored : GetParam().wide) << text_of(site);
    }
  }
  EXPECT_GE(shared, 2);
  EXPECT_GE(reads, 2);
}

INSTANTIATE_TEST_SUITE_P(Table, AccessGatesOfProducts, testing::ValuesIn(products),
                         [](const auto& info) { return std::string(info.param.name); });

/// Blocks go round the tiles of a product: its operands are copied to shared memory all the same.
TEST(AccessGates, AGridThatIsGivenKeepsTheTilesOfAProduct) {
  ProgramFile file;
  file.text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  auto function = function_of(file, "given");
  auto arguments = make_arguments(*function, file, {{"M", 96}, {"N", 160}, {"K", 36}});
  for (const char* text : {"grid=2", "grid=3x2", "grid=1"}) {
    engine::CompileOptions options;
    options.target = Target::parse("cuda:sm_90");
    options.mapping = options::MappingOptions::parse(text);
    options.stages.verify = text == std::string("grid=2");  // the grid is all that differs
    auto program = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    EXPECT_NE(program.text.find("tc_shared_memory"), std::string::npos) << text << "\n" << program.text;
    ASSERT_EQ(program.launches.at(0).kernels.size(), 1u);
    const auto& grid = program.launches[0].kernels[0].shape.grid;
    auto most = text == std::string("grid=2")   ? std::pair(2u, 1u)
                : text == std::string("grid=1") ? std::pair(1u, 1u)
                                                : std::pair(3u, 2u);
    EXPECT_LE(grid.x, most.first) << text;
    EXPECT_LE(grid.y, most.second) << text;
    auto wrong = emulated_mismatch(program, *function, arguments, {1, 2}, reference(*function, arguments));
    EXPECT_FALSE(wrong) << *wrong;
  }
}

/// What all accesses of a def have in common, for the last kernel.
struct Summary {
  std::int64_t shared_conflicts = 0, wasted_sectors = 0;
  std::set<int> read_bytes, written_bytes;  ///< of global memory, at once
  int shared = 0;
};
Summary summary(const std::string& text, const lang::SizeMap& sizes) {
  Summary result;
  for (const auto& [kernel, site] : accesses(text, sizes)) {
    auto waste = site.transactions - site.ideal;
    (site.shared ? result.shared_conflicts : result.wasted_sectors) += waste;
    result.shared += site.shared;
    if (!site.shared) (site.write ? result.written_bytes : result.read_bytes).insert(site.bytes);
  }
  return result;
}

TEST(AccessGates, TranspositionsMoveSixteenBytesAtOnceWithoutBankConflicts) {
  for (const char* type : {"float", "half", "double"}) {
    auto cost = summary(str("def transpose(", type, "(N,M) A) -> (B) { B(j,i) = A(i,j) }"), {{"N", 256}, {"M", 192}});
    EXPECT_EQ(cost.read_bytes, std::set{16}) << type;
    EXPECT_EQ(cost.written_bytes, std::set{16}) << type;
    EXPECT_EQ(cost.wasted_sectors, 0) << type;
    EXPECT_EQ(cost.shared_conflicts, 0) << type;
    EXPECT_GT(cost.shared, 0) << type;
  }
}

TEST(AccessGates, TranspositionsOfOddSizesHaveNoBankConflicts) {
  auto cost = summary("def transpose(float(N,M) A) -> (B) { B(j,i) = A(i,j) }", {{"N", 131}, {"M", 97}});
  EXPECT_EQ(cost.shared_conflicts, 0);
  EXPECT_GT(cost.shared, 0);
}

TEST(AccessGates, ElementsMoveSixteenBytesAtOnce) {
  for (const char* type : {"float", "half", "double", "int8"}) {
    auto cost = summary(str("def add(", type, "(N,M) A, ", type, "(N,M) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }"),
                        {{"N", 8}, {"M", 4096}});
    EXPECT_EQ(cost.read_bytes, std::set{16}) << type;
    EXPECT_EQ(cost.written_bytes, std::set{16}) << type;
    EXPECT_EQ(cost.wasted_sectors, 0) << type;
  }
}

TEST(AccessGates, RowsOfATableMoveSixteenBytesAtOnce) {
  auto sites = accesses("def sums(float(V,D) T, int32(B,L) I) -> (R) { R(b,d) +=! T(I(b,l),d) }",
                        {{"V", 50}, {"D", 64}, {"B", 64}, {"L", 10}}, {{"I", {0, 50}}});
  int wide = 0;
  for (const auto& [kernel, site] : sites) {
    if (kernel != "sums_1" || site.bytes != 16) continue;
    ++wide;
    EXPECT_EQ(site.transactions, site.ideal) << text_of(site);
  }
  EXPECT_EQ(wide, 2) << "the rows and the result";
}

TEST(AccessGates, AConvolutionReadsItsInputsOnceFromGlobalMemory) {
  auto sites = accesses(
      "def conv(float(N,C,H,W) I, float(M,C,KH,KW) F) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * F(m,c,kh,kw) }",
      {{"N", 8}, {"C", 16}, {"M", 64}, {"H", 66}, {"W", 66}, {"KH", 3}, {"KW", 3}});
  std::int64_t global = 0;
  int shared = 0;
  for (const auto& [kernel, site] : sites) {
    if (!site.shared && !site.write) global += site.transactions;
    shared += site.shared;
  }
  EXPECT_GE(shared, 4) << "both inputs are copied and read";
  EXPECT_LE(global * 32, 2 * (64 * 16 * 9 + 16 * 3 * 66) * 4) << "a block's weights and its rows of the image";
}

}  // namespace
}  // namespace tc::test
