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

/// The pairs of \p pairs, from statement \p source to \p sink, in the order of the loops that both are in, by number; \p in_iteration
/// selects among the pairs in one iteration of all these loops.
template <typename InIteration>
isl::map in_loop_order(const isl::map& pairs, const Statement& source, const Statement& sink,
                       const InIteration& in_iteration) {
  isl::map same = pairs, result = isl::map::empty(pairs.space());
  for (std::size_t k = 0; k < common_loops(source, sink); ++k) {
    const int from = source.loops[k].iterator, to = sink.loops[k].iterator;
    result = result.unite(call(pairs.ctx(), isl_map_order_lt, same.copy(), isl_dim_in, from, isl_dim_out, to));
    same = call(pairs.ctx(), isl_map_equate, same.release(), isl_dim_in, from, isl_dim_out, to);
  }
  return result.unite(in_iteration(same));
}

/// The dependences through memory between all pairs of instances, whatever is written between them. A pair that another
/// write separates follows from the two pairs with it, but not when the order of that write is relaxed.
class MemoryDependences {
 public:
  explicit MemoryDependences(const Scop& scop)
      : scop_(scop), raw(isl::union_map::empty(scop.ctx())), anti(raw), output(raw), relaxed(raw) {
    for (std::size_t first = 0; first < scop.statements.size(); ++first)
      for (std::size_t second = 0; second < scop.statements.size(); ++second)
        if (second >= first || common_loops(scop.statements[first], scop.statements[second]) > 0) add(first, second);
  }

 private:
  const Scop& scop_;

  void add(std::size_t first, std::size_t second) {
    const auto &source = scop_.statements[first], &sink = scop_.statements[second];
    const auto ordered = [&](const isl::map& all) {
      return in_loop_order(all, source, sink, [&](const isl::map& pairs) {
        if (first == second) return in_iterator_order(pairs);
        return first < second ? pairs : isl::map::empty(pairs.space());
      });
    };
    add(first == second && source.accumulates ? relaxed : output, source.write, sink.write, ordered);
    for (const auto& read : sink.reads) add(raw, source.write, read, ordered);
    for (const auto& read : source.reads) add(anti, read, sink.write, ordered);
  }

  /// Adds the conflicts of two accesses, as \p ordered has them in the order of the program, to \p kind.
  template <typename Ordered>
  static void add(isl::union_map& kind, const Access& first, const Access& second, const Ordered& ordered) {
    if (range_name(first.relation) != range_name(second.relation)) return;
    const isl::map pairs = ordered(conflicts(first.relation, second.relation));
    if (!pairs.is_empty()) kind = kind.unite(pairs.to_union_map());
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
