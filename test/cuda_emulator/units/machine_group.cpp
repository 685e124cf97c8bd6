#include <algorithm>
#include <bit>
#include <set>

#include "tc/base/dtype.h"
#include "tc/base/fragment_lanes.h"
#include "tc/base/str.h"
#include "test/cuda_emulator/host/device_calls.h"
#include "test/cuda_emulator/machine.h"

/// Products of groups of warps: begun, closed as groups, done at a wait. Operands are read as late as they may be.
namespace tc::emulator {
namespace {

/// The value of a sum while a product adds to it, a NaN.
constexpr auto under_way = std::uint32_t{0x7fc5f00d};
/// Where shared memory begins on the device.
constexpr unsigned shared_begin = 1024;

float value_of(int operand, const char* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return operand == tc_emulator_bfloat16 ? bfloat_to_float(bits) : half_to_float(bits);
}

}  // namespace

unsigned Machine::shared_address(const void* at, int line) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  for (const auto& [offset, bytes] : arrays_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_ + 2 * offset);
    if (address >= begin && address < begin + static_cast<std::uintptr_t>(bytes))
      return shared_begin + static_cast<unsigned>(offset) + static_cast<unsigned>(address - begin);
  }
  fail(Fault::Kind::OutOfBounds, str(thread_name(running_), " describes in line ", line,
                                     " a matrix outside the dynamic shared memory, ", regions_.describe(address)));
}

const char* Machine::at_shared_address(unsigned address, int line) {
  const auto place = static_cast<std::int64_t>(address) - shared_begin;
  const auto holder = arrays_.upper_bound(place);
  if (holder == arrays_.begin() || std::prev(holder)->first + std::prev(holder)->second <= place)
    fail(Fault::Kind::OutOfBounds, str("a product of ", thread_name(running_), " in line ", line,
                                       " reads shared memory at byte ", place, ", where there is no array"));
  return dynamic_ + 2 * std::prev(holder)->first + (place - std::prev(holder)->first);
}

unsigned long long Machine::describe_matrix(const void* at, int leading, int stride, int line) {
  const auto address = shared_address(at, line);
  if (address % 16 || leading % 16 || stride % 16)
    fail(Fault::Kind::Misaligned,
         str(thread_name(running_), " describes in line ", line, " a matrix that is not aligned to 16 bytes"));
  return group_descriptor(address, leading, stride);
}

const char* Machine::read_by_unit(unsigned address, std::size_t bytes, int line) {
  const auto* from = at_shared_address(address, line);
  const auto place = reinterpret_cast<std::uintptr_t>(from);
  auto* region = regions_.find(place);
  const auto site = Module::site_of_line(line);
  if (auto conflict = region->shadow->unit_access(order_, running_, place - region->begin, bytes, site))
    report_race(*region, *conflict, AccessKind::Read, site);
  return from;
}

GroupOperands Machine::operands_of(const GroupOperation& operation, int line, bool values) {
  GroupOperands result;
  const int thread = running_ % group_threads;
  const auto read = [&](unsigned long long descriptor, bool transposed, int along, std::vector<float>& into) {
    constexpr int piece = 8;
    for (int step = 0; step < group_steps; ++step) {
      const bool first = step % piece == 0;
      const auto address = element_address(descriptor, transposed, along, step);
      const char* from = transposed || first ? read_by_unit(address, transposed ? 2 : 2 * piece, line)
                                             : at_shared_address(address, line);
      if (values) into.push_back(value_of(operation.operand, from));
    }
  };
  for (int i : {0, 2}) read(operation.a, operation.transposed_a, fragments::element_of_group(thread, i).row, result.a);
  for (int i = 0; i < operation.columns / 2; ++i)
    if (i / 2 % 2 == 0)
      read(operation.b, operation.transposed_b, fragments::element_of_group(thread, i).column, result.b);
  return result;
}

void Machine::multiply_group(const GroupProduct& product) {
  const auto& operation = product.operation;
  const int line = product.line;
  self().unit = {{false, false, operation.operand, operation}, nullptr, {}};
  collective(Wait::Unit, ~0u, line);
  auto& products = self().products;
  if (!products.begun)
    fail(Fault::Kind::Unit, str(thread_name(running_), " multiplies in line ", line, " without tc_unit_begin before"));
  if (!is_swizzled_128(operation.a) || !is_swizzled_128(operation.b))
    fail(Fault::Kind::Unit,
         str(thread_name(running_), " multiplies in line ", line, " an operand whose layout is not modelled"));
  operands_of(operation, line, false);
  for (std::size_t i = 0; i < product.count(); ++i) {
    float* sum = product.sum(i);
    const bool fresh = products.sums.emplace(sum, *sum).second;
    if (!fresh && std::bit_cast<std::uint32_t>(*sum) != under_way)
      fail(Fault::Kind::Unit,
           str(thread_name(running_), " has changed, before line ", line, ", a sum to which a product under way adds"));
    *sum = std::bit_cast<float>(under_way);
  }
  products.open.push_back(product);
}

void Machine::commit_group() {
  auto& products = self().products;
  products.groups.push_back(std::move(products.open));
  products.open.clear();
  products.begun = false;
}

void Machine::wait_groups(int groups, int line) {
  auto& thread = self();
  thread.wait = Wait::Group;
  thread.line = line;
  thread.state = State::Waiting;
  try_complete_group(running_ / group_threads * group_threads);
  if (thread.state == State::Waiting) wait();
  auto& products = self().products;
  for (; static_cast<int>(products.groups.size()) > groups; products.groups.pop_front())
    for (const auto& product : products.groups.front()) finish_product(product);
  release_sums();
}

void Machine::try_complete_group(int first) {
  const int last = std::min(first + group_threads, count_);
  const auto& leader = threads_[static_cast<std::size_t>(running_)];
  const auto operations = [&](int thread) {
    std::vector<std::vector<GroupOperation>> result;
    for (const auto& group : threads_[static_cast<std::size_t>(thread)].products.groups) {
      result.emplace_back();
      for (const auto& product : group) result.back().push_back(product.operation);
    }
    return result;
  };
  for (int t = first; t < last; ++t) {
    const auto& thread = threads_[static_cast<std::size_t>(t)];
    if (thread.state != State::Waiting || thread.wait != Wait::Group || thread.line != leader.line) return;
  }
  const auto all = operations(first);
  for (int t = first; t < last; ++t)
    if (operations(t) != all || (!all.empty() && !all.back().empty() && last - first < group_threads))
      fail(Fault::Kind::DivergentCollective,
           str(thread_name(t), " waits in line ", leader.line, " for other products than ", thread_name(first),
               ", or its group has no 4 warps"));
  for (int t = first; t < last; ++t) wake(t);
}

void Machine::finish_product(const GroupProduct& product) {
  const auto operands = operands_of(product.operation, product.line, true);
  for (std::size_t i = 0; i < product.count(); ++i) {
    const float* a = operands.a.data() + i / 2 % 2 * group_steps;
    const float* b = operands.b.data() + (i / 4 * 2 + i % 2) * group_steps;
    double added = 0;
    for (int k = 0; k < group_steps; ++k) added += static_cast<double>(a[k]) * b[k];
    auto& sum = self().products.sums.at(product.sum(i));
    sum = static_cast<float>(sum + added);
  }
}

void Machine::release_sums() {
  auto& products = self().products;
  std::set<float*> busy;
  const auto note = [&](const std::vector<GroupProduct>& group) {
    for (const auto& product : group)
      for (std::size_t i = 0; i < product.count(); ++i) busy.insert(product.sum(i));
  };
  std::for_each(products.groups.begin(), products.groups.end(), note);
  note(products.open);
  std::erase_if(products.sums, [&](const auto& entry) {
    const auto& [sum, value] = entry;
    if (busy.contains(sum)) return false;
    if (std::bit_cast<std::uint32_t>(*sum) != under_way)
      fail(Fault::Kind::Unit, str(thread_name(running_), " has changed a sum to which a product under way adds"));
    *sum = value;
    return true;
  });
}

void Machine::check_products_are_done() {
  const auto& products = self().products;
  if (!products.sums.empty())
    fail(Fault::Kind::Unit, str(thread_name(running_), " returns while products of it are under way"));
}

}  // namespace tc::emulator
