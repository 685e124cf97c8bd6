#include "callable.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/overlap.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// Gives the interpreter's lock away for its scope.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

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

}  // namespace

Callable::Callable(std::shared_ptr<const engine::Executable> executable)
    : executable_(std::move(executable)), inputs_(executable_->image().input_count()) {
  for (const auto& argument : executable_->image().arguments) {
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

bool Callable::matches(Operands& operands, std::size_t begin, std::size_t end) const {
  const auto& arguments = executable_->image().arguments;
  for (std::size_t i = begin; i < end; ++i)
    if (!operands[i].matches(arguments[i].spec)) return false;
  return true;
}

py::object Callable::allocate_outputs(Framework framework, void** pointers) const {
  const auto& arguments = executable_->image().arguments;
  std::vector<py::object> tensors;
  for (std::size_t o = 0; o < output_count(); ++o) {
    const auto& argument = arguments[inputs_ + o];
    py::object tensor = allocate(framework, argument.spec, shapes_[o].ptr());
    Borrowed borrowed;
    borrowed.take(tensor.ptr(), argument.name.c_str());
    if (!borrowed.matches(argument.spec))
      throw ArgumentError(str("output '", argument.name, "' was compiled for ", argument.spec,
                              ", which is not dense: pass it as out="));
    pointers[o] = borrowed.data;
    if (output_count() == 1) return tensor;
    tensors.push_back(std::move(tensor));
  }
  py::tuple result(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) result[i] = std::move(tensors[i]);
  return result;
}

void Callable::check_overlap(Operands& operands) const {
  const auto& arguments = executable_->image().arguments;
  bool apart = true;
  for (std::size_t o = inputs_; o < arguments.size(); ++o) {
    if (operands[o].read_only)
      throw ArgumentError(str("output '", arguments[o].name, "' is read only"));
    apart = apart && !may_overlap_itself(arguments[o].spec);
    for (std::size_t i = 0; i < o; ++i)
      apart = apart && (address(operands[i]) + bytes_[i].high <= address(operands[o]) + bytes_[o].low ||
                        address(operands[o]) + bytes_[o].high <= address(operands[i]) + bytes_[i].low);
  }
  if (apart) return;
  std::vector<TensorView> inputs, outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) (i < inputs_ ? inputs : outputs).push_back(operands[i].view());
  executable_->check(inputs, outputs);
}

py::object Callable::run(Operands& operands, PyObject* out) const {
  const auto count = executable_->image().arguments.size();
  Pointers pointers(count);
  py::object result;
  for (std::size_t i = 0; i < inputs_; ++i) pointers.data()[i] = operands[i].data;
  if (out) {
    check_overlap(operands);
    for (std::size_t i = inputs_; i < count; ++i) pointers.data()[i] = operands[i].data;
    result = py::reinterpret_borrow<py::object>(out);
  } else {
    if (reads_outputs_)
      throw ArgumentError(str("'", executable_->image().function,
                              "' accumulates into what its output holds: pass the output as out="));
    result = allocate_outputs(framework_of(operands, inputs_), pointers.data() + inputs_);
  }
  {
    Unlocked unlocked;
    executable_->run_unchecked(pointers.data());
  }
  return result;
}

void Callable::take(Operands& operands, const py::args& args, py::handle out) const {
  const auto& arguments = executable_->image().arguments;
  std::vector<std::string> names;
  std::vector<DType> types;
  std::vector<int> ranks;
  for (const auto& argument : arguments) {
    names.push_back(argument.name);
    types.push_back(argument.spec.dtype);
    ranks.push_back(argument.spec.rank());
  }
  if (args.size() != inputs_)
    throw ArgumentError(str("'", executable_->image().function, "' takes ", inputs_, " tensors, ", args.size(),
                            " were given"));
  take_inputs(operands, args.ptr(), names, types, ranks);
  if (!out.is_none()) take_outputs(operands, inputs_, out.ptr(), names);
  for (std::size_t i = 0; i < (out.is_none() ? inputs_ : arguments.size()); ++i)
    if (!operands[i].matches(arguments[i].spec)) {
      TensorSpec given = operands[i].view();
      throw ArgumentError(str(i < inputs_ ? "input '" : "output '", arguments[i].name, "' was compiled for ",
                              arguments[i].spec, ", ", given, " was given"));
    }
}

py::object Callable::call(const py::args& args, py::handle out) const {
  Operands operands(executable_->image().arguments.size());
  take(operands, args, out);
  return run(operands, out.is_none() ? nullptr : out.ptr());
}

engine::RunProfile Callable::profile(const py::args& args, py::handle out) const {
  py::object results = py::reinterpret_borrow<py::object>(out);
  if (out.is_none()) results = call(args, out);
  Operands operands(executable_->image().arguments.size());
  take(operands, args, results);
  std::vector<TensorView> inputs, outputs;
  for (std::size_t i = 0; i < operands.size(); ++i) (i < inputs_ ? inputs : outputs).push_back(operands[i].view());
  Unlocked unlocked;
  return executable_->profile(inputs, outputs);
}

void take_inputs(Operands& operands, PyObject* args, const std::vector<std::string>& names,
                 const std::vector<DType>& types, const std::vector<int>& ranks) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* object = PyTuple_GET_ITEM(args, i);
    if (ranks[i] == 0 && is_number(object))
      operands[i].take_number(object, types[i], names[i].c_str());
    else
      operands[i].take(object, names[i].c_str());
  }
}

void take_outputs(Operands& operands, std::size_t inputs, PyObject* out, const std::vector<std::string>& names) {
  auto count = operands.size() - inputs;
  bool several = PyTuple_Check(out) || PyList_Check(out);
  auto given = several ? static_cast<std::size_t>(PySequence_Fast_GET_SIZE(out)) : 1;
  if (given != count) throw ArgumentError(str(count, " outputs are made, out= gives ", given));
  for (std::size_t i = 0; i < count; ++i)
    operands[inputs + i].take(several ? PySequence_Fast_GET_ITEM(out, i) : out, names[inputs + i].c_str());
}

Framework framework_of(Operands& operands, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i)
    if (operands[i].framework != Framework::None) return operands[i].framework;
  return Framework::None;
}

}  // namespace tc::python
