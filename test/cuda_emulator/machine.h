#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "test/cuda_emulator/access_counts.h"
#include "test/cuda_emulator/emulator.h"
#include "test/cuda_emulator/happens_before.h"
#include "test/cuda_emulator/module.h"
#include "test/cuda_emulator/regions.h"
#include "test/cuda_emulator/units/group_unit.h"
#include "test/cuda_emulator/units/matrix_unit.h"

namespace tc::emulator {

/// One launch as it runs. What kernels call (device_calls.h, the hooks of the instrumentation) are its methods, called
/// on the fiber of the thread they are about; the text of the calls is at device_calls.h.
class Machine {
 public:
  Machine(std::shared_ptr<const Module> module, const KernelText& kernel, const LaunchShape& shape,
          const std::vector<Argument>& arguments, const RunOptions& options);
  ~Machine();
  Result run();

  /// The machine that runs.
  static Machine* current();
  /// The body of a fiber: one thread of the kernel.
  static void thread_body();

  /// The place in the text of a return address.
  std::uint32_t site(std::uintptr_t address) const { return module_->site(address); }
  void access(std::uintptr_t address, std::size_t bytes, AccessKind kind, bool aligned, std::uint32_t site,
              bool counted = true);
  int barrier(int predicate, int line);
  void grid_barrier(const unsigned* word, int line);
  void warp_barrier(unsigned mask, int line);
  std::uint64_t shuffle(int mode, unsigned mask, std::uint64_t bits, int operand, int width, int line);
  unsigned ballot(unsigned mask, int predicate, int line);
  unsigned active_mask() const;
  void fence(bool device);
  void atomic(std::uintptr_t address, std::size_t bytes, std::uint32_t site);
  void copy_async(void* to, const void* from, std::size_t bytes, std::size_t valid, std::uint32_t site);
  void commit_copies();
  void wait_copies(int groups);
  void load_matrices(unsigned* to, const void* row, int count, bool transposed, int line);
  void multiply_matrices(int operand, unsigned* sums, const unsigned* a, const unsigned* b, int line);
  /// Products of groups of 4 warps, see units/group_unit.h.
  unsigned long long describe_matrix(const void* at, int leading, int stride, int line);
  void proxy_fence() { order_.proxy_fence(running_); }
  void begin_group() { self().products.begun = true; }
  void commit_group();
  void wait_groups(int groups, int line);
  void multiply_group(const GroupProduct& product);
  void* whole_dynamic_shared();
  void* shared_array(std::int64_t offset, std::int64_t count, std::int64_t element_bytes);

 private:
  enum class State : std::uint8_t { Ready, Waiting, Done };
  enum class Wait : std::uint8_t { Barrier, GridBarrier, WarpBarrier, Shuffle, Ballot, Unit, Group };
  static bool is_of_warp(Wait wait) {
    return wait != Wait::Barrier && wait != Wait::GridBarrier && wait != Wait::Group;
  }

  struct Copy {
    char* to;
    const char* from;
    std::size_t bytes, valid;
    std::uint32_t site;
  };
  /// A lane's part in a matrix instruction.
  struct UnitCall {
    struct Operation {
      bool loads = false, transposed = false;
      int kind = 0;          ///< how many matrices are loaded, or the tc_emulator_operand of a product
      GroupOperation group;  ///< of 4 warps
      bool operator==(const Operation&) const = default;
    };
    Operation operation;
    const char* row = nullptr;  ///< that a load reads
    LaneFragments words;        ///< of a load, a
  };
  struct Thread {
    State state = State::Ready;
    Wait wait = Wait::Barrier;
    int line = 0;
    unsigned mask = 0;
    std::uint64_t bits = 0, result = 0;
    int mode = 0, operand = 0, width = 32;
    UnitCall unit;
    GroupProducts products;
    std::vector<Copy> open_copies;
    std::deque<std::vector<Copy>> copy_groups;
  };

  /// A block that waits for the others, with its shared memory.
  struct Parked {
    std::vector<Thread> threads;
    std::vector<char> shared, dynamic_shared;
  };

  Thread& self() { return threads_[static_cast<std::size_t>(running_)]; }
  void check_launch();
  void add_regions();
  void add_shared(char* begin, std::size_t bytes, std::size_t capacity, std::string name,
                  std::function<std::string(std::size_t)> element);
  void run_one_by_one(const std::vector<std::size_t>& blocks);
  void run_together(std::vector<std::size_t> blocks);
  /// Block number \p block of a cooperative launch from the barrier it is at, if any, to the next or to its end.
  void run_to_barrier(std::size_t block, Parked& state);
  void begin_block(const Dim3& block);
  void start_threads();
  void run_threads();
  bool is_at_grid_barrier() const;
  void set_thread(int thread) const;
  void wake(int thread);
  /// The running thread waits until another wakes it.
  void wait();
  /// Lets another thread run first.
  void yield();
  /// Ends the launch from the running thread.
  [[noreturn]] void fail(Fault::Kind kind, const std::string& text);
  void add_fault(Fault::Kind kind, std::string text);

  /// The running thread takes part in a collective of its warp; returns when the lanes of \p mask that have not
  /// returned do.
  void collective(Wait kind, unsigned mask, int line);
  /// Completes the collective that the thread \p leader waits in if all its lanes are there.
  void try_complete(int leader);
  /// Completes the collectives that waited for \p thread, which has returned.
  void complete_without(int thread);
  void complete(int first, unsigned lanes);
  void complete_shuffle(int first, unsigned lanes);
  /// Completes a matrix instruction of the warp that begins with the thread \p first.
  void complete_unit(int first, unsigned lanes);
  void complete_load(int first);
  /// Ends the launch where the running thread returns and its products are under way.
  void check_products_are_done();
  /// Completes the wait for products of the group of warps that begins with the thread \p first, if all are there.
  void try_complete_group(int first);
  /// The address in the shared memory of the device of \p at, which the running thread uses in \p line; and the reverse.
  unsigned shared_address(const void* at, int line);
  const char* at_shared_address(unsigned address, int line);
  /// The elements of the operands of \p operation that the running thread's sums need, checked; \p values: also read.
  GroupOperands operands_of(const GroupOperation& operation, int line, bool values);
  /// Does what \p product does to the running thread's sums, which nobody sees yet.
  void finish_product(const GroupProduct& product);
  /// Gives the running thread the sums that no product under way adds to.
  void release_sums();
  /// The \p bytes bytes at \p address of the device, which a unit reads for the running thread in \p line.
  const char* read_by_unit(unsigned address, std::size_t bytes, int line);
  /// The running thread gives \p row to a load of matrices.
  void check_matrix_row(const void* row, int line);
  void report_stuck();

  void report_race(Region& region, const Conflict& conflict, AccessKind kind, std::uint32_t site);
  std::string thread_name(int thread) const;
  std::string thread_name(const Stamp& stamp) const;
  std::string line_of(std::uint32_t site) const;

  std::shared_ptr<const Module> module_;
  KernelText kernel_;
  LaunchShape shape_;
  RunOptions options_;
  std::vector<Scalar> values_;
  std::vector<void*> arguments_;
  Module::Call call_;
  std::vector<Buffer> buffers_;

  Regions regions_;
  HappensBefore order_;
  AccessCounts counts_;
  /// Dynamic shared memory, with as much room behind each array as the array has.
  std::vector<char> dynamic_shared_;
  char* dynamic_ = nullptr;
  std::map<std::int64_t, std::int64_t> arrays_;  ///< bytes of the dynamic shared arrays, by offset
  std::mt19937_64 random_;
  std::vector<Dim3> blocks_;  ///< in the order they run
  std::vector<Thread> threads_;
  std::vector<int> ready_;
  int first_fiber_ = 0;  ///< of the running block
  int count_ = 0, done_ = 0, arrived_ = 0, predicates_ = 0, barrier_result_ = 0, running_ = -1;
  bool ended_ = false;
  Result result_;
};

}  // namespace tc::emulator
