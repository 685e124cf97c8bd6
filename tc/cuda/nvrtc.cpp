#include "tc/cuda/nvrtc.h"

#include <array>
#include <cstdlib>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cuda/library.h"
#include "tc/cuda/prelude.h"

namespace tc::cuda {
namespace {

/// NVRTC's interface, as far as it is used here.
struct Nvrtc {
  using Program = void*;
  using FlowCallback = int(void* data, void* reserved);

  Library library;
  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* contents,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int count, const char* const* options) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*set_flow_callback)(Program, FlowCallback*, void* data) = nullptr;  ///< null in versions before 12.8

  Nvrtc();
};

constexpr int success = 0;
constexpr int invalid_option = 5;
constexpr int compilation_failed = 6;

std::vector<std::string> candidates() {
  if (const char* file = std::getenv("TC_NVRTC")) return {file};
  std::vector<std::string> files;
  constexpr std::array names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (const auto& folder : toolkit_folders())
    for (const char* name : names) files.push_back(folder + "/" + name);
  files.insert(files.end(), names.begin(), names.end());
  return files;
}

/// Loads the library of built-in functions that stands beside \p nvrtc, which looks for it on the loader's path only.
void open_builtins(const std::string& nvrtc, int major, int minor) {
  auto folder = nvrtc.rfind('/');
  if (folder == std::string::npos) return;
  const std::array files = {str(nvrtc.substr(0, folder), "/libnvrtc-builtins.so.", major, ".", minor)};
  Library::open(files);
}

Nvrtc::Nvrtc() : library(Library::open(candidates())) {
  if (!library) return;
  library.bind("nvrtcVersion", version);
  library.bind("nvrtcGetErrorString", error_text);
  library.bind("nvrtcCreateProgram", create);
  library.bind("nvrtcDestroyProgram", destroy);
  library.bind("nvrtcCompileProgram", compile);
  library.bind("nvrtcGetProgramLogSize", log_size);
  library.bind("nvrtcGetProgramLog", log);
  library.bind("nvrtcGetCUBINSize", cubin_size);
  library.bind("nvrtcGetCUBIN", cubin);
  set_flow_callback = reinterpret_cast<decltype(set_flow_callback)>(library.find("nvrtcSetFlowCallback"));
  int major = 0, minor = 0;
  version(&major, &minor);
  open_builtins(library.file(), major, minor);
}

/// Loaded at the first use.
const Nvrtc& nvrtc() {
  const NoFork loading;
  static const auto& instance = *new Nvrtc;
  return instance;
}

const Nvrtc& nvrtc_or_throw() {
  const Nvrtc& api = nvrtc();
  if (!api.library)
    throw DeviceError(
        str("the compiler of CUDA kernels, NVRTC, was not found: run `pip install \"nvidia-cuda-nvrtc==13.0.*\"`, "
            "install the CUDA toolkit and set CUDA_HOME, or set TC_NVRTC to the path of libnvrtc.so. Tried:",
            api.library.tried()));
  return api;
}

/// An NVRTC program, destroyed at the end of its scope.
class Program {
 public:
  Program(const Nvrtc& api, const std::string& text) : api_(api) {
    const std::string prelude(device_prelude()), name(prelude_file);
    const char* contents[] = {prelude.c_str()};
    const char* names[] = {name.c_str()};
    check(api_.create(&program_, text.c_str(), "tc_kernel.cu", 1, contents, names), "create a program");
  }
  ~Program() { api_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void watch(const Cancellation& cancellation) {
    if (!api_.set_flow_callback) return;
    auto* callback = +[](void* data, void*) -> int { return static_cast<const Cancellation*>(data)->requested(); };
    api_.set_flow_callback(program_, callback, const_cast<Cancellation*>(&cancellation));
  }
  int compile(const std::vector<const char*>& options) {
    return api_.compile(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() const { return text(api_.log_size, api_.log); }
  std::string cubin() const { return bytes(api_.cubin_size, api_.cubin); }

 private:
  using Size = int (*)(Nvrtc::Program, std::size_t*);
  using Get = int (*)(Nvrtc::Program, char*);

  void check(int code, const char* what) const {
    if (code != success) throw DeviceError(str("NVRTC could not ", what, ": ", api_.error_text(code)));
  }
  std::string bytes(Size size, Get get) const {
    std::size_t count = 0;
    check(size(program_, &count), "tell a result's size");
    std::string result(count, '\0');
    if (count > 0) check(get(program_, result.data()), "give its result");
    return result;
  }
  std::string text(Size size, Get get) const {
    auto result = bytes(size, get);
    while (!result.empty() && (result.back() == '\0' || result.back() == '\n')) result.pop_back();
    return result;
  }

  const NoFork compiling_;  ///< NVRTC's own locks are no child's to open
  const Nvrtc& api_;
  Nvrtc::Program program_ = nullptr;
};

}  // namespace

Cubin compile_cubin(const std::string& text, const std::string& architecture, const Cancellation& cancellation,
                    Contraction contraction) {
  const Nvrtc& api = nvrtc_or_throw();
  cancellation.check("NVRTC");
  Program program(api, text);
  program.watch(cancellation);
  const std::string target = "--gpu-architecture=" + architecture;
  int code = program.compile({target.c_str(), "--std=c++17", "-default-device", "--diag-suppress=39,177,186,550",
                              contraction == Contraction::Found ? "--fmad=true" : "--fmad=false"});
  cancellation.check("NVRTC");
  if (code == invalid_option)
    throw DeviceError(str("NVRTC ", *nvrtc_version(), " does not compile for '", architecture, "': ", program.log()));
  if (code == compilation_failed) throw InternalError(str("NVRTC refuses the kernel:\n", program.log(), "\n", text));
  if (code != success) throw DeviceError(str("NVRTC failed: ", api.error_text(code), "\n", program.log()));
  return {program.cubin(), program.log()};
}

std::optional<std::string> nvrtc_version() {
  const Nvrtc& api = nvrtc();
  if (!api.library) return std::nullopt;
  int major = 0, minor = 0;
  api.version(&major, &minor);
  return str(major, ".", minor);
}

}  // namespace tc::cuda
