#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/base/target.h"
#include "tc/strategy/cost/cache_sets.h"

namespace tc::strategy {

/// Throughputs and latencies of one core of a processor. Throughputs are per cycle; a vector is as wide as a register
/// of the target.
struct MachineRates {
  std::string_view name = "generic";  ///< the row of the table, for messages
  double hertz = 3e9;                 ///< clock of a core that computes
  double instructions = 4;            ///< a cycle
  double operations = 2;              ///< vectors of additions, multiplications or multiply-adds per cycle
  double loads = 2, stores = 1;       ///< vectors from and to the first cache per cycle
  double shuffles = 1;                ///< vectors with rearranged lanes per cycle
  double shuffles_as_operations = 0;  ///< share of a shuffle's time that blocks operations (shared ports)
  double part = 1;                    ///< time of a scalar or a quarter vector, as a fraction of a vector's time
  double operation_latency = 4;       ///< cycles until a result may be added to
  double forward_latency = 5;         ///< cycles from a store to a load of its value (store forwarding)
  double division = 16;               ///< cycles of a vector of divisions or square roots
  double function = 20;               ///< cycles of a vector of exp; other functions count as several
  double crowded = 0.1;               ///< port contention: the share of other terms that delays the largest one
  double overlap = 2;       ///< exponent of the sum of core and cache times: two equal times t give 2^(1/overlap) t
  double exposed = 0.3;     ///< share of memory latency that out-of-order execution does not hide
  double window = 256;      ///< instructions in the reorder window (ROB size)
  double branch_miss = 16;  ///< cycles of a mispredicted branch at the end of a long loop
  double l2_bytes = 32, l3_bytes = 12, memory_bytes = 4;          ///< bytes per cycle from this level to one core
  double l2_latency = 14, l3_latency = 50, memory_latency = 300;  ///< cycles until the first byte
  double l3_share = 0.5;  ///< share of the last cache that is available to a program
  double comes_to_be_overwritten =
      1;                        ///< fraction of completely overwritten lines that are still read (write-allocate)
  double known_pages = 1536;    ///< entries of the TLB
  double page_walk = 30;        ///< cycles of a page walk
  double misses = 10;           ///< outstanding cache misses
  double unforeseen_lines = 1;  ///< lines of parallel runs in memory before the prefetcher starts
  double loads_under_way = 36, stores_under_way = 64;  ///< outstanding accesses to lines of one set
  double read_collision = 14, write_collision = 14;    ///< cycles of a line that conflicts with others in its set
  double cores_that_fill_memory = 2;                   ///< cores that saturate the memory bandwidth
  double l1_period = l1_way_bytes,
         l2_period = 65536;     ///< distance of addresses in one set of a cache: its size over its ways
  double start_threads = 2500;  ///< cycles to start a parallel loop and to wait for the last thread
  double take_task = 200;       ///< cycles of a thread to take the next iteration of a parallel loop
  double torn_line = 800;       ///< false sharing: cycles of a thread for a line that another thread also writes
  double next_line = 30;        ///< cycles for the end of a run next to data that another thread writes
  double foreign_line = 20;     ///< cycles of a line that another core has written, overlapped with others

  bool operator==(const MachineRates&) const = default;
};

/// The rates of \p target: the table's row for its core if it exists and vectors fill the registers, otherwise the
/// row for its vector width. Nothing is measured.
///
/// Sources: instruction throughputs and latencies of A. Fog, "Instruction tables", and uops.info; caches of AMD's and
/// Intel's optimization manuals; page_walk is an assumption for cores without a rate of their own. Rates of memory
/// and threads were measured on a cloud machine with 2 cores.
const MachineRates& rates_of(const Target& target);

/// All rows: by the width of registers, then cores by their names.
const std::vector<MachineRates>& known_rates();

/// "generic: hertz 3e+09, instructions 4, ...": every number by its name.
std::string to_string(const MachineRates& rates);

/// \p rates with the numbers that \p text gives: "hertz=4e9,l3_bytes=32". Throws OptionsError for an unknown name,
/// listing the known ones, and for a number that is not positive.
MachineRates with_rates(MachineRates rates, const std::string& text);

}  // namespace tc::strategy
