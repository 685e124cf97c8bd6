#include "tc/base/cancellation.h"

#include <atomic>
#include <chrono>
#include <string>

#include "tc/base/error.h"

namespace tc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::rep never = Clock::time_point::max().time_since_epoch().count();

/// What the work of this thread is asked to heed; null: nothing.
thread_local const Cancellation* current = nullptr;

}  // namespace

struct Cancellation::State {
  std::atomic<bool> cancelled{false};
  std::atomic<Clock::rep> deadline{never};
  std::shared_ptr<const State> outer;  ///< heeded too; null: none
};

Cancellation::Cancellation() : state_(std::make_shared<State>()) {}

Cancellation Cancellation::child() const {
  Cancellation result;
  result.state_->outer = state_;
  return result;
}

void Cancellation::cancel() const { state_->cancelled = true; }

void Cancellation::set_time_limit(double seconds) {
  if (!(seconds >= 0)) throw OptionsError("a time limit is a number of seconds that is not negative; 0: none");
  constexpr double century = 100.0 * 365 * 24 * 3600;
  if (seconds == 0 || seconds > century) {
    state_->deadline = never;
    return;
  }
  auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  state_->deadline = (Clock::now() + limit).time_since_epoch().count();
}

bool Cancellation::was_cancelled() const {
  for (const auto* state = state_.get(); state; state = state->outer.get())
    if (state->cancelled) return true;
  return false;
}

bool Cancellation::is_late() const {
  Clock::rep now = 0;
  for (const auto* state = state_.get(); state; state = state->outer.get()) {
    auto deadline = state->deadline.load();
    if (deadline == never) continue;
    if (now == 0) now = Clock::now().time_since_epoch().count();
    if (now > deadline) return true;
  }
  return false;
}

bool Cancellation::requested() const { return was_cancelled() || is_late(); }

/// The time limit comes first, because who supervises work cancels it when the limit is reached.
void Cancellation::check(const char* where) const {
  if (is_late()) throw ResourceError(std::string("the time limit was reached in ") + where);
  if (was_cancelled()) throw CancelledError(std::string("cancelled in ") + where);
}

CancellationScope::CancellationScope(const Cancellation& cancellation) : outer_(current), cancellation_(cancellation) {
  current = &cancellation_;
}

CancellationScope::~CancellationScope() { current = outer_; }

void check_cancelled(const char* where) {
  if (current) current->check(where);
}

}  // namespace tc
