#include "tc/cache/key.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tc/base/str.h"
#include "tc/cache/little_endian.h"

namespace tc::cache {
namespace {

/// Extents count from 1 here: an empty tensor is as near to one of extent 1 as that is to one of extent 3.
double log_ratio(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2((static_cast<double>(a) + 1) / (static_cast<double>(b) + 1)));
}

/// The dimensions of \p spec from the largest stride to the smallest.
std::vector<std::size_t> order(const TensorSpec& spec) {
  std::vector<std::size_t> dims(spec.shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::stable_sort(dims.begin(), dims.end(), [&](auto a, auto b) { return spec.strides[a] > spec.strides[b]; });
  return dims;
}

}  // namespace

Encoder& Encoder::put(std::int64_t number) {
  put_bytes(bytes_, static_cast<std::uint64_t>(number), 8);
  return *this;
}

Encoder& Encoder::put(std::string_view text) {
  put(static_cast<std::int64_t>(text.size()));
  bytes_ += text;
  return *this;
}

Encoder& Encoder::put(const std::vector<std::int64_t>& numbers) {
  put(static_cast<std::int64_t>(numbers.size()));
  for (auto number : numbers) put(number);
  return *this;
}

Digest digest(const Key& key) {
  Encoder out("tc-key-1");
  out.put(key.program).put(key.target).put(static_cast<std::int64_t>(key.tensors.size()));
  for (const auto& tensor : key.tensors)
    out.put(name(tensor.spec.dtype)).put(tensor.spec.shape).put(tensor.spec.strides).put(std::int64_t(tensor.output));
  return sha256(out.bytes());
}

Digest family(const Key& key) {
  Encoder out("tc-family-1");
  out.put(key.program).put(key.target).put(static_cast<std::int64_t>(key.tensors.size()));
  for (const auto& tensor : key.tensors)
    out.put(name(tensor.spec.dtype)).put(std::int64_t(tensor.spec.rank())).put(std::int64_t(tensor.output));
  return sha256(out.bytes());
}

std::string tensors_text(const Key& key) {
  std::vector<std::string> inputs, outputs;
  for (const auto& tensor : key.tensors) {
    TensorSpec shown = tensor.spec;
    (tensor.output ? outputs : inputs).push_back(str(shown));
  }
  return str(join(inputs), " -> ", join(outputs));
}

double distance(const Key& a, const Key& b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.tensors.size(); ++t) {
    const auto &x = a.tensors[t].spec, &y = b.tensors[t].spec;
    for (std::size_t d = 0; d < x.shape.size(); ++d) sum += log_ratio(x.shape[d], y.shape[d]);
    if (order(x) != order(y))
      sum += 1;
    else if (x.shape == y.shape && x.strides != y.strides)
      sum += 0.25;
  }
  return sum;
}

}  // namespace tc::cache
