#include "tc/strategy/cpu/choose_collapse.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Collapse;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseCollapse : public polyhedral::IslTest {
 protected:
  /// Z(out) +=! X(left) * Y(right), every index named by a letter and \p extent long.
  Scop contraction(const std::string& out, const std::string& left, const std::string& right, int extent) const {
    auto list = [](const std::string& letters) {
      std::vector<std::string> names;
      for (char letter : letters) names.emplace_back(1, letter);
      return join(names);
    };
    auto shape = [&](const std::string& letters) { return std::vector<std::int64_t>(letters.size(), extent); };
    auto all = out;
    for (char letter : left)
      if (all.find(letter) == std::string::npos) all += letter;
    auto domain = [&](const char* id, const std::string& letters) {
      return str(id, "[", list(letters), "] : 0 <= ", list(letters), " < ", extent);
    };
    auto scop = ScopBuilder(context())
                    .input("X", shape(left))
                    .input("Y", shape(right))
                    .output("Z", shape(out))
                    .identity(domain("I", out), str("Z[", list(out), "]"))
                    .accumulate(domain("U", all), str("Z[", list(out), "]"),
                                {str("X[", list(left), "]"), str("Y[", list(right), "]")})
                    .scop();
    scop.statement("U").product = true;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    return scop;
  }
  /// The iterators collapsed, as letters.
  std::string choose(const std::string& out, const std::string& left, const std::string& right, int extent,
                     const MappingOptions& options = {}) const {
    auto scop = contraction(out, left, right, extent);
    std::string result;
    for (const auto& choice :
         choose_collapse(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m"), options))
      for (int member : choice.members) result += out.at(member);
    return result;
  }
};

TEST_F(ChooseCollapse, JoinsColumnsThatDoNotFillVectors) {
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 24), "cd");
  EXPECT_EQ(choose("abcd", "aebf", "fdec", 24), "cd");
  EXPECT_EQ(choose("abcd", "aecf", "bfde", 24), "bd");
  EXPECT_EQ(choose("abcd", "eafd", "fbec", 24), "ad");
}

TEST_F(ChooseCollapse, JoinsAsManyAsMakeEnoughColumns) {
  EXPECT_EQ(choose("abcdef", "degha", "hgfbc", 16), "cf");
  EXPECT_EQ(choose("abcdef", "degha", "hgfbc", 8), "bcf");
}

TEST_F(ChooseCollapse, LeavesColumnsThatAreLongEnough) {
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 48), "");
  EXPECT_EQ(choose("abd", "aebf", "dfe", 24), "") << "no other member moves the same read alone";
}

TEST_F(ChooseCollapse, LeavesColumnsWhoseCopiesCostMore) {
  EXPECT_EQ(choose("abcdef", "dega", "gfbc", 16), "") << "results of 16 steps are scattered";
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 20), "cd") << "copies move 4 at a time";
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 26), "") << "and 2";
  EXPECT_EQ(choose("abcd", "aebf", "efcd", 26), "cd") << "all of them lie side by side";
}

/// Z(o,h,w) +=! X(c,h,w) * Y(o,c), images of 28 x 28 within X of \p size x \p size.
TEST_F(ChooseCollapse, RunsThroughImagesInOrderWhereLanesAlongChannelsScatter) {
  auto choose = [&](int size) {
    auto scop = ScopBuilder(context())
                    .input("X", {512, size, size})
                    .input("Y", {128, 512})
                    .output("Z", {128, 28, 28})
                    .identity("I[o, h, w] : 0 <= o < 128 and 0 <= h, w < 28", "Z[o, h, w]")
                    .accumulate("U[o, h, w, c] : 0 <= o < 128 and 0 <= h, w < 28 and 0 <= c < 512", "Z[o, h, w]",
                                {"X[c, h, w]", "Y[o, c]"})
                    .scop();
    scop.statement("U").product = true;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    std::string result;
    for (const auto& choice :
         choose_collapse(polyhedral::clustered(scop), Target::parse("cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m"), {}))
      for (int member : choice.members) result += str(member, " ");
    return result;
  };
  EXPECT_EQ(choose(28), "1 2 ");
  EXPECT_EQ(choose(30), "") << "rows of the image lie apart";
}

TEST_F(ChooseCollapse, LeavesWhatIsSmallOrMappedByOptions) {
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 6), "");
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 24, {.tile = {4, 4, 4, 4}}), "");
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 24, {.pack = false}), "");
  EXPECT_EQ(choose("abcd", "aebf", "dfce", 24, {.vector_along = {"d"}}), "");
}

}  // namespace
}  // namespace tc::strategy
