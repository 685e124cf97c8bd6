#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "tc/autotuner/search/policy_search.h"
#include "tc/autotuner/search/price_search.h"

/// Searches of a tuning that are written in Python. Their objects are called, and let go, under the interpreter's lock, from
/// the thread that tunes.
namespace tc::python {

/// The policies that \p make returns for a SearchSpace: objects with `ask(count)`, which returns mapping options or their
/// texts, and `tell(trials)`, which takes pairs of options and seconds, infinity for failures.
autotuner::NamedPolicy policy_of(const std::string& name, const pybind11::object& make);

/// The prices that \p correct returns for the nests of a pool, each a tuple of its options as text, its price, the terms of this
/// price, and measured seconds, 0 for none.
autotuner::PriceSearch::Correct correction_of(const pybind11::object& correct);

/// Binds the class SearchSpace.
void bind_policies(pybind11::module_& m);

}  // namespace tc::python
