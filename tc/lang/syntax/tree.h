#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tc/base/dtype.h"

/// The tree of a TC text. Values are immutable once built and shared by pointer.
///
///   File       = Def*
///   Def        = name, params: TensorDecl*, returns: TensorDecl*, statements: Statement*
///   Statement  = (Assignment(target, subscripts, op, rhs, clauses) | CallStatement(results, def, arguments)), OrderedLoop*
///   Clause     = RangeClause(index, low, high) | LetClause(name, value) | ExistsClause(value)
///   Expr       = IntLiteral | FloatLiteral | BoolLiteral | Name | Access | SizeOf | Call | Cast | Unary | Binary | Select
///
/// The parser leaves Expr::type empty and names unresolved. `check` returns a new tree in which every Expr has a type,
/// every Name a kind, and every conversion a Cast (marked implicit where the text has none), so that the operands of
/// each Binary and the arms of each Select have one type. Printing skips implicit casts.
namespace tc::lang {

/// Bytes [begin, end) of the text.
struct SourceRange {
  int begin = 0;
  int end = 0;
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// The value modulo 2^64; `negative` never occurs, a minus sign is a Unary.
struct IntLiteral {
  std::uint64_t value = 0;
};
struct FloatLiteral {
  double value = 0;
  std::string text;  ///< as written, "3E-5"
};
struct BoolLiteral {
  bool value = false;
};
/// An identifier used as a value. After check: an iterator or a size (both int64 values) or a let name.
/// A rank-0 tensor read without parentheses becomes an Access without subscripts, marked by Access::bare.
struct Name {
  enum class Kind : std::uint8_t { Unresolved, Iterator, Size, Let };
  std::string id;
  Kind kind = Kind::Unresolved;
};
/// The element tensor(subscripts).
struct Access {
  std::string tensor;
  std::vector<ExprPtr> subscripts;
  bool bare = false;  ///< written without parentheses
};
/// tensor.dimension, the size of a dimension (int64).
struct SizeOf {
  std::string tensor;
  int dimension = 0;
};
/// A built-in function by its name, see builtins.h. `min` and `max` are among them.
struct Call {
  std::string function;
  std::vector<ExprPtr> arguments;
  std::string text = {};  ///< as written where that is another name, "fmaxf"
};
struct Cast {
  DType type = DType::Float32;
  ExprPtr value;
  bool implicit = false;  ///< inserted by check, not written
};
enum class UnaryOp : std::uint8_t { Negate, Not, Complement };
struct Unary {
  UnaryOp op = UnaryOp::Negate;
  ExprPtr value;
};
enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  And,
  Or,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
  Power
};
struct Binary {
  BinaryOp op = BinaryOp::Add;
  ExprPtr left, right;
};
struct Select {
  ExprPtr condition, then_value, else_value;
};

struct Expr {
  using Node =
      std::variant<IntLiteral, FloatLiteral, BoolLiteral, Name, Access, SizeOf, Call, Cast, Unary, Binary, Select>;
  Node node;
  SourceRange range;
  std::optional<DType> type;  ///< set by check
};

/// A new expression.
ExprPtr make_expr(Expr::Node node, SourceRange range = {}, std::optional<DType> type = std::nullopt);

/// index in low:high
struct RangeClause {
  std::string index;
  ExprPtr low, high;
};
/// name = value
struct LetClause {
  std::string name;
  ExprPtr value;
};
/// exists value
struct ExistsClause {
  ExprPtr value;
};
struct Clause {
  std::variant<RangeClause, LetClause, ExistsClause> node;
  SourceRange range;
};

/// target(subscripts) op rhs where clauses.
/// `reduction` is empty for '='; `initialise` says whether the operator has the '!'.
struct Assignment {
  std::string target;
  bool bare = false;                ///< rank 0, written without parentheses
  std::vector<ExprPtr> subscripts;  ///< Names of distinct iterators, by check
  std::optional<ReductionOp> reduction;
  bool initialise = false;
  ExprPtr rhs;
  std::vector<Clause> clauses;
  SourceRange target_range;

  /// Set by check: the iterators that are not on the left, in order of first appearance.
  std::vector<std::string> reduction_iterators;
};
/// (results) = def(arguments); arguments are names of tensors.
struct CallStatement {
  std::vector<std::string> results;
  std::string def;
  std::vector<std::string> arguments;
  std::vector<SourceRange> result_ranges = {}, argument_ranges = {};  ///< one each, or empty
  SourceRange def_range = {};
};
/// A loop `for iterator in low:high { ... }` around a statement: its iterations run in order, each of them all statements of
/// the loop. The statement has the range of the iterator among its clauses.
struct OrderedLoop {
  int id = 0;  ///< of the def: neighbouring statements with one id are in one loop
  std::string iterator;

  bool operator==(const OrderedLoop&) const = default;
};
struct Statement {
  std::variant<Assignment, CallStatement> node;
  SourceRange range;
  std::vector<OrderedLoop> loops = {};  ///< around it, outermost first
};

/// The name in a tree of the leading dimensions of a generic def, as subscripts and as sizes of declarations.
inline constexpr const char* leading_name = "...";

/// A parameter or a return: its name and what the text says about it.
struct TensorDecl {
  std::string name;
  std::optional<DType> type;
  std::optional<std::vector<ExprPtr>>
      dims;  ///< int64 expressions over sizes; absent: rank 0 (parameter), inferred (return)
  SourceRange range;
  std::string type_name = {};  ///< of a generic def, as parsed: stands for an element type, "T"
  SourceRange type_range = {};
};

/// What check knows of a tensor. InOut: a return whose first statement accumulates into the caller's buffer.
enum class Role : std::uint8_t { Input, Output, InOut, Temporary };
struct TensorInfo {
  DType type = DType::Float32;
  int rank = 0;
  Role role = Role::Input;
  std::optional<std::vector<ExprPtr>> dims;  ///< declared sizes
  SourceRange range;                         ///< where it is declared or first assigned
};

struct Def {
  std::string name;
  std::vector<TensorDecl> params;
  std::vector<TensorDecl> returns;
  std::vector<Statement> statements;
  SourceRange range;  ///< from `def` to `}`
  SourceRange name_range = {};
  std::string instance_of =
      {};  ///< set by check for defs that the text does not hold: the generic def they are instances of

  /// Set by check: every tensor by name, and the size names in order of appearance.
  std::map<std::string, TensorInfo> tensors;
  std::vector<std::string> sizes;
};

struct File {
  std::string text;  ///< the source, for diagnostics
  std::string name = "<tc>";
  std::vector<Def> defs;                      ///< put there by add()
  std::map<std::string, std::size_t> places;  ///< in defs, by name; of two of one name the first

  /// Puts \p def behind the others.
  void add(Def def);
  /// The def of that name, or null.
  const Def* find(const std::string& def) const;
};

/// The loops that \p a and \p b are both in, outermost first, by their number.
std::size_t common_loops(const Statement& a, const Statement& b);

/// Is a statement of \p def in a loop?
bool has_loops(const Def& def);

/// The iterators on the left of a checked assignment, in order.
std::vector<std::string> left_iterators(const Assignment& assignment);

/// Structural equality, places and types ignored; implicit casts count as absent.
bool equal(const ExprPtr& a, const ExprPtr& b);
bool equal(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b);
bool equal(const Def& a, const Def& b);
/// The same number for equal expressions.
std::size_t hash_of(const ExprPtr& expr);

/// Calls \p visit for \p expr and every expression below it, parents first.
template <typename F>
void for_each_expr(const ExprPtr& expr, F&& visit);

/// Calls \p visit for each whole expression of \p assignment that is no subscript of its target; it may change them.
template <typename AnyAssignment, typename F>
void for_each_value(AnyAssignment& assignment, F&& visit);

/// The direct sub-expressions, in order of the text.
std::vector<ExprPtr> children(const ExprPtr& expr);
/// \p expr with its direct sub-expressions replaced, in the order of children().
ExprPtr with_children(const ExprPtr& expr, const std::vector<ExprPtr>& children);

template <typename AnyAssignment, typename F>
void for_each_value(AnyAssignment& assignment, F&& visit) {
  visit(assignment.rhs);
  for (auto& clause : assignment.clauses)
    std::visit(
        [&](auto& node) {
          if constexpr (requires { node.low; }) {
            visit(node.low);
            visit(node.high);
          } else {
            visit(node.value);
          }
        },
        clause.node);
}

template <typename F>
void for_each_expr(const ExprPtr& expr, F&& visit) {
  visit(expr);
  for (const auto& child : children(expr)) for_each_expr(child, visit);
}

}  // namespace tc::lang
