#include "tc/library/description/argument_layout.h"

#include <algorithm>
#include <limits>

namespace tc::library {
namespace {

/// A dimension of the argument, or the outer or inner part of one in blocks.
struct Part {
  std::size_t dimension = 0;
  bool inner = false;
  std::int64_t stride = 0;  ///< as it is wanted
};

constexpr auto nowhere = std::numeric_limits<std::size_t>::max();

/// The dimension of \p given that one of stride \p stride runs along.
std::size_t along_which(const Operand& given, std::int64_t stride) {
  auto result = nowhere;
  for (std::size_t d = 0; d < given.strides.size(); ++d) {
    const auto own = given.strides[d];
    if (own > 0 && own <= stride && (result == nowhere || own > given.strides[result])) result = d;
  }
  return result;
}

/// Builds the parts of the dimensions, in their order.
class Parts {
 public:
  Parts(const TensorSpec& spec, const Operand& given, const Operand& wanted)
      : spec_(spec), given_(given), wanted_(wanted) {}

  bool add_all() {
    for (const auto stride : given_.strides)
      if (stride > 0 && !begins_at(stride)) return false;
    for (std::size_t t = 0; t < spec_.shape.size(); ++t)
      if (spec_.shape[t] > 1 && !add(t)) return false;
    return true;
  }

  std::vector<Part> all;
  std::vector<std::pair<std::size_t, std::int64_t>> splits;  ///< of which dimensions, in blocks of how many elements

 private:
  /// Has some dimension of the argument \p stride?
  bool begins_at(std::int64_t stride) const {
    for (std::size_t t = 0; t < spec_.shape.size(); ++t)
      if (spec_.shape[t] > 1 && spec_.strides[t] == stride) return true;
    return false;
  }
  bool add(std::size_t t) {
    const auto stride = spec_.strides[t];
    const auto d = along_which(given_, stride);
    if (d == nowhere || stride % given_.strides[d] != 0) return false;
    const auto step = stride / given_.strides[d];  // of the operand's dimension
    const auto block = wanted_.block(d);
    if (block.size == 0 || (step == 1 && spec_.shape[t] == block.size)) {
      all.push_back({t, false, step * wanted_.strides[d]});
    } else if (step % block.size == 0) {
      all.push_back({t, false, step / block.size * block.stride});
    } else if (step == 1 && spec_.shape[t] % block.size == 0) {
      all.push_back({t, false, block.stride});
      all.push_back({t, true, wanted_.strides[d]});
      splits.emplace_back(t, block.size);
    } else {
      return false;
    }
    return true;
  }

  const TensorSpec& spec_;
  const Operand& given_;
  const Operand& wanted_;
};

/// \p parts of all dimensions in the order in which they are wanted, dimensions of one element before the next one.
std::vector<Part> in_wanted_order(std::vector<Part> parts, const std::vector<std::int64_t>& shape) {
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.stride > b.stride; });
  for (std::size_t t = 0; t < shape.size(); ++t) {
    if (shape[t] != 1) continue;
    const auto behind =
        std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.inner || part.dimension > t; });
    parts.insert(behind, {t});
  }
  return parts;
}

}  // namespace

std::optional<layout::Layout> layout_of_argument(const TensorSpec& spec, const Operand& given, const Operand& wanted) {
  if (given.offset != 0 || contiguous(spec.dtype, spec.shape).strides != spec.strides) return std::nullopt;
  Parts parts(spec, given, wanted);
  if (!parts.add_all()) return std::nullopt;
  layout::Layout result;
  for (auto split = parts.splits.rbegin(); split != parts.splits.rend(); ++split)
    result = result.split(split->first, {split->second});
  const auto position = [&](const Part& part) {
    const auto before = std::count_if(parts.splits.begin(), parts.splits.end(),
                                      [&](const auto& split) { return split.first < part.dimension; });
    return part.dimension + static_cast<std::size_t>(before) + (part.inner ? 1 : 0);
  };
  std::vector<std::size_t> order;
  for (const auto& part : in_wanted_order(parts.all, spec.shape)) order.push_back(position(part));
  return std::is_sorted(order.begin(), order.end()) ? result : result.reorder(order);
}

}  // namespace tc::library
