#include "tc/polyhedral/schedule/schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "tc/options/mapping_options.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"
#include "test/support/scops.h"

namespace tc::polyhedral {
namespace {

class ScheduleTest : public IslTest {
 protected:
  isl::schedule schedule_of(const Scop& scop, const std::string& options = "") const {
    return compute_schedule(scop, compute_dependences(scop), options::MappingOptions::parse(options).values());
  }
};

TEST_F(ScheduleTest, MatmulBiasReluSharesItsOuterBand) {
  EXPECT_SCHEDULE(schedule_of(scops::matmul_bias_relu(context(), 37, 45, 19)), R"(
domain: "{ S0[m, n] : 0 <= m <= 36 and 0 <= n <= 44; S1[m, n, k] : 0 <= m <= 36 and 0 <= n <= 44 and 0 <= k <= 18; S2[m, n] : 0 <= m <= 36 and 0 <= n <= 44; S3[m, n] : 0 <= m <= 36 and 0 <= n <= 44 }"
child:
  schedule: "[{ S0[m, n] -> [(m)]; S1[m, n, k] -> [(m)]; S2[m, n] -> [(m)]; S3[m, n] -> [(m)] }, { S0[m, n] -> [(n)]; S1[m, n, k] -> [(n)]; S2[m, n] -> [(n)]; S3[m, n] -> [(n)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
  child:
    sequence:
    - filter: "{ S0[m, n] }"
    - filter: "{ S1[m, n, k] }"
      child:
        schedule: "[{ S1[m, n, k] -> [(k)] }]"
        permutable: 1
    - filter: "{ S2[m, n] }"
    - filter: "{ S3[m, n] }"
)");
}

/// A chain of statements as long as one likes shares loops in parts, unless all that can be fused is asked for.
TEST_F(ScheduleTest, LongChainsAreFusedInParts) {
  constexpr int count = 130;
  auto builder = ScopBuilder(context()).input("T0", {8});
  for (int i = 0; i < count; ++i) builder.output(str("T", i + 1), {8});
  for (int i = 0; i < count; ++i)
    builder.statement(str("S", i, "[x] : 0 <= x < 8"), str("T", i + 1, "[x]"), {str("T", i, "[x]")});
  auto scop = builder.scop();
  auto sizes = [&](const std::string& options) {
    scop.schedule = schedule_of(scop, options);
    std::vector<std::size_t> result;
    for (const auto& cluster : cluster_views(scop)) result.push_back(cluster.statements.size());
    return result;
  };
  EXPECT_EQ(sizes(""), (std::vector<std::size_t>{64, 64, 2}));
  EXPECT_EQ(sizes("fusion=max"), (std::vector<std::size_t>{count}));
}

TEST_F(ScheduleTest, SoftmaxSharesItsRows) {
  const char* want = R"(
domain: "{ S0[i] : 0 <= i <= 63; S1[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S2[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S3[i] : 0 <= i <= 63; S4[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S5[i, j] : 0 <= i <= 63 and 0 <= j <= 30 }"
child:
  schedule: "[{ S0[i] -> [(i)]; S1[i, j] -> [(i)]; S2[i, j] -> [(i)]; S3[i] -> [(i)]; S4[i, j] -> [(i)]; S5[i, j] -> [(i)] }]"
  permutable: 1
  coincident: [ 1 ]
  child:
    sequence:
    - filter: "{ S0[i] }"
    - filter: "{ S1[i, j] }"
      child: { schedule: "[{ S1[i, j] -> [(j)] }]", permutable: 1 }
    - filter: "{ S2[i, j] }"
      child: { schedule: "[{ S2[i, j] -> [(j)] }]", permutable: 1, coincident: [ 1 ] }
    - filter: "{ S3[i] }"
    - filter: "{ S4[i, j] }"
      child: { schedule: "[{ S4[i, j] -> [(j)] }]", permutable: 1 }
    - filter: "{ S5[i, j] }"
      child: { schedule: "[{ S5[i, j] -> [(j)] }]", permutable: 1, coincident: [ 1 ] }
)";
  EXPECT_SCHEDULE(schedule_of(scops::softmax(context(), 64, 31)), want);
  EXPECT_SCHEDULE(schedule_of(scops::softmax(context(), 64, 31), "fusion=max"), want);
}

TEST_F(ScheduleTest, MinFusesInitialisationsWithTheirUpdatesOnly) {
  EXPECT_SCHEDULE(schedule_of(scops::softmax(context(), 64, 31), "fusion=min"), R"(
domain: "{ S0[i] : 0 <= i <= 63; S1[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S2[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S3[i] : 0 <= i <= 63; S4[i, j] : 0 <= i <= 63 and 0 <= j <= 30; S5[i, j] : 0 <= i <= 63 and 0 <= j <= 30 }"
child:
  sequence:
  - filter: "{ S0[i]; S1[i, j] }"
    child:
      schedule: "[{ S0[i] -> [(i)]; S1[i, j] -> [(i)] }]"
      permutable: 1
      coincident: [ 1 ]
      child:
        sequence:
        - filter: "{ S0[i] }"
        - filter: "{ S1[i, j] }"
          child: { schedule: "[{ S1[i, j] -> [(j)] }]", permutable: 1 }
  - filter: "{ S2[i, j] }"
    child: { schedule: "[{ S2[i, j] -> [(i)] }, { S2[i, j] -> [(j)] }]", permutable: 1, coincident: [ 1, 1 ] }
  - filter: "{ S3[i]; S4[i, j] }"
    child:
      schedule: "[{ S3[i] -> [(i)]; S4[i, j] -> [(i)] }]"
      permutable: 1
      coincident: [ 1 ]
      child:
        sequence:
        - filter: "{ S3[i] }"
        - filter: "{ S4[i, j] }"
          child: { schedule: "[{ S4[i, j] -> [(j)] }]", permutable: 1 }
  - filter: "{ S5[i, j] }"
    child: { schedule: "[{ S5[i, j] -> [(i)] }, { S5[i, j] -> [(j)] }]", permutable: 1, coincident: [ 1, 1 ] }
)");
}

/// The statements below the outermost sequence's children, or all of them, as "S0 S1 | S2", and the members of each
/// part's outermost band.
std::string clusters(const isl::schedule& schedule) {
  auto node = schedule.root().child(0);
  std::string text;
  auto describe = [&](isl::schedule_node part) {
    std::set<std::string> names;
    for (const auto& set : elements(call(part.ctx(), isl_schedule_node_get_domain, part.get()).set_list()))
      names.insert(tuple_name(set));
    text += join(names, " ");
    if (part.isa<isl::schedule_node_band>()) {
      auto band = part.as<isl::schedule_node_band>();
      text += "[";
      for (unsigned i = 0; i < band.n_member(); ++i) text += band.member_get_coincident(i) ? "1" : "0";
      text += "]";
    }
  };
  if (!node.isa<isl::schedule_node_sequence>()) {
    describe(node);
    return text;
  }
  for (unsigned i = 0; i < node.n_children(); ++i) {
    if (i) text += " | ";
    describe(node.child(i).child(0));
  }
  return text;
}

struct FusionRow {
  const char* name;
  ScopBuilder (*build)(ScopBuilder);
  const char *max, *preserve;
};

const FusionRow kFusionRows[] = {
    {"two products in a chain share rows, which costs both a member",
     [](ScopBuilder b) {
       return b.input("A", {64, 32})
           .input("B", {32, 48})
           .input("D", {48, 64})
           .temporary("C", {64, 48})
           .output("E", {64, 64})
           .identity("S0[m, n] : 0 <= m < 64 and 0 <= n < 48", "C[m, n]")
           .accumulate("S1[m, n, k] : 0 <= m < 64 and 0 <= n < 48 and 0 <= k < 32", "C[m, n]", {"A[m, k]", "B[k, n]"})
           .identity("S2[m, p] : 0 <= m < 64 and 0 <= p < 64", "E[m, p]")
           .accumulate("S3[m, p, n] : 0 <= m < 64 and 0 <= p < 64 and 0 <= n < 48", "E[m, p]", {"C[m, n]", "D[n, p]"});
     },
     "S0 S1 S2 S3[1]", "S0 S1[11] | S2 S3[11]"},
    {"row sums of a product would cost it a member",
     [](ScopBuilder b) {
       return b.input("A", {64, 32})
           .input("B", {32, 48})
           .temporary("C", {64, 48})
           .output("s", {64})
           .identity("S0[m, n] : 0 <= m < 64 and 0 <= n < 48", "C[m, n]")
           .accumulate("S1[m, n, k] : 0 <= m < 64 and 0 <= n < 48 and 0 <= k < 32", "C[m, n]", {"A[m, k]", "B[k, n]"})
           .identity("S2[m] : 0 <= m < 64", "s[m]")
           .accumulate("S3[m, n] : 0 <= m < 64 and 0 <= n < 48", "s[m]", {"C[m, n]"});
     },
     "S0 S1 S2 S3[1]", "S0 S1[11] | S2 S3[1]"},
    {"a transposed reader follows by its dependence, not by position",
     [](ScopBuilder b) {
       return b.input("X", {8, 64})
           .temporary("t", {8, 64})
           .output("Y", {64, 8})
           .statement("S0[i, j] : 0 <= i < 8 and 0 <= j < 64", "t[i, j]", {"X[i, j]"})
           .statement("S1[j, i] : 0 <= j < 64 and 0 <= i < 8", "Y[j, i]", {"t[i, j]"});
     },
     "S0 S1[11]", "S0 S1[11]"},
    {"column sums would put the innermost iterator of the element-wise statement outside",
     [](ScopBuilder b) {
       return b.input("X", {64, 64})
           .temporary("t", {64, 64})
           .output("s", {64})
           .statement("S0[i, j] : 0 <= i < 64 and 0 <= j < 64", "t[i, j]", {"X[i, j]"})
           .identity("S1[j] : 0 <= j < 64", "s[j]")
           .accumulate("S2[j, i] : 0 <= i < 64 and 0 <= j < 64", "s[j]", {"t[i, j]"});
     },
     "S0 S1 S2[1]", "S0[11] | S1 S2[1]"},
    {"few rows are not worth a lost member",
     [](ScopBuilder b) {
       return b.input("X", {2, 999})
           .temporary("s", {2})
           .output("Y", {2, 999})
           .identity("S0[i] : 0 <= i < 2", "s[i]")
           .accumulate("S1[i, j] : 0 <= i < 2 and 0 <= j < 999", "s[i]", {"X[i, j]"})
           .statement("S2[i, j] : 0 <= i < 2 and 0 <= j < 999", "Y[i, j]", {"X[i, j]", "s[i]"});
     },
     "S0 S1 S2[1]", "S0 S1[1] | S2[11]"},
    {"different ranges are fused at the price of a guard only by max",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .temporary("t", {64})
           .output("Y", {64})
           .statement("S0[i] : 0 <= i < 64", "t[i]", {"X[i]"})
           .statement("S1[i] : 3 <= i < 64", "Y[i]", {"t[i]"});
     },
     "S0 S1[1]", "S0[1] | S1[1]"},
    {"a reader of one neighbour is shifted by isl",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .temporary("t", {64})
           .output("Y", {64})
           .statement("S0[i] : 0 <= i < 64", "t[i]", {"X[i]"})
           .statement("S1[i] : 0 <= i < 63", "Y[i]", {"t[i + 1]"});
     },
     "S0 S1[1]", "S0[1] | S1[1]"},
    {"readers of two neighbours have no coincident member",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .temporary("t", {64})
           .output("Y", {64})
           .statement("S0[i] : 0 <= i < 64", "t[i]", {"X[i]"})
           .statement("S1[i] : 0 <= i < 63", "Y[i]", {"t[i]", "t[i + 1]"});
     },
     "S0[1] | S1[1]", "S0[1] | S1[1]"},
    {"three shared members suffice for a product that loses its last",
     [](ScopBuilder b) {
       const std::string ijkl = "0 <= i < 4 and 0 <= j < 4 and 0 <= k < 4 and 0 <= l < 9";
       return b.input("X", {4, 4, 4, 9, 5})
           .temporary("t", {4, 4, 4, 9})
           .output("s", {4, 4, 4})
           .identity("S0[i, j, k, l] : " + ijkl, "t[i, j, k, l]")
           .accumulate("S1[i, j, k, l, r] : 0 <= r < 5 and " + ijkl, "t[i, j, k, l]", {"X[i, j, k, l, r]"})
           .identity("S2[i, j, k] : 0 <= i < 4 and 0 <= j < 4 and 0 <= k < 4", "s[i, j, k]")
           .accumulate("S3[i, j, k, l] : " + ijkl, "s[i, j, k]", {"t[i, j, k, l]"});
     },
     "S0 S1 S2 S3[111]", "S0 S1 S2 S3[111]"},
    {"a statement joins an earlier cluster past one that it does not depend on",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .input("Z", {16, 16})
           .temporary("t", {64})
           .output("Y", {64})
           .output("W", {16, 16})
           .statement("S0[i] : 0 <= i < 64", "t[i]", {"X[i]"})
           .statement("S1[i, j] : 0 <= i < 16 and 0 <= j < 16", "W[i, j]", {"Z[i, j]"})
           .statement("S2[i] : 0 <= i < 64", "Y[i]", {"t[i]"});
     },
     "S0 S2[1] | S1[11]", "S0 S2[1] | S1[11]"},
    {"unrelated statements of one shape are fused by max only",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .input("Z", {64})
           .output("Y", {64})
           .output("W", {64})
           .statement("S0[i] : 0 <= i < 64", "Y[i]", {"X[i]"})
           .statement("S1[i] : 0 <= i < 64", "W[i]", {"Z[i]"});
     },
     "S0 S1[1]", "S0[1] | S1[1]"},
    {"a sum over everything shares nothing",
     [](ScopBuilder b) {
       return b.input("X", {64})
           .temporary("s", {})
           .output("Y", {64})
           .identity("S0[]", "s[]")
           .accumulate("S1[i] : 0 <= i < 64", "s[]", {"X[i]"})
           .statement("S2[i] : 0 <= i < 64", "Y[i]", {"X[i]", "s[]"});
     },
     "S0 | S1[0] | S2[1]", "S0 | S1[0] | S2[1]"},
    {"an initialisation moves to its update",
     [](ScopBuilder b) {
       return b.input("X", {64, 8})
           .input("Z", {64, 8})
           .output("s", {64})
           .output("u", {64})
           .identity("S0[i] : 0 <= i < 64", "s[i]")
           .statement("S1[i] : 0 <= i < 64", "u[i]", {"Z[0, i]"})
           .accumulate("S2[i, j] : 0 <= i < 64 and 0 <= j < 8", "s[i]", {"X[i, j]"});
     },
     "S0 S1 S2[1]", "S1[1] | S0 S2[1]"},
};

TEST_F(ScheduleTest, FusionStrategies) {
  for (const auto& row : kFusionRows) {
    auto scop = row.build(ScopBuilder(context())).scop();
    EXPECT_EQ(clusters(schedule_of(scop, "fusion=max")), row.max) << row.name;
    EXPECT_EQ(clusters(schedule_of(scop, "fusion=preserve3")), row.preserve) << row.name;
  }
}

TEST_F(ScheduleTest, MembersKeepTheOrderOfTheLeftHandSide) {
  auto scop = ScopBuilder(context())
                  .input("X", {4, 8})
                  .output("Y", {8, 4})
                  .statement("S[a, b] : 0 <= a < 4 and 0 <= b < 8", "Y[b, a]", {"X[a, b]"})
                  .scop();
  EXPECT_SCHEDULE(schedule_of(scop), R"(
domain: "{ S[a, b] : 0 <= a <= 3 and 0 <= b <= 7 }"
child:
  schedule: "[{ S[a, b] -> [(b)] }, { S[a, b] -> [(a)] }]"
  permutable: 1
  coincident: [ 1, 1 ]
)");
}

/// S[i, j] reads what S[i - 1, j + 1] wrote.
Scop diagonal(std::shared_ptr<Context> context) {
  return ScopBuilder(context)
      .output("A", {9, 9})
      .statement("S[i, j] : 1 <= i < 9 and 0 <= j < 8", "A[i, j]", {"A[i - 1, j + 1]", "A[i, j - 1] : j >= 1"})
      .scop();
}

TEST_F(ScheduleTest, WithoutSkewingALoopThatCannotBeTiledKeepsProgramOrder) {
  EXPECT_SCHEDULE(schedule_of(diagonal(context())), R"(
domain: "{ S[i, j] : 0 < i <= 8 and 0 <= j <= 7 }"
child:
  schedule: "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"
)");
}

TEST_F(ScheduleTest, SkewingMakesItPermutable) {
  auto node = schedule_of(diagonal(context()), "allow_skewing=1").root().child(0);
  ASSERT_TRUE(node.isa<isl::schedule_node_band>());
  EXPECT_TRUE(node.as<isl::schedule_node_band>().permutable()) << print_block(node.schedule());
  EXPECT_EQ(node.as<isl::schedule_node_band>().n_member(), 2u) << print_block(node.schedule());
}

TEST_F(ScheduleTest, ReversalNeedsLeaveToRunBackward) {
  auto scop = ScopBuilder(context())
                  .input("X", {64})
                  .temporary("t", {64})
                  .output("Y", {64})
                  .statement("S0[i] : 0 <= i < 64", "t[i]", {"X[i]"})
                  .statement("S1[i] : 0 <= i < 64", "Y[i]", {"t[63 - i]"})
                  .scop();
  EXPECT_EQ(clusters(schedule_of(scop, "fusion=max")), "S0[1] | S1[1]");
  EXPECT_EQ(clusters(schedule_of(scop, "fusion=max,positive_orthant=0")), "S0 S1[1]");
}

TEST_F(ScheduleTest, WithoutQuotaProgramOrderRemains) {
  auto scop = scops::softmax(context());
  EXPECT_SCHEDULE(schedule_of(scop, "quota=20"), program_order(scop));
}

TEST_F(ScheduleTest, EmptyScopsAndEmptyDomains) {
  Scop empty;
  empty.context = context();
  EXPECT_TRUE(schedule_of(empty).domain().is_empty());
  auto scop = ScopBuilder(context())
                  .input("A", {0, 4})
                  .output("C", {0})
                  .identity("S0[i] : 1 = 0", "C[i]")
                  .accumulate("S1[i, k] : 1 = 0", "C[i]", {"A[i, k]"})
                  .scop();
  EXPECT_TRUE(schedule_of(scop).domain().is_empty());
}

/// s = 0; s += A[k]; s = s * s; then t = 0.
TEST_F(ScheduleTest, OneNumberIsOneClusterWhereClustersAreKernels) {
  auto scop = ScopBuilder(context())
                  .input("A", {50})
                  .output("s", {})
                  .output("t", {})
                  .identity("S0[]", "s[]")
                  .accumulate("S1[k] : 0 <= k < 50", "s[]", {"A[k]"})
                  .statement("S2[]", "s[]", {"s[]"})
                  .identity("S3[]", "t[]")
                  .scop();
  MappingOptions options;
  options.fuse_rows = 66;
  EXPECT_SCHEDULE(compute_schedule(scop, compute_dependences(scop), options), R"(
domain: "{ S0[]; S1[k] : 0 <= k <= 49; S2[]; S3[] }"
child:
  sequence:
  - filter: "{ S0[]; S1[k]; S2[] }"
    child:
      schedule: "[{ S0[] -> [(0)]; S1[k] -> [(0)]; S2[] -> [(0)] }]"
      permutable: 1
      coincident: [ 1 ]
      child:
        sequence:
        - filter: "{ S0[] }"
        - filter: "{ S1[k] }"
          child: { schedule: "[{ S1[k] -> [(k)] }]", permutable: 1 }
        - filter: "{ S2[] }"
  - filter: "{ S3[] }"
)");
}

}  // namespace
}  // namespace tc::polyhedral
