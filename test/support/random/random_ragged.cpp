#include "test/support/random/random_ragged.h"

#include <algorithm>

#include "tc/base/str.h"

namespace tc::test {

using namespace lang;

namespace {

ExprPtr plus(const ExprPtr& expr, std::int64_t shift) {
  if (shift == 0) return expr;
  return binary(shift > 0 ? BinaryOp::Add : BinaryOp::Sub, expr, integer(shift > 0 ? shift : -shift));
}

ExprPtr element(const std::string& tensor, const ExprPtr& subscript) {
  return make_expr(Access{tensor, {subscript}, false});
}

/// An element of \p pointers.entries with \p iterator in the dimension, or null if another dimension is empty.
ExprPtr entry(const Pointers& pointers, const std::string& iterator) {
  std::vector<ExprPtr> subscripts;
  for (std::size_t d = 0; d < pointers.entries.box.size(); ++d) {
    if (d != pointers.dimension && pointers.entries.box[d].extent == 0) return nullptr;
    subscripts.push_back(d == pointers.dimension ? name(iterator) : integer(0));
  }
  return make_expr(Access{pointers.entries.name, subscripts, false});
}

/// One of \p others with values in [0, \p count), else a constant of them.
ExprPtr row(Random& random, const std::vector<KnownIterator>& others, std::int64_t count) {
  std::vector<std::string> fitting;
  for (const auto& other : others)
    if (!other.inferred && other.low >= 0 && other.high <= count) fitting.push_back(other.name);
  return fitting.empty() ? integer(random.between(0, count - 1)) : name(random.pick(fitting));
}

}  // namespace

std::vector<Pointers> add_pointers(Random& random, const SizeMap& sizes, const std::string& prefix, Params& params) {
  std::vector<Pointers> result;
  std::vector<Pointers> targets;
  for (const auto& tensor : params.tensors)
    for (std::size_t d = 0; d < tensor.box.size(); ++d) targets.push_back({"", 0, tensor, d});
  for (std::int64_t n = targets.empty() ? 0 : random.between(1, 2); n > 0; --n) {
    Pointers made = random.pick(targets);
    made.name = str(prefix, params.tensors.size());
    made.count = random.between(2, random.chance(50) ? 40 : 6);
    KnownTensor tensor{
        made.name,          random.pick(std::vector<DType>{DType::Int32, DType::Int64, DType::Int16, DType::UInt8}),
        {{0, made.count}},  {},
        {0, 0, true, true}, {}};
    const ExprPtr size = size_expr(random, sizes, {params.bound.begin(), params.bound.end()}, made.count);
    tensor.extents = {size};
    InputRule rule{0, made.entries.box[made.dimension].extent + 1, random.chance(15)};
    rule.ascends = !random.chance(10);
    tensor.knowledge.magnitude = rule.special ? 0x1p64 : static_cast<double>(rule.high);
    params.decls.push_back({made.name, tensor.type, std::vector<ExprPtr>{size}, {}});
    params.inputs[made.name] = rule;
    params.tensors.push_back(tensor);
    result.push_back(made);
  }
  return result;
}

std::optional<std::vector<Clause>> ragged_range(Random& random, KnownIterator& iterator,
                                                const std::vector<KnownIterator>& others,
                                                const std::vector<Pointers>& all) {
  if (all.empty()) return std::nullopt;
  const Pointers& pointers = random.pick(all);
  const ExprPtr bounding = entry(pointers, iterator.name);
  if (!bounding) return std::nullopt;
  iterator.low = 0;
  iterator.high = pointers.entries.box[pointers.dimension].extent;
  iterator.inferred = true;
  const ExprPtr first = row(random, others, pointers.count - 1);
  ExprPtr low = element(pointers.name, first), high = element(pointers.name, plus(first, 1));
  if (random.chance(15))
    low = integer(0);
  else if (random.chance(10))
    low = first;
  else if (random.chance(10))
    high = plus(low, random.between(0, 2));
  return std::vector<Clause>{{RangeClause{iterator.name, low, high}, {}}, {ExistsClause{bounding}, {}}};
}

Clause triangle(Random& random, const KnownIterator& iterator, const std::vector<KnownIterator>& others) {
  const ExprPtr other = plus(name(random.pick(others).name), random.between(-1, 2));
  if (random.chance(50)) return {RangeClause{iterator.name, integer(iterator.low), other}, {}};
  return {RangeClause{iterator.name, other, integer(iterator.high + random.between(0, 1))}, {}};
}

}  // namespace tc::test
