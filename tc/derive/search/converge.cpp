#include "tc/derive/search/converge.h"

#include <algorithm>

#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/change_layout.h"
#include "tc/derive/search/product_view.h"
#include "tc/derive/search/window_view.h"

namespace tc::derive {

namespace {

/// \p order, and then all other left dimensions of \p scope.
std::vector<int> completed(std::vector<int> order, const Scope& scope) {
  for (int d : left_dimensions(scope))
    if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
  return order;
}

std::vector<int> joined(std::vector<int> a, const std::vector<int>& b, const std::vector<int>& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

}  // namespace

std::vector<Step> converge(const Program& program, const std::string& tensor, bool convolutions) {
  const auto scope = program.find(tensor);
  std::vector<Step> result;
  const auto add = [&](const auto& rule) {
    try {
      auto step = rule();
      const bool known =
          std::any_of(result.begin(), result.end(), [&](const Step& other) { return other.what == step.what; });
      if (!known) result.push_back(std::move(step));
    } catch (const Refusal&) {
    }
  };
  const auto windows = convolutions ? view_windows(program, *scope) : std::nullopt;
  if (windows && windows->distance() > 0) {
    if (!windows->result_fits)
      add([&] { return reorder_dimensions(program, tensor, completed(windows->result_order, *scope)); });
    else
      add([&] { return copy_operand(program, tensor, windows->weights, windows->weights_order); });
  }
  for (const auto& view : product_views(program, *scope)) {
    if (view.distance() == 0) return {};
    if (!view.result.fits) {
      for (const auto& order : {joined(view.b, view.m, view.n), joined(view.b, view.n, view.m)})
        add([&] { return reorder_dimensions(program, tensor, completed(order, *scope)); });
    } else {
      const auto& operand = view.first.fits ? view.second : view.first;
      add([&] { return copy_operand(program, tensor, operand.read, operand.order); });
    }
  }
  return result;
}

}  // namespace tc::derive
