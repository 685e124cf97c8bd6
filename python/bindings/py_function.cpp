#include "py_function.h"

#include <algorithm>

#include "cache.h"
#include "interrupt.h"
#include "place.h"
#include "tc/base/str.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/environment.h"
#include "torch_state.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// Executables of all texts, shared by equal programs.
engine::ExecutableCache& shared_cache() {
  static auto* cache = new engine::ExecutableCache();
  return *cache;
}

/// A RuntimeWarning for each phase of the compiler that ran out of quota: the code is right, but slow.
void warn_of_fallbacks(const std::string& name, const engine::Executable& executable) {
  for (const auto& fallback : executable.stats().fallbacks) {
    auto text = str("'", name, "' is compiled to slow code: ", fallback,
                    ". The mapping option quota allows more, and defs of fewer statements need less.");
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
  }
}

/// Does anything in \p args, a tuple, need more of torch than its memory?
bool is_watched(PyObject* args) {
  bool of_torch = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* object = PyTuple_GET_ITEM(args, i);
    if (!is_of_torch(object)) continue;
    if (watches_itself(object)) return true;
    of_torch = true;
  }
  return of_torch && torch_watches();
}

/// function(arguments...) of the module `tensor_comprehensions.MODULE`.
template <typename... Arguments>
py::object call_python(const char* module, const char* function, Arguments&&... arguments) {
  const auto full = std::string("tensor_comprehensions.") + module;
  return py::module_::import(full.c_str()).attr(function)(std::forward<Arguments>(arguments)...);
}

py::object call_operator(PyObject* self, PyObject* args, PyObject* out) {
  return call_python("operators", "call", py::handle(self), py::handle(args), py::handle(out ? out : Py_None));
}

/// Does a tensor in \p args have no memory of its own, as those of "meta" and those that torch has wrapped?
bool lacks_memory(PyObject* args) {
  bool of_torch = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) of_torch = of_torch || is_of_torch(PyTuple_GET_ITEM(args, i));
  return of_torch && call_python("operators", "lacks_memory", py::handle(args)).cast<bool>();
}

/// Is one of \p args an array that JAX traces: without memory, of a program to be?
bool is_traced_by_jax(PyObject* args) {
  py::object modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("jax")) return false;
  py::object tracer = modules["jax"].attr("core").attr("Tracer");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (py::isinstance(PyTuple_GET_ITEM(args, i), tracer)) return true;
  return false;
}

/// The call of a generic def on \p args as torch's autocast converts them; NotImplemented where it has nothing to convert.
py::object call_in_autocast(PyObject* self, PyObject* args, PyObject* out) {
  bool of_torch = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) of_torch = of_torch || is_of_torch(PyTuple_GET_ITEM(args, i));
  if (!of_torch) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return call_python("autograd", "call_in_autocast", py::handle(self), py::handle(args),
                     py::handle(out ? out : Py_None));
}

/// What torch records of a call whose tensors require grad.
py::object record(PyObject* self, PyObject* args) {
  static PyObject* function = nullptr;
  if (!function)
    function = py::object(py::module_::import("tensor_comprehensions.autograd").attr("record")).release().ptr();
  PyObject* arguments[] = {self, args};
  auto result = py::reinterpret_steal<py::object>(PyObject_Vectorcall(function, arguments, 2, nullptr));
  if (!result) throw py::error_already_set();
  return result;
}

}  // namespace

engine::CompileOptions Settings::options() const {
  auto result = engine::options_from_environment();
  if (target) result.target = Target::parse(*target);
  if (mapping || mapping_from) result.mapping = mapping.value_or(options::MappingOptions());
  if (mapping || mapping_from) result.mapping_from = mapping_from.value_or(engine::MappingFrom::Given);
  if (cache) result.cache = cache;
  if (!use_cache) result.cache = nullptr;
  if (schedule) result.stages.replace["schedule"] = *schedule;
  if (nest) result.stages.replace["nest"] = *nest;
  result.partition = partition;
  result.libraries = engine::checked_libraries(libraries);
  result.layouts = layouts;
  result.derive = derive;
  result.fold_scales = fold_scales;
  result.dynamic = dynamic;
  result.unaligned = unaligned;
  result.time_limit = time_limit;
  result.memory_limit = memory_limit;
  return result;
}

Settings for_device(Settings settings, int device) {
  if (device != on_cpu && !settings.target) settings.target = cuda::device_target(device);
  return settings;
}

PyFunction::PyFunction(std::shared_ptr<const engine::Function> function, Settings settings)
    : function_(std::move(function)), settings_(std::move(settings)) {
  const auto& def = function_->def;
  signature_.function = def.name;
  signature_.inputs = def.params.size();
  for (const auto& param : def.params) add(param.name);
  for (const auto& ret : def.returns) add(ret.name);
  if (!function_->generic) return;
  const auto& params = function_->generic->def().params;
  for (const auto& param : params) {
    const auto gives = [&](const auto& other) { return other.dims && other.type_name == param.type_name; };
    const auto giver = param.type_name.empty() ? params.end() : std::find_if(params.begin(), params.end(), gives);
    signature_.type_givers.push_back(giver == params.end() ? -1 : static_cast<int>(giver - params.begin()));
  }
}

void PyFunction::add(const std::string& name) {
  const auto& tensor = function_->def.tensors.at(name);
  signature_.add(name, tensor.type, tensor.rank);
}

py::object PyFunction::call(PyObject* self, PyObject* args, PyObject* out) {
  if (!function_->generic) return call_as_given(self, args, out);
  try {
    return call_as_given(self, args, out);
  } catch (const ArgumentError&) {
    auto result = call_in_autocast(self, args, out);
    if (result.is(py::reinterpret_borrow<py::object>(Py_NotImplemented))) throw;
    return result;
  }
}

py::object PyFunction::call_as_given(PyObject* self, PyObject* args, PyObject* out) {
  if (is_watched(args)) return call_operator(self, args, out);
  Operands operands(signature_.names.size());
  try {
    signature_.take(operands, args, out ? out : Py_None);
  } catch (const ArgumentError&) {
    if (is_traced_by_jax(args))
      return call_python("jax", "call", py::handle(self), py::handle(args), py::handle(out ? out : Py_None));
    if (!lacks_memory(args)) throw;
    return call_operator(self, args, out);
  }
  if (const char* name = signature_.recorded(operands, out ? operands.size() : signature_.inputs)) {
    if (out) throw_requires_grad(name);
    return record(self, args);
  }
  return run(operands, out);
}

py::object PyFunction::run(PyObject* args, PyObject* out) {
  Operands operands(signature_.names.size());
  signature_.take(operands, args, out ? out : Py_None);
  return run(operands, out);
}

py::object PyFunction::run(Operands& operands, PyObject* out) {
  return find(operands, out ? operands.size() : signature_.inputs)->run(operands, out);
}

py::args PyFunction::in_order(const py::args& args, const py::kwargs& named) const {
  const std::vector<std::string> params(signature_.names.begin(), signature_.names.begin() + signature_.inputs);
  return tc::python::in_order(signature_.function, params, args, named);
}

std::shared_ptr<Callable> PyFunction::compile(const std::vector<TensorSpec>& inputs,
                                              const std::vector<TensorSpec>& outputs, const Settings& settings,
                                              std::vector<engine::Constant> constants,
                                              std::vector<HeldTensor> held) const {
  follow_threads_of_torch();
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

std::size_t PyFunction::compiled_count() const { return compiled_.size(); }

void PyFunction::set_max_compiled(std::size_t most) {
  if (most == 0) throw ArgumentError("max_compiled is 1 at least: a call runs what it compiled");
  max_compiled_ = most;
  let_go();
}

/// Drops the executables that were found longest ago; calls that run them hold them.
void PyFunction::let_go() {
  while (compiled_.size() > max_compiled_)
    compiled_.erase(std::ranges::min_element(compiled_, {}, [](const auto& entry) { return entry.second.found; }));
}

/// The executable for the first \p end operands; outputs that are not among them are dense.
std::shared_ptr<const Callable> PyFunction::find(Operands& operands, std::size_t end) {
  auto generation = cache::Cache::generation();
  int device = device_of(operands, end);
  if (last_ && last_end_ == end && last_device_ == device && last_generation_ == generation &&
      last_->matches(operands, 0, end))
    return last_;
  auto remember = [&](const std::shared_ptr<const Callable>& callable) {
    last_end_ = end;
    last_device_ = device;
    last_generation_ = generation;
    return last_ = callable;
  };
  std::uint64_t hash = end + 64 * generation;
  for (std::size_t i = 0; i < end; ++i) hash = operands[i].hash(hash);
  for (auto [entry, behind] = compiled_.equal_range(hash); entry != behind; ++entry) {
    if (!entry->second.callable->matches(operands, 0, end)) continue;
    entry->second.found = ++searches_;
    return remember(entry->second.callable);
  }
  std::vector<TensorSpec> ins, outs;
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < end; ++i) {
    views.push_back(operands[i].view());
    (i < signature_.inputs ? ins : outs).push_back(views.back());
  }
  auto settings = for_device(settings_, device);
  settings.unaligned = engine::unaligned_names(*function_, views);
  auto made = compile(ins, outs, settings);
  compiled_.emplace(hash, Compiled{made, ++searches_});
  let_go();
  return remember(made);
}

}  // namespace tc::python
