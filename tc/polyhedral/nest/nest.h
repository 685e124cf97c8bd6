#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tc::polyhedral {

/// An index that loops of a nest run over: a member of the cluster's outer band, or an iterator of one statement.
struct NestIndex {
  int statement = -1;  ///< position in Nest::branches; -1: a member of the band
  int number = 0;      ///< of the member, or the position in the statement's domain

  bool operator==(const NestIndex&) const = default;
};

/// One digit of an index: floor(rest / step), where rest is what the digits of the same index above it leave, the index
/// mod `mod`. The first digit has mod 0: rest is the index itself, counted from where its range begins.
///
///   of 0 <= n < 1000:   n/240   n%240/48   n%48/16   n%16      5, 5, 3 and 16 iterations
struct Digit {
  NestIndex index;
  std::int64_t mod = 0, step = 1;

  bool operator==(const Digit&) const = default;
};

/// What runs the iterations of a loop: one after the other, unrolled code, the lanes of a vector, the cores, one
/// instruction that sums products; on a GPU blocks along a dimension of the grid, threads along a dimension of a block,
/// or all threads of a block.
///
/// The loops of a branch that are on all threads count as one, the last of them fastest: its number mod the number of
/// threads is the thread's number.
enum class NestPlace { Serial, Unrolled, Lanes, Cores, Unit, Grid, Thread, Threads };

struct NestLoop {
  Digit digit;
  NestPlace place = NestPlace::Serial;
  int dimension = 0;        ///< of the grid or of a block: 0, 1, 2 are x, y, z
  std::int64_t blocks = 0;  ///< number n runs in block n mod `blocks`; 0: each in a block of its own
  std::int64_t beside = 1;  ///< on all threads: so many consecutive numbers go to neighbouring threads
  int slots = 0;            ///< copies are made for each iteration, those of so many are in memory at once; 0: none are
  int lanes = 0;            ///< of the vector; its last lanes idle where the digit has fewer values
  int width = 0, steps = 0;                 ///< of the unit: products that it sums, and how often (DotMapping)
  bool with_private_sums = false;           ///< each iteration accumulates privately, then joins the result
  std::optional<NestIndex> slides_along{};  ///< iterations read in the order of what they share with this index
  int slide_step = 1;                       ///< elements from one value of that index to the next

  bool operator==(const NestLoop&) const = default;
};

/// The serial loop over a digit of \p index.
inline NestLoop loop_over(const NestIndex& index, std::int64_t mod, std::int64_t step) {
  return {.digit = {index, mod, step}};
}

/// A dense copy of what one read of a statement touches below it (PackMapping).
struct NestCopy {
  int statement = 0;  ///< position in Nest::branches
  int read = 0;       ///< position in Statement::reads
  int panel = -1;     ///< the iterator of the statement that panels or rows consist of
  std::int64_t size = 1;
  bool panel_last = true;  ///< lanes of a panel are adjacent; else dense rows
  int lanes = 0;           ///< of the copying loops

  bool operator==(const NestCopy&) const = default;
};

/// A copy in the memory that the threads of a block share of what one read of a statement touches below the loops over tiles and over
/// blocks of the reduction (GridCopy).
struct NestSharedCopy {
  int statement = 0;    ///< position in Nest::branches
  int read = 0;         ///< position in Statement::reads
  int contiguous = -1;  ///< the iterator of the statement along which the copy is contiguous; -1: as the tensor is
  int run_along = -1;   ///< the iterator along which `vector` elements are read at once
  std::int64_t vector = 1, beside = 1;
  /// How elements come with several slots: on their own, or by way of registers.
  bool asynchronous = false;

  bool operator==(const NestSharedCopy&) const = default;
};

/// A tensor whose elements stay in a buffer while what is below runs.
struct NestKeep {
  std::string tensor;
  bool is_temporary =
      false;  ///< nobody reads it behind the cluster: no loops empty the buffer, which it has where it fits

  bool operator==(const NestKeep&) const = default;
};

/// How kept tensors are copied in and out: in lanes along a member, the points of a tile unrolled or not.
struct NestCopyLanes {
  int member = 0, lanes = 0;
  bool unrolled = false;

  bool operator==(const NestCopyLanes&) const = default;
};

/// Full tiles have code of their own, without conditions.
struct NestSeparate {
  bool operator==(const NestSeparate&) const = default;
};

/// How statements run that a kernel has beside those of the program: they fill and empty what is kept, and join sums.
struct NestAdded {
  bool points_innermost = false, in_lanes = false, unrolled = false;

  bool operator==(const NestAdded&) const = default;
};

/// A step of the trunk, and the line of the text that it comes from; 0 where it comes from none.
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

/// What a kernel is launched with, and the memory that it may use (GridClusterMapping).
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
