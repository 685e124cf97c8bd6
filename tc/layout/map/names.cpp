#include "tc/layout/map/names.h"

#include <algorithm>
#include <map>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::layout {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

struct Block {
  char letter = 0;
  std::int64_t size = 1;
};
/// A name taken apart.
struct NameParts {
  std::string outer;          ///< letters, upper case
  std::vector<Block> blocks;  ///< in the order of the name
};

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
  throw OptionsError(str("the layout name '", name, "': ", reason));
}

NameParts take_apart(std::string_view name) {
  NameParts parts;
  std::size_t at = 0;
  for (; at < name.size() && is_letter(name[at]); ++at) parts.outer += upper(name[at]);
  while (at < name.size()) {
    Block block{0, 0};
    for (; at < name.size() && is_digit(name[at]) && block.size < (1 << 20); ++at)
      block.size = 10 * block.size + (name[at] - '0');
    if (block.size < 1 || at >= name.size() || !is_letter(name[at]))
      refuse(name, "a block is a number and the letter of a dimension, as in NCHW16c");
    block.letter = upper(name[at++]);
    parts.blocks.push_back(block);
  }
  return parts;
}

/// The letters of \p outer in the order of the tensor's dimensions.
std::string order_of(std::string_view name, const std::string& outer, std::string_view dims) {
  std::string sorted = outer;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) refuse(name, "a dimension is named twice");
  std::string known;
  if (!dims.empty()) {
    for (const char c : dims) known += upper(c);
  } else {
    const std::string all = outer.find_first_of("OIG") != std::string::npos ? "GOIDHW" : "NCDHW";
    for (const char c : all)
      if (outer.find(c) != std::string::npos) known += c;
  }
  std::string sorted_known = known;
  std::sort(sorted_known.begin(), sorted_known.end());
  if (sorted_known != sorted)
    refuse(name, dims.empty() ? "dimensions are of N C D H W, or of G O I D H W; give the order of others as 'dims'"
                              : str("its dimensions are not those of '", dims, "'"));
  return known;
}

}  // namespace

bool is_layout_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

Layout named_layout(std::string_view name, std::string_view dims) {
  const NameParts parts = take_apart(name);
  const std::string order = order_of(name, parts.outer, dims);
  std::map<char, std::vector<std::int64_t>> factors;
  for (const auto& block : parts.blocks) {
    if (order.find(block.letter) == std::string::npos) refuse(name, str("there is no dimension ", block.letter));
    factors[block.letter].push_back(block.size);
  }
  Layout layout;
  std::map<char, std::size_t> first;  // the place of a letter's outermost dimension behind the splits
  std::size_t place = 0;
  for (const char letter : order) {
    first[letter] = place;
    if (const auto blocked = factors.find(letter); blocked != factors.end())
      layout = layout.split(place, blocked->second);
    place += 1 + (factors.count(letter) ? factors.at(letter).size() : 0);
  }
  std::vector<std::size_t> wanted;
  for (const char letter : parts.outer) wanted.push_back(first.at(letter));
  std::map<char, std::size_t> given;
  for (const auto& block : parts.blocks) wanted.push_back(first.at(block.letter) + ++given[block.letter]);
  return std::is_sorted(wanted.begin(), wanted.end()) ? layout : layout.reorder(wanted);
}

}  // namespace tc::layout
