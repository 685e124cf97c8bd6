#include "tc/cache/key.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
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

/// What a family has in common of \p target: of a GPU "cuda:sm_90" without its limits, else all of it.
std::string_view architecture(std::string_view target) {
  return target.rfind("cuda:", 0) == 0 ? target.substr(0, target.find(',')) : target;
}

/// The limits of \p target; none for a text that this library does not know.
std::optional<GridLimits> limits_of(const std::string& target) try {
  return Target::parse(target).grid;
} catch (const OptionsError&) {
  return std::nullopt;
}

constexpr const char* layouts_mark = "layouts";

}  // namespace

Key of_layouts(Key key) {
  key.tools = layouts_mark;
  return key;
}

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
  for (std::size_t t = 0; t < key.tensors.size(); ++t)
    if (!key.tensors[t].aligned) out.put("unaligned").put(static_cast<std::int64_t>(t));
  if (!key.tools.empty()) out.put("tools").put(key.tools);
  for (const auto& size : key.sizes) out.put("size").put(size.name).put(size.least).put(size.most);
  return sha256(out.bytes());
}

Digest family(const Key& key) {
  Encoder out("tc-family-1");
  out.put(key.program).put(architecture(key.target)).put(static_cast<std::int64_t>(key.tensors.size()));
  for (const auto& tensor : key.tensors)
    out.put(name(tensor.spec.dtype)).put(std::int64_t(tensor.spec.rank())).put(std::int64_t(tensor.output));
  if (key.tools == layouts_mark) out.put(key.tools);
  return sha256(out.bytes());
}

std::string tensors_text(const Key& key) {
  std::vector<std::string> inputs, outputs;
  for (const auto& tensor : key.tensors) {
    TensorSpec shown = tensor.spec;
    (tensor.output ? outputs : inputs).push_back(str(shown));
  }
  std::vector<std::string> ranges = {join(outputs)};
  for (const auto& size : key.sizes) ranges.push_back(str(size.name, " from ", size.least, " to ", size.most));
  return str(join(inputs), " -> ", join(ranges));
}

double machine_distance(const Key& a, const Key& b) {
  if (a.target == b.target) return 0;
  auto x = limits_of(a.target), y = limits_of(b.target);
  if (!x || !y) return 1;
  double multiprocessors = log_ratio(x->multiprocessors, y->multiprocessors);
  x->multiprocessors = y->multiprocessors;
  return multiprocessors + (*x == *y ? 0 : 0.25);
}

double distance(const Key& a, const Key& b) {
  double sum = machine_distance(a, b);
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
