#include "tc/autotuner/worker/message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "tc/cache/little_endian.h"

namespace tc::autotuner {
namespace {

constexpr int length_bytes = 8;
constexpr std::uint64_t most_bytes = std::uint64_t(1) << 32;

std::string length_text(std::uint64_t length) {
  std::string result;
  cache::put_bytes(result, length, length_bytes);
  return result;
}

/// \p size bytes of \p file; false at its end or if that fails.
bool read_all(int file, char* bytes, std::size_t size) {
  while (size > 0) {
    auto got = ::read(file, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::string encode(const Message& message) {
  std::string result;
  for (const auto& text : message) result += length_text(text.size()) + text;
  return result;
}

std::optional<Message> decode(std::string_view bytes) {
  Message result;
  while (!bytes.empty()) {
    if (bytes.size() < length_bytes) return std::nullopt;
    auto length = cache::get_bytes(bytes, 0, length_bytes);
    bytes.remove_prefix(length_bytes);
    if (length > bytes.size()) return std::nullopt;
    result.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return result;
}

std::string exact_text(double number) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

double exact_number(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t whole_number(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    auto sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(file, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool send(int file, const Message& message) {
  auto bytes = encode(message);
  return write_all(file, length_text(bytes.size())) && write_all(file, bytes);
}

std::optional<Message> receive(int file) {
  char head[length_bytes];
  if (!read_all(file, head, sizeof head)) return std::nullopt;
  auto length = cache::get_bytes({head, sizeof head}, 0, length_bytes);
  if (length > most_bytes) return std::nullopt;
  std::string bytes(length, '\0');
  if (!read_all(file, bytes.data(), length)) return std::nullopt;
  return decode(bytes);
}

}  // namespace tc::autotuner
