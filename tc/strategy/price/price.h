#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/far_price.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// Cycles of one core, by what they are spent on.
struct CorePrice {
  double operations = 0;  ///< vectors of arithmetic, lanes that are idle among them
  double loads = 0, stores = 0, shuffles = 0;
  double instructions = 0;  ///< all of these, and those of loops, as far as they may begin in a cycle
  double latency = 0;       ///< of chains of additions, where there are too few beside each other
  double loops = 0;         ///< ends of loops, starts of tiles

  /// What the busiest of them takes, a little of the others, and the ends of loops.
  double cycles(const MachineRates& rates) const;
};

/// What a cluster may take, term by term. Cycles are those of all work, as if one core did it.
struct Price {
  CorePrice core;                  ///< of statements
  CorePrice copies;                ///< of packed copies
  double core_cycles = 0;          ///< sum of the cycles of each statement and copy
  double copy_cycles = 0;          ///< of the copies alone
  double copy_waits = 0;           ///< cycles that copies, which nothing else runs beside, wait for what they read
  double stalls = 0;               ///< cycles of a core that waits for lines from memory longer than it looks ahead
  FarLevels far{};                 ///< all that comes from each level
  std::array<double, 3> cycles{};  ///< that what comes from no further takes, without what copies read
  std::array<double, 3> waits{};   ///< of these, those in which no bytes come
  double hertz = 1;                ///< cycles a second
  double tasks = 1;   ///< iterations of the loop that threads share, a partial one counted as such; 1: they share none
  double starts = 1;  ///< of loops on threads: that one and those that make copies once for all
  double shared_lines = 0;  ///< of such copies
  double borders = 0;       ///< runs that an iteration of that loop writes beside those of others
  double torn_lines = 0;    ///< of what an iteration of that loop writes, those that others write to, too
  double busy = 1;          ///< cores that work on average
  double threads = 0;       ///< cycles to start and to feed them, and that they wait for lines of others
  double seconds = 0;       ///< on all cores of the target

  Price& operator+=(const Price& other);

  /// The same on \p cores cores of a machine of \p rates: `busy`, `threads` and `seconds` change.
  Price on(int cores, const MachineRates& rates) const;
};

/// What \p cluster may take on its target, mapped as \p mapping says, with temporaries of up to \p buffer_bytes a tile in
/// local buffers. Nothing is carried out, compiled or measured, and isl is not asked: a few microseconds.
///
///   seconds = (core^p + far^p)^(1/p) + a share of waits that the core hides, over the cores that are busy
///   core      for each statement the busiest of: operations, loads, stores, shuffles, instructions; or the chain of its
///             accumulators
///   far       what comes from each level and from none behind it, one after the other: bytes over the level's rate, the first line
///             of a run by its latency
Price price(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping, std::int64_t buffer_bytes);

/// The seconds of price() where they are less than \p limit; else some that are no less than it and no more than they: where the
/// core alone takes that long, caches are not looked at.
double price_up_to(double limit, const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping,
                   std::int64_t buffer_bytes);

/// One line: the time and each term of it, in microseconds.
std::string to_string(const Price& price);

}  // namespace tc::strategy
