#include "test/cuda_emulator/module.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::emulator {
namespace {

namespace fs = std::filesystem;

/// What the compiler calls the text.
constexpr const char* text_name = "kernel";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// What \p command prints; empty where it fails.
std::string output_of(const std::string& command) {
  std::string result;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return result;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.append(buffer, n);
  pclose(pipe);
  return result;
}

/// A folder of this process, gone with it.
class Scratch {
 public:
  Scratch() {
    auto pattern = (fs::temp_directory_path() / "tc_emulator_XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw ResourceError(str("no folder can be made in ", fs::temp_directory_path()));
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const fs::path& scratch() {
  static const Scratch scratch;
  return scratch.path();
}

const std::string& compiler_flags() {
  static const std::string flags =
      "-std=c++17 -O1 -g1 -w -fPIC -shared -fsanitize=thread -fno-strict-aliasing -fwrapv -ffp-contract=off "
      "-fno-math-errno -fno-trapping-math -fvisibility=hidden -ftrivial-auto-var-init=pattern -fno-exceptions "
      "-fno-rtti -nostdlib "
#if TC_EMULATOR_GNU
      "-fno-tree-sra -malign-data=abi --param tsan-instrument-func-entry-exit=0 "
#endif
      "-I" TC_SOURCE_DIR "/test/cuda_emulator/host -include " TC_SOURCE_DIR "/test/cuda_emulator/host/tc_prelude.h";
  return flags;
}

/// Compiles \p text to the library \p library.
void compile(const std::string& text, const fs::path& library) {
  auto stem = str("k", getpid(), "_", std::hash<std::string>()(text));
  auto source = scratch() / (stem + ".cpp"), log = scratch() / (stem + ".log"), made = scratch() / (stem + ".so");
  std::ofstream(source) << "#line 1 \"" << text_name << "\"\n" << to_host_text(text);
  auto command = str("LC_ALL=C " TC_EMULATOR_COMPILER, " ", compiler_flags(), " -o ", made.string(), " ",
                     source.string(), " > ", log.string(), " 2>&1");
  if (std::system(command.c_str()) != 0)
    throw InternalError(str("the kernel's text does not compile on the host:\n", read_file(log), text));
  fs::remove(source);
  if (made == library) return;
  auto beside = fs::path(str(library.string(), ".", getpid()));
  fs::copy_file(made, beside, fs::copy_options::overwrite_existing);
  fs::rename(beside, library);
  fs::remove(made);
}

/// Where the library of \p text is kept; it depends on all that goes into the compile.
fs::path library_path(const std::string& text) {
  static const std::string fixed = compiler_flags() + read_file(TC_SOURCE_DIR "/test/cuda_emulator/host/tc_prelude.h") +
                                   read_file(TC_SOURCE_DIR "/test/cuda_emulator/host/cuda_builtins.h") +
                                   read_file(TC_SOURCE_DIR "/test/cuda_emulator/host/device_calls.h") +
                                   output_of(TC_EMULATOR_COMPILER " --version");
  const char* folder = std::getenv("TC_EMULATOR_CACHE");
  std::ostringstream name;
  name << std::hex << std::hash<std::string>()(fixed + text) << std::hash<std::string>()(text + "|" + fixed) << ".so";
  if (!folder || !*folder) return scratch() / name.str();
  fs::create_directories(folder);
  return fs::path(folder) / name.str();
}

/// Is a hook for accesses of so many bytes among the names that \p library needs?
bool needs_hook(const std::string& library, const char* bytes) {
  for (const char* kind : {"__tsan_read", "__tsan_write", "__tsan_unaligned_read", "__tsan_unaligned_write"})
    if (library.find(std::string(kind) + bytes + std::string(1, '\0')) != std::string::npos) return true;
  return false;
}

}  // namespace

std::shared_ptr<const Module> Module::load(const std::string& text) {
  constexpr std::size_t kept = 64;
  static std::list<std::pair<std::string, std::shared_ptr<const Module>>> recent;
  for (auto it = recent.begin(); it != recent.end(); ++it)
    if (it->first == text) {
      recent.splice(recent.begin(), recent, it);
      return recent.front().second;
    }
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<Module> module(new Module);
  auto path = library_path(text);
  if (!fs::exists(path)) compile(text, path);
  module->path_ = path.string();
  module->kernels_ = find_kernels(text);
  module->open();
  module->compile_milliseconds_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  recent.emplace_front(text, module);
  if (recent.size() > kept) recent.pop_back();
  return module;
}

void Module::open() {
  handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw InternalError(str("the library of a kernel cannot be loaded: ", dlerror()));
  auto symbol = [&](const char* name) { return reinterpret_cast<char* (*)()>(dlsym(handle_, name))(); };
  shared_ = symbol("tc_emulator_shared_begin");
  shared_bytes_ = static_cast<std::size_t>(symbol("tc_emulator_shared_end") - shared_);
  link_map* map = nullptr;
  dlinfo(handle_, RTLD_DI_LINKMAP, &map);
  low_ = static_cast<std::uintptr_t>(map->l_addr);
  auto* header = reinterpret_cast<const ElfW(Ehdr)*>(low_);
  auto* segments = reinterpret_cast<const ElfW(Phdr)*>(low_ + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      high_ = std::max<std::uintptr_t>(high_, low_ + segments[i].p_vaddr + segments[i].p_memsz);
  auto bytes = read_file(path_);
  if (needs_hook(bytes, "2")) access_bytes_ = 2;
  if (needs_hook(bytes, "1") || bytes.find("__tsan_read_range") != std::string::npos ||
      bytes.find("__tsan_write_range") != std::string::npos)
    access_bytes_ = 1;
}

Module::~Module() {
  if (handle_) dlclose(handle_);
}

const KernelSignature& Module::signature(const std::string& name) const {
  for (const auto& kernel : kernels_)
    if (kernel.name == name) return kernel;
  throw ArgumentError(str("the text has no kernel '", name, "'"));
}

Module::Call Module::kernel(const std::string& name) const {
  signature(name);
  return reinterpret_cast<Call>(dlsym(handle_, ("tc_emulator_call_" + name).c_str()));
}

int Module::line(std::uint32_t site) const {
  if (site >> 31) return static_cast<int>(site & ~(1u << 31));
  std::ostringstream address;
  address << std::hex << site - 1;
  std::istringstream frames(output_of(str("addr2line -i -e ", path_, " 0x", address.str(), " 2>/dev/null")));
  int line = 0;
  for (std::string frame; std::getline(frames, frame);) {
    const auto colon = frame.rfind(':');
    const bool in_a_header = fs::path(frame.substr(0, colon)).extension() == ".h";
    if (colon != std::string::npos && !in_a_header) line = std::atoi(frame.c_str() + colon + 1);
  }
  return line;
}

std::string Module::shared_name(std::size_t offset) const {
  std::istringstream lines(output_of(str("nm -C -S --defined-only ", path_, " 2>/dev/null")));
  const auto address = reinterpret_cast<std::uintptr_t>(shared_) - low_ + offset;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, size = 0;
    std::string kind, name;
    if (!(words >> std::hex >> begin >> size >> kind) || address - begin >= size) continue;
    std::getline(words, name);
    auto separator = name.rfind("::");
    return str(name.substr(separator == std::string::npos ? 1 : separator + 2), " + ", address - begin);
  }
  return str("byte ", offset);
}

}  // namespace tc::emulator
