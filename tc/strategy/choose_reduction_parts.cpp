#include "tc/strategy/choose_reduction_parts.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/count_product.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/strategy/cost/fixed_order.h"

namespace tc::strategy {
namespace {

using polyhedral::Access;
using polyhedral::ReductionParts;
using polyhedral::Scop;
using polyhedral::Statement;

/// Threads of a block that runs along a row.
constexpr std::int64_t row_threads = 256;
/// Results that a thread of a contraction has in its registers.
constexpr std::int64_t thread_results = 16;

/// Of a reduction on a processor: tasks, and element operations of each at least. Neither depends on the threads there
/// are, so that the result does not.
constexpr std::int64_t tasks = 64, task_work = 64 << 10;

/// How a reduction would run in one kernel, as it is.
struct WholeWork {
  std::int64_t threads = 1;   ///< at once
  std::int64_t serial = 1;    ///< iterations of each
  std::int64_t least = 1;     ///< iterations of a thread that pay for a part
  std::int64_t resident = 1;  ///< threads of a multiprocessor that hide each other's waiting
};

class PartChooser {
 public:
  PartChooser(const Scop& scop, const Statement& statement, const Target& target,
              const polyhedral::MappingOptions& options)
      : scop_(scop),
        statement_(statement),
        target_(target),
        options_(options),
        box_(polyhedral::box(statement.domain)),
        kept_(polyhedral::kept_dimensions(statement)) {
    for (std::size_t i = 0; i < box_.size(); ++i)
      if (int iterator = static_cast<int>(i); contains(kept_, iterator))
        results_ = count_product(results_, extent(iterator));
      else if (extent(iterator) > 1)
        reduced_.push_back(iterator);
    for (int i : reduced_) reduction_ = count_product(reduction_, extent(i));
    std::stable_sort(reduced_.begin(), reduced_.end(), [&](int a, int b) { return farthest(a) > farthest(b); });
  }

  ReductionParts choose() const {
    ReductionParts result{statement_.id, {}};
    if (!may_be_cut() || (!kept_.empty() && has_fixed_order(scop_, statement_, options_))) return result;
    result.parts_first = is_contraction();
    auto wanted = options_.reduction_parts > 0 ? options_.reduction_parts
                  : target_.grid               ? parts_of_a_grid(*target_.grid)
                                               : parts_for_threads();
    for (int iterator : reduced_) {
      if (wanted < 2) break;
      auto size = wanted >= extent(iterator) ? 1 : even_size(iterator, wanted);
      result.cuts.push_back({iterator, size, extent(iterator) / size});
      wanted /= result.cuts.back().count;
    }
    return result;
  }

 private:
  std::int64_t extent(int iterator) const { return box_[iterator].extent(); }

  /// Is it a plain reduction of the source, whose value does not read what it accumulates?
  bool may_be_cut() const {
    const auto& target = polyhedral::range_name(statement_.write.relation);
    bool plain = statement_.loops.empty() && statement_.accumulates && statement_.body == Statement::Body::Source &&
                 statement_.origin.is_null();
    return plain && !reduced_.empty() && results_ > 0 && statement_.write.exact &&
           statement_.write.function.isa_multi_aff() &&
           std::none_of(statement_.reads.begin(), statement_.reads.end(),
                        [&](const auto& read) { return polyhedral::touches(read, target); });
  }

  /// Elements between two iterations, in the read where it is most.
  std::int64_t farthest(int iterator) const {
    std::int64_t result = 0;
    for (const auto& read : statement_.reads)
      if (auto step = polyhedral::stride(scop_, read, iterator); step != polyhedral::unknown_stride)
        result = std::max(result, std::abs(step));
    return result;
  }

  /// Does \p read find other elements for other results, or is there one result?
  bool is_own(const Access& read) const {
    auto moves = [&](int i) { return polyhedral::stride(scop_, read, i) != 0; };
    return results_ == 1 || std::any_of(kept_.begin(), kept_.end(), moves);
  }
  bool is_contiguous(int iterator) const {
    return std::any_of(statement_.reads.begin(), statement_.reads.end(),
                       [&](const auto& read) { return runs_along(read, iterator); });
  }
  bool runs_along(const Access& read, int iterator) const {
    return polyhedral::stride(scop_, read, iterator) == 1 && is_own(read);
  }
  /// Do rows of what is read most lie along \p iterator? In Y(c) +=! v(r) * X(r,c) that is X, whatever v is.
  bool is_along_rows(int iterator) const {
    std::int64_t most = 0;
    bool result = false;
    for (const auto& read : statement_.reads) {
      const auto elements = elements_of(read);
      if (elements < most) continue;
      result = runs_along(read, iterator) || (result && elements == most);
      most = elements;
    }
    return result;
  }
  /// As many elements as \p read finds.
  std::int64_t elements_of(const Access& read) const {
    std::int64_t result = 1;
    for (std::size_t i = 0; i < box_.size(); ++i)
      if (depends_on(read, static_cast<int>(i))) result = count_product(result, extent(static_cast<int>(i)));
    return result;
  }

  static bool depends_on(const Access& access, int iterator) {
    return !access.function.is_null() &&
           isl_pw_multi_aff_involves_dims(access.function.get(), isl_dim_in, iterator, 1) == isl_bool_true;
  }
  /// Does some read use iterator \p a of the result and not \p b?
  bool has_own_operand(int a, int b) const {
    return std::any_of(statement_.reads.begin(), statement_.reads.end(),
                       [&](const auto& read) { return depends_on(read, a) && !depends_on(read, b); });
  }
  bool is_contraction() const {
    for (int a : kept_)
      for (int b : kept_)
        if (a < b && has_own_operand(a, b) && has_own_operand(b, a) && std::min(extent(a), extent(b)) >= thread_results)
          return true;
    return false;
  }

  /// In one kernel of a grid of blocks of threads.
  WholeWork work(const GridLimits& grid) const {
    if (is_contraction()) return {ceil_div(results_, thread_results), reduction_, 256, 512};
    std::int64_t row = 0, longest = 1;
    for (int i : reduced_) {
      longest = std::max(longest, extent(i));
      if (is_along_rows(i)) row = std::max(row, extent(i));
    }
    if (row == 0) row = results_ < grid.warp_size ? longest : 1;
    auto lanes = options_.reduce_in_block ? std::min(row, row_threads) : 1;
    return {count_product(results_, lanes), reduction_ / lanes, 16, 1024};
  }

  /// Does the reduction share its loops with other work, which would be taken apart?
  bool is_fused() const {
    for (const auto& cluster : polyhedral::cluster_views(scop_)) {
      std::int64_t others = 0;
      bool here = false;
      for (const auto& entry : cluster.statements) {
        auto work = polyhedral::instance_count(scop_.statement(entry.id).domain);
        here = here || entry.id == statement_.id;
        if (entry.id != statement_.id) others = std::min(others + work, most_counted);
      }
      if (here) return 16 * others > count_product(results_, reduction_);
    }
    return false;
  }

  std::int64_t parts_for_threads() const {
    auto work = count_product(results_, reduction_);
    if (results_ > tasks / 8 || work < tasks * task_work || (!options_.batch_invariant && is_fused())) return 1;
    return tasks / results_;
  }

  std::int64_t parts_of_a_grid(const GridLimits& grid) const {
    auto now = work(grid);
    bool full = now.threads >= grid.multiprocessors * row_threads;
    if (full || now.serial < 8 * now.least) return 1;
    auto most = ceil_div(grid.multiprocessors * now.resident, now.threads);
    std::int64_t blocks = 1;
    for (auto given : options_.grid) blocks *= given;
    if (!options_.grid.empty()) most = std::min(most, blocks);
    return std::min(most, now.serial / now.least);
  }

  /// A size of parts of \p iterator that makes about \p wanted of them: one that divides it, and that vectors divide,
  /// if there is one.
  std::int64_t even_size(int iterator, std::int64_t wanted) const {
    std::int64_t best = 0, most = -100;
    auto first = std::max<std::int64_t>(2, wanted / 2);
    bool contiguous = is_contiguous(iterator);
    auto try_size = [&](std::int64_t size) {
      auto count = extent(iterator) / size;
      if (2 * count < wanted || count > 2 * wanted) return;
      std::int64_t score = extent(iterator) % size == 0 ? 100 : 0;
      for (std::int64_t divisor : {4, 128, 1024}) score += contiguous && size % divisor == 0 ? 20 : 0;
      score -= std::abs(count - wanted) * 10 / wanted;
      if (score > most) best = size, most = score;
    };
    for (auto count = first; count <= 2 * wanted; ++count)
      for (std::int64_t unit : {1, 4, 128, 1024}) try_size(round_up(ceil_div(extent(iterator), count), unit));
    return best > 0 ? best : ceil_div(extent(iterator), wanted);
  }

  const Scop& scop_;
  const Statement& statement_;
  const Target& target_;
  const polyhedral::MappingOptions& options_;
  std::vector<polyhedral::Interval> box_;
  std::vector<int> kept_, reduced_;  ///< the latter with more than one iteration, the outermost in memory first
  std::int64_t results_ = 1, reduction_ = 1;
};

}  // namespace

std::vector<ReductionParts> choose_reduction_parts(const Scop& scop, const Target& target,
                                                   const polyhedral::MappingOptions& options) {
  std::vector<ReductionParts> result;
  if (options.reduction_parts == 1 || !options.parallel) return result;
  for (const auto& statement : scop.statements) {
    auto parts = PartChooser(scop, statement, target, options).choose();
    if (!parts.cuts.empty()) result.push_back(parts);
  }
  return result;
}

}  // namespace tc::strategy
