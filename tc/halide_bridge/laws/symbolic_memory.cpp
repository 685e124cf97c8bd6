#include "tc/halide_bridge/laws/symbolic_memory.h"

#include <functional>

namespace tc::halide_bridge {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) {
  hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

std::uint64_t name_hash(const std::string& name) { return mixed(1, std::hash<std::string>()(name)); }

}  // namespace

SymbolicMemory::SymbolicMemory(const polyhedral::Scop& scop) {
  for (const auto& tensor : scop.tensors)
    if (tensor.storage == polyhedral::Tensor::Storage::Local) (tensor.shared ? shared_ : private_).insert(tensor.name);
}

SymbolicMemory::Place SymbolicMemory::place(const std::string& buffer, std::int64_t thread) const {
  return {buffer, private_.count(buffer) ? thread : 0};
}

std::uint64_t SymbolicMemory::read(const std::string& buffer, std::int64_t address, std::int64_t thread) const {
  auto elements = elements_.find(place(buffer, thread));
  if (elements != elements_.end())
    if (auto found = elements->second.find(address); found != elements->second.end()) return found->second;
  if (shared_.count(buffer)) return any_of(buffer);
  return mixed(mixed(name_hash(buffer), 2), static_cast<std::uint64_t>(address));
}

void SymbolicMemory::write(const std::string& buffer, std::int64_t address, const Symbols& from, std::int64_t thread) {
  std::uint64_t hash = constant;
  for (auto symbol : from) hash = mixed(hash, symbol);
  elements_[place(buffer, thread)][address] = hash;
}

void SymbolicMemory::forget(const std::string& buffer, std::int64_t thread) { elements_.erase(place(buffer, thread)); }

std::uint64_t SymbolicMemory::any_of(const std::string& buffer) { return mixed(name_hash(buffer), 5); }

std::set<std::int64_t> SymbolicMemory::written(const std::string& buffer) const {
  std::set<std::int64_t> result;
  if (auto found = elements_.find(place(buffer, 0)); found != elements_.end())
    for (const auto& [address, symbol] : found->second) result.insert(address);
  return result;
}

}  // namespace tc::halide_bridge
