#include "tc/engine/graph/symbolic_sizes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "tc/base/str.h"
#include "tc/engine/define/late_inlining.h"
#include "tc/engine/run/overlap.h"

namespace tc::engine {
namespace {

/// The end of the range behind one that ends at \p end, where \p count sizes are symbolic, as a multiple of it.
std::int64_t growth(std::int64_t end, std::size_t count) {
  constexpr std::int64_t long_range = 64;
  if (count > 2) return 2;
  return count < 2 && end >= long_range ? 8 : 4;
}

bool is_dense(const TensorSpec& spec) { return normalised(spec) == normalised(contiguous(spec.dtype, spec.shape)); }

/// A compile for ranges of sizes.
struct RangeProblem {
  std::vector<TensorSpec> inputs;  ///< of the largest sizes
  CompileOptions options;
  lang::SizeRanges ranges;
};

/// Why one code cannot be made for ranges around \p sizes; nothing where it may.
std::optional<std::string> obstacle(const Function& function, const std::vector<TensorSpec>& inputs,
                                    const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  if (function.late && !options.constants.empty()) return "it is compiled in parts and holds constants";
  if (!std::all_of(inputs.begin(), inputs.end(), is_dense) || !std::all_of(outputs.begin(), outputs.end(), is_dense))
    return "a tensor is not dense";
  return std::nullopt;
}

/// Nothing where no size that may be symbolic has more than one value in its range.
std::optional<RangeProblem> range_problem(const Function& function, const std::vector<TensorSpec>& inputs,
                                          const CompileOptions& options) {
  auto sizes = bind_inputs(function, inputs);
  std::vector<std::string> names;
  for (const auto& [name, value] : sizes)
    if (options.dynamic.count(name) > 0 && value > 1) names.push_back(name);
  if (names.empty()) return std::nullopt;
  RangeProblem problem{{}, options, {}};
  problem.options.dynamic.clear();
  problem.options.mapping_from = MappingFrom::Given;
  for (const auto& name : names) {
    const auto range = range_around(sizes.at(name), names.size());
    problem.options.symbolic[name] = range.min;
    problem.ranges[name] = range;
    sizes[name] = range.max;
  }
  problem.inputs = inputs_for(function, sizes);
  return problem;
}

/// The values that code is told: symbolic \p sizes in order, then the strides of the arguments and constants.
std::vector<std::int64_t> values_for(const Image& image, const lang::SizeMap& sizes) {
  std::vector<std::int64_t> result;
  for (const auto& [name, range] : image.symbolic) result.push_back(sizes.at(name));
  for (const auto& argument : image.all_arguments())
    result.insert(result.end(), argument.spec.strides.begin(), argument.spec.strides.end());
  return result;
}

void check_in_ranges(const Image& image, const lang::SizeMap& sizes) {
  for (const auto& [name, range] : image.symbolic)
    if (sizes.at(name) < range.min || sizes.at(name) > range.max)
      throw ArgumentError(str("this code of '", image.function, "' is for ", name, " from ", range.min, " to ",
                              range.max, ", not for ", sizes.at(name)));
}

/// The \p arguments of code, all dense, for \p inputs of \p function.
std::vector<Argument> arguments_for(std::vector<Argument> arguments, const Function& function,
                                    const std::vector<TensorSpec>& inputs) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) shapes[function.def.params[i].name] = inputs[i].shape;
  for (const auto& output : infer_output_tensor_info(function, inputs)) shapes[output.name] = output.shape;
  for (auto& argument : arguments) argument.spec = contiguous(argument.spec.dtype, shapes.at(argument.name));
  return arguments;
}

/// The last argument of \p image, which tells the values of a run, as its constant `told`.
void make_constant_of_last_argument(Image& image) {
  const auto last = std::move(image.arguments.back());
  image.arguments.pop_back();
  for (auto& launch : image.launches)
    for (auto& slot : launch.slots)
      if (const auto* argument = std::get_if<ArgumentSlot>(&slot);
          argument && argument->index == image.arguments.size())
        slot = ConstantSlot{image.constants.size()};
  image.told = image.constants.size();
  image.constants.push_back(allocate_constant(last.name, last.spec));
}

std::string text_of(const lang::SizeRanges& ranges) {
  std::vector<std::string> result;
  for (const auto& [name, range] : ranges) result.push_back(str(name, " from ", range.min, " to ", range.max));
  return join(result);
}

/// What \p options ask for that code for ranges of sizes goes without, and why.
std::vector<std::string> declined(const CompileOptions& options) {
  std::vector<std::string> result;
  if (options.libraries != "none")
    result.emplace_back("no library is called: routines are made for sizes that are numbers");
  if (options.derive > 0 || !options.derivation.empty())
    result.emplace_back("no derived program is used: it is priced and proved for sizes that are numbers");
  if (options.mapping_from != MappingFrom::Given)
    result.emplace_back("no tuned options are used: the cache keeps them for sizes that are numbers");
  if (options.layouts > graph::LayoutMode::Constants)
    result.emplace_back(
        "no layouts are chosen for tensors between parts: conversions are priced for sizes that are numbers");
  return result;
}

}  // namespace

lang::SizeRange range_around(std::int64_t size, std::size_t count) {
  lang::SizeRange result{1, 1};
  while (result.max < size) {
    result.min = result.max + 1;
    if (__builtin_mul_overflow(result.max, growth(result.max, count), &result.max))
      result.max = std::numeric_limits<std::int64_t>::max();
  }
  return result;
}

std::shared_ptr<const Executable> bind_sizes(const std::shared_ptr<const Executable>& whole, const Function& function,
                                             const std::vector<TensorSpec>& inputs) {
  auto image = whole->image();
  const auto sizes = bind_inputs(function, inputs);
  check_in_ranges(image, sizes);
  if (!image.told) make_constant_of_last_argument(image);
  image.arguments = arguments_for(std::move(image.arguments), function, inputs);
  const auto values = values_for(image, sizes);
  auto& constant = image.constants[*image.told];
  constant = allocate_constant(constant.name, constant.spec);
  std::memcpy(constant.data.get(), values.data(), values.size() * sizeof(values[0]));
  for (auto& argument : image.arguments) argument.spec = normalised(argument.spec);
  auto stats = whole->stats();
  stats.sizes = text_of(image.symbolic);
  return std::make_shared<Executable>(std::move(image), std::move(stats), whole->loaded());
}

std::shared_ptr<const Executable> for_inputs(const std::shared_ptr<const Executable>& executable,
                                             const std::vector<TensorSpec>& inputs) {
  const auto& image = executable->image();
  if (image.symbolic.empty())
    throw ArgumentError(str("the code of '", image.function, "' is for the sizes of its tensors alone"));
  const auto module = define(image.source);
  const auto& function = *module.functions.back();
  auto all = inputs;
  for (const auto& constant : image.constants)
    if (constant.parameter && *constant.parameter <= all.size())
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(*constant.parameter), constant.spec);
  if (!std::all_of(all.begin(), all.end(), is_dense))
    throw ArgumentError(str("the code of '", image.function, "' for ranges of sizes takes dense tensors"));
  return bind_sizes(executable, function, all);
}

std::string ranges_text(const Image& image) { return text_of(image.symbolic); }

namespace {

/// The executable for \p inputs of code for the ranges of \p problem.
std::shared_ptr<const Executable> compile_ranges(const std::shared_ptr<const Function>& function,
                                                 const std::vector<TensorSpec>& inputs, const RangeProblem& problem,
                                                 const CompileFor& compile_for, bool keeps) {
  if (problem.options.constants.empty())
    if (const auto whole = compile_graph_for_ranges(function, problem.inputs, problem.options, compile_for, keeps)) {
      const auto bound = bind_graph_sizes(*whole, *function, inputs, problem.options);
      auto stats = bound->stats();
      stats.sizes = text_of(problem.ranges);
      return std::make_shared<Executable>(bound->image(), std::move(stats), bound->loaded());
    }
  const auto as_one = inlined(function);
  return bind_sizes(compile_for(as_one, problem.inputs, {}, problem.options), *as_one, inputs);
}

}  // namespace

std::shared_ptr<const Executable> compile_for_ranges(const std::shared_ptr<const Function>& function,
                                                     const std::vector<TensorSpec>& inputs,
                                                     const std::vector<TensorSpec>& outputs,
                                                     const CompileOptions& options, const CompileFor& compile_for,
                                                     bool keeps) {
  auto plain = options;
  plain.dynamic.clear();
  auto why = obstacle(*function, inputs, outputs, options);
  if (!why) {
    const auto problem = range_problem(*function, inputs, options);
    if (!problem) return compile_for(function, inputs, outputs, plain);
    try {
      const auto made = compile_ranges(function, inputs, *problem, compile_for, keeps);
      auto stats = made->stats();
      stats.declined = declined(options);
      return std::make_shared<Executable>(made->image(), std::move(stats), made->loaded());
    } catch (const OptionsError& error) {
      why = error.what();
    } catch (const SemanticError& error) {
      why = error.what();
    } catch (const ArgumentError& error) {
      why = error.what();
    }
  }
  auto made = compile_for(function, inputs, outputs, plain);
  auto stats = made->stats();
  stats.sizes = "these sizes alone: " + *why;
  return made->interpreted() ? made : std::make_shared<Executable>(made->image(), std::move(stats), made->loaded());
}

}  // namespace tc::engine
