#include "tc/strategy/choose_padding.h"

#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/dtype.h"
#include "tc/base/matrix_unit.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::strategy {
namespace {

using polyhedral::PaddedProduct;
using polyhedral::Scop;
using polyhedral::Statement;

/// Rows, columns and steps of the least tile that is worth it, and of the usual one, to which larger sizes are rounded.
constexpr std::int64_t least_side = 64, usual_side = 128, whole_steps = 32;
/// Sizes from which on they are rounded to the usual tile.
constexpr std::int64_t many = 512;
/// Products of each element of the operands, and share of all products that are not of zeros, from which on copies pay. Chosen: at
/// the first, reading once more is a tenth of the time of the product of floats.
constexpr double least_products = 32, least_share = 0.6;
/// Bytes that a thread moves at once.
constexpr std::int64_t longest_copy = 16;

class PaddingChooser {
 public:
  PaddingChooser(const Scop& scop, const Statement& statement, const GridLimits& limits)
      : scop_(scop), statement_(statement), limits_(limits), kept_(polyhedral::kept_dimensions(statement)) {
    ranges_ = polyhedral::box(statement.domain);
    for (const auto& range : ranges_) extents_.push_back(range.extent());
  }

  PaddedProduct choose() const {
    PaddedProduct result{statement_.id, multiples(), {}};
    if (!is_worth_it(result.multiples)) return result;
    const bool any = !is_aligned(0) || !is_aligned(1) || ((has_unit() || is_symbolic()) && !is_whole(result.multiples));
    for (int read = 0; any && read < 2; ++read)
      if (!is_aligned(read) || changes(read, result.multiples)) result.reads.push_back(read);
    return result;
  }

 private:
  bool moves(int read, int iterator) const {
    return isl_pw_multi_aff_involves_dims(statement_.reads[static_cast<std::size_t>(read)].function.get(), isl_dim_in,
                                          static_cast<unsigned>(iterator), 1) == isl_bool_true;
  }
  DType type(int read) const {
    return scop_.tensor(polyhedral::range_name(statement_.reads[static_cast<std::size_t>(read)].relation)).type;
  }

  /// Rows and columns belong to one operand; batches to both need no padding.
  std::vector<std::int64_t> multiples() const {
    std::vector<std::int64_t> result;
    for (int i = 0; i < static_cast<int>(extents_.size()); ++i) {
      const auto extent = extents_[static_cast<std::size_t>(i)];
      const bool reduced = !contains(kept_, i), of_both = moves(0, i) && moves(1, i);
      result.push_back(reduced ? (of_both ? whole_steps : 1) : of_both ? 1 : extent > many ? usual_side : least_side);
    }
    return result;
  }

  bool has_unit() const {
    const auto sum = scop_.tensor(polyhedral::range_name(statement_.write.relation)).type;
    return limits_.matrix_units && type(0) == type(1) && matrix_unit_for(type(0), sum);
  }

  /// Do runs choose one of its sizes? Copies run ahead only where all tiles are full.
  bool is_symbolic() const {
    return std::any_of(ranges_.begin(), ranges_.end(), [](const auto& range) { return range.symbolic; });
  }
  bool is_whole(const std::vector<std::int64_t>& multiples) const {
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (!ranges_[i].is_multiple_of(std::min(multiples[i], least_side))) return false;
    return true;
  }
  bool changes(int read, const std::vector<std::int64_t>& multiples) const {
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (moves(read, static_cast<int>(i)) && !ranges_[i].is_multiple_of(multiples[i])) return true;
    return false;
  }

  /// Do its rows begin at whole vectors?
  bool is_aligned(int read) const {
    const auto& tensor =
        scop_.tensor(polyhedral::range_name(statement_.reads[static_cast<std::size_t>(read)].relation));
    const auto elements = longest_copy / byte_size(tensor.type);
    return contains(tensor.strides, std::int64_t{1}) && has_rows_of(tensor, elements);
  }

  /// Is it a product of matrices in which each element is used often, and are few of the padded products those of zeros?
  bool is_worth_it(const std::vector<std::int64_t>& multiples) const {
    double products = 1, padded = 1, elements[] = {1, 1};
    int sides = 0, reduced = 0;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      const auto extent = static_cast<double>(extents_[i]);
      products *= extent;
      padded *= static_cast<double>(round_up(extents_[i], multiples[i]));
      for (int read = 0; read < 2; ++read)
        if (moves(read, static_cast<int>(i))) elements[read] *= extent;
      sides += multiples[i] >= least_side;
      reduced += multiples[i] == whole_steps;
    }
    return sides == 2 && reduced == 1 && products >= least_products * (elements[0] + elements[1]) &&
           products >= least_share * padded;
  }

  const Scop& scop_;
  const Statement& statement_;
  const GridLimits& limits_;
  std::vector<int> kept_;
  std::vector<polyhedral::Interval> ranges_;
  std::vector<std::int64_t> extents_;
};

}  // namespace

std::vector<PaddedProduct> choose_padding(const Scop& scop, const Target& target,
                                          const polyhedral::MappingOptions& options) {
  std::vector<PaddedProduct> result;
  if (!target.grid || !options.parallel || !options.promote || !options.shared) return result;
  for (const auto& statement : scop.statements) {
    if (!polyhedral::may_be_padded(scop, statement) ||
        !is_float(scop.tensor(polyhedral::range_name(statement.write.relation)).type))
      continue;
    auto padding = PaddingChooser(scop, statement, *target.grid).choose();
    if (!padding.reads.empty()) result.push_back(padding);
  }
  return result;
}

}  // namespace tc::strategy
