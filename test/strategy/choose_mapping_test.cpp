#include "tc/strategy/cpu/choose_mapping.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/mapping_text.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseMapping : public polyhedral::IslTest {
 protected:
  /// C = A elementwise over an n x m box, scheduled as one coincident band.
  Scop pointwise(int n, int m) const {
    auto scop = ScopBuilder(context())
                    .input("A", {n, m})
                    .output("C", {n, m})
                    .statement(str("S[i, j] : 0 <= i < ", n, " and 0 <= j < ", m), "C[i, j]", {"A[i, j]"})
                    .scop();
    scop.schedule =
        schedule(str(R"({domain: "{ S[i, j] : 0 <= i < )", n, " and 0 <= j < ", m,
                     R"( }", child: {schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, )"
                     R"(coincident: [1, 1]}})"));
    return scop;
  }
  std::string choose(const Scop& scop, const MappingOptions& options = {}) const {
    return polyhedral::essentials(
        to_string(choose_mapping(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=2"), options)));
  }
};

TEST_F(ChooseMapping, SmallWorkStaysSerial) { EXPECT_EQ(choose(pointwise(20, 30)), "points 1x16, S: i1 x16\n"); }

TEST_F(ChooseMapping, RowsRunOnThreads) {
  EXPECT_EQ(choose(pointwise(64, 20000)), "parallel 0, blocks 8x0, points 1x16, S: i1 x16\n");
}

TEST_F(ChooseMapping, ShortRowsAreGroupedInBlocks) {
  EXPECT_EQ(choose(pointwise(4096, 1024)), "parallel 0, blocks 512x0, points 1x16, S: i1 x16\n");
}

TEST_F(ChooseMapping, FewRowsLeaveTheThreadsToColumns) {
  EXPECT_EQ(choose(pointwise(1, 1 << 20)), "parallel 1, blocks 0x131072, points 1x16, S: i1 x16\n");
}

/// As many instances as 64 bits do not count are no reason to run on one thread.
TEST_F(ChooseMapping, EndlessSumsRunOnThreads) {
  auto scop = ScopBuilder(context())
                  .input("A", {64, 8})
                  .output("C", {64, 64})
                  .accumulate("S[i, j, l, m, k] : 0 <= i, j < 64 and 0 <= l, m < 4294967296 and 0 <= k < 8", "C[i, j]",
                              {"A[i, k]", "A[j, k]"})
                  .scop();
  scop.schedule = schedule(
      R"({domain: "{ S[i, j, l, m, k] : 0 <= i, j < 64 and 0 <= l, m < 4294967296 and 0 <= k < 8 }", child: {
      schedule: "[{ S[i, j, l, m, k] -> [(i)] }, { S[i, j, l, m, k] -> [(j)] }]", permutable: 1, coincident: [1, 1],
      child: { schedule: "[{ S[i, j, l, m, k] -> [(l)] }, { S[i, j, l, m, k] -> [(m)] }, { S[i, j, l, m, k] -> [(k)] }]",
      permutable: 1 }}})");
  EXPECT_NE(choose(scop).find("parallel"), std::string::npos) << choose(scop);
}

TEST_F(ChooseMapping, OptionsRestrict) {
  EXPECT_EQ(choose(pointwise(64, 20000), {.parallel = false}), "points 1x16, S: i1 x16\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.vectorise = false}), "parallel 0, blocks 8x0\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.tile = {8, 100}}), "parallel 0, blocks 8x100, points 1x16, S: i1 x16\n");
}

TEST_F(ChooseMapping, VectorsAreAtMostAsWideAsAskedFor) {
  EXPECT_EQ(choose(pointwise(64, 20000), {.vector_bytes = 32}), "parallel 0, blocks 8x0, points 1x8, S: i1 x8\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.vector_bytes = 4}), "parallel 0, blocks 8x0\n");
}

TEST_F(ChooseMapping, RowsSumsKeepAsManyVectorsInFlightAsAskedFor) {
  auto scop = ScopBuilder(context())
                  .input("A", {64, 4096})
                  .output("C", {64})
                  .accumulate("U[i, k] : 0 <= i < 64 and 0 <= k < 4096", "C[i]", {"A[i, k]"})
                  .scop();
  scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
  EXPECT_NE(choose(scop).find("U: i1 x16 unroll 4"), std::string::npos) << choose(scop);
  EXPECT_NE(choose(scop, {.unroll = 16}).find("U: i1 x16 unroll 16"), std::string::npos)
      << choose(scop, {.unroll = 16});
  EXPECT_EQ(choose(scop, {.unroll = 1}).find("unroll"), std::string::npos) << choose(scop, {.unroll = 1});
}

TEST_F(ChooseMapping, TransposesSquaresInRegistersThatHoldThem) {
  auto transposition = [&](DType type) {
    auto scop = ScopBuilder(context())
                    .input("A", {70, 80})
                    .output("C", {80, 70})
                    .statement("S[i, j] : 0 <= i < 80 and 0 <= j < 70", "C[i, j]", {"A[j, i]"})
                    .scop();
    for (auto& tensor : scop.tensors) tensor.type = type;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return choose(scop);
  };
  EXPECT_EQ(transposition(DType::Float32), "register 16x16, S: i1 x16\n");
  EXPECT_EQ(transposition(DType::Float64), "register 8x8, S: i1 x8\n");
  EXPECT_EQ(transposition(DType::Int8).find("register"), std::string::npos) << transposition(DType::Int8);
}

TEST_F(ChooseMapping, LanesAndThreadsRunAlongTheIteratorsNamed) {
  EXPECT_EQ(choose(pointwise(64, 20000), {.parallel_along = {"j"}}),
            "parallel 1, blocks 0x2512, points 1x16, S: i1 x16\n");
  EXPECT_EQ(choose(pointwise(64, 20000), {.parallel_along = {"other"}}),
            "parallel 0, blocks 8x0, points 1x16, S: i1 x16\n");
  auto scop = ScopBuilder(context())
                  .input("A", {64, 64, 64})
                  .output("C", {64, 64})
                  .identity("I[i, j] : 0 <= i, j < 64", "C[i, j]")
                  .accumulate("U[i, j, k] : 0 <= i, j, k < 64", "C[i, j]", {"A[i, j, k]"})
                  .scop();
  scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
  EXPECT_NE(choose(scop).find("U: i2 x16"), std::string::npos) << choose(scop);
  auto rows = choose(scop, {.vector_along = {"j"}});
  EXPECT_EQ(rows.find("U: i2"), std::string::npos) << rows;
}

TEST_F(ChooseMapping, BuffersHoldWhatIsAskedFor) {
  auto bytes = [&](const MappingOptions& options) {
    return choose_mapping(polyhedral::clustered(pointwise(8, 8)), Target::parse("cpu:avx512,l2=1m"), options)
        .buffer_bytes;
  };
  EXPECT_EQ(bytes({}), 256 << 10);
  EXPECT_EQ(bytes({.promote_bytes = 4096}), 4096);
  EXPECT_EQ(bytes({.promote = false, .promote_bytes = 4096}), 0);
}

/// C(i, j) +=! A(i, k) * B, with B(k, j) or B(j, k), below the coincident band [i, j].
class ChooseContraction : public polyhedral::IslTest {
 protected:
  std::string choose(int m, int n, int k, const char* b, const std::vector<std::int64_t>& shape, const char* target,
                     const MappingOptions& options = {}) const {
    return choose(m, n, k, "A[i, k]", {m, k}, b, shape, target, options);
  }
  std::string choose(int m, int n, int k, const char* a, const std::vector<std::int64_t>& a_shape, const char* b,
                     const std::vector<std::int64_t>& shape, const char* target,
                     const MappingOptions& options = {}) const {
    auto ij = str("0 <= i < ", m, " and 0 <= j < ", n), ijk = str(ij, " and 0 <= k < ", k);
    auto scop = ScopBuilder(context())
                    .input("A", a_shape)
                    .input("B", shape)
                    .output("C", {m, n})
                    .identity(str("I[i, j] : ", ij), "C[i, j]")
                    .accumulate(str("U[i, j, k] : ", ijk), "C[i, j]", {a, b})
                    .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options);
    return polyhedral::essentials(
        to_string(choose_mapping(polyhedral::clustered(scop), Target::parse(target), options)));
  }
};

TEST_F(ChooseContraction, TakesTheRegisterTileAskedFor) {
  auto mapping = [&](const MappingOptions& options) {
    return choose(512, 512, 512, "B[k, j]", {512, 512}, "cpu:avx512,cores=2,l2=2m", options);
  };
  auto wide = mapping({.register_tile = {6, 2}});
  EXPECT_NE(wide.find("register 6x32, I: i1 x16, U: i1 x16,"), std::string::npos) << wide;
  auto narrow = mapping({.vector_bytes = 32, .register_tile = {3, 1}});
  EXPECT_NE(narrow.find("register 3x8, I: i1 x8, U: i1 x8,"), std::string::npos) << narrow;
}

TEST_F(ChooseContraction, PacksAndCutsTheReductionAsAskedFor) {
  auto mapping = [&](const MappingOptions& options) {
    return choose(1024, 1024, 1024, "B[k, j]", {1024, 1024}, "cpu:avx512,cores=2,l1=32k,l2=1m", options);
  };
  EXPECT_NE(mapping({}).find("pack read 1 of U"), std::string::npos) << mapping({});
  EXPECT_EQ(mapping({.pack = false}).find("pack"), std::string::npos) << mapping({.pack = false});
  EXPECT_NE(mapping({.reduction_block = 100}).find("i2 in blocks of 100"), std::string::npos);
  EXPECT_EQ(mapping({.reduction_block = 1024}).find("in blocks of"), std::string::npos);
  EXPECT_EQ(mapping({.parallel_along = {"i"}}).find("parallel 0"), 0u) << mapping({.parallel_along = {"i"}});
  EXPECT_EQ(mapping({.parallel_along = {"j"}}).find("parallel 1"), 0u) << mapping({.parallel_along = {"j"}});
}

TEST_F(ChooseContraction, TilesRegistersAndStagesAccumulators) {
  EXPECT_EQ(choose(64, 64, 64, "B[k, j]", {64, 64}, "cpu:avx512,cores=2,l1=48k,l2=2m"),
            "parallel 0, blocks 36x0, register 6x64, I: i1 x16, U: i1 x16, stage C\n");
  EXPECT_EQ(choose(64, 64, 64, "B[k, j]", {64, 64}, "cpu:avx2,cores=2,l1=48k,l2=2m"),
            "parallel 1, blocks 0x16, register 6x16, I: i1 x8, U: i1 x8, stage C\n");
}

/// O(h, w) +=! I(step h + kh, w + kw) K(kh, kw) below the coincident band [h, w].
TEST_F(ChooseContraction, SlidesWindowsThatOverlapAlongTheRows) {
  auto mapping = [&](int width, int step) {
    auto hw = str("0 <= h < 56 and 0 <= w < 56"), all = str(hw, " and 0 <= kh < ", width, " and 0 <= kw < ", width);
    auto scop =
        ScopBuilder(context())
            .input("I", {56 * step + width, 56 + width})
            .input("K", {width, width})
            .output("O", {56, 56})
            .identity(str("Z[h, w] : ", hw), "O[h, w]")
            .accumulate(str("U[h, w, kh, kw] : ", all), "O[h, w]", {str("I[", step, "h + kh, w + kw]"), "K[kh, kw]"})
            .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return polyhedral::essentials(
        to_string(choose_mapping(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=1,l1=48k,l2=2m"), {})));
  };
  EXPECT_NE(mapping(3, 1).find("register 6x64"), std::string::npos) << mapping(3, 1);
  EXPECT_NE(mapping(3, 1).find("U: i2 slides along i0"), std::string::npos) << mapping(3, 1);
  EXPECT_NE(mapping(3, 2).find("slides"), std::string::npos) << mapping(3, 2);
  EXPECT_EQ(mapping(2, 2).find("slides"), std::string::npos) << mapping(2, 2);
  EXPECT_EQ(mapping(9, 1).find("slides"), std::string::npos) << mapping(9, 1);
}

/// Y(n, h, w, k) +=! X(n, c, h + r, w + s) W(r, s, c, k): a tile of all 8 images fills registers best, one of 7 columns reads a
/// line where the other reads 8.
TEST_F(ChooseContraction, TakesTheRowsOfLeastPriceOfThoseThatFillRegistersAlmostAsWell) {
  const std::string nhwk = "0 <= n < 8 and 0 <= h < 7 and 0 <= w < 7 and 0 <= k < 512";
  auto scop = ScopBuilder(context())
                  .input("X", {8, 512, 9, 9})
                  .input("W", {3, 3, 512, 512})
                  .output("Y", {8, 7, 7, 512})
                  .identity(str("I[n, h, w, k] : ", nhwk), "Y[n, h, w, k]")
                  .accumulate(str("U[n, h, w, k, r, s, c] : ", nhwk, " and 0 <= r, s < 3 and 0 <= c < 512"),
                              "Y[n, h, w, k]", {"X[n, c, h + r, w + s]", "W[r, s, c, k]"})
                  .scop();
  scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
  const auto target = Target::parse("cpu:avx512,cores=2,l1=48k,l2=1m,l3=32m");
  auto text = polyhedral::essentials(to_string(choose_mapping(polyhedral::clustered(scop), target, {})));
  EXPECT_NE(text.find("register 1x1x7x"), std::string::npos) << text;
}

TEST_F(ChooseContraction, PacksWhatLiesAcrossTheLanes) {
  EXPECT_EQ(choose(512, 512, 512, "B[j, k]", {512, 512}, "cpu:avx512,cores=2,l1=48k,l2=2m"),
            "parallel 1, blocks 0x128, register 6x64, I: i1 x16, U: i1 x16, stage C, "
            "pack read 1 of U in panels of 64 i1\n");
}

TEST_F(ChooseContraction, FewRowsRunAlongTheReductionRatherThanCopyWhatLiesAcross) {
  for (int rows : {2, 4, 6, 8, 9}) {
    auto mapping = choose(rows, 1024, 1024, "B[j, k]", {1024, 1024}, "cpu:avx512,cores=2,l1=48k,l2=2m");
    EXPECT_NE(mapping.find("U: i2 x16"), std::string::npos) << rows << ": " << mapping;
    EXPECT_EQ(mapping.find("pack"), std::string::npos) << rows << ": " << mapping;
  }
}

/// Lanes that count on a copy get one where it is used often enough; a short sum of few rows gathers.
TEST_F(ChooseContraction, WhatLiesAcrossIsCopiedForManyRows) {
  for (int rows : {17, 24, 40, 64})
    for (int depth : {16, 100, 1024}) {
      auto mapping = choose(rows, 1024, depth, "B[j, k]", {1024, depth}, "cpu:avx512,cores=2,l1=48k,l2=2m");
      bool along_columns = mapping.find("U: i1 x16") != std::string::npos;
      EXPECT_EQ(along_columns, mapping.find("pack read 1 of U in panels") != std::string::npos)
          << rows << " x " << depth << ": " << mapping;
    }
  auto few = choose(2, 1024, 4, "B[j, k]", {1024, 4}, "cpu:avx512,cores=2,l1=48k,l2=2m");
  EXPECT_EQ(few.find("pack"), std::string::npos) << few;
  auto unpacked = choose(64, 1024, 1024, "B[j, k]", {1024, 1024}, "cpu:avx512,cores=2", {.pack = false});
  EXPECT_NE(unpacked.find("U: i2 x16"), std::string::npos) << unpacked;
}

TEST_F(ChooseContraction, CopiesFirstWhatIsThenCopiedLessOften) {
  auto mapping = [&](int m, int n) {
    return choose(m, n, 1024, "A[k, i]", {1024, m}, "B[k, j]", {1024, n}, "cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m");
  };
  EXPECT_EQ(mapping(1024, 1024),
            "parallel 0, blocks 513x240, register 9x48, I: i1 x16, U: i1 x16, stage C, "
            "pack read 0 of U in panels of 9 i0, pack read 1 of U in panels of 48 i1 below blocks\n");
  EXPECT_EQ(mapping(8192, 1024),
            "parallel 0, blocks 1026x240, register 9x48, I: i1 x16, U: i1 x16, stage C, "
            "pack read 0 of U in panels of 9 i0, pack read 1 of U in panels of 48 i1 once below blocks\n");
  EXPECT_EQ(mapping(256, 8192),
            "parallel 1, blocks 90x240, register 9x48, I: i1 x16, U: i1 x16, stage C, "
            "pack read 0 of U in panels of 9 i0 once below blocks, pack read 1 of U in panels of 48 i1\n");
}

TEST_F(ChooseContraction, ManyCoresShareRows) {
  auto mapping = [&](int size, int cores) {
    return choose(size, size, size, "A[k, i]", {size, size}, "B[k, j]", {size, size},
                  ("cpu:avx512,l1=48k,l2=2m,l3=32m,cores=" + std::to_string(cores)).c_str());
  };
  EXPECT_EQ(mapping(1024, 1),
            "blocks 0x240, register 9x48, I: i1 x16, U: i1 x16, stage C, "
            "pack read 0 of U in panels of 9 i0, pack read 1 of U in panels of 48 i1 below blocks\n");
  EXPECT_EQ(mapping(1024, 16),
            "parallel 0, blocks 72x0, register 9x48, I: i1 x16, U: i1 x16, stage C, "
            "pack read 0 of U in panels of 9 i0 below blocks\n");
  EXPECT_EQ(mapping(512, 16).find("parallel 0, blocks 36x0"), 0u)
      << "eight tiles of columns keep half of the cores busy";
  EXPECT_EQ(mapping(96, 64).find("parallel 0, blocks 8x0"), 0u) << "some threads rather than none: " << mapping(96, 64);
}

/// C[b, i, j] += A[b, i, k] * B[k, j], with `batch` values of b.
TEST_F(ChooseContraction, ThreadsTakeTheLoopThatKeepsMostCoresBusy) {
  auto mapping = [&](int batch, int rows, int cores) {
    auto domain = str("0 <= b < ", batch, " and 0 <= i < ", rows, " and 0 <= j < 64");
    auto scop =
        ScopBuilder(context())
            .input("A", {batch, rows, 256})
            .input("B", {256, 64})
            .output("C", {batch, rows, 64})
            .identity("I[b, i, j] : " + domain, "C[b, i, j]")
            .accumulate("U[b, i, j, k] : " + domain + " and 0 <= k < 256", "C[b, i, j]", {"A[b, i, k]", "B[k, j]"})
            .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return polyhedral::essentials(to_string(choose_mapping(
        polyhedral::clustered(scop), Target::parse(str("cpu:avx512,l1=48k,l2=2m,l3=32m,cores=", cores)), {})));
  };
  EXPECT_EQ(mapping(14, 60, 2).find("parallel 0, blocks 7x0x0"), 0u) << mapping(14, 60, 2);
  EXPECT_EQ(mapping(9, 96, 16).find("parallel 1, blocks 0x6x0"), 0u) << "16 busy, not 9: " << mapping(9, 96, 16);
  EXPECT_EQ(mapping(3, 600, 16).find("parallel 1"), 0u) << mapping(3, 600, 16);
}

TEST_F(ChooseContraction, ThreadsAlongRowsLeaveCopiesOfAllRowsToNobody) {
  auto skinny =
      choose(2048, 96, 1024, "A[k, i]", {1024, 2048}, "B[k, j]", {1024, 96}, "cpu:avx512,cores=2,l1=48k,l3=32m,l2=2m");
  EXPECT_EQ(skinny.find("parallel 0"), 0u) << skinny;
}

TEST_F(ChooseContraction, CutsLongReductionsAndColumnsForTheCaches) {
  for (const char* target : {"cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m", "cpu:avx2,cores=2,l1=32k,l2=512k,l3=32m"}) {
    auto mapping = choose(4096, 4096, 4096, "B[k, j]", {4096, 4096}, target);
    EXPECT_NE(mapping.find("U: i2 in blocks of 1024"), std::string::npos) << mapping;
    EXPECT_NE(mapping.find("pack read 1 of U in panels"), std::string::npos) << mapping;
    EXPECT_NE(mapping.find("blocks "), std::string::npos) << mapping;
  }
}

TEST_F(ChooseContraction, ThreadsShareWhatIsNotTorn) {
  auto columns = choose(624, 745, 41, "B[j, k]", {745, 41}, "cpu:avx512,cores=2,l1=48k,l2=2m");
  EXPECT_EQ(columns.find("parallel 0"), 0u) << "columns would share a line of each row: " << columns;
}

TEST_F(ChooseContraction, LanesDoNotScatterWhatAShortReductionSums) {
  auto few = choose(128, 1040, 4, "B[j, k]", {1040, 4}, "cpu:avx512,cores=2,l1=48k,l2=2m");
  EXPECT_EQ(few.find("U: i0 x16"), std::string::npos) << few;
}

/// Contractions of tensors with six indices, 16 along each.
TEST_F(ChooseContraction, CopiesTakeWhatFitsAndWholeLines) {
  auto choose = [&](const char* c, const char* a, const char* b, int rank_a, int rank_b, int rank_c,
                    const char* iterators, const char* kept) {
    auto box = [](int rank) { return std::vector<std::int64_t>(rank, 16); };
    auto scop = ScopBuilder(context())
                    .input("A", box(rank_a))
                    .input("B", box(rank_b))
                    .output("C", box(rank_c))
                    .identity(str("I[", kept, "] : 0 <= ", kept, " < 16"), c)
                    .accumulate(str("U[", iterators, "] : 0 <= ", iterators, " < 16"), c, {a, b})
                    .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return polyhedral::essentials(to_string(
        choose_mapping(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m"), {})));
  };
  EXPECT_EQ(choose("C[a, b, c, d, e, f]", "A[d, e, g, a]", "B[g, f, b, c]", 4, 4, 6, "a, b, c, d, e, f, g",
                   "a, b, c, d, e, f"),
            "parallel 0, blocks 8x0x0x0x0x0, register 1x1x1x1x8x16, I: i5 x16, U: i5 x16, stage C, "
            "pack read 0 of U in rows of 8 i4 below blocks, pack read 1 of U in panels of 16 i5\n");
  EXPECT_EQ(choose("C[a, b, c, d, e]", "A[e, f, b, a, d]", "B[c, f]", 5, 2, 5, "a, b, c, d, e, f", "a, b, c, d, e"),
            "parallel 0, blocks 8x0x0x0x0, above 0 1, register 1x1x8x1x16, I: i4 x16, U: i4 x16, stage C, "
            "pack read 0 of U in panels of 16 i4\n");
}

TEST_F(ChooseContraction, SmallProductsCopyWhatLiesAcrossLanes) {
  auto mapping = [&](const char* b, std::vector<std::int64_t> shape) {
    auto scop = ScopBuilder(context())
                    .input("A", {500, 26, 72})
                    .input("B", std::move(shape))
                    .output("C", {500, 26, 26})
                    .identity("I[b, i, j] : 0 <= b < 500 and 0 <= i, j < 26", "C[b, i, j]")
                    .accumulate("U[b, i, j, k] : 0 <= b < 500 and 0 <= i, j < 26 and 0 <= k < 72", "C[b, i, j]",
                                {"A[b, i, k]", b})
                    .scop();
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return polyhedral::essentials(to_string(
        choose_mapping(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m"), {})));
  };
  EXPECT_EQ(mapping("B[b, k, j]", {500, 72, 26}),
            "parallel 0, blocks 250x0x0, register 1x13x32, I: i2 x16, U: i2 x16, stage C\n");
  EXPECT_EQ(mapping("B[b, j, k]", {500, 26, 72}),
            "parallel 0, blocks 250x0x0, above 0, register 1x13x32, I: i2 x16, U: i2 x16, stage C, "
            "pack read 1 of U in panels of 32 i2\n");
}

TEST_F(ChooseContraction, PromotionAndVectorsCanBeForbidden) {
  EXPECT_EQ(choose(64, 64, 64, "B[k, j]", {64, 64}, "cpu:avx512,cores=2", {.parallel = false, .promote = false}),
            "register 6x64, I: i1 x16, U: i1 x16\n");
  EXPECT_EQ(choose(64, 64, 64, "B[k, j]", {64, 64}, "cpu:avx512,cores=2", {.parallel = false, .vectorise = false}),
            "stage C\n");
}

}  // namespace
}  // namespace tc::strategy
