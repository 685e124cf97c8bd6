#include "tc/polyhedral/generate/generate.h"

#include <cstdint>
#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/generate/simplify_quotients.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::polyhedral {
namespace {

isl::id number_id(isl::ctx ctx, int number) {
  return call(ctx, isl_id_alloc, ctx.get(), std::to_string(number).c_str(), nullptr);
}

/// Marks whose ids carry the number of band members above, as their user pointer: the AST keeps ids.
isl::schedule number_marks(const isl::schedule& schedule) {
  auto number = [](const isl::schedule_node& node) -> isl::schedule_node {
    if (!node.isa<isl::schedule_node_mark>()) return node;
    auto name = mark_name(node);
    std::intptr_t depth = isl_schedule_node_get_schedule_depth(node.get());
    auto id = call(node.ctx(), isl_id_alloc, node.ctx().get(), name.c_str(), reinterpret_cast<void*>(depth));
    return call(node.ctx(), isl_schedule_node_insert_mark, erase(node).release(), id.release());
  };
  return schedule.root().map_descendant_bottom_up(number).schedule();
}

/// isl's call-back after a mark.
isl_ast_node* annotate_mark(isl_ast_node* node, isl_ast_build* build, void*) {
  isl_id* mark = isl_ast_node_mark_get_id(node);
  auto depth = reinterpret_cast<std::intptr_t>(isl_id_get_user(mark));
  isl_id_free(mark);
  return isl_ast_node_set_annotation(
      node, isl_id_alloc(isl_ast_build_get_ctx(build), std::to_string(depth).c_str(), nullptr));
}

/// The quotients in \p aff.
int quotients(const isl::aff& aff) {
  int count = 0;
  for (int i = 0; i < isl_aff_dim(aff.get(), isl_dim_div); ++i)
    count += !call(aff.ctx(), isl_aff_get_coefficient_val, aff.get(), isl_dim_div, i).is_zero();
  return count;
}

/// The dimensions of \p tensor that its addresses count, outermost first: an index of extent 1 moves nothing.
std::vector<int> counted_dimensions(const Tensor& tensor) {
  std::vector<int> result;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i)
    if (tensor.extent[i] != 1) result.push_back(static_cast<int>(i));
  return result;
}

/// \p function with digits of a number that stand side by side in memory as the number, in the index of the last of
/// them: the same address with fewer divisions.
///
///   before  C[i, floor(g/24), g mod 24]                rows of 24, one after the other
///   after   C[i, 0, g]
///   before  C[floor(g/9), floor(g/3) mod 3, g mod 3]   after  C[0, 0, g]
isl::pw_multi_aff join_digits(const Tensor& tensor, const isl::pw_multi_aff& function) {
  if (!function.isa_multi_aff() || !tensor.stride_variables.empty()) return function;
  auto index = function.as_multi_aff();
  auto counted = counted_dimensions(tensor);
  for (std::size_t n = counted.size(); n-- > 1;) {
    const int low = counted[n];
    auto extent = tensor.extent[low];
    for (std::size_t m = n; m-- > 0;) {
      const int high = counted[m];
      const int divisions = quotients(index.at(high));
      if (divisions == 0 || tensor.strides[high] != extent * tensor.strides[low]) break;
      auto first = index.at(high).scale(isl::val(index.ctx(), 0)).add_constant(isl::val(index.ctx(), tensor.min[high]));
      auto joined = index.at(high).sub(first).scale(isl::val(index.ctx(), extent)).add(index.at(low));
      if (quotients(joined) >= divisions + quotients(index.at(low))) break;
      index = call(index.ctx(), isl_multi_aff_set_at, index.copy(), low, joined.copy());
      index = call(index.ctx(), isl_multi_aff_set_at, index.copy(), high, first.copy());
      extent *= tensor.extent[high];
    }
  }
  return index.to_pw_multi_aff();
}

/// The site of the domain under construction in \p build.
Site make_site(const Scop& scop, const isl::ast_build& build) {
  auto schedule = build.schedule().as_map();
  auto instance = schedule.reverse().as_pw_multi_aff().gist(schedule.range());
  Site site;
  site.statement = domain_name(schedule);
  if (is_synchronisation(site.statement)) return site;
  const Statement& statement = scop.statement(site.statement);
  auto at_source = statement.origin.is_null() ? instance : statement.origin.to_pw_multi_aff().pullback(instance);
  for (unsigned i = 0; i < at_source.size(); ++i)
    site.iterators.push_back(build.expr_from(at_source.at(static_cast<int>(i))));
  auto access = [&](const isl::pw_multi_aff& function) {
    const auto& tensor = scop.tensor(range_name(function));
    auto place = join_digits(tensor, function).pullback(instance);
    if (tensor.shared) place = simplify_quotients(place, schedule.range().intersect_params(parameter_bounds(scop)));
    return build.access_from(place);
  };
  site.write = access(statement.write.function);
  for (const Access& read : statement.reads)
    site.reads.push_back(read.exact ? Nullable<isl::ast_expr>(access(read.function)) : Nullable<isl::ast_expr>());
  return site;
}

std::string print_expr(const Nullable<isl::ast_expr>& expr) {
  return expr.is_null() ? std::string("?") : expr.to_C_str();
}

}  // namespace

Ast generate_ast(const Scop& scop) {
  Ast ast;
  auto build = scop.sizes.is_null() ? isl::ast_build(scop.ctx()) : isl::ast_build::from_context(scop.sizes);
  build = call(scop.ctx(), isl_ast_build_set_after_each_mark, build.copy(), annotate_mark, nullptr);
  build = build.set_at_each_domain([&](const isl::ast_node& node, const isl::ast_build& at) {
    auto id = number_id(scop.ctx(), static_cast<int>(ast.sites.size()));
    ast.sites.push_back(make_site(scop, at));
    return call(scop.ctx(), isl_ast_node_set_annotation, node.copy(), id.release());
  });
  ast.root = build.node_from(number_marks(scop.schedule));
  return ast;
}

int annotation(const isl::ast_node& node) {
  isl_id* id = isl_ast_node_get_annotation(node.get());
  if (!id) throw InternalError("an AST node has no annotation");
  int number = std::atoi(isl_id_get_name(id));
  isl_id_free(id);
  return number;
}

int depth(const isl::ast_node_for& loop) {
  auto name = call(loop.ctx(), isl_ast_expr_get_id, loop.iterator().get()).name();
  return std::atoi(name.c_str() + 1);
}

std::string print(const Ast& ast) {
  std::string text = ast.root.to_C_str();
  for (const Site& site : ast.sites) {
    std::vector<std::string> iterators, reads;
    for (const auto& e : site.iterators) iterators.push_back(print_expr(e));
    for (const auto& e : site.reads) reads.push_back(print_expr(e));
    text += str(site.statement, "(", join(iterators), "): ", print_expr(site.write), " <- ", join(reads), "\n");
  }
  return text;
}

}  // namespace tc::polyhedral
