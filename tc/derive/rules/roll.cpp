#include "tc/derive/rules/roll.h"

#include <algorithm>

#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/roll_parts.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::derive {

std::vector<Step> roll(const Program& program, std::int64_t block) {
  if (program.has_loops()) throw Refusal{"the program has a loop"};
  if (block < 1) throw Refusal{"a block has at least one iteration"};
  std::vector<Step> steps;
  auto now = program;
  const auto take = [&](const std::vector<Step>& made) {
    if (!made.empty()) now = made.back().after;
    steps.insert(steps.end(), made.begin(), made.end());
  };
  take(written_out_exponentials(now));
  const auto view = roll_view(now);
  const Blocks blocks(now, view, block);
  take(in_blocks(now, view, blocks));
  RollParts parts(now, view, blocks);
  take(running_values(parts));
  take({rolled_loop(parts)});
  return steps;
}

std::int64_t even_block(const Program& program, std::int64_t most) {
  if (program.has_loops()) throw Refusal{"the program has a loop"};
  const auto written_out = written_out_exponentials(program);
  const auto& now = written_out.empty() ? program : written_out.back().after;
  const auto maximum = now.find(roll_view(now).maximum);
  const auto summed = polyhedral::box(maximum->cases.front().domain).back().extent();
  for (auto block = std::min(most, summed); 2 * block >= most; --block)
    if (summed % block == 0) return block;
  return most;
}

}  // namespace tc::derive
