#include "tc/lang/syntax/diagnostics.h"

#include <algorithm>
#include <cctype>

#include "tc/base/plain_text.h"
#include "tc/base/str.h"

namespace tc::lang {
namespace {

struct Position {
  int line = 1, column = 1;
  std::size_t line_begin = 0, line_end = 0;
};

Position locate(std::string_view text, int offset) {
  const std::size_t at = std::min(static_cast<std::size_t>(std::max(offset, 0)), text.size());
  Position position;
  position.line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  position.line_begin = before == std::string_view::npos ? 0 : before + 1;
  position.line_end = std::min(text.find('\n', at), text.size());
  if (position.line_end > position.line_begin && text[position.line_end - 1] == '\r') --position.line_end;
  position.column = 1 + static_cast<int>(at - position.line_begin);
  return position;
}

bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Blanks as wide as \p text: tabs stay, one blank a code point.
std::string blanks(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!is_continuation_byte(c)) out += c == '\t' ? '\t' : ' ';
  return out;
}

struct Mark {
  SourceRange range;
  char sign;
  std::string label;
};

/// \p mark drawn under the line of the text that begins at \p position's line.
std::string underline(std::string_view text, const Position& position, const Mark& mark) {
  const std::string before =
      plain_text(text.substr(position.line_begin, static_cast<std::size_t>(position.column - 1)));
  const std::size_t begin = position.line_begin + static_cast<std::size_t>(position.column - 1);
  const std::size_t end =
      std::clamp(static_cast<std::size_t>(std::max(mark.range.end, 0)), begin, std::max(begin, position.line_end));
  const std::size_t width = blanks(plain_text(text.substr(begin, end - begin))).size();
  return blanks(before) + std::string(std::max<std::size_t>(width, 1), mark.sign) +
         (mark.label.empty() ? "" : " " + mark.label);
}

/// The source lines of \p marks, each once and with its marks below it.
std::string snippet(std::string_view text, const std::vector<Mark>& marks) {
  std::size_t gutter = 0;
  for (const auto& mark : marks) gutter = std::max(gutter, std::to_string(locate(text, mark.range.begin).line).size());
  const std::string pad(gutter, ' ');
  std::string out = str(" ", pad, " |\n");
  std::vector<int> drawn;
  for (const auto& mark : marks) {
    const Position position = locate(text, mark.range.begin);
    if (std::find(drawn.begin(), drawn.end(), position.line) != drawn.end()) continue;
    drawn.push_back(position.line);
    const std::string number = std::to_string(position.line);
    const auto line = plain_text(text.substr(position.line_begin, position.line_end - position.line_begin));
    out += str(" ", std::string(gutter - number.size(), ' '), number, " | ", line, "\n");
    for (const auto& other : marks) {
      const Position at = locate(text, other.range.begin);
      if (at.line == position.line) out += str(" ", pad, " | ", underline(text, at, other), "\n");
    }
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Levenshtein's distance with swaps of neighbours counted once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

Diagnostic render(const Report& report, std::string_view text, std::string_view name) {
  const Position position = locate(text, report.range.begin);
  std::vector<Mark> marks = {{report.range, '^', report.label}};
  for (const auto& label : report.also) marks.push_back({label.range, '-', label.text});
  const std::string lines = snippet(text, marks);
  const std::string pad(lines.find('|') - 1, ' ');
  std::string out = str(report.is_error ? "error" : "warning", "[", report.code, "]: ", report.message, "\n");
  out += str(pad, "--> ", plain_text(name), ":", position.line, ":", position.column, "\n", lines);
  if (!report.note.empty()) out += str(pad, " = note: ", report.note, "\n");
  if (!report.help.empty()) out += str(pad, " = help: ", report.help, "\n");
  return {report.code, position.line, position.column, report.message, out, report.is_error};
}

void Diagnostics::take(Diagnostic message) {
  auto& list = message.is_error ? errors_ : warnings_;
  const bool known =
      std::any_of(list.begin(), list.end(), [&](const Diagnostic& x) { return x.rendered == message.rendered; });
  if (!known && list.size() < max_errors) list.push_back(std::move(message));
}

void Diagnostics::add(const Report& report) {
  if ((report.is_error ? errors_ : warnings_).size() < max_errors) take(render(report, text_, name_));
}

void Diagnostics::append(const Diagnostics& other) {
  for (const auto& message : other.errors_) take(message);
  for (const auto& message : other.warnings_) take(message);
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  auto errors = errors_;
  std::stable_sort(errors.begin(), errors.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return errors;
}

std::string Diagnostics::full_text() const {
  std::string out;
  for (const auto& error : sorted()) out += (out.empty() ? "" : "\n") + error.rendered;
  if (full()) out += str("\nThere may be more errors: ", max_errors, " are shown at most.\n");
  return out;
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const auto& candidate : candidates) {
    if (candidate.empty() || candidate == name || candidate.size() > name.size() + limit) continue;
    const std::size_t distance = lower(candidate) == lower(name) ? 0 : edit_distance(name, candidate);
    if (distance >= best_distance || distance >= std::max(name.size(), candidate.size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace tc::lang
