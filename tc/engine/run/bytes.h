#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tc/base/error.h"

/// Values as bytes: numbers are 64-bit little endian, texts and lists carry their length first.
namespace tc::engine {

/// Appends values.
class ByteWriter {
 public:
  void put(std::int64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(static_cast<std::int64_t>(text.size()));
    out_ += text;
  }
  void put(const std::vector<std::int64_t>& values) {
    put(static_cast<std::int64_t>(values.size()));
    for (auto value : values) put(value);
  }
  template <typename T, typename F>
  void put_list(const std::vector<T>& items, F&& write) {
    put(static_cast<std::int64_t>(items.size()));
    for (const auto& item : items) write(item);
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

/// Takes them back, in the same order. Throws ArgumentError where there are not enough bytes.
class ByteReader {
 public:
  ByteReader(const char* begin, const char* end) : at_(begin), end_(end) {}

  std::int64_t number() {
    std::int64_t value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    auto size = length(1);
    return std::string(take(size), size);
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values(length(sizeof(std::int64_t)));
    for (auto& value : values) value = number();
    return values;
  }
  template <typename T, typename F>
  std::vector<T> list(F&& read) {
    std::vector<T> items(length(sizeof(std::int64_t)));
    for (auto& item : items) item = read();
    return items;
  }
  bool at_end() const { return at_ == end_; }

 private:
  /// A length whose elements, of at least \p element bytes, fit in what is left.
  std::size_t length(std::size_t element) {
    auto count = number();
    if (count < 0 || static_cast<std::size_t>(count) > static_cast<std::size_t>(end_ - at_) / element)
      throw ArgumentError("the bytes of an executable are damaged");
    return static_cast<std::size_t>(count);
  }
  const char* take(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) throw ArgumentError("the bytes of an executable are damaged");
    const char* begin = at_;
    at_ += size;
    return begin;
  }
  const char* at_;
  const char* end_;
};

}  // namespace tc::engine
