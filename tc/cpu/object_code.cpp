#include <cstring>

#include "tc/base/error.h"
#include "tc/cpu/kernel.h"

namespace tc::cpu {
namespace {

const std::string magic = "TCOBJ01\n";

/// FNV-1a, 64 bits.
std::uint64_t checksum(const char* data, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3ull;
  return hash;
}

void put(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

/// Takes numbers and texts from the front of bytes.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    need(8);
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
    at_ += 8;
    return value;
  }
  std::string text() {
    std::uint64_t size = number();
    need(size);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  std::size_t at_ = magic.size();

  void need(std::uint64_t count) const {
    if (count > bytes_.size() - at_) throw ArgumentError("stored machine code is cut short");
  }
};

}  // namespace

std::string ObjectCode::serialise() const {
  std::string out = magic;
  put(out, function);
  put(out, target);
  put(out, static_cast<std::uint64_t>(buffers.size()));
  for (const auto& buffer : buffers) put(out, buffer);
  put(out, bytes);
  put(out, checksum(out.data(), out.size()));
  return out;
}

ObjectCode ObjectCode::deserialise(const std::string& bytes) {
  if (bytes.compare(0, magic.size(), magic) != 0 || bytes.size() < magic.size() + 8)
    throw ArgumentError("these bytes are not stored machine code");
  std::string tail;
  put(tail, checksum(bytes.data(), bytes.size() - 8));
  if (bytes.compare(bytes.size() - 8, 8, tail) != 0)
    throw ArgumentError("stored machine code is damaged: its checksum differs");
  Reader reader(bytes);
  ObjectCode code;
  code.function = reader.text();
  code.target = reader.text();
  for (std::uint64_t n = reader.number(); n > 0; --n) code.buffers.push_back(reader.text());
  code.bytes = reader.text();
  reader.number();
  if (!reader.at_end()) throw ArgumentError("stored machine code has bytes too many");
  return code;
}

}  // namespace tc::cpu
