#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc::polyhedral {

/// Sizes for one member of a cluster's outer band. Iterations are grouped into blocks, a block into register tiles:
/// `block` 0 leaves the extent whole, `points` 1 means no tile.
struct MemberMapping {
  std::int64_t block = 0;
  std::int64_t points = 1;

  bool operator==(const MemberMapping&) const = default;
};

/// The iterator of a statement that runs along vector lanes. A reduction iterator gets private lanes that are combined
/// after the loop.
struct StatementMapping {
  std::string id;
  int iterator = -1;  ///< position in the statement's domain; -1: scalar
  int lanes = 0;
  int unroll = 1;  ///< vectors in flight along an inner loop

  bool operator==(const StatementMapping&) const = default;
};

/// A reduction cut into blocks of one of its iterators: each block accumulates privately, then joins the result, so
/// that what a block reads stays in the cache while all tiles use it.
struct ReductionBlock {
  std::string statement;
  int iterator = -1;  ///< position in the statement's domain; -1: not cut
  std::int64_t size = 0;

  bool operator==(const ReductionBlock&) const = default;
};

/// Iterations of a reduction that one instruction sums: `width` consecutive ones of `iterator` are unrolled innermost,
/// and stand side by side in packed copies. With `steps` > 1 the instruction multiplies matrices: the points of the
/// statement are not vectors, but loops over rows, columns and steps * width iterations, which machine code has a few
/// instructions for.
struct DotMapping {
  std::string statement;
  int iterator = -1;  ///< position in the statement's domain; -1: none
  int width = 1;
  int steps = 1;

  bool of_matrices() const { return iterator >= 0 && steps > 1; }

  bool operator==(const DotMapping&) const = default;
};

/// Iterations of a short reduction that are unrolled with the points of a tile, in the order of what both read
/// together: a window of `width` elements slides along `row`, `step` elements a point, and each element is read once
/// for all of them.
///
///   before  for k < 3 { unrolled h < 8 { O[h] += I[h + k]*K[k] } }
///   after   unrolled r < 10 { unrolled k < 3 with 0 <= r - k < 8 { O[r - k] += I[r]*K[k] } }
struct WindowMapping {
  std::string statement;
  int iterator = -1;  ///< of the reduction: position in the statement's domain; -1: none
  int row = -1;       ///< the iterator of the statement that runs over points of the tile
  int width = 1;      ///< all iterations of `iterator`
  int step = 1;

  bool operator==(const WindowMapping&) const = default;
};

/// A read of a statement that goes to a dense copy, made where the loops above it fix the part that is needed. The copy
/// consists of panels of `size` iterations of `panel`; within a panel the reduced iterators come next.
///
///   panel_last   [panel][k][panel mod size]      lanes of the panel are adjacent
///   otherwise    [panel][panel mod size][k]      as dense rows
///
/// With a dot product of width w along k, panel_last makes [panel][k/w][panel mod size][k mod w]. For a product of
/// matrices of s steps the other layout is [panel][k/(w s)][panel mod size][k mod (w s)], and copies keep the type of
/// the tensor.
struct PackMapping {
  std::string statement;
  int read = 0;    ///< position in Statement::reads
  int panel = -1;  ///< an iterator of the statement that indexes the read
  std::int64_t size = 1;
  bool panel_last = true;
  bool below_blocks = false;  ///< copied below the loops over blocks, not above them
  int lanes = 0;              ///< of the copy
  bool once = false;          ///< copied above all loops of the cluster, by all threads if they run these

  bool operator==(const PackMapping&) const = default;
};

/// How a cluster is mapped. Members are those of its outer band, in order. Loops stand in this order, outermost first,
/// behind those of packed copies that are made once: the outermost; those of `above`; blocks of the reduction; packed
/// copies; blocks; packed copies below blocks; tiles; points.
struct ClusterMapping {
  std::vector<MemberMapping> members;
  int outermost = -1;          ///< the member whose loop stands alone around the others; -1: none
  bool parallel = false;       ///< the outermost loop runs on threads
  std::vector<int> above;      ///< members whose loop over blocks, else over tiles, stands above the copies
  bool register_tile = false;  ///< points are unrolled below the statements' inner loops
  std::vector<StatementMapping> statements;  ///< in program order; one that is missing is scalar
  std::vector<std::string> staged;           ///< tensors whose elements stay in a buffer while a tile runs
  ReductionBlock reduction;
  DotMapping dot;
  WindowMapping window;
  std::vector<PackMapping> packed;
  StatementMapping copies;  ///< of the copies this adds; `iterator` is a member of the outer band

  /// The mapping of statement \p id, a scalar one by default.
  StatementMapping statement(const std::string& id) const;

  bool operator==(const ClusterMapping&) const = default;
};

/// What strategy::choose_mapping decides and map_to_cpu carries out, one entry a cluster of the schedule. No pass changes
/// it: what they add is theirs (cluster_state.h).
struct Mapping {
  std::vector<ClusterMapping> clusters;
  std::int64_t buffer_bytes = 0;  ///< temporaries up to this size a tile are contracted to local buffers; 0: none

  bool operator==(const Mapping&) const = default;
};

/// A line for each cluster of parts with ", " between them, and a last one for the bytes of buffers. Numbers of members
/// and iterators count from 0; `i1` is an iterator.
///
///   parallel 0, blocks 64x0, above 1, register 8x48, S0: i1 x16, S1: i1 x16, stage Y, pack read 1 of S1 in panels of 48 i1
///   buffers 262144
///
///   serial                                       nothing is decided
///   members 2                                    of the outer band, where no sizes tell how many
///   parallel 0, outermost 0                      the member whose loop is outermost, on threads or not
///   blocks 64x0, points 8x48, register 8x48      sizes by member; points, or a register tile of them
///   above 1 2                                    members whose loops stand above the copies
///   S0: i1 x16 unroll 4                          lanes along an iterator, vectors in flight
///   S1: i2 in blocks of 512                      a cut reduction
///   S1: i2 in dot products of 4, S1: i2 in products of matrices 16x2 (steps x width)
///   S1: i3 slides along i1 width 3 step 1        a window
///   stage Y                                      a staged tensor
///   pack read 1 of S1 in panels of 48 i1 below blocks lanes 16; "rows of" for "panels of", "once"
///   copies along 1 x16                           lanes of copies along a member
std::string to_string(const Mapping& mapping);
/// One line of it.
std::string to_string(const ClusterMapping& mapping);

/// The mapping that \p text says: parse_mapping(to_string(m)) == m. Throws OptionsError that shows the part of the text
/// that means nothing. Whether a program can be mapped so is another question: check_mapping.h.
Mapping parse_mapping(const std::string& text);

}  // namespace tc::polyhedral
