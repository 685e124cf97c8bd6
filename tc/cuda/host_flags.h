#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>

#include "tc/base/fork.h"
#include "tc/cuda/device.h"

namespace tc::cuda {

/// Flags in memory of the host that kernels raise without anybody waiting for them; they stay raised until they are
/// taken. Of all devices and streams. Thread-safe.
class HostFlags {
 public:
  explicit HostFlags(std::size_t count) : count_(count) {}
  ~HostFlags();
  HostFlags(const HostFlags&) = delete;
  HostFlags& operator=(const HostFlags&) = delete;

  /// Makes what raise() needs on \p device. Throws ResourceError when memory runs out.
  void prepare(int device);
  /// Puts into the stream of \p place what raises flag \p first + i where the byte of the device at \p sources[i] is
  /// not 0. Does not wait; after prepare() a graph can record it.
  void raise(const Place& place, std::size_t first, std::span<const std::byte* const> sources);
  /// Lowers all flags that are raised by now; the first of them, or nothing.
  std::optional<std::size_t> take();
  /// The devices that may still raise flags.
  std::set<int> devices() const;

 private:
  std::size_t count_;
  mutable ForkMutex mutex_;
  std::byte* flags_ = nullptr;  ///< memory of the host that devices write, at the same address
  std::set<int> devices_;       ///< that it was prepared for
};

}  // namespace tc::cuda
