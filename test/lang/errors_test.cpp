#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"

/// Every file of errors/ is a program that is rejected.
///
/// A file without a .expected beside it says in comments which messages it gives, each on the line of its place:
///   # error: CODE@COLUMN words of the message >> words of the note or help          (or `# warning:`)
/// COLUMN+1 says that the place is the next line's. No other messages may come.
/// A file named rendered_*.tc is compared with the whole text of its .expected; TC_BLESS=1 rewrites that.
namespace tc::lang {
namespace {

namespace fs = std::filesystem;

const fs::path directory = fs::path(TC_SOURCE_DIR) / "test/lang/errors";

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<Diagnostic> messages_of(const std::string& text, const std::string& name, std::string& what) {
  std::vector<Diagnostic> result;
  try {
    check(parse(text, name), &result);
  } catch (const Error& error) {
    what = error.what();
    result.insert(result.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
  return result;
}

struct Expectation {
  bool is_error;
  std::string code, words, help;
  int line, column;
};

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// `CODE@COLUMN[+1] words [>> words]`, on \p line.
Expectation parse_expectation(bool is_error, const std::string& text, int line) {
  Expectation result{is_error, text.substr(0, 5), "", "", line, 0};
  std::istringstream in(text.substr(6));
  in >> result.column;
  if (in.peek() == '+') {
    in.get();
    int lines = 0;
    in >> lines;
    result.line += lines;
  }
  std::string rest;
  std::getline(in, rest);
  const auto arrow = rest.find(">>");
  result.words = trim(rest.substr(0, arrow));
  if (arrow != std::string::npos) result.help = trim(rest.substr(arrow + 2));
  return result;
}

std::vector<Expectation> expectations_of(const std::string& text) {
  std::vector<Expectation> result;
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    for (const std::string kind : {"# error: ", "# warning: "}) {
      for (auto at = line.find(kind); at != std::string::npos; at = line.find(kind, at + 1)) {
        const std::string body = line.substr(at + kind.size());
        result.push_back(parse_expectation(kind == "# error: ", trim(body.substr(0, body.find(" # "))), number));
      }
    }
  }
  return result;
}

/// \p rendered without the lines of the text, which hold the expectations.
std::string without_source(const std::string& rendered) {
  std::istringstream in(rendered);
  std::string line, result;
  while (std::getline(in, line))
    if (line.find("# error: ") == std::string::npos && line.find("# warning: ") == std::string::npos)
      result += line + "\n";
  return result;
}

bool matches(const Expectation& expected, const Diagnostic& found) {
  return expected.is_error == found.is_error && expected.code == found.code && expected.line == found.line &&
         expected.column == found.column && found.message.find(expected.words) != std::string::npos &&
         without_source(found.rendered).find(expected.help) != std::string::npos;
}

std::vector<fs::path> files(bool rendered) {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".tc" && (entry.path().filename().string().rfind("rendered_", 0) == 0) == rendered)
      result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// The expectations of one text against the messages it gives.
void compare(const std::string& text, const std::string& name) {
  std::string what;
  auto found = messages_of(text, name, what);
  for (const auto& expected : expectations_of(text)) {
    const auto match =
        std::find_if(found.begin(), found.end(), [&](const Diagnostic& d) { return matches(expected, d); });
    if (match != found.end())
      found.erase(match);
    else
      ADD_FAILURE() << name << ":" << expected.line << ":" << expected.column << ": no " << expected.code << " '"
                    << expected.words << "' >> '" << expected.help << "'";
  }
  for (const auto& rest : found) ADD_FAILURE() << "not expected: " << rest.rendered;
}

TEST(Errors, TextAndPlace) {
  ASSERT_FALSE(files(false).empty());
  for (const auto& path : files(false)) {
    const std::string text = read(path);
    ASSERT_FALSE(expectations_of(text).empty()) << path;
    compare(text, path.filename().string());
  }
}

TEST(Errors, Rendered) {
  ASSERT_FALSE(files(true).empty());
  for (const auto& path : files(true)) {
    std::string what;
    messages_of(read(path), path.filename().string(), what);
    fs::path golden = path;
    golden.replace_extension(".expected");
    if (std::getenv("TC_BLESS")) std::ofstream(golden) << what;
    EXPECT_EQ(what, read(golden)) << "run with TC_BLESS=1 to accept";
  }
}

}  // namespace
}  // namespace tc::lang
