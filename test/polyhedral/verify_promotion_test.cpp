#include <gtest/gtest.h>

#include "tc/polyhedral/laws/verify.h"
#include "test/support/isl_fixture.h"
#include "test/support/rejects.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {
namespace {

using namespace build;

const std::string kRows = "[{ S0[i, j] -> [(i)]; S1[i, j] -> [(i)] }]";
const Branch kFirst = {"{ S0[i, j] }", band("[{ S0[i, j] -> [(j)] }]")};
const Branch kSecond = {"{ S1[i, j] }", band("[{ S1[i, j] -> [(j)] }]")};

/// Rows of t in a buffer: S0: t(i, j) = X(i, j); S1: Y(i, j) = t(i, j)
class PromotionTest : public IslTest {
 protected:
  ScopBuilder rows() const {
    const std::string ij = "0 <= i < 8 and 0 <= j < 8";
    return ScopBuilder(context())
        .input("X", {8, 8})
        .temporary("t", {8, 8})
        .output("Y", {8, 8})
        .local("row", {8})
        .statement("S0[i, j] : " + ij, "t[i, j]", {"X[i, j]"})
        .statement("S1[i, j] : " + ij, "Y[i, j]", {"t[i, j]"});
  }
  Scop with(Scop scop, const Tree& tree) const {
    scop.schedule = build::domain(scop.domain(), tree);
    return scop;
  }
  Tree in_rows(std::vector<Branch> below) const { return band(kRows, mark("allocate_row", sequence(below))); }
};

TEST_F(PromotionTest, ARowAtATime) {
  auto scop = with(rows().redirect("t", "row[x1]").scop(), in_rows({kFirst, kSecond}));
  EXPECT_NO_THROW(verify(scop, compute_dependences(rows().scop())));
}

TEST_F(PromotionTest, ALoopBelowTheMarkReusesTheBuffer) {
  auto scop = rows().redirect("t", "row[x1]").scop();
  auto reused = with(scop, mark("allocate_row", band(kRows, sequence({kFirst, kSecond}))));
  EXPECT_NO_THROW(verify(reused, compute_dependences(rows().scop())));
  auto all_first =
      with(scop, mark("allocate_row", sequence({{kFirst.filter, band("[{ S0[i, j] -> [(i)] }]", kFirst.child)},
                                                {kSecond.filter, band("[{ S1[i, j] -> [(i)] }]", kSecond.child)}})));
  EXPECT_TRUE(rejects([&] { verify_promotion(all_first); }, "buffer 'row': a place holds two elements"));
}

/// S2 writes the first six of eight: its second vector has two lanes at what S0 wrote.
TEST_F(PromotionTest, IdleLanesLeaveWhatOthersUse) {
  auto scop = rows().statement("S2[i, j] : 0 <= i < 8 and 0 <= j < 6", "t[i, j]").redirect("t", "row[x1]").scop();
  for (auto& statement : scop.statements) statement.vector_lanes = 4;
  auto lanes = [](const std::string& id) -> Branch {
    return {"{ " + id + "[i, j] }", band("[{ " + id + "[i, j] -> [(floor((j)/4))] }]",
                                         mark("vector", band("[{ " + id + "[i, j] -> [((j) mod 4)] }]")))};
  };
  const std::string all = "[{ S0[i, j] -> [(i)]; S1[i, j] -> [(i)]; S2[i, j] -> [(i)] }]";
  auto tree = band(all, mark("allocate_row", sequence({lanes("S0"), lanes("S2"), lanes("S1")})));
  EXPECT_NO_THROW(verify_promotion(with(scop, tree)));
  scop.tensor("row").padded = true;
  EXPECT_TRUE(rejects([&] { verify_promotion(with(scop, tree)); },
                      "a lane of statement S2 that does not run writes what others use: [0] -> row["));
  scop.tensor("row").combined = true;
  EXPECT_NO_THROW(verify_promotion(with(scop, tree)));
}

TEST_F(PromotionTest, LanesDoNotReuseAPlace) {
  auto scop = rows().redirect("t", "row[0]").scop();
  for (auto& statement : scop.statements) statement.vector_lanes = 8;
  const std::string columns = "[{ S0[i, j] -> [(j)]; S1[i, j] -> [(j)] }]";
  auto order = sequence({{kFirst.filter}, {kSecond.filter}});
  EXPECT_NO_THROW(verify_promotion(with(scop, mark("allocate_row", band(kRows, band(columns, order))))));
  EXPECT_TRUE(rejects(
      [&] { verify_promotion(with(scop, mark("allocate_row", band(kRows, mark("vector", band(columns, order)))))); },
      "buffer 'row': a place holds two elements"));
}

TEST_F(PromotionTest, ThreadsThatShareABufferKeepToPlacesOfTheirOwn) {
  auto scop = rows().redirect("t", "row[x1]").scop();
  const std::string columns = "[{ S0[i, j] -> [(j)]; S1[i, j] -> [(j)] }]";
  auto order = sequence({{kFirst.filter}, {kSecond.filter}});
  auto own = mark("allocate_row", band(kRows, mark("parallel", band(columns, order))));
  EXPECT_NO_THROW(verify(with(scop, own), compute_dependences(rows().scop())));
  auto shared = mark("allocate_row", mark("parallel", band(kRows, band(columns, order))));
  EXPECT_TRUE(
      rejects([&] { verify_promotion(with(scop, shared)); }, "buffer 'row': threads share a place that one writes"));
  auto in_turn = mark("allocate_row", band(kRows, sequence({{kFirst.filter, mark("parallel", kFirst.child)},
                                                            {kSecond.filter, mark("parallel", kSecond.child)}})));
  EXPECT_NO_THROW(verify_promotion(with(scop, in_turn)));
}

TEST_F(PromotionTest, EachElementHasAPlaceOfItsOwn) {
  auto shared = with(rows().redirect("t", "row[x1 mod 4]").scop(), in_rows({kFirst, kSecond}));
  EXPECT_TRUE(rejects([&] { verify_promotion(shared); },
                      "law 'promotion' is broken: buffer 'row': a place holds two elements"));
  auto scop = rows().redirect("t", "row[x1]").scop();
  scop.statement("S1").reads[0].function = isl::pw_multi_aff(ctx(), "{ S1[i, j] -> row[7 - j] }");
  auto moved = with(scop, in_rows({kFirst, kSecond}));
  EXPECT_TRUE(rejects([&] { verify_promotion(moved); }, "buffer 'row': an element has two places"));
}

TEST_F(PromotionTest, AnElementLivesInOneExecution) {
  auto skewed = "[{ S0[i, j] -> [(i)]; S1[i, j] -> [(i + 1)] }]";
  auto scop =
      with(rows().redirect("t", "row[x1]").scop(), band(skewed, mark("allocate_row", sequence({kSecond, kFirst}))));
  EXPECT_NO_THROW(verify_dependences(scop, compute_dependences(rows().scop())));
  EXPECT_TRUE(rejects([&] { verify_promotion(scop); }, "buffer 'row': an element is used in two executions"));
}

TEST_F(PromotionTest, ReadsFollowWrites) {
  auto scop = with(rows().redirect("t", "row[x1]").scop(), in_rows({kSecond, kFirst}));
  EXPECT_TRUE(rejects([&] { verify_promotion(scop); }, "nothing is written before the read S1[0, 0] -> t[0, 0]"));
}

TEST_F(PromotionTest, AllUsesGoToTheBufferBelowItsMark) {
  auto scop = rows().redirect("t", "row[x1]").scop();
  auto past = with(scop, in_rows({kFirst, kSecond}));
  past.statement("S1").reads[0].function = isl::pw_multi_aff(ctx(), "{ S1[i, j] -> t[i, j] }");
  EXPECT_TRUE(rejects([&] { verify_promotion(past); }, "buffer 'row': statement S1 uses 't' past it"));
  auto inside = kFirst;
  inside.child = mark("allocate_row", kFirst.child);
  auto outside = with(scop, band(kRows, sequence({inside, kSecond})));
  EXPECT_TRUE(
      rejects([&] { verify_promotion(outside); }, "buffer 'row': statement S1 uses it outside its allocate mark"));
}

/// C(i) +=! A(i, k); D(i) = C(i), with C(i) in a register, and its lanes in another.
class CopiesTest : public IslTest {
 protected:
  const std::string i_ = "0 <= i < 8", ik_ = i_ + " and 0 <= k < 12", iw_ = i_ + " and 0 <= w < 4";

  Dependences dependences() const {
    return compute_dependences(ScopBuilder(context())
                                   .input("A", {8, 12})
                                   .output("C", {8})
                                   .output("D", {8})
                                   .identity("S0[i] : " + i_, "C[i]")
                                   .accumulate("S1[i, k] : " + ik_, "C[i]", {"A[i, k]"})
                                   .statement("S2[i] : " + i_, "D[i]", {"C[i]"})
                                   .scop());
  }
  Scop mapped(std::vector<std::string> order, const std::string& later = "") const {
    auto scop = ScopBuilder(context())
                    .input("A", {8, 12})
                    .output("C", {8})
                    .output("D", {8})
                    .temporary("acc", {8})
                    .temporary("lanes", {8, 4})
                    .local("l_acc", {1})
                    .local("l_lanes", {4})
                    .identity("S0[i] : " + i_, "acc[i]")
                    .identity("Si[i, w] : " + iw_, "lanes[i, w]")
                    .accumulate("S1[i, k] : " + ik_, "lanes[i, k mod 4]", {"A[i, k]"})
                    .combine("Sc[i, w] : " + iw_, "acc[i]", "lanes[i, w]")
                    .copy("out[i] : " + i_, "C[i]", "acc[i]")
                    .statement("S2[i] : " + i_, "D[i]", {"C[i]"})
                    .redirect("acc", "l_acc[0]")
                    .redirect("lanes", "l_lanes[x1]")
                    .scop();
    std::vector<Branch> below;
    std::string rows;
    for (const auto& id : order) {
      auto tuple = id == "S1" ? std::string("S1[i, k]") : id == "Si" || id == "Sc" ? id + "[i, w]" : id + "[i]";
      auto inner = id == "S1" ? "k" : id == "Si" || id == "Sc" ? "w" : "";
      below.push_back({"{ " + tuple + " }", *inner ? band("[{ " + tuple + " -> [(" + inner + ")] }]") : Tree()});
      rows += (rows.empty() ? "" : "; ") + tuple + " -> [(i)]";
    }
    auto tree = band("[{ " + rows + " }]", mark("allocate_l_acc", mark("allocate_l_lanes", sequence(below))));
    if (later.empty()) {
      scop.schedule = build::domain(scop.domain(), tree);
    } else {
      std::string first;
      for (const auto& branch : below)
        first += (first.empty() ? "" : "; ") + branch.filter.substr(2, branch.filter.size() - 4);
      scop.schedule = build::domain(
          scop.domain(),
          sequence({{"{ " + first + " }", tree}, {"{ " + later + "[i] }", band("[{ " + later + "[i] -> [(i)] }]")}}));
    }
    return scop;
  }
};

TEST_F(CopiesTest, LanesAreCombinedAndCopiedOut) {
  EXPECT_NO_THROW(verify(mapped({"S0", "Si", "S1", "Sc", "out", "S2"}), dependences()));
  EXPECT_NO_THROW(verify(mapped({"S0", "Si", "S1", "Sc", "out"}, "S2"), dependences()));
}

TEST_F(CopiesTest, ACombinationFollowsAllLanes) {
  auto scop = mapped({"S0", "Si", "Sc", "S1", "out", "S2"});
  EXPECT_NO_THROW(verify_dependences(scop, dependences()));
  EXPECT_TRUE(
      rejects([&] { verify_promotion(scop); }, "buffer 'l_lanes': a copy is not in order with S1[0, 0] -> Sc[0, 0]"));
}

TEST_F(CopiesTest, LanesStartFromTheirIdentity) {
  auto scop = mapped({"S0", "S1", "Si", "Sc", "out", "S2"});
  EXPECT_TRUE(rejects([&] { verify_promotion(scop); },
                      "buffer 'l_lanes': nothing is written before the read S1[0, 0] -> lanes[0, 0]"));
}

TEST_F(CopiesTest, ACopyOutFollowsTheCombination) {
  auto scop = mapped({"S0", "Si", "S1", "out", "Sc", "S2"});
  EXPECT_TRUE(
      rejects([&] { verify_promotion(scop); }, "buffer 'l_acc': a copy is not in order with Sc[0, 0] -> out[0]"));
}

TEST_F(CopiesTest, AReaderOutsideFollowsTheCopy) {
  auto scop = mapped({"S0", "Si", "S1", "Sc", "S2", "out"});
  EXPECT_NO_THROW(verify_dependences(scop, dependences()));
  EXPECT_NO_THROW(verify_promotion(scop));
  EXPECT_TRUE(rejects([&] { verify_copies(scop, dependences()); },
                      "law 'copies' is broken: a copy is not in order with out[0] -> S2[0]"));
}

TEST_F(CopiesTest, ACopyInFollowsTheWriters) {
  const std::string i = "0 <= i < 8";
  auto make = [&](bool with_copy) {
    ScopBuilder builder(context());
    builder.input("X", {8}).output("C", {8}).output("D", {8}).statement("S0[i] : " + i, "C[i]", {"X[i]"});
    if (!with_copy) return builder.statement("S1[i] : " + i, "D[i]", {"C[i]"}).scop();
    return builder.temporary("staged", {8})
        .local("l", {1})
        .copy("in[i] : " + i, "staged[i]", "C[i]")
        .statement("S1[i] : " + i, "D[i]", {"staged[i]"})
        .redirect("staged", "l[0]")
        .scop();
  };
  auto dependences = compute_dependences(make(false));
  auto ordered = [&](std::vector<Branch> order) {
    auto scop = make(true);
    scop.schedule = build::domain(scop.domain(), band("[{ S0[i] -> [(i)]; in[i] -> [(i)]; S1[i] -> [(i)] }]",
                                                      mark("allocate_l", sequence(order))));
    return scop;
  };
  EXPECT_NO_THROW(verify(ordered({{"{ S0[i] }"}, {"{ in[i] }"}, {"{ S1[i] }"}}), dependences));
  auto early = ordered({{"{ in[i] }"}, {"{ S0[i] }"}, {"{ S1[i] }"}});
  EXPECT_NO_THROW(verify_promotion(early));
  EXPECT_TRUE(rejects([&] { verify_copies(early, dependences); }, "a copy is not in order with S0[0] -> in[0]"));
  auto late = ordered({{"{ S0[i] }"}, {"{ S1[i] }"}, {"{ in[i] }"}});
  EXPECT_TRUE(
      rejects([&] { verify_promotion(late); }, "buffer 'l': nothing is written before the read S1[0] -> staged[0]"));
}

}  // namespace
}  // namespace tc::polyhedral
