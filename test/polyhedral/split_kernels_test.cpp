#include "tc/polyhedral/map_grid/split_kernels.h"

#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class SplitKernels : public MappingPassTest {
 protected:
  /// t = A, B = t below one band; C = t reversed below another; D = B below a third.
  Scop chain() const {
    auto box = " : 0 <= i < 8";
    auto scop = ScopBuilder(context())
                    .input("A", {8})
                    .temporary("t", {8})
                    .temporary("B", {8})
                    .output("C", {8})
                    .output("D", {8})
                    .statement(str("S[i]", box), "t[i]", {"A[i]"})
                    .statement(str("T[i]", box), "B[i]", {"t[i]"})
                    .statement(str("U[i]", box), "C[i]", {"t[7 - i]"})
                    .statement(str("V[i]", box), "D[i]", {"B[i]"})
                    .scop();
    auto one = [](const char* id) { return coincident_band(str("[{ ", id, "[i] -> [(i)] }]"), 1); };
    scop.schedule = domain(ctx(), str("{ S[i]", box, "; T[i]", box, "; U[i]", box, "; V[i]", box, " }"),
                           sequence({{"{ S[i]; T[i] }", coincident_band("[{ S[i] -> [(i)]; T[i] -> [(i)] }]", 1,
                                                                        sequence({{"{ S[i] }"}, {"{ T[i] }"}}))},
                                     {"{ U[i] }", one("U")},
                                     {"{ V[i] }", one("V")}}));
    return scop;
  }
};

TEST_F(SplitKernels, EachClusterIsAScop) {
  auto parts = split_kernels(chain());
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(order(parts[0]), (std::vector<std::string>{"S", "T"}));
  EXPECT_EQ(order(parts[1]), (std::vector<std::string>{"U"}));
  EXPECT_SCHEDULE(parts[2].schedule, R"(
domain: "{ V[i] : 0 <= i <= 7 }"
child:
  schedule: "[{ V[i] -> [(i)] }]"
  permutable: 1
  coincident: [ 1 ]
)");
}

TEST_F(SplitKernels, WhatSeveralTouchIsLiveBetweenThem) {
  auto parts = split_kernels(chain());
  auto live = [&](int part, const char* name) {
    const auto& tensor = parts.at(part).tensor(name);
    return std::pair(tensor.live_in, tensor.live_out);
  };
  EXPECT_EQ(live(0, "t"), std::pair(false, true));
  EXPECT_EQ(live(1, "t"), std::pair(true, false));
  EXPECT_EQ(live(1, "B"), std::pair(true, true)) << "it goes past the second kernel";
  EXPECT_EQ(live(2, "B"), std::pair(true, false));
  EXPECT_EQ(live(0, "A"), std::pair(true, false));
  EXPECT_EQ(live(1, "C"), std::pair(false, true));
}

TEST_F(SplitKernels, AStatementOfTwoClustersIsInBothByItsInstances) {
  auto box = "S[i] : 0 <= i < 8";
  auto scop = ScopBuilder(context()).input("A", {8}).output("C", {8}).statement(box, "C[i]", {"A[i]"}).scop();
  auto members = coincident_band("[{ S[i] -> [(i)] }]", 1);
  scop.schedule =
      domain(ctx(), str("{ ", box, " }"), sequence({{"{ S[i] : i < 3 }", members}, {"{ S[i] : i >= 3 }", members}}));
  auto parts = split_kernels(scop);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].domain().is_equal(union_set("{ S[i] : 0 <= i < 3 }")));
  EXPECT_TRUE(parts[1].domain().is_equal(union_set("{ S[i] : 3 <= i < 8 }")));
  EXPECT_TRUE(parts[1].statements[0].reads[0].relation.is_equal(map("{ S[i] -> A[i] : 3 <= i < 8 }")));
}

}  // namespace
}  // namespace tc::polyhedral
