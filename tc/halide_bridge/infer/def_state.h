#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/halide_bridge/infer/index_bounds.h"
#include "tc/halide_bridge/infer/index_proof.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/diagnostics.h"

namespace tc::halide_bridge {

/// What inference knows of a def while it goes through its statements. An empty box: not known because of an error.
struct DefState {
  const lang::Def& def;
  SizeFacts facts;
  IndexProver& prover;
  IndexProver& checker;  ///< knows, too, that no range given so far ends before it begins: a call is refused else
  lang::Diagnostics& diagnostics;
  const Cancellation& cancellation;
  std::map<std::string, std::optional<std::vector<IndexBounds>>> boxes;
  lang::Ranges result;
  std::set<std::string> conditions;  ///< preconditions in the result, as text
  /// Returns with declared sizes that statements of a loop read before the first of them that writes them: their boxes are
  /// the declared ones, which the statement must fill.
  std::set<std::string> announced = {};

  /// Adds a condition on sizes that is not decided; one that cannot hold is false. It need not hold where one of
  /// \p extents is 0.
  void require(const Halide::Expr& condition, const std::string& reason, lang::SourceRange range,
               const std::vector<Halide::Expr>& extents = {});
};

/// max - min + 1.
Halide::Expr extent(const IndexBounds& bounds, const SizeFacts& facts);
/// The bounds as the tree's Range.
lang::Range to_range(const IndexBounds& bounds, const SizeFacts& facts);
/// "[0, N)"
std::string print(const IndexBounds& bounds, const SizeFacts& facts);
/// T.d over sizes.
Halide::Expr size_of(const DefState& state, const lang::SizeOf& size);

}  // namespace tc::halide_bridge
