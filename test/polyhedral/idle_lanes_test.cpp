#include "tc/polyhedral/map/idle_lanes.h"

#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

class IdleLanes : public MappingPassTest {
 protected:
  /// S[t, i] writes \p place for i up to \p last, in vectors along i.
  Statement writer(const std::string& place, int last) const {
    return ScopBuilder(context())
        .output("b", {8})
        .statement(str("S[t, i] : 0 <= t < 2 and 0 <= i <= ", last), place)
        .scop()
        .statements[0];
  }
  isl::union_map idle(const Statement& statement, const char* lane, const char* runs, int lanes = 4) const {
    return idle_lanes(statement, 1, isl::union_pw_aff(ctx(), lane), lanes, 0, union_map(runs));
  }
};

TEST_F(IdleLanes, AreThoseOfVectorsThatEndEarly) {
  auto statement = writer("b[i]", 5);
  auto vectors = "{ S[t, i] -> [t, floor(i/4)] }";
  EXPECT_TRUE(idle(statement, "{ S[t, i] -> [(i mod 4)] }", vectors)
                  .is_equal(union_map("{ [t, 1] -> b[y] : 0 <= t < 2 and 6 <= y < 8 }")));
}

TEST_F(IdleLanes, AreNoneInFullVectors) {
  EXPECT_TRUE(idle(writer("b[i]", 7), "{ S[t, i] -> [(i mod 4)] }", "{ S[t, i] -> [t, floor(i/4)] }").is_empty());
}

TEST_F(IdleLanes, AVectorStartsWithItsFirstInstance) {
  auto statement = writer("b[i]", 5);
  statement.domain = statement.domain.intersect(set("{ S[t, i] : i >= 2 + t }"));
  EXPECT_TRUE(idle(statement, "{ S[t, i] -> [(i)] }", "{ S[t, i] -> [t] }").is_equal(union_map("{ [1] -> b[6] }")));
}

TEST_F(IdleLanes, AreOfInstancesThatRunOnly) {
  EXPECT_TRUE(idle(writer("b[i]", 5), "{ S[t, i] -> [(i mod 4)] }", "{ R[t, i] -> [t] }").is_empty());
}

}  // namespace
}  // namespace tc::polyhedral
