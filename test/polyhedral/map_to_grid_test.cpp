#include "tc/polyhedral/map_grid/map_to_grid.h"

#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/polyhedral/map_grid/barriers.h"
#include "tc/polyhedral/spread/grid_tree.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/rejects.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class MapToGrid : public MappingPassTest {
 protected:
  /// C = A elementwise over an n x m box, in one coincident band.
  Scop pointwise(int n, int m) const {
    auto domain = str("S[i, j] : 0 <= i < ", n, " and 0 <= j < ", m);
    auto scop =
        ScopBuilder(context()).input("A", {n, m}).output("C", {n, m}).statement(domain, "C[i, j]", {"A[i, j]"}).scop();
    scop.schedule =
        build::domain(ctx(), "{ " + domain + " }", coincident_band("[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", 2));
    return scop;
  }

  /// x(t, i) of x(t - 1, i - 1): steps in order, the elements of one at once.
  Scop steps() const {
    auto domain = "S[t, i] : 1 <= t < 10 and 1 <= i < 50";
    auto scop = ScopBuilder(context()).output("x", {10, 50}).statement(domain, "x[t, i]", {"x[t - 1, i - 1]"}).scop();
    scop.tensor("x").live_in = true;
    scop.schedule = build::domain(ctx(), str("{ ", domain, " }"),
                                  band("[{ S[t, i] -> [(t)] }, { S[t, i] -> [(i)] }]", {}, {false, {0, 1}}));
    return scop;
  }

  /// t(i, j) = A(i, j), then B(i, j) = t(i, 31 - j), row by row.
  Scop reversed_rows() const {
    auto box = " : 0 <= i < 4 and 0 <= j < 32";
    auto scop = ScopBuilder(context())
                    .input("A", {4, 32})
                    .temporary("t", {4, 32})
                    .output("B", {4, 32})
                    .statement(str("S[i, j]", box), "t[i, j]", {"A[i, j]"})
                    .statement(str("T[i, j]", box), "B[i, j]", {"t[i, 31 - j]"})
                    .scop();
    scop.schedule =
        build::domain(ctx(), str("{ S[i, j]", box, "; T[i, j]", box, " }"),
                      coincident_band("[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }]", 1,
                                      sequence({{"{ S[i, j] }", coincident_band("[{ S[i, j] -> [(j)] }]", 1)},
                                                {"{ T[i, j] }", coincident_band("[{ T[i, j] -> [(j)] }]", 1)}})));
    return scop;
  }
  GridClusterMapping rows_in_blocks(std::int64_t threads) const {
    return {.members = {{1, 0}},
            .statements = {{"S", {{1, {0}}}}, {"T", {{1, {0}}}}},
            .grid = {4, 1, 1},
            .block = {threads, 1, 1}};
  }
};

TEST_F(MapToGrid, TilesGoToBlocksAndTheirPointsToThreads) {
  GridClusterMapping mapping{.members = {{8, 1, {1}}, {32, 0, {0}}}, .grid = {32, 4, 1}, .block = {32, 8, 1}};
  auto kernels = map_to_grid(clustered(pointwise(100, 64)), {{mapping}}, warp_size);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].grid, (std::array<std::int64_t, 3>{2, 4, 1}));
  EXPECT_EQ(kernels[0].block, (std::array<std::int64_t, 3>{32, 8, 1}));
  EXPECT_SCHEDULE(kernels[0].scop.schedule, R"(
domain: "{ S[i, j] : 0 <= i <= 99 and 0 <= j <= 63 }"
child:
  context: "[block_x, block_y, thread_x, thread_y] -> { [] : 0 <= block_x <= 1 and 0 <= block_y <= 3 and 0 <= thread_x <= 31 and 0 <= thread_y <= 7 }"
  child:
    mark: "kernel"
    child:
      filter: "[block_x, block_y] -> { S[i, j] : 32block_x <= j <= 31 + 32block_x and 0 <= block_y <= 3 and -7 - 8block_y + i <= 32*floor(i/32) <= -8block_y + i }"
      child:
        schedule: "[{ S[i, j] -> [(floor(i/8))] }, { S[i, j] -> [(floor(j/32))] }]"
        permutable: 1
        coincident: [ 1, 1 ]
        child:
          mark: "thread"
          child:
            filter: "[thread_y, thread_x] -> { S[i, j] : (-thread_y + i) mod 8 = 0 and (-thread_x + j) mod 32 = 0 and 0 <= thread_y <= 7 and 0 <= thread_x <= 31 }"
            child:
              schedule: "[{ S[i, j] -> [(i mod 8)] }, { S[i, j] -> [(j mod 32)] }]"
              permutable: 1
              coincident: [ 1, 1 ]
)");
  EXPECT_NO_THROW(verify_kernel(kernels[0]));
}

TEST_F(MapToGrid, AnyGridAndBlockWillDo) {
  for (std::int64_t size : {1, 3, 32})
    for (std::int64_t tile : {0, 1, 5}) {
      GridClusterMapping mapping{
          .members = {{tile, 2, {1, 2}}, {tile, 0, {0, 3}}}, .grid = {size, 1, 2}, .block = {size, 2, 1}};
      auto kernels = map_to_grid(clustered(pointwise(10, 33)), {{mapping}}, warp_size);
      EXPECT_NO_THROW(verify_kernel(kernels.at(0))) << size << " " << tile;
    }
}

TEST_F(MapToGrid, GridAndBlockShrinkToWhatIsUsed) {
  GridClusterMapping mapping{.members = {{4, 1, {1}}, {32, 0, {0}}}, .grid = {1000, 1000, 1}, .block = {64, 16, 1}};
  auto kernels = map_to_grid(clustered(pointwise(10, 33)), {{mapping}}, warp_size);
  EXPECT_EQ(kernels.at(0).grid, (std::array<std::int64_t, 3>{2, 3, 1}));
  EXPECT_EQ(kernels.at(0).block, (std::array<std::int64_t, 3>{32, 4, 1}));
}

TEST_F(MapToGrid, KernelsAreTakenForCopiesWhereTheyAreOne) {
  const auto scop = pointwise(64, 40);
  const GridKernel kernel = map_kernel(scop, GridClusterMapping{}, 32), copy = kernel;
  EXPECT_TRUE(are_copies(kernel, copy));
  EXPECT_FALSE(are_copies(kernel, map_kernel(scop, GridClusterMapping{}, 32))) << "another one that is equal";
  auto other = kernel;
  other.block[0] *= 2;
  EXPECT_FALSE(are_copies(kernel, other));
  other = kernel;
  other.scop.schedule = scop.schedule;
  EXPECT_FALSE(are_copies(kernel, other)) << "another schedule";
  other.scop.schedule = isl::schedule(scop.ctx(), str(kernel.scop.schedule));
  EXPECT_TRUE(are_copies(kernel, other)) << "a schedule that is alike node by node";
}

TEST_F(MapToGrid, WithoutAMappingOneThreadRunsAll) {
  auto kernels = map_to_grid(clustered(pointwise(10, 33)), {}, warp_size);
  EXPECT_EQ(kernels.at(0).grid, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_EQ(kernels.at(0).block, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_TRUE(kernels.at(0).scop.parameters.empty());
  EXPECT_NO_THROW(verify_kernel(kernels.at(0)));
}

TEST_F(MapToGrid, EachClusterIsAKernelAndTemporariesLiveAcross) {
  auto scop = reversed_rows();
  scop.schedule = program_order(scop);
  auto kernels = map_to_grid(clustered(scop), {}, warp_size);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(order(kernels[0].scop), std::vector<std::string>{"S"});
  EXPECT_TRUE(kernels[0].scop.tensor("t").live_out);
  EXPECT_TRUE(kernels[1].scop.tensor("t").live_in);
}

TEST_F(MapToGrid, StepsRunInOneBlockWithABarrierEach) {
  GridClusterMapping mapping{.statements = {{"S", {{1, {0}}}}}, .block = {64, 1, 1}};
  auto kernel = map_to_grid(clustered(steps()), {{mapping}}, warp_size).at(0);
  EXPECT_EQ(kernel.grid, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{49, 1, 1}));
  auto text = print_block(kernel.scop.schedule);
  EXPECT_NE(text.find(block_barrier), std::string::npos) << text;
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(MapToGrid, AMissingBarrierBreaksALaw) {
  auto scop = steps();
  GridClusterMapping mapping{.statements = {{"S", {{1, {0}}}}}, .block = {49, 1, 1}};
  for (const auto& together : {std::vector<std::string>{}, std::vector<std::string>{"S"}}) {
    auto tree = grid_tree(scop, kernel_state(scop, mapping), together);
    GridKernel kernel{scop, tree.where, tree.grid, tree.block, warp_size};
    kernel.scop.schedule = tree.schedule;
    kernel.scop.parameters = {{"thread_x", 0, 48}};
    EXPECT_TRUE(rejects([&] { verify_threads(kernel); }, "no barrier separates two threads"));
  }
}

TEST_F(MapToGrid, WarpsNeedTheirOwnBarrierOnly) {
  auto warp = map_to_grid(clustered(reversed_rows()), {{rows_in_blocks(32)}}, warp_size).at(0);
  EXPECT_NE(print_block(warp.scop.schedule).find(warp_barrier), std::string::npos);
  EXPECT_NO_THROW(verify_kernel(warp));
  auto broken = warp;
  broken.block = {64, 1, 1};
  EXPECT_NO_THROW(verify_threads(broken));
  broken.warp_size = 16;
  EXPECT_TRUE(rejects([&] { verify_threads(broken); }, "no barrier separates two threads"));
}

TEST_F(MapToGrid, ThreadsThatWriteOneElementAtOnceBreakALaw) {
  auto scop = ScopBuilder(context()).output("C", {1}).statement("S[i] : 0 <= i < 8", "C[0]").scop();
  scop.schedule = build::domain(ctx(), "{ S[i] : 0 <= i < 8 }");
  isl::union_pw_aff one(ctx(), "{ S[i] -> [(i)] }"), zero(ctx(), "{ S[i] -> [(0)] }");
  GridKernel kernel{scop, {three_coordinates({zero, zero, zero}), three_coordinates({one, zero, zero})}};
  kernel.block = {8, 1, 1};
  EXPECT_TRUE(rejects([&] { verify_threads(kernel); }, "two threads touch what one of them writes at once"));
}

TEST_F(MapToGrid, BlocksThatShareWhatTheyWriteBreakALaw) {
  auto scop = reversed_rows();
  scop.schedule =
      build::domain(scop.domain(), coincident_band("[{ S[i, j] -> [(j)]; T[i, j] -> [(j)] }]", 1,
                                                   sequence({{"{ S[i, j] }", band("[{ S[i, j] -> [(i)] }]")},
                                                             {"{ T[i, j] }", band("[{ T[i, j] -> [(i)] }]")}})));
  GridClusterMapping mapping{.members = {{1, 0}}, .grid = {32, 1, 1}};
  auto kernel = map_to_grid(clustered(scop), {{mapping}}, warp_size).at(0);
  EXPECT_TRUE(rejects([&] { verify_threads(kernel); }, "different blocks touch what one of them writes"));
}

TEST_F(MapToGrid, AStatementWithoutItsThreadBreaksALaw) {
  auto kernel = map_to_grid(clustered(reversed_rows()), {{rows_in_blocks(32)}}, warp_size).at(0);
  kernel.scop.parameters.push_back({"thread_y", 0, 1});
  EXPECT_TRUE(rejects([&] { verify_kernel(kernel); }, "runs in more than one thread"));
  auto few = map_to_grid(clustered(reversed_rows()), {{rows_in_blocks(32)}}, warp_size).at(0);
  for (auto& parameter : few.scop.parameters) parameter.max -= 1;
  EXPECT_TRUE(rejects([&] { verify_kernel(few); }, "does not run"));
}

class ReduceInBlock : public MapToGrid {
 protected:
  /// Row sums, a row in a block of so many threads.
  GridKernel sums(std::int64_t threads, std::int64_t run = 1) const {
    GridClusterMapping mapping{
        .members = {{1, 0}}, .statements = {{"U", {{1, {0, run}}}}}, .grid = {8, 1, 1}, .block = {threads, 1, 1}};
    mapping.shared_bytes = 1000;
    return map_to_grid(clustered(row_sums(8, 200)), {{mapping}}, warp_size).at(0);
  }
};

TEST_F(ReduceInBlock, WarpsCombineInRegistersAndThreadZeroJoinsThem) {
  auto kernel = sums(64);
  EXPECT_EQ(order(kernel.scop), (std::vector<std::string>{"I", "U_identity", "U", "U_combine", "U_combine_join"}));
  EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{64, 1, 1}));
  EXPECT_EQ(kernel.scop.statement("U_combine").combined_lanes, 32);
  EXPECT_TRUE(kernel.scop.tensor("local_lanes_U").in_registers);
  EXPECT_EQ(kernel.scop.tensor("local_lanes_U").extent, (std::vector<std::int64_t>{1, 1}));
  EXPECT_TRUE(kernel.scop.tensor("local_warps_U_combine").shared);
  EXPECT_EQ(kernel.shared_bytes, 2 * 4);
  EXPECT_TRUE(writes(kernel.scop, "U", "U[i, k] -> local_lanes_U[0, 0]"));
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(ReduceInBlock, OneWarpNeedsNoMemory) {
  auto kernel = sums(32);
  EXPECT_EQ(order(kernel.scop), (std::vector<std::string>{"I", "U_identity", "U", "U_combine"}));
  EXPECT_EQ(kernel.shared_bytes, 0);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(ReduceInBlock, WithoutWholeWarpsThreadZeroCombines) {
  auto kernel = sums(20);
  EXPECT_EQ(kernel.scop.statement("U_combine").combined_lanes, 0);
  EXPECT_EQ(kernel.shared_bytes, 20 * 4);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(ReduceInBlock, RunsOfAThreadAreVectors) {
  auto kernel = sums(32, 4);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(ReduceInBlock, LanesThatDoNotCombineBreakALaw) {
  auto kernel = sums(64);
  kernel.scop.statement("U_combine").combined_iterator = -1;
  EXPECT_TRUE(rejects([&] { verify_threads(kernel); }, "two threads"));
}

class PromoteInBlock : public MapToGrid {
 protected:
  GridKernel promoted(const Scop& scop, std::int64_t bytes) const {
    auto mapping = rows_in_blocks(16);
    mapping.promoted = {"t"};
    mapping.shared_bytes = bytes;
    return map_to_grid(clustered(scop), {{mapping}}, warp_size).at(0);
  }
  /// As reversed_rows, but each thread uses its own elements.
  Scop rows() const {
    auto scop = reversed_rows();
    scop.statement("T").reads[0] = exact_access(map("{ T[i, j] -> t[i, j] : 0 <= i < 4 and 0 <= j < 32 }"));
    return scop;
  }
};

TEST_F(PromoteInBlock, WhatOneThreadUsesGoesToItsRegisters) {
  auto kernel = promoted(rows(), 0);
  const auto& buffer = kernel.scop.tensor("local_t");
  EXPECT_TRUE(buffer.in_registers);
  EXPECT_EQ(buffer.extent, (std::vector<std::int64_t>{1, 2}));
  EXPECT_TRUE(writes(kernel.scop, "S", "S[i, j] -> local_t[0, floor(j/16)]"));
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(PromoteInBlock, WhatThreadsShareGoesToSharedMemory) {
  auto kernel = promoted(reversed_rows(), 1000);
  EXPECT_TRUE(kernel.scop.tensor("local_t").shared);
  EXPECT_EQ(kernel.shared_bytes, 32 * 4);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(PromoteInBlock, WhatDoesNotFitStays) {
  auto kernel = promoted(reversed_rows(), 100);
  EXPECT_FALSE(kernel.scop.has_tensor("local_t"));
  EXPECT_EQ(kernel.shared_bytes, 0);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

class TiledProduct : public MapToGrid {
 protected:
  /// C(m, n) +=! A(m, k) B(k, n) in tiles of 8x8, blocks of 4 k, 4x4 threads.
  GridKernel product(int size, int slots = 1, GridCopy::Way way = GridCopy::Way::Registers) const {
    const int depth = slots > 1 ? 20 : 8;
    auto box = str(" : 0 <= m, n < ", size), cube = str(" : 0 <= m, n < ", size, " and 0 <= k < ", depth);
    auto scop = ScopBuilder(context())
                    .input("A", {size, depth})
                    .input("B", {depth, size})
                    .output("C", {size, size})
                    .identity("I[m, n]" + box, "C[m, n]")
                    .accumulate("U[m, n, k]" + cube, "C[m, n]", {"A[m, k]", "B[k, n]"})
                    .scop();
    scop.schedule = build::domain(
        ctx(), "{ I[m, n]" + box + "; U[m, n, k]" + cube + " }",
        coincident_band("[{ I[m, n] -> [(m)]; U[m, n, k] -> [(m)] }, { I[m, n] -> [(n)]; U[m, n, k] -> [(n)] }]", 2,
                        sequence({{"{ I[m, n] }"}, {"{ U[m, n, k] }", band("[{ U[m, n, k] -> [(k)] }]")}})));
    GridClusterMapping mapping{.members = {{8, 1, {1, 2}}, {8, 0, {0, 2}}}, .grid = {64, 64, 1}, .block = {4, 4, 1}};
    mapping.blocks = {"U", 2, 4, slots};
    mapping.copies = {{"U", 0, 0, -1, 1, 1, way}, {"U", 1, 1, 1, 2, 1, way}};
    mapping.staged = {"C"};
    mapping.others.tile = mapping.others.unroll = true;
    mapping.shared_bytes = 1000;
    return map_to_grid(clustered(scop), {{mapping}}, warp_size).at(0);
  }
};

TEST_F(TiledProduct, KeepsAccumulatorsInRegistersAndSharesCopies) {
  auto kernel = product(16);
  EXPECT_EQ(order(kernel.scop), (std::vector<std::string>{"I", "copy_A", "copy_B", "U", "C_out"}));
  EXPECT_EQ(kernel.scop.tensor("local_acc_C").extent, (std::vector<std::int64_t>{2, 2}));
  EXPECT_TRUE(kernel.scop.tensor("local_acc_C").in_registers);
  const auto& a = kernel.scop.tensor("local_block_A");
  EXPECT_EQ(a.extent, (std::vector<std::int64_t>{8, 4, 1}));
  EXPECT_EQ(a.strides[0], 1);
  EXPECT_EQ(a.strides[1], 8);
  EXPECT_EQ(kernel.shared_bytes, 4 * 8 * 4 + 4 * 8 * 4);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(TiledProduct, CopiesOfTheNextBlockWaitInRegisters) {
  auto kernel = product(16, 2);
  EXPECT_EQ(order(kernel.scop), (std::vector<std::string>{"I", "load_A", "copy_A", "load_B", "copy_B", "U", "C_out"}));
  EXPECT_TRUE(kernel.scop.tensor("local_held_A").in_registers);
  EXPECT_EQ(kernel.scop.tensor("local_held_A").extent, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(kernel.scop.tensor("local_held_B").extent, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(kernel.scop.tensor("local_block_B").extent, (std::vector<std::int64_t>{2, 4, 8, 1}));
  EXPECT_EQ(print_block(kernel.scop.schedule).find(copy_wait), std::string::npos);
  EXPECT_NO_THROW(verify_kernel(kernel));
}

TEST_F(TiledProduct, AsynchronousCopiesRunAheadByAllSlotsButOne) {
  for (int slots : {2, 3}) {
    auto kernel = product(16, slots, GridCopy::Way::Asynchronous);
    EXPECT_EQ(order(kernel.scop), (std::vector<std::string>{"I", "copy_A", "copy_B", "U", "C_out"}));
    EXPECT_EQ(kernel.scop.tensor("local_block_B").extent, (std::vector<std::int64_t>{slots, 4, 8, 1}));
    EXPECT_NE(print_block(kernel.scop.schedule).find(str(copy_wait, "_", slots - 2)), std::string::npos);
    EXPECT_NO_THROW(verify_kernel(kernel));
  }
}

TEST_F(TiledProduct, WaitsStandInTheIterationsThatOnlyCopyToo) {
  auto text = print(generate_ast(product(16, 3, GridCopy::Way::Asynchronous).scop));
  auto wait = text.find("tc_copy_wait"), use = text.find("U(");
  EXPECT_LT(wait, use) << text;
  EXPECT_LT(text.find("tc_warp_barrier"), use) << text;
}

TEST_F(TiledProduct, AWaitThatLeavesOneGroupTooManyBreaksALaw) {
  auto kernel = product(16, 3, GridCopy::Way::Asynchronous);
  auto text = print_block(kernel.scop.schedule);
  for (std::size_t at; (at = text.find("tc_copy_wait_1")) != std::string::npos;) text.replace(at, 14, "tc_copy_wait_2");
  kernel.scop.schedule = isl::schedule(ctx(), text);
  EXPECT_TRUE(rejects([&] { verify_threads(kernel); }, "an asynchronous copy may be under way"));
}

TEST_F(TiledProduct, ABufferForOneSlotTooFewBreaksALaw) {
  auto kernel = product(16, 3, GridCopy::Way::Asynchronous);
  for (auto& statement : kernel.scop.statements)
    for (auto* access : accesses(statement))
      if (range_name(access->function.as_map()) == "local_block_B") {
        auto slot = call(ctx(), isl_pw_aff_mod_val, access->function.at(0).release(), isl::val(ctx(), 2).release());
        access->function = call(ctx(), isl_pw_multi_aff_set_pw_aff, access->function.copy(), 0u, slot.copy());
      }
  EXPECT_TRUE(rejects([&] { verify_kernel(kernel); }, "an asynchronous copy may be under way: copy_B"));
}

TEST_F(TiledProduct, APlaceForTwoElementsBreaksALaw) {
  auto kernel = product(16);
  auto& copy = kernel.scop.statement("copy_B");
  EXPECT_NO_THROW(verify_kernel_promotion(kernel));
  copy.write.function = call(ctx(), isl_pw_multi_aff_set_pw_aff, copy.write.function.copy(), 0u,
                             isl::pw_aff(ctx(), "{ copy_B[k, n, t] -> [(0)] }").release());
  EXPECT_TRUE(rejects([&] { verify_kernel_promotion(kernel); }, "buffer 'local_block_B'"));
}

TEST_F(TiledProduct, AnAccumulatorOfTwoElementsBreaksALaw) {
  auto kernel = product(16);
  for (auto& statement : kernel.scop.statements)
    for (auto* access : accesses(statement))
      if (range_name(access->function.as_map()) == "local_acc_C") {
        auto zero = access->function.at(0).sub(access->function.at(0));
        access->function = call(ctx(), isl_pw_multi_aff_set_pw_aff, access->function.copy(), 0u, zero.copy());
      }
  EXPECT_TRUE(rejects([&] { verify_kernel_promotion(kernel); }, "is written before it is read"));
}

TEST_F(TiledProduct, PartialTilesAreGuarded) {
  EXPECT_NO_THROW(verify_kernel(product(11)));
  EXPECT_NO_THROW(verify_kernel(product(11, 2)));
  EXPECT_NO_THROW(verify_kernel(product(11, 3, GridCopy::Way::Asynchronous)));
}

/// C(w, o) += I(w + k) F(o, k) in tiles of 16 columns.
class Windows : public MapToGrid {
 protected:
  GridKernel kernel(const std::string& subscript, std::int64_t elements) const {
    auto wo = str(" : 0 <= w < 40 and 0 <= o < 8"), wok = wo + " and 0 <= k < 3";
    auto scop = ScopBuilder(context())
                    .input("I", {elements})
                    .input("F", {8, 3})
                    .output("C", {40, 8})
                    .accumulate("U[w, o, k]" + wok, "C[w, o]", {"I[" + subscript + "]", "F[o, k]"})
                    .scop();
    scop.tensor("C").live_in = true;
    scop.schedule = build::domain(
        ctx(), "{ U[w, o, k]" + wok + " }",
        coincident_band("[{ U[w, o, k] -> [(w)] }, { U[w, o, k] -> [(o)] }]", 2, band("[{ U[w, o, k] -> [(k)] }]")));
    GridClusterMapping mapping{.members = {{16, 0, {0}}, {8, -1, {1}}}, .grid = {3, 1, 1}, .block = {16, 8, 1}};
    mapping.copies = {{"U", 0, 0, -1, 1}};
    mapping.shared_bytes = 4000;
    return map_to_grid(clustered(scop), {{mapping}}, warp_size).at(0);
  }
};

TEST_F(Windows, AreCopiedAsTheBoxAroundWhatATileReads) {
  struct Case {
    const char* subscript;
    std::int64_t elements, extent;
  };
  for (const auto& [subscript, elements, extent] : std::vector<Case>{
           {"w + k", 42, 18}, {"2w + k", 81, 33}, {"w + 5k", 50, 26}, {"w + 2 - k", 42, 18}, {"w + k + 7", 49, 18}}) {
    auto result = kernel(subscript, elements);
    EXPECT_EQ(result.scop.tensor("local_block_I").extent, (std::vector<std::int64_t>{extent, 1})) << subscript;
    EXPECT_NO_THROW(verify_kernel(result)) << subscript;
  }
}

TEST_F(Windows, OfWhichSomeElementsAreNeverReadAreNot) {
  auto scop = ScopBuilder(context())
                  .input("I", {80})
                  .output("C", {40})
                  .statement("U[w] : 0 <= w < 40", "C[w]", {"I[2w]"})
                  .scop();
  EXPECT_TRUE(copy_dimensions(scop.statement("U"), 0).empty());
}

}  // namespace
}  // namespace tc::polyhedral
