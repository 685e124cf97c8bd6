#include <cstring>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/run/executable.h"

/// The bytes of an Image: a magic word with the version, a checksum and the fields in order; numbers are 64-bit little
/// endian, texts and lists carry their length first.
namespace tc::engine {
namespace {

constexpr char magic[] = "TCIMAGE3";
constexpr std::size_t magic_size = 8;

/// FNV-1a of \p bytes.
std::uint64_t checksum(const char* bytes, std::size_t size) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 1099511628211ull;
  return hash;
}

class Writer {
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

class Reader {
 public:
  Reader(const char* begin, const char* end) : at_(begin), end_(end) {}

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

Argument read_argument(Reader& in) {
  Argument argument;
  argument.name = in.text();
  auto type = parse_dtype(in.text());
  if (!type) throw ArgumentError("the bytes of an executable name an unknown type");
  argument.spec = {*type, in.numbers(), in.numbers()};
  argument.output = in.number() != 0;
  argument.read = in.number() != 0;
  argument.mins = in.numbers();
  argument.aligned = in.number() != 0;
  return argument;
}

LaunchCode read_launch(Reader& in) {
  LaunchCode launch;
  auto code = in.text();
  if (!code.empty()) launch.code = cpu::ObjectCode::deserialise(code);
  launch.kernel = static_cast<int>(in.number());
  launch.slots = in.list<Slot>([&] {
    auto argument = static_cast<int>(in.number());
    return Slot{argument, static_cast<std::size_t>(in.number())};
  });
  launch.tests = in.list<FlagTest>([&] {
    auto offset = static_cast<std::size_t>(in.number());
    return FlagTest{offset, in.text()};
  });
  return launch;
}

/// Throws ArgumentError unless every index and offset of \p image points at something.
void validate(const Image& image) {
  auto count = static_cast<int>(image.arguments.size());
  bool good = true;
  for (const auto& argument : image.arguments)
    good = good && argument.spec.shape.size() == argument.spec.strides.size() &&
           argument.mins.size() == argument.spec.shape.size();
  for (const auto& pair : image.in_place)
    good = good && pair.input >= 0 && pair.input < count && pair.output >= 0 && pair.output < count;
  for (const auto& launch : image.launches) {
    good = good && launch.kernel < static_cast<int>(image.device.kernels.size());
    if (!good) break;
    if (launch.kernel >= 0)
      for (int pointer : image.device.kernels[static_cast<std::size_t>(launch.kernel)].aligned)
        good = good && pointer >= 0 && static_cast<std::size_t>(pointer) < launch.slots.size();
    for (const auto& slot : launch.slots)
      good = good && slot.argument < count && (slot.argument >= 0 || slot.offset < image.workspace_bytes);
    for (const auto& test : launch.tests) good = good && test.offset < image.workspace_bytes;
  }
  if (!good) throw ArgumentError("the bytes of an executable are damaged");
}

}  // namespace

std::string Image::serialise() const {
  Writer out;
  out.put(function);
  out.put(source);
  out.put(target);
  out.put(options);
  out.put_list(arguments, [&](const Argument& argument) {
    out.put(argument.name);
    out.put(std::string(name(argument.spec.dtype)));
    out.put(argument.spec.shape);
    out.put(argument.spec.strides);
    out.put(std::int64_t(argument.output));
    out.put(std::int64_t(argument.read));
    out.put(argument.mins);
    out.put(std::int64_t(argument.aligned));
  });
  out.put_list(in_place, [&](const InPlace& pair) {
    out.put(std::int64_t(pair.input));
    out.put(std::int64_t(pair.output));
  });
  out.put(static_cast<std::int64_t>(workspace_bytes));
  out.put_list(launches, [&](const LaunchCode& launch) {
    out.put(launch.code.bytes.empty() ? std::string() : launch.code.serialise());
    out.put(std::int64_t(launch.kernel));
    out.put_list(launch.slots, [&](const Slot& slot) {
      out.put(std::int64_t(slot.argument));
      out.put(static_cast<std::int64_t>(slot.offset));
    });
    out.put_list(launch.tests, [&](const FlagTest& test) {
      out.put(static_cast<std::int64_t>(test.offset));
      out.put(test.message);
    });
  });
  out.put(is_for_gpu() ? device.serialise() : std::string());
  Writer head;
  head.put(static_cast<std::int64_t>(checksum(out.bytes().data(), out.bytes().size())));
  return std::string(magic, magic_size) + head.bytes() + out.bytes();
}

Image Image::deserialise(const std::string& bytes) {
  constexpr std::size_t head = magic_size + sizeof(std::int64_t);
  if (bytes.size() < head || bytes.compare(0, magic_size, magic) != 0)
    throw ArgumentError("these are not the bytes of an executable of this version");
  std::int64_t expected;
  std::memcpy(&expected, bytes.data() + magic_size, sizeof expected);
  if (static_cast<std::uint64_t>(expected) != checksum(bytes.data() + head, bytes.size() - head))
    throw ArgumentError("the bytes of an executable are damaged");
  Reader in(bytes.data() + head, bytes.data() + bytes.size());
  Image image;
  image.function = in.text();
  image.source = in.text();
  image.target = in.text();
  image.options = in.text();
  image.arguments = in.list<Argument>([&] { return read_argument(in); });
  image.in_place = in.list<InPlace>([&] {
    auto input = static_cast<int>(in.number());
    return InPlace{input, static_cast<int>(in.number())};
  });
  image.workspace_bytes = static_cast<std::size_t>(in.number());
  image.launches = in.list<LaunchCode>([&] { return read_launch(in); });
  if (auto device = in.text(); !device.empty()) image.device = cuda::DeviceCode::deserialise(device);
  if (!in.at_end()) throw ArgumentError("the bytes of an executable are damaged");
  validate(image);
  return image;
}

}  // namespace tc::engine
