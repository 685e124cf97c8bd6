#include "tc/cuda/device_code.h"

#include <cstring>

#include "tc/base/error.h"
#include "tc/cuda/nvrtc.h"

namespace tc::cuda {
namespace {

const std::string magic = "TCCUDA3\n";

[[noreturn]] void reject() { throw ArgumentError("these bytes are not stored code of kernels"); }

void put(std::string& out, std::int64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }
void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::int64_t>(text.size()));
  out += text;
}

/// Takes numbers and texts from the front of bytes.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes), at_(magic.size()) {}

  std::int64_t number() {
    std::int64_t value = 0;
    need(sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::size_t count() {
    auto value = number();
    if (value < 0 || static_cast<std::uint64_t>(value) > bytes_.size()) reject();
    return static_cast<std::size_t>(value);
  }
  std::string text() {
    auto size = count();
    need(size);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  void need(std::size_t size) const {
    if (size > bytes_.size() - at_) reject();
  }
  const std::string& bytes_;
  std::size_t at_;
};

polyhedral::RunExtent::Term read_term(Reader& in) {
  polyhedral::RunExtent::Term term;
  term.constant = in.number();
  term.divisor = in.number();
  for (auto n = in.count(); n > 0; --n) term.factors.push_back(in.number());
  return term;
}

polyhedral::RunExtent read_extent(Reader& in) {
  polyhedral::RunExtent extent;
  for (auto parts = in.count(); parts > 0; --parts) {
    auto& part = extent.parts.emplace_back();
    for (auto terms = in.count(); terms > 0; --terms) part.push_back(read_term(in));
  }
  return extent;
}

void put(std::string& out, const polyhedral::RunExtent& extent) {
  put(out, static_cast<std::int64_t>(extent.parts.size()));
  for (const auto& part : extent.parts) {
    put(out, static_cast<std::int64_t>(part.size()));
    for (const auto& term : part) {
      put(out, term.constant);
      put(out, term.divisor);
      put(out, static_cast<std::int64_t>(term.factors.size()));
      for (const auto factor : term.factors) put(out, factor);
    }
  }
}

DeviceCode::Kernel read_kernel(Reader& in) {
  DeviceCode::Kernel kernel;
  kernel.name = in.text();
  for (auto& extent : kernel.shape.grid) extent = in.number();
  for (auto& extent : kernel.shape.block) extent = in.number();
  kernel.shape.blocks_per_multiprocessor = static_cast<int>(in.number());
  kernel.shape.cooperative = in.number() != 0;
  kernel.shared_bytes = in.number();
  for (auto n = in.count(); n > 0; --n) kernel.aligned.push_back(static_cast<int>(in.number()));
  for (auto& extent : kernel.shape.used) extent = read_extent(in);
  for (auto n = in.count(); n > 0; --n) {
    const auto index = in.number();
    kernel.numbers.push_back({static_cast<std::size_t>(index), static_cast<int>(in.number())});
  }
  kernel.number_count = in.count();
  for (const auto& number : kernel.numbers)
    if (number.index >= kernel.number_count || (number.bytes != 4 && number.bytes != 8)) reject();
  return kernel;
}

}  // namespace

std::string DeviceCode::serialise() const {
  std::string out = magic;
  for (const auto* part : {&architecture, &text, &cubin, &log}) put(out, *part);
  put(out, static_cast<std::int64_t>(kernels.size()));
  for (const auto& kernel : kernels) {
    put(out, kernel.name);
    for (auto extent : kernel.shape.grid) put(out, extent);
    for (auto extent : kernel.shape.block) put(out, extent);
    put(out, static_cast<std::int64_t>(kernel.shape.blocks_per_multiprocessor));
    put(out, std::int64_t{kernel.shape.cooperative});
    put(out, kernel.shared_bytes);
    put(out, static_cast<std::int64_t>(kernel.aligned.size()));
    for (int pointer : kernel.aligned) put(out, static_cast<std::int64_t>(pointer));
    for (const auto& extent : kernel.shape.used) put(out, extent);
    put(out, static_cast<std::int64_t>(kernel.numbers.size()));
    for (const auto& number : kernel.numbers) {
      put(out, static_cast<std::int64_t>(number.index));
      put(out, static_cast<std::int64_t>(number.bytes));
    }
    put(out, static_cast<std::int64_t>(kernel.number_count));
  }
  return out;
}

DeviceCode DeviceCode::deserialise(const std::string& bytes) {
  if (bytes.compare(0, magic.size(), magic) != 0) reject();
  Reader in(bytes);
  DeviceCode code;
  for (auto* part : {&code.architecture, &code.text, &code.cubin, &code.log}) *part = in.text();
  for (auto n = in.count(); n > 0; --n) code.kernels.push_back(read_kernel(in));
  if (!in.at_end()) reject();
  return code;
}

DeviceCode build_device_code(const std::vector<KernelText>& kernels, const std::string& architecture,
                             const Cancellation& cancellation, Contraction contraction) {
  DeviceCode code;
  code.text = program_text(kernels);
  const bool needs_own = code.text.find("tc_matrix(") != std::string::npos && !architecture.ends_with('a');
  code.architecture = architecture + (needs_own ? "a" : "");
  for (const auto& kernel : kernels)
    code.kernels.push_back(
        {kernel.name, kernel.shape, kernel.shared_bytes, kernel.aligned, kernel.numbers, kernel.number_count});
  if (kernels.empty()) return code;
  auto cubin = compile_cubin(code.text, code.architecture, cancellation, contraction);
  code.cubin = std::move(cubin.bytes);
  code.log = std::move(cubin.log);
  return code;
}

}  // namespace tc::cuda
