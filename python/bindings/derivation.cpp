#include <pybind11/stl.h>

#include "bindings.h"
#include "interrupt.h"
#include "py_function.h"
#include "tc/autotuner/tune_derivations.h"
#include "tc/derive/derivation_text.h"
#include "tc/engine/describe/derivations.h"
#include "tc/engine/describe/timed_parts.h"
#include "tensor.h"

namespace py = pybind11;
using namespace pybind11::literals;

namespace tc::python {
namespace {

/// The specs of \p tensors, for the parameters of \p function in order; a number is one of rank 0.
std::vector<TensorSpec> specs_for(const engine::Function& function, const py::tuple& tensors) {
  const auto& params = function.def.params;
  std::vector<TensorSpec> result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const py::object given = tensors[i];
    const bool number = i < params.size() && is_number(given.ptr());
    result.push_back(number ? contiguous(function.def.tensors.at(params[i].name).type, {})
                            : spec_of(given, i < params.size() ? params[i].name.c_str() : "argument"));
  }
  return result;
}

/// \p options for inputs \p names that never change, whatever they hold.
engine::CompileOptions with_constants(engine::CompileOptions options, const std::vector<std::string>& names) {
  for (const auto& name : names) options.constants.push_back({name, {}, nullptr, std::nullopt});
  return options;
}

py::list candidates_of(const engine::DerivedPrograms& found) {
  py::list candidates;
  for (const auto& program : found.candidates) {
    py::list steps;
    for (const auto& step : program.steps) steps.append(py::make_tuple(step.rule, step.what, step.before, step.after));
    candidates.append(py::make_tuple(program.text, steps, program.certificate, program.microseconds, program.source));
  }
  return candidates;
}

/// Programs that equal \p self for \p tensors, what the search counted, why there are no others, and shapes and types
/// of the inputs.
py::tuple derived(const PyFunction& self, const py::tuple& tensors, const std::vector<std::string>& constants,
                  int depth, std::size_t count, bool converge, bool fingerprints, std::int64_t roll,
                  const Settings& settings) {
  const auto inputs = specs_for(*self.function(), tensors);
  const auto found = interruptible([&](Cancellation cancellation) {
    derive::Options search;
    search.depth = depth;
    search.candidates = count;
    search.converge = converge;
    search.fingerprints = fingerprints;
    search.roll = roll;
    search.cancellation = cancellation;
    auto options = with_constants(settings.options(), constants);
    options.stages.cancellation = cancellation;
    return engine::derive_programs(self.function(), inputs, search, options);
  });
  py::dict statistics;
  statistics["states"] = found.statistics.states;
  statistics["pruned"] = found.statistics.pruned;
  statistics["refused"] = found.statistics.refused;
  statistics["cut"] = found.statistics.cut;
  statistics["seconds"] = found.statistics.seconds;
  py::list specs;
  for (const auto& spec : inputs)
    specs.append(py::make_tuple(py::tuple(py::cast(spec.shape)), std::string(name(spec.dtype))));
  return py::make_tuple(candidates_of(found), statistics, found.note, specs);
}

py::dict tuned_part(const autotuner::TunedPart& part) {
  py::list programs;
  for (const auto& each : part.programs)
    programs.append(py::dict("text"_a = each.program.text, "rules"_a = each.program.rules,
                             "certificate"_a = each.program.certificate, "predicted"_a = each.program.seconds,
                             "seconds"_a = each.seconds, "status"_a = autotuner::name(each.measured.status),
                             "note"_a = each.measured.note));
  return py::dict("name"_a = part.name, "programs"_a = programs, "best"_a = part.best, "kept"_a = part.kept);
}

/// The parts of \p self for \p tensors, their programs and what these took; why it ended.
py::tuple tune_derivations(const PyFunction& self, const py::tuple& tensors, const std::vector<std::string>& constants,
                           const Settings& settings, const py::dict& values) {
  const auto inputs = specs_for(*self.function(), tensors);
  const auto how = with_constants(settings.options(), constants);
  autotuner::TuneSettings tuning;
  tuning.worker = values["worker"].cast<std::vector<std::string>>();
  tuning.budget = values["budget"].cast<double>();
  tuning.candidates = values["candidates"].cast<int>();
  tuning.seed = values["seed"].cast<std::uint64_t>();
  tuning.target = how.target;
  tuning.cache = how.cache;
  const auto found = interruptible([&](Cancellation cancellation) {
    tuning.cancellation = cancellation;
    return autotuner::tune_derivations(self.function(), inputs, tuning, how);
  });
  py::list parts;
  for (const auto& part : found.parts) parts.append(tuned_part(part));
  return py::make_tuple(parts, std::string(autotuner::name(found.stop)), found.elapsed);
}

/// The parts of \p self for \p tensors: a def, its inputs and outputs, how often it runs, and the seconds of one run.
py::list timed_parts(const PyFunction& self, const py::tuple& tensors, const std::vector<std::string>& constants,
                     const Settings& settings) {
  const auto inputs = specs_for(*self.function(), tensors);
  auto how = with_constants(settings.options(), constants);
  const auto found = interruptible([&](Cancellation cancellation) {
    how.stages.cancellation = std::move(cancellation);
    return engine::timed_parts(self.function(), inputs, how);
  });
  py::list result;
  for (const auto& part : found)
    result.append(py::make_tuple(Definition{part.function}, py::tuple(py::cast(part.inputs)),
                                 py::tuple(py::cast(part.outputs)), part.runs, part.seconds));
  return result;
}

/// Why \p certificate proves nothing; "" where it proves its programs equal.
std::string check_derivation(const std::string& certificate) {
  const auto verdict = interruptible([&](const Cancellation& cancellation) {
    const CancellationScope scope(cancellation);
    return derive::check_derivation(certificate);
  });
  return verdict.equal ? "" : verdict.why;
}

}  // namespace

void bind_derivation(py::module_& m) {
  m.def("derive", &derived, py::arg("function"), py::arg("tensors"), py::arg("constants"), py::arg("depth"),
        py::arg("count"), py::arg("converge"), py::arg("fingerprints"), py::arg("roll"), py::arg("settings"),
        "Programs that equal a def for given tensors.");
  m.def("tune_derivations", &tune_derivations, py::arg("function"), py::arg("tensors"), py::arg("constants"),
        py::arg("settings"), py::arg("values"), "Measures the programs that rules derive from the parts of a def.");
  m.def("timed_parts", &timed_parts, py::arg("function"), py::arg("tensors"), py::arg("constants"), py::arg("settings"),
        "The parts of a def's graph, those that take the most time first.");
  m.def("check_derivation", &check_derivation, py::arg("certificate"),
        "Why a derivation is not proved, or an empty text.");
}

}  // namespace tc::python
