#include "tc/cpu/stmt/statement_passes.h"

#include <Halide.h>

#include "tc/cpu/guards/unswitch_branches.h"
#include "tc/cpu/guards/unswitch_guards.h"
#include "tc/cpu/prefetch/prefetch.h"
#include "tc/cpu/prefetch/prefetch_panels.h"
#include "tc/cpu/prefetch/prefetch_tiles.h"
#include "tc/cpu/stmt/carry_values.h"
#include "tc/cpu/stmt/combine_dots.h"
#include "tc/cpu/stmt/drop_zero_sums.h"
#include "tc/cpu/stmt/expand_divisions.h"
#include "tc/cpu/stmt/hide_negative_bases.h"
#include "tc/cpu/stmt/jam_ragged_loops.h"
#include "tc/cpu/stmt/launder_buffers.h"
#include "tc/cpu/stmt/mask_sums.h"
#include "tc/cpu/stmt/multiply_tiles.h"
#include "tc/cpu/stmt/peel_recurrences.h"
#include "tc/cpu/stmt/pick_lanes.h"
#include "tc/cpu/stmt/scan_lanes.h"
#include "tc/cpu/stmt/slice_strided_loads.h"
#include "tc/cpu/stmt/stream_stores.h"
#include "tc/cpu/stmt/transpose_loads.h"
#include "tc/cpu/stmt/transpose_stores.h"
#include "tc/halide_bridge/math/expand_functions.h"
#include "tc/halide_bridge/math/fuse_products.h"
#include "tc/halide_bridge/stmt/unclamp_loads.h"

namespace tc::cpu {

using Halide::Internal::Stmt;

const std::vector<StatementPass>& statement_passes() {
  using Settings = StatementSettings;
  static const auto& passes = *new std::vector<StatementPass>{
      {"transpose_loads", [](const Stmt& body, const Settings&) { return transpose_loads(body); }, true},
      {"transpose_stores", [](const Stmt& body, const Settings&) { return transpose_stores(body); }, true},
      {"peel_recurrences", [](const Stmt& body, const Settings&) { return peel_recurrences(body); }, true},
      {"unswitch_branches", [](const Stmt& body, const Settings&) { return unswitch_branches(body); }, true},
      {"unswitch_guards", [](const Stmt& body, const Settings&) { return unswitch_guards(body); }, true},
      {"drop_zero_sums", [](const Stmt& body, const Settings&) { return drop_zero_sums(body); }},
      {"jam_ragged_loops", [](const Stmt& body, const Settings&) { return jam_ragged_loops(body); }},
      {"scan_lanes", [](const Stmt& body, const Settings& how) { return scan_lanes(body, how.running, how.target); }},
      {"carry_values", [](const Stmt& body, const Settings&) { return carry_values(body); }},
      {"prefetch",
       [](const Stmt& body, const Settings& how) {
         return how.prefetch ? prefetch(body, how.target, {how.prefetch_distance}) : body;
       }},
      {"prefetch_tiles",
       [](const Stmt& body, const Settings& how) {
         return how.prefetch ? prefetch_tiles(body, how.target, {how.prefetch_distance}) : body;
       }},
      {"prefetch_panels",
       [](const Stmt& body, const Settings& how) {
         return how.prefetch ? prefetch_panels(body, how.target, {how.prefetch_distance}) : body;
       }},
      {"multiply_tiles",
       [](const Stmt& body, const Settings& how) { return how.target.matrix_tiles ? multiply_tiles(body) : body; }},
      {"expand_functions", [](const Stmt& body, const Settings&) { return halide_bridge::expand_functions(body); }},
      {"combine_dots", [](const Stmt& body, const Settings&) { return combine_dots(body); }},
      {"pick_lanes", [](const Stmt& body, const Settings& how) { return pick_lanes(body, how.target); }},
      {"slice_strided_loads", [](const Stmt& body, const Settings&) { return slice_strided_loads(body); }},
      {"unclamp_loads", [](const Stmt& body, const Settings&) { return halide_bridge::unclamp_loads(body); }},
      {"mask_sums", [](const Stmt& body, const Settings&) { return mask_sums(body); }},
      {"hide_negative_bases", [](const Stmt& body, const Settings&) { return hide_negative_bases(body); }},
      {"expand_divisions", [](const Stmt& body, const Settings&) { return expand_divisions(body); }},
      {"fuse_products",
       [](const Stmt& body, const Settings& how) {
         return how.fuse_products && how.target.has_fma() ? halide_bridge::fuse_products(body) : body;
       }},
      {"stream_stores", [](const Stmt& body, const Settings& how) { return stream_stores(body, how.streamed); }},
      {"launder_buffers", [](const Stmt& body, const Settings&) { return launder_buffers(body); }},
  };
  return passes;
}

Stmt run_statement_passes(const Stmt& body, const StatementSettings& settings) {
  auto result = body;
  for (const auto& pass : statement_passes()) result = pass.run(result, settings);
  return result;
}

}  // namespace tc::cpu
