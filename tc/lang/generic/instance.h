#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/lang/syntax/tree.h"

/// Generic defs: their parameters have type names in the place of element types, or leading dimensions, written `...`, of
/// any number. One text stands for a concrete def of each choice.
///
///   def rmsnorm(T(...,C) X, T(C) g) -> (Y) { s(...) +=! X(...,c) * X(...,c)  Y(...,c) = X(...,c) * g(c) * rsqrt(s(...) / C) }
namespace tc::lang {

/// The choice that makes a generic def concrete.
struct Instance {
  std::map<std::string, DType> types;  ///< of the type names
  int leading = 0;                     ///< dimensions that `...` stands for

  bool operator==(const Instance&) const = default;
  bool operator<(const Instance& other) const;
};

/// "T = float32, 2 leading dimensions"
std::string print(const Instance& instance);

/// Does \p decl declare leading dimensions?
bool has_leading(const TensorDecl& decl);

/// Has a parameter of \p def, as parsed, a type name or leading dimensions?
bool is_generic(const Def& def);

/// The instance that stands for a generic def where no tensors are given: float32, and one leading dimension.
Instance usual_instance(const Def& def);

/// The element type and the rank of an argument; a number has no type of its own.
struct Operand {
  std::optional<DType> type;
  int rank = 0;
};

/// The instance of \p def, a generic one, for \p operands, one for each parameter. A type name that only numbers are given
/// for is float32. Throws ArgumentError where two operands disagree, or one has too few dimensions.
Instance instance_for(const Def& def, const std::vector<Operand>& operands);

}  // namespace tc::lang
