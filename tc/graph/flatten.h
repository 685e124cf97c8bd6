#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tc/graph/graph.h"

namespace tc::graph {

/// A def as it is called in a flat one: its parameters and returns are tensors of that.
struct Frame {
  const lang::Def* def = nullptr;
  std::vector<std::size_t> params, returns;  ///< tensors; `returns` in the end
  std::size_t first_step = 0, end_step = 0;
};

/// A statement of a flat def: a call of a def without calls, or an assignment of the def of a frame.
struct Step {
  const lang::Statement* statement = nullptr;
  std::size_t frame = 0;
  std::map<std::string, std::size_t> tensors;  ///< what the names of an assignment mean
  std::vector<std::size_t> reads;              ///< of a call: its arguments in order, then what it accumulates into
  std::vector<std::size_t> writes;             ///< of a call: its results in order
};

/// A tensor of a flat def; each value that a call gives to a name is one of its own.
struct FlatTensor {
  std::string name;
  DType type = DType::Float32;
  std::size_t rank = 0;
  lang::Role role = lang::Role::Temporary;
};

/// A def whose calls of defs that hold calls are written out, sizes left open.
struct FlatDef {
  std::vector<FlatTensor> tensors;
  std::vector<std::size_t> inputs, outputs;
  std::vector<Frame> frames;  ///< in the order in which they begin; the first is the def itself
  std::vector<Step> steps;
};

/// Def \p name of \p defs, flat. Nothing where no graph of values says what it does: a call gives a new value to a tensor
/// that the def accumulates into for its caller, or accumulates into a tensor that is an argument of it; or a loop stands beside calls.
std::optional<FlatDef> flatten(const Defs& defs, const std::string& name);

}  // namespace tc::graph
