#pragma once

#include <string>
#include <vector>

namespace tc::library {

/// A shared library of the machine, opened at run time and kept as long as the process.
class SharedObject {
 public:
  /// The first of \p files that the loader opens: paths, or names that it looks for.
  explicit SharedObject(const std::vector<std::string>& files);

  explicit operator bool() const { return handle_ != nullptr; }
  /// Why there is none.
  const std::string& reason() const { return reason_; }
  /// Fills \p pointer with its function of that name, or one of a library it was linked with; false where there is none.
  template <typename Function>
  bool bind(const char* name, Function*& pointer) const {
    pointer = reinterpret_cast<Function*>(find(name));
    return pointer != nullptr;
  }

 private:
  void* find(const char* name) const;

  void* handle_ = nullptr;
  std::string reason_;
};

}  // namespace tc::library
