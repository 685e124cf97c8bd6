#include "tc/polyhedral/nest/nest_text.h"

#include <charconv>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

const std::string headline = "nest of ";

/// Branches are separated from each other by lines, loops in a branch by two spaces.
const std::string between_loops = "  ";

class Printer {
 public:
  Printer(const Nest& nest, const NestNames& names) : nest_(nest), names_(names) {}

  std::string step(std::size_t number) const {
    return std::visit([&](const auto& what) { return print(what); }, nest_.trunk.at(number).what);
  }
  std::string branch(std::size_t number) const {
    const auto& branch = nest_.branches.at(number);
    std::vector<std::string> loops;
    for (const auto& loop : branch.loops) loops.push_back(print_loop(loop, static_cast<int>(number)));
    return branch.statement + ":" + (loops.empty() ? "" : " ") + join(loops, between_loops);
  }
  std::string all() const {
    std::vector<std::string> ids;
    for (const auto& branch : nest_.branches) ids.push_back(branch.statement);
    std::string result = headline + join(ids), indent = "  ";
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      result += str("\n", indent, step(i));
      if (std::holds_alternative<NestLoop>(nest_.trunk[i].what)) indent += "  ";
    }
    for (std::size_t i = 0; i < nest_.branches.size(); ++i) result += str("\n", indent, branch(i));
    return result;
  }

 private:
  std::string print(const NestLoop& loop) const { return print_loop(loop, -1); }
  std::string print(const NestKeep& keep) const { return "keep " + keep.tensor; }
  std::string print(const NestCopyLanes& copies) const {
    return str("copies along ", names_.name({-1, copies.member}, -1), ", ", copies.lanes, " lanes",
               copies.unrolled ? ", unrolled" : "");
  }
  std::string print(const NestCopy& copy) const {
    const auto& reader = names_.statements.at(static_cast<std::size_t>(copy.statement));
    auto result = str("copy ", reader.reads.at(static_cast<std::size_t>(copy.read)), " of ", reader.id, " in ",
                      copy.panel_last ? "panels" : "rows", " of ", copy.size, " ",
                      reader.iterators.at(static_cast<std::size_t>(copy.panel)));
    return copy.lanes > 0 ? str(result, ", ", copy.lanes, " lanes") : result;
  }

  std::string print_loop(const NestLoop& loop, int branch) const {
    const auto& digit = loop.digit;
    auto result = names_.name(digit.index, branch);
    if (digit.mod > 0) result += str("%", digit.mod);
    if (digit.step > 1) result += str("/", digit.step);
    switch (loop.place) {
      case NestPlace::Serial:
        break;
      case NestPlace::Unrolled:
        result += " unrolled";
        break;
      case NestPlace::Lanes:
        result += digit.mod == loop.lanes ? " lanes" : str(" in ", loop.lanes, " lanes");
        break;
      case NestPlace::Cores:
        result += " on cores";
        break;
      case NestPlace::Unit:
        result += loop.steps > 1 ? str(" in units of ", loop.steps, "x", loop.width) : str(" in units of ", loop.width);
        break;
    }
    if (loop.with_private_sums) result += " with private sums";
    if (loop.slides_along)
      result += str(" slides along ", names_.name(*loop.slides_along, branch), " by ", loop.slide_step);
    return result;
  }

  const Nest& nest_;
  const NestNames& names_;
};

/// One line, word by word. What does not fit is an OptionsError that shows the line.
class LineReader {
 public:
  LineReader(const std::string& line, int number, const NestNames& names)
      : line_(line), number_(number), names_(names) {
    std::istringstream in(line);
    for (std::string word; in >> word;) {
      const bool ends = word.size() > 1 && word.back() == ',';
      if (ends) word.pop_back();
      words_.push_back(word);
      if (ends) words_.emplace_back(",");
    }
  }

  bool at_end() const { return next_ == words_.size(); }
  const std::string& peek() const {
    static const std::string none;
    return at_end() ? none : words_[next_];
  }

  NestStep step() {
    NestStep result{.what = {}, .line = number_};
    if (take("copy"))
      result.what = copy();
    else if (take("keep"))
      result.what = NestKeep{word("a tensor")};
    else if (take("copies"))
      result.what = copy_lanes();
    else
      result.what = loop(-1);
    if (!at_end()) fail(str("'", peek(), "' means nothing here"));
    return result;
  }

  NestBranch branch(const std::string& id) {
    ++next_;
    NestBranch result{.statement = id, .line = number_};
    const int number = names_.position(id);
    if (number < 0) fail(str("there is no statement '", id, "' in this nest"));
    while (!at_end()) result.loops.push_back(loop(number));
    return result;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw OptionsError(
        str("line ", number_, " of the nest, '", line_.substr(line_.find_first_not_of(' ')), "': ", why));
  }

 private:
  bool take(const std::string& wanted) {
    if (peek() != wanted) return false;
    ++next_;
    return true;
  }
  void expect(const std::string& wanted) {
    if (!take(wanted)) fail(str("'", wanted, "' is missing", at_end() ? "" : " before '" + peek() + "'"));
  }
  std::string word(const char* what) {
    if (at_end()) fail(str(what, " is missing at the end"));
    return words_[next_++];
  }

  std::int64_t number_in(const std::string& text) const {
    std::int64_t result = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < 1 || result > INT32_MAX)
      fail(str("'", text, "' is no number from 1 to ", INT32_MAX));
    return result;
  }
  int small_number(const char* what) { return static_cast<int>(number_in(word(what))); }

  NestIndex index(const std::string& name, int branch) const {
    if (auto found = names_.find(name, branch)) return *found;
    fail(str("there is no index '", name, "' here; the band has ", join(names_.members)));
  }

  Digit digit(int branch) {
    auto text = word("a digit");
    auto slash = text.find('/'), percent = text.find('%');
    Digit result{index(text.substr(0, std::min(slash, percent)), branch)};
    if (percent != std::string::npos) result.mod = number_in(text.substr(percent + 1, slash - percent - 1));
    if (slash != std::string::npos) result.step = number_in(text.substr(slash + 1));
    return result;
  }

  NestLoop loop(int branch) {
    NestLoop result{.digit = digit(branch)};
    if (take("unrolled")) {
      result.place = NestPlace::Unrolled;
    } else if (take("lanes")) {
      result.place = NestPlace::Lanes;
      result.lanes = static_cast<int>(result.digit.mod);
      if (result.lanes == 0) fail("lanes of a whole index need their number: 'in 16 lanes'");
    } else if (take("on")) {
      expect("cores");
      result.place = NestPlace::Cores;
    } else if (take("in")) {
      take("units") ? unit(result) : lanes(result);
    }
    if (take("with")) {
      expect("private");
      expect("sums");
      result.with_private_sums = true;
    }
    if (take("slides")) slide(result, branch);
    return result;
  }

  void lanes(NestLoop& loop) {
    loop.place = NestPlace::Lanes;
    loop.lanes = small_number("a number of lanes");
    expect("lanes");
  }
  void unit(NestLoop& loop) {
    expect("of");
    auto size = word("a size");
    auto by = size.find('x');
    loop.place = NestPlace::Unit;
    loop.steps = by == std::string::npos ? 1 : static_cast<int>(number_in(size.substr(0, by)));
    loop.width = static_cast<int>(number_in(by == std::string::npos ? size : size.substr(by + 1)));
  }
  void slide(NestLoop& loop, int branch) {
    expect("along");
    loop.slides_along = index(word("an index"), branch);
    expect("by");
    loop.slide_step = small_number("a step");
  }

  NestCopy copy() {
    NestCopy result;
    auto read = word("a read");
    expect("of");
    auto id = word("a statement");
    result.statement = names_.position(id);
    if (result.statement < 0) fail(str("there is no statement '", id, "' in this nest"));
    const auto& reader = names_.statements[static_cast<std::size_t>(result.statement)];
    result.read = position(reader.reads, read, str("'", id, "' does not read '", read, "' but "));
    expect("in");
    result.panel_last = !take("rows");
    if (result.panel_last) expect("panels");
    expect("of");
    result.size = small_number("a size");
    result.panel = position(reader.iterators, word("an iterator"), str("'", id, "' has no such iterator but "));
    if (take(",")) {
      result.lanes = small_number("a number of lanes");
      expect("lanes");
    }
    return result;
  }

  int position(const std::vector<std::string>& known, const std::string& wanted, const std::string& otherwise) const {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i] == wanted) return static_cast<int>(i);
    fail(otherwise + join(known));
  }

  NestCopyLanes copy_lanes() {
    expect("along");
    auto along = index(word("an index"), -1);
    if (along.statement >= 0) fail("copies of what is kept run along a member of the band");
    expect(",");
    NestCopyLanes result{along.number, small_number("a number of lanes")};
    expect("lanes");
    result.unrolled = take(",");
    if (result.unrolled) expect("unrolled");
    return result;
  }

  std::string line_;
  int number_;
  const NestNames& names_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

std::vector<std::string> statements_in(const std::string& headline_text) {
  std::vector<std::string> result;
  std::istringstream in(headline_text.substr(headline.size()));
  for (std::string word; in >> word;) {
    if (word.back() == ',') word.pop_back();
    result.push_back(word);
  }
  return result;
}

}  // namespace

std::string to_string(const Nest& nest, const NestNames& names) { return Printer(nest, names).all(); }
std::string step_text(const Nest& nest, const NestNames& names, std::size_t step) {
  return Printer(nest, names).step(step);
}
std::string branch_text(const Nest& nest, const NestNames& names, std::size_t branch) {
  return Printer(nest, names).branch(branch);
}

Nest parse_nest(const std::string& text, const NestNames& names, int first_line) {
  std::vector<std::string> known;
  for (const auto& statement : names.statements) known.push_back(statement.id);
  Nest result;
  std::istringstream in(text);
  int number = first_line - 1;
  for (std::string line; std::getline(in, line);) {
    ++number;
    LineReader reader(line, number, names);
    if (reader.at_end()) continue;
    if (line.starts_with(headline)) {
      if (statements_in(line) != known) reader.fail(str("this cluster has the statements ", join(known)));
    } else if (reader.peek().back() == ':') {
      result.branches.push_back(reader.branch(reader.peek().substr(0, reader.peek().size() - 1)));
    } else if (!result.branches.empty()) {
      reader.fail("what all statements share stands above the first of them");
    } else {
      result.trunk.push_back(reader.step());
    }
  }
  return result;
}

std::vector<NestSection> nest_sections(const std::string& text) {
  std::vector<NestSection> result;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with(headline))
      result.push_back({statements_in(line), line, number});
    else if (!result.empty())
      result.back().text += "\n" + line;
    else if (line.find_first_not_of(' ') != std::string::npos)
      throw OptionsError(
          str("line ", number, " of the nest, '", line, "': a nest begins with 'nest of ' and its statements"));
  }
  return result;
}

}  // namespace tc::polyhedral
