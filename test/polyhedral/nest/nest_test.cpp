#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/nest/nest_line.h"
#include "test/polyhedral/nest/nest_fixture.h"
#include "test/support/expect_error.h"

namespace tc::polyhedral {
namespace {

const std::string tiled_text = R"(nest of I, U
  n/48 on cores
    U.k/16 with private sums
      copy B of U in panels of 24 n, 8 lanes
      m/4
        n%48/24
          keep C
          copies along n, 8 lanes, unrolled
          I: m%4 unrolled  n%24/8 unrolled  n%8 lanes
          U: k%16  m%4 unrolled  n%24/8 unrolled  n%8 lanes)";

TEST_F(NestTest, OneLineWithNamesByPositionIsReadBack) {
  const auto names = positional_nest_names(scop_, cluster_);
  const auto nest = nest_of(scop_, cluster_, tiled());
  const auto line = nest_line(to_string(nest, names));
  EXPECT_EQ(line.find_first_of(",\n"), std::string::npos) << line;
  EXPECT_EQ(line.find("C"), std::string::npos) << "the kept tensor has the name of its position\n" << line;
  EXPECT_EQ(parse_nest(text_of_nest_line(line), names), nest) << line;
}

TEST_F(NestTest, HasATextThatIsReadBack) {
  EXPECT_EQ(text(tiled()), tiled_text);
  EXPECT_EQ(read(tiled_text), nest(tiled()));
  EXPECT_EQ(text(ClusterMapping()), "nest of I, U\n  m\n    n\n      I:\n      U: k");
  EXPECT_EQ(text(read(text(ClusterMapping()))), text(ClusterMapping()));
}

TEST_F(NestTest, IndentationMeansNothing) {
  std::string flat;
  for (std::size_t i = 0; i < tiled_text.size(); ++i)
    if (tiled_text[i] != ' ' || tiled_text[i - 1] != '\n') flat += tiled_text[i];
  EXPECT_EQ(read(flat), nest(tiled()));
}

TEST_F(NestTest, LanesMayIdle) {
  ClusterMapping mapping{.members = {{0, 1}, {0, 13}}, .statements = {{"U", 1, 16}}};
  EXPECT_EQ(text(mapping), "nest of I, U\n  m\n    n/13\n      I: n%13\n      U: k  n%13 in 16 lanes");
  EXPECT_EQ(read(text(mapping)), nest(mapping));
}

TEST_F(NestTest, TheVectorsOfOneStatementAreUnrolled) {
  const ClusterMapping mapping{.members = {{0, 1}, {0, 16}}, .statements = {{"I", 1, 8}, {"U", 1, 8, 2}}};
  EXPECT_EQ(text(mapping),
            "nest of I, U\n  m\n    n/16\n      I: n%16/8  n%8 lanes\n      U: k  n%16/8 unrolled  n%8 lanes");
  EXPECT_EQ(read(text(mapping)), nest(mapping));
}

TEST_F(NestTest, UnitsAndWindowsHaveWords) {
  ClusterMapping dots{.members = {{0, 1}, {0, 16}}, .register_tile = true, .statements = {{"U", 1, 8}}};
  dots.dot = {"U", 2, 4};
  EXPECT_EQ(text(dots),
            "nest of I, U\n  m\n    n/16\n      I: n%16\n      U: k/4  n%16/8 unrolled  k%4 in units of 4  n%8 lanes");
  EXPECT_EQ(read(text(dots)), nest(dots));
  ClusterMapping matrices{.members = {{0, 16}, {0, 16}}};
  matrices.dot = {"U", 2, 2, 16};
  EXPECT_EQ(text(matrices),
            "nest of I, U\n  m/16\n    n/16\n      I: m%16  n%16\n      U: m%16  n%16  k in units of 16x2");
  EXPECT_EQ(read(text(matrices)), nest(matrices));
  ClusterMapping window{.members = {{0, 4}, {0, 16}}, .register_tile = true, .statements = {{"U", 1, 16}}};
  window.window = {"U", 2, 0, 32, 1};
  EXPECT_EQ(text(window),
            "nest of I, U\n  m/4\n    n/16\n      I: m%4  n%16\n      U: m%4 unrolled  k unrolled slides along m by 1  "
            "n%16 lanes");
  EXPECT_EQ(read(text(window)), nest(window));
}

TEST_F(NestTest, EditsAreThoseOfTheMapping) {
  auto wanted = tiled();
  wanted.members[0].points = 8;
  auto eights = tiled_text;
  for (const auto& [from, to] : {std::pair("m/4", "m/8"), {"m%4", "m%8"}, {"U: k%16  m%4", "U: k%16  m%8"}})
    eights.replace(eights.find(from), std::string(from).size(), to);
  EXPECT_EQ(read(eights), nest(wanted));
  wanted = tiled();
  wanted.parallel = false;
  wanted.outermost = -1;
  wanted.above = {1};
  EXPECT_EQ(edited(" on cores", ""), nest(wanted));
}

TEST_F(NestTest, ErrorsShowTheLine) {
  EXPECT_ERROR(edited("m/4", "q/4"), OptionsError,
               "line 5 of the nest, 'q/4': there is no index 'q' here; the band has m, n");
  EXPECT_ERROR(edited("on cores", "on"), OptionsError, "line 2 of the nest, 'n/48 on': a place is missing at the end");
  EXPECT_ERROR(edited("m/4", "m/0"), OptionsError, "'0' is no number from 1 to");
  EXPECT_ERROR(edited("m/4", "m/4 8"), OptionsError, "'8' means nothing here");
  EXPECT_ERROR(edited("copy B", "copy Q"), OptionsError, "'U' does not read 'Q' but A, B");
  EXPECT_ERROR(edited("of 24 n", "of 24 q"), OptionsError, "'U' has no such iterator but m, n, k");
  EXPECT_ERROR(edited("I: ", "V: "), OptionsError, "there is no statement 'V' in this nest");
  EXPECT_ERROR(edited("nest of I, U", "nest of I"), OptionsError, "this cluster has the statements I, U");
  EXPECT_ERROR(read(tiled_text + "\nkeep C"), OptionsError,
               "line 11 of the nest, 'keep C': what all statements share stands above");
}

TEST_F(NestTest, LawsAreNamed) {
  EXPECT_ERROR(edited("n%48/24", "n%40/24"), OptionsError,
               "line 6 of the nest, 'n%40/24', breaks the law 'digits': a loop above counts n in steps of 48");
  EXPECT_ERROR(edited("U: k%16  ", "U: "), OptionsError, "breaks the law 'digits': no loop is over k%16");
  EXPECT_ERROR(edited("m/4", "m%8/4"), OptionsError, "'digits': no loop above is over m, so the first one has no '%'");
  EXPECT_ERROR(edited("m/4", "m/4 on cores"), OptionsError, "'cores': they run the outermost loop and no other");
  EXPECT_ERROR(edited("m/4", "m/4 unrolled"), OptionsError, "breaks the law 'lanes'");
  EXPECT_ERROR(edited("n%24/8 unrolled  n%8 lanes", "n%24/8 lanes  n%8"), OptionsError, "breaks the law 'lanes'");
  EXPECT_ERROR(edited(" with private sums", ""), OptionsError, "breaks the law 'sums'");
  EXPECT_ERROR(edited("U: k%16  m%4 unrolled", "U: m%4 unrolled  k%16"), OptionsError,
               "breaks the law 'order': serial loops over its own iterators stand above all other loops");
  EXPECT_ERROR(read("nest of I, U\nm\nn\nU: k\nI:"), OptionsError, "breaks the law 'branches'");
  EXPECT_ERROR(read("nest of I, U\nI: m unrolled  n unrolled\nU: k  m unrolled  n unrolled"), OptionsError,
               "breaks the law 'unrolled': a register tile has at most 4096 points");
}

TEST_F(NestTest, SectionsAreFoundByTheirStatements) {
  auto sections = nest_sections("nest of I\n  m\n  I:\n\nnest of U, V\n  U:");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].statements, std::vector<std::string>{"I"});
  EXPECT_EQ(sections[1].statements, (std::vector<std::string>{"U", "V"}));
  EXPECT_EQ(sections[1].first_line, 5);
  EXPECT_EQ(sections[1].text, "nest of U, V\n  U:");
  EXPECT_ERROR(nest_sections("m/4\nnest of I"), OptionsError, "a nest begins with 'nest of ' and its statements");
}

}  // namespace
}  // namespace tc::polyhedral
