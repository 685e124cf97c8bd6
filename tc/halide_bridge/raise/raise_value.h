#pragma once

#include <Halide.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/raise/raise_expr.h"
#include "tc/halide_bridge/stmt/element.h"
#include "tc/polyhedral/generate/generate.h"

/// Values of source statements at a place of the loop nest.
namespace tc::halide_bridge {

/// What an instance needs to know of its surroundings.
struct Place {
  const polyhedral::Site& site;
  const polyhedral::Scop& scop;
  const polyhedral::Statement& statement;
  const Environment& environment;
};

/// The address of an access, in the tensor that it is to.
struct SiteAddress {
  Bounded at;
  const polyhedral::Tensor* tensor = nullptr;
  bool inside = false;  ///< the ranges of loops prove that it is in the tensor, whatever conditions say
};
/// That of \p access of \p place.
SiteAddress site_address(const Place& place, const isl::ast_expr& access);

/// \p tensor as it lies in memory: halves are words of 16 bits.
polyhedral::Tensor as_words(polyhedral::Tensor tensor);

/// A loop of `trips` iterations over the variable `name`.
struct RaisedLoop {
  std::string name;
  Bounded first, trips;
  std::vector<std::pair<std::string, Halide::Expr>> names;  ///< the variables of the bounds, in order
  Lanes lanes;                                              ///< that run in an iteration
};

/// What the source of a statement computes at a place, and where it writes.
struct Raised {
  Halide::Expr value;
  Bounded offset;  ///< elements of the target from the element that the site tells to the one that is written
  std::vector<std::pair<std::string, Halide::Expr>> names;  ///< the variables of `offset`, in order
  std::optional<RaisedLoop> loop = {};                      ///< around the statement
};

/// The source of the statement at \p place: its iterators become those of the site, its reads loads.
Raised raise_source(const Place& place, const Program& program, const Lanes& lanes);

/// The element that read number Statement::source_read of the source finds, halves as words of 16 bits if \p as_bits.
Halide::Expr raise_read(const Place& place, const Program& program, bool as_bits, const Lanes& lanes);

}  // namespace tc::halide_bridge
