#include "tc/cpu/runtime.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "tc/base/ceil_div.h"
#include "tc/cpu/thread_pool.h"
#include "tc/lang/interpret/math.h"

namespace tc::cpu {
namespace {

constexpr std::size_t alignment = 64;

int do_par_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  return parallel_for(user, body, min, extent, closure);
}

/// A block of memory; its size stands before the address that kernels see.
struct Block {
  std::size_t capacity;
};
static_assert(sizeof(Block) <= alignment);

/// Blocks a thread gave back and may take again, so that a buffer that lives for one tile costs no system call.
class BlockCache {
 public:
  ~BlockCache() {
    for (Block*& block : blocks_) std::free(block);
  }
  Block* take(std::size_t bytes) {
    for (Block*& block : blocks_)
      if (block && block->capacity >= bytes && block->capacity <= 2 * bytes) return std::exchange(block, nullptr);
    return nullptr;
  }
  void give(Block* block) {
    std::size_t place = next_++ % blocks_.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (!blocks_[i]) place = i;
    std::free(std::exchange(blocks_[place], block));
  }

 private:
  std::array<Block*, 4> blocks_{};
  std::size_t next_ = 0;
};
thread_local BlockCache cache;
constexpr std::size_t largest_cached = 16 << 20;

void* allocate(void*, std::size_t bytes) {
  std::size_t capacity = round_up(bytes, alignment);
  Block* block = cache.take(capacity);
  if (!block) {
    void* memory = std::aligned_alloc(alignment, capacity + alignment);
    if (!memory) return nullptr;
    block = new (memory) Block{capacity};
  }
  return reinterpret_cast<char*>(block) + alignment;
}

void release(void*, void* memory) {
  if (!memory) return;
  auto* block = reinterpret_cast<Block*>(static_cast<char*>(memory) - alignment);
  if (block->capacity > largest_cached) return std::free(block);
  cache.give(block);
}

int report_out_of_memory(void*) { return out_of_memory; }
int report_too_large(void*, const char*, std::uint64_t, std::uint64_t) { return out_of_memory; }

std::vector<RuntimeSymbol> make_symbols() {
  std::vector<RuntimeSymbol> symbols = {
      {"halide_do_par_for", reinterpret_cast<void*>(&do_par_for)},
      {"halide_malloc", reinterpret_cast<void*>(&allocate)},
      {"halide_free", reinterpret_cast<void*>(&release)},
      {"halide_error_out_of_memory", reinterpret_cast<void*>(&report_out_of_memory)},
      {"halide_error_buffer_allocation_too_large", reinterpret_cast<void*>(&report_too_large)},
  };
  for (const auto& function : lang::math_functions()) {
    auto name = "tc_" + std::string(function.name);
    symbols.push_back({name + "_f32", const_cast<void*>(function.address_f32())});
    symbols.push_back({name + "_f64", const_cast<void*>(function.address_f64())});
  }
  return symbols;
}

}  // namespace

const std::vector<RuntimeSymbol>& runtime_symbols() {
  static const auto& symbols = *new auto(make_symbols());
  return symbols;
}

}  // namespace tc::cpu
