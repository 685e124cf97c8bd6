#include "tc/polyhedral/laws/verify_ast.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/generate/ast_functions.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::polyhedral {
namespace {

/// A user node: its site, when it runs, what it calls, and the order of the nodes around it.
struct Node {
  int site = 0;
  isl::set runs;                   ///< the iterators for which it runs: [c] -> { : ... }
  Nullable<isl::ast_expr> call;    ///< the instance, S1(c0, c1)
  std::vector<std::string> order;  ///< iterators of loops and positions in blocks, outermost first
};

using Visit = std::function<void(const Node&)>;

void walk(const isl::ast_node& node, Node at, const Visit& visit);

void walk_conditional(const isl::ast_node_if& branch, const Node& at, const Visit& visit) {
  auto holds = condition_set(branch.cond());
  auto then_case = at, else_case = at;
  then_case.runs = at.runs.intersect(holds);
  walk(branch.then_node(), then_case, visit);
  else_case.runs = at.runs.subtract(holds);
  if (branch.has_else_node()) walk(branch.else_node(), else_case, visit);
}

void walk_loop(const isl::ast_node_for& loop, Node at, const Visit& visit) {
  at.runs = iterations(loop, at.runs);
  at.order.push_back(call(loop.ctx(), isl_ast_expr_get_id, loop.iterator().get()).name());
  walk(loop.body(), at, visit);
}

void walk(const isl::ast_node& node, Node at, const Visit& visit) {
  switch (isl_ast_node_get_type(node.get())) {
    case isl_ast_node_for:
      return walk_loop(node.as<isl::ast_node_for>(), at, visit);
    case isl_ast_node_if:
      return walk_conditional(node.as<isl::ast_node_if>(), at, visit);
    case isl_ast_node_mark:
      return walk(call(node.ctx(), isl_ast_node_mark_get_node, node.get()), at, visit);
    case isl_ast_node_block: {
      auto children = elements(node.as<isl::ast_node_block>().children());
      for (std::size_t i = 0; i < children.size(); ++i) {
        auto child = at;
        child.order.push_back(str(i));
        walk(children[i], child, visit);
      }
      return;
    }
    default:
      at.site = annotation(node);
      at.call = node.as<isl::ast_node_user>().expr();
      visit(at);
  }
}

/// The nodes of \p ast that run statements, in order.
std::vector<Node> statement_nodes(const Ast& ast, const Scop& scop) {
  std::vector<Node> result;
  auto always = parameter_bounds(scop);
  walk(ast.root, {0, always, {}, {}}, [&](const Node& node) {
    if (!is_synchronisation(ast.sites.at(node.site).statement)) result.push_back(node);
  });
  return result;
}

/// [N, c] -> { T[x] } as [N] -> { [c] -> T[x] }, where \p runs holds: symbolic sizes stay parameters.
isl::map by_iterators(const isl::set& tuple, const isl::set& runs) {
  auto aligned =
      call(tuple.ctx(), isl_set_align_params, tuple.intersect_params(runs).release(), runs.space().release());
  auto map = call(tuple.ctx(), isl_map_from_range, aligned.copy());
  for (int p = isl_map_dim(map.get(), isl_dim_param); p-- > 0;) {
    const auto position = static_cast<unsigned>(p);
    if (is_size_parameter(isl_map_get_dim_name(map.get(), isl_dim_param, position))) continue;
    map = call(tuple.ctx(), isl_map_move_dims, map.release(), isl_dim_in, 0, isl_dim_param, position, 1);
  }
  return map;
}

class AstCheck {
 public:
  AstCheck(const Ast& ast, const Scop& scop) : ast_(ast), scop_(scop), nodes_(statement_nodes(ast, scop)) {}

  void check_instances() const {
    std::map<std::string, isl::set> seen;
    for (const auto& node : nodes_) {
      const auto& site = ast_.sites.at(node.site);
      auto instances = instances_of(node);
      if (domain_name_of(instances) != site.statement) fail("ast instances", node, "runs another statement");
      if (!instances.is_injective()) fail("ast instances", node, "runs an instance more than once");
      auto runs = instances.range();
      auto [entry, first] = seen.try_emplace(site.statement, runs);
      if (!first && !entry->second.is_disjoint(runs)) fail("ast instances", node, "runs what another site runs");
      if (!first) entry->second = entry->second.unite(runs).coalesce();
      check_iterators(node, instances);
    }
    for (const auto& statement : scop_.statements) {
      auto found = seen.find(statement.id);
      auto runs = found == seen.end() ? isl::set::empty(statement.domain.space()) : found->second;
      const auto domain =
          scop_.sizes.is_null() ? statement.domain : isl::set(statement.domain.intersect_params(scop_.sizes));
      fail_unless_empty(domain.subtract(runs), "does not run");
      fail_unless_empty(runs.subtract(statement.domain), "runs but is no instance of a statement");
    }
  }

  void check_accesses() const {
    for (const auto& node : nodes_) {
      const auto& site = ast_.sites.at(node.site);
      const auto& statement = scop_.statement(site.statement);
      auto instances = instances_of(node);
      check_access(node, instances, statement.write, site.write, "write");
      if (site.reads.size() != statement.reads.size()) fail("ast accesses", node, "has another number of reads");
      for (std::size_t i = 0; i < site.reads.size(); ++i)
        check_access(node, instances, statement.reads[i], site.reads[i], str("read ", i));
    }
  }

  void check_order(const Dependences& dependences) const {
    auto time = isl::union_map::empty(scop_.ctx());
    std::size_t length = 0;
    for (const auto& node : nodes_) length = std::max(length, node.order.size());
    for (const auto& node : nodes_) time = time.unite(time_of(node, length).to_union_map());
    auto pairs = dependences.validity.intersect_domain(time.domain()).intersect_range(time.domain());
    for (const auto& map : elements(pairs.map_list())) {
      auto times = map.to_union_map().apply_domain(time).apply_range(time);
      if (times.is_empty()) continue;
      auto forward = call(scop_.ctx(), isl_map_lex_lt, times.as_map().space().domain().release());
      auto late = times.subtract(forward.to_union_map());
      if (late.is_empty()) continue;
      auto backward = map.to_union_map().intersect(time.apply_range(late).apply_range(time.reverse()));
      broken_law("ast order", str("the dependence ", first_pair(backward), " does not go forward in\n", print(ast_)),
                 scop_.schedule);
    }
  }

 private:
  const Ast& ast_;
  const Scop& scop_;
  std::vector<Node> nodes_;

  [[noreturn]] void fail(const char* law, const Node& node, const std::string& how) const {
    broken_law(law, str("the site ", node.call.to_C_str(), " ", how, "; the AST is\n", print(ast_)), scop_.schedule);
  }
  void fail_unless_empty(const isl::set& instances, const char* how) const {
    if (instances.is_empty()) return;
    broken_law("ast instances", str("the instance ", instances.sample_point(), " ", how, "; the AST is\n", print(ast_)),
               scop_.schedule);
  }

  static std::string domain_name_of(const isl::map& instances) { return range_name(instances); }

  /// { [c] -> S[i] }.
  static isl::map instances_of(const Node& node) { return by_iterators(argument_tuple(node.call), node.runs); }

  void check_iterators(const Node& node, const isl::map& instances) const {
    const auto& site = ast_.sites.at(node.site);
    const auto& statement = scop_.statement(site.statement);
    auto at_source = statement.origin.is_null() ? instances : instances.apply_range(statement.origin.as_map());
    isl::set tuple(scop_.ctx(), "{ [] }");
    for (const auto& iterator : site.iterators) {
      auto value = call(scop_.ctx(), isl_set_from_pw_aff, value_function(iterator).release());
      tuple = call(scop_.ctx(), isl_set_flat_product, tuple.release(), value.release());
    }
    auto claimed = by_iterators(tuple, node.runs).set_range_tuple(range_name(at_source));
    if (!claimed.is_equal(at_source)) fail("ast instances", node, "has iterators of another instance");
  }

  void check_access(const Node& node, const isl::map& instances, const Access& access,
                    const Nullable<isl::ast_expr>& expr, const std::string& what) const {
    bool known = access.exact || !access.function.is_null();
    if (known == expr.is_null()) fail("ast accesses", node, str("knows no address for its ", what));
    if (!known) return;
    auto guarded = instances.intersect_range(access.relation.domain());
    auto wanted = guarded.apply_range(access.function.as_map());
    auto made = by_iterators(argument_tuple(expr), node.runs).intersect_domain(guarded.domain());
    if (made.is_equal(wanted)) return;
    if (range_name(made) != range_name(wanted)) fail("ast accesses", node, str("has a ", what, " of another tensor"));
    auto address = addresses(scop_.tensor(range_name(wanted)));
    auto wrong = made.apply_range(address).subtract(wanted.apply_range(address));
    if (wrong.is_empty() && made.domain().is_equal(wanted.domain())) return;
    fail("ast accesses", node,
         str("has a ", what, " whose address is another than that of the element ",
             first_pair(guarded.intersect_domain(wrong.domain()).to_union_map())));
  }

  /// { T[x] -> [address] }, up to a constant.
  isl::map addresses(const Tensor& tensor) const {
    auto names = dimension_names(static_cast<int>(tensor.extent.size()), "x");
    std::string sum = "0";
    for (std::size_t i = 0; i < names.size(); ++i)
      if (tensor.extent[i] != 1) sum += str(" + ", tensor.strides[i], " * ", names[i]);
    isl::map result(scop_.ctx(), str("{ [", join(names), "] -> [", sum, "] }"));
    return call(scop_.ctx(), isl_map_set_tuple_name, result.release(), isl_dim_in, tensor.name.c_str());
  }

  /// { S[i] -> [t] }, with zeros up to \p length.
  isl::map time_of(const Node& node, std::size_t length) const {
    isl::set tuple(scop_.ctx(), "{ [] }");
    for (std::size_t i = 0; i < length; ++i) {
      auto step = i < node.order.size() ? node.order[i] : "0";
      bool loop = step.find_first_not_of("0123456789") != std::string::npos;
      isl::set value(scop_.ctx(), loop ? str("[", step, "] -> { [", step, "] }") : str("{ [", step, "] }"));
      tuple = call(scop_.ctx(), isl_set_flat_product, tuple.release(), value.release());
    }
    return instances_of(node).reverse().apply_range(by_iterators(tuple, node.runs));
  }
};

}  // namespace

void verify_ast_instances(const Ast& ast, const Scop& scop) { AstCheck(ast, scop).check_instances(); }

void verify_ast_accesses(const Ast& ast, const Scop& scop) { AstCheck(ast, scop).check_accesses(); }

void verify_ast_order(const Ast& ast, const Scop& scop, const Dependences& dependences) {
  AstCheck(ast, scop).check_order(dependences);
}

void verify_ast(const Ast& ast, const Scop& scop) {
  AstCheck check(ast, scop);
  check.check_instances();
  check.check_accesses();
}

}  // namespace tc::polyhedral
