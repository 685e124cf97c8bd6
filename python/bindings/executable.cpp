#include <pybind11/stl.h>

#include "bind_class.h"
#include "bindings.h"
#include "call_slot.h"
#include "callable.h"
#include "interpreter_lock.h"
#include "interrupt.h"
#include "place.h"
#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/engine/describe/proof_of.h"
#include "tc/engine/describe/read_evidence.h"
#include "tc/engine/describe/roofline.h"
#include "tc/engine/graph/symbolic_sizes.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// What the machine code of each kernel of \p device says about it, behind \p result.
void add_kernels(const cuda::DeviceCode& device, py::list& result) {
  auto stats = cuda::read_cubin(device.cubin);
  for (const auto& kernel : device.kernels)
    for (const auto& found : stats) {
      if (found.name != kernel.name) continue;
      py::dict entry;
      entry["name"] = kernel.name;
      entry["grid"] = py::tuple(py::cast(kernel.shape.grid));
      entry["block"] = py::tuple(py::cast(kernel.shape.block));
      entry["registers"] = found.registers;
      entry["spill_store_bytes"] = found.spill_store_bytes;
      entry["spill_load_bytes"] = found.spill_load_bytes;
      entry["stack_bytes"] = found.stack_bytes;
      entry["shared_bytes"] = found.shared_bytes + kernel.shared_bytes;
      entry["barriers"] = found.barriers;
      entry["instructions"] = found.instructions;
      entry["opcodes"] = found.opcodes;
      entry["accesses"] = found.accesses;
      entry["main_loop"] = found.main_loop;
      result.append(entry);
    }
}

/// CUDA C++ of all modules of \p image.
std::string device_source(const engine::Image& image) {
  std::vector<std::string> texts;
  for (const auto& code : image.modules) texts.push_back(code.text);
  return join(texts, "\n");
}

py::list derived_nodes(const engine::CompileStats& stats) {
  py::list result;
  for (const auto& node : stats.derived) {
    py::dict entry;
    entry["node"] = node.node;
    entry["rules"] = node.rules;
    entry["text"] = node.text;
    entry["certificate"] = node.certificate;
    entry["before_us"] = node.before_us;
    entry["after_us"] = node.after_us;
    entry["source"] = node.source;
    result.append(entry);
  }
  return result;
}

/// The nodes of a graph: name, inputs, outputs, part, what runs it; and its tensors by name.
py::tuple graph_nodes(const Callable& callable) {
  const auto& stats = callable.executable().stats();
  py::list nodes;
  for (const auto& node : stats.nodes)
    nodes.append(py::make_tuple(node.name, node.inputs, node.outputs, node.part, node.runs));
  return py::make_tuple(nodes, stats.tensors);
}

py::dict stats(const Callable& callable) {
  const auto& image = callable.executable().image();
  const auto& stats = callable.executable().stats();
  py::dict stages;
  for (const auto& record : stats.records) stages[py::str(record.name)] = record.milliseconds;
  std::size_t code_bytes = 0;
  for (const auto& code : image.functions) code_bytes += code.bytes.size();
  for (const auto& code : image.modules) code_bytes += code.cubin.size();
  py::dict result;
  result["compile_ms"] = stats.milliseconds;
  result["stages_ms"] = stages;
  result["launches"] = image.launches.size();
  result["parts"] = image.parts;
  std::int64_t constant_bytes = 0;
  for (const auto& constant : image.constants)
    constant_bytes += constant.spec.element_count() * byte_size(constant.spec.dtype);
  result["constants"] = image.constants.size();
  result["constant_bytes"] = constant_bytes;
  result["workspace_bytes"] = image.workspace_bytes;
  result["code_bytes"] = code_bytes;
  result["target"] = image.target;
  result["options"] = image.options;
  result["fallbacks"] = stats.fallbacks;
  std::vector<std::string> calls;
  for (const auto& call : image.calls) calls.push_back(library::to_string(call));
  result["library_calls"] = calls;
  result["library_notes"] = stats.notes;
  result["layouts"] = stats.layouts;
  result["sizes"] = stats.sizes;
  result["declined"] = stats.declined;
  result["derived"] = derived_nodes(stats);
  result["finalists"] = stats.finalists;
  result["folded_scales"] = stats.folded_scales;
  result["graph"] = stats.graph;
  result["from_cache"] = stats.from_cache;
  if (image.is_for_gpu()) {
    py::list kernels;
    for (const auto& code : image.modules) add_kernels(code, kernels);
    result["kernels"] = kernels;
  }
  result["interpreted"] = callable.executable().interpreted();
  return result;
}

/// For each launch the name of its part, and the call of a library that it is, or "".
py::list launches(const Callable& callable) {
  const auto& image = callable.executable().image();
  py::list result;
  for (const auto& launch : image.launches) {
    const auto* routine = std::get_if<engine::RoutineCall>(&launch.code);
    result.append(py::make_tuple(launch.part, routine ? library::to_string(image.calls[routine->call]) : ""));
  }
  return result;
}

/// The evidence of all parts, and what the checker says of it: outcome, law, statement, reason and milliseconds.
py::tuple proof_of(const Callable& callable) {
  const auto& image = callable.executable().image();
  const auto verdict = [&] {
    const py::gil_scoped_release release;
    return engine::proof_of(image);
  }();
  py::list evidence;
  for (const auto& bytes : image.evidence)
    evidence.append(py::make_tuple(py::bytes(bytes), engine::print_evidence(bytes)));
  return py::make_tuple(proof::to_string(verdict.outcome), verdict.law, verdict.statement, verdict.reason,
                        verdict.milliseconds, evidence);
}

std::string assembly(const Callable& callable) {
  std::string text;
  for (const auto& code : callable.executable().image().functions) text += cpu::disassemble(code);
  return text;
}

py::dict profile(const Callable& callable, const py::args& args, const py::object& out) {
  auto profile = callable.profile(args, held_out(out));
  py::dict result;
  result["total_us"] = profile.total.count() / 1e3;
  result["kernels_us"] = profile.kernels.count() / 1e3;
  py::list launches;
  for (std::size_t i = 0; i < profile.launches.size(); ++i)
    launches.append(py::make_tuple(callable.executable().image().launches[i].part, profile.launches[i].count() / 1e3));
  result["launches"] = launches;
  return result;
}

std::shared_ptr<Callable> load(const py::bytes& bytes) {
  auto image = engine::Image::deserialise(std::string(bytes));
  engine::CompileStats stats;
  stats.sizes = engine::ranges_text(image);
  auto executable = std::make_shared<engine::Executable>(std::move(image), std::move(stats));
  if (!executable->runs_here())
    throw OptionsError(str("this machine cannot run code for target '", executable->image().target, "'"));
  return std::make_shared<Callable>(std::move(executable));
}

/// The code of \p callable for tensors like \p inputs.
std::shared_ptr<Callable> for_tensors(const Callable& callable, const py::args& inputs) {
  std::vector<TensorSpec> specs;
  for (const auto input : inputs) specs.push_back(spec_of(input, "an input"));
  return callable.for_inputs(specs);
}

std::vector<std::string> parameters_of(const engine::Image& image) {
  std::vector<std::string> names;
  for (const auto& argument : image.arguments)
    if (!argument.output) names.push_back(argument.name);
  return names;
}

/// A call of \p self with tensors by position and by name.
py::object call_executable(PyObject* self, PyObject* args, PyObject* named) {
  const auto& callable = instance_of<Callable>(self, "executable");
  const auto given = take_out(args, named, [&](const py::args& tensors, const py::kwargs& rest) {
    const auto& image = callable.executable().image();
    return in_order(image.function, parameters_of(image), tensors, rest);
  });
  return given.result(callable.call(given.tensors, given.out ? given.out : py::object(py::none())));
}

}  // namespace

void bind_executable(py::module_& m) {
  bind_class<Callable, std::shared_ptr<Callable>>(m, "Executable", "A def compiled for given tensors.",
                                                  py::dynamic_attr(), has_call<call_executable>())
      .def(py::init([](const std::shared_ptr<Callable>& other) { return other; }), py::arg("other"))
      .def("_profile", &profile, py::kw_only(), py::arg("out") = py::none())
      .def("_measure",
           [](const Callable& self) {
             const Unlocked unlocked;
             return engine::measure_seconds(self.executable());
           })
      .def("_stats", &stats)
      .def("_assembly", &assembly)
      .def("_proof", &proof_of)
      .def("_comprehension", [](const Callable& self) { return self.executable().image().source; })
      .def("_name", [](const Callable& self) { return self.executable().image().function; })
      .def("_arguments",
           [](const Callable& self) {
             py::list result;
             for (const auto& argument : self.executable().image().arguments)
               result.append(py::make_tuple(argument.name, argument.spec, argument.output));
             return result;
           })
      .def("_constants",
           [](const Callable& self) {
             py::list result;
             for (const auto& constant : self.executable().image().constants)
               result.append(py::make_tuple(constant.name, constant.spec));
             return result;
           })
      .def("_graph_nodes", &graph_nodes)
      .def("_launches", &launches)
      .def("_prepare",
           [](const Callable& self, int device) {
             if (!self.executable().image().is_for_gpu()) return;
             cuda::AtPlace at(current_place(device));
             self.executable().prepare();
           })
      .def("_defer_checks",
           [](Callable& self, bool defer) {
             self.set_outcome(defer ? engine::TestOutcome::Kept : engine::TestOutcome::Awaited);
           })
      .def("_check_earlier", [](const Callable& self) { self.executable().check_earlier_runs(); })
      .def("_device_source", [](const Callable& self) { return device_source(self.executable().image()); })
      .def("_cubin",
           [](const Callable& self) {
             const auto& modules = self.executable().image().modules;
             return py::bytes(modules.size() == 1 ? modules.front().cubin : std::string());
           })
      .def("_for_tensors", &for_tensors)
      .def("_serialise", [](const Callable& self) { return py::bytes(self.executable().image().serialise()); });
  m.def(
      "check",
      [] {
        Unlocked unlocked;
        engine::check_all_earlier_runs();
      },
      "Waits for the GPUs on which executables have deferred tests of index tensors (`defer_checks`), and raises "
      "EarlierRunError where one has failed.");
  m.def("load_executable", &load, py::arg("bytes"), "The executable that Executable.serialise() wrote.");
}

}  // namespace tc::python
