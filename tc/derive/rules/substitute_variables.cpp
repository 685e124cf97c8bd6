#include "tc/derive/rules/substitute_variables.h"

#include <algorithm>
#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

std::vector<int> run_of(int first, int count) {
  std::vector<int> result;
  for (int d = 0; d < count; ++d) result.push_back(first + d);
  return result;
}

/// \p function on the left dimensions of \p dimensions ones, the identity on the others.
isl::multi_aff on_left(const isl::multi_aff& function, int left, int dimensions) {
  const auto ctx = function.ctx();
  return function.pullback(projection(ctx, dimensions, run_of(0, left)))
      .flat_range_product(projection(ctx, dimensions, run_of(left, dimensions - left)));
}

/// The inverse of \p phi on \p cells as one function.
isl::multi_aff inverse(const isl::multi_aff& phi, const isl::set& cells) {
  const auto map = phi.as_map().intersect_domain(cells);
  if (!map.is_injective()) throw Refusal{"the substitution is not injective"};
  const auto back = map.reverse().as_pw_multi_aff().coalesce();
  if (back.n_piece() != 1) throw Refusal{"the inverse of the substitution is in pieces"};
  isl::multi_aff result;
  back.foreach_piece([&](const isl::set&, const isl::multi_aff& piece) { result = piece; });
  return result;
}

}  // namespace

Step substitute_variables(const Program& program, const std::string& tensor, const isl::multi_aff& phi,
                          const std::vector<std::string>& names) {
  const auto& scope = changeable(program, tensor);
  const isl::ctx ctx = *program.context;
  const int summed = scope.dimensions() - scope.left();
  const auto box = box_set(ctx, scope.box), cells = written_cells(scope);
  const bool everywhere = phi.as_map().intersect_domain(box).is_injective();
  const auto back = inverse(phi, everywhere ? box : cells);
  const int left = static_cast<int>(phi.size());
  const auto to_scope = on_left(back, left, left + summed);

  Scope moved = scope;
  moved.tensor = fresh_tensor(program, "T");
  moved.iterators = names;
  for (int d : summed_dimensions(scope))
    moved.iterators.push_back(fresh_iterator(program, moved.iterators, scope.iterators[static_cast<std::size_t>(d)]));
  moved.box = hull(box.apply(phi.as_map()));
  const auto forward = on_left(phi, scope.left(), scope.dimensions());
  for (auto& part : moved.cases) {
    part.domain = part.domain.apply(forward.as_map());
    for (auto& read : part.reads) read.at = read.at.pullback(to_scope).gist(part.domain);
  }
  const auto copy = copy_of(scope, moved.tensor, phi, everywhere ? box : cells);
  const auto left_part = projection(ctx, scope.dimensions(), left_dimensions(scope));
  const auto what = str(tensor, " by ", join(names));
  return {"substitute variables",
          what,
          with_scopes(program, tensor, {moved, copy}),
          by_cases(tensor, scope.cases.size(), left_part.flat_range_product(forward)),
          {tensor}};
}

namespace {

/// Does \p read, in outputs other than \p output, depend on \p dimension?
bool elsewhere(const Read& read, std::size_t output, int dimension) {
  for (std::size_t o = 0; o < read.at.size(); ++o)
    if (o != output && depends(read.at, static_cast<int>(o), dimension)) return true;
  return false;
}

int dimensions_in(const Read& read, std::size_t output, int count) {
  int result = 0;
  for (int d = 0; d < count; ++d) result += depends(read.at, static_cast<int>(output), d);
  return result;
}

/// The left iterator that output \p output of read \p k may stand for: -1, if none.
int replaceable(const Scope& scope, std::size_t k, std::size_t output) {
  const auto& reads = scope.cases[0].reads;
  const auto& read = reads[k];
  for (int d = scope.left(); d < scope.dimensions(); ++d)
    if (depends(read.at, static_cast<int>(output), d)) return -1;
  if (dimensions_in(read, output, scope.left()) < 2) return -1;
  for (int d = 0; d < scope.left(); ++d) {
    if (!depends(read.at, static_cast<int>(output), d) || elsewhere(read, output, d)) continue;
    bool alone = true;
    for (std::size_t other = 0; other < reads.size(); ++other)
      alone = alone && (other == k || !depends(reads[other].at, d));
    if (alone) return d;
  }
  return -1;
}

void add_substitution(const Program& program, const Scope& scope, std::size_t k, std::vector<Step>& steps) {
  const isl::ctx ctx = *program.context;
  const auto& read = scope.cases[0].reads[k];
  auto phi = projection(ctx, scope.left(), left_dimensions(scope));
  auto names = names_of(scope, left_dimensions(scope));
  const auto only_left = [&](const isl::aff& aff) {
    std::vector<std::string> zeros;
    for (int d = 0; d < scope.dimensions(); ++d) zeros.push_back(d < scope.left() ? str("i", d) : "0");
    return isl::multi_aff(aff).pullback(function(ctx, scope.left(), zeros)).at(0);
  };
  bool any = false;
  for (std::size_t o = 0; o < read.at.size(); ++o) {
    const int d = replaceable(scope, k, o);
    if (d < 0) continue;
    phi = phi.set_at(d, only_left(read.at.at(static_cast<int>(o))));
    names[static_cast<std::size_t>(d)] =
        fresh_iterator(program, scope.iterators, str("t_", names[static_cast<std::size_t>(d)]));
    any = true;
  }
  if (!any) return;
  try {
    steps.push_back(substitute_variables(program, scope.tensor, phi, names));
  } catch (const Refusal&) {
  }
}

}  // namespace

std::vector<Step> substitutions(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->uniform || scope->cases.size() != 1) continue;
    for (std::size_t k = 0; k < scope->cases[0].reads.size(); ++k) add_substitution(program, *scope, k, result);
  }
  return result;
}

namespace {

/// { [x] -> [..., x_d / by, x_d % by, ...] }
isl::multi_aff split_function(isl::ctx ctx, int dimensions, int dimension, std::int64_t by) {
  std::vector<std::string> values;
  for (int d = 0; d < dimensions; ++d) {
    if (d != dimension) {
      values.push_back(str("i", d));
      continue;
    }
    values.push_back(str("floor(i", d, "/", by, ")"));
    values.push_back(str("i", d, " mod ", by));
  }
  return function(ctx, dimensions, values);
}

}  // namespace

Step split_iterator(const Program& program, const std::string& tensor, int dimension, std::int64_t by) {
  const auto& scope = changeable(program, tensor);
  if (by < 2) throw Refusal{"an iterator is split by two at least"};
  const isl::ctx ctx = *program.context;
  const auto place = scope.iterators.begin() + dimension;
  auto names = scope.iterators;
  names[static_cast<std::size_t>(dimension)] = fresh_iterator(program, scope.iterators, str(*place, "1"));
  names.insert(names.begin() + dimension + 1, fresh_iterator(program, names, str(*place, "0")));
  const auto what = str(tensor, ": ", *place, " = ", by, "*", names[static_cast<std::size_t>(dimension)], " + ",
                        names[static_cast<std::size_t>(dimension) + 1]);
  if (dimension < scope.left()) {
    names.resize(static_cast<std::size_t>(scope.left()) + 1);
    auto step = substitute_variables(program, tensor, split_function(ctx, scope.left(), dimension, by), names);
    step.what = what;
    return step;
  }
  const auto forward = split_function(ctx, scope.dimensions(), dimension, by);
  std::vector<std::string> values;
  for (int d = 0; d < scope.dimensions(); ++d)
    values.push_back(d < dimension ? str("i", d) : d > dimension ? str("i", d + 1) : str(by, "*i", d, " + i", d + 1));
  const auto back = function(ctx, scope.dimensions() + 1, values);
  Scope split = scope;
  split.iterators = names;
  for (auto& part : split.cases) {
    part.domain = part.domain.apply(forward.as_map());
    for (auto& read : part.reads) read.at = read.at.pullback(back);
  }
  return {"split iterator", what, with_scopes(program, tensor, {split}), by_cases(tensor, scope.cases.size(), forward)};
}

namespace {

/// Of the two parts of a dimension, the smaller one is at most this: a dimension may be too long for trying all numbers.
constexpr std::int64_t largest_part = 1 << 16;

/// By which numbers dimension \p d of \p scope may be split.
std::set<std::int64_t> factors_of(const Scope& scope, int d, const lang::Box& ranges) {
  std::set<std::int64_t> result;
  const auto extent = ranges[static_cast<std::size_t>(d)].extent;
  bool window = false;
  for (const auto& read : scope.cases[0].reads)
    for (std::size_t o = 0; o < read.at.size(); ++o) {
      const auto own = std::abs(factor(read.at, static_cast<int>(o), d));
      if (own == 0) continue;
      for (int other = 0; other < scope.dimensions(); ++other) {
        const auto times = std::abs(factor(read.at, static_cast<int>(o), other));
        if (other == d || times == 0) continue;
        window = window || times == own;
        if (times > own && times % own == 0 && times / own < extent) result.insert(times / own);
      }
    }
  if (!window || d < scope.left()) return result;
  for (const auto whole : {extent, extent + 1})  // one more at most is run over in vain
    for (std::int64_t part = 2; part <= largest_part && part * part <= whole; ++part)
      for (const auto by : {part, whole / part})
        if (whole % part == 0 && by < extent) result.insert(by);
  return result;
}

}  // namespace

std::vector<Step> iterator_splits(const Program& program) {
  std::vector<Step> result;
  for (const auto& scope : program.scopes) {
    if (!scope->uniform || scope->cases.size() != 1 || !scope->op) continue;
    const auto ranges = iterator_box(*scope);
    for (int d = 0; d < scope->dimensions(); ++d) {
      if (ranges[static_cast<std::size_t>(d)].min != 0) continue;
      for (const auto by : factors_of(*scope, d, ranges)) {
        try {
          result.push_back(split_iterator(program, scope->tensor, d, by));
        } catch (const Refusal&) {
        }
      }
    }
  }
  return result;
}

}  // namespace tc::derive
