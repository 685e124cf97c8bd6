#include "tc/polyhedral/map/decision_text.h"

#include <charconv>
#include <limits>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> result;
  for (std::size_t at = 0;;) {
    auto end = text.find(separator, at);
    result.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return result;
    at = end + separator.size();
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

}  // namespace

DecisionWords::DecisionWords(const std::string& part) : words_(words_of(part)) { part_ = join(words_, " "); }

std::string DecisionWords::word() {
  if (at_end()) fail("it ends too early");
  return words_[next_++];
}

bool DecisionWords::take(const std::string& text) {
  auto wanted = words_of(text);
  if (words_.size() - next_ < wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (words_[next_ + i] != wanted[i]) return false;
  next_ += wanted.size();
  return true;
}

void DecisionWords::expect(const std::string& text) {
  if (!take(text)) fail(str("'", text, "' is missing"));
}

std::int64_t DecisionWords::to_number(const std::string& digits, std::int64_t least) const {
  std::int64_t result = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error != std::errc() || end != digits.data() + digits.size()) fail(str("'", digits, "' is no number"));
  if (result < least) fail(str(result, " is less than ", least));
  return result;
}

std::int64_t DecisionWords::number(const std::string& prefix, std::int64_t least) {
  auto text = word();
  if (text.compare(0, prefix.size(), prefix) != 0) fail(str("'", text, "' does not start with '", prefix, "'"));
  return to_number(text.substr(prefix.size()), least);
}

int DecisionWords::small_number(const std::string& prefix, int least) {
  auto result = number(prefix, least);
  if (result > std::numeric_limits<int>::max()) fail(str(result, " is too large"));
  return static_cast<int>(result);
}

bool DecisionWords::take_number(const std::string& prefix, int& number) {
  if (at_end() || words_[next_].size() == prefix.size() || words_[next_].rfind(prefix, 0) != 0) return false;
  const auto digits = words_[next_].substr(prefix.size());
  if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
  number = small_number(prefix);
  return true;
}

std::vector<std::int64_t> DecisionWords::sizes(std::int64_t least) {
  std::vector<std::int64_t> result;
  for (const auto& digits : split(word(), "x")) result.push_back(to_number(digits, least));
  return result;
}

std::string DecisionWords::name_before_colon() {
  if (at_end() || words_[next_].size() < 2 || words_[next_].back() != ':') return "";
  auto name = words_[next_++];
  name.pop_back();
  return name;
}

void DecisionWords::end() const {
  if (!at_end()) fail(str("'", words_[next_], "' means nothing here"));
}

void DecisionWords::fail(const std::string& why) const {
  throw OptionsError(str("'", part_, "' is no part of a mapping: ", why));
}

void read_decision(const std::string& text, const std::function<void(std::size_t line)>& begin,
                   const std::function<void(DecisionWords&)>& read) {
  std::size_t number = 0;
  for (const auto& line : split(text, "\n")) {
    if (words_of(line).empty()) continue;
    begin(number++);
    for (const auto& part : split(line, ",")) {
      DecisionWords words(part);
      read(words);
      words.end();
    }
  }
}

}  // namespace tc::polyhedral
