#include "policy.h"

#include <pybind11/stl.h>

#include "bind_class.h"
#include "interpreter_lock.h"
#include "tc/autotuner/search/search_space.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace py = pybind11;

namespace tc::python {
namespace {

using autotuner::SearchSpace;
using autotuner::Trial;
using options::MappingOptions;

/// An object that other threads share, and let go, without the interpreter's lock.
using Shared = std::shared_ptr<py::object>;

Shared shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const Locked locked;
            delete held;
          }};
}

MappingOptions options_of(const py::handle& proposed) {
  if (py::isinstance<py::str>(proposed)) return MappingOptions::parse(proposed.cast<std::string>());
  if (py::isinstance<MappingOptions>(proposed)) return proposed.cast<MappingOptions>();
  throw ArgumentError(str("a policy proposes mapping options or their texts; this one proposes ",
                          py::str(py::type::of(proposed)).cast<std::string>()));
}

std::vector<MappingOptions> ask(const Shared& policy, int count) {
  const Locked locked;
  std::vector<MappingOptions> result;
  for (const auto& proposed : policy->attr("ask")(count)) result.push_back(options_of(proposed));
  return result;
}

void tell(const Shared& policy, const std::vector<Trial>& trials) {
  const Locked locked;
  py::list told;
  for (const auto& [options, seconds] : trials) told.append(py::make_tuple(options, seconds));
  policy->attr("tell")(told);
}

py::list genes(const SearchSpace& space) {
  py::list result;
  for (const auto& gene : space.genes()) result.append(py::make_tuple(gene.option, gene.position, gene.values));
  return result;
}

/// \p choice, if it has a value for each gene.
autotuner::Choice checked(const SearchSpace& space, const autotuner::Choice& choice) {
  const auto& all = space.genes();
  if (choice.size() != all.size()) throw ArgumentError(str("there are ", all.size(), " genes, not ", choice.size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (choice[i] < 0 || choice[i] >= static_cast<int>(all[i].values.size()))
      throw ArgumentError(str("gene ", i, ", '", all[i].option, "', has no value ", choice[i]));
  return choice;
}

}  // namespace

autotuner::NamedPolicy policy_of(const std::string& name, const py::object& make) {
  const auto maker = shared(make);
  return {name, [maker](const SearchSpace& space) -> autotuner::Policy {
            const Locked locked;
            const auto policy = shared((*maker)(space));
            return {[policy](int count) { return ask(policy, count); },
                    [policy](const std::vector<Trial>& trials) { tell(policy, trials); }};
          }};
}

autotuner::PriceSearch::Correct correction_of(const py::object& correct) {
  return [held = shared(correct)](const std::vector<autotuner::PriceSearch::Known>& pool) {
    const Locked locked;
    py::list nests;
    for (const auto& [candidate, asked, seconds] : pool)
      nests.append(py::make_tuple(candidate.options.to_text(), candidate.seconds, candidate.terms, seconds));
    auto prices = (*held)(nests).cast<std::vector<double>>();
    if (prices.size() != pool.size())
      throw ArgumentError(str("a cost model gives ", prices.size(), " prices for ", pool.size(), " nests"));
    return prices;
  };
}

void bind_policies(py::module_& m) {
  bind_class<SearchSpace>(m, "SearchSpace",
                          "What can be chosen for a def, its sizes and a machine: genes and their values.")
      .def_property_readonly(
          "genes", &genes,
          "Option, position (of options that are several numbers) and values of each; \"\": not given.")
      .def(
          "options",
          [](const SearchSpace& self, const autotuner::Choice& choice) { return self.options(checked(self, choice)); },
          py::arg("choice"), "The options for an index of a value for each gene.")
      .def(
          "normalised",
          [](const SearchSpace& self, const autotuner::Choice& choice) {
            return self.normalised(checked(self, choice));
          },
          py::arg("choice"), "The choice without values that have no effect beside the others.")
      .def(
          "choice", [](const SearchSpace& self, const MappingOptions& options) { return self.choice(options); },
          py::arg("options"), "The choice nearest to these options.");
}

}  // namespace tc::python
