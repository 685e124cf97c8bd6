#pragma once

#include <regex>
#include <string>

/// Texts of decisions for tests of choices.
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

}  // namespace tc::polyhedral
