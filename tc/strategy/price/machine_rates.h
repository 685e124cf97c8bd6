#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/base/target.h"
#include "tc/strategy/cost/cache_sets.h"

namespace tc::strategy {

/// How fast one core of a processor does what code asks of it. Counts a cycle are of what may begin in one; a vector is as
/// wide as a register of the target.
struct MachineRates {
  std::string_view name = "generic";  ///< the row of the table, for messages
  double hertz = 3e9;                 ///< cycles a second of a core that computes
  double instructions = 4;            ///< a cycle
  double operations = 2;              ///< vectors of additions, multiplications or multiply-adds a cycle
  double loads = 2, stores = 1;       ///< vectors from and to the first cache a cycle
  double shuffles = 1;                ///< vectors whose lanes are rearranged a cycle
  double shuffles_as_operations = 0;  ///< of a shuffle's time that an operation has to wait
  double part = 1;                    ///< of a vector's time in any of these that an element or a quarter of one takes
  double operation_latency = 4;       ///< cycles until a result may be added to
  double forward_latency = 5;         ///< cycles until what is stored may be loaded
  double division = 16;               ///< cycles of a vector of divisions or square roots
  double function = 20;               ///< cycles of a vector of exp; other functions are several
  double crowded = 0.1;               ///< the share of what other ports do that delays the busiest one
  double overlap = 2;       ///< the power by which core and caches add: two alike take 2^(1/overlap) of one's time
  double exposed = 0.3;     ///< of the time that lines are waited for, the share that a core does not hide
  double window = 256;      ///< instructions that a core looks ahead over
  double branch_miss = 16;  ///< cycles lost where a loop ends that ran longer than predictors remember
  double l2_bytes = 32, l3_bytes = 12, memory_bytes = 4;          ///< that come from there to one core, a cycle
  double l2_latency = 14, l3_latency = 50, memory_latency = 300;  ///< cycles until the first byte
  double l3_share = 0.5;                                          ///< of the last cache that a program finds to itself
  double comes_to_be_overwritten = 1;  ///< of lines that are written whole, those that come first
  double known_pages = 1536;           ///< whose addresses a core remembers
  double page_walk = 30;               ///< cycles until another's is known
  double misses = 10;                  ///< lines that are waited for at once
  double unforeseen_lines = 1;  ///< that come of runs side by side in memory until the next ones are asked for ahead
  double loads_under_way = 36, stores_under_way = 64;  ///< that wait for lines of one set at once
  double read_collision = 14, write_collision = 14;    ///< cycles of a line that comes where others fill its set
  double cores_that_fill_memory = 2;                   ///< cores that take all that memory gives
  double l1_period = l1_way_bytes,
         l2_period = 65536;     ///< bytes apart that fall into one set of a cache: its size over its ways
  double start_threads = 2500;  ///< cycles to start a loop on threads and to wait for the last
  double take_task = 200;       ///< cycles of a thread to take the next iteration of such a loop
  double torn_line = 800;       ///< cycles of a thread for a line that another one writes to, too
  double next_line = 30;        ///< cycles of a thread for the end of a run behind which another one writes
  double foreign_line = 20;     ///< cycles until a line comes that another core has written, beside others

  bool operator==(const MachineRates&) const = default;
};

/// The rates of \p target: the row of the table for its core, where there is one and vectors fill its registers, else for its
/// vectors. Nothing is measured.
///
/// Sources: instruction throughputs and latencies of A. Fog, "Instruction tables", and uops.info; caches of AMD's and
/// Intel's optimization manuals; page_walk is assumed where no core has its own. Rates of memory and threads are those of a machine of 2 cores in a cloud.
const MachineRates& rates_of(const Target& target);

/// A mapping that differs in lanes, tiles or order from what is chosen else takes its place where its price is less by this factor: 0.85
/// on a core with rates of its own. Of 360 drawn programs, 103 mappings changed; those with prices of less than 0.85 ran 1.5 times as
/// fast in the geometric mean, six of 53 of them slower; those of 0.85 to 1 as fast as before, nine of 40 slower. With rates of vectors of
/// a width alone, 0.75: gains of 12 to 19 % ran 1.2 to 1.6 times as long.
double least_gain(const Target& target);

/// All rows: by the width of registers, then cores by their names.
const std::vector<MachineRates>& known_rates();

/// "generic: hertz 3e+09, instructions 4, ...": every number by its name.
std::string to_string(const MachineRates& rates);

/// \p rates with the numbers that \p text gives: "hertz=4e9,l3_bytes=32". Throws OptionsError for a name that is none,
/// listing those there are, and for a number that is not positive.
MachineRates with_rates(MachineRates rates, const std::string& text);

}  // namespace tc::strategy
