#include "tc/autotuner/worker/problem.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/file_size_signal.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

constexpr std::size_t page = 4096;

Message message_of(const TensorSpec& spec) {
  Message result{std::string(name(spec.dtype))};
  for (auto extent : spec.shape) result.push_back(str(extent));
  for (auto stride : spec.strides) result.push_back(str(stride));
  return result;
}

std::string bytes_of(const std::vector<TensorSpec>& specs) {
  Message result;
  for (const auto& spec : specs) result.push_back(encode(message_of(spec)));
  return encode(result);
}

TensorSpec parse_spec(const std::string& bytes) {
  auto message = decode(bytes);
  auto type = message && message->size() % 2 == 1 ? parse_dtype(message->front()) : std::nullopt;
  if (!type) throw ArgumentError("this is no tensor of a problem");
  TensorSpec spec;
  spec.dtype = *type;
  auto rank = (message->size() - 1) / 2;
  for (std::size_t i = 1; i <= rank; ++i) {
    spec.shape.push_back(whole_number((*message)[i]));
    spec.strides.push_back(whole_number((*message)[rank + i]));
  }
  return spec;
}

std::vector<TensorSpec> parse_specs(const std::string& bytes) {
  std::vector<TensorSpec> result;
  auto message = decode(bytes);
  if (!message) throw ArgumentError("these are no tensors of a problem");
  for (const auto& spec : *message) result.push_back(parse_spec(spec));
  return result;
}

}  // namespace

Message Problem::message() const {
  return {"problem", text,         def,       bytes_of(inputs), bytes_of(outputs),
          target,    str(threads), libraries, encode(constants)};
}

Problem Problem::parse(const Message& message) {
  if (message.size() != 9 || message[0] != "problem") throw ArgumentError("this message is no problem");
  return {message[1],
          message[2],
          parse_specs(message[3]),
          parse_specs(message[4]),
          message[5],
          static_cast<int>(whole_number(message[6])),
          message[7],
          decode(message[8]).value_or(Message())};
}

Layout layout_of(const std::vector<engine::Argument>& arguments) {
  Layout layout;
  for (const auto& argument : arguments) {
    auto span = element_span(argument.spec);
    std::size_t size = static_cast<std::size_t>(byte_size(argument.spec.dtype));
    Layout::Part part;
    part.offset = layout.bytes;
    part.bytes = static_cast<std::size_t>(span.high - span.low + 1) * size;
    part.origin = static_cast<std::size_t>(-span.low) * size;
    layout.parts.push_back(part);
    layout.bytes += round_up(part.bytes, page);
  }
  return layout;
}

void put_tensors(const std::vector<TensorView>& tensors, const Layout& layout, char* memory) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& part = layout.parts[i];
    if (part.bytes)
      std::memcpy(memory + part.offset, static_cast<const char*>(tensors[i].data) - part.origin, part.bytes);
  }
}

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(std::max(bytes, page)) {
  NoFileSizeSignal guard;
  file_ = ::memfd_create("tensors", MFD_CLOEXEC);
  bool made = file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes_)) == 0;
  void* data = made ? ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0) : MAP_FAILED;
  if (data == MAP_FAILED) {
    if (file_ >= 0) ::close(file_);
    throw ResourceError(str("no ", bytes_, " bytes of memory to share with processes that measure"));
  }
  data_ = static_cast<char*>(data);
}

SharedMemory::~SharedMemory() {
  ::munmap(data_, bytes_);
  ::close(file_);
}

}  // namespace tc::autotuner
