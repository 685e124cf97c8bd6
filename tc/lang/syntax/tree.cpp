#include "tc/lang/syntax/tree.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/scatter.h"

namespace tc::lang {
namespace {

/// \p expr without implicit casts around it.
ExprPtr written(ExprPtr expr) {
  while (expr) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    if (!cast || !cast->implicit) break;
    expr = cast->value;
  }
  return expr;
}

/// The identifier of a Name or of a tensor written without parentheses.
const std::string* bare_name(const Expr& expr) {
  if (const auto* name = std::get_if<Name>(&expr.node)) return &name->id;
  if (const auto* access = std::get_if<Access>(&expr.node); access && access->bare) return &access->tensor;
  return nullptr;
}

/// Equality of what a node holds besides its sub-expressions; both are of one alternative.
bool equal_payload(const Expr& a, const Expr& b) {
  return std::visit(overloaded{
                        [&](const IntLiteral& x) { return x.value == std::get<IntLiteral>(b.node).value; },
                        [&](const FloatLiteral& x) { return x.value == std::get<FloatLiteral>(b.node).value; },
                        [&](const BoolLiteral& x) { return x.value == std::get<BoolLiteral>(b.node).value; },
                        [&](const Name& x) { return x.id == std::get<Name>(b.node).id; },
                        [&](const Access& x) {
                          const auto& y = std::get<Access>(b.node);
                          return x.tensor == y.tensor && x.bare == y.bare;
                        },
                        [&](const SizeOf& x) {
                          const auto& y = std::get<SizeOf>(b.node);
                          return x.tensor == y.tensor && x.dimension == y.dimension;
                        },
                        [&](const Call& x) { return x.function == std::get<Call>(b.node).function; },
                        [&](const Cast& x) { return x.type == std::get<Cast>(b.node).type; },
                        [&](const Unary& x) { return x.op == std::get<Unary>(b.node).op; },
                        [&](const Binary& x) { return x.op == std::get<Binary>(b.node).op; },
                        [&](const Select&) { return true; },
                    },
                    a.node);
}

std::size_t joined(std::size_t a, std::size_t b) { return a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2)); }

/// The same number where equal_payload() holds.
std::size_t hash_of_payload(const Expr& expr) {
  const auto text = std::hash<std::string>();
  return std::visit(overloaded{
                        [](const IntLiteral& x) { return std::hash<std::uint64_t>()(x.value); },
                        [](const FloatLiteral& x) { return std::hash<double>()(x.value); },
                        [](const BoolLiteral& x) { return std::size_t{x.value}; },
                        [&](const Name& x) { return text(x.id); },
                        [&](const Access& x) { return text(x.tensor); },
                        [&](const SizeOf& x) { return joined(text(x.tensor), static_cast<std::size_t>(x.dimension)); },
                        [&](const Call& x) { return text(x.function); },
                        [](const Cast& x) { return static_cast<std::size_t>(x.type); },
                        [](const Unary& x) { return static_cast<std::size_t>(x.op); },
                        [](const Binary& x) { return static_cast<std::size_t>(x.op); },
                        [](const Select&) { return std::size_t{0}; },
                    },
                    expr.node);
}

bool equal(const Clause& a, const Clause& b) {
  if (a.node.index() != b.node.index()) return false;
  return std::visit(overloaded{
                        [&](const RangeClause& x) {
                          const auto& y = std::get<RangeClause>(b.node);
                          return x.index == y.index && equal(x.low, y.low) && equal(x.high, y.high);
                        },
                        [&](const LetClause& x) {
                          const auto& y = std::get<LetClause>(b.node);
                          return x.name == y.name && equal(x.value, y.value);
                        },
                        [&](const ExistsClause& x) { return equal(x.value, std::get<ExistsClause>(b.node).value); },
                    },
                    a.node);
}

bool equal(const Assignment& a, const Assignment& b) {
  if (const auto scatter = as_scatter(a)) return equal(*scatter, b);
  if (const auto scatter = as_scatter(b)) return equal(a, *scatter);
  if (a.target != b.target || a.bare != b.bare || a.reduction != b.reduction || a.initialise != b.initialise)
    return false;
  if (!equal(a.subscripts, b.subscripts) || !equal(a.rhs, b.rhs) || a.clauses.size() != b.clauses.size()) return false;
  for (std::size_t i = 0; i < a.clauses.size(); ++i)
    if (!equal(a.clauses[i], b.clauses[i])) return false;
  return true;
}

bool equal(const Statement& a, const Statement& b) {
  if (a.node.index() != b.node.index() || a.loops != b.loops) return false;
  if (const auto* assignment = std::get_if<Assignment>(&a.node))
    return equal(*assignment, std::get<Assignment>(b.node));
  const auto& x = std::get<CallStatement>(a.node);
  const auto& y = std::get<CallStatement>(b.node);
  return x.results == y.results && x.def == y.def && x.arguments == y.arguments;
}

bool equal(const TensorDecl& a, const TensorDecl& b) {
  if (a.name != b.name || a.type != b.type || a.type_name != b.type_name || a.dims.has_value() != b.dims.has_value())
    return false;
  return !a.dims || equal(*a.dims, *b.dims);
}

template <typename T>
bool equal_all(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return equal(x, y); });
}

}  // namespace

ExprPtr make_expr(Expr::Node node, SourceRange range, std::optional<DType> type) {
  return std::make_shared<const Expr>(Expr{std::move(node), range, type});
}

void File::add(Def def) {
  places.emplace(def.name, defs.size());
  defs.push_back(std::move(def));
}

const Def* File::find(const std::string& def) const {
  const auto found = places.find(def);
  return found == places.end() ? nullptr : &defs[found->second];
}

std::size_t common_loops(const Statement& a, const Statement& b) {
  std::size_t count = 0;
  while (count < a.loops.size() && count < b.loops.size() && a.loops[count].id == b.loops[count].id) ++count;
  return count;
}

bool has_loops(const Def& def) {
  return std::any_of(def.statements.begin(), def.statements.end(),
                     [](const Statement& statement) { return !statement.loops.empty(); });
}

std::vector<std::string> left_iterators(const Assignment& assignment) {
  std::vector<std::string> names;
  for (const auto& subscript : assignment.subscripts)
    if (const auto* name = std::get_if<Name>(&subscript->node)) names.push_back(name->id);
  return names;
}

bool equal(const ExprPtr& a, const ExprPtr& b) {
  const ExprPtr x = written(a), y = written(b);
  if (!x || !y) return x == y;
  const std::string* left = bare_name(*x);
  const std::string* right = bare_name(*y);
  if (left && right) return *left == *right;
  return x->node.index() == y->node.index() && equal_payload(*x, *y) && equal(children(x), children(y));
}

bool equal(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) { return equal_all(a, b); }

bool equal(const Def& a, const Def& b) {
  return a.name == b.name && equal_all(a.params, b.params) && equal_all(a.returns, b.returns) &&
         equal_all(a.statements, b.statements);
}

std::size_t hash_of(const ExprPtr& expr) {
  const ExprPtr value = written(expr);
  if (!value) return 0;
  if (const auto* name = bare_name(*value)) return std::hash<std::string>()(*name);
  std::size_t hash = joined(value->node.index(), hash_of_payload(*value));
  for (const ExprPtr& part : children(value)) hash = joined(hash, hash_of(part));
  return hash;
}

std::vector<ExprPtr> children(const ExprPtr& expr) {
  return std::visit(overloaded{
                        [](const Access& x) { return x.subscripts; },
                        [](const Call& x) { return x.arguments; },
                        [](const Cast& x) { return std::vector<ExprPtr>{x.value}; },
                        [](const Unary& x) { return std::vector<ExprPtr>{x.value}; },
                        [](const Binary& x) { return std::vector<ExprPtr>{x.left, x.right}; },
                        [](const Select& x) { return std::vector<ExprPtr>{x.condition, x.then_value, x.else_value}; },
                        [](const auto&) { return std::vector<ExprPtr>{}; },
                    },
                    expr->node);
}

ExprPtr with_children(const ExprPtr& expr, const std::vector<ExprPtr>& children) {
  if (children.size() != lang::children(expr).size())
    throw InternalError(str("with_children: ", children.size(), " sub-expressions given"));
  Expr copy = *expr;
  std::visit(overloaded{
                 [&](Access& x) { x.subscripts = children; },
                 [&](Call& x) { x.arguments = children; },
                 [&](Cast& x) { x.value = children[0]; },
                 [&](Unary& x) { x.value = children[0]; },
                 [&](Binary& x) {
                   x.left = children[0];
                   x.right = children[1];
                 },
                 [&](Select& x) {
                   x.condition = children[0];
                   x.then_value = children[1];
                   x.else_value = children[2];
                 },
                 [](auto&) {},
             },
             copy.node);
  return std::make_shared<const Expr>(std::move(copy));
}

}  // namespace tc::lang
