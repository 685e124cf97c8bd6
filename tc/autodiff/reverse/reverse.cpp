#include "tc/autodiff/reverse/reverse.h"

#include <algorithm>

#include "tc/autodiff/forward/activity.h"
#include "tc/autodiff/forward/name_extremes.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/names_of.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

bool reads_an_element(const ExprPtr& expr) {
  bool found = false;
  for_each_expr(expr, [&](const ExprPtr& part) { found = found || std::holds_alternative<Access>(part->node); });
  return found;
}

std::vector<IteratorRange> joined(std::vector<IteratorRange> a, const std::vector<IteratorRange>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Are the iterators of \p part outside of its ranges? Where it does not cover \p box.
ExprPtr outside(const std::vector<IteratorRange>& part, const std::vector<IteratorRange>& box) {
  ExprPtr any;
  const auto put = [&](BinaryOp op, const IteratorRange& range, const ExprPtr& end) {
    const ExprPtr condition = binary(op, index_name(range.name), end);
    any = any ? binary(BinaryOp::Or, any, condition) : condition;
  };
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (!(read_affine(part[d].low) == read_affine(box[d].low))) put(BinaryOp::Lt, part[d], part[d].low);
    if (!(read_affine(part[d].high) == read_affine(box[d].high))) put(BinaryOp::Ge, part[d], part[d].high);
  }
  return any;
}

/// A statement that counts or multiplies over the reductions of another one.
Step statistic(const std::string& target, DType type, const ForwardStatement& of, ReductionOp op) {
  Step step;
  step.target = target;
  step.type = type;
  step.left = of.left;
  step.reduction = of.reduction;
  step.op = op;
  step.initialise = true;
  step.place = of.place;
  return step;
}

class Reverse {
 public:
  Reverse(const Forward& forward, const ReverseRequest& request, FreshNames& names, const UnknownDerivative& unknown)
      : request_(request), names_(names), unknown_(unknown), prover_(forward.sizes) {
    std::vector<std::string> outputs;
    for (const auto& [output, seed] : request.seeds) outputs.push_back(output);
    NamedExtremes named = name_extremes(forward, active_versions(forward, request.wrt), outputs, names);
    result_.forward = std::move(named.forward);
    result_.not_saved = std::move(named.named);
    stabilisers_ = std::move(named.stabilisers);
    active_ = active_versions(result_.forward, request.wrt);
  }

  Reversed run() {
    for (std::size_t i = result_.forward.statements.size(); i-- > 0;) visit(result_.forward.statements[i]);
    for (const auto& param : request_.wrt) finish(param);
    return std::move(result_);
  }

 private:
  const Version& version(const std::string& name) const { return result_.forward.versions.at(name); }

  void visit(const ForwardStatement& statement);
  AdjointTensor finish(const std::string& version);
  void keep_previous(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void visit_extreme(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void visit_product(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void send(const ForwardStatement& statement, const ExprPtr& result, const Guarded& adjoint);
  void scatter(const ForwardStatement& statement, const ReadAdjoint& read);
  void report(const ForwardStatement& statement, const ReadAdjoint& read, const Inverse& inverse,
              CertificateKind certificate);
  Inverse inverse_of(const ReadAccess& read, const Version& of, CertificateKind& certificate);
  Inverse simplified(Inverse inverse, const Version& of);

  const ReverseRequest& request_;
  FreshNames& names_;
  const UnknownDerivative& unknown_;
  GuardProver prover_;
  std::set<std::string> active_, stabilisers_;
  std::map<std::string, std::vector<Contribution>> pending_;
  Reversed result_;
};

void Reverse::visit(const ForwardStatement& statement) {
  const bool reached = pending_.count(statement.target) || request_.seeds.count(statement.target);
  if (!reached || !active_.count(statement.target) || stabilisers_.count(statement.target)) return;
  const AdjointTensor adjoint = finish(statement.target);
  if (statement.previous && active_.count(*statement.previous)) keep_previous(statement, adjoint);
  const auto left = names_of(statement.left);
  const ExprPtr result = access_at(statement.target, left, version(statement.target).type);
  const Guarded whole{{}, {times(Term{}, adjoint.at(left))}};
  if (!statement.op) {
    const bool same_type = written(statement.value)->type == result->type;
    send(statement, same_type ? result : nullptr, whole);
  } else if (*statement.op == ReductionOp::Sum) {
    send(statement, nullptr, whole);
  } else if (*statement.op == ReductionOp::Product) {
    visit_product(statement, adjoint);
  } else {
    visit_extreme(statement, adjoint);
  }
}

/// The adjoint of \p name is complete: its statements, and how it is read.
AdjointTensor Reverse::finish(const std::string& name) {
  const auto seed = request_.seeds.find(name);
  auto& contributions = pending_[name];
  if (seed != request_.seeds.end() && contributions.empty()) return seed->second;
  const Version& of = version(name);
  if (seed != request_.seeds.end()) {
    std::vector<std::string> coordinates;
    for (std::size_t d = 0; d < of.box.size(); ++d) coordinates.push_back(contributions.front().coordinates[d]);
    contributions.push_back({coordinates, {}, {{}, {times(Term{}, seed->second.at(coordinates))}}, {}});
  }
  AdjointTensor adjoint;
  const auto result = request_.results.find(name);
  const std::string wanted = str("d_", name, seed == request_.seeds.end() ? "" : "_sum");
  adjoint.name = result == request_.results.end() ? names_.take(wanted) : result->second;
  if (contributions.empty()) {
    Contribution nothing;
    for (std::size_t d = 0; d < of.box.size(); ++d) nothing.coordinates.push_back(str("i", d));
    contributions.push_back(nothing);
  }
  const bool keeps_type = result != request_.results.end();
  for (Step& step : adjoint_steps(adjoint.name, of, contributions, keeps_type, names_, adjoint.type))
    result_.steps.push_back(std::move(step));
  adjoint.shifts.assign(of.box.size(), integer(0));
  return adjoint;
}

/// What the statement leaves of the previous version, or adds to.
void Reverse::keep_previous(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  const auto left = names_of(statement.left);
  Contribution kept{left, {}, {{}, {times(Term{}, adjoint.at(left))}}, statement.place};
  const bool adds = statement.op == ReductionOp::Sum && !statement.initialise;
  const ExprPtr rest = outside(statement.left, version(statement.target).box);
  if (!adds && !rest) return;
  if (!adds) kept.value.conditions.push_back(rest);
  pending_[*statement.previous].push_back(std::move(kept));
}

/// Shares the adjoint evenly among the values that equal the extreme.
void Reverse::visit_extreme(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  const auto left = names_of(statement.left);
  const DType type = version(statement.target).type;
  const ExprPtr tie = binary(BinaryOp::Eq, statement.value, access_at(statement.target, left, type));
  const DType wide = compute_type(type);
  Step count = statistic(names_.take(str("n_", statement.target)), wide, statement, ReductionOp::Sum);
  count.pieces = {{{tie}, {Term{}}}};
  result_.steps.push_back(count);
  const Sum share = times(Sum{times(Term{}, adjoint.at(left))}, access_at(count.target, left, wide), -1);
  send(statement, nullptr, {{tie}, share});
}

/// The product of the other factors: by a quotient where no factor is 0, the product of all others where one is.
void Reverse::visit_product(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  const auto left = names_of(statement.left);
  const DType type = version(statement.target).type;
  const ExprPtr zero = number(0, type), is_zero = binary(BinaryOp::Eq, statement.value, zero);
  Step zeros = statistic(names_.take(str("z_", statement.target)), DType::Float32, statement, ReductionOp::Sum);
  zeros.pieces = {{{is_zero}, {Term{}}}};
  Step others = statistic(names_.take(str("p_", statement.target)), type, statement, ReductionOp::Product);
  others.value = make_expr(Select{is_zero, cast(type, number(1, type)), statement.value}, {}, type);
  result_.steps.push_back(zeros);
  result_.steps.push_back(others);
  const ExprPtr how_many = access_at(zeros.target, left, zeros.type);
  const auto zeros_are = [&](double count) { return binary(BinaryOp::Eq, how_many, number(count, zeros.type)); };
  const Sum product = times(Sum{times(Term{}, adjoint.at(left))}, access_at(others.target, left, type));
  send(statement, nullptr, {{is_zero, zeros_are(1)}, product});
  send(statement, nullptr, {{opposite(is_zero), zeros_are(0)}, times(product, statement.value, -1)});
}

void Reverse::send(const ForwardStatement& statement, const ExprPtr& result, const Guarded& adjoint) {
  for (const ReadAdjoint& read : adjoint_reads(statement.value, result, adjoint, active_, unknown_))
    if (!read.value.empty()) scatter(statement, read);
}

/// The guards that are left, for coordinates in the box.
Inverse Reverse::simplified(Inverse inverse, const Version& of) {
  std::vector<IteratorRange> ranges = of.box;
  for (std::size_t d = 0; d < ranges.size(); ++d) ranges[d].name = inverse.coordinates[d];
  inverse.guards = prover_.simplified(joined(ranges, inverse.reduction), inverse.guards);
  return inverse;
}

/// The inverse that is certified; the one by guards where no other is.
Inverse Reverse::inverse_of(const ReadAccess& read, const Version& of, CertificateKind& certificate) {
  const InverseNames names{names_.taken(), {}};
  if (!request_.by_guards) {
    const Inverse inverse = simplified(invert(read, names), of);
    certificate = certify(read, inverse, of.box, prover_);
    if (certificate != CertificateKind::Missing) return inverse;
  }
  const Inverse inverse = simplified(invert_by_guards(read, names), of);
  certificate = certify(read, inverse, of.box, prover_);
  return inverse;
}

void Reverse::scatter(const ForwardStatement& statement, const ReadAdjoint& read) {
  const auto& element = std::get<Access>(read.read->node);
  const ReadAccess access{joined(statement.left, statement.reduction), element.subscripts, read.conditions};
  CertificateKind certificate = CertificateKind::Missing;
  const Inverse inverse = inverse_of(access, version(element.tensor), certificate);
  report(statement, read, inverse, certificate);
  result_.reads.back().compares = std::any_of(inverse.by_guard.begin(), inverse.by_guard.end(),
                                              [&](std::size_t d) { return !reads_an_element(element.subscripts[d]); });
  Contribution made{inverse.coordinates, inverse.reduction, {inverse.guards, {}}, statement.place};
  made.value.value =
      map_factors(read.value, [&](const ExprPtr& factor) { return normalised(replace_names(factor, inverse.values)); });
  pending_[element.tensor].push_back(std::move(made));
}

void Reverse::report(const ForwardStatement& statement, const ReadAdjoint& read, const Inverse& inverse,
                     CertificateKind certificate) {
  ReadReport made{statement.place, print(read.read), {}, certificate};
  for (const auto& [iterator, value] : inverse.values) made.inverse.push_back(str(iterator, " = ", print(value)));
  for (const ExprPtr& guard : inverse.guards) made.inverse.push_back(print(guard));
  result_.reads.push_back(std::move(made));
}

}  // namespace

Reversed reverse(const Forward& forward, const ReverseRequest& request, FreshNames& names,
                 const UnknownDerivative& unknown) {
  return Reverse(forward, request, names, unknown).run();
}

}  // namespace tc::autodiff
