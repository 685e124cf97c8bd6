#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <fstream>
#include <string>

#include "tc/base/plain_text.h"
#include "tc/cache/build_id.h"
#include "tc/cache/entry.h"
#include "tc/cache/file_io.h"

namespace tc::cache {
namespace {

std::string trimmed(const std::string& text) {
  auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// What the processor calls itself, "" where it does not.
std::string brand() {
#if defined(__x86_64__)
  constexpr unsigned first_leaf = 0x80000002, leaves = 3;
  std::array<unsigned, 4 * leaves + 1> words{};
  for (unsigned i = 0; i < leaves; ++i)
    if (auto* w = words.data() + 4 * i; !__get_cpuid(first_leaf + i, w, w + 1, w + 2, w + 3)) return "";
  return trimmed(reinterpret_cast<const char*>(words.data()));
#else
  return "";
#endif
}

/// The first "model name" of /proc/cpuinfo, which some systems take milliseconds to make; "" where there is none.
std::string model_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return trimmed(line.substr(line.find(':') + 1));
  return "";
}

std::string processor_model() {
  auto name = brand();
  return plain_text(name.empty() ? model_name() : name);
}

}  // namespace

Measurement measurement_here() {
  static const std::string model = processor_model();
  Measurement measured;
  measured.machine = model;
  measured.build = compiler_build_id();
  measured.taken_at = seconds_since_1970();
  return measured;
}

}  // namespace tc::cache
