#pragma once

#include <memory>
#include <vector>

#include "tc/library/description/library.h"

namespace tc::library {

/// A call made ready, on pointers to the first elements of the def's arguments. Immutable; any number of threads may run
/// it at once.
class PreparedCall {
 public:
  /// Throws OptionsError where \p library is not here, is of another version than the call is for, or does not have or
  /// take it; DeviceError where it fails to make it ready.
  PreparedCall(Call call, const Library& library);

  /// The same, where arguments are always at \p arguments and never change, null for one that each run gives: what the
  /// library gains by that of the operands which the call says are constant. Null where that is nothing.
  std::unique_ptr<const PreparedCall> hold(const std::vector<void*>& arguments) const;

  const Call& call() const { return call_; }
  /// Throws DeviceError where the library reports a failure; the result is unspecified then.
  void run(void* const* arguments, int threads) const;
  /// The same for a library of GPUs, as Invocation says.
  std::size_t prepare(int device) const { return invocation_->prepare(device); }
  void enqueue(void* const* arguments, const Queue& queue) const;

 private:
  struct Place {
    std::size_t argument = 0;
    std::int64_t bytes = 0;                ///< from its first element
    std::vector<std::int64_t> loop_bytes;  ///< one a loop
  };
  PreparedCall(Call call, std::vector<Place> places, std::unique_ptr<const Invocation> invocation)
      : call_(std::move(call)), places_(std::move(places)), invocation_(std::move(invocation)) {}

  /// Calls \p run with the pointers of the operands, once for each instance of the loops.
  template <typename Run>
  void for_each_instance(void* const* arguments, const Run& run) const;
  template <typename Run>
  void run_loops(std::vector<std::byte*>& pointers, std::size_t loop, const Run& run) const;

  Call call_;
  std::vector<Place> places_;  ///< of the operands, then of those of post-ops
  std::unique_ptr<const Invocation> invocation_;
};

}  // namespace tc::library
