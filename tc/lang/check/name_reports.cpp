#include "tc/lang/check/name_reports.h"

#include <map>

#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::lang {

std::string as_reduction(std::string_view id) {
  static const auto& operators = *new std::map<std::string_view, std::string_view>{
      {"sum", "+=!"},    {"add", "+=!"},    {"prod", "*=!"},         {"product", "*=!"},
      {"max", "max=!"},  {"amax", "max=!"}, {"reduce_max", "max=!"}, {"min", "min=!"},
      {"amin", "min=!"}, {"any", "||=!"},   {"all", "&&=!"},         {"reduce_sum", "+=!"}};
  if (id == "mean" || id == "average" || id == "avg")
    return "a mean is a sum and a division: S(i) +=! A(i,k)  M(i) = S(i) / A.1";
  if (id == "argmax" || id == "argmin")
    return str("the place of the ", id == "argmax" ? "largest" : "smallest", " value takes two statements: M ",
               id == "argmax" ? "max=!" : "min=!", " X(i)  P min=! X(i) == M ? i : X.0");
  if (id == "concat" || id == "concatenate" || id == "cat")
    return "a concatenation is a choice over a range that is written: C(i) = i < N ? A(i) : B(i-N) where i in 0:N+M";
  const auto found = operators.find(id);
  if (found == operators.end()) return {};
  return str("a reduction is part of the assignment: C(i) ", found->second, " A(i,k)");
}

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
  return scope.diagnostics.add({.code = "TC101",
                                .range = range,
                                .message = str("undefined name '", id, "'"),
                                .note = "a name is a tensor, a size, an index used in a subscript, or bound by 'where'",
                                .help = did_you_mean(id, candidates)});
}

void report_unknown_tensor(Scope& scope, const std::string& id, SourceRange range) {
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
  const std::string reduction = as_reduction(id);
  return scope.diagnostics.add({.code = "TC101",
                                .range = range,
                                .message = str("undefined tensor or function '", id, "'"),
                                .help = reduction.empty() ? did_you_mean(id, candidates) : reduction});
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
    return scope.diagnostics.add({.code = "TC106",
                                  .range = range,
                                  .message = has + " but is used as a scalar",
                                  .also = {defined(tensor)},
                                  .help = str("write its subscripts: ", id, "(i)")});
  return scope.diagnostics.add(
      {.code = "TC106",
       .range = range,
       .message = str(has, " but ", counted(found, "subscript"), found == 1 ? " is" : " are", " given"),
       .also = {defined(tensor)}});
}

}  // namespace tc::lang
