#include "tc/lang/check/stored_value.h"

#include "tc/base/str.h"
#include "tc/lang/check/promote.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

bool is_logical(const Assignment& in) { return in.reduction == ReductionOp::And || in.reduction == ReductionOp::Or; }

/// What a reduction by \p op begins with.
std::string identity(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return "0";
    case ReductionOp::Product:
      return "1";
    case ReductionOp::Min:
      return "the largest value";
    case ReductionOp::Max:
      return "the smallest value";
    case ReductionOp::And:
      return "true";
    case ReductionOp::Or:
      return "false";
  }
  return "";
}

/// `op=` without '!' on a tensor without a value: the caller's buffer, or an error for a temporary.
bool accumulate_first(const Assignment& in, TensorState& tensor, Scope& scope) {
  const std::string op = str(spelling(*in.reduction), "=");
  if (tensor.kind == TensorState::Kind::Temporary) {
    tensor.assigned = true;
    scope.diagnostics.add({.code = "TC118",
                           .range = in.target_range,
                           .message = str("'", in.target, "' is accumulated into but has no value yet"),
                           .note = "it is neither a parameter nor a return, so that no caller can give it one",
                           .help = str("write ", op, "! to begin with ", identity(*in.reduction))});
    return false;
  }
  tensor.accumulates_into_caller = true;
  scope.diagnostics.add({.code = "TC130",
                         .range = in.target_range,
                         .message = str("'", in.target, "' is reduced into without initialisation"),
                         .note = "the caller's tensor is read and updated in place",
                         .help = str("write ", op, "! to begin with ", identity(*in.reduction)),
                         .is_error = false});
  return true;
}

/// The type of the first value; a literal's yields to that of a later value.
void decide_type(const Assignment& in, const Typed& value, bool first, TensorState& tensor,
                 const StatementContext& context) {
  DType type = natural_type(value);
  if (in.reduction && !is_logical(in) && type == DType::Bool) type = DType::Int32;
  const auto adapted = context.adapted.find(in.target);
  if (first && !tensor.type) {
    tensor.literal_type = value.weak != Weak::No && adapted == context.adapted.end();
    tensor.type = adapted == context.adapted.end() ? type : adapted->second;
  } else if (tensor.literal_type && (value.weak == Weak::No || is_float(type)) && type != DType::Bool) {
    tensor.literal_type = value.weak != Weak::No;
    if (type != *tensor.type && (is_float(type) || is_integer(*tensor.type))) context.wanted[in.target] = type;
  }
}

/// The place that gave the target its type, unless it is this statement.
std::vector<Label> also_type(const Assignment& in, const Scope& scope, DType type) {
  const TensorState& tensor = scope.tensors.at(in.target);
  const SourceRange range = tensor.declared_type ? tensor.range : tensor.first_assigned.value_or(tensor.range);
  return {{range, str("'", in.target, "' is ", name(type))}};
}

/// The value as the tensor's \p type, null after a report.
ExprPtr convert(const Assignment& in, const Typed& value, DType type, Scope& scope) {
  const DType from = natural_type(value);
  const std::string target = str("'", in.target, "'");
  if (is_logical(in) && (from != DType::Bool || type != DType::Bool)) {
    const bool from_value = from != DType::Bool;
    scope.diagnostics.add(
        {.code = "TC123",
         .range = from_value ? in.rhs->range : in.target_range,
         .message = str("the reduction '", spelling(*in.reduction), "=' needs a bool but ",
                        from_value ? str("'", print(in.rhs), "' is ", name(from)) : str(target, " is ", name(type))),
         .help = from_value ? str("write a comparison: ",
                                  print(make_expr(Binary{BinaryOp::Ne, in.rhs, make_expr(IntLiteral{0})})))
                            : ""});
    return nullptr;
  }
  if (in.reduction && !is_logical(in) && type == DType::Bool) {
    scope.diagnostics.add(
        {.code = "TC123",
         .range = in.target_range,
         .message = str("the reduction '", spelling(*in.reduction), "=' needs a number but ", target, " is bool"),
         .help = "the reductions of bool are &&= and ||="});
    return nullptr;
  }
  const bool allowed = value.weak == Weak::Float ? is_float(type) : converts_silently(from, type);
  if (allowed) return settle(value, type, scope);
  const std::string cast = type == DType::Bool
                               ? print(make_expr(Binary{BinaryOp::Ne, in.rhs, make_expr(IntLiteral{0})}))
                               : str(name(type), "(", print(in.rhs), ")");
  scope.diagnostics.add({.code = "TC110",
                         .range = in.rhs->range,
                         .message = str("a ", name(from), " value is not stored in the ", name(type), " tensor ",
                                        target, " without a written conversion"),
                         .also = also_type(in, scope, type),
                         .help = str("write the conversion: ", cast)});
  return nullptr;
}

}  // namespace

ExprPtr stored_value(const Assignment& assignment, const Typed& value, const StatementContext& context) {
  TensorState& tensor = context.scope.tensors.at(assignment.target);
  if (!tensor.assigned && assignment.reduction && !assignment.initialise &&
      !accumulate_first(assignment, tensor, context.scope))
    return nullptr;
  const bool first = !tensor.assigned;
  if (first && tensor.kind == TensorState::Kind::Temporary) tensor.range = assignment.target_range;
  tensor.assigned = true;
  if (!value) return nullptr;
  decide_type(assignment, value, first, tensor, context);
  return tensor.type ? convert(assignment, value, *tensor.type, context.scope) : nullptr;
}

}  // namespace tc::lang
