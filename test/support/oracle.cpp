#include "test/support/oracle.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/interpret.h"

namespace tc::test {
namespace {

std::vector<TensorSpec> specs_of(const std::vector<HostTensor>& tensors) {
  std::vector<TensorSpec> result;
  for (const auto& tensor : tensors) result.push_back(tensor.spec());
  return result;
}

std::vector<TensorView> views_of(std::vector<HostTensor>& tensors) {
  std::vector<TensorView> result;
  for (auto& tensor : tensors) result.push_back(tensor.view());
  return result;
}

/// What a run of \p executable on \p arguments differs by from the interpreter.
std::optional<std::string> mismatch_of_call(const engine::Function& function, const engine::Executable& executable,
                                            Arguments arguments, const Tolerances& tolerances) {
  std::optional<std::vector<HostTensor>> want;
  std::string refusal;
  try {
    want = interpreted(function, arguments);
  } catch (const ArgumentError& error) {
    refusal = error.what();
  }
  const Arguments before = arguments;
  try {
    executable.run(arguments.input_views(), arguments.output_views());
  } catch (const ArgumentError& error) {
    const bool writes = std::string(error.what()).find("outputs are unspecified") != std::string::npos;
    if (!want && !writes)
      if (auto text = first_difference(function, arguments.outputs, before.outputs, {})) return "refused, but " + *text;
    if (!want) return std::nullopt;
    return str("the compiled code refuses what the interpreter runs: ", error.what());
  }
  if (!want) return str("the interpreter refuses what the compiled code runs: ", refusal);
  return first_difference(function, arguments.outputs, *want, tolerances);
}

}  // namespace

std::vector<TensorSpec> Arguments::input_specs() const { return specs_of(inputs); }
std::vector<TensorSpec> Arguments::output_specs() const { return specs_of(outputs); }
std::vector<TensorView> Arguments::input_views() { return views_of(inputs); }
std::vector<TensorView> Arguments::output_views() { return views_of(outputs); }

std::vector<HostTensor> interpreted(const engine::Function& given, Arguments arguments) {
  const auto whole = engine::inlined(std::make_shared<engine::Function>(given));
  const auto& function = *whole;
  std::map<std::string, TensorView> tensors;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
    tensors[function.def.params[i].name] = arguments.inputs[i].view();
  for (std::size_t i = 0; i < arguments.outputs.size(); ++i)
    tensors[function.def.returns[i].name] = arguments.outputs[i].view();
  auto sizes = engine::bind_inputs(function, arguments.input_specs());
  lang::interpret(function.def, function.ranges, sizes, tensors);
  return std::move(arguments.outputs);
}

std::optional<std::string> first_difference(const engine::Function& function, const std::vector<HostTensor>& got,
                                            const std::vector<HostTensor>& want, const Tolerances& tolerances) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    auto given = tolerances.find(function.def.returns[i].name);
    double tolerance = given == tolerances.end() ? 0 : given->second;
    if (auto text = difference(got[i], want[i], tolerance)) return str(function.def.returns[i].name, ": ", *text);
    if (!got[i].guards_intact()) return str(function.def.returns[i].name, ": memory beside the elements was written");
  }
  return std::nullopt;
}

std::optional<std::string> mismatch(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                                    engine::CompileOptions options, const Tolerances& tolerances, bool laws) {
  return mismatch_of_calls(function, {arguments}, std::move(options), tolerances, laws);
}

std::optional<std::string> mismatch_of_calls(const std::shared_ptr<const engine::Function>& function,
                                             const std::vector<Arguments>& calls, engine::CompileOptions options,
                                             const Tolerances& tolerances, bool laws) {
  options.stages.verify = laws;
  const auto& first = calls.at(0);
  const auto executable = engine::compile(function, first.input_specs(), first.output_specs(), options);
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (auto text = mismatch_of_call(*function, *executable, calls[i], tolerances))
      return calls.size() == 1 ? *text : str("call ", i, ": ", *text);
  return std::nullopt;
}

}  // namespace tc::test
