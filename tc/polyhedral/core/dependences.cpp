#include "tc/polyhedral/core/dependences.h"

namespace tc::polyhedral {
namespace {

/// { S[i] -> S'[i'] }: pairs of instances that touch one element, the first in an access of \p first, the second of \p
/// second.
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

  /// Adds the conflicts of two accesses to \p kind, or to `relaxed`; \p same: of one statement, so in its iterators'
  /// order.
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

}  // namespace

Dependences compute_dependences(const Scop& scop) {
  MemoryDependences memory(scop);
  Dependences result;
  result.flow = memory.raw.coalesce();
  result.anti = memory.anti.coalesce();
  result.output = memory.output.unite(memory.relaxed).coalesce();
  result.validity = result.flow.unite(memory.anti).unite(memory.output).coalesce();
  result.coincidence = result.validity.unite(memory.relaxed).coalesce();
  return result;
}

}  // namespace tc::polyhedral
