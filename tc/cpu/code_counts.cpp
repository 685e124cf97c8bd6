#include "tc/cpu/code_counts.h"

#include <atomic>

namespace tc::cpu {
namespace {

std::atomic<std::int64_t> emitted = 0, loaded = 0;

}  // namespace

CodeCounts code_counts() { return {emitted, loaded}; }

void count_emitted() { ++emitted; }

void count_loaded() { ++loaded; }

}  // namespace tc::cpu
