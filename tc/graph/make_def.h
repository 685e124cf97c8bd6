#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// A tensor that statements read or write.
struct Operand {
  std::string name;  ///< in the statements
  DType type = DType::Float32;
  std::vector<std::int64_t> shape;  ///< of a parameter
  std::vector<std::int64_t> mins;   ///< of a parameter: the indices of its first element in the statements
  bool declare_type = true;         ///< of a return
  Dims dims = {};                   ///< of a parameter: over symbolic sizes
};

/// Statements as a def: `params` are what they read, `returns` what of the rest others see.
struct DefSketch {
  std::string name;
  std::vector<Operand> params, returns;
  std::vector<lang::Statement> statements;
};

/// \p sketch as a def, not checked: sizes are numbers, symbolic ones names, and reads of parameters begin at index 0. A dimension
/// that is no name gets one.
///
///   T(i) = A(i) * 2, A of 4 elements from index 1 on        def f(float(4) A) -> (float T) { T(i) = A(i - 1) * 2 }
lang::Def make_def(const DefSketch& sketch);

/// Does a statement of \p statements use an element of a tensor as a subscript?
bool has_indirect_subscript(const std::vector<lang::Statement>& statements);

/// \p sketch with the tensors called by what they are to it, so that sketches that do the same are equal: X0, X1, ...
/// are its parameters, Y0, ... its returns, T0, ... the others. The names of what it calls, and of iterators, stay.
DefSketch with_plain_names(const DefSketch& sketch);

/// The tensors and iterators of \p def.
std::set<std::string> identifiers(const lang::Def& def);

/// \p def with new names for those of its tensors and iterators that are in \p taken.
///
///   f(i) = A(i) * 2, f taken        f_1(i) = A(i) * 2
lang::Def with_names_apart(lang::Def def, const std::set<std::string>& taken);

/// \p def, which may call defs of \p defs and has other names for what it calls like one of them, checked, without calls and lets, and its ranges.
/// Throws SemanticError as define() does.
std::shared_ptr<const lang::InlinedDef> understood(const lang::Def& def, const Defs& defs);

/// The ranges that inlining asks for, over the defs of \p defs.
lang::InlineContext inline_context(const Defs& defs);

}  // namespace tc::graph
