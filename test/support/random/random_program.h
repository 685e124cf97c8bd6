#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"
#include "test/support/interpret_text.h"

namespace tc::test {

/// What random programs may hold.
struct RandomOptions {
  int max_statements = 5;
  std::int64_t max_points = 4000;  ///< instances of one statement
  int max_depth = 3;               ///< of a value
  bool calls = true;
  bool inexact = true;    ///< functions such as exp, compared with a tolerance
  int parts = 25;         ///< percent of the programs that mostly assign again to parts of tensors
  int scatters = 20;      ///< percent of the programs in which reductions write where values say
  int ragged = 25;        ///< percent of the programs whose reductions have ranges between elements, and triangles
  int contractions = 20;  ///< percent of the programs that random_contraction makes
  int whole_tiles = 0;    ///< percent of these whose sizes are multiples of the tiles of a grid
};

/// Values of one input: integers in [low, high); with `special`, one element in eight of a float tensor is NaN, an infinity or -0, and
/// half of the elements of an integer tensor are ends of its type or any bits.
struct InputRule {
  std::int64_t low = -4, high = 5;
  bool special = false;
  bool ascends = false;  ///< in row-major order; with `special`, one element may be an end of its type
};

/// A program, sizes and inputs, all from a seed. Float values stay integers or halves of integers below 2^23, so that
/// float32 arithmetic in any order is exact wherever the tolerance is 0.
struct RandomProgram {
  std::uint64_t seed = 0;
  lang::File file;      ///< as parsed; the last def is the one to run
  lang::SizeMap sizes;  ///< of the last def
  std::map<std::string, InputRule> inputs;
  std::map<std::string, double> tolerance;  ///< of each return, relative; 0: exact
  bool contraction = false;                 ///< from random_contraction
  bool parts = false;                       ///< mostly assigns again to parts of tensors
  bool whole_tiles = false;                 ///< its sizes are multiples of the tiles of a grid

  const lang::Def& def() const { return file.defs.back(); }
  std::string text() const;
  /// Text, sizes and inputs, to be shown with a failure.
  std::string describe() const;
};

/// The program of \p seed; the same on every machine. Most are valid: those that check, range inference or
/// preconditions refuse are to be passed over.
RandomProgram random_program(std::uint64_t seed, const RandomOptions& options = {});

/// The parameters' tensors. With \p strided, some have gaps, permuted or negative strides.
Tensors arguments_of(const RandomProgram& program, bool strided = false);
/// Values by the rule \p name has, for an in/out return of \p shape.
HostTensor random_tensor(const RandomProgram& program, const std::string& name, DType type,
                         const std::vector<std::int64_t>& shape, bool strided = false);

/// A smaller program that still fails: statements are dropped, expressions replaced by parts of them, clauses left
/// out, sizes reduced, as long as \p fails holds (which gives false, not an exception, for an invalid program).
RandomProgram reduce_program(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
                             int max_trials = 2000);

}  // namespace tc::test
