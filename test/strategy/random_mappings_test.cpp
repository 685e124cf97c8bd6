#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tc/base/ceil_div.h"
#include "tc/options/mapping_options.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_cpu/check_cpu_nest.h"
#include "tc/polyhedral/map_cpu/map_to_cpu.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/collapse.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/cpu/choose_mapping.h"
#include "tc/strategy/price/nest_walk.h"
#include "test/support/from_environment.h"
#include "test/support/mapping_text.h"
#include "test/support/random/random_scop.h"
#include "test/support/simulate.h"

namespace tc::strategy::random_mappings_test {
namespace {

using options::MappingOptions;
using polyhedral::Scop;

/// A few iterators of \p scop, in a third of the cases.
std::vector<std::string> some_iterators(const Scop& scop, std::mt19937& random) {
  std::vector<std::string> result;
  for (const auto& statement : scop.statements)
    for (const auto& iterator : statement.iterators)
      if (random() % 3 == 0) result.push_back(iterator);
  return random() % 3 == 0 && result.size() <= 64 ? result : std::vector<std::string>();
}

MappingOptions random_options(const Scop& scop, std::mt19937& random) {
  auto fusion = static_cast<options::FusionStrategy>(random() % 3);
  std::vector<std::int64_t> tile(random() % 3);
  for (auto& size : tile) size = static_cast<int>(random() % 6);
  std::vector<std::int64_t> rows_and_columns(2);
  for (auto& count : rows_and_columns) count = 1 + static_cast<int>(random() % 5);
  return MappingOptions()
      .with_fusion(fusion)
      .with_tile(tile)
      .with_parallel(random() % 4 != 0)
      .with_vectorise(random() % 4 != 0)
      .with_promote(random() % 4 != 0)
      .with_promote_bytes(random() % 3 == 0 ? 64 : 0)
      .with_vector_bytes(random() % 3 == 0 ? 4 << random() % 4 : 0)
      .with_register_tile(random() % 3 == 0 ? rows_and_columns : std::vector<std::int64_t>())
      .with_unroll(random() % 3 == 0 ? 1 << random() % 4 : 0)
      .with_pack(random() % 4 != 0)
      .with_reduction_block(random() % 3 == 0 ? 1 + random() % 5 : 0)
      .with_parallel_along(some_iterators(scop, random))
      .with_vector_along(some_iterators(scop, random));
}

/// Two or three members of a cluster as one, where that is legal.
void collapse_some(polyhedral::ClusteredScop& scop, polyhedral::Dependences& dependences, std::mt19937& random) {
  polyhedral::Collapse choice{random() % 2};
  for (int member : {0, 1, 2, 3})
    if (random() % 2 == 0) choice.members.push_back(member);
  std::shuffle(choice.members.begin(), choice.members.end(), random);
  if (can_collapse(scop, choice)) collapse(scop, dependences, choice);
}

/// A random mapping, legal or not worth it alike: threads, blocks, points and unrolling that no rule would choose.
void disturb(polyhedral::Mapping& mapping, std::mt19937& random) {
  for (auto& cluster : mapping.clusters) {
    for (auto& member : cluster.members) {
      if (random() % 3 == 0) member.block = 1 + static_cast<int>(random() % 5);
      if (random() % 3 == 0) member.points *= 1 + static_cast<int>(random() % 3);
    }
    for (auto& statement : cluster.statements)
      if (statement.iterator >= 0 && random() % 3 == 0) statement.unroll *= 2;
    cluster.register_tile = random() % 2 == 0;
  }
}

/// Drops what disturb() may ask for and no nest has: tiles that are larger than their blocks, vectors without values.
void drop_idle_parts(const polyhedral::ClusteredScop& scop, polyhedral::Mapping& mapping) {
  for (auto& cluster : mapping.clusters) {
    for (auto& member : cluster.members)
      if (member.block > 0) member.block = std::max(member.points, member.block);
    for (auto& statement : cluster.statements) {
      if (statement.iterator < 0) continue;
      auto values = polyhedral::box(scop.scop.statement(statement.id).domain)[statement.iterator].extent();
      const auto& cut = cluster.reduction;
      if (cut.statement == statement.id && cut.iterator == statement.iterator) values = std::min(values, cut.size);
      while (statement.unroll > 1 && statement.lanes * (statement.unroll / 2) >= values) statement.unroll /= 2;
    }
  }
}

/// The loops of \p scop as C.
std::string loops_of(const Scop& scop) { return polyhedral::comparable(print(polyhedral::generate_ast(scop))); }

/// The nests of \p mapping by way of their texts, which the passes can make.
std::vector<polyhedral::Nest> by_text(const polyhedral::ClusteredScop& scop, const polyhedral::Mapping& mapping) {
  std::vector<polyhedral::Nest> result;
  for (std::size_t i = 0; i < mapping.clusters.size(); ++i) {
    const auto& cluster = scop.clusters[i];
    const auto names = polyhedral::nest_names(scop.scop, cluster);
    const auto nest = polyhedral::nest_of(scop.scop, cluster, mapping.clusters[i]);
    const auto text = to_string(nest, names);
    result.push_back(polyhedral::parse_nest(text, names));
    EXPECT_EQ(to_string(result.back(), names), text);
    EXPECT_EQ(result.back(), nest) << text;
    EXPECT_NO_THROW(polyhedral::check_nest(scop.scop, cluster, names, result.back())) << text;
    EXPECT_NO_THROW(polyhedral::check_cpu_nest(scop.scop, cluster, names, result.back())) << text;
  }
  return result;
}

class RandomMappings : public testing::TestWithParam<const char*> {};

TEST_P(RandomMappings, KeepAllLawsAndCompute) {
  auto target = Target::parse(GetParam());
  for (unsigned seed : test::seeds_of_scops()) {
    std::mt19937 random(seed);
    auto scop = polyhedral::random_scop(std::make_shared<polyhedral::Context>(), seed, seed % 4 == 3 ? 9 : 5);
    auto dependences = polyhedral::compute_dependences(scop);
    auto options = random_options(scop, random);
    auto ordered = scop;
    ordered.schedule = polyhedral::compute_schedule(scop, dependences, options.values());
    auto scheduled = polyhedral::clustered(ordered);
    if (seed % 3 == 0) collapse_some(scheduled, dependences, random);
    auto mapping = choose_mapping(scheduled, target, options.values());
    if (seed % 2 == 1) disturb(mapping, random);
    auto shown = str("seed ", seed, " options '", options.to_text(), "'\n", to_string(mapping));
    Scop mapped;
    ASSERT_NO_THROW(mapped = polyhedral::map_to_cpu(scheduled, mapping)) << shown;
    ASSERT_NO_THROW(polyhedral::verify(mapped, dependences)) << shown;
    ASSERT_EQ(polyhedral::simulate(mapped), polyhedral::simulate(scop)) << shown << print_block(mapped.schedule);
  }
}

/// The texts of their nests are read back, and made to the same loops.
TEST_P(RandomMappings, AreWhatTheirNestsSay) {
  auto target = Target::parse(GetParam());
  for (unsigned seed : test::seeds_of_scops(2)) {
    std::mt19937 random(seed);
    auto scop = polyhedral::random_scop(std::make_shared<polyhedral::Context>(), seed, seed % 4 == 3 ? 9 : 5);
    auto dependences = polyhedral::compute_dependences(scop);
    auto options = random_options(scop, random);
    scop.schedule = polyhedral::compute_schedule(scop, dependences, options.values());
    auto scheduled = polyhedral::clustered(scop);
    if (seed % 3 == 0) collapse_some(scheduled, dependences, random);
    auto mapping = choose_mapping(scheduled, target, options.values());
    if (seed % 2 == 1) disturb(mapping, random);
    drop_idle_parts(scheduled, mapping);
    auto shown = str("seed ", seed, " options '", options.to_text(), "'\n", to_string(mapping));
    std::vector<polyhedral::Nest> nests;
    ASSERT_NO_THROW(nests = by_text(scheduled, mapping)) << shown;
    ASSERT_EQ(loops_of(polyhedral::map_to_cpu(scheduled, nests, mapping.buffer_bytes)),
              loops_of(polyhedral::map_to_cpu(scheduled, mapping)))
        << shown;
  }
}

/// The digits of one iterator of a statement in a nest that no points are, outermost first, and the values below them.
struct Digits {
  std::vector<polyhedral::Digit> outer;
  std::int64_t extent = 1;  ///< of the iterator
  std::int64_t points = 1;  ///< that a full tile has
  int lanes = 1;
  bool is_cut = false;

  /// Vectors of all tiles, counted tile by tile. A full tile that is no multiple of a vector has a last one with idle lanes.
  double vectors() const {
    std::map<std::vector<std::int64_t>, std::int64_t> tiles;
    for (std::int64_t value = 0; value < extent; ++value) {
      std::vector<std::int64_t> tile;
      for (const auto& digit : outer) tile.push_back((digit.mod > 0 ? value % digit.mod : value) / digit.step);
      ++tiles[tile];
    }
    const auto full = static_cast<double>(ceil_div(points, std::int64_t{lanes}));
    double result = 0;
    for (const auto& [tile, size] : tiles)
      result += full * std::min(1.0, static_cast<double>(ceil_div(size, std::int64_t{lanes}) * lanes) /
                                         static_cast<double>(points));
    return result;
  }
};

Digits digits_of(const polyhedral::Nest& nest, const PricedCluster& cluster, std::size_t statement, int iterator) {
  const auto& priced = cluster.statements[statement];
  Digits result{.extent = static_cast<std::int64_t>(priced.extent[static_cast<std::size_t>(iterator)])};
  const auto is_it = [&](const polyhedral::NestLoop& loop) {
    const auto& index = loop.digit.index;
    if (index.statement < 0) return priced.entry.outer[static_cast<std::size_t>(index.number)] == iterator;
    return index.statement == static_cast<int>(statement) && index.number == iterator;
  };
  for (const auto& step : nest.trunk)
    if (const auto* loop = std::get_if<polyhedral::NestLoop>(&step.what); loop && is_it(*loop)) {
      result.outer.push_back(loop->digit);
      result.is_cut |= loop->with_private_sums;
    }
  bool has_points = false;
  for (const auto& loop : nest.branches[statement].loops) {
    if (!is_it(loop)) continue;
    if (loop.place == polyhedral::NestPlace::Lanes) result.lanes = loop.lanes;
    const bool is_own = loop.digit.index.statement >= 0 && loop.place == polyhedral::NestPlace::Serial;
    if (is_own && !loop.slides_along) {
      result.outer.push_back(loop.digit);
    } else if (!has_points) {
      has_points = true;
      result.points = loop.digit.mod > 0 ? std::min(loop.digit.mod, result.extent) : result.extent;
    }
  }
  return result;
}

/// The trips of the loops that prices walk are the tiles and vectors that there are.
TEST_P(RandomMappings, HaveAsManyTilesAsTheirPricesSay) {
  auto target = Target::parse(GetParam());
  for (unsigned seed : test::seeds_of_scops(2)) {
    std::mt19937 random(seed);
    auto scop = polyhedral::random_scop(std::make_shared<polyhedral::Context>(), seed, seed % 4 == 3 ? 9 : 5);
    auto options = random_options(scop, random);
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options.values());
    const auto scheduled = polyhedral::clustered(scop);
    auto mapping = choose_mapping(scheduled, target, options.values());
    if (seed % 2 == 1) disturb(mapping, random);
    drop_idle_parts(scheduled, mapping);
    for (std::size_t c = 0; c < scheduled.clusters.size(); ++c) {
      const auto& cluster = scheduled.clusters[c];
      const PricedCluster priced(scheduled.scop, cluster, target);
      const auto nest = nest_of(priced.nests, mapping.clusters[c]);
      const auto walked = walk(priced, nest);
      SCOPED_TRACE(str("seed ", seed, " ", to_string(mapping.clusters[c]), "\n",
                       to_string(nest, polyhedral::nest_names(scheduled.scop, cluster))));
      for (std::size_t s = 0; s < cluster.statements.size(); ++s) {
        const auto& statement = walked.statements[s];
        const auto spans = statement.spans(priced.statements[s], statement.tile);
        for (std::size_t i = 0; i < spans.size(); ++i) {
          const auto digits = digits_of(nest, priced, s, static_cast<int>(i));
          if (digits.is_cut) continue;
          double trips = 1;
          for (const auto& loop : statement.loops)
            if (loop.iterator == static_cast<int>(i)) trips *= loop.trips;
          ASSERT_NEAR(digits.vectors(), trips, 1e-9 * trips) << cluster.statements[s].id << " i" << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomMappings, testing::Values("cpu:plain", "cpu:avx2", "cpu:avx512"));

}  // namespace
}  // namespace tc::strategy::random_mappings_test
