#pragma once

#include <map>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// What a machine does in a microsecond, in all threads.
struct Rates {
  double products = 100e3;  ///< operations of products of matrices
  double loops = 25e3;      ///< operations of other sums of products
  double bytes = 20e3;      ///< between memory and the processor
  double start = 1;         ///< microseconds that each scope takes to begin
};

/// Operations and bytes of one scope, from its access relations.
struct Work {
  double operations = 0;  ///< of its instances, a product and a sum one each
  double bytes = 0;       ///< of all elements that it touches, once
};

/// Counts by hulls: where a set is no box, more than there are.
Work work_of(const Program& program, const Scope& scope);

/// Microseconds that \p program may take: each scope the time of its operations or of its bytes, whichever is longer. A
/// model for comparing programs of one search.
class PriceModel {
 public:
  explicit PriceModel(const Rates& rates) : rates_(rates) {}
  double operator()(const Program& program);

 private:
  double price(const Program& program, const ScopePtr& scope);

  Rates rates_;
  std::map<ScopePtr, double> known_;
};

}  // namespace tc::derive
