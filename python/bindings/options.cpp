#include <pybind11/stl.h>

#include <map>

#include "bindings.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
#include "tc/cpu/thread_pool.h"
#include "tc/polyhedral/options.h"

namespace py = pybind11;

namespace tc::python {

using polyhedral::FusionStrategy;
using polyhedral::MappingOptions;

void bind_options(py::module_& m) {
  py::class_<MappingOptions>(m, "MappingOptions", "How statements are scheduled and mapped; a value with a text form.")
      .def(py::init(&polyhedral::parse_mapping_options), py::arg("text") = "")
      .def_property(
          "fusion",
          [](const MappingOptions& o) {
            return o.fusion == FusionStrategy::Max ? "max" : o.fusion == FusionStrategy::Min ? "min" : "preserve3";
          },
          [](MappingOptions& o, const std::string& text) {
            o.fusion = polyhedral::parse_mapping_options("fusion=" + text).fusion;
          })
      .def_readwrite("allow_skewing", &MappingOptions::allow_skewing)
      .def_readwrite("positive_orthant", &MappingOptions::positive_orthant)
      .def_readwrite("tile", &MappingOptions::tile)
      .def_readwrite("parallel", &MappingOptions::parallel)
      .def_readwrite("vectorise", &MappingOptions::vectorise)
      .def_readwrite("promote", &MappingOptions::promote)
      .def_readwrite("quota", &MappingOptions::quota)
      .def(
          "__eq__", [](const MappingOptions& a, const MappingOptions& b) { return a == b; }, py::is_operator())
      .def("__str__", [](const MappingOptions& o) { return polyhedral::to_string(o); })
      .def("__repr__", [](const MappingOptions& o) { return str("MappingOptions('", polyhedral::to_string(o), "')"); })
      .def(py::pickle(
          [](const MappingOptions& o) { return py::make_tuple(polyhedral::to_string(o)); },
          [](const py::tuple& state) { return polyhedral::parse_mapping_options(state[0].cast<std::string>()); }));
  m.def(
      "host_target", [] { return to_string(Target::host()); }, "The text of the machine's own target.");
  m.def("set_num_threads", &cpu::set_num_threads, py::arg("threads"), "Sets the number of threads kernels run on.");
  m.def("get_num_threads", &cpu::num_threads, "The number of threads kernels run on.");
}

}  // namespace tc::python
