#include "callable.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.h"
#include "interpreter_lock.h"
#include "place.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "torch_state.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// Addresses of the arguments of one run.
class Pointers {
 public:
  explicit Pointers(std::size_t size) : more_(size > few ? new void*[size] : nullptr) {}
  void** data() { return more_ ? more_.get() : few_; }

 private:
  static constexpr std::size_t few = 16;
  void* few_[few];
  std::unique_ptr<void*[]> more_;
};

std::intptr_t address(const Borrowed& operand) { return reinterpret_cast<std::intptr_t>(operand.data); }

/// How often torch has seen \p tensor changed; 0 for those of others, who do not count.
long version_of(const py::object& tensor) {
  static PyObject* const name = PyUnicode_InternFromString("_version");
  auto* version = PyObject_GetAttr(tensor.ptr(), name);
  if (!version) {
    PyErr_Clear();
    return 0;
  }
  return py::reinterpret_steal<py::object>(version).cast<long>();
}

/// Tells torch that \p tensor has been changed: what autograd saved of it before is not to be used.
void count_change(PyObject* tensor) {
  static auto* increment =
      new py::object(py::module_::import("torch").attr("autograd").attr("graph").attr("increment_version"));
  if (!py::reinterpret_steal<py::object>(PyObject_CallOneArg(increment->ptr(), tensor))) throw py::error_already_set();
}

}  // namespace

void Signature::add(const std::string& name, DType type, int rank) {
  names.push_back(name);
  types.push_back(type);
  ranks.push_back(rank);
}

void Signature::take(Operands& operands, PyObject* args, PyObject* out) const {
  if (static_cast<std::size_t>(PyTuple_GET_SIZE(args)) != inputs)
    throw ArgumentError(str("'", function, "' takes ", inputs, inputs == 1 ? " tensor (" : " tensors (",
                            join(std::vector<std::string>(names.begin(), names.begin() + inputs)), "), ",
                            PyTuple_GET_SIZE(args), PyTuple_GET_SIZE(args) == 1 ? " was given" : " were given"));
  for (std::size_t i = 0; i < inputs; ++i) {
    PyObject* object = PyTuple_GET_ITEM(args, i);
    if (ranks[i] == 0 && is_number(object) && !type_givers.empty()) continue;
    if (ranks[i] == 0 && is_number(object))
      operands[i].take_number(object, types[i], names[i].c_str());
    else
      operands[i].take(object, names[i].c_str());
  }
  if (!type_givers.empty()) take_numbers(operands, args);
  if (out == Py_None) return;
  bool several = PyTuple_Check(out);
  auto given = several ? static_cast<std::size_t>(PyTuple_GET_SIZE(out)) : 1;
  if (given != outputs())
    throw ArgumentError(
        str("'", function, "' has ", outputs(), outputs() == 1 ? " output" : " outputs", ", out= gives ", given));
  for (std::size_t i = 0; i < given; ++i)
    operands[inputs + i].take(several ? PyTuple_GET_ITEM(out, i) : out, names[inputs + i].c_str());
}

void Signature::take_numbers(Operands& operands, PyObject* args) const {
  for (std::size_t i = 0; i < inputs; ++i) {
    PyObject* object = PyTuple_GET_ITEM(args, i);
    if (ranks[i] != 0 || !is_number(object)) continue;
    const auto type = type_givers[i] >= 0 ? operands[type_givers[i]].dtype : types[i];
    operands[i].take_number(object, type, names[i].c_str());
  }
}

const char* Signature::recorded(Operands& operands, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i)
    if (operands[i].requires_grad) return is_grad_enabled() ? names[i].c_str() : nullptr;
  return nullptr;
}

namespace {

/// The library of a tensor as messages name it.
std::string library_of(const Borrowed& tensor) {
  return tensor.library ? shown(py::getattr(tensor.library, "__name__", tensor.library)) : "torch";
}

}  // namespace

const Borrowed* Signature::maker(Operands& operands) const {
  std::size_t found = inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto& tensor = operands[i];
    if (tensor.framework != Framework::Torch && tensor.framework != Framework::Array) continue;
    if (found == inputs) found = i;
    if (tensor.library != operands[found].library)
      throw ArgumentError(str("'", names[found], "' is of ", library_of(operands[found]), " and '", names[i], "' of ",
                              library_of(tensor), ", and outputs are of one library: pass tensors of one, as ",
                              "from_dlpack makes them without a copy, or pass out="));
  }
  return found == inputs ? nullptr : &operands[found];
}

void throw_requires_grad(const char* name) {
  throw ArgumentError(str("'", name, "' requires grad, and this call records no gradient, unlike that of a def ",
                          "without out=: call inside torch.no_grad(), or pass ", name, ".detach()"));
}

HeldTensor::HeldTensor(std::string name, py::object tensor)
    : name(std::move(name)), tensor(std::move(tensor)), version(version_of(this->tensor)) {}

bool HeldTensor::has_changed() const { return version_of(tensor) != version; }

Callable::Callable(std::shared_ptr<const engine::Executable> executable, std::vector<HeldTensor> held)
    : executable_(std::move(executable)), held_(std::move(held)) {
  signature_.function = executable_->image().function;
  signature_.inputs = executable_->image().input_count();
  for (const auto& argument : executable_->image().arguments) {
    signature_.add(argument.name, argument.spec.dtype, argument.spec.rank());
    auto span = element_span(argument.spec);
    auto size = byte_size(argument.spec.dtype);
    bytes_.push_back({span.low * size, (span.high + 1) * size});
    if (!argument.output) continue;
    reads_outputs_ = reads_outputs_ || argument.read;
    shapes_.push_back(py::tuple(argument.spec.shape.size()));
    for (std::size_t i = 0; i < argument.spec.shape.size(); ++i)
      PyTuple_SET_ITEM(shapes_.back().ptr(), i, PyLong_FromLongLong(argument.spec.shape[i]));
  }
}

std::shared_ptr<Callable> Callable::for_inputs(const std::vector<TensorSpec>& inputs) const {
  auto result = std::make_shared<Callable>(engine::for_inputs(executable_, inputs), held_);
  result->set_outcome(outcome_);
  return result;
}

bool Callable::matches(Operands& operands, std::size_t begin, std::size_t end) const {
  const auto& arguments = executable_->image().arguments;
  bool for_gpu = executable_->image().is_for_gpu();
  for (std::size_t i = begin; i < end; ++i) {
    const auto& spec = arguments[i].spec;
    if (!operands[i].matches(spec) || ((operands[i].device != on_cpu) != for_gpu && !operands[i].is_number()) ||
        (for_gpu && engine::is_aligned(spec, operands[i].data) != arguments[i].aligned))
      return false;
  }
  return true;
}

cuda::Place Callable::place_for(Operands& operands, std::size_t count) const {
  if (executable_->image().is_for_gpu()) return place_of(*executable_, operands, count);
  check_on_cpu(*executable_, operands, count);
  return {};
}

py::object Callable::allocate_outputs(const Borrowed* maker, int device, void** pointers) const {
  const auto& arguments = executable_->image().arguments;
  std::vector<py::object> tensors;
  for (std::size_t o = 0; o < signature_.outputs(); ++o) {
    const auto& argument = arguments[signature_.inputs + o];
    py::object tensor = allocate(maker, argument.spec, shapes_[o].ptr(), device);
    Borrowed borrowed;
    borrowed.take(tensor.ptr(), argument.name.c_str());
    if (!borrowed.matches(argument.spec))
      throw ArgumentError(str("output '", argument.name, "' was compiled for ", argument.spec,
                              ", which is not dense: pass it as out="));
    pointers[o] = borrowed.data;
    if (signature_.outputs() == 1) return tensor;
    tensors.push_back(std::move(tensor));
  }
  py::tuple result(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) result[i] = std::move(tensors[i]);
  return result;
}

py::object Callable::hand_over(const Borrowed* maker, py::object outputs) const {
  if (!maker || maker->framework != Framework::Array) return outputs;
  if (signature_.outputs() == 1) return handed_over(maker, std::move(outputs));
  py::tuple result(signature_.outputs());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = handed_over(maker, outputs[py::int_(i)]);
  return result;
}

void Callable::check_constants() const {
  for (const auto& held : held_)
    if (held.has_changed())
      throw ArgumentError(str("'", held.name, "' is a constant of '", executable_->image().function,
                              "' and has been changed since it was compiled: compile again"));
}

void Callable::check_overlap(Operands& operands) const {
  const auto& arguments = executable_->image().arguments;
  bool apart = true;
  for (std::size_t o = signature_.inputs; o < arguments.size(); ++o) {
    if (operands[o].read_only) throw ArgumentError(str("output '", arguments[o].name, "' is read only"));
    apart = apart && !may_overlap_itself(arguments[o].spec);
    for (std::size_t i = 0; i < o; ++i)
      apart = apart && (address(operands[i]) + bytes_[i].high <= address(operands[o]) + bytes_[o].low ||
                        address(operands[o]) + bytes_[o].high <= address(operands[i]) + bytes_[i].low);
  }
  if (apart) return;
  std::vector<TensorView> inputs, outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    (i < signature_.inputs ? inputs : outputs).push_back(operands[i].view());
  executable_->check(inputs, outputs);
}

py::object Callable::run(Operands& operands, PyObject* out) const {
  const auto count = executable_->image().arguments.size();
  check_constants();
  Pointers pointers(count);
  auto place = place_for(operands, out ? count : signature_.inputs);
  py::object result;
  const Borrowed* maker = nullptr;
  for (std::size_t i = 0; i < signature_.inputs; ++i) pointers.data()[i] = operands[i].data;
  if (out) {
    check_overlap(operands);
    for (std::size_t i = signature_.inputs; i < count; ++i) pointers.data()[i] = operands[i].data;
    result = py::reinterpret_borrow<py::object>(out);
  } else {
    if (reads_outputs_)
      throw ArgumentError(
          str("'", executable_->image().function, "' accumulates into what its output holds: pass the output as out="));
    int device = executable_->image().is_for_gpu() ? place.device : on_cpu;
    maker = signature_.maker(operands);
    result = allocate_outputs(maker, device, pointers.data() + signature_.inputs);
  }
  keep_threads();
  {
    Unlocked unlocked;
    cuda::AtPlace at(place);
    if (outcome_ == engine::TestOutcome::Kept) executable_->check_earlier_runs();
    executable_->run_unchecked(pointers.data(), outcome_);
  }
  if (out) count_changes(operands, out);
  return hand_over(maker, std::move(result));
}

void Callable::count_changes(Operands& operands, PyObject* out) const {
  const bool several = PyTuple_Check(out);
  for (std::size_t i = 0; i < signature_.outputs(); ++i)
    if (operands[signature_.inputs + i].framework == Framework::Torch)
      count_change(several ? PyTuple_GET_ITEM(out, i) : out);
}

void Callable::take(Operands& operands, const py::args& args, py::handle out) const {
  const auto& arguments = executable_->image().arguments;
  signature_.take(operands, args.ptr(), out.ptr());
  for (std::size_t i = 0; i < (out.is_none() ? signature_.inputs : arguments.size()); ++i)
    if (!operands[i].matches(arguments[i].spec)) {
      TensorSpec given = operands[i].view();
      throw ArgumentError(str(i < signature_.inputs ? "input '" : "output '", arguments[i].name, "' was compiled for ",
                              arguments[i].spec, ", ", given, " was given"));
    }
}

void Callable::check_unwatched(const py::args& args) const {
  py::module_::import("tensor_comprehensions.operators").attr("check_unrecorded")(signature_.function, args);
}

void Callable::check_unrecorded(Operands& operands, std::size_t count, const py::args& args) const {
  if (const char* name = signature_.recorded(operands, count)) throw_requires_grad(name);
  for (std::size_t i = 0; i < signature_.inputs; ++i) {
    if (operands[i].framework != Framework::Torch) continue;
    if (torch_watches()) check_unwatched(args);
    return;
  }
}

py::object Callable::call(const py::args& args, py::handle out) const {
  Operands operands(executable_->image().arguments.size());
  try {
    take(operands, args, out);
  } catch (const ArgumentError&) {
    if (torch_watches()) check_unwatched(args);
    throw;
  }
  check_unrecorded(operands, out.is_none() ? signature_.inputs : operands.size(), args);
  return run(operands, out.is_none() ? nullptr : out.ptr());
}

engine::RunProfile Callable::profile(const py::args& args, py::handle out) const {
  py::object results = py::reinterpret_borrow<py::object>(out);
  if (out.is_none()) results = call(args, out);
  Operands operands(executable_->image().arguments.size());
  take(operands, args, results);
  check_constants();
  cuda::AtPlace at(place_for(operands, operands.size()));
  std::vector<TensorView> inputs, outputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    (i < signature_.inputs ? inputs : outputs).push_back(operands[i].view());
  Unlocked unlocked;
  return executable_->profile(inputs, outputs);
}

py::args in_order(const std::string& function, const std::vector<std::string>& params, const py::args& args,
                  const py::kwargs& named) {
  std::vector<py::object> tensors;
  for (auto tensor : args) tensors.push_back(py::reinterpret_borrow<py::object>(tensor));
  for (const auto& [name, tensor] : named) {
    auto found = std::find(params.begin(), params.end(), name.cast<std::string>());
    if (found == params.end())
      throw ArgumentError(str("'", function, "' has no parameter '", name.cast<std::string>(), "', it takes ",
                              join(params), ", and outputs as out="));
    if (found - params.begin() < static_cast<std::ptrdiff_t>(args.size()))
      throw ArgumentError(str("parameter '", *found, "' of '", function, "' is given twice: by place and by name"));
  }
  for (std::size_t i = args.size(); i < params.size() && named.size() > 0; ++i) {
    if (!named.contains(params[i]))
      throw ArgumentError(str("parameter '", params[i], "' of '", function, "' is not given"));
    tensors.push_back(named[params[i].c_str()]);
  }
  return py::tuple(py::cast(tensors));
}

}  // namespace tc::python
