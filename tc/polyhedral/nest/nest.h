#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tc::polyhedral {

/// An index of loops of a nest: a member of the cluster's outer band, or an iterator of one statement.
struct NestIndex {
  int statement = -1;  ///< position in Nest::branches; -1: a member of the band
  int number = 0;      ///< of the member, or the position in the statement's domain

  bool operator==(const NestIndex&) const = default;
};

/// One digit of an index: floor(rest / step), where rest is the remainder of the index after its outer digits, the
/// index mod `mod`. The first digit has mod 0, so rest is the index itself, relative to the begin of its range.
///
///   of 0 <= n < 1000:   n/240   n%240/48   n%48/16   n%16      5, 5, 3 and 16 iterations
struct Digit {
  NestIndex index;
  std::int64_t mod = 0, step = 1;

  bool operator==(const Digit&) const = default;
};

/// The kind of a loop: sequential, unrolled, vector lanes, cores, or one instruction that sums products; on a GPU
/// also blocks along a dimension of the grid, threads along a dimension of a block, or all threads of a block.
///
/// The loops of a branch on all threads are numbered as one loop, the last of them fastest; the number mod the number
/// of threads is the thread's number.
enum class NestPlace { Serial, Unrolled, Lanes, Cores, Unit, Grid, Thread, Threads };

struct NestLoop {
  Digit digit;
  NestPlace place = NestPlace::Serial;
  int dimension = 0;        ///< of the grid or of a block: 0, 1, 2 are x, y, z
  std::int64_t blocks = 0;  ///< iteration n runs in block n mod `blocks`; 0: each iteration in its own block
  std::int64_t beside = 1;  ///< on all threads: this many consecutive numbers go to neighbouring threads
  int slots =
      0;  ///< copies are made for each iteration, and the copies of this many iterations are in memory at once; 0: no copies
  int lanes = 0;                            ///< of the vector; its last lanes are idle if the digit has fewer values
  int width = 0, steps = 0;                 ///< of the unit: the products that it sums, and its steps (DotMapping)
  bool with_private_sums = false;           ///< each iteration accumulates privately, then adds to the result
  std::optional<NestIndex> slides_along{};  ///< iterations and this index share a sliding window
  int slide_step = 1;                       ///< elements from one value of that index to the next

  bool operator==(const NestLoop&) const = default;
};

/// The serial loop over a digit of \p index.
inline NestLoop loop_over(const NestIndex& index, std::int64_t mod, std::int64_t step) {
  return {.digit = {index, mod, step}};
}

/// A dense copy of the elements that one read of a statement accesses below it (PackMapping).
struct NestCopy {
  int statement = 0;  ///< position in Nest::branches
  int read = 0;       ///< position in Statement::reads
  int panel = -1;     ///< the iterator of the statement that panels or rows consist of
  std::int64_t size = 1;
  bool panel_last = true;  ///< lanes of a panel are adjacent; else dense rows
  int lanes = 0;           ///< of the copying loops

  bool operator==(const NestCopy&) const = default;
};

/// A copy in shared memory of the elements that one read of a statement accesses below the loops over tiles and over
/// blocks of the reduction (GridCopy).
struct NestSharedCopy {
  int statement = 0;    ///< position in Nest::branches
  int read = 0;         ///< position in Statement::reads
  int contiguous = -1;  ///< the iterator of the statement along which the copy is contiguous; -1: in the tensor's order
  int run_along = -1;   ///< the iterator along which `vector` elements are read at once
  std::int64_t vector = 1, beside = 1;
  /// With several slots: is the copy asynchronous, or held in registers?
  bool asynchronous = false;

  bool operator==(const NestSharedCopy&) const = default;
};

/// A tensor whose elements stay in a buffer while the inner loops run.
struct NestKeep {
  std::string tensor;
  bool is_temporary =
      false;  ///< it is not read after the cluster, so no loops empty the buffer; it has a buffer if it fits

  bool operator==(const NestKeep&) const = default;
};

/// The loops that copy kept tensors in and out: vectorised along a member, with the points of a tile unrolled or not.
struct NestCopyLanes {
  int member = 0, lanes = 0;
  bool unrolled = false;

  bool operator==(const NestCopyLanes&) const = default;
};

/// Full tiles have code of their own, without conditions.
struct NestSeparate {
  bool operator==(const NestSeparate&) const = default;
};

/// Execution of the statements that a kernel adds to the program's: they fill and empty kept tensors, and combine
/// sums.
struct NestAdded {
  bool points_innermost = false, in_lanes = false, unrolled = false;

  bool operator==(const NestAdded&) const = default;
};

/// A step of the trunk, and its line in the text; 0 without a text.
struct NestStep {
  std::variant<NestLoop, NestCopy, NestKeep, NestCopyLanes, NestSharedCopy, NestSeparate, NestAdded> what;
  int line = 0;

  bool operator==(const NestStep& other) const { return what == other.what; }
};

/// The loops of one statement below the trunk, outermost first.
struct NestBranch {
  std::string statement;
  std::vector<NestLoop> loops;
  int line = 0;
  std::string unit = {};  ///< of a kernel: the unit of a warp that computes the innermost digits (MatrixUnit); "": none

  bool operator==(const NestBranch& other) const {
    return statement == other.statement && loops == other.loops && unit == other.unit;
  }
};

/// The launch configuration of a kernel, and the memory that it may use (GridClusterMapping).
struct NestLaunch {
  std::array<std::int64_t, 3> block = {1, 1, 1};  ///< threads
  std::int64_t shared_bytes = 0, thread_elements = 128;
  int blocks_per_multiprocessor = 0;
  int line = 0;

  bool operator==(const NestLaunch& other) const {
    return block == other.block && shared_bytes == other.shared_bytes && thread_elements == other.thread_elements &&
           blocks_per_multiprocessor == other.blocks_per_multiprocessor;
  }
};

/// The loops of a cluster on a machine, outermost first: a trunk that all statements share, then a branch for each of them
/// in program order. Two mappings with the same nest are carried out as the same code.
struct Nest {
  std::optional<NestLaunch> launch{};  ///< of a kernel; nothing on a processor
  std::vector<NestStep> trunk;
  std::vector<NestBranch> branches;

  bool operator==(const Nest&) const = default;
};

}  // namespace tc::polyhedral
