#include "tc/autodiff/reverse/loop_subscripts.h"

#include <algorithm>

#include "tc/autodiff/terms/affine.h"

namespace tc::autodiff {

bool in_one_loop(const ForwardStatement& a, const ForwardStatement& b) {
  return !a.loops.empty() && !b.loops.empty() && a.loops[0].id == b.loops[0].id;
}

std::vector<FixedSubscript> loop_subscripts(const ForwardStatement& statement, const Version& version,
                                            const std::vector<ExprPtr>& subscripts) {
  std::vector<FixedSubscript> fixed;
  for (std::size_t k = 0; k < std::min(statement.loops.size(), version.loops.size()); ++k) {
    const auto& [id, dimension] = version.loops[k];
    if (statement.loops[k].id != id) break;
    Affine distance = read_affine(subscripts[dimension]);
    distance.add(read_affine(index_name(statement.loops[k].iterator)), -1);
    if (distance.is_constant()) fixed.push_back({dimension, statement.loops[k].iterator, distance.constant});
  }
  std::sort(fixed.begin(), fixed.end(), [](const auto& a, const auto& b) { return a.dimension < b.dimension; });
  return fixed;
}

}  // namespace tc::autodiff
