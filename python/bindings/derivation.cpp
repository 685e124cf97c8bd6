#include <pybind11/stl.h>

#include "bindings.h"
#include "interrupt.h"
#include "py_function.h"
#include "tc/derive/derivation_text.h"
#include "tc/engine/describe/derivations.h"
#include "tensor.h"

namespace py = pybind11;

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
py::tuple derived(const PyFunction& self, const py::tuple& tensors, int depth, std::size_t count, bool converge,
                  bool fingerprints, const Settings& settings) {
  const auto inputs = specs_for(*self.function(), tensors);
  const auto found = interruptible([&](Cancellation cancellation) {
    derive::Options search;
    search.depth = depth;
    search.candidates = count;
    search.converge = converge;
    search.fingerprints = fingerprints;
    search.cancellation = cancellation;
    auto options = settings.options();
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

/// Why \p certificate proves nothing; "" where it proves its programs equal.
std::string check_derivation(const std::string& certificate) {
  const auto verdict = derive::check_derivation(certificate);
  return verdict.equal ? "" : verdict.why;
}

}  // namespace

void bind_derivation(py::module_& m) {
  m.def("derive", &derived, py::arg("function"), py::arg("tensors"), py::arg("depth"), py::arg("count"),
        py::arg("converge"), py::arg("fingerprints"), py::arg("settings"),
        "Programs that equal a def for given tensors.");
  m.def("check_derivation", &check_derivation, py::arg("certificate"),
        "Why a derivation is not proved, or an empty text.");
}

}  // namespace tc::python
