#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/copy_dimensions.h"
#include "tc/polyhedral/nest/nest_space.h"
#include "tc/strategy/price/guard.h"
#include "tc/strategy/price/machine_rates.h"

namespace tc::strategy {

/// Operations of one evaluation of a statement's value, by kind. Loop-invariant operations count with the share that
/// remains if they are computed once for all iterations.
struct BodyOperations {
  /// Operations on values that are constant along some iterators. If loops over these iterators are innermost, the
  /// operations are hoisted out of them.
  struct Invariant {
    std::vector<bool> changes;  ///< iterators along which the values change
    double simple = 0, divisions = 0, functions = 0;
  };

  double simple = 1;  ///< additions, multiplications, comparisons, conversions; a multiply-add is one
  double divisions = 0;
  double functions = 0;  ///< exp; others count as several
  double of_value = 0;   ///< of `simple`, operations on the added value only: once for all results it is added to
  std::vector<Invariant> invariants{};  ///< of the above, if each value is computed once
};
/// By the id of the source statement.
using OperationsOfBodies = std::map<std::string, BodyOperations>;

/// The distance of two accesses along a dimension of their tensor.
struct Shift {
  std::int64_t stride = 1;  ///< elements from one index to the next
  std::int64_t by = 0;      ///< indices, not 0
};

/// A read with the same strides as another read of its statement and tensor, at distance `shifts`; without shifts
/// both are equal.
struct NearRead {
  int read = 0;  ///< position in PricedStatement::reads
  std::vector<Shift> shifts;
};

/// An access by its strides: elements from one iteration of each iterator of its statement to the next.
struct PricedAccess {
  int tensor = 0;                                 ///< position in PricedCluster::tensors
  std::vector<std::int64_t> strides;              ///< within a block, along an iterator with blocks
  std::vector<polyhedral::BlockedStride> blocks;  ///< of size 0 along an iterator without blocks
  std::vector<bool> used;                         ///< iterators that index it
  std::vector<int> aligned;    ///< elements, a power of two, at a multiple of which vectors along each iterator begin
  bool guarded = false;        ///< it does not happen in all instances
  std::vector<NearRead> near;  ///< of a read: near reads before it
  bool packable = false;       ///< a read that can be packed
  /// Of a read of a kernel: its subscripts, where it can be copied to shared memory.
  std::vector<polyhedral::CopyDimension> dimensions = {};

  bool changes(int iterator) const { return iterator >= 0 && used[iterator]; }
};

struct PricedTensor {
  std::string name;
  double element = 4, bytes = 4;
  DType type = DType::Float32;
  bool own = false;  ///< a temporary that no other cluster accesses
  bool written = false;
};

struct PricedStatement {
  polyhedral::ClusterStatement entry;
  std::vector<double> extent;  ///< of each iterator
  int lanes = 1;               ///< of a whole vector
  PricedAccess write;
  std::vector<PricedAccess> reads;
  bool accumulates = false, reduces = false;  ///< reduces: only in loops of its own
  BodyOperations body;                        ///< invariants by the statement's own iterators
  std::vector<Guard> guards;                  ///< outside of these, instances add nothing
  double guarded_share = 1;                   ///< share of the instances that satisfy them
  double run_share = 1;                       ///< of the box of its iterators: it has the other instances not (guard.h)
};

/// The iterator along the rows of the squares that \p copy of \p read transposes; -1 if it transposes none.
int row_of_squares(const PricedAccess& read, const polyhedral::NestCopy& copy);

/// The facts about a cluster that the prices of all its mappings use. isl is used in the constructor only.
struct PricedCluster {
  PricedCluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& machine,
                const OperationsOfBodies& bodies = {});

  std::vector<double> extent;  ///< of each member of the outer band
  bool permutable = false;
  double strips = 1;  ///< of a cluster in strips, which all else is about one of: their number
  double tasks = 1;   ///< and iterations of the loop on threads around them
  std::vector<PricedStatement> statements;
  std::vector<PricedTensor> tensors;
  Target target;
  MachineRates rates;
  polyhedral::NestSpace nests;  ///< on a processor, or as a kernel where the target is a GPU

  /// The time of a vector of \p lanes elements of \p element bytes, as a share of a whole vector's time.
  double share_of_vector(double lanes, double element) const {
    return lanes * element <= target.vector_bytes() / 2.0 ? rates.part : 1;
  }
  /// Position of the statement called \p id; -1 without one.
  int position(const std::string& id) const;
};

}  // namespace tc::strategy
