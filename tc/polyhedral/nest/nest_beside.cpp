#include "tc/polyhedral/nest/nest_beside.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::polyhedral {
namespace {

struct Line {
  int number = 0;
  std::string text;

  bool operator==(const Line& other) const { return text == other.text; }
};

std::vector<Line> lines_of(const Nest& nest, const NestNames& names) {
  std::vector<Line> result;
  if (nest.launch) result.push_back({nest.launch->line, launch_text(*nest.launch)});
  for (std::size_t i = 0; i < nest.trunk.size(); ++i) result.push_back({nest.trunk[i].line, step_text(nest, names, i)});
  for (std::size_t i = 0; i < nest.branches.size(); ++i)
    result.push_back({nest.branches[i].line, branch_text(nest, names, i)});
  result.push_back({0, "the end"});
  return result;
}

}  // namespace

std::size_t common_lines(const Nest& a, const Nest& b, const NestNames& names) {
  const auto first = lines_of(a, names), second = lines_of(b, names);
  return static_cast<std::size_t>(std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first -
                                  first.begin());
}

void fail_beside(const Nest& nest, const Nest& nearest, const NestNames& names) {
  const auto common = common_lines(nest, nearest, names);
  const auto wanted = lines_of(nest, names), made = lines_of(nearest, names);
  const auto& line = wanted[std::min(common, wanted.size() - 1)];
  fail_nest(
      line.number, line.text, "order",
      str("nests of these loops that can be made have '", made[std::min(common, made.size() - 1)].text, "' here"));
}

}  // namespace tc::polyhedral
