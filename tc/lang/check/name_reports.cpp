#include "tc/lang/check/name_reports.h"

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {

Label defined(const TensorState& tensor) {
  if (tensor.kind != TensorState::Kind::Param && tensor.first_assigned)
    return {*tensor.first_assigned, "first assigned here"};
  return {tensor.range, "declared here"};
}

void report_undefined_name(Scope& scope, const std::string& id, SourceRange range) {
  if (find_function(id) || scope.defs.count(id))
    return scope.diagnostics.add({.code = "TC101",
                                  .range = range,
                                  .message = str("'", id, "' is a function, not a value"),
                                  .help = find_function(id) ? str("write its arguments: ", id, "(x)")
                                                            : "a call is a statement of its own: T = " + id + "(X)"});
  auto candidates = scope.readable_tensors();
  candidates.insert(candidates.end(), scope.sizes.begin(), scope.sizes.end());
  candidates.insert(candidates.end(), scope.iterators.begin(), scope.iterators.end());
  for (const auto& [name, let] : scope.lets) candidates.push_back(name);
  for (const auto* literal : {"true", "false", "inf", "pi"}) candidates.emplace_back(literal);
  const bool is_nan = id == "nan" || id == "NaN" || id == "NAN";
  return scope.diagnostics.add({.code = "TC101",
                                .range = range,
                                .message = str("undefined name '", id, "'"),
                                .note = "a name is a tensor, a size, an index used in a subscript, or bound by 'where'",
                                .help = is_nan ? "NaN is written inf - inf" : did_you_mean(id, candidates)});
}

void report_unknown_tensor(Scope& scope, const std::string& id, const std::vector<ExprPtr>& arguments,
                           SourceRange range) {
  if (scope.defs.count(id))
    return scope.diagnostics.add({.code = "TC101",
                                  .range = range,
                                  .message = str("'", id, "' is a function of this program"),
                                  .note = "a call is not part of an expression",
                                  .help = str("write it as a statement of its own: T = ", id, "(X)")});
  const bool number = scope.is_size(id) || scope.iterators.count(id) || scope.lets.count(id);
  if (number)
    return scope.diagnostics.add({.code = "TC101",
                                  .range = range,
                                  .message = str("'", id, "' is ",
                                                 scope.is_size(id)      ? "a size"
                                                 : scope.lets.count(id) ? "a let"
                                                                        : "an index",
                                                 ", not a tensor"),
                                  .help = str("write a product as ", id, " * (...)")});
  auto candidates = scope.readable_tensors();
  for (const auto& builtin : builtins()) candidates.emplace_back(builtin.name);
  const std::string instead = instead_of_call(id, arguments, scope.surroundings());
  return scope.diagnostics.add({.code = "TC101",
                                .range = range,
                                .message = str("undefined tensor or function '", id, "'"),
                                .help = instead.empty() ? did_you_mean(id, candidates) : instead});
}

void report_read_too_early(Scope& scope, const std::string& id, const TensorState& tensor, SourceRange range) {
  const bool is_return = tensor.kind == TensorState::Kind::Return;
  return scope.diagnostics.add(
      {.code = "TC117",
       .range = range,
       .message = str("'", id, "' is read before it is assigned"),
       .also = {{tensor.range, is_return ? "declared as a return here" : "assigned here"}},
       .help = is_return ? "assign it first, or make it a parameter" : "move its assignment before this statement"});
}

void report_wrong_rank(Scope& scope, const std::string& id, const TensorState& tensor, std::size_t found, bool bare,
                       SourceRange range) {
  const std::string has = str("'", id, "' has ", counted(static_cast<std::size_t>(*tensor.rank), "dimension"));
  if (bare)
    return scope.diagnostics.add(
        {.code = "TC106",
         .range = range,
         .message = has + " but is used as a scalar",
         .also = {defined(tensor)},
         .help = str("write its subscripts: ",
                     scope.statement ? with_subscripts(scope.statement->rhs, scope.surroundings()) : str(id, "(i)"))});
  const bool is_scalar = *tensor.rank == 0 && tensor.kind == TensorState::Kind::Param;
  return scope.diagnostics.add(
      {.code = "TC106",
       .range = range,
       .message = str(has, " but ", counted(found, "subscript"), found == 1 ? " is" : " are", " given"),
       .also = {defined(tensor)},
       .help = is_scalar ? str("sizes stand behind the type in the head: float(N) ", id)
               : found < static_cast<std::size_t>(*tensor.rank)
                   ? str("write all subscripts: ", element_of(id, {{{id, *tensor.rank}}}))
                   : ""});
}

void report_negated_value(Scope& scope, const ExprPtr& value, DType type, SourceRange range) {
  const Assignment& in = *scope.statement;
  const std::string target = print(make_expr(Access{in.target, in.subscripts, in.bare})), text = print(value);
  scope.diagnostics.add(
      {.code = "TC109",
       .range = range,
       .message = str("'!' needs a bool but '", text, "' is ", name(type)),
       .help = str("an assignment is written ", target, " = ", text, ", and a sum ", target, " +=! ", text)});
}

std::string advice_on_count(const Scope& scope, const Call& call, int arity) {
  const auto& arguments = call.arguments;
  if (arguments.size() == 1) return instead_of_call(call.function, arguments, scope.surroundings());
  if (arity != 2 || arguments.size() != 3) return {};
  const ExprPtr inner = make_expr(Call{call.function, {arguments[0], arguments[1]}});
  return str("write ", print(make_expr(Call{call.function, {inner, arguments[2]}})));
}

}  // namespace tc::lang
