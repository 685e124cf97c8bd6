#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tc::polyhedral {

/// The dimensions of a grid and of a block.
inline constexpr const char* axes[] = {"x", "y", "z"};

/// A second digit of a loop: iteration m is in the warps number floor(m / run) mod count along `dimension`. -1: there is
/// none.
struct WarpDigit {
  int dimension = -1;
  std::int64_t run = 1, count = 1;
  bool operator==(const WarpDigit&) const = default;
};

/// How the iterations of a loop are spread over the threads of a block: iteration m runs in the thread whose coordinate
/// along `dimension` (0, 1, 2: x, y, z) is floor(m / run) mod `count`, 0 meaning the block's extent there. -1: not spread.
/// With `warps` along the same dimension the coordinate is this plus `count` times that digit.
///
///   threads y of 8 warps y run 64 of 2      m: thread_y = m mod 8 + 8 (floor(m / 64) mod 2)
///   threads x run 2 of 4 warps z run 32 of 4      n: thread_x = floor(n / 2) mod 4, thread_z = floor(n / 32) mod 4
struct ThreadLoop {
  int dimension = -1;
  std::int64_t run = 1;
  std::int64_t count = 0;
  WarpDigit warps = {};

  bool has_warps() const { return warps.dimension >= 0; }
  bool operator==(const ThreadLoop&) const = default;
};

/// A statement whose products are computed by a unit for small matrices (MatrixUnit): its iterators that count rows and
/// columns of the result, and what is summed over.
struct GridUnit {
  std::string name;  ///< "": none
  int rows = -1, columns = -1, steps = -1;
  bool operator==(const GridUnit&) const = default;
};

/// A member of a cluster's outer band: `tile` iterations run in one block (0: all of them), tile number n in the block
/// whose coordinate along `grid` is n mod the grid's extent there. A member that is not spread is a loop in each block.
struct GridMember {
  std::int64_t tile = 1;
  int grid = -1;
  ThreadLoop threads;  ///< of the iterations of a tile

  bool operator==(const GridMember&) const = default;
};

/// A statement's own loops that are spread over threads: coincident ones, and along x one that is reduced.
struct GridStatement {
  struct Loop {
    int iterator = -1;  ///< position in the statement's domain
    ThreadLoop threads;
    std::int64_t beside = 1;  ///< with `together`: so many consecutive runs go to neighbouring threads

    bool operator==(const Loop&) const = default;
  };
  std::string id;
  std::vector<Loop> loops;
  /// The loops, in this order, are one: its iteration number mod the number of threads of the block is the thread's
  /// number. What runs `beside` each other of a loop counts fastest.
  bool together = false;
  bool tile = false;    ///< its points stand below its own loops: a tile of accumulators
  bool vector = false;  ///< the run of the innermost loop with one is a vector; all its runs are full
  bool unroll = false;  ///< its loops are unrolled, so that indices of buffers in registers are constant
  GridUnit unit = {};

  bool operator==(const GridStatement&) const = default;
};

/// A reduction whose iterator runs in blocks of `size`, with copies of what a block reads. With more than one of
/// `slots`, copies are made ahead of the block they are for, into buffers for several blocks.
struct GridBlocks {
  std::string statement;
  int iterator = -1;  ///< position in the statement's domain; -1: not cut
  std::int64_t size = 0;
  int slots = 1;  ///< blocks in memory at once

  bool operator==(const GridBlocks&) const = default;
};

/// A read of a statement that goes to a copy which the threads of a block make together, in shared memory.
struct GridCopy {
  std::string statement;
  int read = 0;         ///< position in Statement::reads
  int contiguous = -1;  ///< the iterator of the statement along which the copy is contiguous
  int run_along = -1;   ///< the iterator along which `vector` elements are read at once
  std::int64_t vector = 1;
  std::int64_t beside = 1;  ///< neighbouring threads read so many consecutive vectors, the next ones other rows
  /// How elements come while the threads compute with an earlier block. Asynchronous: on their own, slots - 1 blocks
  /// ahead. Registers: they wait there while one block is computed.
  enum class Way { Asynchronous, Registers } way = Way::Registers;

  bool operator==(const GridCopy&) const = default;
};

/// How a cluster becomes a kernel.
struct GridClusterMapping {
  std::vector<GridMember> members;        ///< of the outer band; a missing one is a loop
  std::vector<GridStatement> statements;  ///< a missing one is like `others`
  GridStatement others;                   ///< no loops: flags for the statements that passes add
  GridBlocks blocks;
  bool separate = false;              ///< full tiles have code of their own, without conditions
  std::vector<GridCopy> copies;       ///< of reads of one statement, that of `blocks` if there is one
  std::vector<std::string> staged;    ///< tensors whose elements are kept by the block while it works on them
  std::vector<std::string> promoted;  ///< temporaries to keep in registers or in shared memory, where they fit
  std::array<std::int64_t, 3> grid = {1, 1, 1};   ///< blocks at most, in x, y, z
  std::array<std::int64_t, 3> block = {1, 1, 1};  ///< threads at most

  std::int64_t thread_elements = 128;  ///< of one temporary in the registers of a thread, at most
  std::int64_t shared_bytes = 0;       ///< of memory that the threads of a block share, at most
  int blocks_per_multiprocessor = 0;   ///< for which the registers of a multiprocessor are to suffice; 0: no wish

  /// The mapping of statement \p id.
  GridStatement statement(const std::string& id) const;

  bool operator==(const GridClusterMapping&) const = default;
};

/// What strategy::choose_grid_mapping decides and map_to_grid carries out, one entry a cluster of the schedule. A
/// cluster without an entry runs in one thread. No pass changes it: what they add is theirs (grid_cluster_state.h).
struct GridMapping {
  std::vector<GridClusterMapping> clusters;

  bool operator==(const GridMapping&) const = default;
};

/// A line for each cluster of parts with ", " between them. Numbers of members and iterators count from 0; `i1` is an
/// iterator; x, y, z are dimensions of the grid or of a block.
///
///   grid 32x16, block 16x16, member 0 tile 128 blocks y threads y run 4, member 1 tile 128 blocks x threads x run 4
///
///   S1: i2 threads x run 4                       a loop of a statement that is spread over threads
///   S1: together tile vector unroll              flags of a statement; "S1: plain" for one without, "others: ..." for all else
///   S1: i0 i1 i2 in products of matrices m16n8k16      rows, columns and what is summed over
///   S1: i2 in blocks of 16 slots 2               a reduction in blocks
///   copy read 1 of S1 along i2 run i2 vector 4 asynchronous      "by registers" for copies that wait there
///   copy read 0 of S1 along i0 run i2 vector 4 beside 2
///   separate full tiles
///   stage Y, promote t                           a tensor each
///   thread elements 64, shared bytes 49152, blocks per multiprocessor 2
std::string to_string(const GridMapping& mapping);
/// One line of it.
std::string to_string(const GridClusterMapping& mapping);

/// The mapping that \p text says: parse_grid_mapping(to_string(m)) == m. Throws OptionsError that shows the part of the
/// text that means nothing. Whether a program can be mapped so is another question: check_grid_mapping.h.
GridMapping parse_grid_mapping(const std::string& text);

}  // namespace tc::polyhedral
