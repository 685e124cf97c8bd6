#include "tc/cuda/device.h"

#include <cstring>
#include <mutex>
#include <span>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/retired_modules.h"

namespace tc::cuda {
namespace {

thread_local Place place;

/// Dynamic shared memory above this must be asked for: static shared memory counts against the same 48 KiB.
constexpr std::int64_t shared_bytes_by_default = 47 << 10;
constexpr int dynamic_shared_bytes_attribute = 8;
constexpr int invalid_value = 1;
constexpr int multiprocessors_attribute = 16, cooperative_attribute = 95;

/// The primary contexts of the devices, retained as long as the process, also while its statics are destroyed.
Driver::Context primary_context(int ordinal) {
  static auto& mutex = *new ForkMutex;
  static auto& contexts = *new std::map<int, Driver::Context>;
  std::lock_guard lock(mutex);
  auto& context = contexts[ordinal];
  if (!context) {
    const Driver& api = driver();
    Driver::Device device = 0;
    api.check(api.device_get(&device, ordinal), str("find device ", ordinal));
    api.check(api.retain_primary_context(&context, device), str("make a context on device ", ordinal));
  }
  return context;
}

using Grid = std::array<std::int64_t, 3>;

std::string shape_text(const DeviceCode::Kernel& kernel, const Grid& grid) {
  return str("launch kernel '", kernel.name, "' with a grid of ", join(grid, "x"), " blocks of ",
             join(kernel.shape.block, "x"), " threads and ", kernel.shared_bytes, " bytes of shared memory");
}

unsigned extent(std::int64_t value) { return static_cast<unsigned>(value); }

/// What a launch passes to a kernel.
struct LaunchArguments {
  void* const* pointers;
  std::size_t count;
  std::span<const std::int64_t> numbers;  ///< of the run
};

/// The arguments of a launch of \p kernel with these \p pointers, the last of which may tell numbers.
LaunchArguments arguments_of(const DeviceCode::Kernel& kernel, void* const* pointers, std::size_t count) {
  if (!kernel.is_told()) return {pointers, count, {}};
  const auto* numbers = static_cast<const std::int64_t*>(pointers[count - 1]);
  return {pointers, count - 1, {numbers, kernel.number_count}};
}

/// \p arguments of \p kernel as its parameters lie in memory: each at a multiple of its size.
std::vector<std::byte> packed(const DeviceCode::Kernel& kernel, const LaunchArguments& arguments) {
  std::vector<std::byte> result(arguments.count * sizeof(void*));
  std::memcpy(result.data(), arguments.pointers, result.size());
  for (const auto& number : kernel.numbers) {
    const auto bytes = static_cast<std::size_t>(number.bytes), at = round_up(result.size(), bytes);
    result.resize(at + bytes);
    std::memcpy(result.data() + at, &arguments.numbers[number.index], bytes);
  }
  return result;
}

/// As LoadedKernels::launch, for a kernel whose blocks wait for each other.
void launch_cooperative(const Place& at, Driver::Function function, const DeviceCode::Kernel& kernel,
                        const LaunchArguments& arguments) {
  std::vector<void*> parameters;
  for (std::size_t i = 0; i < arguments.count; ++i) parameters.push_back(const_cast<void**>(arguments.pointers + i));
  for (const auto& number : kernel.numbers)
    parameters.push_back(const_cast<std::int64_t*>(&arguments.numbers[number.index]));
  const auto grid = kernel.shape.grid_for(arguments.numbers);
  const auto& block = kernel.shape.block;
  int code = driver().launch_cooperative(function, extent(grid[0]), extent(grid[1]), extent(grid[2]), extent(block[0]),
                                         extent(block[1]), extent(block[2]), extent(kernel.shared_bytes), at.stream,
                                         parameters.data());
  if (code != 0) driver().check(code, shape_text(kernel, grid));
}

/// \p kernel of \p module with the shared memory it needs.
Driver::Function find_function(Driver::Module module, const DeviceCode::Kernel& kernel, int device) {
  const Driver& api = driver();
  Driver::Function function = nullptr;
  api.check(api.get_function(&function, module, kernel.name.c_str()), str("find kernel '", kernel.name, "'"));
  if (kernel.shared_bytes <= shared_bytes_by_default) return function;
  int code =
      api.set_function_attribute(function, dynamic_shared_bytes_attribute, static_cast<int>(kernel.shared_bytes));
  if (code == invalid_value)
    throw ResourceError(str("device ", device, " cannot give a block ", kernel.shared_bytes,
                            " bytes of shared memory, which kernel '", kernel.name,
                            "' needs: choose smaller tiles, or compile for this device"));
  api.check(code, str("ask for shared memory of kernel '", kernel.name, "'"));
  return function;
}

/// Throws ResourceError unless all blocks of the cooperative \p kernel can be on \p device at once.
void check_residency(Driver::Function function, const DeviceCode::Kernel& kernel, int device) {
  const Driver& api = driver();
  Driver::Device handle = 0;
  int multiprocessors = 0, able = 0, blocks = 0;
  api.check(api.device_get(&handle, device), str("find device ", device));
  api.check(api.device_attribute(&multiprocessors, multiprocessors_attribute, handle), "tell its multiprocessors");
  api.check(api.device_attribute(&able, cooperative_attribute, handle), "tell whether blocks can wait for each other");
  if (able == 0)
    throw DeviceError(str("kernel '", kernel.name, "' has blocks that wait for each other, which device ", device,
                          " does not support: compile without cooperative=1"));
  api.check(api.resident_blocks(&blocks, function, static_cast<int>(kernel.shape.threads()),
                                static_cast<std::size_t>(kernel.shared_bytes)),
            str("tell how many blocks of kernel '", kernel.name, "' fit"));
  if (auto room = std::int64_t{blocks} * multiprocessors; room < kernel.shape.blocks())
    throw ResourceError(str("kernel '", kernel.name, "' has ", kernel.shape.blocks(),
                            " blocks that wait for each other, device ", device, " has room for ", room,
                            " at once: compile for this device, or without cooperative=1"));
}

/// Frees \p block where the driver still can: at the end of a process it may be gone.
void release_quietly(int device, Driver::Pointer block) {
  try {
    InContext context(device);
    Relaxed relaxed;
    driver().release(block);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

Place current_place() { return place; }

Relaxed::Relaxed() { driver().exchange_capture_mode(&mode_); }
Relaxed::~Relaxed() { driver().exchange_capture_mode(&mode_); }

AtPlace::AtPlace(Place now) : before_(place) { place = now; }
AtPlace::~AtPlace() { place = before_; }

InContext::InContext(int device) {
  const Driver& api = driver();
  auto context = primary_context(device);
  Driver::Context current = nullptr;
  api.check(api.get_current_context(&current), "tell the current context");
  if (current == context) return;
  api.check(api.push_context(context), str("use device ", device));
  pushed_ = true;
}

InContext::~InContext() {
  Driver::Context context = nullptr;
  if (pushed_) driver().pop_context(&context);
}

LoadedKernels::~LoadedKernels() {
  for (const auto& [device, loaded] : loaded_) retire(device, loaded.module);
}

LoadedKernels::Loaded LoadedKernels::load(int device) const {
  const Driver& api = driver();
  auto architecture = device_architecture(device);
  Loaded result;
  api.check(api.load_module(&result.module, code_.cubin.data()),
            str("load kernels of ", code_.architecture, " into device ", device, ", which is ", architecture));
  try {
    for (const auto& kernel : code_.kernels) {
      result.functions.push_back(find_function(result.module, kernel, device));
      if (kernel.shape.cooperative) check_residency(result.functions.back(), kernel, device);
    }
  } catch (...) {
    api.unload_module(result.module);
    throw;
  }
  unload_retired(device);
  return result;
}

const LoadedKernels::Loaded& LoadedKernels::loaded(int device) {
  std::lock_guard lock(mutex_);
  auto found = loaded_.find(device);
  if (found == loaded_.end()) found = loaded_.emplace(device, load(device)).first;
  return found->second;
}

void LoadedKernels::prepare(int device) {
  InContext context(device);
  loaded(device);
}

void LoadedKernels::launch(const Place& at, std::size_t index, void* const* pointers, std::size_t count) {
  const Driver& api = driver();
  InContext context(at.device);
  auto function = loaded(at.device).functions[index];
  const auto& kernel = code_.kernels[index];
  const auto arguments = arguments_of(kernel, pointers, count);
  if (kernel.shape.cooperative) return launch_cooperative(at, function, kernel, arguments);
  std::vector<std::byte> with_numbers;
  if (!kernel.numbers.empty()) with_numbers = packed(kernel, arguments);
  std::size_t bytes = with_numbers.empty() ? arguments.count * sizeof(void*) : with_numbers.size();
  void* const arguments_follow = reinterpret_cast<void*>(1);
  void* const size_follows = reinterpret_cast<void*>(2);
  void* const first = with_numbers.empty() ? static_cast<void*>(const_cast<void**>(pointers)) : with_numbers.data();
  void* extra[] = {arguments_follow, first, size_follows, &bytes, nullptr};
  const auto grid = kernel.shape.grid_for(arguments.numbers);
  const auto& block = kernel.shape.block;
  int code = api.launch(function, extent(grid[0]), extent(grid[1]), extent(grid[2]), extent(block[0]), extent(block[1]),
                        extent(block[2]), extent(kernel.shared_bytes), at.stream, nullptr, extra);
  if (code != 0) api.check(code, shape_text(kernel, grid));
}

StreamMemory::~StreamMemory() {
  for (const auto& [at, block] : blocks_) release_quietly(at.device, block);
  for (const auto& [device, block] : spare_) release_quietly(device, block);
}

Driver::Pointer StreamMemory::allocate(const Place& where) const {
  const Driver& api = driver();
  InContext context(where.device);
  Driver::Pointer block = 0;
  api.check(api.allocate(&block, bytes_), str("allocate ", bytes_, " bytes for temporaries"));
  if (int code = api.fill(block, 0, bytes_, where.stream); code != 0) {
    api.release(block);
    api.check(code, "clear temporaries");
  }
  return block;
}

Driver::Pointer StreamMemory::find_or_allocate(const Place& where) {
  auto found = blocks_.find(where);
  if (found != blocks_.end()) return found->second;
  auto spare = spare_.find(where.device);
  bool takes_spare = spare != spare_.end() && is_capturing(where);
  auto block = takes_spare ? spare->second : allocate(where);
  if (takes_spare) spare_.erase(spare);
  return blocks_[where] = block;
}

std::byte* StreamMemory::at(const Place& where) {
  if (bytes_ == 0) return nullptr;
  std::lock_guard lock(mutex_);
  return reinterpret_cast<std::byte*>(find_or_allocate(where));
}

void StreamMemory::prepare(const Place& where) {
  if (bytes_ == 0) return;
  std::lock_guard lock(mutex_);
  find_or_allocate(where);
  if (!spare_.count(where.device)) spare_.emplace(where.device, allocate(where));
  synchronise(where);
}

std::vector<std::byte> read_bytes(const Place& where, const std::byte* address, std::size_t count) {
  const Driver& api = driver();
  InContext context(where.device);
  std::vector<std::byte> result(count);
  api.check(api.copy_to_host(result.data(), reinterpret_cast<Driver::Pointer>(address), count, where.stream),
            "read the result of a check");
  api.check(api.synchronize(where.stream), "wait for a check");
  return result;
}

bool is_capturing(const Place& where) {
  const Driver& api = driver();
  InContext context(where.device);
  int status = 0;
  api.check(api.is_capturing(where.stream, &status), "tell what a stream does");
  return status != 0;
}

void synchronise_device(int device) {
  InContext context(device);
  driver().check(driver().synchronize_context(), "wait for a device");
}

void synchronise(const Place& where) {
  const Driver& api = driver();
  InContext context(where.device);
  api.check(api.synchronize(where.stream), "wait for a stream");
}

Timer::Event::Event() {
  const Driver& api = driver();
  api.check(api.create_event(&handle, 0), "create an event");
}
Timer::Event::~Event() { driver().destroy_event(handle); }

Timer::Timer(const Place& where) : place_(where), context_(where.device) {
  const Driver& api = driver();
  api.check(api.record_event(begin_.handle, place_.stream), "record an event");
}

std::int64_t Timer::stop() {
  const Driver& api = driver();
  float milliseconds = 0;
  api.check(api.record_event(end_.handle, place_.stream), "record an event");
  api.check(api.wait_for_event(end_.handle), "wait for an event");
  api.check(api.elapsed(&milliseconds, begin_.handle, end_.handle), "read an event");
  return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace tc::cuda
