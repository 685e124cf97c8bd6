#include "tc/polyhedral/nest/nest_space.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/copy_dimensions.h"

namespace tc::polyhedral {

int NestSpace::position(const std::string& id) const {
  for (std::size_t s = 0; s < statements.size(); ++s)
    if (statements[s].entry.id == id) return static_cast<int>(s);
  return -1;
}

int NestSpace::iterator(const NestIndex& index, int statement) const {
  if (index.statement >= 0) return index.statement == statement ? index.number : -1;
  return statements[static_cast<std::size_t>(statement)].entry.outer[static_cast<std::size_t>(index.number)];
}

bool NestSpace::is_reduced(const NestIndex& index) const {
  if (index.statement < 0) return false;
  const auto& statement = statements.at(static_cast<std::size_t>(index.statement));
  return statement.accumulates && !contains(statement.kept, index.number);
}

bool NestSpace::has_ordered_loop() const {
  return std::any_of(bands.begin(), bands.end(), [](const SharedBand& band) {
    return std::any_of(band.members.begin(), band.members.end(), [](const auto& member) { return !member.coincident; });
  });
}

const SharedBand* NestSpace::ordered_band(int statement, int iterator) const {
  const auto& id = statements.at(static_cast<std::size_t>(statement)).entry.id;
  for (const auto& band : bands)
    for (const auto& member : band.members)
      if (!member.coincident && iterator >= 0 && member.iterator_of(band, id) == iterator) return &band;
  return nullptr;
}

bool NestSpace::writes_one_in_shared_loops(int statement) const {
  const auto& known = statements.at(static_cast<std::size_t>(statement));
  const auto is_shared = [&](int iterator) {
    return contains(known.entry.outer, iterator) ||
           std::any_of(bands.begin(), bands.end(), [&](const SharedBand& band) {
             return std::any_of(band.members.begin(), band.members.end(), [&](const auto& member) {
               return member.iterator_of(band, known.entry.id) == iterator;
             });
           });
  };
  return std::all_of(known.kept.begin(), known.kept.end(), [&](int iterator) {
    return known.extents[static_cast<std::size_t>(iterator)] == 1 || is_shared(iterator);
  });
}

std::int64_t NestSpace::extent(const NestIndex& index) const {
  const auto number = static_cast<std::size_t>(index.number);
  return index.statement < 0 ? members.at(number).extent()
                             : statements.at(static_cast<std::size_t>(index.statement)).extents.at(number);
}

NestSpace nest_space(const Scop& scop, const ClusterView& cluster) {
  NestSpace result{.members = cluster.members};
  for (const auto& entry : cluster.statements) {
    const auto& statement = scop.statement(entry.id);
    NestSpace::Statement known{.entry = entry, .accumulates = statement.accumulates};
    for (const auto& range : box(statement.domain)) known.extents.push_back(range.extent());
    result.statements.push_back(std::move(known));
  }
  return result;
}

NestSpace kernel_nest_space(const Scop& scop, const ClusterView& cluster) {
  auto result = nest_space(scop, cluster);
  result.bands = shared_bands(scop, cluster);
  for (auto& known : result.statements) {
    const auto& statement = scop.statement(known.entry.id);
    known.kept = kept_dimensions(statement);
    for (std::size_t read = 0; read < statement.reads.size(); ++read) {
      auto& iterators = known.copied.emplace_back();
      for (const auto& dimension : copy_dimensions(statement, static_cast<int>(read)))
        for (const auto& term : dimension.terms) iterators.push_back(term.first);
    }
  }
  return result;
}

}  // namespace tc::polyhedral
