#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/strategy/cost/footprint.h"

namespace tc::strategy {

/// Bytes that go from a level of memory to the one nearer to the registers, and back.
struct Transfer {
  double read = 0, written = 0;
  double total() const { return read + written; }
};

/// What a tensor costs: between registers and the first cache, the first and the second, the second and the third, and
/// the third and memory. `unique`: the bytes read at all, and those written, each once.
struct TensorTraffic {
  std::string name;
  bool argument = false;
  std::array<Transfer, 4> levels;
  Transfer unique;
};

struct Traffic {
  static constexpr std::array<const char*, 4> names = {"registers-L1", "L1-L2", "L2-L3", "L3-memory"};
  std::vector<TensorTraffic> tensors;  ///< without those that are kept in registers

  Transfer total(int level) const;
  /// What arguments cost at least: each byte read once, each written once.
  Transfer compulsory() const;
};

/// The local buffers that stay in registers: those that say so, and those of which every reference touches the whole in
/// unrolled loops, or in a single instance, which registers have room for.
std::set<std::string> buffers_in_registers(const Footprints& footprints, const Target& target);

/// The traffic of one run of \p scop, mapped for \p target, in one thread, from empty caches to memory that holds the
/// results.
///
/// Caches keep lines of 64 bytes that were used last, wherever they lie, and fetch what is written before it is
/// written. With F_t(p) the lines of tensor t that a part p of the schedule touches in one execution (footprint.h), and
/// C those of a cache, the lines of t that come in, Q_t(p), are
///
///   p fits                     F_t(p)                       where sum over t of F_t(p) <= C
///   a loop, an iteration fits  F_t(p)                       what consecutive iterations share is still there
///   any other loop             trips * Q_t(iteration)
///   parts in sequence          sum of Q_t(part), less what the end of a part shares with the start of the next, where both
///                              fit together; the end and the start are the outermost parts of them that fit
///
/// and those that go out are the same sum over what is written. Buffers in registers cost nothing.
///
/// Between the registers and the first cache, each reference of a statement by itself moves
///
///   unrolled loops             the different elements that all instances in them touch
///   any other loop             the same as one iteration, where that is in no other such loop and touches the same elements, as
///                              many as registers hold; else trips times that
///
/// Threads are not told apart: where they share a cache, it is that of one thread. Conflicts within a cache are not
/// seen.
Traffic predict_traffic(const polyhedral::Scop& scop, const Target& target);

/// The same from footprints that are known.
Traffic predict_traffic(const Footprints& footprints, const Target& target);

}  // namespace tc::strategy
