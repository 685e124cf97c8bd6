#include <algorithm>

#include "tc/autodiff/simplify/simplify_steps.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/free_letters.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_in.h"

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

/// The residue by which the step's \p coordinate is used only; nothing if it is used in another way too.
std::optional<Residue> residue_of(const Step& step, const std::string& coordinate, FreeLetters& letters) {
  std::optional<Residue> residue;
  for_each_part(step, [&](const ExprPtr& part) {
    if (!residue) residue = division_of(part, coordinate);
  });
  if (!residue) return std::nullopt;
  FreeLetters tried = letters;
  residue->rest = tried.next();
  residue->whole = tried.next();
  if (mentions(with_iterators(step, *residue), coordinate)) return std::nullopt;
  letters.take(residue->rest);
  letters.take(residue->whole);
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

/// The reduction iterators of \p step that no condition mentions, and that stand alone as subscripts of \p factors.
std::set<std::string> free_iterators(const Step& step, const std::vector<Factor>& factors) {
  std::set<std::string> free;
  for (const auto& range : step.reduction) free.insert(range.name);
  for (const ExprPtr& condition : step.pieces.front().conditions)
    for (const auto& name : names_in(condition)) free.erase(name);
  for (const Factor& factor : factors)
    for (const ExprPtr& subscript : std::get<Access>(factor.expr->node).subscripts)
      if (!std::holds_alternative<Name>(subscript->node))
        for (const auto& name : names_in(subscript)) free.erase(name);
  return free;
}

/// Is \p step one guarded sum of products of two or more elements of its type?
bool sums_products(const Step& step) {
  if (!is_float(step.type) || byte_size(step.type) < 4) return false;
  if (step.pieces.size() != 1 || step.pieces.front().conditions.empty()) return false;
  const Sum& value = step.pieces.front().value;
  return value.size() == 1 && value.front().factors.size() >= 2 &&
         std::all_of(value.front().factors.begin(), value.front().factors.end(), [&](const Factor& factor) {
           return factor.power == 1 && factor.expr->type == step.type &&
                  std::holds_alternative<Access>(factor.expr->node);
         });
}

/// A subscript of what is multiplied, and the iterator over the dimension it stands in that takes its place.
struct Coordinate {
  ExprPtr subscript;
  IteratorRange range;
};

/// The coordinates of products of elements: each different subscript.
class ProductSpace {
 public:
  ProductSpace(const Boxes& boxes, FreeLetters letters) : boxes_(boxes), letters_(std::move(letters)) {}

  /// Takes the subscripts of \p read but the iterators \p summed; false for a tensor without a box, and for one subscript
  /// in dimensions of different ranges.
  bool add(const Access& read, const std::set<std::string>& summed) {
    const auto box = boxes_.find(read.tensor);
    if (box == boxes_.end()) return false;
    for (std::size_t d = 0; d < read.subscripts.size(); ++d) {
      const ExprPtr& subscript = read.subscripts[d];
      const auto* name = std::get_if<Name>(&subscript->node);
      if (name && summed.count(name->id)) continue;
      const IteratorRange& wanted = box->second[d];
      if (const Coordinate* known = find(subscript)) {
        if (!equal(known->range.low, wanted.low) || !equal(known->range.high, wanted.high)) return false;
        continue;
      }
      const bool is_iterator = name && name->kind == Name::Kind::Iterator;
      coordinates_.push_back({subscript, {is_iterator ? name->id : letters_.next(), wanted.low, wanted.high}});
    }
    return true;
  }

  /// Puts them in the order of the iterators \p left on which they depend: neighbours there read neighbours.
  void order_by(const std::vector<IteratorRange>& left) {
    const auto last = [&](const Coordinate& coordinate) {
      const auto names = names_in(coordinate.subscript);
      std::size_t place = 0;
      for (std::size_t d = 0; d < left.size(); ++d)
        if (names.count(left[d].name)) place = d + 1;
      return place;
    };
    std::stable_sort(coordinates_.begin(), coordinates_.end(),
                     [&](const Coordinate& a, const Coordinate& b) { return last(a) < last(b); });
  }

  /// \p read at the coordinates.
  ExprPtr at_coordinates(const ExprPtr& read) const {
    Access access = std::get<Access>(read->node);
    for (ExprPtr& subscript : access.subscripts)
      if (const Coordinate* found = find(subscript)) subscript = index_name(found->range.name);
    return make_expr(access, read->range, read->type);
  }

  const std::vector<Coordinate>& coordinates() const { return coordinates_; }

 private:
  const Coordinate* find(const ExprPtr& subscript) const {
    const auto found = std::find_if(coordinates_.begin(), coordinates_.end(),
                                    [&](const Coordinate& other) { return equal(other.subscript, subscript); });
    return found == coordinates_.end() ? nullptr : &*found;
  }

  const Boxes& boxes_;
  FreeLetters letters_;
  std::vector<Coordinate> coordinates_;
};

/// The sums of products that \p step, a sum over residues, spreads, as a step of their own; \p step then reads them. The
/// product is plain, and computed once an element: guards would be evaluated for each that is multiplied, and residues
/// multiply more of them than there are.
///
///   r(t,u) +=! u - q >= 0 && t + 2*q < K ? d(m, u - q) * w(m, t + 2*q) : 0
///   becomes    p(a,b) +=! d(m, a) * w(m, b)      r(t,u) +=! u - q >= 0 && t + 2*q < K ? p(u - q, t + 2*q) : 0
std::optional<Step> products_of(Step& step, const Boxes& boxes, const FreeLetters& letters, FreshNames& names,
                                const std::string& wanted) {
  if (!sums_products(step)) return std::nullopt;
  Term& term = step.pieces.front().value.front();
  const std::set<std::string> summed = free_iterators(step, term.factors);
  ProductSpace space(boxes, letters);
  for (const Factor& factor : term.factors)
    if (summed.empty() || !space.add(std::get<Access>(factor.expr->node), summed)) return std::nullopt;
  space.order_by(step.left);
  Step products{.target = names.take(wanted), .type = step.type, .left = {}, .reduction = {}};
  std::vector<ExprPtr> subscripts;
  for (const Coordinate& coordinate : space.coordinates()) {
    products.left.push_back(coordinate.range);
    subscripts.push_back(coordinate.subscript);
  }
  for (const auto& range : products.left) names.take_iterator(range.name);
  products.op = ReductionOp::Sum;
  products.initialise = true;
  Term product;
  for (const Factor& factor : term.factors) product.factors.push_back({space.at_coordinates(factor.expr)});
  products.pieces = {{{}, {product}}};
  for (const auto& range : step.reduction)
    if (summed.count(range.name)) products.reduction.push_back(range);
  std::erase_if(step.reduction, [&](const IteratorRange& range) { return summed.count(range.name) != 0; });
  term.factors = {{access(products.target, subscripts, step.type)}};
  return products;
}

}  // namespace

std::vector<Step> split_residues(std::vector<Step> steps, FreshNames& names, GuardProver& prover, Boxes boxes) {
  std::vector<Step> result;
  for (Step& step : steps) {
    boxes.try_emplace(step.target, step.left);
    FreeLetters letters("tuvabefghijklmnopqrswxyz", names.taken());
    for (const auto* ranges : {&step.left, &step.reduction})
      for (const auto& range : *ranges) letters.take(range.name);
    std::vector<Residue> residues;
    Step made = step;
    const bool sum_of_pieces = step.op == ReductionOp::Sum && step.initialise && !step.value && step.loops.empty();
    for (std::size_t d = 0; sum_of_pieces && d < step.left.size(); ++d)
      if (const auto residue = residue_of(made, step.left[d].name, letters)) {
        made = split(made, *residue, residues.size());
        residues.push_back(*residue);
      }
    if (!residues.empty()) {
      for (const Residue& residue : residues)
        for (const auto& name : {residue.rest, residue.whole}) names.take_iterator(name);
      std::vector<IteratorRange> ranges = made.left;
      ranges.insert(ranges.end(), made.reduction.begin(), made.reduction.end());
      for (Guarded& piece : made.pieces) piece.conditions = prover.simplified(ranges, piece.conditions);
      const std::string tensor = step.target.starts_with("d_") ? step.target.substr(2) : step.target;
      made.target = names.take(str("r_", tensor));
      if (auto products = products_of(made, boxes, letters, names, str("p_", tensor)))
        result.push_back(std::move(*products));
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
