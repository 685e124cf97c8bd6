#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tc/base/dtype.h"
#include "tc/library/description/call.h"

namespace tc::library {

/// How a dimension of a tensor lies in memory.
struct Along {
  Along(std::int64_t own_stride = 0, Block own_block = {})  // NOLINT: a stride is a dimension without blocks
      : stride(own_stride), block(own_block) {}

  std::int64_t stride;  ///< elements; within a block
  Block block;          ///< of size 0: none

  bool operator==(const Along&) const = default;
};

/// The dimensions of \p operand.
std::vector<Along> along(const Operand& operand);

/// Two dimensions as one, the outer of \p outer_size elements, the inner of \p inner_size; nothing where they do not run
/// through memory as one.
std::optional<Along> folded(std::int64_t outer_size, const Along& outer, std::int64_t inner_size, const Along& inner);

/// A tensor of \p dims whose elements, float32 or bfloat16, lie as \p along says; strides of dimensions of one element do
/// not matter. Throws DeviceError for blocks that oneDNN does not have, because they are partial or not the innermost of
/// all.
dnnl_memory_desc_t memory_desc(const std::vector<std::int64_t>& dims, std::vector<Along> along,
                               DType type = DType::Float32);

/// The same, where oneDNN may choose the layout.
dnnl_memory_desc_t any_layout(const dnnl_memory_desc_t& desc);

/// How the dimensions of \p desc lie; nothing where some are padded, or in blocks of blocks.
std::optional<std::vector<Along>> along_of(const dnnl_memory_desc_t& desc);

/// Do \p a and \p b, of one shape and type, have each element at the same place? Dimensions of one element, and blocks of one
/// or that follow each other as elements do, make no difference.
bool is_same_memory(const dnnl_memory_desc_t& a, const dnnl_memory_desc_t& b);

}  // namespace tc::library
