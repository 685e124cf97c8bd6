#include "tc/lang/syntax/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/range_check.h"
#include "tc/lang/syntax/scatter.h"
#include "tc/lang/syntax/shadowing.h"

namespace tc::lang {
namespace {

constexpr int select_level = 0, primary_level = 12;

/// The text of a literal that has none: the shortest that reads back, always with '.' or 'e'.
std::string float_text(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string print_level(const ExprPtr& expr, int level);

std::string print_list(const std::vector<ExprPtr>& list) {
  std::string out = "(";
  for (std::size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + print(list[i]);
  return out + ")";
}

struct Text {
  std::string text;
  int level = primary_level;
};

Text print_binary(const Binary& x) {
  const auto& [op, symbol, level] = spelling(x.op);
  const bool climbs = level == comparison_level || level == power_level;
  const int right = level == power_level ? unary_level : level + 1;
  return {str(print_level(x.left, climbs ? level + 1 : level), " ", symbol, " ", print_level(x.right, right)), level};
}

/// \p expr and how tightly its outermost operator binds.
Text print_node(const Expr& expr) {
  return std::visit(
      overloaded{
          [](const IntLiteral& x) -> Text { return {std::to_string(x.value)}; },
          [](const FloatLiteral& x) -> Text { return {x.text.empty() ? float_text(x.value) : x.text}; },
          [](const BoolLiteral& x) -> Text { return {x.value ? "true" : "false"}; },
          [](const Name& x) -> Text { return {x.id}; },
          [](const Access& x) -> Text { return {x.bare ? x.tensor : x.tensor + print_list(x.subscripts)}; },
          [](const SizeOf& x) -> Text { return {str(x.tensor, ".", x.dimension)}; },
          [](const Call& x) -> Text { return {(x.text.empty() ? x.function : x.text) + print_list(x.arguments)}; },
          [](const Cast& x) -> Text { return {str(x.type, "(", print(x.value), ")")}; },
          [](const Unary& x) -> Text { return {symbol(x.op) + print_level(x.value, unary_level), unary_level}; },
          [](const Binary& x) -> Text { return print_binary(x); },
          [](const Select& x) -> Text {
            return {str(print_level(x.condition, 1), " ? ", print(x.then_value), " : ", print(x.else_value)),
                    select_level};
          },
      },
      expr.node);
}

/// \p expr, in parentheses if its operator binds less tightly than \p level.
std::string print_level(const ExprPtr& expr, int level) {
  if (const auto* cast = std::get_if<Cast>(&expr->node); cast && cast->implicit) return print_level(cast->value, level);
  const Text text = print_node(*expr);
  return text.level < level ? "(" + text.text + ")" : text.text;
}

std::string print(const Clause& clause) {
  return std::visit(overloaded{
                        [](const RangeClause& x) { return str(x.index, " in ", print(x.low), ":", print(x.high)); },
                        [](const LetClause& x) { return str(x.name, " = ", print(x.value)); },
                        [](const ExistsClause& x) {
                          const auto range = as_range_check(x.value);
                          if (!range) return "exists " + print(x.value);
                          return str("exists ", range->index, " in ", print(range->low), ":", print(range->high));
                        },
                    },
                    clause.node);
}

/// Is \p clause the range of one of \p loops?
bool is_of_loop(const Clause& clause, const std::vector<OrderedLoop>& loops) {
  const auto* range = std::get_if<RangeClause>(&clause.node);
  return range && std::any_of(loops.begin(), loops.end(),
                              [&](const OrderedLoop& loop) { return loop.iterator == range->index; });
}

std::string print(const Assignment& x, const std::vector<OrderedLoop>& loops) {
  if (const auto scatter = as_scatter(x)) return print(*scatter, loops);
  std::string out = x.target;
  if (!x.bare) out += print_list(x.subscripts);
  out += str(" ", x.reduction ? spelling(*x.reduction) : "", "=", x.initialise ? "!" : "", " ", print(x.rhs));
  const char* separator = " where ";
  for (const auto& clause : x.clauses) {
    if (is_of_loop(clause, loops)) continue;
    out += separator + print(clause);
    separator = ", ";
  }
  return out;
}

/// for t in 0:T {
std::string loop_head(const Statement& statement, const OrderedLoop& loop) {
  for (const auto& clause : std::get<Assignment>(statement.node).clauses)
    if (is_of_loop(clause, {loop})) return str("for ", print(clause), " {");
  throw InternalError(str("the loop over '", loop.iterator, "' has no range"));
}

std::string print(const TensorDecl& decl) {
  std::string out;
  out += decl.type ? name(*decl.type) : decl.type_name;
  if (decl.dims) out += print_list(*decl.dims);
  return out + (out.empty() ? "" : " ") + decl.name;
}

std::string print(const std::vector<TensorDecl>& decls) {
  std::string out = "(";
  for (std::size_t i = 0; i < decls.size(); ++i) out += (i ? ", " : "") + print(decls[i]);
  return out + ")";
}

}  // namespace

std::string print(const ExprPtr& expr) { return print_level(expr, select_level); }

std::string print(const Statement& statement) {
  if (const auto* assignment = std::get_if<Assignment>(&statement.node)) return print(*assignment, statement.loops);
  const auto& call = std::get<CallStatement>(statement.node);
  return str(join(call.results), " = ", call.def, "(", join(call.arguments), ")");
}

namespace {

/// The text of \p def, whose calls are as they are written.
std::string print_def(const Def& def) {
  std::string out = str("def ", def.name, print(def.params), " -> ", print(def.returns), " {\n");
  std::size_t depth = 0;
  const auto line = [&](const std::string& text) { out += std::string(2 * depth + 2, ' ') + text + "\n"; };
  const Statement outside;
  const Statement* before = &outside;
  const auto move_to = [&](const Statement& statement) {
    for (const std::size_t common = common_loops(*before, statement); depth > common;) {
      --depth;
      line("}");
    }
    for (; depth < statement.loops.size(); ++depth) line(loop_head(statement, statement.loops[depth]));
    before = &statement;
  };
  for (const auto& statement : def.statements) {
    move_to(statement);
    line(print(statement));
  }
  move_to(outside);
  return out + "}\n";
}

}  // namespace

std::string print(const Def& def) {
  return shadowing_tensors(def).empty() ? print_def(def) : print_def(with_qualified_calls(def));
}

std::string print(const File& file) {
  std::string out;
  for (const auto& def : file.defs) out += (out.empty() ? "" : "\n") + print(def);
  return out;
}

}  // namespace tc::lang
