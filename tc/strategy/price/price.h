#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/strategy/price/far_price.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Cycles of one core, by kind of work.
struct CorePrice {
  double operations = 0;  ///< vectors of arithmetic, including idle lanes
  double loads = 0, stores = 0, shuffles = 0;
  double instructions = 0;  ///< all of these and of loops, limited by the issue width
  double latency = 0;       ///< of dependence chains of additions, if too few run in parallel
  double loops = 0;         ///< ends of loops, starts of tiles

  /// The largest term, a fraction of the others (port contention), and the ends of loops.
  double cycles(const MachineRates& rates) const;
};

/// The predicted time of a cluster, term by term. Cycles are for all work on one core.
struct Price {
  CorePrice core;                  ///< of statements
  CorePrice copies;                ///< of packed copies
  double core_cycles = 0;          ///< sum of the cycles of each statement and copy
  double copy_cycles = 0;          ///< of the copies alone
  double copy_waits = 0;           ///< cycles that copies wait for their inputs, because nothing overlaps with a copy
  double stalls = 0;               ///< cycles that a core waits for lines from memory beyond its reorder window
  FarLevels far{};                 ///< all traffic from each level
  std::array<double, 3> cycles{};  ///< of the traffic that comes from exactly this level, without the reads of copies
  std::array<double, 3> waits{};   ///< of these, cycles in which no bytes arrive (latency)
  double hertz = 1;                ///< cycles a second
  double tasks = 1;         ///< iterations of the parallel loop, the last one possibly partial; 1: no parallel loop
  double starts = 1;        ///< starts of parallel loops: that one, and the loops of shared copies
  double shared_lines = 0;  ///< cache lines of shared copies
  double borders = 0;       ///< contiguous runs of an iteration that end where another iteration's begin
  double torn_lines = 0;    ///< cache lines that several iterations of the parallel loop write (false sharing)
  double busy = 1;          ///< cores that work on average
  double threads = 0;       ///< cycles to start threads, to distribute tasks, and to wait for lines of other cores
  double seconds = 0;       ///< on all cores of the target

  Price& operator+=(const Price& other);
  /// The cycles and bytes of \p times as much work on one core; `busy`, `threads` and `seconds` stay: see on().
  Price& operator*=(double times);

  /// The same on \p cores cores of a machine of \p rates: `busy`, `threads` and `seconds` change.
  Price on(int cores, const MachineRates& rates) const;
};

/// The predicted time of \p cluster on its target in \p nest, of all strips if it runs in strips, with temporaries of up to \p buffer_bytes for each
/// tile in local buffers. Nothing is transformed, compiled or measured, and isl is not used: a few microseconds.
///
///   seconds = (core^p + far^p)^(1/p) + a share of waits that the core hides, over the cores that are busy
///   core      for each statement the busiest of: operations, loads, stores, shuffles, instructions; or the chain of its
///             accumulators
///   far       what comes from each level and from none behind it, one after the other: bytes over the level's rate, the first line
///             of a run by its latency
Price price(const PricedCluster& cluster, const polyhedral::Nest& nest, std::int64_t buffer_bytes);
/// The price of the nest of \p mapping.
Price price(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping, std::int64_t buffer_bytes);

/// The seconds of price() if they are less than \p limit; otherwise a lower bound of them that is at least \p limit:
/// if the core alone takes that long, caches are not considered.
double price_up_to(double limit, const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping,
                   std::int64_t buffer_bytes);

/// One line: the time and each term of it, in microseconds.
std::string to_string(const Price& price);

}  // namespace tc::strategy
