#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Reading the texts of decisions (mapping.h, grid_mapping.h): a line a cluster, of parts with ", " between them, a part
/// of words.
namespace tc::polyhedral {

/// One part of a line, word by word. What does not fit is an OptionsError that shows the part.
class DecisionWords {
 public:
  explicit DecisionWords(const std::string& part);

  /// Whether all words are taken.
  bool at_end() const { return next_ == words_.size(); }
  /// The next word, which is taken; an error at the end.
  std::string word();
  /// Takes the next words if they are those of \p text, else none.
  bool take(const std::string& text);
  /// Takes the words of \p text, which have to come next.
  void expect(const std::string& text);
  /// A number behind \p prefix, for example 16 of "x16"; from \p least on.
  std::int64_t number(const std::string& prefix = "", std::int64_t least = 0);
  /// The same, of an int.
  int small_number(const std::string& prefix = "", int least = 0);
  /// Takes a number behind \p prefix into \p number if the next word is one, else nothing.
  bool take_number(const std::string& prefix, int& number);
  /// "8x48" as its numbers, each from \p least on.
  std::vector<std::int64_t> sizes(std::int64_t least);
  /// The name before a colon, "S1" of "S1:"; "" where the next word has none.
  std::string name_before_colon();
  /// An error unless all words are taken.
  void end() const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  std::int64_t to_number(const std::string& digits, std::int64_t least) const;

  std::string part_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// Calls \p read for each part of each line of \p text, with the number of the line, and \p begin before those of a line.
void read_decision(const std::string& text, const std::function<void(std::size_t line)>& begin,
                   const std::function<void(DecisionWords&)>& read);

}  // namespace tc::polyhedral
