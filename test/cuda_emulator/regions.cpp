#include "test/cuda_emulator/regions.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

#include "tc/base/str.h"

namespace tc::emulator {

std::string element_name(const std::string& name, const TensorSpec& spec, std::size_t offset) {
  std::vector<std::size_t> order(spec.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return std::abs(spec.strides[a]) > std::abs(spec.strides[b]); });
  std::vector<std::int64_t> index(spec.shape.size(), 0);
  auto rest = static_cast<std::int64_t>(offset) / byte_size(spec.dtype);
  for (auto d : order) {
    const auto stride = std::abs(spec.strides[d]);
    if (stride == 0 || spec.shape[d] <= 1) continue;
    auto steps = std::min(rest / stride, spec.shape[d] - 1);
    rest -= steps * stride;
    index[d] = spec.strides[d] > 0 ? steps : spec.shape[d] - 1 - steps;
  }
  auto text = index.empty() ? name : str(name, "(", join(index), ")");
  return rest ? str(text, " + ", rest, " elements, between elements") : text;
}

void Regions::add(Region region) {
  auto place = std::upper_bound(regions_.begin(), regions_.end(), region.begin,
                                [](std::uintptr_t begin, const Region& other) { return begin < other.begin; });
  regions_.insert(place, std::move(region));
}

void Regions::add(const Buffer& buffer) {
  const auto span = element_span(buffer.view);
  if (span.high < span.low) return;
  const std::int64_t size = byte_size(buffer.view.dtype);
  Region region;
  region.begin = reinterpret_cast<std::uintptr_t>(buffer.view.data) + static_cast<std::uintptr_t>(span.low * size);
  region.end = region.begin + static_cast<std::uintptr_t>((span.high - span.low + 1) * size);
  region.writable = buffer.writable;
  region.shadow =
      std::make_unique<Shadow>(region.end - region.begin, std::countr_zero(static_cast<unsigned>(size)), false);
  region.element = [name = buffer.name, spec = TensorSpec(buffer.view)](std::size_t offset) {
    return element_name(name, spec, offset);
  };
  region.name = buffer.name;
  add(std::move(region));
}

Region* Regions::find(std::uintptr_t address) {
  if (last_ < regions_.size() && address - regions_[last_].begin < regions_[last_].end - regions_[last_].begin)
    return &regions_[last_];
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (address - regions_[i].begin < regions_[i].end - regions_[i].begin) {
      last_ = i;
      return &regions_[i];
    }
  return nullptr;
}

std::string Regions::describe(std::uintptr_t address) const {
  const Region* nearest = nullptr;
  std::uintptr_t distance = 0;
  for (const auto& region : regions_) {
    auto apart = address < region.begin ? region.begin - address : address < region.end ? 0 : address - region.end;
    if (nearest && apart >= distance) continue;
    nearest = &region;
    distance = apart;
  }
  if (address < 4096) return "through a null pointer";
  if (!nearest) return "where there is no tensor";
  if (address < nearest->begin) return str(distance, " bytes before the begin of ", nearest->name);
  if (address >= nearest->end) return str(distance, " bytes behind the end of ", nearest->name);
  return str("across the end of ", nearest->name, ", from ", nearest->element(address - nearest->begin));
}

}  // namespace tc::emulator
