#include "tc/base/target_text.h"

#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/processor.h"
#include "tc/base/str.h"

namespace tc::target_text {

void reject(std::string_view text, const std::string& why) {
  std::string levels, flags;
  for (const auto& set : instruction_sets()) levels += str(levels.empty() ? "" : ", ", set.name);
  for (const auto& flag : instruction_flags()) flags += str(flags.empty() ? "" : ", ", flag.name);
  throw OptionsError(str("target '", text, "': ", why, "; a target is for example 'cpu:",
                         instruction_sets().back().name, ",cores=2,l1=48k,l2=2m,l3=32m' with an instruction set of ",
                         levels, ", vectors of at most so many bytes (vectors=32) and the flags ", flags,
                         ", or 'cuda:sm_90,multiprocessors=132'"));
}

std::int64_t parse_size(std::string_view whole, const std::string& text) {
  char* end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  std::string unit = end;
  if (end == text.c_str() || value <= 0 || value > (1LL << 40))
    reject(whole, str("'", text, "' is not a positive number"));
  if (unit == "k") return value << 10;
  if (unit == "m") return value << 20;
  if (unit.empty()) return value;
  reject(whole, str("unknown unit '", unit, "'"));
}

std::string size_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return str(bytes >> 20, "m");
  if (bytes % (1 << 10) == 0) return str(bytes >> 10, "k");
  return str(bytes);
}

}  // namespace tc::target_text
