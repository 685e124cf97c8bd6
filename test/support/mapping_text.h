#pragma once

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// Texts of decisions, and of what is made of them, for tests of choices.
namespace tc::polyhedral {

/// \p text of a mapping without what follows from the rest of it on one machine: numbers of members, lanes of copies
/// and where they run, bytes of buffers, limits of a kernel.
inline std::string essentials(const std::string& text) {
  static const std::regex details(
      "(, copies along [0-9]+ x[0-9]+|buffers [0-9]+\n|, thread elements [0-9]+|, shared bytes [0-9]+"
      "|, blocks per multiprocessor [0-9]+|, others:[ a-z]*)");
  static const std::regex lanes("(pack [^,\n]*) lanes [0-9]+");
  static const std::regex members(", members [0-9]+|members [0-9]+, "), only_members("members [0-9]+\n");
  static const std::regex runs("( along i[0-9]+) run i[0-9]+( vector [0-9]+)");
  auto result = std::regex_replace(std::regex_replace(text, details, ""), lanes, "$1");
  result = std::regex_replace(result, runs, "$1$2");
  return std::regex_replace(std::regex_replace(result, members, ""), only_members, "serial\n");
}

/// The C of an AST, so that the same loops have the same text. Iterators are numbered from the outermost loop on, and in accesses as they
/// come, because bands of one iteration, which are no loops, count in their names; the mark of a register tile that such a band
/// stands for is left out.
inline std::string comparable(const std::string& code) {
  static const std::regex iterator("\\bc[0-9]+\\b"), loop("for \\(int (c[0-9]+) ");
  std::istringstream in(std::regex_replace(code, std::regex("// register\n *(?!for| )"), ""));
  std::vector<std::pair<std::size_t, std::string>> loops;  // indentation and iterator of those around a line
  std::string result;
  for (std::string line; std::getline(in, line);) {
    const auto indentation = line.find_first_not_of(' ');
    while (!loops.empty() && loops.back().first >= indentation) loops.pop_back();
    std::smatch begun;
    if (std::regex_search(line, begun, loop)) loops.emplace_back(indentation, begun[1]);
    auto names = loops;
    auto end = line.cbegin();
    for (std::sregex_iterator found(line.begin(), line.end(), iterator), none; found != none; ++found) {
      const auto named = [&](const auto& each) { return each.second == found->str(); };
      auto number = std::find_if(names.begin(), names.end(), named) - names.begin();
      if (number == std::ssize(names)) names.emplace_back(0, found->str());
      result += std::string(end, (*found)[0].first) + "c" + std::to_string(number);
      end = (*found)[0].second;
    }
    result += std::string(end, line.cend()) + "\n";
  }
  return result;
}

}  // namespace tc::polyhedral
