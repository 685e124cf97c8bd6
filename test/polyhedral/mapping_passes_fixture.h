#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/spread/grid_cluster_state.h"
#include "test/support/isl_fixture.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {

/// Row sums C[i] +=! A[i, k] below one coincident band, and the text of accesses.
class MappingPassTest : public IslTest {
 protected:
  static constexpr std::int64_t warp_size = 32;

  Scop row_sums(int rows = 8, int columns = 20) const {
    auto i = str("0 <= i < ", rows), ik = str(i, " and 0 <= k < ", columns);
    auto scop = ScopBuilder(context())
                    .input("A", {rows, columns})
                    .output("C", {rows})
                    .identity(str("I[i] : ", i), "C[i]")
                    .accumulate(str("U[i, k] : ", ik), "C[i]", {"A[i, k]"})
                    .scop();
    using namespace build;
    scop.schedule = domain(ctx(), str("{ I[i] : ", i, "; U[i, k] : ", ik, " }"),
                           coincident_band("[{ I[i] -> [(i)]; U[i, k] -> [(i)] }]", 1,
                                           sequence({{"{ I[i] }"}, {"{ U[i, k] }", band("[{ U[i, k] -> [(k)] }]")}})));
    return scop;
  }

  /// The one cluster of \p scop on its way to a kernel of the nest of \p mapping.
  static GridClusterState kernel_state(const Scop& scop, const GridClusterMapping& mapping) {
    const auto space = kernel_nest_space(scop, cluster_views(scop).at(0));
    return {space, nest_of(space, mapping), warp_size};
  }

  bool writes(const Scop& scop, const std::string& id, const std::string& access) const {
    return scop.statement(id).write.function.as_map().is_equal(isl::map(ctx(), "{ " + access + " }"));
  }
  std::vector<std::string> order(const Scop& scop) const {
    std::vector<std::string> ids;
    for (const auto& statement : scop.statements) ids.push_back(statement.id);
    return ids;
  }
};

/// t[i, j] = A[i, j]; C[i, j] = t[i, shift + j] row by row; t has 20 columns.
class ShiftedRowsTest : public MappingPassTest {
 protected:
  Scop rows(const std::string& read = "t[i, j]") const {
    auto scop = ScopBuilder(context())
                    .input("A", {8, 20})
                    .temporary("t", {8, 20})
                    .output("C", {8, 20})
                    .statement("S[i, j] : 0 <= i < 8 and 0 <= j < 20", "t[i, j]", {"A[i, j]"})
                    .statement("T[i, j] : 0 <= i < 8 and 0 <= j < 19", "C[i, j]", {read})
                    .scop();
    using namespace build;
    scop.schedule = domain(ctx(), "{ S[i, j] : 0 <= i < 8 and 0 <= j < 20; T[i, j] : 0 <= i < 8 and 0 <= j < 19 }",
                           coincident_band("[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }]", 1,
                                           sequence({{"{ S[i, j] }", band("[{ S[i, j] -> [(j)] }]")},
                                                     {"{ T[i, j] }", band("[{ T[i, j] -> [(j)] }]")}})));
    return scop;
  }
};

}  // namespace tc::polyhedral
