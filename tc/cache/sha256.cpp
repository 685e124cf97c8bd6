#include "tc/cache/sha256.h"

#include <openssl/evp.h>

#include "tc/base/error.h"

namespace tc::cache {

Digest sha256(std::string_view bytes) {
  Digest digest;
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 || size != digest.size())
    throw InternalError("libcrypto has no SHA-256");
  return digest;
}

std::string hex(const Digest& digest, std::size_t bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

}  // namespace tc::cache
