#include <algorithm>

#include "tc/autodiff/simplify/simplify_steps.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// More residues than lanes gain from standing apart are left where they are.
constexpr std::int64_t most_residues = 4;

/// (p + shift) / stride and (p + shift) % stride, all that a step holds of its coordinate p.
struct Residue {
  std::string coordinate;
  std::int64_t stride = 0, shift = 0;
  std::string rest, whole;  ///< the iterators that take their places
};

/// The shift and the stride if \p part divides \p coordinate plus a constant.
std::optional<Residue> division_of(const ExprPtr& part, const std::string& coordinate) {
  const auto* pair = std::get_if<Binary>(&part->node);
  const auto divisor = pair ? constant_value(pair->right) : std::nullopt;
  if (!divisor || part->type != DType::Int64 || (pair->op != BinaryOp::Div && pair->op != BinaryOp::Mod))
    return std::nullopt;
  const Affine dividend = read_affine(pair->left);
  if (dividend.parts.size() != 1 || dividend.coefficient(coordinate) != 1) return std::nullopt;
  const auto stride = static_cast<std::int64_t>(*divisor);
  if (stride < 2 || stride > most_residues || dividend.constant < 0) return std::nullopt;
  return Residue{coordinate, stride, dividend.constant, {}, {}};
}

template <typename F>
void for_each_part(const Step& step, F&& visit) {
  for (const Guarded& piece : step.pieces) {
    for (const ExprPtr& condition : piece.conditions) for_each_expr(condition, visit);
    for (const Term& term : piece.value)
      for (const Factor& factor : term.factors) for_each_expr(factor.expr, visit);
  }
}

Step with_iterators(const Step& step, const Residue& residue) {
  return map_expressions(step, [&](const ExprPtr& expr) {
    return normalised(rebuild(expr, [&](const ExprPtr& part) -> ExprPtr {
      const auto found = division_of(part, residue.coordinate);
      if (!found || found->stride != residue.stride || found->shift != residue.shift) return part;
      const bool whole = std::get<Binary>(part->node).op == BinaryOp::Div;
      return index_name(whole ? residue.whole : residue.rest);
    }));
  });
}

bool mentions(const Step& step, const std::string& name) {
  bool found = false;
  for_each_part(step, [&](const ExprPtr& part) {
    const auto* known = std::get_if<Name>(&part->node);
    found = found || (known && known->id == name);
  });
  return found;
}

/// A letter that no iterator, size or tensor has.
std::string fresh_letter(std::set<std::string>& taken) {
  for (int round = 0;; ++round)
    for (const char letter : std::string("tuvabefghijklmnopqrswxyz")) {
      const std::string name = round == 0 ? str(letter) : str(letter, round);
      if (taken.insert(name).second) return name;
    }
}

/// The residue by which the step's \p coordinate is used only; nothing if it is used in another way too.
std::optional<Residue> residue_of(const Step& step, const std::string& coordinate, std::set<std::string>& taken) {
  std::optional<Residue> residue;
  for_each_part(step, [&](const ExprPtr& part) {
    if (!residue) residue = division_of(part, coordinate);
  });
  if (!residue) return std::nullopt;
  std::set<std::string> tried = taken;
  residue->rest = fresh_letter(tried);
  residue->whole = fresh_letter(tried);
  if (mentions(with_iterators(step, *residue), coordinate)) return std::nullopt;
  taken = tried;
  return residue;
}

ExprPtr sum(const ExprPtr& expr, std::int64_t constant) {
  return to_expr(read_affine(binary(BinaryOp::Add, expr, integer(constant))));
}

/// \p step over the rest, its iterator number \p place, and the whole in place of the coordinate, which stays in its range.
Step split(const Step& step, const Residue& residue, std::size_t place) {
  Step made = with_iterators(step, residue);
  const auto at = std::find_if(made.left.begin(), made.left.end(),
                               [&](const IteratorRange& range) { return range.name == residue.coordinate; });
  const ExprPtr low = at->low, high = at->high;
  Affine end = read_affine(quotient(read_affine(sum(high, residue.shift - 1)), residue.stride));
  end.constant += 1;
  *at = {residue.whole, quotient(read_affine(sum(low, residue.shift)), residue.stride), to_expr(end)};
  made.left.insert(made.left.begin() + static_cast<std::ptrdiff_t>(place),
                   {residue.rest, integer(0), integer(residue.stride)});
  const ExprPtr scaled = binary(BinaryOp::Mul, integer(residue.stride), index_name(residue.whole));
  const ExprPtr coordinate = sum(binary(BinaryOp::Add, scaled, index_name(residue.rest)), -residue.shift);
  for (Guarded& piece : made.pieces)
    piece.conditions.insert(piece.conditions.begin(),
                            {binary(BinaryOp::Ge, coordinate, low), binary(BinaryOp::Lt, coordinate, high)});
  return made;
}

/// The element of the split tensor that the coordinates of \p step have.
std::vector<ExprPtr> subscripts_of(const Step& step, const Step& made, const std::vector<Residue>& residues) {
  Renaming values;
  for (const auto& range : step.left) values[range.name] = index_name(range.name);
  for (const Residue& residue : residues) {
    const Affine place = read_affine(sum(index_name(residue.coordinate), residue.shift));
    values[residue.rest] = remainder(place, residue.stride);
    values[residue.whole] = quotient(place, residue.stride);
  }
  std::vector<ExprPtr> subscripts;
  for (const auto& range : made.left) subscripts.push_back(values.at(range.name));
  return subscripts;
}

}  // namespace

std::vector<Step> split_residues(std::vector<Step> steps, FreshNames& names, GuardProver& prover) {
  std::vector<Step> result;
  for (Step& step : steps) {
    std::set<std::string> taken = names.taken();
    for (const auto* ranges : {&step.left, &step.reduction})
      for (const auto& range : *ranges) taken.insert(range.name);
    std::vector<Residue> residues;
    Step made = step;
    const bool sum_of_pieces = step.op == ReductionOp::Sum && step.initialise && !step.value;
    for (std::size_t d = 0; sum_of_pieces && d < step.left.size(); ++d)
      if (const auto residue = residue_of(made, step.left[d].name, taken)) {
        made = split(made, *residue, residues.size());
        residues.push_back(*residue);
      }
    if (!residues.empty()) {
      std::vector<IteratorRange> ranges = made.left;
      ranges.insert(ranges.end(), made.reduction.begin(), made.reduction.end());
      for (Guarded& piece : made.pieces) piece.conditions = prover.simplified(ranges, piece.conditions);
      made.target = names.take(str("r_", step.target.starts_with("d_") ? step.target.substr(2) : step.target));
      result.push_back(made);
      const ExprPtr element = access(made.target, subscripts_of(step, made, residues), made.type);
      step.reduction.clear();
      step.op.reset();
      step.initialise = false;
      step.pieces = {{{}, {times(Term{}, element)}}};
    }
    result.push_back(std::move(step));
  }
  return result;
}

}  // namespace tc::autodiff
