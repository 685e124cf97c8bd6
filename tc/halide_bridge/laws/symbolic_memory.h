#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "tc/polyhedral/core/scop.h"

namespace tc::halide_bridge {

/// What a value was computed from: a hash of each element as it was. Ordered, without repetitions.
using Symbols = std::set<std::uint64_t>;

/// Elements of buffers that hold symbols. What nothing has written holds a symbol of its own, in a buffer that the threads
/// of a block share the buffer's.
class SymbolicMemory {
 public:
  /// For the tensors of \p scop; each thread of a block has its own of those that are Local and not shared.
  explicit SymbolicMemory(const polyhedral::Scop& scop);

  /// The symbol that \p thread finds at \p address of \p buffer.
  std::uint64_t read(const std::string& buffer, std::int64_t address, std::int64_t thread = 0) const;
  /// \p thread leaves the symbol that stands for \p from.
  void write(const std::string& buffer, std::int64_t address, const Symbols& from, std::int64_t thread = 0);
  /// Nothing is written in \p buffer, as \p thread sees it, any more.
  void forget(const std::string& buffer, std::int64_t thread = 0);
  /// Stands for any element of \p buffer.
  static std::uint64_t any_of(const std::string& buffer);
  /// Stands for what was computed from no element: a constant.
  static constexpr std::uint64_t constant = 3;

  /// The addresses of \p buffer that were written.
  std::set<std::int64_t> written(const std::string& buffer) const;

 private:
  using Place = std::pair<std::string, std::int64_t>;  ///< a buffer, and the thread whose it is
  Place place(const std::string& buffer, std::int64_t thread) const;

  std::set<std::string> private_, shared_;
  std::map<Place, std::unordered_map<std::int64_t, std::uint64_t>> elements_;
};

}  // namespace tc::halide_bridge
