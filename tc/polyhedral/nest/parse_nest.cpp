#include <charconv>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::polyhedral {
namespace {

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
    static const auto& none = *new std::string;
    return at_end() ? none : words_[next_];
  }

  NestStep step() {
    NestStep result{.what = {}, .line = number_};
    if (take("copy"))
      copy(result);
    else if (take("keep"))
      result.what = keep();
    else if (take("separate"))
      result.what = separate();
    else if (take("added"))
      result.what = added();
    else if (take("copies"))
      result.what = copy_lanes();
    else
      result.what = loop(-1);
    if (!at_end()) fail(str("'", peek(), "' means nothing here"));
    return result;
  }

  /// A line that begins as launch_text() does.
  bool is_launch() const { return peek() == "blocks" && words_.size() > 1 && words_[1] == "of"; }
  NestLaunch launch() {
    next_ += 2;
    NestLaunch result{.line = number_};
    result.block = extents();
    expect("threads");
    while (take(",")) {
      if (take("shared")) {
        expect("bytes");
        result.shared_bytes = number("a number of bytes", 0);
      } else if (take("thread")) {
        expect("elements");
        result.thread_elements = number("a number of elements", 0);
      } else {
        for (const auto* wanted : {"blocks", "per", "multiprocessor"}) expect(wanted);
        result.blocks_per_multiprocessor = small_number("a number of blocks");
      }
    }
    if (!at_end()) fail(str("'", peek(), "' means nothing here"));
    return result;
  }

  NestBranch branch(const std::string& id) {
    ++next_;
    NestBranch result{.statement = id, .line = number_};
    const int number = names_.position(id);
    if (number < 0) fail(str("there is no statement '", id, "' in this nest"));
    while (!at_end() && peek() != "by") result.loops.push_back(loop(number));
    if (take("by")) {
      expect("unit");
      result.unit = word("a unit");
      if (!at_end()) fail(str("'", peek(), "' stands behind the unit, which is the last word"));
    }
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

  std::int64_t number_in(const std::string& text, std::int64_t least = 1) const {
    std::int64_t result = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < least || result > INT32_MAX)
      fail(str("'", text, "' is no number from ", least, " to ", INT32_MAX));
    return result;
  }
  std::int64_t number(const char* what, std::int64_t least = 1) { return number_in(word(what), least); }
  int small_number(const char* what) { return static_cast<int>(number_in(word(what))); }

  NestIndex index(const std::string& name, int branch) const {
    if (auto found = names_.find(name, branch)) return *found;
    fail(str("there is no index '", name, "' here; the band has ", join(names_.members)));
  }

  /// "16x8" as its numbers, 1 where there are none.
  std::array<std::int64_t, 3> extents() {
    std::array<std::int64_t, 3> result = {1, 1, 1};
    auto text = word("a number of threads");
    for (auto& extent : result) {
      auto by = text.find('x');
      extent = number_in(text.substr(0, by));
      if (by == std::string::npos) return result;
      text = text.substr(by + 1);
    }
    fail("a block has three dimensions");
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
      on(result);
    } else if (take("in")) {
      take("units") ? unit(result) : lanes(result);
    }
    if (take("with")) take("copies") ? copies(result) : private_sums(result);
    if (take("slides")) slide(result, branch);
    return result;
  }

  int axis(char name) const {
    if (name < 'x' || name > 'z') fail(str("'", name, "' is none of x, y, z"));
    return name - 'x';
  }
  /// What stands behind "on".
  void on(NestLoop& loop) {
    auto place = word("a place");
    if (place == "cores") return void(loop.place = NestPlace::Cores);
    if (place == "threads") {
      loop.place = NestPlace::Threads;
      if (take("beside")) loop.beside = number("a number of threads");
      return;
    }
    const auto dot = place.find('.');
    const auto of = place.substr(0, dot);
    if (dot == std::string::npos || dot + 2 != place.size() || (of != "grid" && of != "thread"))
      fail(str("'", place, "' is no place, as 'cores', 'grid.x', 'thread.x' and 'threads' are"));
    loop.place = of == "grid" ? NestPlace::Grid : NestPlace::Thread;
    loop.dimension = axis(place.back());
    if (of == "grid" && take("of")) loop.blocks = number("a number of blocks");
  }
  void lanes(NestLoop& loop) {
    loop.place = NestPlace::Lanes;
    loop.lanes = small_number("a number of lanes");
    expect("lanes");
  }
  void private_sums(NestLoop& loop) {
    expect("private");
    expect("sums");
    loop.with_private_sums = true;
  }
  void copies(NestLoop& loop) {
    loop.slots = 1;
    if (!take("in")) return;
    loop.slots = small_number("a number of slots");
    expect("slots");
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

  NestKeep keep() {
    const bool is_temporary = take("temporary");
    return {names_.tensor(word("a tensor")), is_temporary};
  }
  NestSeparate separate() {
    expect("full");
    expect("tiles");
    return {};
  }
  NestAdded added() {
    NestAdded result;
    expect("statements");
    do {
      if (take("points")) {
        expect("innermost");
        result.points_innermost = true;
      } else if (take("in")) {
        expect("lanes");
        result.in_lanes = true;
      } else {
        expect("unrolled");
        result.unrolled = true;
      }
    } while (take(","));
    return result;
  }

  void copy(NestStep& step) {
    auto read = word("a read");
    expect("of");
    auto id = word("a statement");
    const int number = names_.position(id);
    if (number < 0) fail(str("there is no statement '", id, "' in this nest"));
    const auto& reader = names_.statements[static_cast<std::size_t>(number)];
    const int which = position(reader.reads, read, str("'", id, "' does not read '", read, "' but "));
    if (take("to"))
      step.what = shared_copy(reader, number, which);
    else
      step.what = dense_copy(reader, number, which);
  }
  int iterator_of(const NestNames::OfStatement& reader) {
    return position(reader.iterators, word("an iterator"), str("'", reader.id, "' has no such iterator but "));
  }
  NestCopy dense_copy(const NestNames::OfStatement& reader, int statement, int read) {
    NestCopy result{.statement = statement, .read = read};
    expect("in");
    result.panel_last = !take("rows");
    if (result.panel_last) expect("panels");
    expect("of");
    result.size = small_number("a size");
    result.panel = iterator_of(reader);
    if (take(",")) {
      result.lanes = small_number("a number of lanes");
      expect("lanes");
    }
    return result;
  }
  NestSharedCopy shared_copy(const NestNames::OfStatement& reader, int statement, int read) {
    NestSharedCopy result{.statement = statement, .read = read};
    expect("shared");
    expect("memory");
    if (take("along")) result.contiguous = iterator_of(reader);
    while (take(",")) {
      if (take("asynchronous")) {
        result.asynchronous = true;
        continue;
      }
      auto count = number("a number, or 'asynchronous',");
      if (take("beside")) {
        result.beside = count;
        continue;
      }
      result.vector = count;
      expect("of");
      result.run_along = iterator_of(reader);
      expect("at");
      expect("once");
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

/// The first line of a nest without its end about strips.
std::string without_strips(const std::string& first_line_text) {
  return first_line_text.substr(0, first_line_text.find(nest_around));
}

std::vector<std::string> statements_in(const std::string& first_line_text) {
  std::vector<std::string> result;
  std::istringstream in(without_strips(first_line_text).substr(nest_headline.size()));
  for (std::string word; in >> word;) {
    if (word.back() == ',') word.pop_back();
    result.push_back(word);
  }
  return result;
}

}  // namespace

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
    if (line.starts_with(nest_headline)) {
      if (statements_in(line) != known) reader.fail(str("this cluster has the statements ", join(known)));
      const auto around = line.substr(without_strips(line).size());
      if (!around.empty() && around != around_text(names))
        reader.fail(str("a nest does not change strips; this line ends with '", join(known), around_text(names), "'"));
    } else if (reader.is_launch()) {
      if (result.launch) reader.fail("a nest says only once what its kernel is launched with");
      result.launch = reader.launch();
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
    if (line.starts_with(nest_headline))
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
