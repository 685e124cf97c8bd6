#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tc {

/// A line of a text about code, and the ids of the statements of the program that it is about.
struct MarkedLine {
  std::string text;
  std::set<std::string> statements = {};
};

/// The lines of \p text, about no statement.
inline std::vector<MarkedLine> unmarked_lines(const std::string& text) {
  std::vector<MarkedLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back({text.substr(begin, end - begin)});
    begin = end + 1;
  }
  return lines;
}

}  // namespace tc
