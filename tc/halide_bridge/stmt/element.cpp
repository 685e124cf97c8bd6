#include "tc/halide_bridge/stmt/element.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/stmt/convert.h"
#include "tc/halide_bridge/stmt/strict.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

Expr conjunction(const Expr& a, const Expr& b) {
  if (!a.defined()) return b;
  return b.defined() ? ir::And::make(a, b) : a;
}

bool exists_in_tail(const polyhedral::Tensor& tensor) { return tensor.padded || tensor.combined; }

/// Lanes that may touch \p tensor; undefined: all.
Expr mask(const polyhedral::Tensor& tensor, const Lanes& lanes) {
  return exists_in_tail(tensor) ? lanes.guard : lanes.running();
}

Expr raw_load(const polyhedral::Tensor& tensor, const Expr& index, const Expr& predicate) {
  int n = index.type().lanes();
  return ir::Load::make(storage_type(tensor.type).with_lanes(n), tensor.name, index, Halide::Buffer<>(),
                        ir::Parameter(), predicate.defined() ? predicate : ir::const_true(n), ir::ModulusRemainder());
}

/// One element for all lanes, read where any of them runs, or where it is there.
Expr load_uniform(const polyhedral::Tensor& tensor, const Expr& index, const Lanes& lanes, bool inside) {
  Expr value = raw_load(tensor, index, Expr());
  if (!lanes.guard.defined() || inside) return value;
  Expr any = ir::VectorReduce::make(ir::VectorReduce::Or, lanes.running(), 1);
  return ir::Call::make(value.type(), ir::Call::if_then_else, {any, value, ir::make_zero(value.type())},
                        ir::Call::PureIntrinsic);
}

}  // namespace

Lanes Lanes::guarded(const Expr& condition) const {
  Lanes result = *this;
  result.guard = conjunction(guard, broadcast(condition, count));
  return result;
}

Expr Lanes::running() const { return conjunction(tail, guard); }

Halide::Type storage_type(DType type) {
  if (type == DType::Bool) return Halide::UInt(8);
  if (is_float(type)) return is_half(type) ? Halide::UInt(16) : Halide::Float(bit_size(type));
  return is_signed_integer(type) ? Halide::Int(bit_size(type)) : Halide::UInt(bit_size(type));
}

Bounded stride(const polyhedral::Tensor& tensor, std::size_t dimension) {
  const bool told = !tensor.stride_variables.empty() && !tensor.stride_variables.at(dimension).empty();
  if (!told) return exactly(tensor.strides[dimension]);
  return variable(tensor.stride_variables[dimension], 0, tensor.strides[dimension]);
}

Bounded address(const polyhedral::Tensor& tensor, const std::vector<Bounded>& subscripts) {
  if (subscripts.size() != tensor.min.size())
    throw InternalError(str("tensor '", tensor.name, "' has ", tensor.min.size(), " dimensions and ", subscripts.size(),
                            " subscripts"));
  Bounded sum = exactly(0);
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (tensor.extent[i] == 1) continue;
    sum = add(sum, multiply(subtract(subscripts[i], exactly(tensor.min[i])), stride(tensor, i)));
  }
  return sum;
}

Expr load(const polyhedral::Tensor& tensor, const Bounded& address, const Lanes& lanes, bool inside) {
  Expr index = address.expr;
  if (const auto* same = index.as<ir::Broadcast>()) index = same->value;
  if (index.type().is_scalar()) return decode(load_uniform(tensor, index, lanes, inside), tensor.type);
  return decode(raw_load(tensor, index, mask(tensor, lanes)), tensor.type);
}

Stmt store(const polyhedral::Tensor& tensor, const Bounded& address, Expr value, const Lanes& lanes) {
  const Expr& index = address.expr;
  int n = index.type().lanes();
  Expr bits = strict(encode(broadcast(value, n), tensor.type));
  Expr runs = n == 1 ? Expr() : lanes.running();
  if (runs.defined() && exists_in_tail(tensor) && (tensor.combined || lanes.guard.defined())) {
    bits = strict(ir::Select::make(runs, bits, raw_load(tensor, index, Expr())));
    runs = Expr();
  } else if (exists_in_tail(tensor)) {
    runs = Expr();
  }
  return ir::Store::make(tensor.name, bits, index, ir::Parameter(), runs.defined() ? runs : ir::const_true(n),
                         ir::ModulusRemainder());
}

}  // namespace tc::halide_bridge
