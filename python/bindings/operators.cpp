#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <numeric>

#include "bind_class.h"
#include "bindings.h"
#include "constants.h"
#include "interrupt.h"
#include "tc/engine/layouts/operator_runtime.h"
#include "tc/engine/layouts/operator_texts.h"
#include "tensor.h"

/// Operators that know no layouts: calls and plans.
namespace py = pybind11;

namespace tc::python {
namespace {

using engine::Attributes, engine::LayoutPlan, engine::OperatorProgram, engine::OperatorRuntime, engine::VirtualTensor;
using layout::Layout;

/// The layout of a tensor that is dense in another order of its dimensions than \p spec names them in.
Layout layout_of(const TensorSpec& spec, const std::string& name) {
  std::vector<std::size_t> order(spec.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return spec.strides[a] > spec.strides[b] || (spec.strides[a] == spec.strides[b] && spec.shape[a] < spec.shape[b]);
  });
  std::int64_t stride = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    if (spec.shape[*d] != 1 && spec.strides[*d] != stride)
      throw ArgumentError(str("'", name, "' is ", spec, ": it must be dense, in any order of its dimensions"));
    stride *= spec.shape[*d];
  }
  return std::is_sorted(order.begin(), order.end()) ? Layout() : Layout().reorder(order);
}

/// The dense tensor \p given, whose dimensions are called \p dims. Its memory is used, not copied.
VirtualTensor virtual_tensor(const py::object& given, const std::string& dims, bool constant, const std::string& name) {
  const auto held = engine::Constant(constant_of(name, DType::Float32, given));
  if (held.spec.dtype != DType::Float32 || dims.size() != held.spec.shape.size())
    throw ArgumentError(str("'", name, "' is ", held.spec, ": operators take float32, here of the dimensions ", dims));
  return {name,     DType::Float32,
          dims,     held.spec.shape,
          constant, engine::simplest(layout_of(held.spec, name), held.spec.shape),
          held.data};
}

py::buffer_info buffer_of(VirtualTensor& self) {
  const auto spec = self.spec_in(self.produced);
  auto strides = spec.strides;
  for (auto& stride : strides) stride *= sizeof(float);
  if (!self.is_computed())
    throw ArgumentError(str("'", self.name, "' has no elements: it stands for one of a program"));
  return {self.data(), sizeof(float), py::format_descriptor<float>::format(), spec.rank(), spec.shape, strides};
}

std::string description_of(const VirtualTensor& self) {
  return str("<VirtualTensor ", self.name, " ", self.dims, " (", join(self.extents), ") in ", to_string(self.produced),
             ">");
}

py::list steps_of(const LayoutPlan& self) {
  py::list result;
  for (const auto& step : self.steps()) result.append(py::make_tuple(step.name, step.library, step.kernel.runs));
  return result;
}

void bind_plan(py::module_& m) {
  bind_class<LayoutPlan, std::shared_ptr<LayoutPlan>>(m, "LayoutPlan")
      .def("run",
           [](const LayoutPlan& self, const std::vector<VirtualTensor>& inputs) {
             const Unlocked release;
             return self.run(inputs);
           })
      .def("profile",
           [](const LayoutPlan& self, const std::vector<VirtualTensor>& inputs) {
             std::vector<double> seconds;
             const Unlocked release;
             self.run(inputs, &seconds);
             return seconds;
           })
      .def_property_readonly("steps", &steps_of)
      .def_property_readonly("conversions", &LayoutPlan::conversions)
      .def_property_readonly("workspace_bytes", &LayoutPlan::workspace_bytes)
      .def_readonly("choosing_ms", &LayoutPlan::choosing_ms)
      .def_readonly("making_ms", &LayoutPlan::making_ms)
      .def("__str__", &LayoutPlan::to_string);
}

}  // namespace

void bind_operators(py::module_& m) {
  bind_class<VirtualTensor>(
      m, "VirtualTensor", py::buffer_protocol(),
      "A tensor of operators that know no layouts: named dimensions; its elements are in the layout that a "
      "routine gave it, as the buffer protocol shows them.")
      .def_readonly("name", &VirtualTensor::name)
      .def_readonly("dims", &VirtualTensor::dims)
      .def_property_readonly("shape", [](const VirtualTensor& self) { return py::tuple(py::cast(self.extents)); })
      .def_readonly("constant", &VirtualTensor::constant)
      .def_readonly("layout", &VirtualTensor::produced)
      .def("size", &VirtualTensor::size, py::arg("dim"), "The extent of the dimension of this letter.")
      .def("__repr__", &description_of)
      .def_buffer(&buffer_of);
  bind_plan(m);
  bind_class<OperatorProgram>(m, "OperatorProgram")
      .def(py::init<>())
      .def("add", &OperatorProgram::add)
      .def("call", &OperatorProgram::call)
      .def("tensor", [](const OperatorProgram& self, std::size_t number) { return self.tensors.at(number); });
  bind_class<OperatorRuntime>(m, "OperatorRuntime")
      .def(py::init(
          [](const std::vector<std::string>& libraries) { return std::make_unique<OperatorRuntime>(libraries); }))
      .def("call",
           [](OperatorRuntime& self, const std::string& op, const std::vector<VirtualTensor>& inputs,
              const Attributes& attributes) {
             return interruptible([&](const Cancellation&) { return self.call(op, inputs, attributes); });
           })
      .def("converted",
           [](OperatorRuntime& self, const VirtualTensor& tensor, const Layout& layout) {
             return interruptible([&](const Cancellation&) { return self.converted(tensor, layout); });
           })
      .def("plan",
           [](const OperatorRuntime& self, const OperatorProgram& program, const std::string& choice) {
             const auto parsed = engine::parse_layout_choice(choice);
             return interruptible(
                 [&](const Cancellation&) { return std::const_pointer_cast<LayoutPlan>(self.plan(program, parsed)); });
           })
      .def_property_readonly("conversions", &OperatorRuntime::conversions);
  m.def("virtual_tensor", &virtual_tensor, py::arg("tensor"), py::arg("dims"), py::arg("constant"), py::arg("name"));
  m.def("placeholder",
        [](const layout::Extents& shape, const std::string& dims, const Layout& layout, const std::string& name) {
          return VirtualTensor{name, DType::Float32, dims, shape, false, layout};
        });
  m.def("operator_text",
        [](const std::string& op, const std::vector<VirtualTensor>& tensors, const Attributes& attributes) {
          return engine::find_operator(op).text_of(tensors, attributes);
        });
  m.def("operator_names", [] {
    std::vector<std::string> names;
    for (const auto& op : engine::operators()) names.push_back(op.name);
    return names;
  });
}

}  // namespace tc::python
