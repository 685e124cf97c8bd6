#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc::polyhedral {

/// Sizes for one member of a cluster's outer band. Iterations are grouped into blocks, a block into register tiles:
/// `block` 0 leaves the extent whole, `points` 1 means no tile.
struct MemberMapping {
  std::int64_t block = 0;
  std::int64_t points = 1;
};

/// The iterator of a statement that runs along vector lanes. A reduction iterator gets private lanes that are combined
/// after the loop.
struct StatementMapping {
  std::string id;
  int iterator = -1;  ///< position in the statement's domain; -1: scalar
  int lanes = 0;
  int unroll = 1;     ///< vectors in flight along an inner loop
};

/// A read of a statement that goes to a dense copy of what an iteration of the outermost loop needs.
struct PackMapping {
  std::string statement;
  int read = 0;   ///< position in Statement::reads
  int lanes = 0;  ///< of the copy, along its last index
};

/// How a cluster is mapped. Members are those of its outer band, in order.
struct ClusterMapping {
  std::vector<MemberMapping> members;
  int outermost = -1;                        ///< the member whose loop stands alone around the others; -1: none
  bool parallel = false;                     ///< the outermost loop runs on threads
  bool register_tile = false;                ///< points are unrolled below the statements' inner loops
  std::vector<StatementMapping> statements;  ///< in program order; one that is missing is scalar
  std::vector<std::string> staged;           ///< tensors whose elements stay in a buffer while a tile runs
  std::vector<PackMapping> packed;
  StatementMapping copies;                   ///< of the copies this adds; `iterator` is a member of the outer band

  /// The mapping of statement \p id, a scalar one by default.
  StatementMapping statement(const std::string& id) const;
};

/// What strategy::choose_mapping decides and map_to_cpu carries out, one entry a cluster of the schedule.
struct Mapping {
  std::vector<ClusterMapping> clusters;
  std::int64_t buffer_bytes = 0;  ///< temporaries up to this size a tile are contracted to local buffers; 0: none
};

/// For example "parallel 0, points 8x48, S1: i1 x16, stage C"; one line a cluster.
std::string to_string(const Mapping& mapping);

}  // namespace tc::polyhedral
