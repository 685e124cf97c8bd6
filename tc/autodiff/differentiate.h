#pragma once

#include <string>
#include <vector>

#include "tc/autodiff/reverse/reverse.h"
#include "tc/lang/check/inline.h"

/// Reverse-mode differentiation, tree to tree.
namespace tc::autodiff {

struct Options {
  std::vector<std::string> wrt = {};  ///< parameters, and returns that update the caller's tensor; empty: all floats
  std::vector<std::string> of = {};   ///< returns; empty: all floats
  bool save_outputs = true;           ///< returns that the backward reads are its parameters, not computed again
  bool by_guards = false;             ///< no access is solved: right for all, and slow
};

/// The def of a vector-Jacobian product.
struct Gradient {
  lang::File file;                 ///< one def and its text, checked
  lang::Ranges ranges;             ///< of it
  std::vector<std::string> saved;  ///< returns of the def that are parameters here, after the def's own
  std::vector<std::string> seeds;  ///< parameters d_O, for each of `of`, after these
  std::vector<std::string> wrt;    ///< a return d_X for each, d_O_old for a return O that updates the caller's tensor
  std::vector<ReadReport> reads;
  std::vector<std::string> notes;  ///< what costs speed, or is 0 everywhere

  const lang::Def& def() const { return file.defs.front(); }
};

/// The gradient of \p function, whose places are in \p text.
///
///   def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
///
///   def mm_grad(float32(M, K) A, float32(K, N) B, float32(M, N) d_C) -> (d_A, d_B) {
///     d_A(m, k) +=! d_C(m, n) * B(k, n)
///     d_B(k, n) +=! A(m, k) * d_C(m, n)
///   }
///
/// Its parameters are those of the def, the returns it saves and a d_O for each return; it returns a d_X for each
/// parameter. Throws SemanticError with all errors: TC301 nothing to differentiate, TC302 a tensor that is no float,
/// TC303 a function without a known derivative, TC304 an unknown name, TC306 a gradient that needs values which the def
/// overwrites in the caller's tensor, TC307 a third derivative of a product, TC308 a loop that no loop reverses; ResourceError if the result is too large a text. InternalError (TC305) if it is no program.
Gradient differentiate(const lang::InlinedDef& function, const std::string& text, const Options& options = {});

}  // namespace tc::autodiff
