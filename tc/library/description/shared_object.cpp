#include "tc/library/description/shared_object.h"

#include <dlfcn.h>

#include "tc/base/str.h"

namespace tc::library {

SharedObject::SharedObject(const std::vector<std::string>& files) {
  std::vector<std::string> reasons;
  for (const auto& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return;
    const char* text = dlerror();
    reasons.push_back(text ? text : file);
  }
  reason_ = join(reasons, "; ");
}

void* SharedObject::find(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace tc::library
