#include "tc/strategy/price/line_order.h"

#include <algorithm>

namespace tc::strategy {
namespace {

/// Runs that go on side by side, of which a core asks for the next lines; of 1, 8, 16 and 32, which order measured mappings best.
constexpr double followed_runs = 16;

/// Bytes of runs side by side that lie one behind another, of which a core sees all at once, as if they were one run: measured, rows of
/// 256 bytes come from memory as fast as one run where two go on side by side, at half the speed where eight do.
constexpr double seen_at_once = 1024;

/// Bytes between a run and the next that a core reads, too, as if they were one run, where this is twice as long: measured, 320 are,
/// 512 are not.
constexpr double followed_gap = 320;

/// Are the runs of \p outside those of \p inside, and gaps between them that a core reads, too?
bool is_read_across_gaps(const TouchedLines& outside, const TouchedLines& inside) {
  const auto run = inside.bytes / inside.runs;
  return outside.row_steps == 1 && inside.row_steps <= 1 &&
         outside.rows[0].bytes - run <= std::min(followed_gap, run / 2);
}

}  // namespace

LineOrder order_of_lines(const std::vector<TouchedLines>& touched, std::size_t loop) {
  LineOrder result{touched.back().runs, 1};
  double beside = result.runs;  ///< runs that go on side by side
  bool ended = false;           ///< all of them have, at once
  for (auto i = touched.size() - 1; i-- > loop;) {
    const auto &outside = touched[i], &inside = touched[i + 1];
    const auto more = outside.bytes / std::max(inside.bytes, 1.0);
    const bool across_gaps = beside == 1 && is_read_across_gaps(outside, inside);
    const bool followed = beside <= followed_runs && !ended && (outside.runs <= inside.runs || across_gaps);
    result.groups = followed ? 1 : result.groups * more;
    result.runs = inside.runs <= followed_runs ? outside.runs : std::max(outside.runs, result.runs * more);
    ended = ended || (outside.runs < inside.runs && outside.bytes > seen_at_once);
    if (!across_gaps) beside = outside.runs;
  }
  return result;
}

}  // namespace tc::strategy
