#include "tc/strategy/construct/nest_moves.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "tc/polyhedral/nest/idle_loops.h"
#include "tc/strategy/construct/construct.h"

namespace tc::strategy {
namespace {

using polyhedral::Nest;
using polyhedral::NestCopy;
using polyhedral::NestLoop;
using polyhedral::NestPlace;
using polyhedral::NestStep;

/// A new level has at most this many times the step of the level below.
constexpr std::int64_t largest_cut = 64;

class Moves {
 public:
  Moves(const polyhedral::NestSpace& space, const Nest& nest) : space_(space), nest_(nest) {}

  std::vector<Nest> all() && {
    for (std::size_t i = 0; i < nest_.trunk.size(); ++i) {
      if (is_movable(i)) cut(i), join(i), resize(i);
      if (i + 1 < nest_.trunk.size()) exchange(i);
    }
    return std::move(result_);
  }

 private:
  const NestLoop* loop(std::size_t i) const { return std::get_if<NestLoop>(&nest_.trunk[i].what); }

  bool is_movable(std::size_t i) const {
    const auto* of = loop(i);
    return of && of->place == NestPlace::Serial && !of->with_private_sums && of->digit.index.statement < 0;
  }

  /// The next loop of the trunk over the same index.
  std::optional<std::size_t> below(std::size_t i) const {
    for (auto j = i + 1; j < nest_.trunk.size(); ++j)
      if (const auto* other = loop(j); other && other->digit.index == loop(i)->digit.index) return j;
    return std::nullopt;
  }

  std::int64_t values(std::size_t i) const {
    const auto& digit = loop(i)->digit;
    return polyhedral::values_of(digit, space_.extent(digit.index));
  }

  static polyhedral::Digit& digit(Nest& nest, std::size_t i) { return std::get<NestLoop>(nest.trunk[i].what).digit; }

  void cut(std::size_t i) {
    const auto step = loop(i)->digit.step;
    for (auto factor = std::int64_t{2}; factor <= largest_cut && factor < values(i); factor *= 2) {
      auto made = nest_;
      auto level = *loop(i);
      level.digit.step = step * factor;
      digit(made, i).mod = step * factor;
      made.trunk.insert(made.trunk.begin() + static_cast<std::ptrdiff_t>(i), NestStep{level});
      result_.push_back(std::move(made));
    }
  }

  void join(std::size_t i) {
    const auto next = below(i);
    if (!next) return;
    auto made = nest_;
    digit(made, *next).mod = loop(i)->digit.mod;
    made.trunk.erase(made.trunk.begin() + static_cast<std::ptrdiff_t>(i));
    result_.push_back(std::move(made));
  }

  void resize(std::size_t i) {
    const auto next = below(i);
    if (!next) return;
    const auto step = loop(i)->digit.step, least = loop(*next)->digit.step;
    for (const auto size : {step * 2, step / 2}) {
      const bool counts = size > least && size % least == 0 && (size < step || values(i) > 2);
      if (!counts) continue;
      auto made = nest_;
      digit(made, i).step = digit(made, *next).mod = size;
      result_.push_back(std::move(made));
    }
  }

  void exchange(std::size_t i) {
    const bool loops = is_movable(i) && is_movable(i + 1) && !(loop(i)->digit.index == loop(i + 1)->digit.index);
    const auto is_copy = [&](std::size_t j) { return std::holds_alternative<NestCopy>(nest_.trunk[j].what); };
    if (!loops && !(is_copy(i) && is_movable(i + 1)) && !(is_movable(i) && is_copy(i + 1))) return;
    auto made = nest_;
    std::swap(made.trunk[i], made.trunk[i + 1]);
    result_.push_back(std::move(made));
  }

  const polyhedral::NestSpace& space_;
  const Nest& nest_;
  std::vector<Nest> result_;
};

}  // namespace

std::vector<Nest> nests_beside(const polyhedral::NestSpace& space, const Nest& nest) {
  return Moves(space, nest).all();
}

PricedNest descend(const PricedCluster& cluster, Nest nest, std::int64_t buffer_bytes) {
  PricedNest best{std::move(nest), {}};
  best.price = price(cluster, best.nest, buffer_bytes);
  for (;;) {
    std::optional<PricedNest> next;
    for (auto& beside : nests_beside(cluster.nests, best.nest)) {
      const auto found = price(cluster, beside, buffer_bytes);
      if (!next || found.seconds < next->price.seconds) next = {std::move(beside), found};
    }
    if (!next || next->price.seconds > best.price.seconds * (1 - least_difference)) return best;
    best = std::move(*next);
  }
}

}  // namespace tc::strategy
