#include "tc/derive/form/to_def.h"

#include <algorithm>

#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/lang/syntax/print.h"

namespace tc::derive {

using lang::BinaryOp;
using lang::ExprPtr;

namespace {

/// Does \p scope read a tensor, so that its value has a type of its own?
bool reads_tensors(const Scope& scope) {
  return std::any_of(scope.cases.begin(), scope.cases.end(), [](const Case& part) {
    const auto used = reads_in(part.body);
    return std::any_of(used.begin(), used.end(), [&](auto k) { return !part.reads[k].tensor.empty(); });
  });
}

/// \p expr with its literals converted to \p type, but those that are converted already.
ExprPtr with_typed_literals(const ExprPtr& expr, DType type) {
  if (std::holds_alternative<lang::Cast>(expr->node)) return expr;
  if (std::holds_alternative<lang::IntLiteral>(expr->node) || std::holds_alternative<lang::FloatLiteral>(expr->node))
    return lang::make_expr(lang::Cast{type, expr});
  auto parts = lang::children(expr);
  for (auto& part : parts) part = with_typed_literals(part, type);
  return parts.empty() ? expr : lang::with_children(expr, parts);
}

/// The ranges of a scope's iterators: the tensor's box, and the hull of what is summed.
lang::Box whole_box(const Scope& scope) {
  lang::Box box = scope.box;
  if (scope.dimensions() == scope.left()) return box;
  isl::set all = scope.cases.front().domain;
  for (const auto& part : scope.cases) all = all.unite(part.domain);
  const bool none = all.is_empty();
  const auto whole = none ? lang::Box(scope.iterators.size(), {0, 1}) : stated_box(all);
  box.insert(box.end(), whole.begin() + scope.left(), whole.end());
  return box;
}

lang::Clause clause_of(const std::string& iterator, const lang::IntegerRange& range) {
  return {lang::RangeClause{iterator, number(range.min), number(range.min + range.extent)}, {}};
}

class Printer {
 public:
  Printer(const Program& program, const Scope& scope)
      : program_(program), scope_(scope), box_(whole_box(scope)), all_(box_set(*program.context, box_)) {}

  lang::Assignment run() const {
    lang::Assignment result;
    result.target = scope_.tensor;
    result.bare = scope_.box.empty();
    for (int d = 0; d < scope_.left(); ++d)
      result.subscripts.push_back(name(scope_.iterators[static_cast<std::size_t>(d)]));
    result.reduction = scope_.op;
    result.initialise = scope_.op.has_value();
    result.rhs = value();
    for (std::size_t d = 0; d < box_.size(); ++d) result.clauses.push_back(clause_of(scope_.iterators[d], box_[d]));
    return result;
  }

 private:
  static ExprPtr name(const std::string& id) { return lang::make_expr(lang::Name{id}); }

  ExprPtr value() const {
    std::vector<ExprPtr> conditions;
    isl::set rest = all_;
    for (const auto& part : scope_.cases) {
      conditions.push_back(guard(part, rest));
      rest = rest.subtract(part.domain);
    }
    ExprPtr result = literal(scope_.fill, scope_.type);
    for (std::size_t c = conditions.size(); c-- > 0;) {
      const auto value = body(scope_.cases[c]);
      result = conditions[c] ? lang::make_expr(lang::Select{conditions[c], value, result}) : value;
    }
    // A number alone would be read as what a later sum begins with.
    const bool is_number = !scope_.op && literal_value(result, scope_.type);
    return is_number ? with_typed_literals(result, scope_.type) : result;
  }

  /// A temporary that no tensor gives a type gets it from its literals.
  ExprPtr body(const Case& part) const {
    const bool typed = program_.is_output(scope_.tensor) || reads_tensors(scope_);
    const auto value = typed ? part.body : with_typed_literals(part.body, scope_.type);
    return with_reads(value, [&](std::size_t k) {
      const auto& read = part.reads[k];
      auto subscripts = index_expressions(read.at, scope_.iterators);
      if (read.tensor.empty()) return subscripts.at(0);
      const bool bare = subscripts.empty();
      return lang::make_expr(lang::Access{read.tensor, std::move(subscripts), bare});
    });
  }

  /// Where in \p known \p part has instances: first that its reads are inside of their tensors, in the words of the
  /// subscripts.
  ExprPtr guard(const Case& part, isl::set known) const {
    ExprPtr result;
    for (const auto k : reads_in(part.body)) {
      const auto& read = part.reads[k];
      if (read.tensor.empty()) continue;
      const auto subscripts = index_expressions(read.at, scope_.iterators);
      const auto& box = program_.box(read.tensor);
      for (std::size_t d = 0; d < box.size(); ++d)
        result = joined(result, BinaryOp::And, inside(read.at.at(static_cast<int>(d)), subscripts[d], box[d], known));
    }
    return joined(result, BinaryOp::And, condition_expression(part.domain.gist(known), scope_.iterators));
  }

  /// \p subscript in \p range, as far as \p known does not say so, which then does.
  ExprPtr inside(const isl::aff& aff, const ExprPtr& subscript, const lang::IntegerRange& range,
                 isl::set& known) const {
    ExprPtr result;
    const auto low = aff.add_constant(-range.min), high = aff.neg().add_constant(range.min + range.extent - 1);
    const auto zero = low.sub(low);
    for (const auto& [bound, text] :
         {std::pair(low, joined(subscript, BinaryOp::Ge, number(range.min))),
          std::pair(high, joined(subscript, BinaryOp::Lt, number(range.min + range.extent)))}) {
      const auto holds = bound.ge_set(zero);
      if (known.is_subset(holds)) continue;
      result = joined(result, BinaryOp::And, text);
      known = known.intersect(holds);
    }
    return result;
  }

  const Program& program_;
  const Scope& scope_;
  lang::Box box_;
  isl::set all_;
};

std::vector<ExprPtr> dimensions_of(const lang::Box& box) {
  std::vector<ExprPtr> result;
  for (const auto& range : box) result.push_back(number(range.extent));
  return result;
}

}  // namespace

lang::Def to_def(const Program& program) {
  lang::Def def;
  def.name = program.name;
  for (const auto& input : program.inputs) {
    lang::TensorDecl decl{input.tensor, input.type, {}, {}};
    if (!input.box.empty()) decl.dims = dimensions_of(input.box);
    def.params.push_back(decl);
  }
  for (const auto& output : program.outputs) {
    const auto scope = program.find(output);
    def.returns.push_back(
        {output, scope && !reads_tensors(*scope) ? std::optional(scope->type) : std::nullopt, {}, {}});
  }
  for (const auto& scope : program.scopes) {
    def.statements.push_back({Printer(program, *scope).run(), {}});
    if (!scope->loop) continue;
    const auto dimension = static_cast<std::size_t>(scope->loop->dimension);
    def.statements.back().loops = {{scope->loop->id, scope->iterators[dimension]}};
  }
  return def;
}

std::string to_text(const Program& program) { return lang::print(to_def(program)); }

std::string to_text(const Program& program, const Scope& scope) {
  return lang::print(lang::Statement{Printer(program, scope).run(), {}});
}

}  // namespace tc::derive
