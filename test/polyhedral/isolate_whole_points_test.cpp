#include "tc/polyhedral/map_cpu/isolate_whole_points.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/constraints.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/map_cpu/ragged_lanes.h"
#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class IsolateWholePoints : public MappingPassTest {
 protected:
  /// band [i/8]  band [k]  band [i % 8] { U[i, k] } for the instances \p domain_of_update.
  Scop rows_by_eight(const std::string& domain_of_update) const {
    auto scop = ScopBuilder(context())
                    .input("A", {32, 32})
                    .output("C", {32})
                    .accumulate("U[i, k] : " + domain_of_update, "C[i]", {"A[i, k]"})
                    .scop();
    scop.schedule = domain(ctx(), "{ U[i, k] : " + domain_of_update + " }",
                           band("[{ U[i, k] -> [(floor((i)/8))] }]",
                                band("[{ U[i, k] -> [(k)] }]", band("[{ U[i, k] -> [((i) mod 8)] }]"))));
    return scop;
  }
  std::string code_of(Scop scop) const {
    scop.schedule = isolate_whole_points(scop, {0});
    return print(generate_ast(scop));
  }
  static std::ptrdiff_t loops_in(const std::string& code) {
    std::ptrdiff_t count = 0;
    for (std::size_t at = code.find("for ("); at != std::string::npos; at = code.find("for (", at + 1)) ++count;
    return count;
  }
};

TEST_F(IsolateWholePoints, RowsOfATriangleHaveCodeOfTheirOwn) {
  const auto code = code_of(rows_by_eight("0 <= k <= i < 32"));
  EXPECT_NE(code.find("c1 <= 8 * c0;"), std::string::npos) << code;
  EXPECT_NE(code.find("c2 <= 7;"), std::string::npos) << code;
  EXPECT_EQ(loops_in(code), 5) << code;
}

TEST_F(IsolateWholePoints, BoxesAndSumsOfIteratorsStay) {
  EXPECT_EQ(loops_in(code_of(rows_by_eight("0 <= k < 32 and 0 <= i < 32"))), 3);
  EXPECT_EQ(loops_in(code_of(rows_by_eight("0 <= k < 32 and 0 <= i < 32 and i + k >= 5"))), 3);
}

TEST_F(IsolateWholePoints, LanesDoNotBeginAnywhere) {
  const auto scop = rows_by_eight("0 <= k <= i < 32");
  EXPECT_TRUE(has_ragged_lanes(scop.statement("U"), 0));
  EXPECT_FALSE(has_ragged_lanes(scop.statement("U"), 1));
  EXPECT_FALSE(has_ragged_lanes(rows_by_eight("0 <= k < 32 and 0 <= i < 32").statement("U"), 0));
  ClusterMapping mapping;
  mapping.statements = {{"U", 0, 8, 1}};
  EXPECT_TRUE(without_ragged_lanes(scop, mapping).statements.empty());
  mapping.statements = {{"U", 1, 8, 1}};
  EXPECT_EQ(without_ragged_lanes(scop, mapping), mapping);
}

TEST_F(IsolateWholePoints, TrianglesOrderTheirDimensions) {
  const isl::set triangle(ctx(), "{ U[i, j, k] : 0 <= j <= i < 8 and 0 <= k < 4 }");
  EXPECT_EQ(ordered_dimensions(triangle), (std::set<std::pair<int, int>>{{0, 1}, {1, 0}}));
  EXPECT_TRUE(ordered_dimensions(isl::set(ctx(), "{ U[i, j] : 0 <= i, j and i + j < 8 }")).empty());
}

TEST_F(IsolateWholePoints, BoundsAreThoseOfBoxes) {
  const auto bounds = [&](const char* text) { return stated_bounds(isl::set(ctx(), text)); };
  using Bounds = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(bounds("{ U[i, j] : -2 <= i < 8 and j = 3 }"), (Bounds{{-2, 7}, {3, 3}}));
  EXPECT_EQ(bounds("{ U[i] : 3 <= 2i < 10 }"), (Bounds{{2, 4}}));
  for (const char* other :
       {"{ U[i, j] : 0 <= j <= i < 8 }", "{ U[i] : 0 <= i }", "{ U[i] : 0 <= i < 8 and i mod 2 = 0 }",
        "{ U[i] : i = 0 or i = 5 }", "{ U[i] : 0 <= i < 0 }", "[n] -> { U[i] : 0 <= i < n }"})
    EXPECT_FALSE(bounds(other)) << other;
}

}  // namespace
}  // namespace tc::polyhedral
