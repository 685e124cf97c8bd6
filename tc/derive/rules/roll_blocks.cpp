#include "tc/derive/rules/roll_blocks.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/flatten.h"

namespace tc::derive {

namespace {

std::set<std::string> tensors_in(const Program& program) {
  std::set<std::string> result;
  for (const auto& scope : program.scopes) result.insert(scope->tensor);
  return result;
}

bool reads(const Scope& scope, const std::string& tensor) {
  return std::any_of(scope.cases.begin(), scope.cases.end(), [&](const Case& part) {
    return std::any_of(part.reads.begin(), part.reads.end(), [&](const Read& read) { return read.tensor == tensor; });
  });
}

/// Elementwise temporaries that depend on a maximum over rows, and are no reference to it.
std::set<std::string> elementwise_behind(const Program& program) {
  std::set<std::string> references, result;
  for (const auto& maximum : row_maxima(program))
    for (const auto& reference : references_to(program, maximum)) references.insert(reference);
  for (const auto& scope : program.scopes) {
    const bool keeps_values = scope->keeps_values() || scope->rounds();
    if (scope->op || !keeps_values || scope->cases.size() != 1 || program.is_output(scope->tensor)) continue;
    if (references.count(scope->tensor) || !scope->cases.front().domain.is_equal(box_set(*program.context, scope->box)))
      continue;
    const auto& all = scope->cases.front().reads;
    if (std::any_of(all.begin(), all.end(),
                    [&](const Read& read) { return references.count(read.tensor) || result.count(read.tensor); }))
      result.insert(scope->tensor);
  }
  return result;
}

/// \p part with read \p k replaced by what defines it, \p definition.
Case with_definition(const Case& part, std::size_t k, const Case& definition) {
  auto result = part;
  const auto offset = result.reads.size();
  for (const auto& read : definition.reads) result.reads.push_back({read.tensor, read.at.pullback(part.reads[k].at)});
  const auto inner =
      with_reads(definition.body, [&](std::size_t r) { return lang::make_expr(lang::Name{read_name(r + offset)}); });
  result.body =
      with_reads(part.body, [&](std::size_t r) { return r == k ? inner : lang::make_expr(lang::Name{read_name(r)}); });
  return with_used_reads(result);
}

std::optional<std::size_t> first_read(const Case& part, const std::set<std::string>& tensors) {
  for (const auto k : reads_in(part.body))
    if (tensors.count(part.reads[k].tensor)) return k;
  return std::nullopt;
}

/// Takes temporaries that nothing reads out of \p program, of \p some.
void drop_unread(Program& program, const std::set<std::string>& some) {
  const auto is_unread = [&](const ScopePtr& scope) {
    return some.count(scope->tensor) && std::none_of(program.scopes.begin(), program.scopes.end(),
                                                     [&](const auto& other) { return reads(*other, scope->tensor); });
  };
  for (;;) {
    const auto found = std::find_if(program.scopes.begin(), program.scopes.end(), is_unread);
    if (found == program.scopes.end()) return;
    program.scopes.erase(found);
  }
}

/// Writes elementwise temporaries, \p between, out in the sums of \p program, or in those of names \p only. Gives the sums that changed, and
/// the temporaries written out.
std::pair<std::vector<std::string>, std::set<std::string>> write_out(Program& program,
                                                                     const std::set<std::string>& between,
                                                                     const std::vector<std::string>& only) {
  std::vector<std::string> changed;
  std::set<std::string> written;
  const auto given = program;
  for (auto& place : program.scopes) {
    if (!place->op || !place->keeps_values() || place->cases.size() != 1) continue;
    if (!only.empty() && !contains(only, place->tensor)) continue;
    auto scope = *place;
    auto& part = scope.cases.front();
    while (const auto k = first_read(part, between)) {
      written.insert(part.reads[*k].tensor);
      part = with_definition(part, *k, given.find(part.reads[*k].tensor)->cases.front());
    }
    if (part.body == place->cases.front().body) continue;
    changed.push_back(scope.tensor);
    place = std::make_shared<const Scope>(std::move(scope));
  }
  return {changed, written};
}

/// The certificate that takes the instances of \p tensor, written out in \p before to tensors of \p after, by \p own, a function of its own
/// iterators.
void add_link(const Program& before, const Program& after, const std::string& tensor,
              const std::vector<isl::multi_aff>& own, Certificate& certificate) {
  const auto flat = flatten(before, tensor, tensors_in(after));
  const auto scope = before.find(tensor);
  if (flat.cases.size() != own.size()) throw Refusal{str("the cases of '", tensor, "' fall apart")};
  std::vector<isl::multi_aff> functions;
  for (std::size_t c = 0; c < own.size(); ++c)
    functions.push_back(own[c].pullback(
        projection(*before.context, polyhedral::dimensions(flat.cases[c].domain), run_of(0, scope->dimensions()))));
  const auto one = by_cases(tensor, functions);
  certificate.maps.insert(one.maps.begin(), one.maps.end());
}

/// Iterator \p position of scopes in blocks.
class Cutter {
 public:
  Cutter(const Program& program, const RollView& view, const Blocks& blocks)
      : program_(program), view_(view), blocks_(blocks), ctx_(*program.context) {}

  /// { [..., b, w, ...] -> [..., least + size * b + w, ...] } of \p dimensions dimensions.
  isl::multi_aff whole(int dimensions, int position) const {
    std::vector<std::string> values;
    for (int d = 0; d < dimensions; ++d)
      values.push_back(d != position ? str("i", d > position ? d + 1 : d)
                                     : str(blocks_.least, " + ", blocks_.size, " * i", d, " + i", d + 1));
    return function(ctx_, dimensions + 1, values);
  }
  /// Its inverse.
  isl::multi_aff parts(int dimensions, int position) const {
    std::vector<std::string> values;
    for (int d = 0; d < dimensions; ++d) {
      const auto j = str("(i", d, " - ", blocks_.least, ")");
      if (d == position)
        values.insert(values.end(), {str("floor(", j, " / ", blocks_.size, ")"), str(j, " mod ", blocks_.size)});
      else
        values.push_back(str("i", d));
    }
    return function(ctx_, dimensions, values);
  }

  /// \p scope over b and w; with \p moved, what it reads of temporaries by blocks is read there.
  Scope cut(const Scope& scope, int position, bool moved) const {
    auto result = scope;
    const auto at = static_cast<std::ptrdiff_t>(position);
    result.iterators[static_cast<std::size_t>(position)] = blocks_.outer;
    result.iterators.insert(result.iterators.begin() + at + 1, blocks_.inner);
    if (position < scope.left()) {
      result.box[static_cast<std::size_t>(position)] = {0, blocks_.count};
      result.box.insert(result.box.begin() + at + 1, {0, blocks_.size});
    }
    const int all = scope.dimensions() + 1;
    const auto bounds = isl::set(ctx_, str("{ ", tuple_text(all), " : 0 <= i", position, " < ", blocks_.count,
                                           " and 0 <= i", position + 1, " < ", blocks_.size, " }"));
    for (auto& part : result.cases) {
      part.domain = part.domain.preimage(whole(scope.dimensions(), position)).intersect(bounds);
      for (auto& read : part.reads)
        read = moved ? read_by_blocks(read, scope, position) : pulled(read, scope, position);
    }
    return result;
  }

 private:
  Read pulled(const Read& read, const Scope& scope, int position) const {
    return {read.tensor, read.at.pullback(whole(scope.dimensions(), position))};
  }

  Read read_by_blocks(const Read& read, const Scope& scope, int position) const {
    auto result = pulled(read, scope, position);
    const int index = read.tensor.empty() ? -1 : view_.position(read.tensor);
    if (index < 0 || !depends(read.at, position)) return result;
    auto at = projection(ctx_, scope.dimensions() + 1, {});
    for (int d = 0; d < static_cast<int>(result.at.size()); ++d)
      at = at.flat_range_product(d == index ? projection(ctx_, scope.dimensions() + 1, {position, position + 1})
                                            : isl::multi_aff(result.at.at(d)));
    const auto found = std::find(view_.moved.begin(), view_.moved.end(), read.tensor) - view_.moved.begin();
    return {blocks_.tensors[static_cast<std::size_t>(found)], at};
  }

  const Program& program_;
  const RollView& view_;
  const Blocks& blocks_;
  isl::ctx ctx_;
};

}  // namespace

std::int64_t BlockSize::of(std::int64_t extent) const {
  if (multiple == 1) return std::min(most, extent);
  return round_up(ceil_div(extent, ceil_div(extent, most)), multiple);
}

Blocks::Blocks(const Program& program, const RollView& view, const BlockSize& block) {
  const auto range = view.range(program);
  least = range.min;
  extent = range.extent;
  size = block.of(range.extent);
  count = ceil_div(range.extent, size);
  outer = fresh_tensor(program, "b");
  inner = fresh_tensor(program, "w");
  before = fresh_tensor(program, outer + "_before");
  for (const auto& tensor : view.moved) tensors.push_back(fresh_tensor(program, tensor + "_block"));
}

std::vector<std::string> tensors_of(const RollView& view) {
  std::vector<std::string> result;
  for (const auto& sum : view.sums) result.push_back(sum.tensor);
  return result;
}

std::vector<Step> written_out_exponentials(const Program& program, const std::vector<std::string>& only) {
  const auto between = elementwise_behind(program);
  Step step{"fuse", "", program, {}};
  const auto [changed, written] = write_out(step.after, between, only);
  if (changed.empty()) return {};
  drop_unread(step.after, between);
  for (const auto& tensor : written)
    for (const auto& scope : step.after.scopes)
      if (reads(*scope, tensor))
        throw Refusal{str("'", tensor, "' is read by '", scope->tensor, "', too, and so needed as a whole")};
  for (const auto& tensor : changed) {
    const int own = program.find(tensor)->dimensions();
    add_link(program, step.after, tensor, {projection(*program.context, own, run_of(0, own))}, step.certificate);
  }
  step.what = "into " + join(changed);
  return {step};
}

std::optional<Program> without_exponentials(const Program& program) {
  const auto between = elementwise_behind(program);
  auto result = program;
  write_out(result, between, {});
  std::erase_if(result.scopes, [&](const ScopePtr& scope) { return between.count(scope->tensor); });
  for (const auto& scope : result.scopes)
    for (const auto& tensor : between)
      if (reads(*scope, tensor)) return std::nullopt;
  return result;
}

std::vector<Step> in_blocks(const Program& program, const RollView& view, const Blocks& blocks) {
  std::vector<Step> steps;
  auto now = program;
  const Cutter cutter(program, view, blocks);
  const auto ctx = isl::ctx(*program.context);
  for (std::size_t t = 0; t < view.moved.size(); ++t) {
    const auto& tensor = view.moved[t];
    const int position = view.positions[t];
    const auto old = *now.find(tensor);
    auto made = cutter.cut(old, position, false);
    made.tensor = blocks.tensors[t];
    const auto copy = copy_of(old, made.tensor, cutter.parts(old.left(), position), box_set(ctx, old.box));
    const auto own = projection(ctx, old.dimensions(), run_of(0, old.left()))
                         .flat_range_product(cutter.parts(old.dimensions(), position));
    Step step{"split iterator", str(tensor, " in blocks of ", blocks.size), with_scopes(now, tensor, {made, copy}),
              by_cases(tensor, old.cases.size(), own)};
    now = step.after;
    steps.push_back(std::move(step));
  }
  Step step{
      "split iterator",
      str(view.has_maximum() ? view.maximum + " and " : "", join(tensors_of(view)), " in blocks of ", blocks.size),
      now,
      {}};
  std::erase_if(step.after.scopes, [&](const ScopePtr& scope) { return contains(view.moved, scope->tensor); });
  std::vector<std::pair<std::string, std::vector<isl::multi_aff>>> links;
  for (auto& place : step.after.scopes) {
    const auto found = std::find(blocks.tensors.begin(), blocks.tensors.end(), place->tensor) - blocks.tensors.begin();
    const auto moved = static_cast<std::size_t>(found);
    if (moved < blocks.tensors.size()) {
      // The original has one dimension for the two that the scope has already.
      const auto original = *program.find(view.moved[moved]);
      auto scope = cutter.cut(original, view.positions[moved], true);
      scope.tensor = place->tensor;
      links.emplace_back(scope.tensor,
                         std::vector<isl::multi_aff>(
                             scope.cases.size(), projection(ctx, scope.dimensions(), run_of(0, scope.dimensions()))));
      place = std::make_shared<const Scope>(std::move(scope));
    } else if (place->tensor == view.maximum || contains(tensors_of(view), place->tensor)) {
      const auto old = *place;
      links.emplace_back(old.tensor, std::vector<isl::multi_aff>{cutter.parts(old.dimensions(), old.left())});
      place = std::make_shared<const Scope>(cutter.cut(old, old.left(), true));
    }
  }
  for (const auto& [tensor, own] : links) add_link(now, step.after, tensor, own, step.certificate);
  steps.push_back(std::move(step));
  return steps;
}

}  // namespace tc::derive
