#include "tc/polyhedral/map_grid/phases.h"

#include "tc/polyhedral/laws/verify.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/rejects.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class Phases : public MappingPassTest {
 protected:
  /// \p to(i) = \p from(i) for 64 i, 8 a block.
  GridKernel copy(const std::string& from, const std::string& to, std::array<std::int64_t, 3> block = {8, 1, 1}) const {
    auto domain = str("S_", to, "[i] : 0 <= i < 64");
    auto scop =
        ScopBuilder(context()).input(from, {64}).output(to, {64}).statement(domain, to + "[i]", {from + "[i]"}).scop();
    scop.schedule = build::domain(ctx(), "{ " + domain + " }", coincident_band(str("[{ S_", to, "[i] -> [(i)] }]"), 1));
    return map_kernel(scop, {.members = {{8, 0, {block[1] > 1 ? 1 : 0}}}, .grid = {8, 1, 1}, .block = block},
                      warp_size);
  }
  /// \p to(i) = \p from(63 - i), or, \p at_end, \p to(63 - i) = \p from(i).
  GridKernel reverse(const std::string& from, const std::string& to, bool at_end = false) const {
    auto domain = str("R_", to, "[i] : 0 <= i < 64");
    auto scop = ScopBuilder(context())
                    .input(from, {64})
                    .output(to, {64})
                    .statement(domain, to + (at_end ? "[63 - i]" : "[i]"), {from + (at_end ? "[i]" : "[63 - i]")})
                    .scop();
    scop.schedule = build::domain(ctx(), "{ " + domain + " }", coincident_band(str("[{ R_", to, "[i] -> [(i)] }]"), 1));
    return map_kernel(scop, {.members = {{8, 0, {0}}}, .grid = {8, 1, 1}, .block = {8, 1, 1}}, warp_size);
  }
  using Barriers = std::vector<bool>;
};

TEST_F(Phases, BlocksWaitWhereAPhaseNeedsWhatOthersDid) {
  EXPECT_EQ(grid_barriers({copy("A", "B"), reverse("B", "C"), reverse("C", "D")}), (Barriers{true, true, false}));
  EXPECT_EQ(grid_barriers({copy("A", "B"), copy("A", "C"), copy("A", "D")}), (Barriers{false, false, false}));
}

TEST_F(Phases, BlocksDoNotWaitForThemselves) {
  EXPECT_EQ(grid_barriers({copy("A", "B"), copy("B", "C"), reverse("C", "D")}), (Barriers{false, true, false}));
}

TEST_F(Phases, OneBarrierServesAllThatItSeparates) {
  EXPECT_EQ(grid_barriers({copy("A", "B"), copy("A", "C"), reverse("B", "D"), reverse("C", "E")}),
            (Barriers{false, true, false, false}));
}

TEST_F(Phases, WhatIsReadMayNotBeWrittenAtOnce) {
  EXPECT_EQ(grid_barriers({copy("A", "B"), reverse("C", "A", true)}), (Barriers{true, false}));
  EXPECT_EQ(grid_barriers({copy("A", "B"), reverse("C", "B", true)}), (Barriers{true, false}));
}

TEST_F(Phases, AMissingBarrierBreaksTheLaw) {
  std::vector<GridKernel> kernels = {copy("A", "B"), copy("X", "Y"), reverse("B", "C")};
  for (const Barriers& right : {Barriers{true, false, false}, Barriers{false, true, false}})
    EXPECT_NO_THROW(verify_phases(kernels, right));
  for (const Barriers& wrong : {Barriers{false, false, false}, Barriers{false, false, true}})
    EXPECT_TRUE(rejects(
        [&] { verify_phases(kernels, wrong); },
        "no barrier of the grid separates phases 0 and 2, in which two blocks touch what one of them writes: "));
}

TEST_F(Phases, WideBlocksRunTheSameInstances) {
  struct {
    std::array<std::int64_t, 3> block, mapped, wide;
    std::int64_t threads;
  } cases[] = {{{8, 1, 1}, {8, 1, 1}, {20, 1, 1}, 20},
               {{8, 1, 1}, {8, 1, 1}, {8, 1, 1}, 7},
               {{1, 4, 1}, {1, 4, 1}, {1, 32, 1}, 32},
               {{1, 1, 1}, {1, 1, 1}, {6, 1, 1}, 6}};
  for (const auto& c : cases) {
    auto kernel = copy("A", "B", c.block);
    EXPECT_EQ(kernel.block, c.mapped);
    auto wide = widen_block(kernel, c.threads);
    EXPECT_EQ(wide.block, c.wide);
    EXPECT_NO_THROW(verify_kernel(wide));
  }
}

}  // namespace
}  // namespace tc::polyhedral
