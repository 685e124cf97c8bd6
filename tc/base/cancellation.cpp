#include "tc/base/cancellation.h"

#include <string>

#include "tc/base/error.h"

namespace tc {

using Clock = std::chrono::steady_clock;

struct Cancellation::State {
  std::atomic<bool> cancelled{false};
  std::atomic<Clock::rep> deadline{Clock::time_point::max().time_since_epoch().count()};
};

Cancellation::Cancellation() : state_(std::make_shared<State>()) {}

void Cancellation::cancel() const { state_->cancelled = true; }

void Cancellation::set_time_limit(double seconds) {
  auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  state_->deadline = (Clock::now() + limit).time_since_epoch().count();
}

bool Cancellation::requested() const {
  return state_->cancelled || Clock::now().time_since_epoch().count() > state_->deadline;
}

void Cancellation::check(const char* where) const {
  if (state_->cancelled) throw CancelledError(std::string("cancelled in ") + where);
  if (requested()) throw ResourceError(std::string("the time limit was reached in ") + where);
}

}  // namespace tc
