#include "tc/engine/run/workspace.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "tc/base/ceil_div.h"
#include "tc/base/check_tensor.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::engine {
namespace {

constexpr std::size_t alignment = 64;
constexpr auto most_bytes = static_cast<std::size_t>(most_elements);

std::size_t aligned(std::size_t bytes) { return round_up(bytes, alignment); }

struct Placed {
  Lifetime life;
  std::size_t begin, end;
};

/// The lowest offset at which \p bytes fit beside those of \p placed that live together with \p life.
std::size_t lowest_fit(const Lifetime& life, std::size_t bytes, const std::vector<Placed>& placed) {
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (const auto& other : placed)
    if (other.life.first <= life.last && life.first <= other.life.last) taken.emplace_back(other.begin, other.end);
  std::sort(taken.begin(), taken.end());
  std::size_t offset = 0;
  for (auto [begin, end] : taken) {
    if (offset + bytes <= begin) break;
    offset = std::max(offset, end);
  }
  return offset;
}

}  // namespace

WorkspacePlan plan_workspace(std::vector<Lifetime> buffers) {
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Lifetime& a, const Lifetime& b) { return a.bytes > b.bytes; });
  WorkspacePlan plan;
  std::vector<Placed> placed;
  for (const auto& buffer : buffers) {
    auto bytes = aligned(std::clamp<std::size_t>(buffer.bytes, 1, most_bytes + 1));
    auto offset = lowest_fit(buffer, bytes, placed);
    if (offset + bytes > most_bytes)
      throw ResourceError(
          str("the temporaries need more than 2^47 bytes of memory: '", buffer.name, "' alone ", buffer.bytes));
    placed.push_back({buffer, offset, offset + bytes});
    plan.offsets[buffer.name] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
  }
  return plan;
}

WorkspacePool::~WorkspacePool() {
  std::free(spare_.load());
  for (auto* block : others_) std::free(block);
}

std::uint8_t* WorkspacePool::acquire() {
  if (bytes_ == 0) return nullptr;
  if (auto* block = spare_.exchange(nullptr, std::memory_order_acquire)) return block;
  {
    std::lock_guard lock(mutex_);
    if (!others_.empty()) {
      auto* block = others_.back();
      others_.pop_back();
      return block;
    }
  }
  auto* block = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, aligned(bytes_)));
  if (!block) throw ResourceError(str("no memory for a workspace of ", bytes_, " bytes"));
  return block;
}

void WorkspacePool::release(std::uint8_t* block) {
  if (!block) return;
  std::uint8_t* none = nullptr;
  if (spare_.compare_exchange_strong(none, block, std::memory_order_release, std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  others_.push_back(block);
}

}  // namespace tc::engine
