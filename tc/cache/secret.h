#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tc/cache/sha256.h"

namespace tc::cache {

/// The key with which a user's processes sign the machine code they keep, so that they load no code that anybody else
/// put into the folder, whoever seems to own its files: from an archive, a checkout, a network share, another
/// container.
using Secret = std::array<std::uint8_t, 32>;

/// The file of this user's key: TC_CACHE_KEY, else $XDG_STATE_HOME/tensor_comprehensions/cache_key, else
/// ~/.local/state/tensor_comprehensions/cache_key; "" where there is no home.
std::string secret_file();

struct LoadedSecret {
  std::optional<Secret> secret;
  std::string problem;  ///< why there is none; empty where there is no file of it
};
/// The key in secret_file(), a file that only this user may read, in a folder that only he may write; made where it is
/// missing if \p make. Read once in a process.
LoadedSecret user_secret(bool make);

/// The HMAC-SHA256 of \p bytes.
Digest hmac_sha256(const Secret& secret, std::string_view bytes);

/// Are they equal? Takes the same time wherever they differ.
bool equal_digests(const Digest& a, const Digest& b);

}  // namespace tc::cache
