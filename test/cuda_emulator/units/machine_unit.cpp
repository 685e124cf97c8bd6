#include <algorithm>
#include <bit>
#include <cstring>

#include "tc/base/fragment_lanes.h"
#include "tc/base/str.h"
#include "test/cuda_emulator/machine.h"

/// Matrix instructions: the lanes of a warp load fragments of matrices together and multiply them.
namespace tc::emulator {
namespace {

constexpr int unit_lanes = HappensBefore::warp, row_bytes = 16, rows_of_matrix = 8;

}  // namespace

void Machine::load_matrices(unsigned* to, const void* row, int count, bool transposed, int line) {
  if (running_ % unit_lanes < rows_of_matrix * count) check_matrix_row(row, line);
  self().unit = {{true, transposed, count}, static_cast<const char*>(row), {}};
  collective(Wait::Unit, ~0u, line);
  std::copy_n(self().unit.words.a.begin(), count, to);
}

void Machine::check_matrix_row(const void* row, int line) {
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  const auto* region = regions_.find(address);
  if (!region || !region->shared)
    fail(Fault::Kind::OutOfBounds, str(thread_name(running_), " loads in line ", line,
                                       " a matrix from outside the shared memory, ", regions_.describe(address)));
  access(address, row_bytes, AccessKind::Read, true, Module::site_of_line(line));
}

void Machine::multiply_matrices(int operand, unsigned* sums, const unsigned* a, const unsigned* b, int line) {
  auto& thread = self();
  thread.unit = {{false, false, operand}, nullptr, {}};
  std::copy_n(a, 4, thread.unit.words.a.begin());
  std::copy_n(b, 2, thread.unit.words.b.begin());
  std::copy_n(sums, 4, thread.unit.words.c.begin());
  collective(Wait::Unit, ~0u, line);
  std::copy_n(self().unit.words.c.begin(), 4, sums);
}

void Machine::complete_unit(int first, unsigned lanes) {
  auto* threads = &threads_[static_cast<std::size_t>(first)];
  if (lanes != ~0u)
    fail(Fault::Kind::Shuffle, str("the warp of ", thread_name(first), " is at the matrix unit in line ",
                                   threads[std::countr_zero(lanes)].line, " without all of its lanes"));
  for (int lane = 1; lane < unit_lanes; ++lane)
    if (!(threads[lane].unit.operation == threads[0].unit.operation))
      fail(Fault::Kind::DivergentCollective,
           str(thread_name(first + lane), " calls another function of matrices in line ", threads[0].line, " than ",
               thread_name(first)));
  if (threads[0].unit.operation.loads) return complete_load(first);
  if (threads[0].unit.operation.group.columns > 0) return;
  std::array<LaneFragments, unit_lanes> fragments;
  for (int lane = 0; lane < unit_lanes; ++lane) fragments[static_cast<std::size_t>(lane)] = threads[lane].unit.words;
  multiply_fragments(threads[0].unit.operation.kind, fragments);
  for (int lane = 0; lane < unit_lanes; ++lane) threads[lane].unit.words = fragments[static_cast<std::size_t>(lane)];
}

void Machine::complete_load(int first) {
  auto* threads = &threads_[static_cast<std::size_t>(first)];
  const bool transposed = threads[0].unit.operation.transposed;
  const int count = threads[0].unit.operation.kind;
  const auto site = Module::site_of_line(threads[0].line);
  const int caller = running_;
  for (int lane = 0; lane < unit_lanes; ++lane) {
    running_ = first + lane;
    /// What a lane reads, it reads by itself: the writes that the row's lane has waited for need not be seen by the others.
    for (int i = 0; i < count; ++i)
      for (int half : {0, 1}) {
        const auto at = fragments::element_of_matrix(16, lane, half, transposed);
        const char* from = threads[rows_of_matrix * i + at.row].unit.row + 2 * at.column;
        access(reinterpret_cast<std::uintptr_t>(from), 2, AccessKind::Read, false, site, false);
        auto* word = &threads[lane].unit.words.a[static_cast<std::size_t>(i)];
        std::memcpy(reinterpret_cast<char*>(word) + 2 * half, from, 2);
      }
  }
  running_ = caller;
}

}  // namespace tc::emulator
