#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tc/polyhedral/generate/generate.h"

namespace tc::polyhedral {

/// Runs the loop nest that isl makes of a mapped scop, instance by instance in one thread, and tells what each reads
/// and writes, as addresses: tensors one after another, each where a line begins, none where another's sets of a cache
/// begin. Elements in registers have no address. Reads that are not exact are left out.
class AddressStream {
 public:
  using Visit = std::function<void(std::int64_t address, bool write)>;

  AddressStream(const Scop& scop, Visit visit) : scop_(scop), visit_(std::move(visit)), ast_(generate_ast(scop)) {
    std::int64_t next = 0;
    for (const auto& tensor : scop.tensors) {
      std::int64_t elements = 1;
      for (std::size_t i = 0; i < tensor.extent.size(); ++i) elements += (tensor.extent[i] - 1) * tensor.strides[i];
      bases_[tensor.name] = next;
      next += (elements * byte_size(tensor.type) + 64 * 13) / 64 * 64;
    }
  }

  void run() { node(ast_.root)(); }

 private:
  using Action = std::function<void()>;
  using Number = std::function<std::int64_t()>;

  Action node(const isl::ast_node& n) {
    if (n.isa<isl::ast_node_for>()) return loop(n.as<isl::ast_node_for>());
    if (n.isa<isl::ast_node_mark>()) return node(n.as<isl::ast_node_mark>().node());
    if (n.isa<isl::ast_node_user>()) return instance(ast_.sites.at(annotation(n)));
    if (n.isa<isl::ast_node_block>()) {
      std::vector<Action> parts;
      for (const auto& child : elements(n.as<isl::ast_node_block>().children())) parts.push_back(node(child));
      return [parts] {
        for (const auto& part : parts) part();
      };
    }
    auto branch = n.as<isl::ast_node_if>();
    auto condition = number(branch.cond());
    auto yes = node(branch.then_node()), no = branch.has_else_node() ? node(branch.else_node()) : Action([] {});
    return [=] { condition() ? yes() : no(); };
  }

  Action loop(const isl::ast_node_for& f) {
    auto* value = &values_[call(f.ctx(), isl_ast_expr_get_id, f.iterator().get()).name()];
    auto first = number(f.init());
    if (f.is_degenerate()) {
      auto body = node(f.body());
      return [=] { *value = first(), body(); };
    }
    auto condition = number(f.cond()), step = number(f.inc());
    auto body = node(f.body());
    return [=] {
      for (*value = first(); condition(); *value += step()) body();
    };
  }

  Action instance(const Site& site) {
    const auto& statement = scop_.statement(site.statement);
    std::vector<Action> actions;
    for (const auto& read : site.reads)
      if (!read.is_null()) access(read, false, actions);
    if (statement.accumulates) access(site.write, false, actions);
    access(site.write, true, actions);
    return [actions] {
      for (const auto& action : actions) action();
    };
  }

  void access(const isl::ast_expr& expr, bool write, std::vector<Action>& actions) {
    const auto& tensor = scop_.tensor(call(expr.ctx(), isl_ast_expr_get_id, argument(expr, 0).get()).name());
    if (tensor.in_registers) return;
    std::vector<Number> indices;
    for (std::size_t i = 0; i < tensor.extent.size(); ++i)
      indices.push_back(number(argument(expr, static_cast<int>(i) + 1)));
    actions.push_back([this, &tensor, indices, write, base = bases_.at(tensor.name)] {
      std::int64_t element = 0;
      for (std::size_t i = 0; i < indices.size(); ++i) {
        auto index = indices[i]() - tensor.min[i];
        if (index < 0 || index >= tensor.extent[i]) return;
        element += index * tensor.strides[i];
      }
      visit_(base + element * byte_size(tensor.type), write);
    });
  }

  static isl::ast_expr argument(const isl::ast_expr& expr, int i) {
    return call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i);
  }

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

  Number number(const isl::ast_expr& expr) {
    auto type = isl_ast_expr_get_type(expr.get());
    if (type == isl_ast_expr_int) {
      auto value = call(expr.ctx(), isl_ast_expr_get_val, expr.get()).num_si();
      return [value] { return value; };
    }
    if (type == isl_ast_expr_id) {
      auto* value = &values_[call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name()];
      return [value] { return *value; };
    }
    std::vector<Number> all;
    for (int i = 0; i < isl_ast_expr_get_op_n_arg(expr.get()); ++i) all.push_back(number(argument(expr, i)));
    auto kind = isl_ast_expr_get_op_type(expr.get());
    if (all.size() == 2) return of_two(kind, all[0], all[1]);
    if (all.size() == 1 && kind == isl_ast_op_minus) return [a = all[0]] { return -a(); };
    if (kind == isl_ast_op_cond || kind == isl_ast_op_select) return [all] { return all[0]() ? all[1]() : all[2](); };
    if (all.size() < 2) throw std::logic_error("an AST operation of an unknown kind");
    auto result = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) result = of_two(kind, result, all[i]);
    return result;
  }

  static Number of_two(isl_ast_op_type kind, const Number& a, const Number& b) {
    switch (kind) {
      case isl_ast_op_add:
        return [=] { return a() + b(); };
      case isl_ast_op_sub:
        return [=] { return a() - b(); };
      case isl_ast_op_mul:
        return [=] { return a() * b(); };
      case isl_ast_op_div:
      case isl_ast_op_fdiv_q:
      case isl_ast_op_pdiv_q:
        return [=] { return floor_div(a(), b()); };
      case isl_ast_op_pdiv_r:
      case isl_ast_op_zdiv_r:
        return [=] { return a() % b(); };
      case isl_ast_op_min:
        return [=] { return std::min(a(), b()); };
      case isl_ast_op_max:
        return [=] { return std::max(a(), b()); };
      case isl_ast_op_and:
      case isl_ast_op_and_then:
        return [=] { return std::int64_t{a() && b()}; };
      case isl_ast_op_or:
      case isl_ast_op_or_else:
        return [=] { return std::int64_t{a() || b()}; };
      case isl_ast_op_eq:
        return [=] { return std::int64_t{a() == b()}; };
      case isl_ast_op_le:
        return [=] { return std::int64_t{a() <= b()}; };
      case isl_ast_op_lt:
        return [=] { return std::int64_t{a() < b()}; };
      case isl_ast_op_ge:
        return [=] { return std::int64_t{a() >= b()}; };
      case isl_ast_op_gt:
        return [=] { return std::int64_t{a() > b()}; };
      default:
        throw std::logic_error("an AST operation of an unknown kind");
    }
  }

  const Scop& scop_;
  Visit visit_;
  Ast ast_;
  std::map<std::string, std::int64_t> bases_;
  std::map<std::string, std::int64_t> values_;  ///< of the loops' iterators
};

}  // namespace tc::polyhedral
