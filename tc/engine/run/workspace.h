#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/base/fork.h"

namespace tc::engine {

/// A buffer and the launches between which its values live, both included.
struct Lifetime {
  std::string name;
  std::size_t bytes = 0;
  int first = 0, last = 0;
};

/// Where each temporary stands in one block of memory.
struct WorkspacePlan {
  std::size_t bytes = 0;
  std::map<std::string, std::size_t> offsets;  ///< multiples of 64
};

/// Places \p buffers so that those alive in one launch do not overlap, the largest first, each at the lowest offset
/// that is free during its life. Throws ResourceError where they need more than most_elements bytes.
WorkspacePlan plan_workspace(std::vector<Lifetime> buffers);

/// Blocks of one size, aligned to 64 bytes, kept for the next run. Thread-safe; taking one back that was just returned
/// costs one atomic exchange.
class WorkspacePool {
 public:
  explicit WorkspacePool(std::size_t bytes) : bytes_(bytes) {}
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  /// Null when blocks have no size. Throws ResourceError when memory runs out.
  std::uint8_t* acquire();
  void release(std::uint8_t* block);

 private:
  std::size_t bytes_;
  std::atomic<std::uint8_t*> spare_{nullptr};
  ForkMutex mutex_;
  std::vector<std::uint8_t*> others_;
};

/// A block of a pool, returned at the end of its scope.
class WorkspaceLease {
 public:
  explicit WorkspaceLease(WorkspacePool& pool) : pool_(pool), block_(pool.acquire()) {}
  ~WorkspaceLease() { pool_.release(block_); }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  std::uint8_t* block() const { return block_; }

 private:
  WorkspacePool& pool_;
  std::uint8_t* block_;
};

}  // namespace tc::engine
