#pragma once

#include <span>
#include <string>
#include <vector>

namespace tc::cuda {

/// A shared library that is loaded when first needed and stays as long as the process.
class Library {
 public:
  /// The first of \p files that the loader can open: a path, or a name on the loader's path. tried() of a library that
  /// was not found lists them with the loader's reasons.
  static Library open(std::span<const std::string> files);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& file() const { return file_; }
  const std::string& tried() const { return tried_; }

  /// Null where the library has no such function.
  void* find(const char* function) const;
  /// Fills \p pointer; throws DeviceError where the library has no such function.
  template <typename Function>
  void bind(const char* function, Function*& pointer) const {
    pointer = reinterpret_cast<Function*>(find_or_throw(function));
  }

 private:
  void* find_or_throw(const char* function) const;

  void* handle_ = nullptr;
  std::string file_, tried_;
};

/// Folders of Python packages for toolkit_folders() to look in too. Thread-safe.
void search_packages_in(std::vector<std::string> folders);

/// The folders in which an installed CUDA toolkit keeps its libraries, the most wanted first: those that CUDA_HOME and
/// CUDA_PATH name, those of pip's nvidia packages in the folders of search_packages_in(), in VIRTUAL_ENV and in the
/// environments this library and this program belong to, /usr/local/cuda.
std::vector<std::string> toolkit_folders();

}  // namespace tc::cuda
