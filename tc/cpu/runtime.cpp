#include "tc/cpu/runtime.h"

#include <cstdint>
#include <cstdlib>

#include "tc/cpu/thread_pool.h"
#include "tc/lang/math.h"

namespace tc::cpu {
namespace {

/// What kernels return when memory ran out: Halide's halide_error_code_out_of_memory.
constexpr int out_of_memory = -11;
constexpr std::size_t alignment = 64;

int do_par_for(void* user, ParallelBody body, int min, int extent, std::uint8_t* closure) {
  return parallel_for(user, body, min, extent, closure);
}

void* allocate(void*, std::size_t bytes) { return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment); }
void release(void*, void* memory) { std::free(memory); }
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
  static const auto symbols = make_symbols();
  return symbols;
}

}  // namespace tc::cpu
