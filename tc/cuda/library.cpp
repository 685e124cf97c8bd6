#include "tc/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"

namespace tc::cuda {
namespace {

namespace fs = std::filesystem;

/// The entries of \p folder whose names begin with \p prefix; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().rfind(prefix, 0) == 0) result.push_back(entry->path());
  std::sort(result.rbegin(), result.rend());
  return result;
}

/// Where pip's packages keep their libraries in a folder of packages.
void add_packages(const fs::path& packages, std::vector<std::string>& folders) {
  for (const auto& toolkit : entries(packages / "nvidia", "cu")) folders.push_back(toolkit / "lib");
}

void add_environment(const fs::path& root, std::vector<std::string>& folders) {
  for (const auto& python : entries(root / "lib", "python3")) add_packages(python / "site-packages", folders);
}

/// The folders above \p file: each may hold packages, or a .venv with them.
void add_surroundings(const fs::path& file, std::vector<std::string>& folders) {
  for (auto folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    add_packages(folder, folders);
    add_environment(folder / ".venv", folders);
    add_environment(folder, folders);
  }
}

/// What search_packages_in() was given, and its lock.
struct PackageFolders {
  ForkMutex mutex;
  std::vector<std::string> folders;
};
PackageFolders& package_folders() {
  static auto& instance = *new PackageFolders;
  return instance;
}

std::string reason() {
  const char* text = dlerror();
  return text ? text : "unknown";
}

}  // namespace

Library Library::open(std::span<const std::string> files) {
  Library library;
  for (const auto& file : files) {
    library.handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_) {
      library.file_ = file;
      return library;
    }
    library.tried_ += str("\n  ", file, ": ", reason());
  }
  return library;
}

void* Library::find(const char* function) const { return handle_ ? dlsym(handle_, function) : nullptr; }

void* Library::find_or_throw(const char* function) const {
  void* address = find(function);
  if (!address) throw DeviceError(str("the library ", file_, " has no function ", function, ": it is too old"));
  return address;
}

void search_packages_in(std::vector<std::string> folders) {
  std::lock_guard lock(package_folders().mutex);
  package_folders().folders = std::move(folders);
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable))
      for (const char* name : {"lib64", "lib"}) folders.push_back(fs::path(root) / name);
  {
    std::lock_guard lock(package_folders().mutex);
    for (const auto& packages : package_folders().folders) add_packages(packages, folders);
  }
  if (const char* root = std::getenv("VIRTUAL_ENV")) add_environment(root, folders);
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&toolkit_folders), &self) && self.dli_fname) {
    std::error_code error;
    add_surroundings(fs::absolute(self.dli_fname, error), folders);
  }
  std::error_code error;
  add_surroundings(fs::read_symlink("/proc/self/exe", error), folders);
  folders.push_back("/usr/local/cuda/lib64");
  std::vector<std::string> result;
  for (auto& folder : folders)
    if (fs::is_directory(folder, error) && std::find(result.begin(), result.end(), folder) == result.end())
      result.push_back(std::move(folder));
  return result;
}

}  // namespace tc::cuda
