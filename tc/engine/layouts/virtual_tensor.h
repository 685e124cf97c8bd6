#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tc/base/tensor.h"
#include "tc/layout/map/layout.h"

/// Tensors of operators that know no layouts, and of routines that do: the interface of VTensor.
namespace tc::engine {

using layout::Layout;

/// A tensor as an operator sees it: a type and named dimensions. Where its elements are, only routines ask.
struct VirtualTensor {
  std::string name;
  DType type = DType::Float32;
  std::string dims;  ///< a letter each: "NCHW"
  layout::Extents extents;
  bool constant = false;                   ///< converted once, so conversions of it cost nothing
  Layout produced = {};                    ///< the layout of its elements
  std::shared_ptr<void> memory = nullptr;  ///< its elements in this layout; null before they are computed

  /// The extent of dimension \p dim. Throws ArgumentError for one that it does not have.
  std::int64_t size(char dim) const;
  std::size_t ndimensions() const { return extents.size(); }
  void* data() const { return memory.get(); }
  /// Are its elements there, if it has any?
  bool is_computed() const { return memory != nullptr || spec_in({}).element_count() == 0; }
  /// The dense tensor that holds it in \p layout. Throws OptionsError for a layout that it cannot have.
  TensorSpec spec_in(const Layout& layout) const;
};

/// \p tensor in \p layout, in memory of its own that is not set.
VirtualTensor allocate(VirtualTensor tensor, const Layout& layout);

/// \p layout of a tensor of \p extents, or the plain one, if that is the same memory: NHWC of extents (1, 64, 1, 1), for example.
Layout simplest(const Layout& layout, const layout::Extents& extents);

/// A tensor as a routine sees it: a virtual tensor and the layout that the routine takes or gives it in.
class PhysicalTensor {
 public:
  explicit PhysicalTensor(VirtualTensor tensor) : tensor_(std::move(tensor)) {}

  std::int64_t size(char dim) const { return tensor_.size(dim); }
  std::size_t ndimensions() const { return tensor_.ndimensions(); }
  const VirtualTensor& tensor() const { return tensor_; }

  /// The layout that the routine needs, or that any will do. Throws InternalError if it has been said.
  void require(const Layout& layout);
  void require(layout::AnyLayout);
  /// Nothing for any; any, too, if nothing was said.
  const std::optional<Layout>& required() const { return required_; }

  /// The layout in which the routine finds or leaves the tensor, and its elements in it, null if the kernel is only prepared. Known
  /// behind the tag; throws InternalError before.
  const Layout& layout() const { return placed().produced; }
  void* data() const { return placed().data(); }
  /// Decides both: \p tensor is in the layout that it says.
  void place(VirtualTensor tensor);

 private:
  void say();
  const VirtualTensor& placed() const;

  VirtualTensor tensor_;
  std::optional<Layout> required_;
  bool said_ = false, placed_ = false;
};

}  // namespace tc::engine
