#include "tc/lang/check/inlined_statements.h"

#include "tc/base/str.h"

namespace tc::lang {
namespace {

ExprPtr int_expr(std::uint64_t value) { return make_expr(IntLiteral{value}); }
ExprPtr binary_expr(BinaryOp op, ExprPtr left, ExprPtr right) {
  return make_expr(Binary{op, std::move(left), std::move(right)});
}

/// index in low:high
Clause range_clause(const std::string& index, const ExprPtr& low, const ExprPtr& high, SourceRange range) {
  Clause clause;
  clause.node = RangeClause{index, low, high};
  clause.range = range;
  return clause;
}
}  // namespace

Clause range_clause(const std::string& index, const ExprPtr& high, SourceRange range) {
  return range_clause(index, int_expr(0), high, range);
}

Clause range_clause(const std::string& index, const Range& range, SourceRange place) {
  const auto* min = std::get_if<IntLiteral>(&range.min->node);
  const bool from_zero = min && min->value == 0;
  const ExprPtr high = from_zero ? range.extent : binary_expr(BinaryOp::Add, range.min, range.extent);
  return range_clause(index, range.min, high, place);
}

Assignment copy_statement(const Side& target, const Side& source, int rank, std::optional<DType> cast,
                          SourceRange range, FreeNames& names) {
  Assignment copy;
  copy.target = target.tensor;
  copy.bare = rank == 0;
  copy.target_range = range;
  std::vector<ExprPtr> subscripts;
  std::vector<std::string> iterators = names.iterators(rank);
  for (int d = 0; d < rank; ++d) {
    const std::string& index = iterators[static_cast<std::size_t>(d)];
    const ExprPtr to = target.min(d), from = source.min(d), extent = make_expr(SizeOf{source.tensor, d});
    ExprPtr subscript = make_expr(Name{index});
    copy.subscripts.push_back(subscript);
    if (from) subscript = binary_expr(BinaryOp::Add, subscript, from);
    if (to) subscript = binary_expr(BinaryOp::Sub, subscript, to);
    if (from || to) {
      const ExprPtr low = to ? to : int_expr(0), high = to ? binary_expr(BinaryOp::Add, to, extent) : extent;
      copy.clauses.push_back(range_clause(index, low, high, range));
    }
    subscripts.push_back(subscript);
  }
  copy.rhs = rank == 0 ? make_expr(Name{source.tensor}) : make_expr(Access{source.tensor, subscripts, false}, range);
  if (cast) copy.rhs = make_expr(Cast{*cast, copy.rhs, false}, range);
  return copy;
}

Assignment equation_statement(const SizeEquation& equation, SourceRange range, FreeNames& names) {
  Assignment statement;
  statement.target = names.property(str(equation.tensor, "_size_", equation.dimension));
  statement.target_range = range;
  std::vector<std::string> iterators = names.iterators(2);
  for (const auto& iterator : iterators) statement.subscripts.push_back(make_expr(Name{iterator}));
  statement.rhs = make_expr(BoolLiteral{false}, range);
  auto more = binary_expr(BinaryOp::Sub, equation.actual, equation.expected);
  auto less = binary_expr(BinaryOp::Sub, equation.expected, equation.actual);
  statement.clauses.push_back(range_clause(iterators[0], more, range));
  statement.clauses.push_back(range_clause(iterators[1], less, range));
  return statement;
}

}  // namespace tc::lang
