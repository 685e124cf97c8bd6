#include <pybind11/stl.h>

#include <tuple>

#include "bind_class.h"
#include "bindings.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
#include "tc/cpu/thread_pool.h"
#include "tc/cuda/driver.h"
#include "tc/options/mapping_options.h"
#include "torch_state.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using options::MappingOptions;
using options::OptionValue;

/// A Python integer; throws py::cast_error for anything else and for one beyond 64 bits.
std::int64_t to_number(const py::handle& object) {
  if (PyBool_Check(object.ptr()) || !PyIndex_Check(object.ptr())) throw py::cast_error();
  return object.cast<std::int64_t>();
}

OptionValue to_value(const std::string& name, const py::handle& object) {
  auto must_be = MappingOptions::must_be(name);
  try {
    if (PyBool_Check(object.ptr())) return object.cast<bool>();
    if (py::isinstance<py::str>(object)) return object.cast<std::string>();
    if (!py::isinstance<py::sequence>(object)) return to_number(object);
    const auto items = py::tuple(py::reinterpret_borrow<py::object>(object));
    if (!items.empty() && py::isinstance<py::str>(items[0])) return items.cast<std::vector<std::string>>();
    std::vector<std::int64_t> numbers;
    for (const auto& item : items) numbers.push_back(to_number(item));
    return numbers;
  } catch (const py::cast_error&) {
    throw OptionsError(str("mapping option '", name, "=", shown(object), "': must be ", must_be));
  }
}

MappingOptions replace(MappingOptions options, const py::kwargs& values) {
  for (const auto& [name, value] : values) {
    auto key = name.cast<std::string>();
    options = options.with(key, to_value(key, value));
  }
  return options;
}

std::string bytes_of(const py::bytes& bytes) { return bytes; }

}  // namespace

void bind_options(py::module_& m) {
  auto options = bind_class<MappingOptions>(
      m, "MappingOptions",
      "How statements are scheduled and mapped: an immutable value, made of keywords or of its text form.");
  options
      .def(py::init([](const std::string& text, const py::kwargs& values) {
             return replace(MappingOptions::parse(text), values);
           }),
           py::arg("text") = "")
      .def("replace", &replace, "These options with others in the place of some.")
      .def(
          "to_bytes", [](const MappingOptions& o) { return py::bytes(o.to_bytes()); }, "A protobuf message.")
      .def_static(
          "from_bytes", [](const py::bytes& bytes) { return MappingOptions::from_bytes(bytes_of(bytes)); },
          py::arg("bytes"), "The inverse of to_bytes.")
      .def("to_cpp", &MappingOptions::to_cpp, "C++ that makes these options.")
      .def(
          "__eq__", [](const MappingOptions& a, const MappingOptions& b) { return a == b; }, py::is_operator())
      .def("__hash__", &MappingOptions::hash)
      .def("__str__", &MappingOptions::to_text)
      .def("__repr__", &MappingOptions::to_python)
      .def(py::pickle(
          [](const MappingOptions& o) { return std::tuple<py::bytes>(o.to_bytes()); },
          [](const std::tuple<py::bytes>& state) { return MappingOptions::from_bytes(std::get<0>(state)); }));
  for (const auto& name : MappingOptions::names())
    options.def_property_readonly(name.c_str(), [name](const MappingOptions& o) { return o.value(name); });
  m.def("host_target", [] { return to_string(Target::host()); }, "The text of the machine's own target.");
  m.def("device_target", &cuda::device_target, py::arg("device"),
        "The text of the target that CUDA device `device` is. Raises DeviceError where there is no such device or no "
        "driver.");
  m.def("set_num_threads", &cpu::set_num_threads, py::arg("threads"), "Sets the number of threads kernels run on.");
  m.def(
      "get_num_threads",
      [] {
        follow_threads_of_torch();
        return cpu::num_threads();
      },
      "The number of threads kernels run on.");
  m.def(
      "set_threads", [](const std::string& threads) { cpu::set_threads(cpu::thread_choice_of(threads)); },
      py::arg("threads"),
      "Sets which threads run loops: 'own', this library's; 'openmp', those of a loaded OpenMP runtime; or 'auto', "
      "torch's while they are awake, else this library's own. Raises OptionsError for another name.");
  m.def(
      "get_threads",
      []() -> std::optional<std::string> {
        const auto team = cpu::last_thread_team();
        if (!team) return std::nullopt;
        return *team == cpu::ThreadTeam::OpenMp ? "openmp" : "own";
      },
      "Which threads ran the last loop: 'own' or 'openmp'; None before the first loop on several threads.");
}

}  // namespace tc::python
