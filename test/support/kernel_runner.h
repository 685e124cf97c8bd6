#pragma once

#include <string>
#include <vector>

#include "tc/cpu/kernel.h"
#include "test/support/kernel_case.h"

namespace tc {

inline cpu::ObjectCode KernelCase::compile(const std::string& target) const {
  return cpu::emit_object("kernel", raised(), buffers(), Target::parse(target));
}

inline int KernelCase::run(const std::string& target, std::vector<void*> pointers) const {
  return cpu::load_kernel(compile(target)).function(pointers.data());
}

/// The instruction sets this machine runs.
inline std::vector<std::string> runnable_targets() {
  std::vector<std::string> targets = {"plain"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) targets.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    targets.push_back("avx512");
  return targets;
}

}  // namespace tc
