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

/// The left iterator that output \p output of read \p k, of summed iterators without these, may stand for: -1, if none.
int replaceable(const Scope& scope, std::size_t k, std::size_t output) {
  const auto& reads = scope.cases[0].reads;
  const auto& read = reads[k];
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

/// { [x] -> [..., x_d / by, x_d % by, ...] } for each d of \p split.
isl::multi_aff split_function(isl::ctx ctx, int dimensions, const std::vector<int>& split, std::int64_t by) {
  std::vector<std::string> values;
  for (int d = 0; d < dimensions; ++d) {
    if (std::find(split.begin(), split.end(), d) == split.end()) {
      values.push_back(str("i", d));
      continue;
    }
    values.push_back(str("floor(i", d, "/", by, ")"));
    values.push_back(str("i", d, " mod ", by));
  }
  return function(ctx, dimensions, values);
}

/// Its inverse.
isl::multi_aff joined_function(isl::ctx ctx, int dimensions, const std::vector<int>& split, std::int64_t by) {
  std::vector<std::string> values;
  int next = 0;
  for (int d = 0; d < dimensions; ++d) {
    const bool one = std::find(split.begin(), split.end(), d) == split.end();
    values.push_back(one ? str("i", next) : str(by, "*i", next, " + i", next + 1));
    next += one ? 1 : 2;
  }
  return function(ctx, next, values);
}

}  // namespace

Step split_iterators(const Program& program, const std::string& tensor, const std::vector<int>& dimensions,
                     std::int64_t by) {
  const auto& scope = changeable(program, tensor);
  if (by < 2) throw Refusal{"an iterator is split by two at least"};
  const isl::ctx ctx = *program.context;
  std::vector<std::string> names, what;
  for (int d = 0; d < scope.dimensions(); ++d) {
    const auto& name = scope.iterators[static_cast<std::size_t>(d)];
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) {
      names.push_back(name);
      continue;
    }
    auto taken = names;
    taken.insert(taken.end(), scope.iterators.begin(), scope.iterators.end());
    names.push_back(fresh_iterator(program, taken, str(name, "1")));
    taken.push_back(names.back());
    names.push_back(fresh_iterator(program, taken, str(name, "0")));
    what.push_back(str(name, " = ", by, "*", names[names.size() - 2], " + ", names.back()));
  }
  const auto label = str(tensor, ": ", join(what));
  const auto left = std::count_if(dimensions.begin(), dimensions.end(), [&](int d) { return d < scope.left(); });
  if (left > 0) {
    if (left < static_cast<std::ptrdiff_t>(dimensions.size()))
      throw Refusal{"iterators of one side are split together"};
    names.resize(static_cast<std::size_t>(scope.left() + left));
    auto step = substitute_variables(program, tensor, split_function(ctx, scope.left(), dimensions, by), names);
    step.what = label;
    return step;
  }
  const auto forward = split_function(ctx, scope.dimensions(), dimensions, by);
  const auto back = joined_function(ctx, scope.dimensions(), dimensions, by);
  Scope split = scope;
  split.iterators = names;
  lang::Box box;
  const auto ranges = iterator_box(scope);
  for (int d = 0; d < scope.dimensions(); ++d) {
    const auto& range = ranges[static_cast<std::size_t>(d)];
    const bool one = std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end();
    if (!one && range.min < 0) throw Refusal{"an iterator that is split begins at 0"};
    box.push_back(one ? range : lang::IntegerRange{0, (range.min + range.extent + by - 1) / by});
    if (!one) box.push_back({0, by});
  }
  for (auto& part : split.cases) {
    part.domain = part.domain.apply(forward.as_map()).intersect(box_set(ctx, box));
    for (auto& read : part.reads) read.at = read.at.pullback(back);
  }
  return {"split iterator", label, with_scopes(program, tensor, {split}),
          by_cases(tensor, scope.cases.size(), forward)};
}

Step split_iterator(const Program& program, const std::string& tensor, int dimension, std::int64_t by) {
  return split_iterators(program, tensor, {dimension}, by);
}

namespace {

/// Of the two parts of a dimension, the smaller one is at most this: a dimension may be too long for trying all numbers.
constexpr std::int64_t largest_part = 1 << 16;

/// Do other dimensions than the \p two of output \p o of \p read, the second with a multiple of the factor of the first, run over all
/// between two values of the second, as r0 in h + 3*r1 + r0?
bool is_filled(const Scope& scope, const Read& read, std::size_t o, std::pair<int, int> two, const lang::Box& ranges) {
  const auto own = std::abs(factor(read.at, static_cast<int>(o), two.first)),
             times = std::abs(factor(read.at, static_cast<int>(o), two.second));
  for (int d = 0; d < scope.dimensions(); ++d)
    if (d != two.first && d != two.second && std::abs(factor(read.at, static_cast<int>(o), d)) == own &&
        ranges[static_cast<std::size_t>(d)].extent * own >= times)
      return true;
  return false;
}

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
        if (times > own && times % own == 0 && times / own < extent && !is_filled(scope, read, o, {d, other}, ranges))
          result.insert(times / own);
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
    if (!scope->uniform || scope->cases.size() != 1 || !scope->op || reads_in(scope->cases[0].body).size() < 2)
      continue;
    const auto ranges = iterator_box(*scope);
    for (int d = 0; d < scope->dimensions(); ++d) {
      if (ranges[static_cast<std::size_t>(d)].min != 0) continue;
      auto together = alike_dimensions(*scope, d, ranges);
      std::erase_if(together, [&](int other) { return ranges[static_cast<std::size_t>(other)].min != 0; });
      if (together.front() != d) continue;
      for (const auto by : factors_of(*scope, d, ranges)) {
        try {
          result.push_back(split_iterators(program, scope->tensor, together, by));
        } catch (const Refusal&) {
        }
      }
    }
  }
  return result;
}

}  // namespace tc::derive
