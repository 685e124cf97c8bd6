#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/strategy/price/guard.h"
#include "tc/strategy/price/machine_rates.h"

namespace tc::strategy {

/// What one evaluation of a statement's value computes, by kinds: of what does not change along some iterators, the share
/// that is left where it is computed once for all of them.
struct BodyOperations {
  /// Operations on values that are the same along some iterators. Where loops over such iterators are the innermost ones, they
  /// are computed before these.
  struct Invariant {
    std::vector<bool> changes;  ///< iterators along which the values are others
    double simple = 0, divisions = 0, functions = 0;
  };

  double simple = 1;  ///< additions, multiplications, comparisons, conversions; a multiply-add is one
  double divisions = 0;
  double functions = 0;  ///< exp; others count as several
  double of_value = 0;   ///< of `simple`, those on nothing but what an update adds: once for all that it is added to
  std::vector<Invariant> invariants{};  ///< of the above, where each value counts once
};
/// By the id of the source statement.
using OperationsOfBodies = std::map<std::string, BodyOperations>;

/// How far one access is from another along a dimension of their tensor.
struct Shift {
  std::int64_t stride = 1;  ///< elements from one index to the next
  std::int64_t by = 0;      ///< indices, not 0
};

/// A read that moves as another one of its statement and tensor does, `shifts` from it; the same without any.
struct NearRead {
  int read = 0;  ///< position in PricedStatement::reads
  std::vector<Shift> shifts;
};

/// An access by its strides: elements from one iteration of each iterator of its statement to the next.
struct PricedAccess {
  int tensor = 0;                                 ///< position in PricedCluster::tensors
  std::vector<std::int64_t> strides;              ///< in a block, along an iterator that has some
  std::vector<polyhedral::BlockedStride> blocks;  ///< of size 0 along an iterator that has none
  std::vector<bool> used;                         ///< iterators that index it
  std::vector<int> aligned;    ///< elements, a power of two, at a multiple of which vectors along each iterator begin
  bool guarded = false;        ///< it does not happen in all instances
  std::vector<NearRead> near;  ///< of a read: those before it
  bool packable = false;       ///< a read that a copy can take the place of

  bool changes(int iterator) const { return iterator >= 0 && used[iterator]; }
};

struct PricedTensor {
  std::string name;
  double element = 4, bytes = 4;
  DType type = DType::Float32;
  bool own = false;  ///< a temporary that no other cluster touches
  bool written = false;
};

struct PricedStatement {
  polyhedral::ClusterStatement entry;
  std::vector<double> extent;  ///< of each iterator
  int lanes = 1;               ///< of a whole vector
  PricedAccess write;
  std::vector<PricedAccess> reads;
  bool accumulates = false, reduces = false;  ///< reduces: in loops of its own and in nothing but these
  BodyOperations body;                        ///< invariants by the statement's own iterators
  std::vector<Guard> guards;                  ///< outside of which instances add nothing
  double guarded_share = 1;                   ///< of the instances, those that they leave
};

/// The copy that read number \p read of \p statement goes to in \p mapping; null without one.
const polyhedral::PackMapping* pack_of(const polyhedral::ClusterMapping& mapping, const PricedStatement& statement,
                                       int read);

/// The iterator along which the rows lie of which the copy \p pack of \p read transposes squares; -1 where it transposes none.
int row_of_squares(const PricedAccess& read, const polyhedral::PackMapping& pack);

/// Does read number \p read touch what one before it has touched, neither of them a copy?
bool repeats(const polyhedral::ClusterMapping& mapping, const PricedStatement& statement, int read);

/// What the prices of all mappings of a cluster start from. isl is asked when it is made and never after.
struct PricedCluster {
  PricedCluster(const polyhedral::Scop& scop, const polyhedral::ClusterView& cluster, const Target& machine,
                const OperationsOfBodies& bodies = {});

  std::vector<double> extent;  ///< of each member of the outer band
  bool permutable = false;
  std::vector<PricedStatement> statements;
  std::vector<PricedTensor> tensors;
  Target target;
  MachineRates rates;

  /// Of the time of a whole vector, what one of \p lanes elements of \p element bytes takes.
  double share_of_vector(double lanes, double element) const {
    return lanes * element <= target.vector_bytes() / 2.0 ? rates.part : 1;
  }
  /// Position of the statement called \p id; -1 without one.
  int position(const std::string& id) const;
};

}  // namespace tc::strategy
