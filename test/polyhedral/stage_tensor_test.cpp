#include "tc/polyhedral/map/stage_tensor.h"

#include <gtest/gtest.h>

#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using StageTensor = MappingPassTest;

TEST_F(StageTensor, CopiesOutWhatLivesOn) {
  auto scop = row_sums();
  ClusterState cluster{.has_band = true, .copies = {"", 0, 4}, .temporaries = {"C"}};
  auto result = stage_tensor(scop, {0}, "C", cluster);
  EXPECT_EQ(order(result), (std::vector<std::string>{"I", "U", "C_out"}));
  EXPECT_TRUE(writes(result, "I", "I[i] -> acc_C[i]"));
  EXPECT_TRUE(writes(result, "U", "U[i, k] -> acc_C[i]"));
  EXPECT_TRUE(writes(result, "C_out", "C_out[i] -> C[i]"));
  EXPECT_EQ(cluster.temporaries, std::vector<std::string>{"acc_C"});
  EXPECT_EQ(cluster.statement("C_out").lanes, 4);
  EXPECT_EQ(simulate(result), simulate(scop));
}

TEST_F(StageTensor, CopiesInWhatIsAccumulatedInto) {
  auto scop = row_sums();
  scop.statements.erase(scop.statements.begin());
  scop.schedule = schedule(R"(
domain: "{ U[i, k] : 0 <= i < 8 and 0 <= k < 20 }"
child:
  schedule: "[{ U[i, k] -> [(i)] }]"
  coincident: [ 1 ]
  child:
    schedule: "[{ U[i, k] -> [(k)] }]"
)");
  ClusterState cluster{.has_band = true, .temporaries = {"C"}};
  auto result = stage_tensor(scop, {0}, "C", cluster);
  EXPECT_EQ(order(result), (std::vector<std::string>{"C_in", "U", "C_out"}));
  EXPECT_EQ(simulate(result), simulate(scop));
}

TEST_F(StageTensor, CopiesInWhatItsFirstWriterReads) {
  auto scop = ScopBuilder(context())
                  .output("C", {8})
                  .statement("S[i] : 0 <= i < 8", "C[i]", {"C[i]"})
                  .identity("I[i] : 0 <= i < 5", "C[i]")
                  .scop();
  using namespace build;
  scop.schedule =
      domain(ctx(), "{ S[i] : 0 <= i < 8; I[i] : 0 <= i < 5 }",
             coincident_band("[{ S[i] -> [(i)]; I[i] -> [(i)] }]", 1, sequence({{"{ S[i] }"}, {"{ I[i] }"}})));
  ClusterState cluster{.has_band = true, .temporaries = {"C"}};
  auto result = stage_tensor(scop, {0}, "C", cluster);
  EXPECT_EQ(order(result), (std::vector<std::string>{"C_in", "S", "I", "C_out"}));
  EXPECT_EQ(simulate(result), simulate(scop));
}

TEST_F(StageTensor, LeavesATensorThatIsReadWhereNoStatementWrites) {
  auto scop = row_sums();
  scop.tensors.push_back(ScopBuilder(context()).output("D", {9}).scop().tensor("D"));
  auto reader =
      ScopBuilder(context()).input("C", {9}).output("D", {9}).statement("R[i] : 0 <= i < 9", "D[i]", {"C[i]"}).scop();
  scop.tensor("C").extent = {9};
  scop.statements.push_back(reader.statements[0]);
  using namespace build;
  scop.schedule =
      domain(scop.domain(),
             coincident_band("[{ I[i] -> [(i)]; U[i, k] -> [(i)]; R[i] -> [(i)] }]", 1,
                             sequence({{"{ I[i] }"}, {"{ U[i, k] }", band("[{ U[i, k] -> [(k)] }]")}, {"{ R[i] }"}})));
  ClusterState cluster{.has_band = true, .temporaries = {"C"}};
  EXPECT_EQ(order(stage_tensor(scop, {0}, "C", cluster)), (std::vector<std::string>{"I", "U", "R"}));
}

TEST_F(StageTensor, NeedsNoCopyOfATemporary) {
  auto scop = row_sums();
  scop.tensor("C").live_out = false;
  ClusterState cluster{.has_band = true, .temporaries = {"C"}};
  EXPECT_EQ(order(stage_tensor(scop, {0}, "C", cluster)), (std::vector<std::string>{"I", "U"}));
}

TEST_F(StageTensor, LeavesATensorWhoseElementsIterationsShare) {
  auto scop = ScopBuilder(context())
                  .input("A", {9})
                  .output("C", {9})
                  .statement("S[i] : 0 <= i < 8", "C[i]", {"C[i + 1]"})
                  .scop();
  ClusterState cluster{.has_band = true, .temporaries = {"C"}};
  EXPECT_EQ(order(stage_tensor(scop, {0}, "C", cluster)), std::vector<std::string>{"S"});
  EXPECT_EQ(cluster.temporaries, std::vector<std::string>{"C"});
}

}  // namespace
}  // namespace tc::polyhedral
