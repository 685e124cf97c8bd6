#include "tc/polyhedral/dependences.h"

#include <set>

namespace tc::polyhedral {
namespace {

/// { S[i] -> S'[i'] }: pairs of instances that touch one element, the first in an access of \p first, the second of \p second.
isl::map conflicts(const isl::map& first, const isl::map& second) { return first.apply_range(second.reverse()); }

/// The pairs of \p pairs : S[i] -> S[i'] in the order of the iterators.
isl::map in_iterator_order(const isl::map& pairs) {
  return pairs.intersect(call(pairs.ctx(), isl_map_lex_lt, pairs.space().domain().release()));
}

/// The dependences through memory between all pairs of instances, whatever is written between them. A pair that another
/// write separates follows from the two pairs with it, but not when the order of that write is relaxed.
class MemoryDependences {
 public:
  explicit MemoryDependences(const Scop& scop)
      : scop_(scop), raw(isl::union_map::empty(scop.ctx())), anti(raw), output(raw), relaxed(raw) {
    for (std::size_t first = 0; first < scop.statements.size(); ++first)
      for (std::size_t second = first; second < scop.statements.size(); ++second) add(first, second);
  }

 private:
  const Scop& scop_;

  void add(std::size_t first, std::size_t second) {
    const auto &source = scop_.statements[first], &sink = scop_.statements[second];
    bool same = first == second;
    add(output, source.write, sink.write, same && !source.accumulates, same && source.accumulates);
    for (const auto& read : sink.reads) add(raw, source.write, read, same, false);
    for (const auto& read : source.reads) add(anti, read, sink.write, same, false);
  }

  /// Adds the conflicts of two accesses to \p kind, or to `relaxed`; \p same: of one statement, so in its iterators' order.
  void add(isl::union_map& kind, const Access& first, const Access& second, bool same, bool accumulator) {
    if (range_name(first.relation) != range_name(second.relation)) return;
    auto pairs = conflicts(first.relation, second.relation);
    if (same || accumulator) pairs = in_iterator_order(pairs);
    auto& target = accumulator ? relaxed : kind;
    if (!pairs.is_empty()) target = target.unite(pairs.to_union_map());
  }

 public:
  isl::union_map raw, anti, output;
  isl::union_map relaxed;  ///< among the instances of one accumulating statement that write one element
};

/// The tensors whose elements are written at most once: by one statement that does not accumulate, injectively.
std::set<std::string> written_once(const Scop& scop) {
  std::set<std::string> once, more;
  for (const auto& statement : scop.statements) {
    auto name = range_name(statement.write.relation);
    bool first = once.insert(name).second;
    if (!first || statement.accumulates || !statement.write.relation.is_injective()) more.insert(name);
  }
  for (const auto& name : more) once.erase(name);
  return once;
}

/// The maps of \p relations whose range is no tensor of \p names.
isl::union_map outside(const isl::union_map& relations, const std::set<std::string>& names) {
  auto result = isl::union_map::empty(relations.ctx());
  for (const auto& map : elements(relations.map_list()))
    if (!names.count(range_name(map))) result = result.unite(map.to_union_map());
  return result;
}

/// Last writer -> reader of every element, accumulators included, for the accesses to tensors outside \p excluded.
isl::union_map last_writers(const Scop& scop, const std::set<std::string>& excluded) {
  auto writes = outside(scop.writes(), excluded);
  if (writes.is_empty()) return writes;
  auto info = isl::union_access_info(outside(scop.reads(), excluded)).set_must_source(writes);
  return info.set_schedule(program_order(scop)).compute_flow().must_dependence();
}

/// The pairs of \p raw through tensors of \p names.
isl::union_map through(const Scop& scop, const std::set<std::string>& names) {
  auto result = isl::union_map::empty(scop.ctx());
  for (std::size_t first = 0; first < scop.statements.size(); ++first) {
    const auto& write = scop.statements[first].write.relation;
    if (!names.count(range_name(write))) continue;
    for (std::size_t second = first; second < scop.statements.size(); ++second)
      for (const auto& read : scop.statements[second].reads) {
        if (range_name(read.relation) != range_name(write)) continue;
        auto pairs = conflicts(write, read.relation);
        if (first == second) pairs = in_iterator_order(pairs);
        result = result.unite(pairs.to_union_map());
      }
  }
  return result;
}

}  // namespace

Dependences compute_dependences(const Scop& scop) {
  MemoryDependences memory(scop);
  auto once = written_once(scop);
  Dependences result;
  result.flow = through(scop, once).unite(last_writers(scop, once)).coalesce();
  result.anti = memory.anti.coalesce();
  result.output = memory.output.unite(memory.relaxed).coalesce();
  result.validity = memory.raw.unite(memory.anti).unite(memory.output).coalesce();
  result.coincidence = result.validity.unite(memory.relaxed).coalesce();
  return result;
}

}  // namespace tc::polyhedral
