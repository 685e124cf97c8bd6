#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "tc/base/fork.h"
#include "tc/cuda/device_code.h"
#include "tc/cuda/driver.h"

namespace tc::cuda {

/// Where kernels run: a device and one of its streams, null for the default one.
struct Place {
  int device = 0;
  Driver::Stream stream = nullptr;

  auto operator<=>(const Place&) const = default;
};

/// Where kernels of this thread run; device 0 and its default stream until it is set.
Place current_place();
/// Makes \p place the current one while it lives.
class AtPlace {
 public:
  explicit AtPlace(Place place);
  ~AtPlace();
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;

 private:
  Place before_;
};

/// Makes the primary context of a device, which frameworks use too, current while it lives; does nothing where it is
/// current already. Throws DeviceError.
class InContext {
 public:
  explicit InContext(int device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool pushed_ = false;
};

/// While it lives, calls of this thread that are unsafe while a stream records a graph do not spoil that.
class Relaxed {
 public:
  Relaxed();
  ~Relaxed();
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  static constexpr int relaxed_mode = 2;
  int mode_ = relaxed_mode;  ///< then the one before
};

/// Kernels loaded into the devices they run on, each when it is first asked for. Its end, also while a stream records a
/// graph, asks nothing of the driver: modules are unloaded later (retired_modules.h). Graphs of its kernels must not be
/// replayed after it. Thread-safe.
class LoadedKernels {
 public:
  explicit LoadedKernels(DeviceCode code) : code_(std::move(code)) {}
  ~LoadedKernels();
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;

  const DeviceCode& code() const { return code_; }
  /// Loads the code into \p device, so that launch() there neither allocates nor loads: needed before a stream is
  /// captured.
  void prepare(int device);
  /// Puts kernel \p index into the stream of \p place; \p pointers are what it takes. Does not wait. Throws
  /// ResourceError for a cooperative kernel whose blocks the device does not have room for at once.
  void launch(const Place& place, std::size_t index, void* const* pointers, std::size_t count);

 private:
  struct Loaded {
    Driver::Module module = nullptr;
    std::vector<Driver::Function> functions;
  };
  const Loaded& loaded(int device);
  Loaded load(int device) const;

  DeviceCode code_;
  ForkMutex mutex_;
  std::map<int, Loaded> loaded_;
};

/// A block of memory of one size on each stream it is asked for, zeros at first. What is put into a stream runs in
/// order, so that one block serves all runs there. May end while a stream records a graph. Thread-safe.
class StreamMemory {
 public:
  explicit StreamMemory(std::size_t bytes) : bytes_(bytes) {}
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// Null when blocks have no size. Throws ResourceError when memory runs out.
  std::byte* at(const Place& place);
  /// Makes the block of \p place, and one to spare for a stream of its device that first asks while it records a graph,
  /// when nothing can be allocated. Waits for the stream.
  void prepare(const Place& place);

 private:
  Driver::Pointer allocate(const Place& place) const;
  Driver::Pointer find_or_allocate(const Place& place);

  std::size_t bytes_;
  ForkMutex mutex_;
  std::map<Place, Driver::Pointer> blocks_;
  std::map<int, Driver::Pointer> spare_;  ///< by device
};

/// Waits for the stream of \p place, then gives the \p count bytes at \p address. A kernel's fault shows here.
std::vector<std::byte> read_bytes(const Place& place, const std::byte* address, std::size_t count);
/// Does the stream of \p place record a graph rather than run?
bool is_capturing(const Place& place);
/// Waits for all streams of \p device; throws DeviceError where a kernel faulted.
void synchronise_device(int device);
/// Waits for the stream of \p place; throws DeviceError where a kernel faulted.
void synchronise(const Place& place);

/// Measures the time the device takes for what is put into a stream between start() and stop().
class Timer {
 public:
  explicit Timer(const Place& place);

  /// Nanoseconds since the timer was made; waits for the stream.
  std::int64_t stop();

 private:
  struct Event {
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    Driver::Event handle = nullptr;
  };

  Place place_;
  InContext context_;
  Event begin_, end_;
};

}  // namespace tc::cuda
