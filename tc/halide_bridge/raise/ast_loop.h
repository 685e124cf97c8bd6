#pragma once

#include <cstdint>
#include <string>

#include "tc/halide_bridge/raise/raise_expr.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {

/// A `for` node: iterator = init + increment * trip for the trips 0 ... last.
struct AstLoop {
  std::string iterator;
  Bounded init;
  Bounded last;
  std::int64_t increment = 1;
  isl::ast_node body;

  /// Is the number of trips known?
  bool has_constant_trips() const;
  /// Has it `last.high` + 1 trips, or none?
  ///
  ///   last = 503 - 8 max(k, 62), at most 7: as it is 7 modulo 8, it is 7 or negative
  bool runs_all_or_nothing() const;
};

/// The loop that \p node is, a `for`, with its bounds over \p environment.
///
///   for (c0 = 4; c0 < 12; c0 += 2)      iterator c0, init 4, last 3, increment 2
AstLoop describe_loop(const isl::ast_node& node, const Environment& environment);

}  // namespace tc::halide_bridge
