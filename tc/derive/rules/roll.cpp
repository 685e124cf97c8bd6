#include "tc/derive/rules/roll.h"

#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/roll_parts.h"

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

}  // namespace tc::derive
