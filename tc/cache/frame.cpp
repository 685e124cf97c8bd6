#include "tc/cache/frame.h"

#include <algorithm>

#include "tc/cache/little_endian.h"
#include "tc/cache/sha256.h"

namespace tc::cache {
namespace {

constexpr std::string_view magic = "TCCACHE\n";
static_assert(magic.size() == magic_size);
constexpr std::uint32_t format_version = 1;
constexpr std::size_t head_size = 24;  ///< up to the checksum
constexpr std::size_t frame_size = head_size + sizeof(Digest);

Digest checksum(std::string_view head, std::string_view payload) {
  std::string all(head);
  all += payload;
  return sha256(all);
}

}  // namespace

std::string seal(Kind kind, std::string_view payload) {
  std::string head(magic);
  put_bytes(head, format_version, 4);
  put_bytes(head, static_cast<std::uint32_t>(kind), 4);
  put_bytes(head, payload.size(), 8);
  auto sum = checksum(head, payload);
  std::string out;
  out.reserve(frame_size + payload.size());
  out += head;
  out.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  out += payload;
  return out;
}

Unsealed unseal(Kind kind, std::string_view bytes) {
  if (bytes.size() < frame_size || bytes.substr(0, magic.size()) != magic) return {Fault::Damaged, {}};
  if (get_bytes(bytes, 8, 4) != format_version) return {Fault::Foreign, {}};
  if (get_bytes(bytes, 16, 8) != bytes.size() - frame_size) return {Fault::Damaged, {}};
  auto payload = bytes.substr(frame_size);
  auto sum = checksum(bytes.substr(0, head_size), payload);
  if (!std::equal(sum.begin(), sum.end(), bytes.begin() + head_size,
                  [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }))
    return {Fault::Damaged, {}};
  if (get_bytes(bytes, 12, 4) != static_cast<std::uint32_t>(kind)) return {Fault::Foreign, {}};
  return {Fault::None, payload};
}

bool is_of_a_cache(std::string_view head) { return magic.starts_with(head.substr(0, magic_size)); }

}  // namespace tc::cache
