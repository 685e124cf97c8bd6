#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tc/autotuner/worker/jobs.h"

namespace tc::autotuner {

/// What befalls the candidate with \p options: \p kind for some 30 % of all but the default options, "" for the others.
inline std::string fault_of(const std::string& options, const std::string& kind) {
  constexpr std::size_t percent = 30;
  return !options.empty() && std::hash<std::string>()(options) % 100 < percent ? kind : "";
}

[[noreturn]] inline void hang() {
  for (;;) ::pause();
}

[[noreturn]] inline void take_all_memory() {
  for (;;) std::memset(new char[64 << 20], 1, 64 << 20);
}

/// The hook of a worker for faults of \p kind, "" for none.
///
///   segv abort hang memory exit    as or after a candidate is compiled
///   run_segv run_hang              after it has run
///   wrong nan unwritten            an element of its results is another, none, or as it was before
///   default <kind>                 befalls the default options, and no others
///   stall <file>                   no compile and no run ends while there is the file
///   slow_compile                   as or after a candidate is compiled, for a time beyond all limits
///   finish <kind>                  befalls the compile of the winner, whatever its options
inline Hook chaos(const std::string& kind) {
  if (kind.empty()) return {};
  if (kind.starts_with("stall ")) {
    return [file = kind.substr(6)](const std::string&, const std::string&, const std::vector<TensorView>&) {
      while (::access(file.c_str(), F_OK) == 0) ::usleep(10000);
    };
  }
  return [kind](const std::string& step, const std::string& options, const std::vector<TensorView>& outputs) {
    if (kind.starts_with("finish ") != (step == "finish")) return;
    auto fault = step == "finish"               ? kind.substr(7)
                 : kind.starts_with("default ") ? options.empty() ? kind.substr(8) : ""
                                                : fault_of(options, kind);
    auto* result = outputs.empty() ? nullptr : static_cast<float*>(outputs[0].data);
    if (step == "compile" || step == "finish") {
      if (fault == "segv") ::raise(SIGSEGV);
      if (fault == "abort") std::abort();
      if (fault == "hang" || fault == "slow_compile") hang();
      if (fault == "memory") take_all_memory();
      if (fault == "exit") ::_exit(0);
      return;
    }
    if (fault == "run_segv") ::raise(SIGSEGV);
    if (fault == "run_hang") hang();
    auto last = outputs[0].element_count() - 1;
    if (fault == "wrong") result[last] += 1;
    if (fault == "nan") result[last / 2] = __builtin_nanf("");
    if (fault == "unwritten") std::memset(result + last, 0xff, sizeof(float));
  };
}

}  // namespace tc::autotuner
