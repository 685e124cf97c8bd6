#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "tc/base/str.h"
#include "test/cuda_emulator/host/device_calls.h"
#include "test/cuda_emulator/machine.h"

/// Collectives of warps, copies in flight, and what is said when threads wait for ever.
namespace tc::emulator {
namespace {

constexpr int warp = HappensBefore::warp;

std::string hexadecimal(unsigned mask) {
  std::ostringstream out;
  out << "0x" << std::hex << mask;
  return out.str();
}

/// "0-31, 64"
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    text += str(text.empty() ? "" : ", ", numbers[i], j > i ? str("-", numbers[j]) : std::string());
    i = j + 1;
  }
  return text;
}

}  // namespace

void Machine::collective(Wait kind, unsigned mask, int line) {
  auto& thread = self();
  thread.wait = kind;
  thread.line = line;
  thread.mask = mask;
  if (!(mask >> (running_ % warp) & 1))
    fail(Fault::Kind::Shuffle, str(thread_name(running_), " calls in line ", line, " with the mask ", hexadecimal(mask),
                                   ", in which its own lane ", running_ % warp, " is not"));
  thread.state = State::Waiting;
  try_complete(running_);
  if (thread.state == State::Waiting) wait();
}

void Machine::try_complete(int leader) {
  const int first = leader / warp * warp;
  const auto& asked = threads_[static_cast<std::size_t>(leader)];
  unsigned there = 0;
  for (auto rest = asked.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (first + lane >= count_) break;
    const auto& t = threads_[static_cast<std::size_t>(first + lane)];
    if (t.state == State::Done) continue;
    if (t.state != State::Waiting || t.wait != asked.wait || t.line != asked.line || t.mask != asked.mask) return;
    there |= 1u << lane;
  }
  complete(first, there);
}

void Machine::complete_without(int thread) {
  const int first = thread / warp * warp;
  for (int lane = first; lane < std::min(first + warp, count_); ++lane) {
    const auto& leader = threads_[static_cast<std::size_t>(lane)];
    if (leader.state == State::Waiting && is_of_warp(leader.wait)) try_complete(lane);
  }
}

void Machine::complete(int first, unsigned lanes) {
  const auto& leader = threads_[static_cast<std::size_t>(first + std::countr_zero(lanes))];
  if (leader.wait == Wait::WarpBarrier) order_.warp_barrier(first, lanes);
  if (leader.wait == Wait::Shuffle) complete_shuffle(first, lanes);
  if (leader.wait == Wait::Unit) complete_unit(first, lanes);
  if (leader.wait == Wait::Ballot) {
    std::uint64_t votes = 0;
    for (auto rest = lanes; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      votes |= (threads_[static_cast<std::size_t>(first + lane)].bits & 1) << lane;
    }
    for (auto rest = lanes; rest; rest &= rest - 1)
      threads_[static_cast<std::size_t>(first + std::countr_zero(rest))].result = votes;
  }
  for (auto rest = lanes; rest; rest &= rest - 1) wake(first + std::countr_zero(rest));
}

void Machine::complete_shuffle(int first, unsigned lanes) {
  for (auto rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    auto& thread = threads_[static_cast<std::size_t>(first + lane)];
    const int segment = lane / thread.width * thread.width, within = lane - segment;
    int source = lane;
    if (thread.mode == tc_emulator_from_lane) source = segment + (thread.operand & (thread.width - 1));
    if (thread.mode == tc_emulator_from_below && within >= thread.operand) source = lane - thread.operand;
    if (thread.mode == tc_emulator_from_above && within + thread.operand < thread.width) source = lane + thread.operand;
    if (thread.mode == tc_emulator_xor && (lane ^ thread.operand) < segment + thread.width)
      source = lane ^ thread.operand;
    if (!(lanes >> source & 1)) {
      add_fault(Fault::Kind::Shuffle,
                str(thread_name(first + lane), " takes in line ", thread.line, " the value of lane ", source,
                    ", which does not take part (mask ", hexadecimal(thread.mask), ")"));
      thread.result = ~std::uint64_t{0};
      continue;
    }
    thread.result = threads_[static_cast<std::size_t>(first + source)].bits;
  }
}

void Machine::warp_barrier(unsigned mask, int line) { collective(Wait::WarpBarrier, mask, line); }

std::uint64_t Machine::shuffle(int mode, unsigned mask, std::uint64_t bits, int operand, int width, int line) {
  auto& thread = self();
  thread.mode = mode;
  thread.bits = bits;
  thread.operand = operand;
  thread.width = width;
  collective(Wait::Shuffle, mask, line);
  return thread.result;
}

unsigned Machine::ballot(unsigned mask, int predicate, int line) {
  self().bits = predicate != 0;
  collective(Wait::Ballot, mask, line);
  return static_cast<unsigned>(self().result);
}

unsigned Machine::active_mask() const {
  const int first = running_ / warp * warp;
  unsigned mask = 0;
  for (int t = first; t < std::min(first + warp, count_); ++t)
    if (threads_[static_cast<std::size_t>(t)].state != State::Done) mask |= 1u << (t - first);
  return mask;
}

void Machine::copy_async(void* to, const void* from, std::size_t bytes, std::size_t valid, std::uint32_t site) {
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  auto* region = regions_.find(target);
  if (!region || !region->shared || target + bytes > region->end)
    fail(Fault::Kind::OutOfBounds, str(thread_name(running_), line_of(site), " copies ", bytes,
                                       " bytes to outside the shared memory, ", regions_.describe(target)));
  if (target % bytes)
    fail(Fault::Kind::Misaligned, str(thread_name(running_), line_of(site), " copies ", bytes, " bytes to ",
                                      region->element(target - region->begin), ", which is not aligned to them"));
  if (valid > bytes)
    fail(Fault::Kind::OutOfBounds, str(thread_name(running_), line_of(site), " copies ", valid, " bytes of ", bytes));
  if (valid) access(source, valid, AccessKind::Read, false, site);
  if (const auto* read = regions_.find(source); valid && read && source % bytes)
    fail(Fault::Kind::Misaligned, str(thread_name(running_), line_of(site), " copies ", bytes, " bytes from ",
                                      read->element(source - read->begin), ", which is not aligned to them"));
  if (options_.count_accesses) counts_.note(running_, site, target, bytes, true, true);
  auto conflict = region->shadow->begin_copy(order_, running_, target - region->begin, bytes, site);
  if (conflict) report_race(*region, *conflict, AccessKind::Write, site);
  std::memset(to, 0xff, bytes);
  self().open_copies.push_back({static_cast<char*>(to), static_cast<const char*>(from), bytes, valid, site});
}

void Machine::commit_copies() {
  auto& thread = self();
  thread.copy_groups.push_back(std::move(thread.open_copies));
  thread.open_copies.clear();
}

void Machine::wait_copies(int groups) {
  auto& thread = self();
  for (; static_cast<int>(thread.copy_groups.size()) > groups; thread.copy_groups.pop_front())
    for (const auto& copy : thread.copy_groups.front()) {
      if (copy.valid)
        access(reinterpret_cast<std::uintptr_t>(copy.from), copy.valid, AccessKind::Read, false, copy.site, false);
      std::memcpy(copy.to, copy.from, copy.valid);
      std::memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
      const auto target = reinterpret_cast<std::uintptr_t>(copy.to);
      auto* region = regions_.find(target);
      region->shadow->end_copy(order_, running_, target - region->begin, copy.bytes);
    }
}

void Machine::report_stuck() {
  std::map<std::tuple<bool, Wait, int, unsigned>, std::vector<int>> groups;
  bool in_warp = false;
  for (int t = 0; t < count_; ++t) {
    const auto& thread = threads_[static_cast<std::size_t>(t)];
    const bool done = thread.state == State::Done;
    in_warp = in_warp || (!done && is_of_warp(thread.wait));
    const unsigned mask = is_of_warp(thread.wait) ? thread.mask : 0;
    groups[done ? std::tuple{true, Wait::Barrier, 0, 0u} : std::tuple{false, thread.wait, thread.line, mask}].push_back(
        t);
  }
  std::string text =
      str("block (", blocks_.back().x, ", ", blocks_.back().y, ", ", blocks_.back().z, ") does not end: ");
  const char* separator = "";
  for (const auto& [key, threads] : groups) {
    const auto& [done, kind, line, mask] = key;
    static constexpr const char* names[] = {"barrier", "barrier of the grid", "warp barrier",       "shuffle",
                                            "vote",    "matrix unit",         "products of a group"};
    text += str(
        separator, "threads ", ranges(threads),
        done ? std::string(" have returned") : str(" wait at the ", names[static_cast<int>(kind)], " in line ", line));
    if (!done && mask) text += str(" for the lanes ", hexadecimal(mask));
    separator = "; ";
  }
  add_fault(in_warp ? Fault::Kind::DivergentCollective : Fault::Kind::Deadlock, std::move(text));
  ended_ = true;
}

void Machine::report_race(Region& region, const Conflict& conflict, AccessKind kind, std::uint32_t site) {
  if (result_.faults.size() >= options_.max_faults) return;
  static constexpr const char* now[] = {"reads", "writes", "updates atomically"};
  static constexpr const char* earlier[] = {"read", "wrote", "updated atomically"};
  const int line = module_->line(conflict.site);
  const bool in_flight = conflict.stamp.local == Stamp::in_flight;
  add_fault(Fault::Kind::Race,
            str(thread_name(running_), line_of(site), " ", now[static_cast<int>(kind)], " ",
                region.element(conflict.offset), in_flight ? ", to which a copy is in flight that " : ", which ",
                thread_name(conflict.stamp), in_flight ? " began" : str(" ", earlier[static_cast<int>(conflict.kind)]),
                line ? str(" in line ", line) : std::string(),
                in_flight           ? ""
                : conflict.unfenced ? " without a fence for units behind it"
                                    : ", and nothing orders the two"));
}

}  // namespace tc::emulator
