#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "tc/base/error.h"
#include "tc/options/mapping_options.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/generate/generate.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/grid_mapping_of_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/grid_candidates.h"
#include "tc/strategy/grid_price/thread_spread.h"
#include "test/support/from_environment.h"
#include "test/support/mapping_text.h"
#include "test/support/random/random_scop.h"
#include "test/support/scops.h"

namespace tc::strategy::random_grid_mappings_test {
namespace {

using options::MappingOptions;
using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::Nest;
using polyhedral::Scop;

const Target target = Target::parse("cuda:sm_90");

int between(int least, int most, std::mt19937& random) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

/// A random program, or a known one of random size.
Scop draw_scop(unsigned seed, std::mt19937& random) {
  auto context = std::make_shared<polyhedral::Context>();
  const auto size = [&] { return random() % 2 == 0 ? 1 << between(2, 9, random) : between(1, 300, random); };
  const auto tiles = [&] { return 32 * between(1, 8, random); };
  switch (seed % 7) {
    case 0:
      return polyhedral::scops::product(context, size(), size(), size());
    case 6:
      return polyhedral::scops::product_of_halves(context, tiles(), tiles(), 2 * tiles(), seed % 2 == 0);
    case 1:
      return polyhedral::scops::matmul_bias_relu(context, size(), size(), size());
    case 2:
      return polyhedral::scops::softmax(context, size(), size());
    case 3:
      return polyhedral::scops::row_sums(context, size(), size());
    default:
      return polyhedral::random_scop(context, seed, seed % 4 == 3 ? 40 : 5);
  }
}

std::vector<std::int64_t> some_sizes(std::size_t most, int largest, std::mt19937& random) {
  if (random() % 2 == 0) return {};
  std::vector<std::int64_t> result(1 + random() % most);
  for (auto& size : result) size = between(1, largest, random);
  return result;
}

MappingOptions random_options(std::mt19937& random) {
  const auto fusion = static_cast<options::FusionStrategy>(random() % 3);
  return MappingOptions()
      .with_fusion(fusion)
      .with_tile(random() % 3 == 0 ? some_sizes(3, 40, random) : std::vector<std::int64_t>())
      .with_block(random() % 3 == 0 ? some_sizes(3, 8, random) : std::vector<std::int64_t>())
      .with_grid(random() % 3 == 0 ? some_sizes(3, 8, random) : std::vector<std::int64_t>())
      .with_reduction_block(random() % 3 == 0 ? 1 << random() % 5 : 0)
      .with_vectorise(random() % 4 != 0)
      .with_promote(random() % 4 != 0)
      .with_shared(random() % 4 != 0)
      .with_registers(random() % 4 != 0)
      .with_reduce_in_block(random() % 4 != 0);
}

/// \p mapping of a product by units with other warps, and with or without the unit, which computes the same by
/// multiply-adds.
void disturb_warps(GridClusterMapping& mapping, std::mt19937& random) {
  for (auto& member : mapping.members) {
    auto& warps = member.threads.warps;
    if (warps.dimension < 0 || random() % 2 == 0 || warps.count % 2 != 0) continue;
    auto& threads = mapping.block[static_cast<std::size_t>(warps.dimension)];
    warps.count /= 2;
    threads /= 2;
    if (warps.count == 1 || random() % 2 == 0) warps.run = member.tile / warps.count;
  }
  for (auto& statement : mapping.statements)
    if (random() % 3 == 0) statement.unit = {};
  if (random() % 3 == 0) mapping.blocks.slots = between(2, 4, random);
}

/// A random mapping, legal or not worth it alike.
void disturb(GridClusterMapping& mapping, const ClusterView& cluster, std::mt19937& random) {
  const auto flip = [&](bool& flag) { flag = random() % 4 == 0 ? !flag : flag; };
  for (auto& member : mapping.members) {
    if (member.threads.has_warps()) return disturb_warps(mapping, random);
    if (random() % 3 == 0) member.tile = between(0, 40, random);
    if (random() % 4 == 0 && member.threads.dimension >= 0) member.threads.run = 1 << random() % 3;
  }
  for (auto& blocks : mapping.grid)
    if (random() % 4 == 0) blocks = between(1, 6, random);
  for (auto& threads : mapping.block)
    if (random() % 4 == 0) threads = between(1, 8, random);
  for (const auto& entry : cluster.statements) {
    if (random() % 3 != 0) continue;
    auto statement = mapping.statement(entry.id);
    std::erase_if(mapping.statements, [&](const auto& other) { return other.id == entry.id; });
    flip(statement.tile), flip(statement.unroll), flip(statement.vector);
    const int dimension = between(0, 1, random);
    const bool is_taken = std::any_of(mapping.members.begin(), mapping.members.end(),
                                      [&](const auto& member) { return member.threads.dimension == dimension; });
    if (statement.loops.empty() && !entry.inner.empty() && !is_taken)
      if (const auto& inner = entry.inner[random() % entry.inner.size()]; inner.iterator >= 0)
        statement.loops.push_back({inner.iterator, {dimension, inner.shared ? 1 : 1 << random() % 3}});
    mapping.statements.push_back(statement);
  }
  flip(mapping.others.tile), flip(mapping.others.unroll), flip(mapping.separate);
}

/// Drops what disturb() may ask for and no nest has: members without tiles, over which copies have a loop of their own, threads of
/// members without points, whose runs count in vectors, and points below loops of a statement that has none of its own, which count their rounds in another way.
void drop_idle_parts(const Scop& scop, const ClusterView& cluster, GridClusterMapping& mapping) {
  for (std::size_t m = 0; m < mapping.members.size(); ++m) {
    auto& member = mapping.members[m];
    if (!mapping.copies.empty() && member.tile == 0) member.tile = cluster.members[m].extent();
    if (member.tile == 1 || cluster.members[m].extent() == 1) member.threads = {};
  }
  bool usual = false;
  for (const auto& step : polyhedral::nest_of(scop, cluster, mapping).trunk)
    if (const auto* added = std::get_if<polyhedral::NestAdded>(&step.what)) usual = added->points_innermost;
  for (const auto& entry : cluster.statements) {
    auto statement = mapping.statement(entry.id);
    const bool has_own = std::any_of(entry.inner.begin(), entry.inner.end(),
                                     [](const auto& loop) { return loop.iterator >= 0 && !loop.shared; });
    if (has_own || statement.tile == usual) continue;
    statement.tile = usual;
    std::erase_if(mapping.statements, [&](const auto& other) { return other.id == entry.id; });
    mapping.statements.push_back(statement);
  }
}

struct Drawn {
  GridClusterMapping mapping;
  bool is_random = false;  ///< neither of rules nor a candidate: fields may have no effect
};

/// The mappings of cluster number \p i of \p scop to be tried: what rules choose, other candidates, and a random one.
std::vector<Drawn> draw(const polyhedral::ClusteredScop& scop, std::size_t i, const MappingOptions& options,
                        std::mt19937& random) {
  std::vector<Drawn> result{{choose_grid_cluster(scop.scop, scop.clusters[i], *target.grid, options.values())}};
  auto candidates = grid_candidates(scop.scop, scop.clusters[i], *target.grid, options.values());
  for (int count = 0; count < 2 && !candidates.empty(); ++count)
    result.push_back({candidates[random() % candidates.size()]});
  result.push_back({result[random() % result.size()].mapping, true});
  disturb(result.back().mapping, scop.clusters[i], random);
  drop_idle_parts(scop.scop, scop.clusters[i], result.back().mapping);
  return result;
}

/// \p mapping by way of the text of its nest.
GridClusterMapping by_nest(const Scop& scop, const ClusterView& cluster, const GridClusterMapping& mapping) {
  const auto names = polyhedral::nest_names(scop, cluster);
  const auto nest = polyhedral::nest_of(scop, cluster, mapping);
  const auto text = to_string(nest, names);
  const auto read = polyhedral::parse_nest(text, names);
  EXPECT_EQ(to_string(read, names), text);
  EXPECT_EQ(read, nest) << text;
  EXPECT_NO_THROW(polyhedral::check_nest(scop, cluster, names, read)) << text;
  return polyhedral::grid_mapping_of(scop, cluster, names, read);
}

std::string as_text(const isl::pw_multi_aff& function) {
  auto* text = isl_pw_multi_aff_to_str(function.get());
  std::string result = text;
  std::free(text);
  return result;
}

/// The schedule of \p kernel, its accesses, and what it is launched with.
std::string text_of(const polyhedral::GridKernel& kernel) {
  TextStream text;
  for (const auto* extents : {&kernel.grid, &kernel.block}) text << join(*extents) << "\n";
  text << kernel.shared_bytes << " " << kernel.blocks_per_multiprocessor << "\n" << print_block(kernel.scop.schedule);
  for (const auto& statement : kernel.scop.statements) {
    text << statement.id << " " << statement.vector_lanes << "\n";
    for (const auto* access : accesses(statement))
      if (!access->function.is_null()) text << as_text(access->function) << "\n";
  }
  return text.str();
}

/// Are two kernels launched alike, and of the same loops? Schedules that differ may be the same in code: their bands of one iteration
/// do.
testing::AssertionResult same_kernels(const polyhedral::GridKernel& a, const polyhedral::GridKernel& b) {
  if (text_of(a) == text_of(b)) return testing::AssertionSuccess();
  const bool same = a.grid == b.grid && a.block == b.block && a.shared_bytes == b.shared_bytes &&
                    a.blocks_per_multiprocessor == b.blocks_per_multiprocessor;
  const auto code_of = [](const polyhedral::GridKernel& kernel) {
    return polyhedral::comparable(print(polyhedral::generate_ast(kernel.scop)));
  };
  const auto first = code_of(a), second = code_of(b);
  if (same && first == second) return testing::AssertionSuccess();
  const auto at = std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first - first.begin();
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 200, 0));
  return testing::AssertionFailure() << "..." << first.substr(from, 400) << "...\nand\n..." << second.substr(from, 400)
                                     << "...\n";
}

/// Calls \p check with each drawn mapping of each cluster of the programs of \p seeds.
template <typename Check>
void draw_all(std::ranges::iota_view<unsigned, unsigned> seeds, Check check) {
  for (unsigned seed : seeds) {
    std::mt19937 random(seed);
    auto scop = draw_scop(seed, random);
    const auto options = random_options(random);
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options.values());
    const auto scheduled = polyhedral::clustered(scop);
    for (std::size_t i = 0; i < scheduled.clusters.size(); ++i)
      for (const auto& drawn : draw(scheduled, i, options, random)) {
        const auto nest = polyhedral::nest_of(scheduled.scop, scheduled.clusters[i], drawn.mapping);
        check(scheduled, i, drawn,
              str("seed ", seed, " options '", options.to_text(), "'\n", to_string(drawn.mapping), "\n",
                  to_string(nest, polyhedral::nest_names(scheduled.scop, scheduled.clusters[i])), "\n"));
        if (testing::Test::HasFailure()) return;
      }
  }
}

/// Two mappings with the same nest become the same kernel.
TEST(RandomGridMappings, AreWhatTheirNestsSay) {
  draw_all(test::seeds_of_scops(1, 3),
           [](const polyhedral::ClusteredScop& scop, std::size_t i, const Drawn& drawn, const std::string& shown) {
             const auto& mapping = drawn.mapping;
             const auto part = polyhedral::kernel_parts(scop).at(i);
             const auto warp = target.grid->warp_size;
             std::optional<polyhedral::GridKernel> wanted;
             try {
               wanted = polyhedral::map_kernel(part, mapping, warp);
             } catch (const InternalError&) {
               return;  // a mapping that cannot be carried out
             }
             EXPECT_EQ(polyhedral::nest_of(scop.scop, scop.clusters[i], mapping).launch->block, wanted->block) << shown;
             const auto again = by_nest(scop.scop, scop.clusters[i], mapping);
             EXPECT_TRUE(same_kernels(polyhedral::map_kernel(part, again, warp), *wanted)) << shown << "\nby its nest\n"
                                                                                           << to_string(again);
           });
}

/// Prices read the grid, the block and the values of each thread from a nest: they are those of the kernel, and the threads of
/// a block have all values of its tiles.
TEST(RandomGridMappings, ArePricedAsTheyAreLaunched) {
  draw_all(test::seeds_of_scops(), [](const polyhedral::ClusteredScop& scop, std::size_t i, const Drawn& drawn,
                                      const std::string& shown) {
    SCOPED_TRACE(shown);
    const auto& cluster = scop.clusters[i];
    const PricedCluster priced(scop.scop, cluster, target);
    const auto nest = nest_of(priced.nests, drawn.mapping);
    const auto shape = kernel_shape(priced, nest);
    for (std::size_t s = 0; s < cluster.statements.size(); ++s) {
      const auto spread = thread_spread(priced, nest, static_cast<int>(s));
      for (const auto& it : spread.iterators) {
        EXPECT_GE(it.in_thread() * static_cast<double>(it.count * it.warps.count), static_cast<double>(it.tile));
        EXPECT_GE(
            it.tiles * static_cast<double>(it.tile * (it.grid < 0 ? 1 : shape.grid[static_cast<std::size_t>(it.grid)])),
            static_cast<double>(it.extent) * (1 - 1e-9));
      }
    }
    try {
      const auto kernel =
          polyhedral::map_kernel(polyhedral::kernel_parts(scop).at(i), drawn.mapping, target.grid->warp_size);
      EXPECT_EQ(shape, (KernelShape{kernel.grid, kernel.block}));
    } catch (const InternalError&) {  // a mapping that cannot be carried out
    }
  });
}

}  // namespace
}  // namespace tc::strategy::random_grid_mappings_test
