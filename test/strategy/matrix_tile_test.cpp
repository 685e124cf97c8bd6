#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "test/support/isl_fixture.h"
#include "test/support/mapping_text.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

constexpr const char* machine = "cpu:avx512,cores=1,l1=48k,l2=2m,l3=32m,amx";

/// C(i, j) +=! A * B over 0 <= i < m, 0 <= j < n, 0 <= k < r.
class MatrixTileTest : public polyhedral::IslTest {
 protected:
  struct Product {
    int m = 64, n = 64, r = 64;
    const char *a = "A[i, k]", *b = "B[k, j]";
    DType a_type = DType::BFloat16, b_type = DType::BFloat16, sum = DType::Float32;
    bool product = true;
  };

  static std::vector<std::int64_t> shape(const Product& p, const std::string& access) {
    auto extent = [&](char index) { return index == 'i' ? p.m : index == 'j' ? p.n : p.r; };
    return {extent(access[2]), extent(access[5])};
  }
  std::string choose(const Product& p, const char* target = machine, const MappingOptions& options = {}) const {
    auto ij = str("0 <= i < ", p.m, " and 0 <= j < ", p.n);
    auto scop = ScopBuilder(context())
                    .input("A", shape(p, p.a))
                    .input("B", shape(p, p.b))
                    .output("C", {p.m, p.n})
                    .identity(str("I[i, j] : ", ij), "C[i, j]")
                    .accumulate(str("U[i, j, k] : ", ij, " and 0 <= k < ", p.r), "C[i, j]", {p.a, p.b})
                    .scop();
    scop.tensor("A").type = p.a_type;
    scop.tensor("B").type = p.b_type;
    scop.tensor("C").type = p.sum;
    scop.statement("U").product = p.product;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options);
    return polyhedral::essentials(
        to_string(choose_mapping(polyhedral::clustered(scop), Target::parse(target), options)));
  }
  static bool of_matrices(const std::string& mapping) {
    return mapping.find("products of matrices") != std::string::npos;
  }
};

TEST_F(MatrixTileTest, TakesProductsOfHalvesAndBytes) {
  EXPECT_EQ(choose({}),
            "register 32x32, I: i1 x16, stage C, U: i2 in products of matrices 16x2, pack read 1 of U in "
            "panels of 32 i1\n");
  for (auto [a, b] : {std::pair{DType::Int8, DType::Int8}, {DType::UInt8, DType::Int8}, {DType::UInt8, DType::UInt8}}) {
    auto text = choose({.a_type = a, .b_type = b, .sum = DType::Int32});
    EXPECT_NE(text.find("products of matrices 16x4"), std::string::npos) << text;
  }
}

TEST_F(MatrixTileTest, LeavesWhatTheInstructionsCannotDo) {
  EXPECT_FALSE(of_matrices(choose({}, "cpu:avx512,cores=1,-amx")));
  EXPECT_FALSE(of_matrices(choose({.product = false})));
  EXPECT_FALSE(of_matrices(choose({.a_type = DType::Float16, .b_type = DType::Float16})));
  EXPECT_FALSE(of_matrices(choose({.a_type = DType::Float32, .b_type = DType::Float32})));
  EXPECT_FALSE(of_matrices(choose({.sum = DType::Float64})));
  EXPECT_FALSE(of_matrices(choose({.a_type = DType::Int8, .b_type = DType::Int8, .sum = DType::Int64})));
  EXPECT_FALSE(of_matrices(choose({.m = 8})));
  EXPECT_FALSE(of_matrices(choose({.n = 3})));
  EXPECT_FALSE(of_matrices(choose({.r = 4})));
}

TEST_F(MatrixTileTest, OptionsTakeTheChoiceOver) {
  for (const MappingOptions& options :
       {MappingOptions{.promote = false}, MappingOptions{.vectorise = false}, MappingOptions{.tile = {8, 8}},
        MappingOptions{.pack = false}, MappingOptions{.register_tile = {4, 2}}, MappingOptions{.vector_bytes = 32}})
    EXPECT_FALSE(of_matrices(choose({}, machine, options)));
}

TEST_F(MatrixTileTest, TilesFillTheEdges) {
  auto tile = [&](int m, int n) { return choose({.m = m, .n = n}); };
  EXPECT_NE(tile(1024, 48).find("register 16x48"), std::string::npos) << tile(1024, 48);
  EXPECT_NE(tile(48, 1024).find("register 48x16"), std::string::npos) << tile(48, 1024);
  EXPECT_NE(tile(48, 48).find("register 48x16"), std::string::npos) << tile(48, 48);
  EXPECT_NE(tile(1000, 1000).find("register 32x32"), std::string::npos) << tile(1000, 1000);
  EXPECT_NE(tile(16, 16).find("register 16x16"), std::string::npos) << tile(16, 16);
}

TEST_F(MatrixTileTest, CopiesRowsThatLieAcrossOrApartFromCacheLines) {
  auto copies_rows = [&](const Product& p) {
    return choose(p).find("pack read 0 of U in rows of 32 i0") != std::string::npos;
  };
  EXPECT_FALSE(copies_rows({.m = 256, .n = 256, .r = 256}));
  EXPECT_TRUE(copies_rows({.m = 256, .n = 256, .r = 255}));
  EXPECT_TRUE(copies_rows({.m = 256, .n = 256, .r = 256, .a = "A[k, i]"}));
  EXPECT_FALSE(copies_rows({.m = 256, .n = 256, .r = 256, .b = "B[j, k]"}));
}

TEST_F(MatrixTileTest, EitherFactorIsThatOfTheColumns) {
  auto swapped = choose({.a = "A[k, j]", .b = "B[i, k]"});
  EXPECT_NE(swapped.find("pack read 0 of U in panels of 32 i1"), std::string::npos) << swapped;
}

}  // namespace
}  // namespace tc::strategy
