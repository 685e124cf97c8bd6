#include "tc/halide_bridge/raise/loop_names.h"

#include <algorithm>
#include <optional>

#include "tc/polyhedral/core/isl.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::halide_bridge {
namespace {

const ProgramStatement* find_source(const polyhedral::Statement& statement, const Program& program) {
  for (const Launch& launch : program.launches)
    for (const ProgramStatement& source : launch.statements)
      if (source.id == statement.source) return &source;
  return nullptr;
}

/// "" where \p expr is the iterator, "_inner" and "_outer" where it is a sum with the iterator or a multiple of it;
/// nothing where it has neither.
std::optional<std::string> part_in(const isl::ast_expr& expr, const std::string& iterator) {
  if (isl_ast_expr_get_type(expr.get()) == isl_ast_expr_id) {
    bool same = polyhedral::call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name() == iterator;
    return same ? std::optional<std::string>("") : std::nullopt;
  }
  if (isl_ast_expr_get_type(expr.get()) != isl_ast_expr_op) return std::nullopt;
  auto kind = isl_ast_expr_get_op_type(expr.get());
  if (kind != isl_ast_op_add && kind != isl_ast_op_sub && kind != isl_ast_op_mul) return std::nullopt;
  for (int i = 0; i < isl_ast_expr_get_op_n_arg(expr.get()); ++i) {
    auto part = part_in(polyhedral::call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i), iterator);
    if (part) return kind == isl_ast_op_mul ? "_outer" : part->empty() ? "_inner" : *part;
  }
  return std::nullopt;
}

/// The iterator of the statement at \p site that \p loop makes up, or a part of; "" where there is none.
std::string name_at(const polyhedral::Site& site, const LoopShape& loop, const polyhedral::Scop& scop,
                    const Program& program) {
  if (polyhedral::is_synchronisation(site.statement)) return {};
  const auto* source = find_source(scop.statement(site.statement), program);
  for (std::size_t i = 0; source && i < std::min(source->iterators.size(), site.iterators.size()); ++i)
    if (auto part = part_in(site.iterators[i], loop.iterator)) return source->iterators[i] + *part;
  return {};
}

}  // namespace

void for_each_site(const polyhedral::Ast& ast, const isl::ast_node& node,
                   const std::function<void(const polyhedral::Site&)>& function) {
  if (node.isa<isl::ast_node_user>()) function(ast.sites.at(polyhedral::annotation(node)));
  if (node.isa<isl::ast_node_for>()) for_each_site(ast, node.as<isl::ast_node_for>().body(), function);
  if (node.isa<isl::ast_node_mark>())
    for_each_site(ast, polyhedral::call(node.ctx(), isl_ast_node_mark_get_node, node.get()), function);
  if (node.isa<isl::ast_node_block>())
    for (const auto& child : polyhedral::elements(node.as<isl::ast_node_block>().children()))
      for_each_site(ast, child, function);
  if (node.isa<isl::ast_node_if>()) {
    auto branch = node.as<isl::ast_node_if>();
    for_each_site(ast, branch.then_node(), function);
    if (branch.has_else_node()) for_each_site(ast, branch.else_node(), function);
  }
}

std::string loop_name_for_users(const LoopShape& loop, const polyhedral::Ast& ast, const polyhedral::Scop& scop,
                                const Program& program) {
  std::string result;
  for_each_site(ast, loop.body, [&](const polyhedral::Site& site) {
    if (result.empty()) result = name_at(site, loop, scop, program);
  });
  if (result.empty()) return loop.iterator;
  if (result.ends_with("_inner") || result.ends_with("_outer")) return result;
  return result + (loop.increment != 1 ? "_outer" : loop.from_zero ? "" : "_inner");
}

}  // namespace tc::halide_bridge
