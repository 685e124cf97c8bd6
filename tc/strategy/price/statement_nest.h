#pragma once

#include <cstdint>
#include <vector>

#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/priced_cluster.h"

namespace tc::strategy {

/// A loop around a statement: how often it goes round, and how many values its iterator takes in one execution of it.
struct NestLoop {
  int iterator = -1;  ///< -1: none of the statement's
  double trips = 1, span = 1;
};

/// The loops that a mapping puts around a statement, outermost first, as tile_cluster and vectorise make them:
///
///   outermost, above, blocks of the reduction | copies | blocks | copies below | tiles | loops of its own | points
///
/// A partial tile counts as the part of a tile that it is, in whole vectors: it is separated from full ones in
/// the code. The loops of the cluster's members, above `tile`, have the same numbers in the nests of all its statements.
struct StatementNest {
  std::vector<NestLoop> loops;
  std::size_t copies = 0;  ///< the first loop below packed copies
  std::size_t blocks = 0;  ///< the first loop below those that stand below the blocks
  std::size_t tile = 0;    ///< the first loop below those of the cluster's members
  std::size_t points = 0;  ///< the first loop over points; that along lanes counts vectors
  bool unrolled = false;   ///< the points are
  int lane_iterator = -1;
  int lanes = 1;

  /// How often what stands above loop number \p end goes round.
  double trips_above(std::size_t end) const;
  /// Values of each iterator of \p statement in one execution of the loops from number \p first on.
  std::vector<double> spans(const PricedStatement& statement, std::size_t first) const;
};

/// Elements at most so many apart are picked from contiguous vectors.
constexpr std::int64_t few_apart = 4;

/// Points of a register tile along the iterator in which \p access, a read, is contiguous, where its vectors lie across the
/// lanes and are read as rows of squares, which are transposed in registers: powers of two are. 0: none is.
double square_side(const StatementNest& nest, const PricedAccess& access);

/// The nest of statement number \p index of \p cluster.
StatementNest statement_nest(const PricedCluster& cluster, const polyhedral::ClusterMapping& mapping, int index);

}  // namespace tc::strategy
