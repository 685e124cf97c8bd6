#include "tc/polyhedral/nest/nest_line.h"

#include <algorithm>
#include <sstream>

namespace tc::polyhedral {

std::string nest_line(const std::string& text) {
  std::istringstream in(text);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    if (!result.empty()) result += '|';
    result += line.substr(begin);
  }
  std::replace(result.begin(), result.end(), ',', ';');
  return result;
}

std::string text_of_nest_line(const std::string& line) {
  auto result = line;
  std::replace(result.begin(), result.end(), '|', '\n');
  std::replace(result.begin(), result.end(), ';', ',');
  return result;
}

}  // namespace tc::polyhedral
