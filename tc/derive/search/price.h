#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tc/derive/form/program.h"

namespace tc::derive {

/// What a machine does in a microsecond, in all threads.
struct Rates {
  double products = 100e3;  ///< operations of products of matrices
  double loops = 25e3;      ///< operations of other sums of products
  double windows = 0;       ///< operations of convolutions, where routines of libraries have them; else at most loops
  double bytes = 20e3;      ///< between memory and the processor
  double strided = 2e3;     ///< elements that neighbouring lanes read apart from each other
  double start = 1;         ///< microseconds that each scope takes to begin
};

/// Operations and bytes of one scope, from its access relations.
struct Work {
  double operations = 0;  ///< of its instances, a product and a sum one each
  double bytes = 0;       ///< of all elements that it touches, once
  double strided = 0;     ///< reads of a sum of elements of one tensor that are no vectors along any left iterator
};

/// Counts by hulls: where a set is no box, more than there are.
Work work_of(const Program& program, const Scope& scope);

/// Microseconds of a program, and of what layouts may make of it: with each sum of products that copies of its operands make a product
/// of matrices, or a convolution, as one, and these copies.
struct Price {
  double microseconds = 0, laid_out = 0;
};

/// Microseconds that \p program may take: each scope the time of its operations or of its bytes, whichever is longer, and of
/// strided reads. What inputs \p constants decide takes none. A model for comparing programs of one search.
class PriceModel {
 public:
  PriceModel(const Rates& rates, std::set<std::string> constants) : rates_(rates), constants_(std::move(constants)) {}
  double operator()(const Program& program) { return of(program).microseconds; }
  Price of(const Program& program);

 private:
  Price price(const Program& program, const ScopePtr& scope);

  Rates rates_;
  std::set<std::string> constants_;
  std::map<ScopePtr, Price> known_;
};

}  // namespace tc::derive
