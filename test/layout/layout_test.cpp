#include "tc/layout/map/layout_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/map/names.h"
#include "tc/polyhedral/core/isl.h"
#include "test/layout/layout_fixture.h"
#include "test/support/expect_error.h"

namespace tc::layout {
namespace {

std::string normalised(const std::string& text) { return to_string(parse_layout(text)); }

/// The place of the element at iterators of the extents of \p map, as text.
std::string place_text(const LayoutMap& map, const std::vector<std::string>& names) {
  IteratorRanges ranges;
  std::vector<Index> indices;
  for (std::size_t d = 0; d < names.size(); ++d) {
    ranges[names[d]] = {0, map.logical()[d]};
    indices.push_back(index_of(names[d]));
  }
  std::vector<std::string> texts;
  for (const auto& index : map.place(indices, ranges)) texts.push_back(lang::print(to_expr(index)));
  return join(texts);
}

TEST(Layout, TextsParseBack) {
  for (const std::string text : {"identity", "split(1, 16) reorder(0, 1, 3, 4, 2)", "fuse(1, 2, 3) split(1, 4, 49)",
                                 "unfold(2, 10, 8)", "fold(2, 10, 8, 58)", "pad(1, 0, 4) fill(zero)", "unpad(1, 2, 0)",
                                 "store_at(0, 512, 513)", "decouple_at(0, 512)"})
    EXPECT_EQ(normalised(text), text);
  EXPECT_EQ(normalised("  split(1,16).reorder(0,1,3,4,2) "), "split(1, 16) reorder(0, 1, 3, 4, 2)");
}

TEST(Layout, TextsThatAreNone) {
  const auto refuse = [](const std::string& text, const std::string& what) {
    EXPECT_ERROR(parse_layout(text), OptionsError, what);
  };
  refuse("splat(1, 16)", "expected split, reorder, fuse");
  refuse("split(1", "expected ')'");
  refuse("split(1)", "a dimension and factors");
  refuse("split(1, 99999999999999999999)", "a smaller number");
  refuse("fuse(1, 3)", "dimensions one after another");
  refuse("fill(one)", "zero or none");
  refuse("NCHW16", "a block is a number and the letter");
  refuse("NCHW16o", "there is no dimension O");
  refuse("NNCW", "named twice");
  refuse("QRS", "dimensions are of N C D H W");
}

TEST(Layout, Names) {
  EXPECT_EQ(normalised("NHWC"), "reorder(0, 2, 3, 1)");
  EXPECT_EQ(normalised("NCHW"), "identity");
  EXPECT_EQ(normalised("NCHW16c"), "split(1, 16) reorder(0, 1, 3, 4, 2)");
  EXPECT_EQ(normalised("nChw16c"), normalised("NCHW16c"));
  EXPECT_EQ(normalised("NDHWC"), "reorder(0, 2, 3, 4, 1)");
  EXPECT_EQ(normalised("OIhw16i16o"), "split(0, 16) split(2, 16) reorder(0, 2, 4, 5, 3, 1)");
  EXPECT_EQ(normalised("OIhw4i16o4i"), "split(0, 16) split(2, 4, 4) reorder(0, 2, 5, 6, 3, 1, 4)");
  EXPECT_EQ(normalised("HWIO"), "reorder(2, 3, 1, 0)");
  EXPECT_EQ(normalised("HWCN"), "reorder(2, 3, 1, 0)");
  EXPECT_EQ(to_string(named_layout("KM8k", "MK")), "split(1, 8) reorder(1, 0, 2)");
}

TEST(Layout, StepsThatDoNotFit) {
  const auto refuse = [](const std::string& text, const Extents& extents, const std::string& what) {
    EXPECT_ERROR(LayoutMap(parse_layout(text), extents), OptionsError, what);
  };
  refuse("split(2, 4)", {3, 5}, "there is no dimension 2");
  refuse("split(1, 0)", {3, 5}, "factors are 1 or more");
  refuse("reorder(0, 0)", {3, 5}, "each of dimensions 0 to 1 once");
  refuse("fuse(1, 2)", {3, 5}, "there is no dimension 2");
  refuse("unfold(0, 0, 1)", {3}, "size and stride");
  refuse("fold(0, 3, 2, 9)", {2, 3}, "unfold of 9 elements gives (4, 3)");
  refuse("unpad(0, 2, 2)", {3}, "fewer elements");
  refuse("store_at(0, 3, 3)", {3}, "outside");
  refuse("split(0, 4) split(2, 2)", {3}, "extents (1, 4)");
}

TEST(Layout, BlockedConvolutionOutput) {
  const LayoutMap map(parse_layout("NCHW16c"), {1, 64, 56, 56});
  EXPECT_EQ(map.physical(), (Extents{1, 4, 56, 56, 16}));
  EXPECT_EQ(place_text(map, {"n", "c", "h", "w"}), "n, c / 16, h, w, c % 16");
  const Facts facts = map.facts();
  EXPECT_TRUE(facts.functional && facts.injective && facts.total && facts.dense && !facts.replicating);
  EXPECT_EQ(join(map.names({"n", "c", "h", "w"})), "n, co, h, w, ci");
}

/// ALT's own example: NHWO, three steps.
TEST(Layout, FuseSplitReorder) {
  const Extents extents{4, 7, 7, 32};
  EXPECT_EQ(place_text(LayoutMap(parse_layout("fuse(1,2,3)"), extents), {"n", "h", "w", "o"}),
            "n, 224 * h + 32 * w + o");
  const LayoutMap map(parse_layout("fuse(1,2,3) split(1,4,49) reorder(0,1,3,2)"), extents);
  EXPECT_EQ(map.physical(), (Extents{4, 8, 49, 4}));
  IteratorRanges ranges = {{"n", {0, 4}}, {"e", {0, 7 * 7 * 32}}};
  const LayoutMap flat(parse_layout("split(1,4,49) reorder(0,1,3,2)"), {4, 7 * 7 * 32});
  EXPECT_EQ(place_text(flat, {"n", "e"}), "n, e / 196, e % 49, e / 49 % 4");
  EXPECT_TRUE(map.facts().injective && map.facts().dense);
}

TEST(Layout, UnfoldOfFive) {
  const LayoutMap map(parse_layout("unfold(0,3,2)"), {5});
  EXPECT_EQ(map.physical(), (Extents{2, 3}));
  EXPECT_EQ(test::places_of(map, {2}), (std::vector<std::vector<std::int64_t>>{{0, 2}, {1, 0}}));
  const Facts facts = map.facts();
  EXPECT_TRUE(facts.replicating && facts.injective && facts.total && facts.dense);
  EXPECT_FALSE(facts.functional);
}

/// Tiles folded again are what they were, also where the last one ends behind the dimension.
TEST(Layout, FoldUndoesUnfold) {
  std::mt19937_64 random(9);
  int overlapping = 0, beyond = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto extent = 1 + static_cast<std::int64_t>(random() % 24),
               stride = 1 + static_cast<std::int64_t>(random() % 6);
    const auto size = stride + static_cast<std::int64_t>(random() % 5);
    const LayoutMap tiles(Layout().unfold(0, size, stride), {extent});
    const LayoutMap back(inverse(tiles.layout(), {extent}), tiles.physical());
    ASSERT_EQ(back.physical(), Extents{extent});
    polyhedral::Context context;
    const isl::map there(context, tiles.relation()), again(context, back.relation());
    ASSERT_TRUE(there.apply_range(again).is_equal(there.domain().identity())) << extent << " " << size << " " << stride;
    overlapping += size > stride && tiles.physical().front() > 1;
    beyond += stride * (tiles.physical().front() - 1) + size > extent;
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_GT(beyond, 50);
}

TEST(Layout, HolesOfAPartialBlock) {
  const LayoutMap map(parse_layout("split(0,16)"), {20});
  const Facts facts = map.facts();
  EXPECT_EQ(map.physical(), (Extents{2, 16}));
  EXPECT_TRUE(facts.functional && facts.injective && facts.total);
  EXPECT_FALSE(facts.dense);
  EXPECT_FALSE(LayoutMap(parse_layout("unfold(0,2,3)"), {9}).facts().total);
  EXPECT_FALSE(LayoutMap(parse_layout("unpad(0,1,0)"), {9}).facts().total);
  EXPECT_FALSE(LayoutMap(parse_layout("fold(0,3,2,5)"), {2, 3}).facts().injective);
}

/// Equation 1 holds for windows that stay in a tile: its hidden condition, for all small cases, against enumeration.
TEST(Layout, WindowsStayInTiles) {
  EXPECT_ERROR(require_window({0, 3, 2}, 1, 3), OptionsError, "size >= stride - step + window = 4");
  EXPECT_ERROR(require_window({0, 10, 3}, 2, 3), OptionsError, "the step must divide the stride");
  int kept = 0;
  for (std::int64_t v = 1; v <= 3; ++v)
    for (std::int64_t m = 1; m <= 5; ++m)
      for (std::int64_t b = 1; b <= 9; ++b)
        for (std::int64_t s = 1; s <= 9; ++s) {
          if (s % v != 0) continue;
          bool stays = true;
          for (std::int64_t i = 0; i < 2 * s; ++i) {
            const std::int64_t first = v * i - s * (v * i / s);
            stays = stays && first + m - 1 < b;
          }
          bool promised = true;
          try {
            require_window({0, b, s}, v, m);
          } catch (const OptionsError&) {
            promised = false;
          }
          ASSERT_EQ(stays, promised) << v << " " << m << " " << b << " " << s;
          kept += promised;
        }
  EXPECT_GT(kept, 50);
}

/// A random layout of up to \p steps steps for \p extents.
Layout random_steps(Extents extents, int steps, std::mt19937_64& random) {
  Layout layout;
  const auto pick = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  };
  for (int s = 0; s < steps; ++s) {
    Primitive step = Reorder{{}};
    const auto dim = static_cast<std::size_t>(pick(static_cast<std::int64_t>(extents.size())));
    switch (pick(6)) {
      case 0:
        step = Split{dim, pick(2) ? std::vector<std::int64_t>{1 + pick(4)} : std::vector<std::int64_t>{1 + pick(3), 2}};
        break;
      case 1:
        if (dim + 1 >= extents.size()) continue;
        step = Fuse{dim, 2};
        break;
      case 2:
        step = Unfold{dim, 1 + pick(4), 1 + pick(3)};
        break;
      case 3:
        step = Pad{dim, pick(2), pick(3)};
        break;
      case 4:
        step = StoreAt{dim, pick(2), 2};
        break;
      default: {
        std::vector<std::size_t> order(extents.size());
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
        std::shuffle(order.begin(), order.end(), random);
        step = Reorder{order};
      }
    }
    extents = extents_behind(step, extents);
    layout = layout.then(step);
  }
  return layout;
}

/// What isl, the index expressions and the enumeration of the definitions say of random layouts is one.
TEST(Layout, RelationsAndPlacesAreOne) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const Extents extents{1 + static_cast<std::int64_t>(random() % 4), 1 + static_cast<std::int64_t>(random() % 6)};
    const Layout layout = random_steps(extents, 4, random);
    const LayoutMap map(layout, extents);
    ASSERT_EQ(parse_layout(to_string(layout)), layout);
    polyhedral::Context context;
    const isl::map relation(context, map.relation());
    std::size_t points = 0, functional = 0, total = 0;
    std::set<std::vector<std::int64_t>> all;
    const IteratorRanges ranges = {{"i", {0, extents[0]}}, {"j", {0, extents[1]}}};
    const auto at = map.place({index_of("i"), index_of("j")}, ranges);
    for (std::int64_t i = 0; i < extents[0]; ++i)
      for (std::int64_t j = 0; j < extents[1]; ++j) {
        const auto places = test::places_of(map, {i, j});
        for (const auto& place : places) {
          const isl::map one(context, str("{ [", i, ", ", j, "] -> [", join(place), "] }"));
          ASSERT_TRUE(one.is_subset(relation)) << to_string(layout);
          all.insert(place);
          ++points;
        }
        functional += places.size() <= 1;
        total += !places.empty();
        std::vector<std::int64_t> made;
        for (const auto& index : at) made.push_back(lang::evaluate_size(to_expr(index), {{"i", i}, {"j", j}}));
        if (!places.empty()) {
          ASSERT_TRUE(std::find(places.begin(), places.end(), made) != places.end()) << to_string(layout);
        }
      }
    const auto count = static_cast<std::size_t>(extents[0] * extents[1]);
    std::size_t physical = 1;
    for (const auto extent : map.physical()) physical *= static_cast<std::size_t>(extent);
    const Facts facts = map.facts();
    EXPECT_EQ(facts.functional, functional == count) << to_string(layout);
    EXPECT_EQ(facts.total, total == count) << to_string(layout);
    EXPECT_EQ(facts.injective, all.size() == points) << to_string(layout);
    EXPECT_EQ(facts.dense, all.size() == physical) << to_string(layout);
    const isl::map back(context, LayoutMap(inverse(layout, extents), map.physical()).relation());
    EXPECT_TRUE(facts.total ? relation.apply_range(back).is_equal(relation.domain().identity()) : true)
        << to_string(layout) << " back by " << to_string(inverse(layout, extents));
  }
}

TEST(LayoutMap, TellsWhichLayoutsAreTheSameMemory) {
  const auto same = [](const char* a, const char* b, const Extents& extents) {
    return LayoutMap(parse_layout(a), extents).is_same_memory(LayoutMap(parse_layout(b), extents));
  };
  EXPECT_TRUE(same("NHWC", "identity", {1, 64, 1, 1}));
  EXPECT_TRUE(same("NHWC", "identity", {3, 1, 5, 7})) << "one channel";
  EXPECT_TRUE(same("NCHW16c", "NHWC", {2, 16, 5, 7})) << "one block";
  EXPECT_TRUE(same("NCHW16c", "identity", {1, 64, 1, 1})) << "blocks follow each other as channels do";
  EXPECT_FALSE(same("NHWC", "identity", {1, 64, 1, 2}));
  EXPECT_FALSE(same("NCHW16c", "NHWC", {1, 32, 5, 7}));
  EXPECT_FALSE(same("NCHW16c", "NHWC", {2, 15, 5, 7})) << "a place that holds nothing";
  EXPECT_FALSE(same("pad(1, 1, 0)", "pad(1, 0, 1)", {2, 3, 1, 1}));
}

}  // namespace
}  // namespace tc::layout
