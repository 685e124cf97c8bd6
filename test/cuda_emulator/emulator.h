#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/tensor.h"

/// Runs the text of CUDA kernels on this machine, thread by thread, and says what is wrong with them.
namespace tc::emulator {

/// CUDA C++ without the device prelude, and which of its kernels runs.
struct KernelText {
  std::string text, name;
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct LaunchShape {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;  ///< all blocks are there at once, so that they can wait for each other
};

/// A tensor the kernel takes the pointer of. Accesses outside its span are faults.
struct Buffer {
  std::string name;
  TensorView view;
  bool writable = true;
};

/// A number the kernel takes.
struct Scalar {
  std::array<unsigned char, 8> bytes{};

  template <typename T>
  static Scalar of(T value) {
    static_assert(sizeof value <= 8);
    Scalar scalar;
    std::memcpy(scalar.bytes.data(), &value, sizeof value);
    return scalar;
  }
};

using Argument = std::variant<Buffer, Scalar>;

struct Fault {
  enum class Kind : std::uint8_t {
    OutOfBounds,          ///< an access outside the tensors and the shared memory
    Misaligned,           ///< an access of n bytes at an address that n does not divide
    ReadOnly,             ///< a write to an input
    Race,                 ///< conflicting accesses of two threads with nothing that orders them
    Deadlock,             ///< threads wait and none can run
    DivergentBarrier,     ///< threads of a block at different barriers
    DivergentCollective,  ///< lanes wait for lanes that do something else
    Shuffle,              ///< a lane outside its own mask, or the value of a lane that does not take part
    Launch,   ///< more threads or shared memory than the kernel declares or may have, or a grid that waits and may not
    Runaway,  ///< more accesses than any test makes
    Unit,     ///< products of a group that are not begun, waited for or left alone as they must be
  };
  Kind kind;
  std::string text;  ///< names tensor and element, threads, lines of the kernel's text
};
std::string_view name(Fault::Kind kind);

/// What one place of the text did to memory, over all warps that were looked at.
struct SiteCount {
  int line = 0;
  bool shared = false, write = false;
  int bytes = 0;  ///< of one lane's access
  std::int64_t warp_accesses = 0;
  std::int64_t transactions = 0;  ///< wavefronts of shared memory, 32-byte sectors of global memory
  std::int64_t ideal =
      0;  ///< the fewest that move the bytes asked for; of 16 bytes a lane, 8 lanes are served at a time
};

struct RunOptions {
  std::uint64_t seed = 1;
  bool count_accesses = false;  ///< fill Result::sites, from the first blocks that run
  int counted_blocks = 4;
  std::size_t max_blocks = 0;  ///< so many blocks run, of a grid too large for all; 0: all
  std::size_t max_faults = 3;
  std::int64_t max_accesses = 4'000'000'000;
};

struct Result {
  std::vector<Fault> faults;
  std::vector<SiteCount> sites;
  std::int64_t accesses = 0, switches = 0;
  double compile_milliseconds = 0, run_milliseconds = 0;

  bool ok() const { return faults.empty(); }
  /// The faults, a line each.
  std::string text() const;
};

/// Runs the kernel on \p arguments, which stand in the order of its parameters: the blocks one after another in a
/// random order, the threads of each interleaved at random, both from the seed. Blocks of a cooperative launch do so
/// from one barrier of the grid to the next. Shared memory begins as NaNs in each block. A fault other than a race ends
/// the run. Throws InternalError for a text that does not compile and ArgumentError for a name the text does not have.
Result run(const KernelText& kernel, const LaunchShape& shape, const std::vector<Argument>& arguments,
           const RunOptions& options = {});

/// All bytes of the elements of \p view become 0xff: NaN, or -1.
void poison(const TensorView& view);

}  // namespace tc::emulator
