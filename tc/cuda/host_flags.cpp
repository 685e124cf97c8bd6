#include "tc/cuda/host_flags.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::cuda {
namespace {

constexpr std::size_t most_sources = 8;              ///< of one launch
constexpr unsigned for_all_devices = 1, mapped = 2;  ///< flags of cuMemHostAlloc

/// The kernel tc_raise(flags, source0, ... source7): flags[i] = 1 where source i is a byte that is not 0. As text of the
/// virtual machine that every driver translates, so that nothing has to be compiled with it.
std::string raise_text() {
  std::string parameters = "  .param .u64 flags", body;
  for (std::size_t i = 0; i < most_sources; ++i) {
    parameters += str(",\n  .param .u64 source", i);
    body += str("  ld.param.u64 %source, [source", i, "];\n", "  setp.eq.u64 %skips, %source, 0;\n",
                "  @%skips bra next", i, ";\n", "  ld.u8 %value, [%source];\n", "  setp.eq.u16 %skips, %value, 0;\n",
                "  @%skips bra next", i, ";\n", "  st.u8 [%flags+", i, "], %one;\n", "next", i, ":\n");
  }
  return str(".version 6.0\n.target sm_50\n.address_size 64\n\n.visible .entry tc_raise(\n", parameters, "\n)\n{\n",
             "  .reg .pred %skips;\n  .reg .u64 %flags, %source;\n  .reg .u16 %value, %one;\n",
             "  ld.param.u64 %flags, [flags];\n  mov.u16 %one, 1;\n", body, "  ret;\n}\n");
}

/// Of the process: it may be in use while statics are destroyed.
LoadedKernels& raise_kernel() {
  static auto& kernel = *new LoadedKernels([] {
    DeviceCode code;
    code.architecture = "any architecture";
    code.cubin = raise_text();
    code.kernels.push_back({"tc_raise", {}, 0, {}});
    return code;
  }());
  return kernel;
}

}  // namespace

HostFlags::~HostFlags() {
  if (!flags_) return;
  try {
    InContext context(*devices_.begin());
    Relaxed relaxed;
    driver().release_host(flags_);
  } catch (const Error&) {
    return;
  }
}

void HostFlags::prepare(int device) {
  std::lock_guard lock(mutex_);
  if (devices_.count(device)) return;
  InContext context(device);
  Relaxed relaxed;
  raise_kernel().prepare(device);
  if (!flags_) {
    void* memory = nullptr;
    driver().check(driver().allocate_host(&memory, count_, for_all_devices | mapped), "allocate flags on the host");
    std::memset(memory, 0, count_);
    flags_ = static_cast<std::byte*>(memory);
  }
  devices_.insert(device);
}

void HostFlags::raise(const Place& place, std::size_t first, std::span<const std::byte* const> sources) {
  prepare(place.device);
  for (std::size_t begin = 0; begin < sources.size(); begin += most_sources) {
    std::array<void*, most_sources + 1> pointers{flags_ + first + begin};
    for (std::size_t i = begin; i < std::min(sources.size(), begin + most_sources); ++i)
      pointers[1 + i - begin] = const_cast<std::byte*>(sources[i]);
    raise_kernel().launch(place, 0, pointers.data(), pointers.size());
  }
}

std::optional<std::size_t> HostFlags::take() {
  std::lock_guard lock(mutex_);
  std::optional<std::size_t> first;
  for (std::size_t i = 0; flags_ && i < count_; ++i) {
    auto& flag = static_cast<volatile std::byte&>(flags_[i]);
    if (flag == std::byte{0}) continue;
    flag = std::byte{0};
    if (!first) first = i;
  }
  return first;
}

std::set<int> HostFlags::devices() const {
  std::lock_guard lock(mutex_);
  return devices_;
}

}  // namespace tc::cuda
