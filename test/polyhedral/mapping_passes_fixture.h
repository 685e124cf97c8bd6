#pragma once

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

  bool writes(const Scop& scop, const std::string& id, const std::string& access) const {
    return scop.statement(id).write.function.as_map().is_equal(isl::map(ctx(), "{ " + access + " }"));
  }
  std::vector<std::string> order(const Scop& scop) const {
    std::vector<std::string> ids;
    for (const auto& statement : scop.statements) ids.push_back(statement.id);
    return ids;
  }
};

}  // namespace tc::polyhedral
