#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/lang/check/inline.h"
#include "tc/layout/rewrite/certify.h"

namespace tc::layout {

/// Layouts for tensors of a def.
struct Layouts {
  std::map<std::string, Layout> of = {};  ///< parameters, returns and temporaries; others stay as they are
  /// Parameters that lie in a slice of another parameter's tensor, see store_at; both have a layout.
  std::map<std::string, std::string> stored_in = {};
};

/// A def whose tensors have layouts: a def of the tensors that hold them.
struct LaidOutDef {
  lang::File file;                        ///< one def and its text, checked; its sizes are numbers
  lang::Ranges ranges;                    ///< of it
  std::map<std::string, LayoutMap> maps;  ///< of the tensors that have a layout
  std::vector<StatementProof> proofs;     ///< one a statement, or none

  const lang::Def& def() const { return file.defs.front(); }
};

/// Is a def in new layouts proved to compute the same? One that is only priced need not be: it is never run.
enum class Proofs : std::uint8_t { Each, None };

/// \p function for \p sizes with tensors in \p layouts. Statements follow the layout of what they write, subscripts those
/// of what they read; `/` and `%` are left only where layouts do not fit each other. That it computes the same is proved by
/// isl, statement by statement, see certify(), where \p proofs asks for it.
///
///   def f(float(N,C) X) -> (Y) { Y(n,c) = X(n,c) * 2 }       N = 4, C = 20, X and Y: split(1, 16)
///
///   def f(float32(4, 2, 16) X) -> (float32(4, 2, 16) Y) { Y(n, co, ci) = X(n, co, ci) * 2 where n in 0:4, co in 0:2, ci in 0:16 }
///
/// Throws OptionsError: a layout for a tensor that is not there or does not fit it; a written tensor whose places hold
/// several elements or that has elements without a place; a read of an element without a place; a subscript that data
/// decide into a layout with holes; a statement that initialises a part of a tensor with a layout. ArgumentError
/// for \p sizes that the def does not take.
LaidOutDef apply_layouts(const lang::InlinedDef& function, const lang::SizeMap& sizes, const Layouts& layouts,
                         Proofs proofs = Proofs::Each);

/// The def that takes a tensor of \p extents from one layout to another, `convert`, with parameter X and return Y.
///
///   from identity, to NHWC        Y(n, h, w, c) = X(n, c, h, w)
LaidOutDef conversion(DType type, const Extents& extents, const Layout& from, const Layout& to);

}  // namespace tc::layout
