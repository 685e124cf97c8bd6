#include "tc/library/description/prepare.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::library {

PreparedCall::PreparedCall(Call call, const Library& library) : call_(std::move(call)) {
  const auto& presence = library.find();
  const std::string then = "; compile it again on this machine, or with libraries=none";
  if (presence.version.empty())
    throw OptionsError(str("this executable calls ", call_.routine, " of ", call_.library, " ", call_.version,
                           ", which is not on this machine (", presence.reason, ")", then));
  if (presence.version != call_.version)
    throw OptionsError(str("this executable calls ", call_.routine, " of ", call_.library, " ", call_.version,
                           ", this machine has version ", presence.version, then));
  const auto* routine = library.routine(call_.routine);
  if (!routine || (routine->accepts && !routine->accepts(call_)))
    throw OptionsError(
        str(call_.library, " ", call_.version, " has no routine that takes '", to_string(call_), "'", then));
  invocation_ = routine->prepare(call_);
  auto add = [&](const Operand& operand) {
    const auto size = static_cast<std::int64_t>(byte_size(operand.type));
    Place place{operand.argument, operand.offset * size, {}};
    for (auto step : operand.steps) place.loop_bytes.push_back(step * size);
    places_.push_back(std::move(place));
  };
  for (const auto& operand : call_.operands) add(operand);
  for (const auto& op : call_.post_ops)
    if (op.operand) add(*op.operand);
}

std::unique_ptr<const PreparedCall> PreparedCall::hold(const std::vector<void*>& arguments) const {
  std::vector<void*> pointers;
  auto add = [&](const Operand& operand) {
    const auto& place = places_[pointers.size()];
    const bool moves = std::any_of(operand.steps.begin(), operand.steps.end(), [](auto step) { return step != 0; });
    auto* data = operand.constant && !moves ? static_cast<std::byte*>(arguments[operand.argument]) : nullptr;
    pointers.push_back(data ? data + place.bytes : nullptr);
  };
  for (const auto& operand : call_.operands) add(operand);
  for (const auto& op : call_.post_ops)
    if (op.operand) add(*op.operand);
  auto held = invocation_->hold(pointers);
  if (!held) return nullptr;
  return std::unique_ptr<const PreparedCall>(new PreparedCall(call_, places_, std::move(held)));
}

template <typename Run>
void PreparedCall::for_each_instance(void* const* arguments, const Run& run) const {
  std::vector<std::byte*> pointers;
  pointers.reserve(places_.size());
  for (const auto& place : places_)
    pointers.push_back(static_cast<std::byte*>(arguments[place.argument]) + place.bytes);
  run_loops(pointers, 0, run);
}

template <typename Run>
void PreparedCall::run_loops(std::vector<std::byte*>& pointers, std::size_t loop, const Run& run) const {
  if (loop == call_.loops.size()) return run(reinterpret_cast<void* const*>(pointers.data()));
  auto move = [&](std::int64_t times) {
    for (std::size_t p = 0; p < pointers.size(); ++p) pointers[p] += places_[p].loop_bytes[loop] * times;
  };
  for (std::int64_t i = 0; i < call_.loops[loop]; ++i) {
    run_loops(pointers, loop + 1, run);
    move(1);
  }
  move(-call_.loops[loop]);
}

void PreparedCall::run(void* const* arguments, int threads) const {
  for_each_instance(arguments, [&](void* const* operands) { invocation_->run(operands, threads); });
}

void PreparedCall::enqueue(void* const* arguments, const Queue& queue) const {
  for_each_instance(arguments, [&](void* const* operands) { invocation_->enqueue(operands, queue); });
}

}  // namespace tc::library
