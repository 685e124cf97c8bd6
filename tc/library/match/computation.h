#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/base/tensor.h"
#include "tc/lang/check/inline.h"
#include "tc/library/match/affine.h"

/// A def as one expression of its inputs, so that defs which compute the same in other words look the same: temporaries
/// are written out, initial values and accumulation are one reduction, guards with the neutral element bound reductions.
///
///   P(i) = i >= 1 ? X(i - 1) : 0   Y(i) = 0   Y(i) += P(i + r) * W(r)        Y(i0) = sum(r1 : i0 + r1 - 1 >= 0) X(i0 + r1 - 1) * W(r1)
namespace tc::library {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// An element of an input, or what an output held before. Subscripts count from the tensor's first element.
struct Read {
  std::size_t argument = 0;
  DType type = DType::Float32;
  std::vector<Affine> subscripts;
};
struct Constant {
  double value = 0;
};
/// An operator ("+", "*", "?", ">") or a function of the language.
struct Apply {
  std::string function;
  std::vector<NodePtr> arguments;
};
/// `value` where all conditions hold, else `otherwise`.
struct Guarded {
  Conditions conditions;
  NodePtr value, otherwise;
};
/// `op` over the values of `body` for all iterators where the conditions hold.
struct Reduce {
  ReductionOp op = ReductionOp::Sum;
  std::vector<int> iterators;
  Conditions conditions;
  NodePtr body;
};
struct Node {
  std::variant<Read, Constant, Apply, Guarded, Reduce> value;
};

/// An iterator, from 0 to its extent.
struct Iterator {
  std::string name;
  std::int64_t extent = 0;  ///< of a user's def
  std::string size = {};    ///< of a routine's def: what it calls the extent
};

/// The return of a def of one, for each index of it.
struct Computation {
  std::vector<Iterator> iterators;    ///< by id
  std::vector<int> outer;             ///< those of the return
  std::size_t result = 0;             ///< the argument that is written
  std::vector<TensorSpec> arguments;  ///< of a user's def: inputs, then outputs
  std::vector<Affine> written;        ///< the subscripts of the return
  NodePtr value;
  bool finite = false;                          ///< is every value on its way taken to be finite?
  std::vector<std::vector<std::string>> sizes;  ///< of a routine's def: the sizes of its parameters
};

/// \p def for \p arguments as one expression; nothing where it has several returns, a subscript that is not linear,
/// statements that write parts of tensors, or is too large. Where all values are \p finite, expressions that differ for
/// infinite ones and NaN alone may become one.
std::optional<Computation> understand(const lang::InlinedDef& def, const std::vector<TensorSpec>& arguments,
                                      bool finite = false);

/// The def of a routine. Throws InternalError where it is not one.
Computation understand_routine(const std::string& def);

/// Calls \p visit for \p node and every node below it.
template <typename F>
void for_each_node(const NodePtr& node, F&& visit) {
  visit(*node);
  if (const auto* apply = std::get_if<Apply>(&node->value))
    for (const auto& argument : apply->arguments) for_each_node(argument, visit);
  if (const auto* guarded = std::get_if<Guarded>(&node->value)) {
    for_each_node(guarded->value, visit);
    for_each_node(guarded->otherwise, visit);
  }
  if (const auto* reduce = std::get_if<Reduce>(&node->value)) for_each_node(reduce->body, visit);
}

/// The iterators that \p computation runs through: those of the return, and of each reduction of the value.
std::vector<int> iterators_run(const Computation& computation);

/// \p node with each affine function f replaced by \p change(f); iterators of reductions are renamed by \p rename.
NodePtr with_functions(const NodePtr& node, const std::function<Affine(const Affine&)>& change,
                       const std::function<int(int)>& rename);

}  // namespace tc::library
