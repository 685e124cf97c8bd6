#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace tc::halide_bridge {

/// What a value was computed from: a hash of each element as it was. Ordered, without repetitions.
using Symbols = std::set<std::uint64_t>;

/// Elements of buffers that hold symbols. What nothing has written holds a symbol of its own.
class SymbolicMemory {
 public:
  /// The symbol that stands at \p address of \p buffer.
  std::uint64_t read(const std::string& buffer, std::int64_t address) const;
  /// Leaves the symbol that stands for \p from.
  void write(const std::string& buffer, std::int64_t address, const Symbols& from);
  /// Stands for any element of \p buffer.
  static std::uint64_t any_of(const std::string& buffer);

  /// The addresses of \p buffer that were written.
  std::set<std::int64_t> written(const std::string& buffer) const;

 private:
  std::map<std::string, std::unordered_map<std::int64_t, std::uint64_t>> elements_;
};

}  // namespace tc::halide_bridge
