#include "tc/lang/syntax/statement_advice.h"

#include "tc/base/str.h"

namespace tc::lang {

std::string instead_of_word(std::string_view word) {
  if (word == "for") return "a loop whose iterations run in order is written for t in 0:T { ... }";
  if (word == "while" || word == "parallel")
    return "a statement runs over all values of its indices, C(i) = A(i) where i in 0:N; iterations that run in "
           "order are written for t in 0:T { ... }";
  if (word == "if" || word == "else") return "a condition is part of an expression: C(i) = A(i) > 0 ? A(i) : 0";
  if (word == "return") return "returns are named in the head, -> (C), and assigned";
  if (word == "let" || word == "var" || word == "const" || word == "auto")
    return "a tensor is not declared but assigned; a name for an expression stands behind 'where': where x = A(i)";
  if (word == "Var" || word == "RDom" || word == "Func")
    return "indices are not declared: a name in a subscript is one, and its range may stand behind 'where': "
           "Y(i) +=! X(i+r) where r in 0:3";
  if (word == "over" || word == "step" || word == "by")
    return "an index that is on the right only is reduced, and a step is a factor in a subscript: Y(i) +=! X(2*i,j)";
  return {};
}

std::string instead_of_operator(std::string_view signs, std::string_view target) {
  const auto has = [&](std::string_view sign) { return signs.find(sign) != std::string_view::npos; };
  const std::string bang = has("!") ? "!" : "";
  if (signs == "-=" || signs == "/=" || signs == "%=")
    return str("there is no '", signs, "'; write out the value: ", target, " = ", target, " ", signs[0], " ...");
  if (signs == "++" || signs == "--") return str("write out the value: ", target, " = ", target, " ", signs[0], " 1");
  if (has("+") && has("=")) return str("a sum is written ", target, " +=", bang, " ...");
  if (has("*") && has("=")) return str("a product is written ", target, " *=", bang, " ...");
  if (has("|") && has("=")) return str("a disjunction is written ", target, " ||=", bang, " ...");
  if (has("&") && has("=")) return str("a conjunction is written ", target, " &&=", bang, " ...");
  if (signs == ":=" || signs == "<-" || signs == "==" || signs == "->")
    return str("an assignment is written ", target, " = ...");
  return "the reductions are += *= min= max= &&= ||=, each also with '!'";
}

}  // namespace tc::lang
