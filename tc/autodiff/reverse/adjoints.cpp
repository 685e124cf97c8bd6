#include "tc/autodiff/reverse/adjoints.h"

#include <algorithm>

#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"

namespace tc::autodiff {

using namespace lang;

ExprPtr AdjointTensor::at(const std::vector<std::string>& iterators) const {
  std::vector<ExprPtr> subscripts;
  for (std::size_t d = 0; d < iterators.size(); ++d)
    subscripts.push_back(to_expr(read_affine(binary(BinaryOp::Sub, index_name(iterators[d]), shifts[d]))));
  return access(name, subscripts, type);
}

namespace {

/// The loops of \p version by the iterators \p left.
std::vector<OrderedLoop> loops_of(const Version& version, const std::vector<IteratorRange>& left) {
  std::vector<OrderedLoop> loops;
  for (const LoopDimension& loop : version.loops) loops.push_back({loop.id, left[loop.dimension].name});
  return loops;
}

std::vector<IteratorRange> over_box(const std::vector<std::string>& coordinates, const Version& version) {
  std::vector<IteratorRange> ranges = version.box;
  for (std::size_t d = 0; d < ranges.size(); ++d) ranges[d].name = coordinates[d];
  return ranges;
}

Guarded renamed(Guarded value, const Renaming& names) {
  for (ExprPtr& condition : value.conditions) condition = replace_names(condition, names);
  value.value = map_factors(value.value, [&](const ExprPtr& factor) { return replace_names(factor, names); });
  return value;
}

void add_piece(std::vector<Guarded>& pieces, const Guarded& piece) {
  for (Guarded& known : pieces)
    if (equal(known.conditions, piece.conditions)) {
      known.value = plus(std::move(known.value), piece.value);
      return;
    }
  pieces.push_back(piece);
}

/// All that need no sum, in statements of at most longest_sum terms.
std::vector<Step> pointwise_steps(const Step& head, const Version& version,
                                  const std::vector<Contribution>& contributions) {
  std::vector<Step> steps;
  std::vector<std::string> coordinates;
  std::size_t terms = 0;
  for (const Contribution& c : contributions) {
    if (!c.reduction.empty()) continue;
    if (steps.empty()) coordinates = c.coordinates;
    terms += c.value.value.size();
    if (steps.empty() || terms > longest_sum) {
      steps.push_back(head);
      steps.back().left = over_box(coordinates, version);
      terms = c.value.value.size();
    }
    Renaming names;
    for (std::size_t d = 0; d < coordinates.size(); ++d) names[c.coordinates[d]] = index_name(coordinates[d]);
    add_piece(steps.back().pieces, renamed(c.value, names));
    steps.back().place = c.place;
  }
  return steps;
}

/// T's statement, and the one that converts it to \p type.
Step conversion(const std::string& to, const std::string& from, DType wide, DType type, const Step& like) {
  Step step;
  step.target = to;
  step.type = type;
  step.left = like.left;
  step.place = like.place;
  std::vector<std::string> left;
  for (const auto& range : like.left) left.push_back(range.name);
  step.pieces = {{{}, {times(Term{}, access_at(from, left, wide))}}};
  return step;
}

bool computes_in(const Step& step, DType type) {
  return std::all_of(step.pieces.begin(), step.pieces.end(), [&](const Guarded& piece) {
    const auto natural = natural_type(piece.value);
    return !natural || *natural == type;
  });
}

}  // namespace

std::vector<Step> adjoint_steps(const std::string& name, const Version& version,
                                const std::vector<Contribution>& contributions, bool keeps_type, FreshNames& names,
                                DType& type) {
  Step head{name, compute_type(version.type), {}, {}};
  std::vector<Step> steps;
  for (const Contribution& c : contributions) {
    if (c.reduction.empty()) continue;
    Step step = head;
    step.left = over_box(c.coordinates, version);
    step.reduction = c.reduction;
    step.pieces = {c.value};
    step.op = ReductionOp::Sum;
    step.initialise = steps.empty();
    step.place = c.place;
    steps.push_back(step);
  }
  for (Step& step : pointwise_steps(head, version, contributions)) {
    if (!steps.empty()) step.op = ReductionOp::Sum;
    steps.push_back(std::move(step));
  }
  for (Step& step : steps) step.loops = loops_of(version, step.left);
  type = head.type;
  if (!is_half(version.type) || !version.loops.empty()) return steps;
  const bool one = steps.size() == 1 && (!steps[0].op || computes_in(steps[0], version.type));
  if (one) type = steps[0].type = version.type;
  if (one || !keeps_type) return steps;
  const std::string wide = names.take(str("s", name.substr(1)));
  for (Step& step : steps) step.target = wide;
  steps.push_back(conversion(name, wide, head.type, version.type, steps.back()));
  type = version.type;
  return steps;
}

}  // namespace tc::autodiff
