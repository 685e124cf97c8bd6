#include "test/support/random/random_program.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/support/random/random_contraction.h"
#include "test/support/random/random_def.h"
#include "test/support/random/random_value.h"

namespace tc::test {

using namespace lang;

namespace {

SizeMap random_sizes(Random& random, const std::string& prefix) {
  SizeMap sizes;
  std::int64_t count = random.between(1, 3);
  for (std::int64_t s = 0; s < count; ++s) {
    bool small = s > 0 && random.chance(60);
    std::int64_t last = small ? 6 : static_cast<std::int64_t>(all_sizes.size()) - 1;
    sizes[str(prefix, s)] = all_sizes[static_cast<std::size_t>(random.between(0, last))];
  }
  return sizes;
}

/// Only sizes that a parameter has.
SizeMap used_sizes(const Def& def, const SizeMap& sizes) {
  SizeMap used;
  for (const auto& param : def.params)
    if (param.dims)
      for (const auto& dim : *param.dims)
        if (auto* id = std::get_if<Name>(&dim->node)) used[id->id] = sizes.at(id->id);
  return used;
}

/// Strides under which no two elements of \p shape share a place: permuted, with gaps, some negative.
std::vector<std::int64_t> random_strides(Random& random, const std::vector<std::int64_t>& shape) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  for (std::size_t d = order.size(); d > 1; --d)
    std::swap(order[d - 1], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(d) - 1))]);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = random.between(1, 2);
  for (std::size_t d : order) {
    strides[d] = random.chance(25) ? -step : step;
    step *= std::max<std::int64_t>(shape[d], 1) + random.between(0, 1);
  }
  return strides;
}

/// Names that passes, back ends and the language have for something else.
std::map<std::string, std::string> clashing_names(Random& random) {
  const std::map<std::string, std::vector<std::string>> wishes = {{"i", {"exp", "p"}},
                                                                  {"j", {"d_T0", "x0"}},
                                                                  {"k", {"f", "t_T1"}},
                                                                  {"l", {"T", "rint"}},
                                                                  {"N0", {"float4", "n"}},
                                                                  {"N1", {"blockIdx", "i0"}},
                                                                  {"T0", {"tc_load", "x", "cos"}},
                                                                  {"T1", {"c0", "int2", "max"}}};
  std::map<std::string, std::string> names;
  for (const auto& [name, clashing] : wishes)
    if (random.chance(60)) names[name] = random.pick(clashing);
  return names;
}

std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && of_word(text[end])) ++end;
    const std::string word = text.substr(at, std::max(end - at, std::size_t{1}));
    const auto found = names.find(word);
    result += found == names.end() ? word : found->second;
    at += word.size();
  }
  return result;
}

template <typename Value>
std::map<std::string, Value> renamed(const std::map<std::string, Value>& values,
                                     const std::map<std::string, std::string>& names) {
  std::map<std::string, Value> result;
  for (const auto& [name, value] : values) result[renamed(name, names)] = value;
  return result;
}

/// Renames all but what would take the name of a function that the program calls.
void rename(RandomProgram& program, std::map<std::string, std::string> names) {
  const auto text = print(program.file);
  std::erase_if(names, [&](const auto& name) { return text.find(name.second + "(") != std::string::npos; });
  program.file = parse(renamed(print(program.file), names));
  program.sizes = renamed(program.sizes, names);
  program.inputs = renamed(program.inputs, names);
  program.tolerance = renamed(program.tolerance, names);
}

/// Where element number \p flat of a tensor of \p spec lies behind its first one, in elements.
std::int64_t offset_of(const TensorSpec& spec, std::int64_t flat) {
  std::int64_t offset = 0;
  for (std::size_t d = spec.shape.size(); d-- > 0; flat /= spec.shape[d])
    offset += flat % spec.shape[d] * spec.strides[d];
  return offset;
}

void set_special(HostTensor& tensor, std::int64_t flat, Random& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::vector<double> floats = {std::nan(""), std::nan(""), infinity, -infinity, -0.0};
  const DType type = tensor.spec().dtype;
  if (is_float(type)) return tensor.set(flat, random.pick(floats));
  const std::int64_t low = lowest_integer(type), high = highest_integer(type),
                     any = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> integers = {low, low + 1, high, high - 1, random.between(any / 2, -(any / 2))};
  const std::int64_t bits = random.pick(integers);
  std::memcpy(static_cast<char*>(tensor.view().data) + offset_of(tensor.spec(), flat) * byte_size(type), &bits,
              static_cast<std::size_t>(byte_size(type)));
}

/// \p tensor with values of \p rule.
HostTensor ascending(HostTensor tensor, const InputRule& rule, Random& random) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < tensor.spec().element_count(); ++i)
    values.push_back(random.between(rule.low, std::max(rule.high, rule.low + 1) - 1));
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i)
    tensor.set(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
  if (rule.special && !values.empty())
    set_special(tensor, random.between(0, static_cast<std::int64_t>(values.size()) - 1), random);
  return tensor;
}

}  // namespace

RandomProgram random_program(std::uint64_t seed, const RandomOptions& options) {
  if (Random(seed * 0xBF58476D1CE4E5B9ull + 2).chance(options.contractions))
    return random_contraction(seed, Random(seed * 0x94D049BB133111EBull + 4).chance(options.whole_tiles));
  Random random(seed * 0x9E3779B97F4A7C15ull + 1);
  RandomProgram program;
  program.seed = seed;
  program.parts = Random(seed * 0xD6E8FEB86659FD93ull + 3).chance(options.parts);
  KnownDef known;
  while (known.returns.empty()) {
    program.inputs.clear();
    program.file = {};
    SizeMap sizes = random_sizes(random, "N");
    std::vector<KnownDef> callees;
    if (options.calls && random.chance(25)) {
      std::map<std::string, InputRule> ignored;
      DefRequest request{"g", "C", sizes, {}, static_cast<int>(random.between(1, 2))};
      callees.push_back(random_def(random, options, request, ignored));
      if (callees[0].returns.empty()) callees.clear();
    }
    for (const auto& callee : callees) program.file.add(callee.def);
    DefRequest request{"f",
                       "T",
                       sizes,
                       callees,
                       static_cast<int>(random.between(1, options.max_statements)),
                       program.parts,
                       Random(seed * 0xA24BAED4963EE407ull + 5).chance(options.scatters),
                       Random(seed * 0x9FB21C651E98DF25ull + 7).chance(options.ragged)};
    known = random_def(random, options, request, program.inputs);
    program.file.add(known.def);
    program.sizes = used_sizes(known.def, sizes);
  }
  for (const auto& tensor : known.returns) {
    double half_ulp = tensor.type == DType::Float16 ? 2e-3 : tensor.type == DType::BFloat16 ? 2e-2 : 1e-4;
    program.tolerance[tensor.name] = tensor.knowledge.exact ? 0 : half_ulp;
  }
  if (Random names(seed * 0xC2B2AE3D27D4EB4Full + 6); names.chance(10)) rename(program, clashing_names(names));
  return program;
}

std::string RandomProgram::text() const { return print(file); }

std::string RandomProgram::describe() const {
  std::string out = str("seed ", seed, "\n", text());
  for (const auto& [id, value] : sizes) out += str(id, " = ", value, "\n");
  for (const auto& [id, rule] : inputs)
    out += str(id, ": [", rule.low, ", ", rule.high, ")", rule.special ? " and special values" : "",
               rule.ascends ? ", ascending" : "", "\n");
  return out;
}

HostTensor random_tensor(const RandomProgram& program, const std::string& id, DType type,
                         const std::vector<std::int64_t>& shape, bool strided) {
  std::uint64_t seed = program.seed;
  for (char c : id) seed = seed * 131 + static_cast<unsigned char>(c);
  Random random(seed);
  auto rule_of = program.inputs.find(id);
  InputRule rule = rule_of == program.inputs.end() ? InputRule{0, 2, false} : rule_of->second;
  std::vector<std::int64_t> strides;
  Random layout(seed + 1);
  if (strided && layout.chance(60)) strides = random_strides(layout, shape);
  HostTensor tensor(strides.empty() ? contiguous(type, shape) : TensorSpec{type, shape, strides});
  std::int64_t high = std::max(rule.high, rule.low + 1);
  if (rule.ascends) return ascending(std::move(tensor), rule, random);
  for (std::int64_t i = 0; i < tensor.spec().element_count(); ++i) {
    const bool is_special = rule.special && random.chance(is_float(type) ? 12 : 50);
    tensor.set(i, static_cast<double>(random.between(rule.low, high - 1)));
    if (is_special) set_special(tensor, i, random);
  }
  return tensor;
}

Tensors arguments_of(const RandomProgram& program, bool strided) {
  Tensors arguments;
  for (const auto& param : program.def().params) {
    std::vector<std::int64_t> shape;
    if (param.dims)
      for (const auto& dim : *param.dims) shape.push_back(evaluate_size(dim, program.sizes));
    arguments.emplace(param.name, random_tensor(program, param.name, *param.type, shape, strided));
  }
  return arguments;
}

}  // namespace tc::test
