#include "sections.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace tc::python {
namespace {

using namespace py::literals;

/// \p values, each as \p dict_of says.
template <typename Values, typename DictOf>
py::list list_by(const Values& values, DictOf&& dict_of) {
  py::list result;
  for (const auto& value : values) result.append(dict_of(value));
  return result;
}

py::dict dict_of(const engine::ShownStatement::Iterator& iterator) {
  return py::dict("name"_a = iterator.name, "min"_a = iterator.min, "extent"_a = iterator.extent);
}

py::dict dict_of(const engine::ShownStatement& statement) {
  return py::dict("id"_a = statement.id, "kind"_a = statement.kind, "target"_a = statement.target,
                  "source"_a = statement.source,
                  "iterators"_a = list_by(statement.iterators, [](const auto& i) { return dict_of(i); }));
}

py::dict dict_of(const engine::ShownStep& step) {
  py::dict result("text"_a = step.text, "is_loop"_a = step.is_loop);
  if (!step.is_loop) return result;
  result["index"] = step.index;
  result["place"] = step.place;
  result["iterations"] = step.iterations;
  return result;
}

py::dict dict_of(const engine::ShownNest& nest) {
  const auto steps = [](const auto& list) { return list_by(list, [](const auto& step) { return dict_of(step); }); };
  return py::dict("trunk"_a = steps(nest.trunk), "branches"_a = list_by(nest.branches, [&](const auto& branch) {
                                                   return py::dict("statement"_a = branch.statement,
                                                                   "loops"_a = steps(branch.loops));
                                                 }));
}

py::dict dict_of(const engine::Section& section) {
  const auto line = [](const MarkedLine& marked) {
    return py::make_tuple(marked.text, std::vector<std::string>(marked.statements.begin(), marked.statements.end()));
  };
  return py::dict("title"_a = section.title, "lines"_a = list_by(section.lines, line));
}

}  // namespace

py::list list_of(const std::vector<engine::ShownPart>& parts) {
  return list_by(parts, [](const auto& part) {
    return py::dict("name"_a = part.name,
                    "statements"_a = list_by(part.statements, [](const auto& s) { return dict_of(s); }),
                    "nests"_a = list_by(part.nests, [](const auto& nest) { return dict_of(nest); }),
                    "sections"_a = list_by(part.sections, [](const auto& section) { return dict_of(section); }));
  });
}

}  // namespace tc::python
