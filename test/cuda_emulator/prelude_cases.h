#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tc::emulator {

/// A kernel `check(const double* in, double* out)` about some functions of the prelude, for a block of 64 threads, or as many as it says. The
/// text is the same for the emulator and for a device, so that a machine with a device can compare the two.
struct PreludeCase {
  std::string name;
  std::vector<std::string> functions;  ///< of prelude_functions() and native_functions() that it calls
  std::string text;
  unsigned blocks = 1;
  std::size_t shared_bytes = 0;
  bool cooperative = false;  ///< launched so that blocks can wait for each other
  std::vector<double> in;
  std::vector<double> want;  ///< of out
  double tolerance = 0;      ///< relative
  bool uses_units = false;   ///< runs from sm_80 on
  unsigned threads = 64;
  std::string architecture;  ///< the only one that it runs on; "": others too
};

/// Every function of the prelude is in one of them.
std::vector<PreludeCase> prelude_cases();

}  // namespace tc::emulator
