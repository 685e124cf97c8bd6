#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/base/target.h"

namespace Halide::Internal {
struct Stmt;
}

namespace tc::cpu {

/// What the passes over statements go by.
struct StatementSettings {
  Target target;
  bool prefetch = true;                ///< what a later iteration reads is asked for
  std::int64_t prefetch_distance = 0;  ///< iterations ahead; 0: chosen for what is read
  std::set<std::string> streamed;      ///< tensors that are stored past the caches
  bool fuse_products = false;          ///< products are rounded with sums as expressions say, not as LLVM finds them
  std::set<std::string> running = {};  ///< tensors of running reductions, that may be reassociated
};

/// One pass between the raised statement and LLVM: \p body with the change made wherever it applies.
struct StatementPass {
  const char* name;
  Halide::Internal::Stmt (*run)(const Halide::Internal::Stmt& body, const StatementSettings& settings);
  /// It leaves what raise() does: loops, stores and values that the law of bodies (verify_body.h) can run.
  bool like_raised = false;
};

/// The passes in order; each is described, with a picture, in the header of its name.
///
///   transpose_loads             squares of strided loads are contiguous ones, transposed in registers
///   transpose_stores            the same for blocks of strided stores
///   peel_recurrences            the first iterations of a recurrence, which read nothing earlier, stand before its loop
///   unswitch_branches           branches that a loop does not change stand around it
///   unswitch_guards             conditions that a loop does not change stand around it
///   drop_zero_sums              what adds nothing is left out
///   scan_lanes                  running reductions go along lanes
///   carry_values                a value that an iteration stores stays in a register for the next one
///   prefetch, prefetch_tiles, prefetch_panels
///                               what a later iteration reads is asked for, where the settings say so
///   multiply_tiles              small products of matrices are operations of registers for matrices, where the target has them
///   expand_functions            functions that LLVM has not are written out
///   combine_dots                sums of products of bytes and halves are dot products
///   pick_lanes                  partial vectors of elements a few apart are contiguous ones
///   slice_strided_loads         vectors of elements a few apart are contiguous ones, which they share
///   unclamp_loads               vectors at clamped indices are contiguous ones where no lane is clamped
///   mask_sums                   lanes that add nothing keep their sums
///   hide_negative_bases         negative addresses of lanes that do not run are relative to a variable
///   expand_divisions            integer divisions are what machine instructions carry out
///   fuse_products               products that are added at once are rounded with the sum, where the settings say so
///   stream_stores               whole lines of tensors that the settings name are stored past the caches
///   launder_buffers             buffers with addresses that may seem negative are reached by pointers LLVM cannot trace
const std::vector<StatementPass>& statement_passes();

/// \p body after all of them.
Halide::Internal::Stmt run_statement_passes(const Halide::Internal::Stmt& body, const StatementSettings& settings);

}  // namespace tc::cpu
