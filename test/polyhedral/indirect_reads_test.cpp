#include "tc/polyhedral/core/indirect_reads.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/rejects.h"

namespace tc::polyhedral {
namespace {

using namespace build;

/// C(m, n) += T(I(m), k) B(k, n), the reads in the order I, T, B; or other tensors and reads.
class IndirectReads : public MappingPassTest {
 protected:
  static constexpr const char* box = " : 0 <= m < 16 and 0 <= n < 16 and 0 <= k < 16";

  Scop product(const std::string& guard = "") const {
    auto scop = ScopBuilder(context())
                    .input("T", {9, 16})
                    .input("I", {16})
                    .input("B", {16, 16})
                    .output("C", {16, 16})
                    .accumulate(str("U[m, n, k]", box), "C[m, n]", {"I[m]" + guard})
                    .read_through("T[v, k] : 0 <= v < 9 and 0 <= k < 16", {0, 2}, 1)
                    .scop();
    auto& update = scop.statement("U");
    auto& gathered = update.reads[1].relation;
    gathered = gathered.intersect(isl::map(ctx(), "{ U[m, n, k] -> T[v, k] }"));
    if (!guard.empty()) gathered = gathered.intersect_domain(update.reads[0].relation.domain());
    update.reads.push_back(exact_access(isl::map(ctx(), "{ U[m, n, k] -> B[k, n] }").intersect_domain(update.domain)));
    scop.tensor("C").live_in = true;
    scop.schedule = build::domain(
        ctx(), str("{ U[m, n, k]", box, " }"),
        coincident_band("[{ U[m, n, k] -> [(m)] }, { U[m, n, k] -> [(n)] }]", 2, band("[{ U[m, n, k] -> [(k)] }]")));
    return scop;
  }

  GridClusterMapping mapping(int slots = 1) const {
    GridClusterMapping result{.members = {{8, 1, {1, 2}}, {8, 0, {0, 2}}}, .grid = {64, 64, 1}, .block = {4, 4, 1}};
    result.blocks = {"U", 2, 4, slots};
    result.copies = {{"U", 1, 0, 2, 2}};
    result.others.tile = result.others.unroll = true;
    result.shared_bytes = 4000;
    return result;
  }
  GridKernel kernel(const Scop& scop, const GridClusterMapping& how) const {
    return map_to_grid(clustered(scop), {{how}}, warp_size).at(0);
  }
};

TEST_F(IndirectReads, DependOnTheIteratorsOfTheirSubscripts) {
  auto scop = product();
  const auto& update = scop.statement("U");
  EXPECT_EQ(element_iterators(update, 0), (std::vector<int>{0}));
  EXPECT_EQ(element_iterators(update, 1), (std::vector<int>{0, 2}));
  EXPECT_EQ(element_iterators(update, 2), (std::vector<int>{1, 2}));
  EXPECT_TRUE(is_subscript(update, 0));
  EXPECT_FALSE(is_subscript(update, 1));
  EXPECT_EQ(tensors_of(update, 1), (std::vector<std::string>{"I", "T"}));
  EXPECT_EQ(known_stride(scop, update.reads[1], 2), 1);
  EXPECT_EQ(known_stride(scop, update.reads[1], 0), 0);
  EXPECT_FALSE(affine_subscript(update.reads[1], 0).has_value());
}

TEST_F(IndirectReads, OfRenumberedInstancesDependOnTheNewIterators) {
  auto scop = product();
  auto& update = scop.statement("U");
  update.origin = isl::multi_aff(ctx(), "{ U[m, n, k] -> U[4n + k, m, m] }");
  EXPECT_EQ(element_iterators(update, 1), (std::vector<int>{0, 1, 2}));
  update.reads[1].indirection = std::nullopt;
  EXPECT_EQ(element_iterators(update, 1), std::nullopt);
}

TEST_F(IndirectReads, AreCopiedForTheIteratorsThatDecide) {
  EXPECT_EQ(print(generate_ast(product())), R"(for (int c0 = 0; c0 <= 15; c0 += 1)
  for (int c1 = 0; c1 <= 15; c1 += 1)
    for (int c2 = 0; c2 <= 15; c2 += 1)
      U(c0, c1, c2);
U(c0, c1, c2): C[c0][c1] <- I[c0], ?, B[c2][c1]
)");
  auto how = mapping();
  how.block = {1, 1, 1};
  how.members = {{8, -1, {}}, {8, -1, {}}};
  how.others = {};
  auto copied = kernel(product(), how);
  EXPECT_EQ(print(generate_ast(copied.scop)), R"(// kernel
for (int c0 = 0; c0 <= 1; c0 += 1)
  for (int c1 = 0; c1 <= 1; c1 += 1)
    for (int c2 = 0; c2 <= 3; c2 += 1) {
      // allocate_local_block_T
      {
        // thread
        // register
        for (int c3 = 0; c3 <= 1; c3 += 1)
          for (int c4 = 0; c4 <= 7; c4 += 1) {
            // vector
            for (int c7 = 0; c7 <= 1; c7 += 1)
              copy_T(8 * c0 + c4, 4 * c2 + 2 * c3 + c7, c1);
          }
        // thread
        for (int c3 = 0; c3 <= 7; c3 += 1)
          for (int c4 = 0; c4 <= 7; c4 += 1)
            for (int c5 = 0; c5 <= 3; c5 += 1)
              U(8 * c0 + c3, 8 * c1 + c4, 4 * c2 + c5);
      }
    }
copy_T(8 * c0 + c4, 8 * c1, 4 * c2 + 2 * c3 + c7): local_block_T[c4][2 * c3 + c7][0] <- I[8 * c0 + c4], ?
U(8 * c0 + c3, 8 * c1 + c4, 4 * c2 + c5): C[8 * c0 + c3][8 * c1 + c4] <- I[8 * c0 + c3], local_block_T[c3][c5][0], B[4 * c2 + c5][8 * c1 + c4]
)");
  EXPECT_NO_THROW(verify_kernel(copied));
}

TEST_F(IndirectReads, CopiesHaveATileOfTheirIterators) {
  auto result = kernel(product(), mapping());
  const auto& buffer = result.scop.tensor("local_block_T");
  EXPECT_EQ(buffer.extent, (std::vector<std::int64_t>{8, 4, 1}));
  EXPECT_EQ(buffer.strides[0], 1);
  EXPECT_TRUE(buffer.shared);
  EXPECT_EQ(order(result.scop), (std::vector<std::string>{"copy_T", "U"}));
  EXPECT_TRUE(result.scop.statement("U").reads[0].relation.is_empty()) << "U still reads I";
  EXPECT_NO_THROW(verify_kernel(result));
}

TEST_F(IndirectReads, CopiesRunAhead) {
  auto result = kernel(product(), mapping(2));
  EXPECT_EQ(order(result.scop), (std::vector<std::string>{"load_T", "copy_T", "U"}));
  EXPECT_EQ(result.scop.tensor("local_held_T").extent, (std::vector<std::int64_t>{2}));
  EXPECT_NO_THROW(verify_kernel(result));
}

TEST_F(IndirectReads, IndexTensorsAreCopiedAsAnyOther) {
  auto how = mapping();
  how.copies.insert(how.copies.begin(), {"U", 0, 0, -1, 1});
  auto result = kernel(product(), how);
  EXPECT_EQ(order(result.scop), (std::vector<std::string>{"copy_I", "copy_T", "U"}));
  EXPECT_EQ(range_name(result.scop.statement("copy_T").reads[0].function.as_map()), "local_block_I");
  EXPECT_NO_THROW(verify_kernel(result));
}

TEST_F(IndirectReads, AreCopiedWhereTheirGuardHoldsOnly) {
  auto result = kernel(product(" : m >= n + k"), mapping());
  auto copied = result.scop.statement("copy_T").domain;
  auto read = isl::set(ctx(), "{ copy_T[m, k, t1] : 0 <= m < 16 and 0 <= k < 16 and 0 <= t1 < 2 and m >= 8t1 + k }");
  EXPECT_TRUE(copied.is_equal(read)) << copied;
  EXPECT_NO_THROW(verify_kernel(result));
}

TEST_F(IndirectReads, ACopyOfWhatNobodyReadsBreaksALaw) {
  auto result = kernel(product(" : m >= n + k"), mapping());
  auto& copy = result.scop.statement("copy_T");
  copy.domain = isl::set(ctx(), "{ copy_T[m, k, t1] : 0 <= m < 16 and 0 <= k < 16 and 0 <= t1 < 2 }");
  EXPECT_TRUE(rejects([&] { verify_kernel_gathers(result); }, "copy_T copies what nobody reads"));
}

TEST_F(IndirectReads, AnotherElementInACopyBreaksALaw) {
  auto result = kernel(product(), mapping(2));
  auto& origin = result.scop.statement("load_T").origin;
  auto good = origin;
  origin = isl::multi_aff(ctx(), "{ load_T[m, k, t1] -> U[15 - m, 0, k] }");
  EXPECT_TRUE(rejects([&] { verify_kernel_gathers(result); }, "read 1 of U finds another element in its copy"));
  origin = isl::multi_aff(ctx(), "{ load_T[m, k, t1] -> U[m, 7, k] }");
  EXPECT_NO_THROW(verify_kernel_gathers(result)) << "n decides nothing";
  origin = good;
  auto& write = result.scop.statement("copy_T").write.relation;
  write = write.intersect_domain(isl::set(ctx(), "{ copy_T[m, k, t1] : m != 3 }"));
  EXPECT_TRUE(rejects([&] { verify_kernel_gathers(result); }, "read 1 of U finds nothing in its copy"));
}

TEST_F(IndirectReads, ACopyOfWhatTheKernelWritesBreaksALaw) {
  auto result = kernel(product(), mapping());
  auto& write = result.scop.statement("U").write.relation;
  write = write.set_range_tuple("T");
  EXPECT_TRUE(rejects([&] { verify_kernel_gathers(result); }, "copy_T copies what U writes"));
}

}  // namespace
}  // namespace tc::polyhedral
