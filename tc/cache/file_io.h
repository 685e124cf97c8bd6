#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tc/cache/frame.h"

/// Files of the cache. Nothing here throws: what fails is a fault and a text for a warning.
namespace tc::cache {

/// The bytes of a file, or why there are none.
struct FileBytes {
  Fault fault = Fault::None;
  std::string bytes;
  std::string problem;           ///< empty where the file is absent
  std::int64_t modified_at = 0;  ///< seconds since 1970
};

struct ReadRules {
  std::uint64_t limit = 0;  ///< bytes
  bool owner_only = false;  ///< refuse files that others own or may write
};

/// The whole regular file \p path; symbolic links are not followed. A file that vanishes is absent.
FileBytes read_file(const std::string& path, const ReadRules& rules);

struct WriteRules {
  bool owner_only = false;  ///< mode 0600 instead of what the umask leaves of 0666
  bool durable = true;      ///< after a power failure too: the folder's list of names is flushed as well
};

/// Puts \p bytes at folder/name, whole or not at all: a temporary file, flushed, then renamed. Returns "" once readers
/// of all processes see it, else what failed.
std::string write_file(const std::string& folder, const std::string& name, std::string_view bytes,
                       const WriteRules& rules);

/// Makes \p folder and those above it where they are missing, with what the umask leaves of \p mode. Returns "" or
/// what failed.
std::string make_folder(const std::string& folder, unsigned mode);

/// Why code in \p folder is not to be trusted, "" if it is: a directory, no link, of this user, that no other may
/// write.
std::string untrusted(const std::string& folder);

struct Listed {
  std::string name;
  std::uint64_t size = 0;
  std::int64_t modified_at = 0;  ///< seconds since 1970
};

/// The regular files in \p folder, none if it cannot be read. Sizes and times only if \p stat.
std::vector<Listed> list_files(const std::string& folder, bool stat);

/// Is \p name that of a file which write_file has not finished?
bool is_temporary(std::string_view name);

/// Sets the time of the last use of the file \p path to now.
void touch(const std::string& path);

std::int64_t seconds_since_1970();

}  // namespace tc::cache
