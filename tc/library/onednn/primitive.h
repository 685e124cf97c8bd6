#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tc/library/onednn/shared.h"

namespace tc::library {

/// A tensor of a primitive: what oneDNN calls it, which operand it is, and how the operand lies in memory.
struct Slot {
  int arg = DNNL_ARG_SRC;
  std::size_t operand = 0;  ///< of the call; those of post-ops stand behind its operands
  dnnl_memory_desc_t desc{};
  bool may_convert = true;   ///< into a layout that oneDNN likes better
  bool adds_to_all = false;  ///< of a sum: as many elements as the result has, of its type
};

/// A primitive as it is described: made for some layouts of its slots.
struct PrimitivePlan {
  std::vector<Slot> slots;
  bool likes_own_layouts = false;  ///< is it faster with copies of all operands than with them as they lie?
  /// Post-ops, where there are any; the slot \p summed is what the result's memory holds before.
  std::function<Owner<dnnl_post_ops>(std::optional<std::size_t> summed)> post_ops;
  /// A descriptor for slots that lie as \p descs say; null where oneDNN has none.
  std::function<Owner<dnnl_primitive_desc>(const std::vector<dnnl_memory_desc_t>& descs, const_dnnl_primitive_attr_t)>
      describe;
};

/// A primitive that \p plan can be, and the layouts of its slots: of the implementations for the operands as they lie,
/// for weights in another layout, and for all in another one (in the opposite order where likes_own_layouts; weights in
/// another one first where they are copied but once), the first that is not a reference, which would be slower than any
/// code. Where likes_own_layouts, one in which a sum with a whole tensor begins in the result's memory goes before one in
/// which that tensor is an operand: oneDNN's blocked convolutions take but numbers and biases as operands of sums. Nothing
/// where there is none.
struct ChosenPrimitive {
  Owner<dnnl_primitive_desc> desc;
  std::vector<dnnl_memory_desc_t> descs;
  std::optional<std::size_t> summed = {};  ///< the slot that is copied to the result before it runs
};
std::optional<ChosenPrimitive> choose_primitive(const PrimitivePlan& plan, bool weights_are_held = false);

/// \p plan, to be run: the primitive that choose_primitive() gives for the number of threads, operands that lie otherwise
/// copied before and behind it.
std::unique_ptr<Invocation> make_invocation(PrimitivePlan plan);

}  // namespace tc::library
