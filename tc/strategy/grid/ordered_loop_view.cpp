#include "tc/strategy/grid/ordered_loop_view.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/strategy/grid/promote_temporaries.h"

namespace tc::strategy {
namespace {

using polyhedral::NestSpace;
using polyhedral::Scop;
using polyhedral::Statement;

std::vector<int> ordered_iterators(const NestSpace& space, const std::string& id) {
  std::vector<int> result;
  for (const auto& band : space.bands)
    for (const auto& member : band.members)
      if (const int iterator = member.iterator_of(band, id); !member.coincident && iterator >= 0)
        result.push_back(iterator);
  return result;
}

/// The member with the most values, of those that all statements have.
int rows_of(const NestSpace& space) {
  int result = -1;
  for (std::size_t m = 0; m < space.members.size(); ++m) {
    const bool in_all = std::all_of(space.statements.begin(), space.statements.end(), [&](const auto& each) {
      return m < each.entry.outer.size() && each.entry.outer[m] >= 0;
    });
    const auto extent = space.members[m].extent();
    if (in_all && (result < 0 || extent >= space.members[static_cast<std::size_t>(result)].extent()))
      result = static_cast<int>(m);
  }
  return result;
}

int neighbours_of(const Scop& scop, const Statement& statement, int read) {
  const auto& access = statement.reads[static_cast<std::size_t>(read)];
  const auto& strides = scop.tensor(polyhedral::range_name(access.relation)).strides;
  const auto dimensions = polyhedral::copy_dimensions(statement, read);
  for (std::size_t d = 0; d < dimensions.size() && d < strides.size(); ++d)
    if (strides[d] == 1)
      for (const auto& [iterator, factor] : dimensions[d].terms)
        if (factor == 1) return iterator;
  return -1;
}

LoopOperand operand(const Scop& scop, const Statement& statement, int read,
                    const std::vector<std::string>& temporaries) {
  const auto& access = statement.reads[static_cast<std::size_t>(read)];
  const auto& name = polyhedral::range_name(access.relation);
  const bool is_own = contains(temporaries, name);
  LoopOperand result{.type = scop.tensor(name).type, .is_kept = access.exact && is_own};
  result.is_copied = access.exact && !is_own && !polyhedral::copy_dimensions(statement, read).empty();
  result.reads_always = scop.sizes.is_null() && statement.domain.is_subset(access.relation.domain());
  result.neighbours = neighbours_of(scop, statement, read);
  return result;
}

std::optional<LoopProduct> product(const Scop& scop, const NestSpace& space, int number, const LoopStatement& entry,
                                   const std::vector<std::string>& temporaries) {
  const auto& statement = scop.statement(space.statements[static_cast<std::size_t>(number)].entry.id);
  const bool adds = statement.accumulates && statement.op == ReductionOp::Sum && statement.reads.size() == 2;
  if (!adds || !statement.write.exact || entry.ordered.empty() || entry.own.size() < 2) return std::nullopt;
  std::vector<int> summed;
  for (int iterator : entry.own)
    if (space.is_reduced({number, iterator})) summed.push_back(iterator);
  if (summed.size() != 1) return std::nullopt;
  return LoopProduct{summed.front(),
                     {operand(scop, statement, 0, temporaries), operand(scop, statement, 1, temporaries)},
                     polyhedral::box(statement.domain)};
}

LoopStatement loop_statement(const Scop& scop, const NestSpace& space, int number,
                             const std::vector<std::string>& temporaries) {
  const auto& entry = space.statements[static_cast<std::size_t>(number)].entry;
  LoopStatement result{.ordered = ordered_iterators(space, entry.id)};
  for (const auto& inner : entry.inner)
    if (!contains(result.ordered, inner.iterator)) result.own.push_back(inner.iterator);
  result.product = product(scop, space, number, result, temporaries);
  for (int iterator : result.own)
    if (!result.product || iterator != result.product->steps) result.columns = iterator;
  return result;
}

/// The temporaries that \p cluster writes: others are operands that memory has.
std::vector<std::string> own_temporaries(const Scop& scop, const polyhedral::ClusterView& cluster) {
  auto result = temporaries_of(scop, cluster);
  std::erase_if(result, [&](const std::string& name) {
    return std::none_of(cluster.statements.begin(), cluster.statements.end(),
                        [&](const auto& entry) { return polyhedral::touches(scop.statement(entry.id).write, name); });
  });
  return result;
}

}  // namespace

std::optional<OrderedLoopView> find_ordered_loop(const Scop& scop, const polyhedral::ClusterView& cluster,
                                                 const NestSpace& space) {
  const bool is_ordered = std::any_of(space.bands.begin(), space.bands.end(), [](const auto& band) {
    return std::any_of(band.members.begin(), band.members.end(), [](const auto& one) { return !one.coincident; });
  });
  OrderedLoopView result{.rows = rows_of(space), .temporaries = own_temporaries(scop, cluster)};
  if (!is_ordered || result.rows < 0) return std::nullopt;
  for (std::size_t s = 0; s < space.statements.size(); ++s)
    result.statements.push_back(loop_statement(scop, space, static_cast<int>(s), result.temporaries));
  const bool has_product = std::any_of(result.statements.begin(), result.statements.end(),
                                       [](const auto& each) { return each.product.has_value(); });
  return has_product ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace tc::strategy
