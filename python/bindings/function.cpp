#include <pybind11/stl.h>

#include <unordered_map>

#include "bindings.h"
#include "cache.h"
#include "callable.h"
#include "constants.h"
#include "interrupt.h"
#include "place.h"
#include "tc/base/str.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/define/gradient.h"
#include "tc/engine/describe/describe.h"
#include "tc/engine/describe/describe_work.h"
#include "tc/engine/environment.h"
#include "tc/engine/persistent.h"
#include "tc/graph/bind.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// Executables of all texts, shared by equal programs.
engine::ExecutableCache& shared_cache() {
  static auto* cache = new engine::ExecutableCache();
  return *cache;
}

/// How a def is to be compiled, as Python gives it.
struct Settings {
  std::optional<std::string> target;
  std::optional<options::MappingOptions> mapping;
  std::optional<engine::MappingFrom> mapping_from;  ///< where there is no mapping; none: as the environment says
  std::shared_ptr<cache::Cache> cache;              ///< null: the environment's
  bool use_cache = true;
  std::optional<std::string> schedule;
  graph::Partition partition = graph::Partition::Auto;
  std::string libraries = "none";
  double time_limit = 0;
  std::size_t memory_limit = 0;
  std::set<std::string> unaligned = {};  ///< of the tensors compiled for

  engine::CompileOptions options() const {
    auto result = engine::options_from_environment();
    if (target) result.target = Target::parse(*target);
    if (mapping || mapping_from) result.mapping = mapping.value_or(options::MappingOptions());
    if (mapping || mapping_from) result.mapping_from = mapping_from.value_or(engine::MappingFrom::Given);
    if (cache) result.cache = cache;
    if (!use_cache) result.cache = nullptr;
    if (schedule) result.stages.replace["schedule"] = *schedule;
    result.partition = partition;
    result.libraries = engine::checked_libraries(libraries);
    result.unaligned = unaligned;
    result.time_limit = time_limit;
    result.memory_limit = memory_limit;
    return result;
  }
};

/// \p settings for the GPU that \p device is, unless they name a target.
Settings for_device(Settings settings, int device) {
  if (device != on_cpu && !settings.target) settings.target = cuda::device_target(device);
  return settings;
}

/// A def of a text, for Python to keep.
struct Definition {
  std::shared_ptr<const engine::Function> function;
};

/// A RuntimeWarning for each phase of the compiler that ran out of quota: the code is right, but slow.
void warn_of_fallbacks(const std::string& name, const engine::Executable& executable) {
  for (const auto& fallback : executable.stats().fallbacks) {
    auto text = str("'", name, "' is compiled to slow code: ", fallback,
                    ". The mapping option quota allows more, and defs of fewer statements need less.");
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
  }
}

/// One def of a text: called with tensors, it compiles on first use for their types, shapes and strides.
class PyFunction {
 public:
  PyFunction(std::shared_ptr<const engine::Function> function, Settings settings)
      : function_(std::move(function)), settings_(std::move(settings)) {
    const auto& def = function_->def;
    signature_.function = def.name;
    signature_.inputs = def.params.size();
    for (const auto& param : def.params) add(param.name);
    for (const auto& ret : def.returns) add(ret.name);
  }

  /// Runs the def; by torch's autograd where a tensor requires grad.
  py::object call(const py::args& args, const py::object& out) {
    try {
      return call_plain(args, out);
    } catch (const RequiresGrad&) {
      if (!out.is_none()) throw;
      auto self = py::cast(this, py::return_value_policy::reference);
      return py::module_::import("tensor_comprehensions.autograd").attr("call")(self, args);
    }
  }

  py::object call_plain(const py::args& args, const py::object& out) {
    Operands operands(signature_.names.size());
    signature_.take(operands, args.ptr(), out.ptr());
    auto end = out.is_none() ? signature_.inputs : operands.size();
    return find(operands, end).run(operands, out.is_none() ? nullptr : out.ptr());
  }

  /// call() with tensors by the names of parameters; `out` may be among them.
  py::object call_named(const py::args& args, py::kwargs named) {
    py::object out = named.attr("pop")("out", py::none());
    return call(in_order(args, named), out);
  }

  /// The tensors of a call in the order of the parameters: \p args, then those that \p named names.
  py::args in_order(const py::args& args, const py::kwargs& named) const {
    const std::vector<std::string> params(signature_.names.begin(), signature_.names.begin() + signature_.inputs);
    return tc::python::in_order(signature_.function, params, args, named);
  }

  std::shared_ptr<Callable> compile(const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                    const Settings& settings, std::vector<engine::Constant> constants = {},
                                    std::vector<HeldTensor> held = {}) const {
    auto options = settings.options();
    options.constants = std::move(constants);
    auto executable = interruptible([&](Cancellation cancellation) {
      options.stages.cancellation = cancellation;
      return engine::compile_cached(shared_cache(), function_, inputs, outputs, options);
    });
    if (options.cache) give_warnings(*options.cache);
    warn_of_fallbacks(function_->name(), *executable);
    return std::make_shared<Callable>(std::move(executable), std::move(held));
  }

  const std::shared_ptr<const engine::Function>& function() const { return function_; }
  const Settings& settings() const { return settings_; }
  std::size_t compiled_count() const {
    std::size_t count = 0;
    for (const auto& [hash, entries] : compiled_) count += entries.size();
    return count;
  }

 private:
  void add(const std::string& name) {
    const auto& tensor = function_->def.tensors.at(name);
    signature_.add(name, tensor.type, tensor.rank);
  }

  /// The executable for the first \p end operands; outputs that are not among them are dense.
  const Callable& find(Operands& operands, std::size_t end) {
    auto generation = cache::Cache::generation();
    int device = device_of(operands, end);
    if (last_ && last_end_ == end && last_device_ == device && last_generation_ == generation &&
        last_->matches(operands, 0, end))
      return *last_;
    std::uint64_t hash = end + 64 * generation;
    for (std::size_t i = 0; i < end; ++i) hash = operands[i].hash(hash);
    for (const auto& callable : compiled_[hash])
      if (callable->matches(operands, 0, end)) return remember(callable.get(), end, device, generation);
    std::vector<TensorSpec> ins, outs;
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < end; ++i) {
      views.push_back(operands[i].view());
      (i < signature_.inputs ? ins : outs).push_back(views.back());
    }
    auto settings = for_device(settings_, device);
    settings.unaligned = engine::unaligned_names(*function_, views);
    auto made = compile(ins, outs, settings);
    auto& entries = compiled_[hash];
    entries.push_back(std::move(made));
    return remember(entries.back().get(), end, device, generation);
  }

  const Callable& remember(const Callable* callable, std::size_t end, int device, std::uint64_t generation) {
    last_ = callable;
    last_end_ = end;
    last_device_ = device;
    last_generation_ = generation;
    return *callable;
  }

  std::shared_ptr<const engine::Function> function_;
  Settings settings_;
  Signature signature_;
  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<Callable>>> compiled_;
  const Callable* last_ = nullptr;
  std::size_t last_end_ = 0;
  int last_device_ = on_cpu;
  std::uint64_t last_generation_ = 0;  ///< of the options in caches, which decide what is compiled
};

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
std::shared_ptr<Callable> compile_bound(const PyFunction& self, const py::tuple& inputs, const py::object& out,
                                        const Settings& settings, const std::vector<std::string>& names) {
  std::vector<engine::Constant> constants;
  std::vector<HeldTensor> held;
  const auto& params = self.function()->def.params;
  for (const auto& name : names) {
    const auto param = std::find_if(params.begin(), params.end(), [&](const auto& p) { return p.name == name; });
    if (param == params.end())
      throw ArgumentError(str("'", self.function()->name(), "' has no parameter '", name, "' to bind a constant to"));
    const auto given = py::object(inputs[static_cast<std::size_t>(param - params.begin())]);
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

CacheKey key_of(const PyFunction& self, const py::tuple& inputs, const py::object& out, const Settings& settings) {
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

py::list stage_texts(const PyFunction& self, const std::shared_ptr<Callable>& callable, const Settings& settings) {
  auto records = interruptible([&](Cancellation cancellation) {
    auto options = settings.options();
    options.stages.cancellation = cancellation;
    const auto& image = callable->executable().image();
    options.mapping = options::MappingOptions::parse(image.options);
    options.target = Target::parse(image.target);
    return engine::stage_texts(self.function(), image.all_arguments(), options);
  });
  py::list result;
  for (const auto& record : records) result.append(py::make_tuple(record.name, record.milliseconds, record.text));
  return result;
}

engine::WorkReport work_of(const PyFunction& self, const std::shared_ptr<Callable>& callable,
                           const Settings& settings) {
  return interruptible([&](Cancellation cancellation) {
    auto options = settings.options();
    options.stages.cancellation = cancellation;
    const auto& image = callable->executable().image();
    options.mapping = options::MappingOptions::parse(image.options);
    options.target = Target::parse(image.target);
    options.interpret = callable->executable().interpreted();
    return engine::describe_work(self.function(), image.all_arguments(), options);
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

/// The gradient of \p self as a def, its settings, and what it takes and gives.
py::tuple gradient(const PyFunction& self, std::vector<std::string> wrt, std::vector<std::string> of, bool save) {
  auto made = engine::gradient(self.function(), {std::move(wrt), std::move(of), save});
  return py::make_tuple(Definition{made.function}, self.settings(), made.wrt, made.saved, made.seeds, made.unread,
                        made.notes);
}

std::vector<std::string> names_of(const std::vector<lang::TensorDecl>& decls) {
  std::vector<std::string> names;
  for (const auto& decl : decls) names.push_back(decl.name);
  return names;
}

}  // namespace

void bind_function(py::module_& m) {
  py::class_<Settings>(m, "Settings", "How defs are compiled.")
      .def(py::init([](std::optional<std::string> target, std::optional<options::MappingOptions> mapping,
                       const std::optional<std::string>& mapping_from, std::shared_ptr<cache::Cache> cache,
                       bool use_cache, std::optional<std::string> schedule, const std::string& partition,
                       std::string libraries, double time_limit, std::size_t memory_limit) {
             return Settings{
                 std::move(target), std::move(mapping),  engine_mapping_from(mapping_from), std::move(cache),
                 use_cache,         std::move(schedule), graph::parse_partition(partition), std::move(libraries),
                 time_limit,        memory_limit};
           }),
           py::kw_only(), py::arg("target") = py::none(), py::arg("mapping") = py::none(),
           py::arg("mapping_from") = py::none(), py::arg("cache") = py::none(), py::arg("use_cache") = true,
           py::arg("schedule") = py::none(), py::arg("partition") = "auto", py::arg("libraries") = "none",
           py::arg("time_limit") = 0.0, py::arg("memory_limit") = 0);
  py::class_<Definition>(m, "Definition", "A def of a text, understood.");
  py::class_<PyFunction, std::shared_ptr<PyFunction>>(m, "Function", "One def of a text.", py::dynamic_attr())
      .def(py::init([](const Definition& definition, const Settings& settings) {
             settings.options();
             return std::make_shared<PyFunction>(definition.function, settings);
           }),
           py::arg("definition"), py::arg("settings"))
      .def("__call__", &PyFunction::call, py::kw_only(), py::arg("out") = py::none())
      .def("__call__", &PyFunction::call_named)
      .def("_in_order", &PyFunction::in_order)
      .def("_gradient", &gradient, py::arg("wrt"), py::arg("of"), py::arg("save"))
      .def("_parameters", [](const PyFunction& self) { return names_of(self.function()->def.params); })
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
      .def("_compiled_count", &PyFunction::compiled_count)
      .def("_infer", &infer)
      .def("_compile", &compile_bound, py::arg("inputs"), py::arg("out"), py::arg("settings"),
           py::arg("constants") = std::vector<std::string>())
      .def("_cache_key", &key_of, py::arg("inputs"), py::arg("out"), py::arg("settings"))
      .def("_stage_texts", &stage_texts)
      .def("_work", &work_of);
  m.def("define", &define, py::arg("text"), py::arg("name"), "The defs of a text, and warnings about it.");
}

}  // namespace tc::python
