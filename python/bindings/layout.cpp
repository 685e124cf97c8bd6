#include <pybind11/stl.h>

#include "bind_class.h"
#include "bindings.h"
#include "interrupt.h"
#include "py_function.h"
#include "tc/base/str.h"
#include "tc/engine/define/in_layouts.h"
#include "tc/engine/describe/layout_guideline.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/map/names.h"

/// Layouts as values: made of steps, text or names.
namespace py = pybind11;

namespace tc::python {

namespace {

using layout::Layout;
using layout::LayoutMap;

Layout split(const Layout& self, std::size_t dim, const py::args& factors) {
  return self.split(dim, factors.cast<std::vector<std::int64_t>>());
}
Layout reorder(const Layout& self, const py::args& order) {
  return self.reorder(order.cast<std::vector<std::size_t>>());
}

/// Dimensions one after another, as the text form takes them.
Layout fuse(const Layout& self, const py::args& dims) {
  const auto steps = layout::parse_layout(str("fuse(", join(dims.cast<std::vector<std::size_t>>()), ")"));
  return self.then(steps.primitives().front());
}

Layout filled(const Layout& self, const std::string& with) {
  return self.filled(layout::parse_layout(str("fill(", with, ")")).fill());
}

py::tuple tuple_of(const std::vector<std::int64_t>& values) { return py::tuple(py::cast(values)); }

py::dict facts(const LayoutMap& map) {
  const auto facts = map.facts();
  py::dict result;
  result["functional"] = facts.functional;
  result["injective"] = facts.injective;
  result["total"] = facts.total;
  result["dense"] = facts.dense;
  result["replicating"] = facts.replicating;
  return result;
}

/// The order of dimensions, if \p self does nothing else to them.
std::optional<std::vector<std::size_t>> permutation(const Layout& self) {
  if (self.primitives().size() != 1) return std::nullopt;
  const auto* reorder = std::get_if<layout::Reorder>(&self.primitives().front());
  return reorder ? std::optional(reorder->order) : std::nullopt;
}

/// Those that \p function is set to, and \p cancellation.
engine::Limits limits_of(const PyFunction& function, const Cancellation& cancellation) {
  engine::Limits limits{cancellation, function.settings().memory_limit};
  limits.cancellation.set_time_limit(function.settings().time_limit);
  return limits;
}

std::vector<TensorSpec> specs_of(const std::vector<py::object>& inputs) {
  std::vector<TensorSpec> specs;
  for (const auto& input : inputs) specs.push_back(spec_of(input, "an input"));
  return specs;
}

/// \p function for tensors like \p inputs in \p layouts: a def, and what it takes.
py::tuple in_layouts(const PyFunction& function, const std::vector<py::object>& inputs,
                     const std::map<std::string, Layout>& layouts) {
  const auto specs = specs_of(inputs);
  const auto made = interruptible([&](const Cancellation& cancellation) {
    return engine::in_layouts(function.function(), specs, {layouts, {}}, limits_of(function, cancellation));
  });
  return py::make_tuple(Definition{made.function}, made.inputs);
}

using NamedLayouts = std::map<std::string, Layout>;

/// Predicted seconds of \p function in each of \p choices.
std::vector<std::optional<double>> prices(const PyFunction& function, const std::vector<py::object>& inputs,
                                          const std::vector<NamedLayouts>& choices) {
  const auto specs = specs_of(inputs);
  std::vector<layout::Layouts> all;
  for (const auto& layouts : choices) all.push_back({layouts, {}});
  return interruptible([&](Cancellation cancellation) {
    auto options = function.settings().options();
    options.stages.cancellation = std::move(cancellation);
    return engine::layout_prices(function.function(), specs, all, options);
  });
}

/// \p layouts, and those of temporaries that they decide.
NamedLayouts propagated(const PyFunction& function, const std::vector<py::object>& inputs,
                        const NamedLayouts& layouts) {
  const auto specs = specs_of(inputs);
  return interruptible([&](const Cancellation& cancellation) {
           return engine::propagated(function.function(), specs, {layouts, {}}, limits_of(function, cancellation));
         })
      .of;
}

/// What our own code for \p function likes, and the microseconds it costs, the cheapest first.
py::list guideline(const PyFunction& function, const std::vector<py::object>& inputs) {
  const auto specs = specs_of(inputs);
  const auto found = interruptible([&](Cancellation cancellation) {
    auto options = function.settings().options();
    options.stages.cancellation = std::move(cancellation);
    return engine::layout_guideline(function.function(), specs, options);
  });
  py::list result;
  for (const auto& entry : found) result.append(py::make_tuple(entry.layouts.of, entry.microseconds));
  return result;
}

/// The layouts of \p function with free tile sizes.
layout::LayoutTemplate template_of(const PyFunction& function, const std::vector<py::object>& inputs) {
  const auto specs = specs_of(inputs);
  return interruptible([&](const Cancellation& cancellation) {
    return engine::layout_template(function.function(), specs, limits_of(function, cancellation));
  });
}

/// The tunables of \p self: name, places, extent.
py::list tunables(const layout::LayoutTemplate& self) {
  py::list result;
  for (const auto& entry : self.tunables) result.append(py::make_tuple(entry.name, entry.places, entry.extent));
  return result;
}

}  // namespace

void bind_layout(py::module_& m) {
  bind_class<LayoutMap>(m, "LayoutMap", "A layout for a tensor of a shape: where each element lies.")
      .def_property_readonly("logical", [](const LayoutMap& self) { return tuple_of(self.logical()); })
      .def_property_readonly("physical", [](const LayoutMap& self) { return tuple_of(self.physical()); })
      .def_property_readonly("relation", &LayoutMap::relation, "The isl map from indices to places.")
      .def_property_readonly("facts", &facts, "What isl proves: functional, injective, total, dense, replicating.")
      .def("__repr__", [](const LayoutMap& self) {
        return str("<LayoutMap (", join(self.logical()), ") -> (", join(self.physical()), "), ",
                   to_string(self.facts()), ">");
      });
  bind_class<Layout>(m, "Layout", "How elements are placed; make one with tc.layout.")
      .def(py::init(&layout::parse_layout), py::arg("text"))
      .def("split", &split, py::arg("dim"), "Dimension `dim` as blocks of these factors, the outermost first.")
      .def("reorder", &reorder, "Dimension d of the result is the d-th of these.")
      .def("fuse", &fuse, "These dimensions, one after another, as one.")
      .def("unfold", &Layout::unfold, py::arg("dim"), py::arg("size"), py::arg("stride"),
           "Dimension `dim` as tiles of `size` elements that begin every `stride`.")
      .def("pad", &Layout::pad, py::arg("dim"), py::arg("low"), py::arg("high"), "Holes before and behind `dim`.")
      .def("store_at", &Layout::store_at, py::arg("dim"), py::arg("index"), py::arg("extent"),
           "The tensor as a slice of a new dimension.")
      .def("filled", &filled, py::arg("fill"), "What holes hold: \"none\", anything, or \"zero\".")
      .def(
          "inverse", [](const Layout& self, const layout::Extents& shape) { return inverse(self, shape); },
          py::arg("shape"), "What takes the places of a tensor of `shape` back to its indices.")
      .def(
          "map", [](const Layout& self, const layout::Extents& shape) { return LayoutMap(self, shape); },
          py::arg("shape"), "This layout for a tensor of `shape`.")
      .def("_permutation", &permutation)
      .def("__str__", [](const Layout& self) { return to_string(self); })
      .def("__repr__", [](const Layout& self) { return str("<Layout ", to_string(self), ">"); })
      .def(
          "__eq__", [](const Layout& a, const Layout& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Layout& self) { return std::hash<std::string>()(to_string(self)); });
  bind_class<layout::LayoutTemplate>(m, "LayoutTemplate", "The layouts of a def's operands with free tile sizes.")
      .def_property_readonly("tunables", &tunables, "Name, places and extent of each tile size.")
      .def(
          "layouts",
          [](const layout::LayoutTemplate& self, const std::vector<std::int64_t>& tiles,
             const std::vector<std::int64_t>& counts) { return self.layouts(tiles, counts).of; },
          py::arg("tiles"), py::arg("counts") = std::vector<std::int64_t>(),
          "The layouts for these tile sizes, one a tunable; with `counts`, so many tiles make a tile of the outer "
          "level.");
  m.def("layout_prices", &prices, py::arg("function"), py::arg("inputs"), py::arg("choices"));
  m.def("propagated_layouts", &propagated, py::arg("function"), py::arg("inputs"), py::arg("layouts"));
  m.def(
      "layout_conversion",
      [](const py::object& tensor, const Layout& from, const Layout& to) {
        const auto spec = spec_of(tensor, "a tensor");
        return Definition{engine::conversion(spec.dtype, spec.shape, from, to)};
      },
      py::arg("tensor"), py::arg("from_"), py::arg("to"));
  m.def("tensor_names", [](const PyFunction& function) { return engine::tensor_names(function.function()); });
  m.def("in_layouts", &in_layouts, py::arg("function"), py::arg("inputs"), py::arg("layouts"));
  m.def("layout_guideline", &guideline, py::arg("function"), py::arg("inputs"));
  m.def("layout_template", &template_of, py::arg("function"), py::arg("inputs"));
  m.def("named_layout", &layout::named_layout, py::arg("name"), py::arg("dims") = "");
}

}  // namespace tc::python
