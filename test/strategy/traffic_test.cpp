#include "tc/strategy/cost/traffic.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <random>
#include <set>
#include <sstream>

#include "tc/polyhedral/core/dependences.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "test/support/address_stream.h"
#include "test/support/cache_simulator.h"
#include "test/support/isl_fixture.h"
#include "test/support/random/random_scop.h"
#include "test/support/scops.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

/// Programs as the compiler maps them, their traffic predicted and simulated.
class PredictTraffic : public polyhedral::IslTest {
 protected:
  static Scop mapped(Scop scop, const Target& target, const MappingOptions& options) {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options);
    return polyhedral::map_to_cpu(polyhedral::clustered(scop),
                                  choose_mapping(polyhedral::clustered(scop), target, options));
  }

  /// Expects that what a simulation counts for \p scop, mapped, lies within a \p factor of what is predicted, at each
  /// level.
  void expect_near(const Scop& scop, const MappingOptions& options = {}, double factor = 1.5,
                   const char* machine = "cpu:avx512,cores=1,l1=4k,l2=32k,l3=256k") const {
    auto target = Target::parse(machine);
    auto program = mapped(scop, target, options);
    auto footprints = compute_footprints(program);
    auto predicted = predict_traffic(footprints, target);
    for (const auto& name : buffers_in_registers(footprints, target)) program.tensor(name).in_registers = true;
    test::CacheSimulator caches(target.l1_bytes, target.l2_bytes, target.l3_bytes);
    polyhedral::AddressStream(program, [&](std::int64_t address, bool write) { caches.access(address, write); }).run();
    caches.flush();
    bool near = true;
    std::ostringstream table;
    table << "level          read: predicted  simulated   written: predicted  simulated   ratio\n";
    for (int level = 1; level < 4; ++level) {
      auto all = predicted.total(level);
      double read = caches.level(level).bytes_read(), written = caches.level(level).bytes_written();
      double ratio = all.total() / (read + written);
      near &= ratio <= factor && ratio >= 1 / factor;
      table << std::left << std::setw(15) << Traffic::names[level] << std::right << std::setw(15) << all.read
            << std::setw(11) << read << std::setw(21) << all.written << std::setw(11) << written << "   "
            << std::setprecision(3) << ratio << "\n"
            << std::setprecision(9);
    }
    if (std::getenv("TC_SHOW_TRAFFIC")) std::cout << table.str();
    EXPECT_TRUE(near) << "beyond a factor of " << factor << "\n"
                      << table.str() << print(polyhedral::generate_ast(program));
  }

  Scop matmul(int m, int n, int k, const char* a, std::vector<std::int64_t> a_shape, const char* b,
              std::vector<std::int64_t> b_shape) const {
    auto mn = str("0 <= m < ", m, " and 0 <= n < ", n);
    return ScopBuilder(context())
        .input("A", std::move(a_shape))
        .input("B", std::move(b_shape))
        .output("O", {m, n})
        .identity(str("S0[m, n] : ", mn), "O[m, n]")
        .accumulate(str("S1[m, n, k] : ", mn, " and 0 <= k < ", k), "O[m, n]", {a, b})
        .scop();
  }
  Scop nn(int m, int n, int k) const { return matmul(m, n, k, "A[m, k]", {m, k}, "B[k, n]", {k, n}); }
  Scop nt(int m, int n, int k) const { return matmul(m, n, k, "A[m, k]", {m, k}, "B[n, k]", {n, k}); }

  /// T(i, j) = X(j, i)
  Scop transposition(int rows, int columns) const {
    return ScopBuilder(context())
        .input("X", {columns, rows})
        .output("T", {rows, columns})
        .statement(str("S[i, j] : 0 <= i < ", rows, " and 0 <= j < ", columns), "T[i, j]", {"X[j, i]"})
        .scop();
  }
  /// C(i) +=! X(i, k), or C(k)
  Scop sums(int rows, int columns, bool of_rows) const {
    auto kept = of_rows ? "i" : "k";
    auto range = of_rows ? str("0 <= i < ", rows) : str("0 <= k < ", columns);
    return ScopBuilder(context())
        .input("X", {rows, columns})
        .output("C", {of_rows ? rows : columns})
        .identity(str("I[", kept, "] : ", range), str("C[", kept, "]"))
        .accumulate(str("U[i, k] : 0 <= i < ", rows, " and 0 <= k < ", columns), str("C[", kept, "]"), {"X[i, k]"})
        .scop();
  }
  /// O(i, j) = X(i, j) + its four neighbours
  Scop stencil(int rows, int columns) const {
    return ScopBuilder(context())
        .input("X", {rows + 2, columns + 2})
        .output("O", {rows, columns})
        .statement(str("S[i, j] : 0 <= i < ", rows, " and 0 <= j < ", columns), "O[i, j]",
                   {"X[i, j + 1]", "X[i + 1, j]", "X[i + 1, j + 1]", "X[i + 1, j + 2]", "X[i + 2, j + 1]"})
        .scop();
  }
  /// O(m, y, x) +=! I(c, y + r, x + s) * W(m, c, r, s)
  Scop convolution(int m, int c, int size) const {
    auto box = str("0 <= m < ", m, " and 0 <= y, x < ", size);
    return ScopBuilder(context())
        .input("I", {c, size + 2, size + 2})
        .input("W", {m, c, 3, 3})
        .output("O", {m, size, size})
        .identity(str("S0[m, y, x] : ", box), "O[m, y, x]")
        .accumulate(str("S1[m, y, x, c, r, s] : ", box, " and 0 <= c < ", c, " and 0 <= r, s < 3"), "O[m, y, x]",
                    {"I[c, y + r, x + s]", "W[m, c, r, s]"})
        .scop();
  }
};

TEST_F(PredictTraffic, RegistersTakeWhatTheirTileNeeds) {
  auto target = Target::parse("cpu:avx512,cores=1,l1=4k,l2=32k,l3=256k");
  auto program = mapped(nn(96, 96, 96), target, {.register_tile = {6, 2}, .pack = false});
  auto traffic = predict_traffic(program, target);
  double work = 96.0 * 96 * 96 * 4;
  for (const auto& tensor : traffic.tensors) {
    double want = tensor.name == "A" ? work / 32 : tensor.name == "B" ? work / 6 : 0;
    EXPECT_DOUBLE_EQ(tensor.levels[0].read, want) << tensor.name;
    EXPECT_DOUBLE_EQ(tensor.levels[0].written, tensor.name == "O" ? 96 * 96 * 4 : 0) << tensor.name;
  }
  EXPECT_EQ(traffic.tensors.size(), 3u) << "accumulators are in registers";
}

TEST_F(PredictTraffic, RegistersHoldWhatAnInnerLoopDoesNotChange) {
  auto target = Target::parse("cpu:avx512,cores=1");
  auto traffic = predict_traffic(nn(10, 20, 30), target);
  EXPECT_EQ(traffic.total(0).read, (2 * 10 * 20 * 30 + 10 * 20) * 4);
  EXPECT_EQ(traffic.total(0).written, (10 * 20 + 10 * 20) * 4);
}

TEST_F(PredictTraffic, ArgumentsAreReadAndWrittenOnceAtLeast) {
  auto traffic = predict_traffic(polyhedral::scops::softmax(context(), 10, 20), Target::parse("cpu:avx512"));
  EXPECT_EQ(traffic.compulsory().read, 10 * 20 * 4);
  EXPECT_EQ(traffic.compulsory().written, 10 * 20 * 4);
  for (const auto& tensor : traffic.tensors)
    EXPECT_EQ(tensor.argument, tensor.name == "X" || tensor.name == "Y") << tensor.name;
}

TEST_F(PredictTraffic, GathersTouchNoMoreThanTheirInstances) {
  auto scop = ScopBuilder(context())
                  .input("T", {1000000, 16})
                  .input("at", {50})
                  .output("O", {50, 16})
                  .statement("S[i, j] : 0 <= i < 50 and 0 <= j < 16", "O[i, j]", {"at[i]"})
                  .read_any("T[r, c] : 0 <= r < 1000000 and 0 <= c < 16")
                  .scop();
  auto traffic = predict_traffic(scop, Target::parse("cpu:avx512"));
  ASSERT_EQ(traffic.tensors.at(1).name, "T");
  EXPECT_EQ(traffic.tensors.at(1).unique.read, 50 * 16 * 4);
  EXPECT_EQ(traffic.tensors.at(1).levels[3].read, 50 * 64);
}

TEST(CacheSimulator, ReplacesTheLineUsedLongestAgo) {
  test::CacheSimulator caches(128, 256, 512, 2);
  for (std::int64_t line : {0, 1, 0, 2, 0}) caches.access(line * 64, line == 1);
  EXPECT_EQ(caches.level(1).bytes_read(), 3 * 64) << "0 stays, 1 makes place for 2";
  EXPECT_EQ(caches.level(1).bytes_written(), 64);
  caches.access(64, false);
  EXPECT_EQ(caches.level(1).bytes_read(), 4 * 64);
  EXPECT_EQ(caches.level(2).bytes_read(), 3 * 64) << "the second level still has it";
  caches.flush();
  EXPECT_EQ(caches.level(3).bytes_written(), 64);
}

TEST_F(PredictTraffic, ProductsInProgramOrder) {
  MappingOptions plain{.parallel = false, .vectorise = false, .pack = false};
  expect_near(nn(70, 90, 40), plain);
  expect_near(nt(70, 90, 40), plain);
}
TEST_F(PredictTraffic, ProductsTiled) {
  expect_near(nn(100, 116, 84), {.tile = {24, 48}, .pack = false});
  expect_near(nt(100, 116, 84), {.tile = {24, 48}, .pack = false});
  expect_near(nn(90, 200, 200), {.tile = {12, 64}, .pack = false});
}
/// Of small products with copies, zeros and results count as written twice, and as read again.
constexpr double with_copies_that_just_fit = 2.25;

TEST_F(PredictTraffic, ProductsPacked) {
  expect_near(nn(60, 100, 400), {}, with_copies_that_just_fit);
  expect_near(nt(250, 60, 100));
  expect_near(nn(130, 144, 150));
  expect_near(nt(130, 144, 150));
}
TEST_F(PredictTraffic, ProductsOfAnySize) {
  std::mt19937 random(7);
  auto size = [&] { return 20 + static_cast<int>(random() % 130); };
  for (int i = 0; i < 12; ++i) {
    int m = size(), n = size(), k = size();
    SCOPED_TRACE(str(m, "x", n, "x", k));
    expect_near(i % 2 ? nn(m, n, k) : nt(m, n, k), {}, with_copies_that_just_fit);
  }
}

/// Small programs of all kinds, whose data fits everywhere: each level moves what is touched at all.
TEST_F(PredictTraffic, RandomProgramsThatFit) {
  auto target = Target::parse("cpu:avx512,cores=1");
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto scop = polyhedral::random_scop(context(), seed, 9);
    auto program = mapped(scop, target, {.tile = {seed % 3 * 2, 3}});
    auto footprints = compute_footprints(program);
    auto predicted = predict_traffic(footprints, target);
    for (const auto& name : buffers_in_registers(footprints, target)) program.tensor(name).in_registers = true;
    bool exact = true;
    for (const auto& statement : program.statements)
      for (const auto& read : statement.reads) exact &= read.exact;
    std::set<std::int64_t> lines, written;
    polyhedral::AddressStream(program, [&](std::int64_t address, bool write) {
      lines.insert(address / 64);
      if (write) written.insert(address / 64);
    }).run();
    double touched = 64.0 * static_cast<double>(lines.size()), changed = 64.0 * static_cast<double>(written.size());
    for (int level = 1; level < 4; ++level) {
      EXPECT_GE(predicted.total(level).read, 0.75 * touched) << "seed " << seed << "\n"
                                                             << print(polyhedral::generate_ast(program));
      EXPECT_GE(predicted.total(level).written, 0.75 * changed) << "seed " << seed << "\n"
                                                                << print(polyhedral::generate_ast(program));
      EXPECT_TRUE(!exact || predicted.total(level).read <= 1.5 * touched) << "seed " << seed << "\n"
                                                                          << print(polyhedral::generate_ast(program));
      EXPECT_LE(predicted.total(level).written, 1.5 * changed) << "seed " << seed << "\n"
                                                               << print(polyhedral::generate_ast(program));
    }
  }
}
TEST_F(PredictTraffic, Convolution) { expect_near(convolution(24, 20, 22)); }
TEST_F(PredictTraffic, Softmax) {
  expect_near(polyhedral::scops::softmax(context(), 60, 500));
  expect_near(polyhedral::scops::softmax(context(), 20, 3000));
  expect_near(polyhedral::scops::softmax(context(), 6, 20000));
}
TEST_F(PredictTraffic, Transposition) {
  expect_near(transposition(100, 132));
  expect_near(transposition(420, 460));
}
TEST_F(PredictTraffic, Stencil) {
  expect_near(stencil(100, 150));
  expect_near(stencil(60, 1500));
}
TEST_F(PredictTraffic, RowSums) { expect_near(sums(70, 1100, true)); }
TEST_F(PredictTraffic, ColumnSums) { expect_near(sums(300, 420, false)); }

}  // namespace
}  // namespace tc::strategy
