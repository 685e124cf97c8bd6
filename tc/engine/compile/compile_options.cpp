#include "tc/engine/compile/compile_options.h"

#include <algorithm>

#include "tc/base/check_tensor.h"
#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/run/overlap.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {

Limits limits_of(const CompileOptions& options) {
  Limits limits{options.stages.cancellation.child(), options.memory_limit};
  limits.cancellation.set_time_limit(options.time_limit);
  return limits;
}

std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs) {
  auto infos = infer_output_tensor_info(function, inputs);
  if (!outputs.empty() && outputs.size() != infos.size())
    throw ArgumentError(str("'", function.name(), "' has ", infos.size(), " outputs, ", outputs.size(), " were given"));
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back({function.def.params[i].name, normalised(inputs[i]), false, false,
                         std::vector<std::int64_t>(inputs[i].shape.size(), 0)});
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const TensorSpec& spec = outputs.empty() ? infos[i] : outputs[i];
    check_tensor(spec, str("output '", infos[i].name, "' of '", function.name(), "'"));
    if (spec.dtype != infos[i].dtype || spec.shape != infos[i].shape)
      throw ArgumentError(str("output '", infos[i].name, "' of '", function.name(), "' is ",
                              contiguous(infos[i].dtype, infos[i].shape), ", ", contiguous(spec.dtype, spec.shape),
                              " was given"));
    check_apart(spec, infos[i].name);
    arguments.push_back({infos[i].name, normalised(spec), true, infos[i].read, infos[i].mins});
  }
  return arguments;
}

std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  auto arguments = make_arguments(function, inputs, outputs);
  for (const auto& name : options.unaligned) {
    auto same = std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.name == name; });
    if (same == arguments.end())
      throw ArgumentError(str("'", function.name(), "' has no tensor '", name, "' that may begin anywhere"));
    same->aligned = back_end_of(options.target).aligned_anywhere || same->spec.shape.empty();
  }
  return arguments;
}

std::set<std::string> unaligned_names(const std::vector<Argument>& arguments) {
  std::set<std::string> names;
  for (const auto& argument : arguments)
    if (!argument.aligned) names.insert(argument.name);
  return names;
}

std::set<std::string> unaligned_names(const Function& function, const std::vector<TensorView>& tensors) {
  std::vector<std::string> all;
  for (const auto& param : function.def.params) all.push_back(param.name);
  for (const auto& ret : function.def.returns) all.push_back(ret.name);
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(all.size(), tensors.size()); ++i)
    if (!is_aligned(tensors[i], tensors[i].data)) names.insert(all[i]);
  return names;
}

std::vector<TensorSpec> specs(const std::vector<Argument>& arguments, bool output) {
  std::vector<TensorSpec> result;
  for (const auto& argument : arguments)
    if (argument.output == output) result.push_back(argument.spec);
  return result;
}

Reproduction reproduction_for(const Function& function, const std::vector<TensorSpec>& inputs,
                              const CompileOptions& options) {
  return [&] {
    return reproduction_of(lang::print(function.def), inputs, to_string(options.target), options.mapping.to_text());
  };
}

std::string cache_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options) {
  TextStream key;
  key << function.name() << " " << program_key(function) << "\n";
  for (const auto& argument : arguments)
    key << argument.name << " " << argument.spec << (argument.aligned ? "; " : " unaligned; ");
  if (options.partition != graph::Partition::Auto) key << "\npartition " << to_string(options.partition);
  if (options.libraries != "none") {
    key << "\nlibraries " << options.libraries;
    for (const auto& name : options.held) key << ", constant " << name;
  }
  if (options.layouts > graph::LayoutMode::Constants) key << "\nlayouts " << to_string(options.layouts);
  for (const auto& name : options.dynamic) key << "\ndynamic " << name;
  for (const auto& [name, least] : options.symbolic) key << "\nsymbolic " << name << " from " << least;
  if (options.fold_scales) key << "\nfold scales";
  if (options.derive > 0) key << "\nderive " << options.derive;
  if (!options.derivation.empty()) key << "\nderivation " << options.derivation;
  key << "\n" << options.target << "\n" << options.mapping.to_text() << (options.interpret ? "\ninterpret" : "");
  for (const auto& [stage, text] : options.stages.replace) key << "\n" << stage << ": " << text;
  return key.str();
}

}  // namespace tc::engine
