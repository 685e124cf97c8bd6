#include "tc/halide_bridge/stmt/first_lanes.h"

namespace tc::halide_bridge {

namespace ir = Halide::Internal;

Halide::Expr last_running_lane(const Halide::Expr& predicate) {
  const auto* compare = predicate.as<ir::LE>();
  const auto* lane = compare ? compare->a.as<ir::Ramp>() : nullptr;
  const auto* last = compare ? compare->b.as<ir::Broadcast>() : nullptr;
  if (!last || !lane || !ir::is_const_zero(lane->base) || !ir::is_const_one(lane->stride)) return {};
  return last->value;
}

}  // namespace tc::halide_bridge
