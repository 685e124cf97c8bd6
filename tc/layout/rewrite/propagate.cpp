#include "tc/layout/rewrite/propagate.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tc::layout {

using namespace lang;

namespace {

/// A tensor that a statement makes element by element from another one: dimension d of `from` is dimension order[d] of `to`.
struct Copy {
  std::string from, to;
  std::vector<std::size_t> order;
};

/// The order in which \p subscripts name \p left, each once.
std::optional<std::vector<std::size_t>> order_of(const std::vector<ExprPtr>& subscripts,
                                                 const std::vector<std::string>& left) {
  std::vector<std::size_t> order;
  for (const auto& subscript : subscripts) {
    const auto* name = std::get_if<Name>(&subscript->node);
    const auto found = name ? std::find(left.begin(), left.end(), name->id) : left.end();
    if (found == left.end()) return std::nullopt;
    order.push_back(found - left.begin());
  }
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> all(left.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return sorted == all ? std::optional(order) : std::nullopt;
}

bool is_plain(const std::vector<std::size_t>& order) { return std::is_sorted(order.begin(), order.end()); }

/// Does \p layout place each element once, with no holes but those of partial blocks?
bool is_basic(const Layout& layout) {
  return std::all_of(layout.primitives().begin(), layout.primitives().end(), [](const Primitive& step) {
    return std::holds_alternative<Split>(step) || std::holds_alternative<Reorder>(step) ||
           std::holds_alternative<Fuse>(step);
  });
}

/// \p layout for a tensor whose dimensions, put in \p order, are those of the tensor that has it.
Layout behind_reorder(const std::vector<std::size_t>& order, const Layout& layout) {
  if (is_plain(order)) return layout;
  Layout result = Layout().reorder(order).filled(layout.fill());
  for (const auto& step : layout.primitives()) result = result.then(step);
  return result;
}

std::vector<std::size_t> inverse_order(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) result[order[d]] = d;
  return result;
}

/// The copies of \p function between tensors of one box.
std::vector<Copy> copies_of(const InlinedDef& function, const SizeMap& sizes, Propagation propagation) {
  std::vector<Copy> copies;
  const auto box = [&](const std::string& name) { return evaluate_box(function.ranges.tensors.at(name), sizes); };
  for (const auto& statement : function.def.statements) {
    const auto& assignment = std::get<Assignment>(statement.node);
    if (!assignment.reduction_iterators.empty()) continue;
    const auto left = left_iterators(assignment);
    for_each_expr(assignment.rhs, [&](const ExprPtr& expr) {
      const auto* access = std::get_if<Access>(&expr->node);
      if (!access || access->tensor == assignment.target) return;
      const auto order = order_of(access->subscripts, left);
      if (!order || (propagation == Propagation::ElementWise && !is_plain(*order))) return;
      const Box from = box(access->tensor), to = box(assignment.target);
      for (std::size_t d = 0; d < order->size(); ++d)
        if (!(from[d] == to[(*order)[d]])) return;
      copies.push_back({access->tensor, assignment.target, *order});
    });
  }
  return copies;
}

}  // namespace

Layouts propagate(const InlinedDef& function, const SizeMap& sizes, Layouts layouts, Propagation propagation) {
  const auto copies = copies_of(function, sizes, propagation);
  const auto give = [&](const std::string& from, const std::string& to, const std::vector<std::size_t>& order) {
    const auto known = layouts.of.find(from);
    if (known == layouts.of.end() || layouts.of.count(to) || !is_basic(known->second)) return false;
    if (function.def.tensors.at(to).role != Role::Temporary) return false;
    layouts.of[to] = behind_reorder(order, known->second);
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& copy : copies) {
      changed = give(copy.from, copy.to, copy.order) || changed;
      changed = give(copy.to, copy.from, inverse_order(copy.order)) || changed;
    }
  }
  return layouts;
}

}  // namespace tc::layout
