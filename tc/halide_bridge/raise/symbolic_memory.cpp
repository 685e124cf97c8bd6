#include "tc/halide_bridge/raise/symbolic_memory.h"

#include <functional>

namespace tc::halide_bridge {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) {
  hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

std::uint64_t name_hash(const std::string& name) { return mixed(1, std::hash<std::string>()(name)); }

}  // namespace

std::uint64_t SymbolicMemory::read(const std::string& buffer, std::int64_t address) const {
  auto elements = elements_.find(buffer);
  if (elements != elements_.end())
    if (auto found = elements->second.find(address); found != elements->second.end()) return found->second;
  return mixed(mixed(name_hash(buffer), 2), static_cast<std::uint64_t>(address));
}

void SymbolicMemory::write(const std::string& buffer, std::int64_t address, const Symbols& from) {
  std::uint64_t hash = 3;
  for (auto symbol : from) hash = mixed(hash, symbol);
  elements_[buffer][address] = hash;
}

std::uint64_t SymbolicMemory::any_of(const std::string& buffer) { return mixed(name_hash(buffer), 5); }

std::set<std::int64_t> SymbolicMemory::written(const std::string& buffer) const {
  std::set<std::int64_t> result;
  if (auto found = elements_.find(buffer); found != elements_.end())
    for (const auto& [address, symbol] : found->second) result.insert(address);
  return result;
}

}  // namespace tc::halide_bridge
