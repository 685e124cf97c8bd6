#include <pybind11/stl.h>

#include <algorithm>

#include "bind_class.h"
#include "bindings.h"
#include "cache.h"
#include "call_slot.h"
#include "constants.h"
#include "interrupt.h"
#include "py_function.h"
#include "sections.h"
#include "symbolic_shapes.h"
#include "tc/base/str.h"
#include "tc/engine/compile/nearest_mapping.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/define/gradient.h"
#include "tc/engine/define/returning_temporaries.h"
#include "tc/engine/define/specialise.h"
#include "tc/engine/describe/describe.h"
#include "tc/engine/describe/describe_work.h"
#include "tc/engine/graph/graph_derivations.h"
#include "tc/graph/bind.h"
#include "tc/lang/syntax/print.h"

namespace py = pybind11;

namespace tc::python {
namespace {

std::vector<TensorSpec> specs_of(const PyFunction& self, const py::sequence& args) {
  const auto& def = self.function()->def;
  std::vector<TensorSpec> result;
  for (std::size_t i = 0; i < args.size(); ++i) {
    py::object object = args[i];
    bool known = i < def.params.size();
    if (known && def.tensors.at(def.params[i].name).rank == 0 && is_number(object.ptr()))
      result.push_back(contiguous(def.tensors.at(def.params[i].name).type, {}));
    else
      result.push_back(spec_of(object, known ? def.params[i].name.c_str() : "argument"));
  }
  return result;
}

/// The device of the first of \p tensors that is on one, else on_cpu.
int device_of_tensors(const py::sequence& tensors) {
  for (auto item : tensors) {
    if (py::isinstance<TensorSpec>(item) || is_number(item.ptr())) continue;
    Borrowed tensor;
    tensor.take(item.ptr(), "argument");
    if (tensor.device != on_cpu) return tensor.device;
  }
  return on_cpu;
}

/// The tensors of an `out`: one, several, or none.
py::tuple outputs_of(const py::object& out) {
  if (out.is_none()) return py::tuple();
  bool several = py::isinstance<py::tuple>(out) || py::isinstance<py::list>(out);
  return several ? py::tuple(out) : py::make_tuple(out);
}

std::vector<TensorSpec> output_specs(const py::object& out) {
  std::vector<TensorSpec> result;
  for (auto item : outputs_of(out)) result.push_back(spec_of(item, "out"));
  return result;
}

/// \p settings for the device and the alignment of the tensors among \p inputs and \p out.
Settings for_tensors(const PyFunction& self, Settings settings, const py::tuple& inputs, const py::object& out) {
  settings = for_device(std::move(settings), device_of_tensors(inputs));
  std::vector<TensorView> views;
  for (const auto& tensors : {inputs, outputs_of(out)})
    for (auto item : tensors) {
      views.emplace_back();
      if (py::isinstance<TensorSpec>(item) || is_number(item.ptr())) continue;
      Borrowed tensor;
      tensor.take(item.ptr(), "argument");
      views.back() = tensor.view();
    }
  settings.unaligned = engine::unaligned_names(*self.function(), views);
  return settings;
}

/// compile() with the tensors of the parameters \p names bound.
std::shared_ptr<Callable> compile_bound(const PyFunction& self, const py::tuple& inputs, const py::object& outputs,
                                        const Settings& settings, const std::vector<std::string>& names) {
  const auto out = held_out(outputs);
  std::vector<engine::Constant> constants;
  std::vector<HeldTensor> held;
  const auto& params = self.function()->def.params;
  for (const auto& name : names) {
    const auto param = std::find_if(params.begin(), params.end(), [&](const auto& p) { return p.name == name; });
    if (param == params.end())
      throw ArgumentError(str("'", self.function()->name(), "' has no parameter '", name, "' to bind a constant to"));
    const auto place = static_cast<std::size_t>(param - params.begin());
    if (place >= inputs.size()) throw ArgumentError(str("the constant '", name, "' is not given"));
    const auto given = py::object(inputs[place]);
    constants.push_back(constant_of(name, self.function()->def.tensors.at(name).type, given));
    held.emplace_back(name, given);
  }
  return self.compile(specs_of(self, inputs), output_specs(out), for_tensors(self, settings, inputs, out),
                      std::move(constants), std::move(held));
}

py::tuple infer(const PyFunction& self, const py::args& args) {
  auto inputs = specs_of(self, args);
  py::list outputs;
  for (const auto& info : engine::infer_output_tensor_info(*self.function(), inputs))
    outputs.append(py::make_tuple(info.name, std::string(name(info.dtype)), py::tuple(py::cast(info.shape)),
                                  py::tuple(py::cast(info.strides)), py::tuple(py::cast(info.mins))));
  if (self.function()->late)
    if (const auto graph = graph::bind(self.function()->defs, self.function()->name(), inputs))
      return py::make_tuple(outputs, engine::describe_ranges(*graph), engine::describe_preconditions(*graph));
  auto whole = engine::inlined(self.function());
  auto sizes = engine::bind_inputs(*whole, inputs);
  return py::make_tuple(outputs, engine::describe_ranges(*whole, sizes), engine::describe_preconditions(*whole));
}

CacheKey key_of(const PyFunction& self, const py::tuple& inputs, const py::object& outputs, const Settings& settings) {
  const auto out = held_out(outputs);
  auto arguments = engine::make_arguments(*self.function(), specs_of(self, inputs), output_specs(out));
  auto target = for_device(settings, device_of_tensors(inputs)).options().target;
  return {self.function(), engine::persistent_key(*self.function(), arguments, target)};
}

/// What the words "cached", "tuned" and "default" mean, or no word.
std::optional<engine::MappingFrom> engine_mapping_from(const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  if (*word == "cached") return engine::MappingFrom::Cached;
  if (*word == "tuned") return engine::MappingFrom::Tuned;
  return engine::MappingFrom::Given;
}

/// \p settings as the code of \p callable was compiled.
engine::CompileOptions options_of(const Callable& callable, const Settings& settings, Cancellation cancellation) {
  auto options = settings.options();
  options.stages.cancellation = std::move(cancellation);
  const auto& image = callable.executable().image();
  options.mapping = options::MappingOptions::parse(image.options);
  options.target = Target::parse(image.target);
  return options;
}

py::list stage_texts(const PyFunction& self, const Callable& callable, const Settings& settings) {
  auto records = interruptible([&](Cancellation cancellation) {
    return engine::stage_texts(self.function(), callable.executable().image().all_arguments(),
                               options_of(callable, settings, std::move(cancellation)));
  });
  py::list result;
  for (const auto& record : records) result.append(py::make_tuple(record.name, record.milliseconds, record.text));
  return result;
}

py::list sections(const PyFunction& self, const Callable& callable, const Settings& settings) {
  return list_of(interruptible([&](Cancellation cancellation) {
    auto options = options_of(callable, settings, std::move(cancellation));
    const auto arguments = callable.executable().image().all_arguments();
    options.unaligned = engine::unaligned_names(arguments);
    return engine::describe_sections(self.function(), arguments, options);
  }));
}

engine::WorkReport work_of(const PyFunction& self, const Callable& callable, const Settings& settings) {
  return interruptible([&](Cancellation cancellation) {
    auto options = options_of(callable, settings, std::move(cancellation));
    options.interpret = callable.executable().interpreted();
    return engine::describe_work(self.function(), callable.executable().image().all_arguments(), options);
  });
}

py::tuple define(const std::string& text, const std::string& name) {
  auto module = interruptible([&](Cancellation cancellation) {
    StageOptions<engine::DefineState> options;
    options.cancellation = std::move(cancellation);
    return engine::define(text, name, options);
  });
  py::list functions;
  for (const auto& function : module.functions) functions.append(Definition{function});
  return py::make_tuple(functions, module.warnings);
}

/// work(limits) within those of \p self, without the interpreter's lock and interrupted by Ctrl-C.
template <typename Work>
auto within_limits(const PyFunction& self, Work&& work) {
  return interruptible([&](const Cancellation& cancellation) {
    engine::Limits limits{cancellation, self.settings().memory_limit};
    limits.cancellation.set_time_limit(self.settings().time_limit);
    return work(limits);
  });
}

/// The gradient of \p self as a def, and what it takes and gives.
py::tuple gradient(const PyFunction& self, std::vector<std::string> wrt, std::vector<std::string> of, bool save) {
  auto made = within_limits(self, [&](const engine::Limits& limits) {
    return engine::gradient(self.function(), {std::move(wrt), std::move(of), save}, limits);
  });
  return py::make_tuple(Definition{made.function}, made.wrt, made.saved, made.seeds, made.unread, made.notes);
}

/// The Jacobian-vector product of \p self as a def, and what it takes and gives.
py::tuple tangent(const PyFunction& self, std::vector<std::string> wrt, std::vector<std::string> of) {
  auto made = within_limits(self, [&](const engine::Limits& limits) {
    return engine::tangent(self.function(), {.wrt = std::move(wrt), .of = std::move(of)}, limits);
  });
  return py::make_tuple(Definition{made.function}, made.tangents, made.wrt, made.of);
}

/// \p self for a batch as a def, and which returns have the batch.
py::tuple batch(const PyFunction& self, const std::map<std::string, int>& places) {
  auto made =
      within_limits(self, [&](const engine::Limits& limits) { return engine::batch(self.function(), places, limits); });
  return py::make_tuple(Definition{made.function}, made.batched);
}

/// The type names of parameters of a generic def, by parameter; None of another def.
std::optional<std::map<std::string, std::string>> type_names(const PyFunction& self) {
  if (!self.function()->generic) return std::nullopt;
  std::map<std::string, std::string> result;
  for (const auto& param : self.function()->generic->def().params)
    if (!param.type_name.empty()) result[param.name] = param.type_name;
  return result;
}

/// The def for arguments of these types and ranks, None being that of a number, and the text that it stands in.
py::tuple instance(const PyFunction& self, const std::vector<std::optional<std::pair<std::string, int>>>& kinds) {
  std::vector<lang::Operand> operands;
  for (const auto& kind : kinds) {
    operands.emplace_back();
    if (!kind) continue;
    operands.back() = {parse_dtype(kind->first), kind->second};
    if (!operands.back().type) throw ArgumentError(str("tensors of type ", kind->first, " are not taken"));
  }
  const auto made = engine::instance_for(self.function(), operands);
  return py::make_tuple(Definition{made}, made->file->text);
}

std::vector<std::string> names_of(const std::vector<lang::TensorDecl>& decls) {
  std::vector<std::string> names;
  for (const auto& decl : decls) names.push_back(decl.name);
  return names;
}

/// A call of \p self with tensors by position and by name.
py::object call_function(PyObject* self, PyObject* args, PyObject* named) {
  auto& function = instance_of<PyFunction>(self, "function");
  const auto given = take_out(
      args, named, [&](const py::args& tensors, const py::kwargs& rest) { return function.in_order(tensors, rest); });
  return given.result(function.call(self, given.tensors.ptr(), given.out.ptr()));
}

/// Objects of \p type, derived from Function, are called straight, whatever its `__call__` says.
void call_straight(const py::type& type) {
  if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()),
                        reinterpret_cast<PyTypeObject*>(py::type::of<PyFunction>().ptr())))
    throw ArgumentError("call_straight takes a class derived from Function");
  reinterpret_cast<PyTypeObject*>(type.ptr())->tp_call = call_slot<call_function>;
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

void bind_settings(py::module_& m) {
  bind_class<Settings>(m, "Settings", "How defs are compiled.")
      .def(py::init([](std::optional<std::string> target, std::optional<options::MappingOptions> mapping,
                       const std::optional<std::string>& mapping_from, std::shared_ptr<cache::Cache> cache,
                       bool use_cache, std::optional<std::string> schedule, std::optional<std::string> nest,
                       const std::string& partition, std::string libraries, const std::string& layouts, int derive,
                       bool fold_scales, double time_limit, std::size_t memory_limit, std::set<std::string> dynamic) {
             return Settings{.target = std::move(target),
                             .mapping = std::move(mapping),
                             .mapping_from = engine_mapping_from(mapping_from),
                             .cache = std::move(cache),
                             .use_cache = use_cache,
                             .schedule = std::move(schedule),
                             .nest = std::move(nest),
                             .partition = graph::parse_partition(partition),
                             .libraries = std::move(libraries),
                             .layouts = graph::parse_layout_mode(layouts),
                             .derive = engine::checked_derive(derive),
                             .fold_scales = fold_scales,
                             .time_limit = time_limit,
                             .memory_limit = memory_limit,
                             .dynamic = std::move(dynamic)};
           }),
           py::kw_only(), py::arg("target") = py::none(), py::arg("mapping") = py::none(),
           py::arg("mapping_from") = py::none(), py::arg("cache") = py::none(), py::arg("use_cache") = true,
           py::arg("schedule") = py::none(), py::arg("nest") = py::none(), py::arg("partition") = "auto",
           py::arg("libraries") = "none", py::arg("layouts") = "constants", py::arg("derive") = 0,
           py::arg("fold_scales") = false, py::arg("time_limit") = 0.0, py::arg("memory_limit") = 0,
           py::arg("dynamic") = std::set<std::string>());
}

py::tuple kind_of(const py::object& tensor) {
  const auto spec = spec_of(tensor, "argument");
  return py::make_tuple(std::string(name(spec.dtype)), spec.rank());
}

/// What makes the functions of a def for values of parameters, for types and ranks.
template <typename Class>
void bind_instances(py::module_& m, Class& function) {
  m.def("kind_of", &kind_of, py::arg("tensor"), "The element type and the rank of a tensor of any library.");
  function
      .def("_valued_parameters", [](const PyFunction& self) { return engine::valued_parameters(self.function()->def); })
      .def("_specialised_text",
           [](const PyFunction& self, const lang::SizeMap& values) {
             return engine::source_text(*engine::specialised(self.function(), values));
           })
      .def("_type_names", &type_names)
      .def("_instance", &instance, py::arg("kinds"))
      .def("_definition", [](const PyFunction& self) { return Definition{self.function()}; })
      .def("_shown_signature", [](const PyFunction& self) { return shown_signature_of(*self.function()); });
}

}  // namespace

void bind_function(py::module_& m) {
  bind_settings(m);
  bind_class<Definition>(m, "Definition", "A def of a text, understood.");
  auto function = bind_class<PyFunction, std::shared_ptr<PyFunction>>(m, "Function", "One def of a text.",
                                                                      py::dynamic_attr(), has_call<call_function>());
  bind_instances(m, function);
  function
      .def(py::init([](const Definition& definition, const Settings& settings) {
             settings.options();
             return std::make_shared<PyFunction>(definition.function, settings);
           }),
           py::arg("definition"), py::arg("settings"))
      .def(
          "_run",
          [](PyFunction& self, const py::args& args, const py::object& out) {
            if (out.is_none()) return self.run(args.ptr(), nullptr);
            self.run(args.ptr(), held_out(out).ptr());
            return out;
          },
          py::kw_only(), py::arg("out") = py::none())
      .def("_in_order", &PyFunction::in_order)
      .def("_gradient", &gradient, py::arg("wrt"), py::arg("of"), py::arg("save"))
      .def("_settings", &PyFunction::settings)
      .def("_tangent", &tangent, py::arg("wrt"), py::arg("of"))
      .def("_batch", &batch, py::arg("places"))
      .def("_signature", [](const PyFunction& self) { return signature_of(*self.function()); })
      .def("_symbolic_shapes",
           [](const PyFunction& self) { return symbolic_shapes(*engine::inlined(self.function())); })
      .def("_parameters", [](const PyFunction& self) { return names_of(self.function()->def.params); })
      .def("_returning_temporaries",
           [](const PyFunction& self) { return Definition{engine::returning_temporaries(self.function())}; })
      .def("_float_returns",
           [](const PyFunction& self) {
             const auto& def = self.function()->def;
             auto names = names_of(def.returns);
             std::erase_if(names, [&](const auto& name) { return !is_float(def.tensors.at(name).type); });
             return names;
           })
      .def("_returns", [](const PyFunction& self) { return names_of(self.function()->def.returns); })
      .def("_name", [](const PyFunction& self) { return self.function()->name(); })
      .def("_source", [](const PyFunction& self) { return engine::source_text(*self.function()); })
      .def("_inlined_source", [](const PyFunction& self) { return lang::print(engine::inlined(self.function())->def); })
      .def("_compiled_count", &PyFunction::compiled_count)
      .def_property(
          "max_compiled", &PyFunction::max_compiled, &PyFunction::set_max_compiled,
          "How many compiled programs it keeps, of all types, shapes and strides: those that were called last.")
      .def("_infer", &infer)
      .def("_compile", &compile_bound, py::arg("inputs"), py::arg("out"), py::arg("settings"),
           py::arg("constants") = std::vector<std::string>())
      .def("_cache_key", &key_of, py::arg("inputs"), py::arg("out"), py::arg("settings"))
      .def("_stage_texts", &stage_texts)
      .def("_sections", &sections)
      .def("_work", &work_of);
  m.def("call_straight", &call_straight, py::arg("type"),
        "Has objects of a class of functions called without its __call__.");
  m.def("define", &define, py::arg("text"), py::arg("name"), "The defs of a text, and warnings about it.");
}

}  // namespace tc::python
