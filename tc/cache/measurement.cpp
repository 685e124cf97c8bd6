#include <fstream>
#include <string>

#include "tc/cache/build_id.h"
#include "tc/cache/entry.h"
#include "tc/cache/file_io.h"

namespace tc::cache {
namespace {

/// The first "model name" of /proc/cpuinfo, "" where there is none.
std::string processor_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    auto begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
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
