#include "tc/library/onednn/memory.h"

#include <algorithm>
#include <utility>

#include "tc/base/error.h"
#include "tc/library/onednn/shared.h"

namespace tc::library {
namespace {

/// The elements that dimension \p size, \p along runs over, from its first to behind its last.
std::int64_t reach(std::int64_t size, const Along& along) {
  return along.block.size == 0 ? size * along.stride : size / along.block.size * along.block.stride;
}

/// Gives the dimensions of one element in \p along the strides that they would have if they were longer.
void stride_units(const std::vector<std::int64_t>& dims, std::vector<Along>& along) {
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1) continue;
    along[d] = 1;
    for (std::size_t inner = d + 1; inner < dims.size(); ++inner)
      along[d].stride = std::max(along[d].stride, reach(dims[inner], along[inner]));
  }
}

/// Makes the blocks of \p along those of \p desc.
void put_blocks(const std::vector<Along>& along, dnnl_memory_desc_t& desc) {
  std::vector<std::size_t> blocked;
  for (std::size_t d = 0; d < along.size(); ++d)
    if (along[d].block.size != 0) blocked.push_back(d);
  std::sort(blocked.begin(), blocked.end(), [&](auto a, auto b) { return along[a].stride > along[b].stride; });
  auto& blocking = desc.format_desc.blocking;
  std::int64_t stride = 1;
  for (std::size_t i = blocked.size(); i-- > 0;) {
    const auto d = blocked[i];
    const auto& own = along[d];
    if (own.stride != stride || desc.dims[d] % own.block.size != 0)
      throw DeviceError("oneDNN has no layout with these blocks");
    stride *= own.block.size;
    blocking.inner_blks[i] = own.block.size;
    blocking.inner_idxs[i] = static_cast<dnnl_dim_t>(d);
  }
  blocking.inner_nblks = static_cast<int>(blocked.size());
  for (std::size_t d = 0; d < along.size(); ++d)
    blocking.strides[d] = along[d].block.size == 0 ? along[d].stride : along[d].block.stride;
}

/// A dimension as loops over its elements, outermost first: extents and strides.
using Loops = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The loops of each dimension of \p desc, those of one iteration omitted and those that run as one joined.
std::vector<Loops> loops_of(const dnnl_memory_desc_t& desc) {
  const auto& blocking = desc.format_desc.blocking;
  std::vector<Loops> inner(static_cast<std::size_t>(desc.ndims));
  std::int64_t stride = 1;
  std::vector<std::int64_t> outer(desc.dims, desc.dims + desc.ndims);
  for (int i = blocking.inner_nblks; i-- > 0;) {
    const auto d = static_cast<std::size_t>(blocking.inner_idxs[i]);
    inner[d].insert(inner[d].begin(), {blocking.inner_blks[i], stride});
    outer[d] /= blocking.inner_blks[i];
    stride *= blocking.inner_blks[i];
  }
  std::vector<Loops> result(inner.size());
  for (std::size_t d = 0; d < inner.size(); ++d) {
    inner[d].insert(inner[d].begin(), {outer[d], blocking.strides[d]});
    for (const auto& loop : inner[d]) {
      if (loop.first == 1) continue;
      auto& found = result[d];
      if (!found.empty() && found.back().second == loop.first * loop.second)
        found.back() = {found.back().first * loop.first, loop.second};
      else
        found.push_back(loop);
    }
  }
  return result;
}

bool is_padded(const dnnl_memory_desc_t& desc) {
  return desc.format_kind != dnnl_blocked || desc.offset0 != 0 ||
         !std::equal(desc.dims, desc.dims + desc.ndims, desc.padded_dims);
}

}  // namespace

std::vector<Along> along(const Operand& operand) {
  std::vector<Along> result;
  for (std::size_t d = 0; d < operand.strides.size(); ++d) result.emplace_back(operand.strides[d], operand.block(d));
  return result;
}

std::optional<Along> folded(std::int64_t outer_size, const Along& outer, std::int64_t inner_size, const Along& inner) {
  if (outer_size == 1) return inner;
  if (inner_size == 1) return outer;
  const bool plain = outer.block.size == 0 && inner.block.size == 0;
  if (plain && outer.stride == inner_size * inner.stride) return inner;
  return std::nullopt;
}

dnnl_memory_desc_t memory_desc(const std::vector<std::int64_t>& dims, std::vector<Along> along, DType type) {
  stride_units(dims, along);
  const bool blocked = std::any_of(along.begin(), along.end(), [](const auto& own) { return own.block.size != 0; });
  std::vector<std::int64_t> strides;
  for (const auto& own : along) strides.push_back(own.stride);
  dnnl_memory_desc_t result;
  shared_onednn().check(shared_onednn().memory_desc_init_by_strides(&result, static_cast<int>(dims.size()), dims.data(),
                                                                    type == DType::BFloat16 ? dnnl_bf16 : dnnl_f32,
                                                                    blocked ? nullptr : strides.data()),
                        "describe a tensor");
  if (blocked) put_blocks(along, result);
  return result;
}

dnnl_memory_desc_t any_layout(const dnnl_memory_desc_t& desc) {
  dnnl_memory_desc_t result;
  shared_onednn().check(
      shared_onednn().memory_desc_init_by_tag(&result, desc.ndims, desc.dims, desc.data_type, dnnl_format_tag_any),
      "describe a tensor");
  return result;
}

std::optional<std::vector<Along>> along_of(const dnnl_memory_desc_t& desc) {
  if (is_padded(desc)) return std::nullopt;
  const auto& blocking = desc.format_desc.blocking;
  std::vector<Along> result(blocking.strides, blocking.strides + desc.ndims);
  std::int64_t stride = 1;
  for (int i = blocking.inner_nblks; i-- > 0;) {
    auto& own = result[static_cast<std::size_t>(blocking.inner_idxs[i])];
    if (own.block.size != 0) return std::nullopt;
    own = {stride, {blocking.inner_blks[i], own.stride}};
    stride *= blocking.inner_blks[i];
  }
  return result;
}

bool is_same_memory(const dnnl_memory_desc_t& a, const dnnl_memory_desc_t& b) {
  if (shared_onednn().memory_desc_equal(&a, &b)) return true;
  const bool same_shape =
      a.data_type == b.data_type && a.ndims == b.ndims && std::equal(a.dims, a.dims + a.ndims, b.dims);
  return same_shape && !is_padded(a) && !is_padded(b) && loops_of(a) == loops_of(b);
}

}  // namespace tc::library
