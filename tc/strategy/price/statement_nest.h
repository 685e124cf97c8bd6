#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// A loop around a statement: its trip count, and the number of values of its iterator in one execution.
struct NestLoop {
  int iterator = -1;  ///< -1: none of the statement's
  double trips = 1, span = 1;
};

/// The loops that a mapping creates around a statement, outermost first, as tile_cluster and vectorise generate them:
///
///   outermost, above, blocks of the reduction | copies | blocks | copies below | tiles | loops of its own | points
///
/// A partial tile counts as a fraction of a tile, in whole vectors, because the code separates it from full tiles.
/// The loops of the cluster's members, above `tile`, have the same numbers in the nests of all its statements.
struct StatementNest {
  std::vector<NestLoop> loops;
  std::size_t copies = 0;  ///< the first loop below packed copies
  std::size_t blocks = 0;  ///< the first loop below the copies that are below the blocks
  std::size_t tile = 0;    ///< the first loop below the loops of the cluster's members
  std::size_t points = 0;  ///< the first loop over points; the loop along lanes counts vectors
  bool unrolled = false;   ///< the points are
  int lane_iterator = -1;
  int lanes = 1;

  /// The product of the trip counts of the loops above number \p end.
  double trips_above(std::size_t end) const;
  /// Values of each iterator of \p statement in one execution of the loops from number \p first on.
  std::vector<double> spans(const PricedStatement& statement, std::size_t first) const;
};

/// Elements with at most this stride are picked from contiguous vectors.
constexpr std::int64_t few_apart = 4;

/// For a read \p access with strided vectors: the points of a register tile along the iterator in which it is
/// contiguous, if it is read as rows of squares that are transposed in registers (powers of two); 0 otherwise.
double square_side(const StatementNest& nest, const PricedAccess& access);

/// The nest of statement number \p index of \p cluster.
StatementNest statement_nest(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping, int index);

}  // namespace tc::strategy
