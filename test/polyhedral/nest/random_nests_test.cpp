// Nests drawn at random, many of which neither rules nor searches make: several levels of tiles, loops and copies in any order. The
// checker refuses some; all others are made, keep the laws and compute what the program says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/map_cpu/pack.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_space.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/from_environment.h"
#include "test/support/random/random_scop.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

class NestDrawer {
 public:
  NestDrawer(const Scop& scop, const ClusterView& view, std::mt19937& random)
      : scop_(scop), view_(view), space_(nest_space(scop, view)), random_(random) {
    const auto coincident =
        view.members.empty() ? std::vector<bool>() : band_coincident(node_at(scop.schedule, view.path));
    is_coincident_ = std::all_of(coincident.begin(), coincident.end(), [](bool one) { return one; });
    coincident_ = coincident;
  }

  Nest run() {
    draw_members();
    draw_sums();
    draw_cores();
    for (std::size_t s = 0; s < space_.statements.size(); ++s) draw_copies(static_cast<int>(s));
    draw_kept();
    for (std::size_t s = 0; s < space_.statements.size(); ++s) draw_branch(static_cast<int>(s));
    return nest_;
  }

 private:
  int below(std::int64_t count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }

  /// Digits of \p index, which has \p values values from \p mod on: the digits in the trunk; \p mod becomes what they leave.
  std::vector<NestLoop> draw_digits(const NestIndex& index, std::int64_t values, std::int64_t& mod) {
    std::vector<NestLoop> result;
    for (int level = 0; level < 3 && values > 2 && chance(60); ++level) {
      const auto step = 2 + below(std::min<std::int64_t>(values - 1, 5));
      result.push_back(loop_over(index, mod, step));
      mod = step;
      values = std::min<std::int64_t>(values, step);
    }
    return result;
  }

  void draw_members() {
    const bool tiled = is_coincident_ || view_.permutable || view_.members.size() == 1;
    std::vector<std::vector<NestLoop>> chains;
    for (std::size_t m = 0; m < view_.members.size(); ++m) {
      const NestIndex index{-1, static_cast<int>(m)};
      const auto extent = view_.members[m].extent();
      std::int64_t mod = 0;
      chains.push_back(tiled ? draw_digits(index, extent, mod) : std::vector<NestLoop>());
      if (extent <= 1) continue;
      if (tiled && chance(60))
        points_.push_back(loop_over(index, mod, 1));
      else
        chains.back().push_back(loop_over(index, mod, 1));
    }
    for (auto left = chains.size(); left > 0;) {
      auto& chain = tiled ? chains[static_cast<std::size_t>(below(static_cast<std::int64_t>(chains.size())))]
                          : chains[chains.size() - left];
      if (!chain.empty()) {
        nest_.trunk.push_back({chain.front()});
        chain.erase(chain.begin());
      }
      left = tiled ? static_cast<std::size_t>(
                         std::count_if(chains.begin(), chains.end(), [](const auto& each) { return !each.empty(); }))
                   : left - 1;
    }
  }

  void insert(NestStep step) {
    const auto at = below(static_cast<std::int64_t>(nest_.trunk.size()) + 1);
    nest_.trunk.insert(nest_.trunk.begin() + at, std::move(step));
  }

  void draw_sums() {
    for (std::size_t s = 0; s < space_.statements.size() && sums_.index.statement < 0; ++s) {
      const auto& statement = scop_.statement(view_.statements[s].id);
      if (!reduces_alone(statement, view_.statements[s])) continue;
      for (const auto& inner : view_.statements[s].inner) {
        const NestIndex index{static_cast<int>(s), inner.iterator};
        if (inner.iterator < 0 || inner.shared || space_.extent(index) < 3 || !chance(40)) continue;
        auto loop = loop_over(index, 0, 2 + below(2));
        loop.with_private_sums = true;
        sums_ = loop.digit;
        return insert({loop});
      }
    }
  }

  void draw_cores() {
    if (nest_.trunk.empty() || view_.in_strips() || !chance(50)) return;
    auto& loop = std::get<NestLoop>(nest_.trunk.front().what);
    if (loop.digit.index.statement < 0 && coincident_.at(static_cast<std::size_t>(loop.digit.index.number)))
      loop.place = NestPlace::Cores;
  }

  void draw_copies(int number) {
    const auto& statement = scop_.statement(view_.statements[static_cast<std::size_t>(number)].id);
    for (std::size_t read = 0; read < statement.reads.size(); ++read) {
      const auto iterators = index_iterators(statement, static_cast<int>(read));
      if (iterators.empty() || !chance(40)) continue;
      insert(
          {NestCopy{number, static_cast<int>(read), iterators[static_cast<std::size_t>(below(std::ssize(iterators)))],
                    1 + below(4), chance(50), 1 << below(3)}});
    }
  }

  void draw_kept() {
    for (const auto& entry : view_.statements) {
      const auto& statement = scop_.statement(entry.id);
      if (statement.accumulates && chance(40)) nest_.trunk.push_back({NestKeep{range_name(statement.write.relation)}});
    }
    if (!view_.members.empty() && chance(50))
      nest_.trunk.push_back({NestCopyLanes{below(std::ssize(view_.members)), 1 << below(3), chance(50)}});
  }

  /// Loops over the statement's own iterators, some of which leave points.
  std::vector<NestLoop> draw_own(int number, NestBranch& branch) {
    std::vector<NestLoop> points;
    const auto& entry = view_.statements[static_cast<std::size_t>(number)];
    for (const auto& inner : entry.inner) {
      const NestIndex index{number, inner.iterator};
      if (inner.iterator < 0) continue;
      const auto mod = sums_.index == index ? sums_.step : 0;
      const auto extent = mod > 0 ? std::min(mod, space_.extent(index)) : space_.extent(index);
      const bool reduced = reduces_alone(scop_.statement(entry.id), entry) && !inner.shared;
      if (extent > 2 && (reduced || (inner.coincident && !inner.shared)) && chance(40)) {
        const auto step = 2 + below(extent - 1);
        if (step < extent) branch.loops.push_back(loop_over(index, mod, step));
        points.push_back(loop_over(index, step < extent ? step : mod, 1));
        if (step >= extent) points.back().place = NestPlace::Unrolled;
      } else if (extent > 1) {
        branch.loops.push_back(loop_over(index, mod, 1));
      }
    }
    return points;
  }

  void draw_branch(int number) {
    NestBranch branch{.statement = view_.statements[static_cast<std::size_t>(number)].id};
    auto points = draw_own(number, branch);
    points.insert(points.begin(), points_.begin(), points_.end());
    if (is_coincident_) std::shuffle(points.begin(), points.end(), random_);
    if (!points.empty() && chance(60)) make_lanes(points);
    const bool whole = std::any_of(points.begin(), points.end(),
                                   [](const NestLoop& loop) { return loop.place == NestPlace::Unrolled; });
    if (whole || chance(50))
      for (auto& loop : points)
        if (loop.place == NestPlace::Serial) loop.place = NestPlace::Unrolled;
    branch.loops.insert(branch.loops.end(), points.begin(), points.end());
    nest_.branches.push_back(std::move(branch));
  }

  /// One of the points runs along lanes, as the innermost loop.
  void make_lanes(std::vector<NestLoop>& points) {
    const auto chosen = points.begin() + below(std::ssize(points));
    const int lanes = 1 << below(4);
    auto vector = *chosen;
    vector.place = NestPlace::Lanes;
    vector.lanes = lanes;
    const auto values = vector.digit.mod > 0 ? vector.digit.mod : space_.extent(vector.digit.index);
    if (values > lanes && lanes > 1) {
      chosen->digit.step = vector.digit.mod = lanes;
    } else if (values > lanes) {
      return;
    } else {
      points.erase(chosen);
    }
    points.push_back(vector);
  }

  const Scop& scop_;
  const ClusterView& view_;
  const NestSpace space_;
  std::mt19937& random_;
  bool is_coincident_ = true;
  std::vector<bool> coincident_;
  Nest nest_;
  std::vector<NestLoop> points_;
  Digit sums_;
};

int levels_of(const Nest& nest) {
  int most = 0;
  for (const auto& a : nest.trunk) {
    const auto* loop = std::get_if<NestLoop>(&a.what);
    if (!loop) continue;
    most = std::max(most, static_cast<int>(std::count_if(nest.trunk.begin(), nest.trunk.end(), [&](const NestStep& b) {
                      const auto* other = std::get_if<NestLoop>(&b.what);
                      return other && other->digit.index == loop->digit.index;
                    })));
  }
  return most;
}

TEST(RandomNests, AreRefusedOrMade) {
  int made = 0, refused = 0, deep = 0;
  for (unsigned seed : test::seeds_of_scops(2)) {
    std::mt19937 random(seed);
    auto scop = random_scop(std::make_shared<Context>(), seed, seed % 4 == 3 ? 9 : 6);
    const auto dependences = compute_dependences(scop);
    auto ordered = scop;
    ordered.schedule = compute_schedule(scop, dependences, {});
    const auto scheduled = clustered(ordered);
    std::vector<Nest> nests;
    std::string shown = str("seed ", seed);
    for (const auto& cluster : scheduled.clusters) {
      auto nest = NestDrawer(scheduled.scop, cluster, random).run();
      const auto names = nest_names(scheduled.scop, cluster);
      const auto text = to_string(nest, names);
      const auto read = parse_nest(text, names);
      ASSERT_EQ(read, nest) << text;
      try {
        check_nest(scheduled.scop, cluster, names, read);
        check_cpu_nest(scheduled.scop, cluster, names, read);
        ++made;
        deep += levels_of(nest) > 2;
        shown += "\n" + text;
      } catch (const OptionsError& error) {
        if (std::getenv("TC_SHOW_REFUSED")) std::cout << text << "\n" << error.what() << "\n";
        ++refused;
        nest = nest_of(scheduled.scop, cluster, ClusterMapping());
      }
      nests.push_back(std::move(nest));
    }
    Scop mapped;
    ASSERT_NO_THROW(mapped = map_to_cpu(scheduled, nests, 1 << 16)) << shown;
    ASSERT_NO_THROW(verify(mapped, dependences)) << shown << "\n" << print_block(mapped.schedule);
    ASSERT_EQ(simulate(mapped), simulate(scop)) << shown << "\n" << print_block(mapped.schedule);
  }
  EXPECT_GT(made, 2 * refused) << made << " were made";
  EXPECT_GT(deep, 0) << "none has three levels of tiles";
}

}  // namespace
}  // namespace tc::polyhedral
