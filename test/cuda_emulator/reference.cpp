#include "test/cuda_emulator/reference.h"

#include <algorithm>
#include <cmath>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::test {
namespace {

bool agree(double got, double want, double bound) {
  if (std::isinf(bound)) return true;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::fabs(got - want) <= bound;
}

/// The index of element number \p flat, "(1, 2)".
std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
  return str("(", join(index), ")");
}

const std::vector<double>* bounds_of(const std::string& name, const Reference& want) {
  auto found = want.bounds.find(name);
  return found == want.bounds.end() ? nullptr : &found->second;
}

}  // namespace

Reference reference(const engine::Function& given, Arguments arguments) {
  const auto whole = engine::inlined(std::make_shared<engine::Function>(given));
  const auto& function = *whole;
  std::map<std::string, TensorView> tensors;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
    tensors[function.def.params[i].name] = arguments.inputs[i].view();
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i)
    tensors[function.def.returns[i].name] = arguments.outputs[i].view();
  Reference result;
  try {
    auto sizes = engine::bind_inputs(function, arguments.input_specs());
    result.bounds = analyse_errors(function.def, function.ranges, sizes, tensors);
    result.outputs = std::move(arguments.outputs);
  } catch (const ArgumentError& error) {
    result.refusal = error.what();
  }
  return result;
}

std::optional<std::string> first_difference(const engine::Function& function, const std::vector<HostTensor>& got,
                                            const Reference& want) {
  for (std::size_t o = 0; o < want.outputs.size(); ++o) {
    const auto& name = function.def.returns[o].name;
    const auto* bounds = bounds_of(name, want);
    const auto& spec = want.outputs[o].spec();
    for (std::int64_t i = 0; i < spec.element_count(); ++i) {
      if (got[o].bits_at(i) == want.outputs[o].bits_at(i)) continue;
      auto bound = bounds ? bounds->at(static_cast<std::size_t>(i)) : 0;
      if (is_float(spec.dtype) && agree(got[o].at(i), want.outputs[o].at(i), bound)) continue;
      return str(name, ": element ", index_text(i, spec.shape), " is ", got[o].at(i), ", expected ",
                 want.outputs[o].at(i), bound > 0 ? str(" within ", bound) : "");
    }
    if (!got[o].guards_intact()) return str(name, ": memory beside the elements was written");
  }
  return std::nullopt;
}

double largest_bound(const engine::Function& function, const Reference& want) {
  double result = 0;
  for (std::size_t o = 0; o < want.outputs.size(); ++o) {
    const auto* bounds = bounds_of(function.def.returns[o].name, want);
    if (!bounds || bounds->empty()) continue;
    double magnitude = 0;
    for (std::int64_t i = 0; i < want.outputs[o].spec().element_count(); ++i)
      if (auto value = std::fabs(want.outputs[o].at(i)); std::isfinite(value)) magnitude = std::max(magnitude, value);
    auto most = *std::max_element(bounds->begin(), bounds->end());
    if (most > 0) result = std::max(result, magnitude > 0 ? most / magnitude : most);
  }
  return result;
}

}  // namespace tc::test
