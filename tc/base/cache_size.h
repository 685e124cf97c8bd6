#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tc {

/// Bytes of the data cache of \p level, 1 to 3, of one core, or of the cores that share it, as the kernel of the system
/// tells in \p folder; nothing where it tells of none.
///
/// glibc's sysconf() counts all third-level caches of a socket as one where each serves some of its cores.
std::optional<std::int64_t> cache_size(int level,
                                       const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace tc
