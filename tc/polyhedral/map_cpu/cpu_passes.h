#pragma once

#include <vector>

#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map_cpu/cpu_cluster.h"

namespace tc::polyhedral {

/// One pass that carries out a mapping: \p scop with more of the mapping of \p cluster in it.
struct CpuPass {
  const char* name;
  Scop (*run)(const Scop& scop, CpuCluster& cluster);
  /// Runs when the pass has run for all \p clusters of \p scop; null: nothing.
  Scop (*finish)(const Scop& scop, const std::vector<CpuCluster*>& clusters) = nullptr;
};

/// The passes that map a cluster to cores and vectors, in order; each is described in the header of its name.
///
///   privatise_reduction   lanes of reductions have accumulators of their own
///   block_reduction       blocks of a reduction have
///   stage_tensor          accumulators are temporaries, copied out
///   tile_cluster          loops over blocks and tiles, points at the statements
///   pack                  copies of what tiles read (pack_reads.h)
///   contract              temporaries are local buffers, then those of strips and of ordered loops (contract_strips.h, contract_loops.h)
///   vectorise             points are register bands and vectors
///   mark_parallel         threads run the outermost loop, and those of copies made once
///
/// A pass runs for all clusters of a scop before the next pass does. Where no cluster is in a strip, all passes may also run for one
/// cluster after another: the result is the same.
const std::vector<CpuPass>& cpu_passes();

}  // namespace tc::polyhedral
