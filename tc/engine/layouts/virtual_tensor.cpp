#include "tc/engine/layouts/virtual_tensor.h"

#include <algorithm>
#include <map>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/engine/run/constant.h"
#include "tc/layout/map/layout_map.h"

namespace tc::engine {

std::int64_t VirtualTensor::size(char dim) const {
  const auto at = dims.find(dim);
  if (at == std::string::npos) throw ArgumentError(str("'", name, "' has the dimensions ", dims, ", not ", dim));
  return extents[at];
}

TensorSpec VirtualTensor::spec_in(const Layout& layout) const {
  return contiguous(type, layout::LayoutMap(layout, extents).physical());
}

VirtualTensor allocate(VirtualTensor tensor, const Layout& layout) {
  tensor.memory = allocate_constant(tensor.name, tensor.spec_in(layout)).data;
  tensor.produced = layout;
  return tensor;
}

Layout simplest(const Layout& layout, const layout::Extents& extents) {
  if (layout.is_identity() || std::count(extents.begin(), extents.end(), 1) == 0) return layout;
  static auto& mutex = *new ForkMutex;
  static auto& known = *new std::map<std::string, bool>;  // is it the same memory?
  const std::scoped_lock lock(mutex);
  const auto [same, is_new] = known.try_emplace(str(layout::to_string(layout), "; ", join(extents)));
  if (is_new) same->second = layout::LayoutMap(layout, extents).is_same_memory({Layout(), extents});
  return same->second ? Layout() : layout;
}

void PhysicalTensor::say() {
  if (said_) throw InternalError(str("a routine has said the layout of '", tensor_.name, "' twice"));
  said_ = true;
}

void PhysicalTensor::require(const Layout& layout) {
  say();
  required_ = simplest(layout, tensor_.extents);
}

void PhysicalTensor::require(layout::AnyLayout) { say(); }

void PhysicalTensor::place(VirtualTensor tensor) {
  tensor_ = std::move(tensor);
  placed_ = true;
}

const VirtualTensor& PhysicalTensor::placed() const {
  if (!placed_) throw InternalError(str("a routine asks where '", tensor_.name, "' is before its tag"));
  return tensor_;
}

}  // namespace tc::engine
