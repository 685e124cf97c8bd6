#include "tc/halide_bridge/raise/raise.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/raise/allocate_buffer.h"
#include "tc/halide_bridge/raise/ast_loop.h"
#include "tc/halide_bridge/raise/loop_names.h"
#include "tc/halide_bridge/raise/member_ranges.h"
#include "tc/halide_bridge/raise/raise_body.h"
#include "tc/halide_bridge/raise/raise_unit.h"
#include "tc/halide_bridge/stmt/function_call.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Int;
namespace ir = Halide::Internal;
namespace marks = polyhedral::marks;
using ir::Stmt;

/// The variable that stands for \p parameter of the schedule.
std::string variable_of(const std::string& parameter) {
  using namespace polyhedral;
  return is_size_parameter(parameter) ? size_variable(size_of_parameter(parameter)) : parameter;
}

/// Unrolled loops longer than this stay loops.
constexpr std::int64_t max_unrolled_trips = 64;
enum class Mode { Serial, Unroll, Vector };

/// \p body with the values that tc_uniform makes known to be the same in a warp computed before anything else.
Stmt with_uniform_values_first(const Stmt& body) {
  struct Namer : ir::IRMutator {
    using ir::IRMutator::visit;
    std::vector<Expr> values;
    static std::string name(std::size_t i) { return str("uniform$", i); }
    Expr visit(const ir::Call* op) override {
      if (op->name != "tc_uniform") return ir::IRMutator::visit(op);
      std::size_t i = 0;
      while (i < values.size() && !ir::equal(values[i], op)) ++i;
      if (i == values.size()) values.emplace_back(op);
      return ir::Variable::make(op->type, name(i));
    }
  } namer;
  Stmt result = namer.mutate(body);
  for (std::size_t i = namer.values.size(); i-- > 0;)
    result = ir::LetStmt::make(Namer::name(i), namer.values[i], result);
  return result;
}

class Raiser {
 public:
  Raiser(const polyhedral::Ast& ast, const polyhedral::Scop& scop, const Program& program, const RaiseOptions& options)
      : ast_(ast), scop_(scop), program_(program), options_(options) {}

  Stmt run() {
    for (const auto& parameter : scop_.parameters)
      environment_[parameter.name] = variable(variable_of(parameter.name), parameter.min, parameter.max);
    Stmt body = node(ast_.root, Mode::Serial);
    for (const auto& tensor : scop_.tensors)
      if (lives_in_kernel(tensor)) body = allocate_buffer(tensor, body);
    return with_uniform_values_first(body);
  }

 private:
  const polyhedral::Ast& ast_;
  const polyhedral::Scop& scop_;
  const Program& program_;
  const RaiseOptions options_;
  Environment environment_;
  Lanes lanes_;
  std::optional<std::map<std::string, std::vector<polyhedral::Interval>>> ranges_;  ///< member_ranges, once asked for
  int parallel_depth_ = -1;  ///< depth of the loop a `parallel` mark speaks of
  int next_name_ = 0;

  static Stmt nothing() { return ir::Evaluate::make(0); }

  Stmt node(const isl::ast_node& n, Mode mode) {
    switch (isl_ast_node_get_type(n.get())) {
      case isl_ast_node_for:
        return loop(n, mode);
      case isl_ast_node_if:
        return conditional(n, mode);
      case isl_ast_node_block:
        return block(n, mode);
      case isl_ast_node_mark:
        return mark(n, mode);
      case isl_ast_node_user:
        return site(ast_.sites.at(polyhedral::annotation(n)));
      default:
        throw InternalError("an AST node of an unknown kind");
    }
  }

  Stmt site(const polyhedral::Site& at) {
    if (!polyhedral::is_synchronisation(at.statement)) return raise_body(at, scop_, program_, environment_, lanes_);
    std::vector<Expr> arguments;
    for (auto left : {polyhedral::groups_left(at.statement), polyhedral::unit_groups_left(at.statement)})
      if (left >= 0) arguments.push_back(left);
    return function_call(polyhedral::function_of_synchronisation(at.statement), arguments);
  }

  Stmt block(const isl::ast_node& n, Mode mode) {
    std::vector<Stmt> parts;
    for (const auto& child : polyhedral::elements(n.as<isl::ast_node_block>().children()))
      parts.push_back(node(child, mode));
    return parts.empty() ? nothing() : ir::Block::make(parts);
  }

  Stmt conditional(const isl::ast_node& n, Mode mode) {
    auto branch = n.as<isl::ast_node_if>();
    Expr condition = ir::simplify(raise_condition(branch.cond(), environment_));
    if (const auto* same = condition.as<ir::Broadcast>()) condition = same->value;
    Lanes around = lanes_;
    bool is_vector = condition.type().is_vector();
    if (is_vector) lanes_ = around.guarded(condition);
    Stmt then_case = node(branch.then_node(), mode), else_case;
    if (is_vector) lanes_ = around.guarded(ir::Not::make(condition));
    if (branch.has_else_node()) else_case = node(branch.else_node(), mode);
    lanes_ = around;
    if (!is_vector) return ir::IfThenElse::make(condition, then_case, else_case);
    return else_case.defined() ? ir::Block::make(then_case, else_case) : then_case;
  }

  Stmt mark(const isl::ast_node& n, Mode mode) {
    auto name = polyhedral::call(n.ctx(), isl_ast_node_mark_get_id, n.get()).name();
    auto inner = polyhedral::call(n.ctx(), isl_ast_node_mark_get_node, n.get());
    if (name == marks::parallel) {
      int around = parallel_depth_;
      parallel_depth_ = polyhedral::annotation(n);
      Stmt result = node(inner, mode);
      parallel_depth_ = around;
      return result;
    }
    if (name == marks::register_tile) return node(inner, Mode::Unroll);
    if (name == marks::vector) return vector(inner, mode);
    if (name == marks::unit) return raise_unit(inner, ast_, scop_, environment_);
    auto buffer = marks::allocated_buffer(name);
    return buffer.empty() || lives_in_kernel(scop_.tensor(buffer))
               ? node(inner, mode)
               : allocate_buffer(scop_.tensor(buffer), node(inner, mode));
  }

  /// Does a statement below \p n use a buffer that constant indices turn into registers?
  bool uses_registers(const isl::ast_node& n) {
    bool result = false;
    for_each_statement(n, [&](const polyhedral::Statement& statement) {
      for (const auto* access : polyhedral::accesses(statement)) {
        if (access->function.is_null()) continue;
        const auto& tensor = scop_.tensor(polyhedral::range_name(access->function));
        result = result || (tensor.storage == polyhedral::Tensor::Storage::Local && fits_stack(tensor));
      }
    });
    return result;
  }

  template <typename Function>
  void for_each_statement(const isl::ast_node& n, const Function& function) {
    for_each_site(ast_, n, [&](const polyhedral::Site& site) {
      if (!polyhedral::is_synchronisation(site.statement)) function(scop_.statement(site.statement));
    });
  }

  /// The lanes the statements below \p n agree on, 0 where there is none.
  int lanes_below(const isl::ast_node& n) {
    int lanes = 0;
    for_each_statement(
        n, [&](const polyhedral::Statement& statement) { lanes = std::max(lanes, statement.vector_lanes); });
    return lanes;
  }

  Stmt vector(const isl::ast_node& n, Mode mode) { return node(n, lanes_below(n) > 1 ? Mode::Vector : mode); }

  Stmt loop(const isl::ast_node& n, Mode mode) {
    AstLoop l = describe_loop(n, environment_);
    if (mode == Mode::Unroll && !l.has_constant_trips()) l.last.high = std::min(l.last.high, most_trips(n, l) - 1);
    Environment around = environment_;
    Stmt result;
    if (l.last.is_constant() && l.last.low == 0) {
      environment_[l.iterator] = l.init;
      result = node(l.body, mode);
    } else if (mode == Mode::Vector) {
      result = vector_loop(l);
    } else if (mode == Mode::Unroll && l.runs_all_or_nothing() && !l.has_constant_trips()) {
      Expr any = ir::GE::make(l.last.expr, ir::make_zero(l.last.expr.type()));
      l.last = exactly(l.last.high);
      result = ir::IfThenElse::make(ir::simplify(any), unrolled_or_serial(l, mode));
    } else if (mode == Mode::Unroll && l.last.high < max_unrolled_trips &&
               (l.has_constant_trips() || uses_registers(l.body))) {
      result = unrolled_loop(l, mode);
    } else {
      bool parallel = polyhedral::depth(n.as<isl::ast_node_for>()) == parallel_depth_;
      result = serial_loop(l, mode, parallel ? ir::ForType::Parallel : ir::ForType::Serial);
    }
    environment_ = std::move(around);
    return result;
  }

  /// Trips of \p l, the loop \p n, that the members of the schedule leave.
  std::int64_t most_trips(const isl::ast_node& n, const AstLoop& l) {
    if (!ranges_) ranges_ = member_ranges(scop_);
    const auto member = static_cast<std::size_t>(polyhedral::depth(n.as<isl::ast_node_for>()));
    std::int64_t result = 0;
    for_each_statement(l.body, [&](const polyhedral::Statement& statement) {
      const auto found = ranges_->find(statement.id);
      const bool known = found != ranges_->end() && member < found->second.size();
      result = std::max(result, known ? found->second[member].extent() : max_unrolled_trips);
    });
    return std::max<std::int64_t>(ceil_div(result, l.increment), 1);
  }

  Stmt unrolled_or_serial(const AstLoop& l, Mode mode) {
    return l.last.high < max_unrolled_trips ? unrolled_loop(l, mode) : serial_loop(l, mode, ir::ForType::Serial);
  }

  /// The mark says that no loop here has more trips than lanes; bounds of which one loop around decides which is the
  /// tighter do not show it.
  Stmt vector_loop(AstLoop l) {
    int count = lanes_below(l.body);
    if (l.last.low >= count || l.increment != 1)
      throw InternalError(str("the vector loop over ", l.iterator, " is longer than its ", count, " lanes"));
    l.last.high = std::min<std::int64_t>(l.last.high, count - 1);
    Bounded lanes{ir::Ramp::make(0, 1, count), 0, count - 1};
    environment_[l.iterator] = simplified(add(l.init, lanes));
    Lanes around = lanes_;
    lanes_.count = count;
    bool full = l.last.high == count - 1, always_full = full && l.has_constant_trips();
    Stmt whole = always_full || (full && options_.as_kernel) ? node(l.body, Mode::Serial) : Stmt();
    if (!always_full) mask_beyond(l.last, lanes);
    Stmt part = always_full ? Stmt() : node(l.body, Mode::Serial);
    lanes_ = around;
    if (!part.defined()) return whole;
    if (whole.defined())
      part =
          ir::IfThenElse::make(ir::EQ::make(l.last.expr, ir::make_const(l.last.expr.type(), count - 1)), whole, part);
    return l.last.low < 0 ? ir::IfThenElse::make(ir::GE::make(l.last.expr, ir::make_zero(l.last.expr.type())), part)
                          : part;
  }

  /// Lanes beyond \p last do not run; the first one does.
  void mask_beyond(const Bounded& last, Bounded lanes) {
    Bounded end = last;
    match(lanes, end);
    lanes_.tail = ir::simplify(ir::LE::make(lanes.expr, end.expr));
  }

  Stmt unrolled_loop(const AstLoop& l, Mode mode) {
    if (options_.as_kernel) return loop_to_unroll(l, mode);
    std::vector<Stmt> trips;
    for (std::int64_t trip = 0; trip <= l.last.high; ++trip) {
      environment_[l.iterator] = simplified(add(l.init, exactly(trip * l.increment)));
      Stmt body = node(l.body, mode);
      if (trip > l.last.low) {
        Bounded number = exactly(trip), last = l.last;
        match(number, last);
        body = ir::IfThenElse::make(ir::LE::make(number.expr, last.expr), body);
      }
      trips.push_back(body);
    }
    return trips.empty() ? nothing() : ir::Block::make(trips);
  }

  /// A loop of a constant number of trips; those beyond the last do nothing.
  Stmt loop_to_unroll(const AstLoop& l, Mode mode) {
    auto name = loop_name(l);
    Bounded trip = within(ir::Variable::make(Int(32), name), 0, l.last.high);
    environment_[name] = trip;
    environment_[l.iterator] = simplified(add(l.init, multiply(trip, exactly(l.increment))));
    Stmt body = node(l.body, mode);
    if (!l.has_constant_trips()) {
      Bounded last = l.last;
      match(trip, last);
      body = ir::IfThenElse::make(ir::LE::make(trip.expr, last.expr), body);
    }
    return ir::For::make(name, 0, static_cast<int>(l.last.high + 1), ir::ForType::Unrolled, Halide::DeviceAPI::None,
                         body);
  }

  /// A new name, not one of a tensor.
  std::string loop_name(const AstLoop& loop) {
    if (options_.as_kernel) return str(readable_name(loop), "$", next_name_++);
    std::string name;
    do name = str(loop.iterator, "_", next_name_++);
    while (scop_.has_tensor(name) || scop_.has_tensor(name + "_outer"));
    return name;
  }

  std::string readable_name(const AstLoop& loop) {
    bool from_zero = loop.init.is_constant() && loop.init.low == 0;
    return loop_name_for_users({loop.iterator, loop.body, loop.increment, from_zero}, ast_, scop_, program_);
  }

  /// Halide's loops count in 32 bits: a longer one is two.
  Stmt serial_loop(const AstLoop& l, Mode mode, ir::ForType type) {
    auto name = loop_name(l);
    Bounded count = simplified(add(l.last, exactly(1)));
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    Bounded trip = within(ir::Variable::make(Int(32), name), 0, std::clamp<std::int64_t>(l.last.high, 0, most));
    environment_[name] = trip;
    if (count.high <= most) {
      environment_[l.iterator] = simplified(add(l.init, multiply(trip, exactly(l.increment))));
      Expr extent = within(count.expr, 0, std::max<std::int64_t>(count.high, 0)).expr;
      return ir::For::make(name, 0, extent, type, Halide::DeviceAPI::None, node(l.body, mode));
    }
    return split_loop(l, mode, type, name, count);
  }

  Stmt split_loop(const AstLoop& l, Mode mode, ir::ForType type, const std::string& name, const Bounded& count) {
    const std::int64_t chunk = 1 << 30;
    auto outer_name = name + "_outer";
    Bounded outer =
        within(ir::Variable::make(Int(32), outer_name), 0, std::min<std::int64_t>(count.high / chunk, 1 << 30));
    Bounded inner = within(ir::Variable::make(Int(32), name), 0, chunk - 1);
    Bounded begin = multiply(outer, exactly(chunk));
    environment_[l.iterator] = add(l.init, multiply(add(begin, inner), exactly(l.increment)));
    Bounded rest = minimum(subtract(count, begin), exactly(chunk));
    Bounded chunks = divide(add(count, exactly(chunk - 1)), exactly(chunk));
    Stmt body = ir::For::make(name, 0, ir::simplify(within(rest.expr, 0, chunk).expr), ir::ForType::Serial,
                              Halide::DeviceAPI::None, node(l.body, mode));
    return ir::For::make(outer_name, 0, ir::simplify(within(chunks.expr, 0, 1 << 30).expr), type,
                         Halide::DeviceAPI::None, body);
  }
};

class BufferNames : public ir::IRVisitor {
 public:
  std::set<std::string> names;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* load) override {
    names.insert(load->name);
    ir::IRVisitor::visit(load);
  }
  void visit(const ir::Store* store) override {
    names.insert(store->name);
    ir::IRVisitor::visit(store);
  }
};

}  // namespace

Stmt raise(const polyhedral::Ast& ast, const polyhedral::Scop& scop, const Program& program,
           const RaiseOptions& options) {
  try {
    return Raiser(ast, scop, program, options).run();
  } catch (const Halide::Error& error) {
    throw InternalError(str("Halide cannot express the loop nest: ", error.what()));
  }
}

std::set<std::string> buffer_names(const Stmt& body) {
  BufferNames visitor;
  body.accept(&visitor);
  return visitor.names;
}

}  // namespace tc::halide_bridge
