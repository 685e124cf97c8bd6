#include "tc/derive/rules/sum_term.h"

#include "tc/derive/form/fill.h"

namespace tc::derive {

int summed_count(const Scope& scope) { return scope.dimensions() - scope.left(); }

namespace {

int times_read(const Program& program, const std::string& tensor) {
  int result = 0;
  for (const auto& scope : program.scopes)
    for (const auto& part : scope->cases)
      for (const auto k : reads_in(part.body)) result += part.reads[k].tensor == tensor;
  return result;
}

}  // namespace

std::optional<SumTerm> sum_term(const Program& program, const Case& part, const lang::ExprPtr& term, ReductionOp op) {
  std::optional<SumTerm> result;
  std::vector<lang::ExprPtr> numbers;
  for (const auto& factor : factors(term, product_operator(term, op))) {
    const auto read = read_number(factor);
    const auto scope = read ? program.find(part.reads[*read].tensor) : nullptr;
    if (scope && !result)
      result = SumTerm{scope, part.reads[*read].at, {}};
    else if (reads_in(factor).empty() && literal_value(factor, DType::Float64))
      numbers.push_back(factor);
    else
      return std::nullopt;
  }
  if (!result || result->sum->op != op || !result->sum->uniform || result->sum->cases.size() != 1 ||
      program.is_output(result->sum->tensor) || times_read(program, result->sum->tensor) != 1)
    return std::nullopt;
  result->numbers = numbers;
  return result;
}

std::optional<ReductionOp> sum_operator(const Program& program, const Scope& scope) {
  if (scope.op) return scope.op;
  for (const auto& part : scope.cases)
    for (const auto k : reads_in(part.body))
      if (const auto source = program.find(part.reads[k].tensor); source && source->op) return source->op;
  return std::nullopt;
}

}  // namespace tc::derive
