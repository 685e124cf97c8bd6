#pragma once

#include <string>

#include "tc/base/str.h"
#include "tc/polyhedral/map/mapping.h"
#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/price/price.h"
#include "test/support/isl_fixture.h"
#include "test/support/scops.h"

namespace tc::strategy {

using polyhedral::ClusterMapping;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

/// Clusters of small programs, and prices of mappings that texts say.
class PriceTest : public polyhedral::IslTest {
 protected:
  const Target target_ = Target::parse("cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m");

  PricedCluster priced(Scop scop) const { return priced(std::move(scop), target_); }
  static PricedCluster priced(Scop scop, const Target& target) {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    auto all = polyhedral::clustered(scop);
    return PricedCluster(all.scop, all.clusters.front(), target);
  }
  static ClusterMapping mapping(const std::string& text) { return polyhedral::parse_mapping(text).clusters.at(0); }

  /// C = A B, or of A transposed, of n x n matrices.
  PricedCluster product(int n, bool transposed = false) const {
    auto result = priced(polyhedral::scops::square_product(context(), n, transposed ? "A[k, i]" : "A[i, k]"));
    result.statements[1].body.simple = 1;
    return result;
  }
  /// C[i, j] = A[i, j], or A transposed.
  PricedCluster copy(int n, bool transposed) const {
    return priced(ScopBuilder(context())
                      .input("A", {n, n})
                      .output("C", {n, n})
                      .statement(str("S[i, j] : 0 <= i, j < ", n), "C[i, j]", {transposed ? "A[j, i]" : "A[i, j]"})
                      .scop());
  }
  /// s[i] += A[i, j] * B[i, j] of \p rows rows, \p second for B[i, j].
  PricedCluster dots(int rows, int columns, const std::string& second, const Target& target) const {
    return priced(
        ScopBuilder(context())
            .input("A", {rows, columns})
            .input("B", {rows, columns})
            .output("s", {rows})
            .identity(str("I[i] : 0 <= i < ", rows), "s[i]")
            .accumulate(str("U[i, j] : 0 <= i < ", rows, " and 0 <= j < ", columns), "s[i]", {"A[i, j]", second})
            .scop(),
        target);
  }
  double cycles(const PricedCluster& cluster, const std::string& text) const {
    return price(cluster, mapping(text), 1 << 18).core_cycles;
  }
  double seconds(const PricedCluster& cluster, const std::string& text) const {
    return price(cluster, mapping(text), 1 << 18).seconds;
  }
};

}  // namespace tc::strategy
