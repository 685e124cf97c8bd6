#include "tc/lang/syntax/diagnostics.h"

#include <gtest/gtest.h>

namespace tc::lang {
namespace {

TEST(Diagnostics, RendersPlacesAndLabels) {
  const std::string text = "one\n\tt\xC3\xA9st three\nfour";
  Report report{.code = "TC999", .range = {11, 16}, .message = "bad 'three'", .label = "here"};
  report.also = {{{5, 10}, "this"}, {{0, 3}, "and that"}};
  report.note = "because";
  report.help = "do it";
  const Diagnostic d = render(report, text, "x.tc");
  EXPECT_EQ(d.line, 2);
  EXPECT_EQ(d.column, 8);
  EXPECT_EQ(d.rendered,
            "error[TC999]: bad 'three'\n"
            "  --> x.tc:2:8\n"
            "   |\n"
            " 2 | \tt\xC3\xA9st three\n"
            "   | \t     ^^^^^ here\n"
            "   | \t---- this\n"
            " 1 | one\n"
            "   | --- and that\n"
            "   = note: because\n"
            "   = help: do it\n");
}

TEST(Diagnostics, NothingOfATextCommandsATerminal) {
  const std::string text = "# \x1b[2J\r\nA \x1b[1m b \xff\r\n";
  const Diagnostic d = render({.code = "TC999", .range = {15, 19}, .message = "m"}, text, "x\x1b]0;.tc");
  EXPECT_EQ(d.rendered,
            "error[TC999]: m\n"
            "  --> x\\x1b]0;.tc:2:8\n"
            "   |\n"
            " 2 | A \\x1b[1m b \\xff\n"
            "   |           ^^^^^^\n");
}

TEST(Diagnostics, PlacesOutsideTheTextAreClamped) {
  EXPECT_EQ(render({.code = "TC999", .range = {100, 200}, .message = "m"}, "a\nb", "x").line, 2);
  EXPECT_EQ(render({.code = "TC999", .range = {-5, -1}, .message = "m"}, "", "x").column, 1);
  EXPECT_EQ(render({.code = "TC999", .range = {2, 2}, .message = "m"}, "a\n", "x").line, 2);
}

TEST(Diagnostics, SortsAndDropsRepetitions) {
  Diagnostics all("a\nb", "x");
  for (int begin : {2, 0, 2}) all.add({.code = "TC999", .range = {begin, begin + 1}, .message = "m"});
  all.add({.code = "TC998", .range = {0, 1}, .message = "w", .is_error = false});
  EXPECT_EQ(all.warnings().size(), 1u);
  try {
    all.throw_if_errors<SemanticError>();
    FAIL();
  } catch (const SemanticError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2u);
    EXPECT_EQ(error.diagnostics()[0].line, 1);
    EXPECT_EQ(std::string(error.what()), error.diagnostics()[0].rendered + "\n" + error.diagnostics()[1].rendered);
  }
}

TEST(Diagnostics, Closest) {
  EXPECT_EQ(closest("maxval", {"min", "maxVal", "max"}), "maxVal");
  EXPECT_EQ(closest("wieght", {"height", "weight"}), "weight");
  EXPECT_EQ(closest("Biass", {"Bias", "B"}), "Bias");
  EXPECT_EQ(closest("x", {"y", "z"}), "");
  EXPECT_EQ(closest("input", {"output", "in"}), "");
  EXPECT_EQ(closest("abc", {}), "");
}

}  // namespace
}  // namespace tc::lang
