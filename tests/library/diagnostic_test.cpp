#include <gtest/gtest.h>

#include <metalloid/diagnostic.hpp>

namespace metalloid {
namespace {

Diagnostic error_at(uint32_t column, std::string source_line) {
  return {Severity::error, "no such thing", "a.metal", 3, column, std::move(source_line)};
}

TEST(Diagnostic, PointsAtThePlaceWithACaret) {
  EXPECT_EQ(format(error_at(7, "float x = y;")),
            "a.metal:3:7: error: no such thing\n"
            "float x = y;\n"
            "      ^\n");
}

TEST(Diagnostic, GivesTabsAndWideCharactersTheirRoom) {
  EXPECT_EQ(format(error_at(2, "\tx")), "a.metal:3:2: error: no such thing\n        x\n        ^\n");
  EXPECT_EQ(format(error_at(4, "a\tbx")), "a.metal:3:4: error: no such thing\na       bx\n         ^\n");
  EXPECT_EQ(format(error_at(6, "/*\xC3\xA9*x")), "a.metal:3:6: error: no such thing\n/*\xC3\xA9*x\n    ^\n");
  EXPECT_EQ(format(error_at(4, "\xE6\xBC\xA2x")), "a.metal:3:4: error: no such thing\n\xE6\xBC\xA2x\n  ^\n");
}

TEST(Diagnostic, PutsTheCaretOfAByteInsideACharacterUnderThatCharacter) {
  EXPECT_EQ(format(error_at(3, "a\xC3\xA9z")), "a.metal:3:3: error: no such thing\na\xC3\xA9z\n ^\n");
}

TEST(Diagnostic, ShowsNothingThatATerminalWouldObey) {
  EXPECT_EQ(format(error_at(3, "\x1b[x")), "a.metal:3:3: error: no such thing\n<U+001B>[x\n         ^\n");
  EXPECT_EQ(format(error_at(2, "\xFFx")), "a.metal:3:2: error: no such thing\n<FF>x\n    ^\n");
  EXPECT_EQ(format(error_at(1, "\xE2\x80\xAEx")), "a.metal:3:1: error: no such thing\n<U+202E>x\n^\n");
}

TEST(Diagnostic, KeepsTheLinesOfAMessage) {
  EXPECT_EQ(format(Diagnostic{Severity::error, "one\ntwo \x1b[2J", "", 0, 0, ""}), "error: one\ntwo <U+001B>[2J\n");
}

TEST(Diagnostic, PointsPastTheEndOfALine) {
  EXPECT_EQ(format(error_at(2, "x\r\n")), "a.metal:3:2: error: no such thing\nx\n ^\n");
  EXPECT_EQ(format(error_at(900, "x")), "a.metal:3:900: error: no such thing\nx\n ^\n");
}

TEST(Diagnostic, ShowsThePartOfALongLineAroundTheCaret) {
  std::string line(5000, 'a');
  line[3000] = 'B';
  const std::string text = format(error_at(3001, line));
  const size_t first_end = text.find('\n') + 1, second_end = text.find('\n', first_end) + 1;
  const std::string shown = text.substr(first_end, second_end - first_end - 1);
  const std::string caret = text.substr(second_end, text.size() - second_end - 1);
  EXPECT_LT(shown.size(), 200u);
  EXPECT_TRUE(shown.starts_with("...a")) << shown;
  EXPECT_TRUE(shown.ends_with("a...")) << shown;
  EXPECT_EQ(shown.find('B'), caret.find('^'));
}

TEST(Diagnostic, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(format(Diagnostic{Severity::warning, "old", "", 0, 0, ""}), "warning: old\n");
  EXPECT_EQ(format(Diagnostic{Severity::note, "here", "a.metal", 0, 0, ""}), "a.metal: note: here\n");
  EXPECT_EQ(format(Diagnostic{Severity::note, "here", "a.metal", 4, 0, "x"}), "a.metal:4: note: here\nx\n");
}

TEST(Diagnostic, UsesColourOnlyWhenAsked) {
  EXPECT_EQ(format(error_at(1, "x")).find('\x1b'), std::string::npos);
  EXPECT_NE(format(error_at(1, "x"), true).find("\x1b[1;31merror: \x1b[0m"), std::string::npos);
}

TEST(Diagnostic, TellsErrorsFromTheRest) {
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors({{Severity::warning, "", "", 0, 0, ""}, {Severity::note, "", "", 0, 0, ""}}));
  EXPECT_TRUE(has_errors({{Severity::warning, "", "", 0, 0, ""}, {Severity::error, "", "", 0, 0, ""}}));
}

}  // namespace
}  // namespace metalloid
