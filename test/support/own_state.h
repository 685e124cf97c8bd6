#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tc {

/// A program that includes this keeps the key of its machine code in a folder of its own, which goes with it, and
/// leaves the user's alone. Processes that it starts share it.
class OwnState {
 public:
  OwnState() : process_(::getpid()) {
    path_ = (std::filesystem::temp_directory_path() / ("tc_test_state." + std::to_string(process_))).string();
    ::setenv("XDG_STATE_HOME", path_.c_str(), 1);
    ::unsetenv("TC_CACHE_KEY");
  }
  ~OwnState() {
    std::error_code ignored;
    if (::getpid() == process_) std::filesystem::remove_all(path_, ignored);
  }
  OwnState(const OwnState&) = delete;
  OwnState& operator=(const OwnState&) = delete;

 private:
  pid_t process_;
  std::string path_;
};

inline const OwnState own_state;

}  // namespace tc
