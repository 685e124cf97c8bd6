#include "tc/polyhedral/core/at_sizes.h"

#include <algorithm>
#include <vector>

#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

/// { : } the parameters of \p scop that \p values names, at these.
isl::set fixed(const Scop& scop, const std::map<std::string, std::int64_t>& values) {
  std::vector<std::string> names, equalities;
  for (const auto& [name, value] : values) {
    names.push_back(size_parameter(name));
    equalities.push_back(str(size_parameter(name), " = ", value));
  }
  return isl::set(scop.ctx(), str("[", join(names), "] -> { : ", join(equalities, " and "), " }"));
}

void restrict(Access& access, const isl::set& sizes) { access.relation = access.relation.intersect_params(sizes); }

/// The values of \p member of \p cluster, an iterator of a statement of \p scop; as they are where it is none.
Interval member_at(const Scop& scop, const ClusterView& cluster, std::size_t member) {
  for (const auto& entry : cluster.statements)
    if (const auto iterator = entry.outer.at(member); iterator >= 0) {
      auto result = box(scop.statement(entry.id).domain).at(static_cast<std::size_t>(iterator));
      result.symbolic = cluster.members[member].symbolic;
      result.multiple = cluster.members[member].multiple;
      return result;
    }
  return cluster.members[member];
}

}  // namespace

ClusterAtSizes at_sizes(const Scop& scop, const ClusterView& cluster,
                        const std::map<std::string, std::int64_t>& values) {
  ClusterAtSizes result{scop, cluster};
  const auto sizes = fixed(scop, values);
  for (auto& statement : result.scop.statements) {
    statement.domain = statement.domain.intersect_params(sizes);
    restrict(statement.write, sizes);
    for (auto& read : statement.reads) restrict(read, sizes);
  }
  if (!scop.sizes.is_null()) result.scop.sizes = scop.sizes.intersect(sizes);
  for (auto& parameter : result.scop.parameters)
    for (const auto& [name, value] : values)
      if (parameter.name == size_parameter(name)) parameter.min = parameter.max = value;
  for (std::size_t m = 0; m < cluster.members.size(); ++m)
    if (cluster.members[m].symbolic) result.cluster.members[m] = member_at(result.scop, cluster, m);
  return result;
}

}  // namespace tc::polyhedral
