#include "test/support/random/nest_moves.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/polyhedral/nest/nest_text.h"

namespace tc::test {
namespace {

using namespace polyhedral;

class NestMoves {
 public:
  NestMoves(const NestSpace& space, Nest nest, std::mt19937& random)
      : space_(space), nest_(std::move(nest)), random_(random) {}

  Nest run() {
    for (int move = between(1, 4); move > 0; --move) {
      auto& branch = nest_.branches[random_() % nest_.branches.size()];
      switch (random_() % 6) {
        case 0:
          cut_tile();
          break;
        case 1:
          swap_tiles();
          break;
        case 2:
        case 3:
          cut(branch.loops);
          break;
        case 4:
          swap(branch.loops);
          break;
        default:
          unroll(branch.loops);
      }
    }
    return without_idle_loops(space_, nest_);
  }

 private:
  int between(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  std::int64_t values(const NestLoop& loop) const { return values_of(loop.digit, space_.extent(loop.digit.index)); }

  std::optional<std::size_t> some_tile() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i)
      if (std::holds_alternative<NestLoop>(nest_.trunk[i].what)) found.push_back(i);
    if (found.empty()) return std::nullopt;
    return found[random_() % found.size()];
  }

  /// n/8 on grid.x      n/32 on grid.x  n%32/8
  void cut_tile() {
    const auto at = some_tile();
    if (!at) return;
    auto outer = std::get<NestLoop>(nest_.trunk[*at].what);
    auto inner = loop_over(outer.digit.index, outer.digit.step * between(2, 4), outer.digit.step);
    outer.digit.step = inner.digit.mod;
    if (outer.digit.mod > 0 && outer.digit.mod <= outer.digit.step) return;
    nest_.trunk[*at].what = outer;
    nest_.trunk.insert(nest_.trunk.begin() + static_cast<std::ptrdiff_t>(*at) + 1, {inner});
  }

  void swap_tiles() {
    const auto at = some_tile();
    if (!at || *at + 1 >= nest_.trunk.size()) return;
    auto *one = std::get_if<NestLoop>(&nest_.trunk[*at].what),
         *other = std::get_if<NestLoop>(&nest_.trunk[*at + 1].what);
    if (one && other && !(one->digit.index == other->digit.index)) std::swap(*one, *other);
  }

  void cut(std::vector<NestLoop>& loops) {
    if (loops.empty()) return;
    const auto at = random_() % loops.size();
    auto loop = loops[at];
    const bool is_plain = loop.place == NestPlace::Serial || loop.place == NestPlace::Unrolled;
    if (!is_plain || loop.slots > 0 || values(loop) < 3) return;
    const auto step = loop.digit.step * between(2, static_cast<int>(values(loop)) - 1);
    auto outer = loop;
    outer.digit.step = loop.digit.mod = step;
    outer.place = random_() % 2 ? loop.place : NestPlace::Serial;
    loops[at] = loop;
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at), outer);
  }

  /// Members of the outer band change places with any loop; all orders of theirs are the program's.
  void swap(std::vector<NestLoop>& loops) {
    if (loops.size() < 2) return;
    const auto at = random_() % (loops.size() - 1);
    auto &one = loops[at], &other = loops[at + 1];
    if (one.digit.index == other.digit.index) return;
    if (one.digit.index.statement < 0 || other.digit.index.statement < 0) std::swap(one, other);
  }

  void unroll(std::vector<NestLoop>& loops) {
    if (loops.empty()) return;
    auto& place = loops[random_() % loops.size()].place;
    if (place == NestPlace::Serial)
      place = NestPlace::Unrolled;
    else if (place == NestPlace::Unrolled)
      place = NestPlace::Serial;
  }

  const NestSpace& space_;
  Nest nest_;
  std::mt19937& random_;
};

}  // namespace

Nest moved_nest(const NestSpace& space, const Nest& nest, std::mt19937& random) {
  return NestMoves(space, nest, random).run();
}

bool is_allowed(const Scop& scop, const ClusterView& cluster, const Nest& nest, const GridLimits& limits) {
  const auto names = nest_names(scop, cluster);
  try {
    const auto read = parse_nest(to_string(nest, names), names);
    if (read != nest) throw InternalError(str("the text of a nest is that of another one:\n", to_string(nest, names)));
    check_nest(scop, cluster, names, read);
    check_kernel_nest(scop, cluster, names, read, limits);
    return true;
  } catch (const OptionsError&) {
    return false;
  }
}

}  // namespace tc::test
