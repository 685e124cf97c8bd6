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

/// Those of \p pairs whose first side \p function maps to an earlier place than the second.
inline isl::union_map earlier(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  if (pairs.is_empty()) return pairs;
  return call(pairs.ctx(), isl_union_map_lex_lt_at_multi_union_pw_aff, pairs.copy(), function.copy());
}

/// Those of \p pairs whose two sides \p function maps to different places. Not what at_equal() leaves: isl would complement sets in which
/// loops are quotients and remainders.
inline isl::union_map apart(const isl::union_map& pairs, const isl::multi_union_pw_aff& function) {
  if (pairs.is_empty()) return pairs;
  return earlier(pairs, function)
      .unite(call(pairs.ctx(), isl_union_map_lex_gt_at_multi_union_pw_aff, pairs.copy(), function.copy()));
}

/// The part of \p time of the statements of \p instances.
inline isl::union_map times_of(const isl::union_set& instances, const isl::union_map& time) {
  return time.intersect_domain(call(instances.ctx(), isl_union_set_universe, instances.copy()));
}

/// Those of \p pairs that \p related(times of the one side, times of the other) has, for the pairs of each two statements.
///
/// Only times of statements that a pair has are related: a schedule has many more.
template <typename Related>
isl::union_map of_times(const isl::union_map& pairs, const isl::union_map& time, const Related& related) {
  auto result = isl::union_map::empty(pairs.ctx());
  pairs.foreach_map([&](const isl::map& map) {
    auto first = times_of(map.domain().to_union_set(), time), second = times_of(map.range().to_union_set(), time);
    result = result.unite(related(first, second).intersect(map.to_union_map()));
  });
  return result;
}

/// Those of \p pairs whose first side is lexicographically before the second in \p time, { instance -> [t] }.
inline isl::union_map in_order(const isl::union_map& pairs, const isl::union_map& time) {
  return of_times(pairs, time, [](const isl::union_map& first, const isl::union_map& second) {
    return call(first.ctx(), isl_union_map_lex_lt_union_map, first.copy(), second.copy());
  });
}

/// Those of \p pairs whose two sides have the same \p time.
inline isl::union_map at_once(const isl::union_map& pairs, const isl::union_map& time) {
  return of_times(pairs, time, [](const isl::union_map& first, const isl::union_map& second) {
    return first.apply_range(second.reverse());
  });
}

}  // namespace tc::polyhedral
