#include "tc/derive/search/converge.h"

#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/change_layout.h"
#include "tc/derive/search/product_view.h"

namespace tc::derive {

std::optional<Step> converge(const Program& program, const std::string& tensor) {
  const auto scope = program.find(tensor);
  const auto view = view_product(program, *scope);
  if (!view || view->distance() == 0) return std::nullopt;
  try {
    if (!view->result.fits) {
      auto order = view->result.order;
      for (int d : left_dimensions(*scope))
        if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
      return reorder_dimensions(program, tensor, order);
    }
    const auto& operand = view->first.fits ? view->second : view->first;
    return copy_operand(program, tensor, operand.read, operand.order);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

}  // namespace tc::derive
