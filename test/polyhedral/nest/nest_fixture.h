#pragma once

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "test/support/isl_fixture.h"
#include "test/support/schedule_builder.h"
#include "test/support/scop_builder.h"

namespace tc::polyhedral {

/// C[m, n] +=! A[m, k] * B[k, n] below one coincident band.
class NestTest : public IslTest {
 protected:
  NestTest() : scop_(product()), cluster_(cluster_views(scop_).at(0)), names_(nest_names(scop_, cluster_)) {}

  Scop product(int depth = 32, int rows = 64, int columns = 100) const {
    const auto mn = str("0 <= m < ", rows, " and 0 <= n < ", columns), mnk = str(mn, " and 0 <= k < ", depth);
    auto scop = ScopBuilder(context())
                    .input("A", {rows, depth})
                    .input("B", {depth, columns})
                    .output("C", {rows, columns})
                    .identity("I[m, n] : " + mn, "C[m, n]")
                    .accumulate("U[m, n, k] : " + mnk, "C[m, n]", {"A[m, k]", "B[k, n]"})
                    .scop();
    using namespace build;
    scop.schedule =
        domain(ctx(), "{ I[m, n] : " + mn + "; U[m, n, k] : " + mnk + " }",
               coincident_band("[{ I[m, n] -> [(m)]; U[m, n, k] -> [(m)] }, { I[m, n] -> [(n)]; U[m, n, k] -> [(n)] }]",
                               2, sequence({{"{ I[m, n] }"}, {"{ U[m, n, k] }", band("[{ U[m, n, k] -> [(k)] }]")}})));
    return scop;
  }

  static ClusterMapping tiled() {
    ClusterMapping result{.members = {{0, 4}, {48, 24}}, .outermost = 1, .parallel = true, .register_tile = true};
    result.statements = {{"I", 1, 8}, {"U", 1, 8}};
    result.staged = {"C"};
    result.reduction = {"U", 2, 16};
    result.packed = {{.statement = "U", .read = 1, .panel = 1, .size = 24, .lanes = 8}};
    result.copies = {"", 1, 8};
    return result;
  }

  Nest nest(const ClusterMapping& mapping) const { return nest_of(scop_, cluster_, mapping); }
  std::string text(const Nest& nest) const { return to_string(nest, names_); }
  std::string text(const ClusterMapping& mapping) const { return text(nest(mapping)); }
  Nest read(const std::string& text) const {
    auto nest = parse_nest(text, names_);
    check_nest(scop_, cluster_, names_, nest);
    check_cpu_nest(scop_, cluster_, names_, nest);
    return nest;
  }
  /// tiled() with \p from replaced by \p to in its text, read.
  Nest edited(const std::string& from, const std::string& to) const {
    auto result = text(tiled());
    auto place = result.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return read(result.replace(place, from.size(), to));
  }

  Scop scop_;
  ClusterView cluster_;
  NestNames names_;
};

}  // namespace tc::polyhedral
