#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/random/random_value.h"

/// Random texts of several defs that call one another, and what they mean, evaluated def by def without inlining.
namespace tc::test {

/// An int32 tensor of rank 0 to 2 over a box, in row-major order.
struct Boxed {
  std::vector<std::int64_t> mins, extents;
  std::vector<std::int32_t> values;
};

/// Tensors that do not fit together, or a range that ends before it begins.
struct DoesNotFit {};

/// One statement: an assignment of a few shapes, or a call.
struct CallLine {
  enum class Kind { Shift, Add, Outer, Map, Transpose, RowSum, RowMax, Window, Accumulate, Call };
  Kind kind = Kind::Shift;
  std::vector<std::string> targets, sources;
  int offset = 0, factor = 1;
  std::size_t callee = 0;

  std::string text(const std::string& callee_name) const;
};

struct CallDef {
  struct Param {
    std::string name;
    std::vector<std::string> sizes;
  };
  std::string name;
  std::vector<Param> params;
  std::vector<std::string> returns;
  std::vector<int> return_ranks;
  bool accumulates = false;  ///< into its one return
  std::vector<CallLine> lines;
};

/// A text whose last def is meant to be called.
struct CallText {
  std::vector<CallDef> defs;

  std::string text() const;
  /// What def \p index gives, seen from 0. \p held: what its return holds, where it accumulates. Throws DoesNotFit.
  std::vector<Boxed> evaluate(std::size_t index, const std::vector<Boxed>& arguments,
                              const Boxed* held = nullptr) const;
};

CallText random_calls(Random& random);

}  // namespace tc::test
