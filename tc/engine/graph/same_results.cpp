#include "tc/engine/graph/same_results.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/graph_interpreter.h"
#include "tc/engine/run/constant.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/interpret/storage.h"

namespace tc::engine {
namespace {

/// Operations that the interpreter runs in some 20 milliseconds.
constexpr double most_operations = 200'000;

/// By how much of the largest element results may differ, where another order of sums rounds otherwise: a thousand units of the last
/// place, a dozen for halves. Sums of the drawn integers are exact in any order, so only what functions made of them is rounded.
double tolerance_of(DType type) { return byte_size(type) <= 2 ? 0.05 : 1e-4; }

/// Elements are compared as if the largest was at least this, because sums that cancel leave only rounding.
constexpr double least_size = 1e-2;

double operations_of(const graph::Graph& graph) {
  double result = 0;
  for (const auto& node : graph.nodes) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const auto tensor : node.inputs) shapes.push_back(graph.tensors[tensor].spec.shape);
    const auto sizes = lang::bind_sizes(node.def->def, shapes);
    for (const auto& iterators : node.def->ranges.statements) {
      double instances = 1;
      for (const auto& [name, range] : iterators)
        instances *= static_cast<double>(lang::evaluate_size(range.extent, sizes));
      result += instances;
    }
  }
  return result;
}

lang::Storage storage_of(const Constant& tensor) {
  return {.name = tensor.name, .type = tensor.spec.dtype, .data = tensor.data.get()};
}

double number_at(const Constant& tensor, std::int64_t i) {
  const auto storage = storage_of(tensor);
  return is_float(tensor.spec.dtype) ? lang::load_float(storage, i)
                                     : static_cast<double>(lang::load_integer(storage, i));
}

/// Fills \p tensor with small integers.
void draw(const Constant& tensor, std::mt19937& random) {
  const auto storage = storage_of(tensor);
  for (std::int64_t i = 0; i < tensor.spec.element_count(); ++i) {
    const auto value = static_cast<int>(random() % 5) - 2;
    if (is_float(tensor.spec.dtype))
      lang::store_float(storage, i, value);
    else
      lang::store_integer(storage, i, std::abs(value));
  }
}

std::vector<Constant> tensors_of(const graph::Graph& graph, const std::vector<std::size_t>& list) {
  std::vector<Constant> result;
  for (const auto tensor : list)
    result.push_back(allocate_constant(graph.tensors[tensor].name, graph.tensors[tensor].spec));
  return result;
}

std::vector<Argument> arguments_of(const graph::Graph& graph) {
  std::vector<Argument> result;
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const auto tensor : *list) {
      Argument argument;
      argument.name = graph.tensors[tensor].name;
      argument.spec = graph.tensors[tensor].spec;
      result.push_back(std::move(argument));
    }
  return result;
}

std::vector<Constant> run(const graph::Graph& graph, std::vector<Constant>& inputs) {
  auto outputs = tensors_of(graph, graph.outputs);
  std::mt19937 random(2);
  for (auto& output : outputs) draw(output, random);  // some are read before they are written
  std::vector<void*> pointers;
  for (auto* list : {&inputs, &outputs})
    for (auto& tensor : *list) pointers.push_back(tensor.view().data);
  graph_interpreter(graph, arguments_of(graph))(pointers.data());
  return outputs;
}

std::optional<std::string> mismatch(const Constant& a, const Constant& b) {
  const auto type = a.spec.dtype;
  double largest = least_size;
  for (std::int64_t i = 0; i < a.spec.element_count(); ++i)
    if (const auto size = std::abs(number_at(a, i)); std::isfinite(size)) largest = std::max(largest, size);
  const double allowed = is_float(type) ? tolerance_of(type) * largest : 0;
  for (std::int64_t i = 0; i < a.spec.element_count(); ++i) {
    const auto x = number_at(a, i), y = number_at(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed) continue;
    return str("element ", i, " of '", a.name, "' is ", y, " and was ", x);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> different_results(const graph::Graph& a, const graph::Graph& b) {
  if (operations_of(a) > most_operations || operations_of(b) > most_operations) return std::nullopt;
  std::mt19937 random(1);
  auto inputs = tensors_of(a, a.inputs);
  for (auto& input : inputs) draw(input, random);
  try {
    const auto want = run(a, inputs), got = run(b, inputs);
    for (std::size_t o = 0; o < want.size(); ++o)
      if (auto text = mismatch(want[o], got[o])) return text;
  } catch (const ArgumentError&) {  // a drawn index is outside of its tensor
  }
  return std::nullopt;
}

}  // namespace tc::engine
