#include <fstream>
#include <string>

#include "tc/base/plain_text.h"
#include "tc/base/processor.h"
#include "tc/cache/build_id.h"
#include "tc/cache/entry.h"
#include "tc/cache/file_io.h"

namespace tc::cache {
namespace {

std::string trimmed(const std::string& text) {
  auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// The first "model name" of /proc/cpuinfo, which some systems take milliseconds to make; "" where there is none.
std::string model_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return trimmed(line.substr(line.find(':') + 1));
  return "";
}

std::string processor_model() {
  auto name = trimmed(processor_brand());
  return plain_text(name.empty() ? model_name() : name);
}

}  // namespace

Measurement measurement_here() {
  static const auto& model = *new std::string(processor_model());
  Measurement measured;
  measured.machine = model;
  measured.build = compiler_build_id();
  measured.taken_at = seconds_since_1970();
  return measured;
}

}  // namespace tc::cache
