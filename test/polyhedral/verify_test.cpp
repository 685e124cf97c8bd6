#include "tc/polyhedral/laws/verify.h"

#include <gtest/gtest.h>

#include "tc/options/mapping_options.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/rejects.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"
#include "test/support/scops.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class VerifyTest : public IslTest {
 protected:
  /// S0[i]: t(i) = X(i); S1[i]: Y(i) = t(i) + t(i - 1) for i >= 1
  Scop pair() const {
    return ScopBuilder(context())
        .input("X", {8})
        .temporary("t", {8})
        .output("Y", {8})
        .statement("S0[i] : 0 <= i < 8", "t[i]", {"X[i]"})
        .statement("S1[i] : 0 <= i < 8", "Y[i]", {"t[i]", "t[i - 1] : i >= 1"})
        .scop();
  }
  Scop with(Scop scop, const Tree& tree) const {
    scop.schedule = build::domain(scop.domain(), tree);
    return scop;
  }
  void expect_dependences(const Scop& scop, const Tree& tree, const std::string& message = "") const {
    auto dependences = compute_dependences(scop);
    auto scheduled = with(scop, tree);
    if (message.empty())
      EXPECT_NO_THROW(verify_dependences(scheduled, dependences));
    else
      EXPECT_TRUE(rejects([&] { verify_dependences(scheduled, dependences); }, message));
  }
  void expect_coincidence(const Scop& scop, const Tree& tree, const std::string& message = "") const {
    auto dependences = compute_dependences(scop);
    auto scheduled = with(scop, tree);
    if (message.empty())
      EXPECT_NO_THROW(verify_coincidence(scheduled, dependences));
    else
      EXPECT_TRUE(rejects([&] { verify_coincidence(scheduled, dependences); }, message));
  }
  void expect_marks(const Scop& scop, const Tree& tree, const std::string& message = "") const {
    auto marked = with(scop, tree);
    if (message.empty())
      EXPECT_NO_THROW(verify_marks(marked));
    else
      EXPECT_TRUE(rejects([&] { verify_marks(marked); }, message));
  }
};

const std::string both = "[{ S0[i] -> [(i)]; S1[i] -> [(i)] }]";

TEST_F(VerifyTest, DependencesInASequence) {
  expect_dependences(
      pair(), sequence({{"{ S0[i] }", band("[{ S0[i] -> [(i)] }]")}, {"{ S1[i] }", band("[{ S1[i] -> [(-i)] }]")}}));
  expect_dependences(
      pair(), sequence({{"{ S1[i] }", band("[{ S1[i] -> [(i)] }]")}, {"{ S0[i] }", band("[{ S0[i] -> [(i)] }]")}}),
      "law 'dependences' is broken: the dependence S0[0] -> S1[0] runs backward in a sequence\nin the "
      "schedule\ndomain:");
}

TEST_F(VerifyTest, DependencesInABand) {
  expect_dependences(pair(), band(both, sequence({{"{ S0[i] }"}, {"{ S1[i] }"}})));
  expect_dependences(pair(), band("[{ S0[i] -> [(2i)]; S1[i] -> [(1 + 2i)] }]"));
  expect_dependences(pair(), band("[{ S0[i] -> [(i + 1)]; S1[i] -> [(i)] }]"),
                     "S0[0] -> S1[0] runs backward in a band");
  expect_dependences(pair(), band("[{ S0[i] -> [(-i)]; S1[i] -> [(-i)] }]", sequence({{"{ S0[i] }"}, {"{ S1[i] }"}})),
                     "the dependence S0[0] -> S1[1] runs backward in a band");
}

TEST_F(VerifyTest, DependencesNeedAStrictOrder) {
  expect_dependences(pair(), band(both), "is not ordered");
  auto set = build::domain(pair().domain());
  auto scop = pair();
  auto dependences = compute_dependences(scop);
  scop.schedule = schedule(R"(
domain: "{ S0[i] : 0 <= i < 8; S1[i] : 0 <= i < 8 }"
child:
  set:
  - filter: "{ S0[i] }"
  - filter: "{ S1[i] }"
)");
  EXPECT_TRUE(rejects([&] { verify_dependences(scop, dependences); }, "runs backward in a sequence"));
}

TEST_F(VerifyTest, DependencesInAPermutableBand) {
  auto scop = ScopBuilder(context())
                  .output("A", {9, 9})
                  .statement("S[i, j] : 1 <= i < 9 and 0 <= j < 8", "A[i, j]", {"A[i - 1, j + 1]"})
                  .scop();
  const std::string ij = "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]",
                    skewed = "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(i + j)] }]";
  expect_dependences(scop, band(ij));
  expect_dependences(scop, band(skewed, {}, {true}));
  expect_dependences(scop, band(ij, {}, {true}), "runs backward along member 1 of a permutable band");
}

TEST_F(VerifyTest, DependencesOfTiledLoops) {
  auto tiles = "[{ S0[i] -> [(floor(i/4))]; S1[i] -> [(floor(i/4))] }]",
       points = "[{ S0[i] -> [(i mod 4)]; S1[i] -> [(i mod 4)] }]";
  expect_dependences(pair(), band(tiles, band(points, sequence({{"{ S0[i] }"}, {"{ S1[i] }"}}))));
  expect_dependences(pair(), band(points, band(tiles, sequence({{"{ S0[i] }"}, {"{ S1[i] }"}}))),
                     "S0[3] -> S1[4] runs backward in a band");
}

TEST_F(VerifyTest, AccumulationsRunInAnyOrderButNotAtOnce) {
  auto scop = scops::matmul(context());
  const std::string outer =
      "[{ S0[m, n] -> [(m)]; S1[m, n, k] -> [(m)] }, { S0[m, n] -> [(n)]; S1[m, n, k] -> [(n)] }]";
  auto inner = [](const std::string& k, std::vector<int> coincident) {
    return sequence(
        {{"{ S0[m, n] }"}, {"{ S1[m, n, k] }", band("[{ S1[m, n, k] -> [(" + k + ")] }]", {}, {true, coincident})}});
  };
  expect_dependences(scop, coincident_band(outer, 2, inner("-k", {0})));
  expect_coincidence(scop, coincident_band(outer, 2, inner("k", {0})));
  expect_coincidence(scop, coincident_band(outer, 2, inner("k", {1})),
                     "law 'coincidence' is broken: member 0 of a band is coincident and carries the dependence S1[0, "
                     "0, 0] -> S1[0, 0, 1]");
}

TEST_F(VerifyTest, ParallelLoopsCarryNothing) {
  auto below = sequence({{"{ S0[i] }"}, {"{ S1[i] }"}});
  expect_coincidence(pair(), band(both, below));
  expect_coincidence(pair(), mark("parallel", band(both, below)),
                     "member 0 of a band is parallel and carries the dependence S0[0] -> S1[1]");
  expect_coincidence(pair(), band(both, below, {true, {1}}), "member 0 of a band is coincident");
}

TEST_F(VerifyTest, Instances) {
  auto scop = pair();
  EXPECT_NO_THROW(verify_instances(scop));
  scop.schedule = build::domain(ctx(), "{ S0[i] : 0 <= i < 8; S1[i] : 0 <= i < 7 }");
  EXPECT_TRUE(
      rejects([&] { verify_instances(scop); }, "law 'instances' is broken: the instance { S1[7] } does not run"));
  scop.schedule = build::domain(ctx(), "{ S0[i] : 0 <= i < 9; S1[i] : 0 <= i < 8 }");
  EXPECT_TRUE(
      rejects([&] { verify_instances(scop); }, "the instance { S0[8] } runs but is no instance of a statement"));
  scop.schedule = build::domain(scop.domain(), sequence({{"{ S0[i] }"}, {"{ S1[i] : i < 4 }"}}));
  EXPECT_TRUE(rejects([&] { verify_instances(scop); }, "does not run"));
}

TEST_F(VerifyTest, InstancesOfExtensions) {
  auto scop = pair();
  auto tree = [&](const std::string& extension) {
    return band(both, before(extension, {}, sequence({{"{ S0[i] }"}, {"{ S1[i] }"}})));
  };
  auto copied = ScopBuilder(context())
                    .input("X", {8})
                    .temporary("t", {8})
                    .output("Y", {8})
                    .statement("S0[i] : 0 <= i < 8", "t[i]", {"X[i]"})
                    .statement("S1[i] : 0 <= i < 8", "Y[i]", {"t[i]"})
                    .statement("copy[i] : 0 <= i < 8", "Y[i]", {"X[i]"})
                    .scop();
  copied.schedule = build::domain(scop.domain(), tree("{ [i] -> copy[i] : 0 <= i < 8 }"));
  EXPECT_NO_THROW(verify_instances(copied));
  copied.schedule = build::domain(scop.domain(), tree("{ [i] -> copy[x] : 0 <= i, x < 8 }"));
  EXPECT_TRUE(rejects([&] { verify_instances(copied); }, "an extension runs an instance more than once"));
  scop.schedule = build::domain(scop.domain(), tree("{ [i] -> copy[i] : 0 <= i < 8 }"));
  EXPECT_TRUE(rejects([&] { verify_instances(scop); }, "runs but is no instance of a statement"));
}

TEST_F(VerifyTest, DependencesOfSourceStatementsAmongExtensions) {
  auto scop = pair();
  auto dependences = compute_dependences(scop);
  auto tree = [&](std::vector<Branch> order) {
    return build::domain(scop.domain(), band(both, before("{ [i] -> copy[i] : 0 <= i < 8 }", {}, sequence(order))));
  };
  scop.schedule = tree({{"{ S0[i] }"}, {"{ S1[i] }"}});
  EXPECT_NO_THROW(verify_dependences(scop, dependences));
  scop.schedule = tree({{"{ S1[i] }"}, {"{ S0[i] }"}});
  EXPECT_TRUE(rejects([&] { verify_dependences(scop, dependences); }, "runs backward in a sequence"));
}

TEST_F(VerifyTest, Bounds) {
  EXPECT_NO_THROW(verify_bounds(pair()));
  auto scop = ScopBuilder(context())
                  .input("X", {8})
                  .output("Y", {8})
                  .statement("S[i] : 0 <= i < 8", "Y[i]", {"X[i + 1]"})
                  .scop();
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); },
                      "law 'bounds' is broken: the read 0 of S leaves { X[x0] : 0 <= x0 <= 7 }: S[7] -> X[8]"));
  scop = ScopBuilder(context())
             .input("X", {8})
             .output("Y", {7})
             .statement("S[i] : 0 <= i < 8", "Y[i]", {"X[i + 1] : i < 7"})
             .scop();
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the write of S leaves"));
  scop = ScopBuilder(context()).output("Y", {8}).statement("S[i] : 0 <= i < 8", "Y[i]", {"Z[i]"}).scop();
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the read 0 of S goes to 'Z', which is no tensor"));
}

TEST_F(VerifyTest, BoundsOfFunctions) {
  auto scop = pair();
  scop.statement("S0").write.function = isl::pw_multi_aff(ctx(), "{ S0[i] -> t[7 - i] }");
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the function of the write of S0 differs from its relation"));
  scop.statement("S0").write.function = isl::pw_multi_aff(ctx(), "{ S0[i] -> X[i + 1] }");
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the write of S0 leaves { X"));
  scop.statement("S0").write.function = isl::pw_multi_aff(ctx(), "{ S0[i] -> t[i] : i > 2 }");
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the function of the write of S0 is not total"));
  scop.statement("S0").write.function = {};
  EXPECT_TRUE(rejects([&] { verify_bounds(scop); }, "the exact write of S0 has no function"));
}

TEST_F(VerifyTest, MarksHaveTheirOrderAndPlace) {
  auto scop = pair();
  for (auto& statement : scop.statements) statement.vector_lanes = 4;
  auto tiles = "[{ S0[i] -> [(floor(i/4))]; S1[i] -> [(floor(i/4))] }]",
       points = "[{ S0[i] -> [(i mod 4)]; S1[i] -> [(i mod 4)] }]";
  expect_marks(scop, mark("parallel", band(tiles, mark("register", band("[{ S0[i] -> [(0)]; S1[i] -> [(0)] }]",
                                                                        mark("vector", band(points)))))));
  expect_marks(scop, mark("paralel", band(tiles)), "law 'marks' is broken: unknown mark 'paralel'");
  expect_marks(scop, band(tiles, mark("vector")), "mark 'vector' stands at a leaf");
  expect_marks(scop, mark("parallel", sequence({{"{ S0[i] }"}, {"{ S1[i] }"}})),
               "mark 'parallel' does not stand above a band");
  expect_marks(scop, mark("vector", band(points, mark("register", band(tiles)))),
               "mark 'register' stands below mark 'vector'");
  expect_marks(scop, mark("parallel", band(tiles, mark("parallel", band(points)))),
               "mark 'parallel' stands below mark 'parallel'");
}

TEST_F(VerifyTest, VectorsFitTheirLanes) {
  auto scop = pair();
  auto tree = mark("vector", band("[{ S0[i] -> [(i mod 4)]; S1[i] -> [(i mod 4)] }]"));
  expect_marks(scop, tree, "statement S0 below mark 'vector' has no lanes");
  scop.statement("S0").vector_lanes = 4;
  scop.statement("S1").vector_lanes = 8;
  expect_marks(scop, tree, "have different lanes: 4, 8");
  scop.statement("S1").vector_lanes = 4;
  expect_marks(scop, tree);
  expect_marks(scop, mark("vector", band(both)), "the loop below mark 'vector' has 8 iterations");
  expect_marks(
      scop,
      mark("vector", band("[{ S0[i] -> [(i mod 4)]; S1[i] -> [(i mod 4)] }, { S0[i] -> [(i)]; S1[i] -> [(i)] }]")),
      "mark 'vector' stands above a band that has not one member");
}

TEST_F(VerifyTest, PaddedBuffersHaveRoomForEveryLane) {
  auto scop = pair();
  for (auto& statement : scop.statements) statement.vector_lanes = 8;
  auto& buffer = scop.tensor("t");
  buffer.storage = Tensor::Storage::Local;
  buffer.padded = true;
  auto tree = mark("allocate_t", mark("vector", band("[{ S0[i] -> [(i)]; S1[i] -> [(i)] }]")));
  expect_marks(scop, tree);
  buffer.extent = {7};
  expect_marks(scop, tree, "reach index 7 of the buffer 't'");
  buffer.padded = false;
  expect_marks(scop, tree);
}

TEST_F(VerifyTest, LocalBuffersAreAllocatedOnce) {
  auto scop = pair();
  auto below = sequence({{"{ S0[i] }"}, {"{ S1[i] }"}});
  expect_marks(scop, mark("allocate_t", band(both, below)), "mark 'allocate_t' names no local buffer");
  scop.tensor("t").storage = Tensor::Storage::Local;
  expect_marks(scop, band(both, below), "the local buffer 't' has no mark 'allocate_t'");
  expect_marks(scop, mark("allocate_t", band(both, below)));
  expect_marks(scop, mark("allocate_t", mark("allocate_t", band(both, below))), "the buffer 't' is allocated twice");
}

TEST_F(VerifyTest, SchedulesOfWellKnownProgramsKeepAllLaws) {
  for (const auto& scop : {scops::matmul(context()), scops::matmul_bias_relu(context()), scops::softmax(context())})
    for (const char* options : {"fusion=min", "fusion=max", "", "quota=20"}) {
      auto dependences = compute_dependences(scop);
      auto scheduled = scop;
      scheduled.schedule = compute_schedule(scop, dependences, options::MappingOptions::parse(options).values());
      EXPECT_NO_THROW(verify(scheduled, dependences)) << options;
    }
}

}  // namespace
}  // namespace tc::polyhedral
