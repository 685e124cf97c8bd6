#include "test/cuda_emulator/machine.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "test/cuda_emulator/fiber.h"
#include "test/cuda_emulator/hooks.h"

namespace tc::emulator {
namespace {

constexpr std::size_t warp = HappensBefore::warp, most_threads = 1024;
constexpr int most_resident_threads = 16384;
constexpr std::uintptr_t dynamic_alignment = 1024;
constexpr std::uint8_t poison_byte = 0xff;

Machine* running_machine = nullptr;

Fibers the_fibers;
Fibers& fibers() { return the_fibers; }

std::string to_text(const Dim3& d) { return str("(", d.x, ", ", d.y, ", ", d.z, ")"); }

std::size_t volume(const Dim3& d) { return static_cast<std::size_t>(d.x) * d.y * d.z; }

Dim3 index_in(std::size_t linear, const Dim3& size) {
  return {static_cast<unsigned>(linear % size.x), static_cast<unsigned>(linear / size.x % size.y),
          static_cast<unsigned>(linear / size.x / size.y)};
}

}  // namespace

Machine* Machine::current() { return running_machine; }

void Machine::thread_body() {
  Machine& machine = *running_machine;
  machine.call_(machine.arguments_.data());
  machine.check_products_are_done();
  auto& thread = machine.self();
  thread.state = State::Done;
  ++machine.done_;
  machine.complete_without(machine.running_);
  fibers().suspend();
  std::abort();
}

Machine::Machine(std::shared_ptr<const Module> module, const KernelText& kernel, const LaunchShape& shape,
                 const std::vector<Argument>& arguments, const RunOptions& options)
    : module_(std::move(module)),
      kernel_(kernel),
      shape_(shape),
      options_(options),
      call_(module_->kernel(kernel.name)),
      dynamic_shared_(2 * shape.dynamic_shared_bytes + dynamic_alignment),
      random_(options.seed) {
  values_.reserve(arguments.size());
  for (const auto& argument : arguments) {
    if (const auto* buffer = std::get_if<Buffer>(&argument)) {
      values_.push_back(Scalar::of(buffer->view.data));
      buffers_.push_back(*buffer);
    } else {
      values_.push_back(std::get<Scalar>(argument));
    }
  }
  for (auto& value : values_) arguments_.push_back(value.bytes.data());
  const auto address = reinterpret_cast<std::uintptr_t>(dynamic_shared_.data());
  dynamic_ = dynamic_shared_.data() + (round_up(address, dynamic_alignment) - address);
  add_regions();
}

Machine::~Machine() { running_machine = nullptr; }

void Machine::add_shared(char* begin, std::size_t bytes, std::size_t capacity, std::string name,
                         std::function<std::string(std::size_t)> element) {
  if (bytes == 0) return;
  Region region;
  region.begin = reinterpret_cast<std::uintptr_t>(begin);
  region.end = region.begin + bytes;
  region.shared = true;
  region.shadow =
      std::make_unique<Shadow>(capacity, std::countr_zero(static_cast<unsigned>(module_->access_bytes())), true);
  region.element = std::move(element);
  region.name = std::move(name);
  regions_.add(std::move(region));
}

void Machine::add_regions() {
  for (const auto& buffer : buffers_) regions_.add(buffer);
  add_shared(module_->shared(), module_->shared_bytes(), module_->shared_bytes(), "static shared memory",
             [module = module_](std::size_t offset) { return str("shared ", module->shared_name(offset), " bytes"); });
}

void Machine::check_launch() {
  const auto threads = volume(shape_.block);
  if (threads == 0 || threads > most_threads)
    add_fault(Fault::Kind::Launch, str("a block of ", to_text(shape_.block), " threads"));
  const auto& bounds = module_->signature(kernel_.name).launch_bounds;
  const auto most = static_cast<std::size_t>(std::atoll(bounds.c_str()));
  if (most && threads > most)
    add_fault(Fault::Kind::Launch, str("a block of ", threads, " threads, __launch_bounds__(", bounds, ")"));
  if (volume(shape_.grid) == 0) add_fault(Fault::Kind::Launch, str("a grid of ", to_text(shape_.grid), " blocks"));
}

Result Machine::run() {
  const auto start = std::chrono::steady_clock::now();
  result_.compile_milliseconds = module_->compile_milliseconds();
  check_launch();
  if (result_.faults.empty()) {
    running_machine = this;
    set_sizes(shape_);
    count_ = static_cast<int>(volume(shape_.block));
    std::vector<std::size_t> blocks(volume(shape_.grid));
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    std::shuffle(blocks.begin(), blocks.end(), random_);
    if (options_.max_blocks && blocks.size() > options_.max_blocks) blocks.resize(options_.max_blocks);
    shape_.cooperative ? run_together(std::move(blocks)) : run_one_by_one(blocks);
    running_machine = nullptr;
  }
  for (auto [site, count] : counts_.sites()) {
    count.line = module_->line(site.place);
    result_.sites.push_back(count);
  }
  result_.run_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

void Machine::run_one_by_one(const std::vector<std::size_t>& blocks) {
  fibers().reserve(count_);
  order_.begin_launch();
  for (auto block : blocks) {
    begin_block(index_in(block, shape_.grid));
    start_threads();
    run_threads();
    if (ended_ || result_.faults.size() >= options_.max_faults) return;
  }
}

/// A barrier of the grid orders all that came before it before all that comes after it, as a launch does.
void Machine::run_together(std::vector<std::size_t> blocks) {
  const auto count = static_cast<int>(volume(shape_.grid)) * count_;
  if (count > most_resident_threads)
    return add_fault(Fault::Kind::Launch, str("a cooperative launch of ", count, " threads"));
  fibers().reserve(count);
  std::map<std::size_t, Parked> parked;
  for (std::size_t waiting = blocks.size(); waiting > 0;) {
    waiting = 0;
    std::set<int> lines;
    order_.begin_launch();
    std::shuffle(blocks.begin(), blocks.end(), random_);
    for (auto block : blocks) {
      run_to_barrier(block, parked[block]);
      if (ended_ || result_.faults.size() >= options_.max_faults) return;
      bool waits = is_at_grid_barrier();
      if (waits) ++waiting;
      lines.insert(waits ? threads_.front().line : 0);
    }
    if (lines.size() > 1)
      return add_fault(
          Fault::Kind::Deadlock,
          str(waiting, " of ", blocks.size(), " blocks wait for the grid in line ", *lines.rbegin(),
              *lines.begin() ? str(", others in line ", *lines.begin()) : std::string(", the others have returned")));
  }
}

void Machine::run_to_barrier(std::size_t block, Parked& state) {
  first_fiber_ = static_cast<int>(block) * count_;
  begin_block(index_in(block, shape_.grid));
  if (state.threads.empty()) {
    start_threads();
  } else {
    threads_ = std::move(state.threads);
    std::copy(state.shared.begin(), state.shared.end(), module_->shared());
    std::copy(state.dynamic_shared.begin(), state.dynamic_shared.end(), dynamic_);
    for (int t = 0; t < count_; ++t) wake(t);
  }
  run_threads();
  if (!is_at_grid_barrier()) return;
  state.shared.assign(module_->shared(), module_->shared() + module_->shared_bytes());
  state.dynamic_shared.assign(dynamic_, dynamic_ + shape_.dynamic_shared_bytes);
  state.threads = threads_;
}

void Machine::begin_block(const Dim3& block) {
  blocks_.push_back(block);
  order_.begin_block(count_);
  running_ = -1;
  ready_.clear();
  done_ = arrived_ = predicates_ = 0;
  set_block(block);
  if (options_.count_accesses) counts_.begin_block(count_);
}

void Machine::start_threads() {
  std::memset(module_->shared(), poison_byte, module_->shared_bytes());
  std::memset(dynamic_, poison_byte, 2 * shape_.dynamic_shared_bytes);
  threads_.assign(static_cast<std::size_t>(count_), Thread{});
  ready_.resize(static_cast<std::size_t>(count_));
  std::iota(ready_.begin(), ready_.end(), 0);
  for (int t = 0; t < count_; ++t) fibers().prepare(first_fiber_ + t, &Machine::thread_body);
}

void Machine::run_threads() {
  while (!ready_.empty() && !ended_) {
    std::swap(ready_[random_() % ready_.size()], ready_.back());
    running_ = ready_.back();
    ready_.pop_back();
    set_thread(running_);
    ++result_.switches;
    fibers().resume(first_fiber_ + running_);
  }
  if (!ended_ && done_ < count_ && !is_at_grid_barrier()) report_stuck();
  if (options_.count_accesses) counts_.end_block();
  if (static_cast<int>(blocks_.size()) >= options_.counted_blocks) options_.count_accesses = false;
}

bool Machine::is_at_grid_barrier() const {
  return std::all_of(threads_.begin(), threads_.end(), [&](const Thread& thread) {
    return thread.state == State::Waiting && thread.wait == Wait::GridBarrier && thread.line == threads_.front().line;
  });
}

void Machine::set_thread(int thread) const {
  emulator::set_thread(index_in(static_cast<std::size_t>(thread), shape_.block));
}

void Machine::wake(int thread) {
  threads_[static_cast<std::size_t>(thread)].state = State::Ready;
  if (thread != running_) ready_.push_back(thread);
}

void Machine::wait() {
  self().state = State::Waiting;
  fibers().suspend();
}

void Machine::yield() {
  ready_.push_back(running_);
  fibers().suspend();
}

void Machine::add_fault(Fault::Kind kind, std::string text) {
  if (result_.faults.size() < options_.max_faults) result_.faults.push_back({kind, std::move(text)});
}

void Machine::fail(Fault::Kind kind, const std::string& text) {
  add_fault(kind, text);
  ended_ = true;
  fibers().suspend();
  std::abort();
}

void Machine::access(std::uintptr_t address, std::size_t bytes, AccessKind kind, bool aligned, std::uint32_t site,
                     bool counted) {
  if (fibers().on_a_stack(address)) return;
  Region* region = regions_.find(address);
  const char* verb = kind == AccessKind::Read ? "reads" : "writes";
  if (!region || address + bytes > region->end) {
    if (!region && module_->contains(address)) return;
    fail(Fault::Kind::OutOfBounds,
         str(thread_name(running_), line_of(site), " ", verb, " ", bytes, " bytes ", regions_.describe(address)));
  }
  const auto offset = address - region->begin;
  if (aligned && address % bytes)
    fail(Fault::Kind::Misaligned, str(thread_name(running_), line_of(site), " ", verb, " ", bytes, " bytes at ",
                                      region->element(offset), ", which is not aligned to them"));
  if (kind != AccessKind::Read && !region->writable)
    fail(Fault::Kind::ReadOnly,
         str(thread_name(running_), line_of(site), " writes ", region->element(offset), ", an input"));
  if (++result_.accesses > options_.max_accesses)
    fail(Fault::Kind::Runaway, "too many accesses: the kernel does not end");
  if (options_.count_accesses && counted)
    counts_.note(running_, site, address, bytes, region->shared, kind != AccessKind::Read);
  if (auto conflict = region->shadow->access(order_, running_, offset, bytes, kind, site))
    report_race(*region, *conflict, kind, site);
}

int Machine::barrier(int predicate, int line) {
  auto& thread = self();
  thread.wait = Wait::Barrier;
  thread.line = line;
  predicates_ += predicate;
  if (++arrived_ < count_) {
    wait();
    return barrier_result_;
  }
  for (int t = 0; t < count_; ++t)
    if (threads_[static_cast<std::size_t>(t)].line != line)
      fail(Fault::Kind::DivergentBarrier,
           str(thread_name(running_), " is at the barrier in line ", line, ", ", thread_name(t), " at the one in line ",
               threads_[static_cast<std::size_t>(t)].line));
  order_.barrier();
  barrier_result_ = predicates_;
  arrived_ = predicates_ = 0;
  for (int t = 0; t < count_; ++t) wake(t);
  return barrier_result_;
}

void Machine::grid_barrier(const unsigned* word, int line) {
  if (!shape_.cooperative)
    fail(Fault::Kind::Launch,
         str(thread_name(running_), " waits for the grid in line ", line, ", but the launch is not cooperative"));
  access(reinterpret_cast<std::uintptr_t>(word), sizeof *word, AccessKind::Atomic, true, Module::site_of_line(line));
  if (*word << 1)
    fail(Fault::Kind::Launch, str("the word of the barrier in line ", line, " is ", *word, " at its first use, not 0"));
  self().wait = Wait::GridBarrier;
  self().line = line;
  wait();
}

void Machine::fence(bool device) { order_.fence(running_, device); }

void Machine::atomic(std::uintptr_t address, std::size_t bytes, std::uint32_t site) {
  if (random_() % 4 == 0) yield();
  access(address, bytes, AccessKind::Atomic, true, site);
  order_.atomic(running_, address);
}

void* Machine::whole_dynamic_shared() {
  const auto bytes = shape_.dynamic_shared_bytes;
  if (arrays_.emplace(0, bytes).second)
    add_shared(dynamic_, bytes, bytes, "dynamic shared memory",
               [](std::size_t offset) { return str("dynamic shared memory + ", offset, " bytes"); });
  return dynamic_;
}

void* Machine::shared_array(std::int64_t offset, std::int64_t count, std::int64_t element_bytes) {
  const auto bytes = count * element_bytes, most = static_cast<std::int64_t>(shape_.dynamic_shared_bytes);
  if (offset < 0 || bytes < 0 || offset + bytes > most)
    fail(Fault::Kind::Launch,
         str("the kernel uses dynamic shared memory up to byte ", offset + bytes, ", the launch has ", most));
  if (shape_.cooperative) return static_cast<char*>(whole_dynamic_shared()) + offset;
  auto holder = arrays_.upper_bound(offset);
  if (holder != arrays_.begin() && std::prev(holder)->first + std::prev(holder)->second > offset) {
    auto& [begin, size] = *std::prev(holder);
    char* at = dynamic_ + 2 * begin;
    if (offset + bytes > begin + size) {
      size = offset + bytes - begin;
      regions_.find(reinterpret_cast<std::uintptr_t>(at))->end =
          reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(size);
    }
    return at + (offset - begin);
  }
  arrays_.emplace(offset, bytes);
  auto array = shared_array_name(kernel_.text, offset, count);
  add_shared(dynamic_ + 2 * offset, static_cast<std::size_t>(bytes), static_cast<std::size_t>(most - offset),
             str("shared ", array), [=](std::size_t at) {
               return str("shared ", array, "[", at / static_cast<std::size_t>(element_bytes), "]");
             });
  return dynamic_ + 2 * offset;
}

std::string Machine::thread_name(int thread) const {
  return str("thread ", to_text(index_in(static_cast<std::size_t>(thread), shape_.block)), " of block ",
             to_text(blocks_.back()));
}

std::string Machine::thread_name(const Stamp& stamp) const {
  const auto block = stamp.block - (order_.block() - (static_cast<std::uint32_t>(blocks_.size()) - 1));
  return str("thread ", to_text(index_in(stamp.thread, shape_.block)), " of block ", to_text(blocks_[block]));
}

std::string Machine::line_of(std::uint32_t site) const {
  const int line = module_->line(site);
  return line ? str(" in line ", line) : std::string();
}

}  // namespace tc::emulator
