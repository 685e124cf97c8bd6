#include "tc/strategy/price/guard.h"

#include <algorithm>
#include <optional>

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::strategy {
namespace {

using polyhedral::Statement;

/// Tiles along all iterators but the longest that are looked at.
constexpr std::int64_t most_tiles = 1024;

/// Where \p statement reads what it adds, if it does nowhere else and that is not everywhere.
std::optional<isl::set> guarded_instances(const Statement& statement) {
  if (!statement.accumulates || statement.op != ReductionOp::Sum || statement.reads.empty()) return std::nullopt;
  auto result = statement.domain;
  for (const auto& read : statement.reads) {
    const auto own = read.relation.domain();
    if (statement.domain.is_subset(own)) return std::nullopt;
    result = result.intersect(own);
  }
  return result;
}

/// The forms over all iterators that are not negative in \p set; nothing where other conditions describe it.
std::optional<std::vector<Guard::Form>> forms_of(const isl::basic_set& set) {
  const auto count = polyhedral::dimensions(set);
  std::vector<Guard::Form> result;
  for (auto& constraint : polyhedral::constraints(set)) {
    const auto own = constraint.factors.begin() + count;
    if (constraint.equality || std::any_of(own, constraint.factors.end(), [](auto factor) { return factor != 0; }))
      return std::nullopt;
    constraint.factors.erase(own, constraint.factors.end());
    result.push_back({std::move(constraint.factors), constraint.constant});
  }
  return result;
}

std::vector<int> iterators_of(const Guard::Form& form) {
  std::vector<int> result;
  for (std::size_t i = 0; i < form.factor.size(); ++i)
    if (form.factor[i] != 0) result.push_back(static_cast<int>(i));
  return result;
}

/// Joins the forms that speak of the same iterators: each a condition of its own. Forms that share some are one.
std::vector<Guard> joined(const std::vector<Guard::Form>& forms) {
  std::vector<Guard> result;
  for (const auto& form : forms) {
    Guard all{iterators_of(form), {form}};
    auto shares = [&](const Guard& other) {
      return std::any_of(other.iterators.begin(), other.iterators.end(), [&](int i) {
        return std::find(all.iterators.begin(), all.iterators.end(), i) != all.iterators.end();
      });
    };
    for (const auto& other : result) {
      if (!shares(other)) continue;
      all.iterators.insert(all.iterators.end(), other.iterators.begin(), other.iterators.end());
      all.forms.insert(all.forms.begin(), other.forms.begin(), other.forms.end());
    }
    std::erase_if(result, shares);
    std::sort(all.iterators.begin(), all.iterators.end());
    all.iterators.erase(std::unique(all.iterators.begin(), all.iterators.end()), all.iterators.end());
    result.push_back(std::move(all));
  }
  for (auto& guard : result)
    for (auto& form : guard.forms) {
      std::vector<std::int64_t> own;
      for (int i : guard.iterators) own.push_back(form.factor[static_cast<std::size_t>(i)]);
      form.factor = std::move(own);
    }
  return result;
}

/// Counts the tiles of one guard.
class TileCounter {
 public:
  TileCounter(const Guard& guard, const std::vector<double>& extent, const std::vector<double>& points)
      : guard_(guard) {
    for (int i : guard.iterators) {
      const auto at = static_cast<std::size_t>(i);
      extent_.push_back(static_cast<std::int64_t>(extent[at]));
      points_.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(points[at]), 1, extent_.back()));
      tiles_.push_back(ceil_div(extent_.back(), points_.back()));
      if (tiles_.back() > tiles_[longest_]) longest_ = tiles_.size() - 1;
      all_ *= tiles_.back();
    }
    tile_.resize(tiles_.size());
  }

  GuardedShares run() {
    if (all_ / tiles_[longest_] > most_tiles) return {};
    visit(0);
    return {static_cast<double>(some_) / static_cast<double>(all_),
            static_cast<double>(whole_) / static_cast<double>(all_)};
  }

 private:
  void visit(std::size_t position) {
    if (position == tiles_.size()) {
      some_ += along_longest(true);
      whole_ += along_longest(false);
    } else if (position == longest_) {
      visit(position + 1);
    } else {
      for (tile_[position] = 0; tile_[position] < tiles_[position]; ++tile_[position]) visit(position + 1);
    }
  }

  std::int64_t first(std::size_t position) const { return tile_[position] * points_[position]; }
  std::int64_t last(std::size_t position) const {
    return std::min(first(position) + points_[position], extent_[position]) - 1;
  }

  /// Tiles of the longest iterator, those of the others as they are, in which each form is not negative in \p some corner, or in all.
  std::int64_t along_longest(bool some) const {
    std::int64_t low = 0, high = tiles_[longest_] - 1;
    const auto points = points_[longest_], extent = extent_[longest_];
    for (const auto& form : guard_.forms) {
      auto rest = form.constant;
      for (std::size_t i = 0; i < tiles_.size(); ++i) {
        if (i == longest_) continue;
        const auto a = form.factor[i] * first(i), b = form.factor[i] * last(i);
        rest += some ? std::max(a, b) : std::min(a, b);
      }
      const auto factor = form.factor[longest_];
      if (factor == 0 && rest < 0) return 0;
      if (factor > 0) {
        const auto least = std::max<std::int64_t>(rest >= 0 ? 0 : ceil_div(-rest, factor), 0);
        if (least >= extent) return 0;
        low = std::max(low, some ? least / points : ceil_div(least, points));
      } else if (factor < 0) {
        if (rest < 0) return 0;
        const auto most = rest / -factor;
        if (most < extent - 1) high = std::min(high, some ? most / points : (most + 1) / points - 1);
      }
    }
    return std::max<std::int64_t>(high - low + 1, 0);
  }

  const Guard& guard_;
  std::vector<std::int64_t> extent_, points_, tiles_, tile_;
  std::size_t longest_ = 0;
  std::int64_t all_ = 1, some_ = 0, whole_ = 0;
};

/// Iterations that are looked at: a share changes little from one to the next.
constexpr std::int64_t sampled_iterations = 16;

double volume(const isl::set& set) {
  if (set.is_empty()) return 0;
  double result = 1;
  for (const auto& range : polyhedral::box(set)) result *= static_cast<double>(range.extent());
  return result;
}

}  // namespace

std::vector<Guard> guards_of(const Statement& statement) {
  const auto instances = guarded_instances(statement);
  if (!instances) return {};
  const auto parts = instances->gist(statement.domain).coalesce();
  std::optional<std::vector<Guard::Form>> forms;
  int count = 0;
  parts.foreach_basic_set([&](const isl::basic_set& part) {
    if (++count == 1) forms = forms_of(part);
  });
  if (count != 1 || !forms) return {};
  return joined(*forms);
}

GuardedShares guarded_shares(const Guard& guard, const std::vector<double>& extent, const std::vector<double>& points) {
  return TileCounter(guard, extent, points).run();
}

double run_share(const polyhedral::Statement& statement) {
  if (statement.loops.empty() || statement.domain.is_empty()) return 1;
  const auto loop = static_cast<unsigned>(statement.loops.front().iterator);
  const auto range = polyhedral::box(statement.domain).at(loop);
  const auto samples = std::min(range.extent(), sampled_iterations);
  double run = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const auto iteration = range.min + (2 * s + 1) * range.extent() / (2 * samples);
    run += volume(polyhedral::call(statement.domain.ctx(), isl_set_fix_si, statement.domain.copy(), isl_dim_set, loop,
                                   static_cast<int>(iteration)));
  }
  return run * static_cast<double>(range.extent()) / static_cast<double>(samples) / volume(statement.domain);
}

}  // namespace tc::strategy
