#include "tc/autotuner/worker/results.h"

#include <array>

namespace tc::autotuner {
namespace {

constexpr std::array statuses = {"ok", "same", "slow", "wrong", "crash", "timeout", "resource", "rejected"};
constexpr std::array stops = {"budget", "candidates", "space", "interrupt"};

}  // namespace

const char* name(Status status) { return statuses[static_cast<std::size_t>(status)]; }

Status parse_status(const std::string& text) {
  for (std::size_t i = 0; i < statuses.size(); ++i)
    if (text == statuses[i]) return static_cast<Status>(i);
  return Status::Crashed;
}

const char* name(Stop stop) { return stops[static_cast<std::size_t>(stop)]; }

}  // namespace tc::autotuner
