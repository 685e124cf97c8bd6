#pragma once

#include "tc/polyhedral/core/isl.h"

/// Relations between instances: { first -> second }.
namespace tc::polyhedral {

/// Those of \p pairs from \p domain to \p range.
inline isl::union_map within(const isl::union_map& pairs, const isl::union_set& domain, const isl::union_set& range) {
  return pairs.intersect_domain(domain).intersect_range(range);
}

/// Those of \p pairs whose two sides \p function maps to the same place.
inline isl::union_map at_equal(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  return call(pairs.ctx(), isl_union_map_eq_at_multi_union_pw_aff, pairs.copy(), function.copy());
}

/// The pairs of instances of which the time of the one in \p first is lexicographically before that of the other in \p second.
inline isl::union_map earlier(const isl::union_map& first, const isl::union_map& second) {
  return call(first.ctx(), isl_union_map_lex_lt_union_map, first.copy(), second.copy());
}

}  // namespace tc::polyhedral
