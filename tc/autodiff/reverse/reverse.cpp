#include "tc/autodiff/reverse/reverse.h"

#include <algorithm>

#include "tc/autodiff/forward/activity.h"
#include "tc/autodiff/forward/name_extremes.h"
#include "tc/autodiff/reverse/loop_subscripts.h"
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

/// Of `e == 0 ? a : b`: a where b is e, else b where a is e; null of anything else.
struct ZeroChoice {
  ExprPtr of_zero, of_other;
};
ZeroChoice zero_choice(const ExprPtr& value) {
  const auto* select = std::get_if<Select>(&written(value)->node);
  const auto* is_zero = select ? std::get_if<Binary>(&written(select->condition)->node) : nullptr;
  if (!is_zero || is_zero->op != BinaryOp::Eq || constant_value(is_zero->right) != 0.0) return {};
  const ExprPtr factor = written(is_zero->left);
  if (equal(factor, written(select->else_value))) return {select->then_value, nullptr};
  if (equal(factor, written(select->then_value))) return {nullptr, select->else_value};
  return {};
}

/// Is \p value `e == 0 ? c : e`, where c is another number?
bool is_never_zero(const ExprPtr& value) {
  const ExprPtr instead = zero_choice(value).of_zero;
  return instead && constant_value(instead).value_or(0) != 0;
}

/// Is \p value `e == 0 ? e : 0`, of which only derivatives are not 0?
bool is_always_zero(const ExprPtr& value) {
  const ExprPtr instead = zero_choice(value).of_other;
  return instead && constant_value(instead) == 0.0;
}

/// A statement that counts, adds up or multiplies over the reductions of another one.
Step statistic(const std::string& target, DType type, const ForwardStatement& of, ReductionOp op) {
  Step step;
  step.target = target;
  step.type = type;
  step.left = of.left;
  step.reduction = of.reduction;
  step.op = op;
  step.initialise = true;
  step.place = of.place;
  step.loops = of.loops;
  return step;
}

std::vector<ExprPtr> subscripts_of(const std::vector<IteratorRange>& left) {
  std::vector<ExprPtr> subscripts;
  for (const auto& range : left) subscripts.push_back(index_name(range.name));
  return subscripts;
}

class Reverse {
 public:
  Reverse(const Forward& forward, const ReverseRequest& request, FreshNames& names, const UnknownDerivative& unknown)
      : request_(request), names_(names), unknown_(unknown), prover_(forward.sizes) {
    std::vector<std::string> outputs;
    for (const auto& [output, seed] : request.seeds) outputs.push_back(output);
    NamedExtremes named = name_extremes(forward, active_versions(forward, request.wrt), outputs, names);
    result_.forward = std::move(named.forward);
    stabilisers_ = std::move(named.stabilisers);
    active_ = active_versions(result_.forward, request.wrt);
  }

  Reversed run() {
    const auto& statements = result_.forward.statements;
    for (std::size_t end = statements.size(); end > 0;) {
      std::size_t first = end - 1;
      while (first > 0 && in_one_loop(statements[first - 1], statements[end - 1])) --first;
      statements[first].loops.empty() ? visit(statements[first]) : visit_loop(first, end);
      end = first;
    }
    for (const auto& param : request_.wrt) finish(param);
    return std::move(result_);
  }

 private:
  const Version& version(const std::string& name) const { return result_.forward.versions.at(name); }

  /// Is there an adjoint of \p tensor among the statements, which then are those of a derivative already?
  bool has_adjoint(const std::string& tensor) const {
    const auto& statements = result_.forward.statements;
    return std::any_of(statements.begin(), statements.end(),
                       [&](const auto& statement) { return statement.target.starts_with("d_" + tensor); });
  }

  bool is_differentiated(const ForwardStatement& statement) const {
    return active_.count(statement.target) && !stabilisers_.count(statement.target);
  }
  /// Has the adjoint of \p version a value yet?
  bool is_reached(const std::string& version) const { return pending_.count(version) || request_.seeds.count(version); }

  void visit(const ForwardStatement& statement);
  void visit_loop(std::size_t first, std::size_t end);
  std::set<std::string> read_in_loop(std::size_t first, std::size_t end) const;
  AdjointTensor finish(const std::string& version);
  AdjointTensor named_adjoint(const std::string& version);
  void complete(const std::string& version, AdjointTensor& adjoint);
  std::vector<Contribution> with_outside_sums(const std::string& version, std::vector<Contribution> contributions);
  void pass_on(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void keep_previous(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void visit_extreme(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void visit_product(const ForwardStatement& statement, const AdjointTensor& adjoint);
  void send(const ForwardStatement& statement, const ExprPtr& result, const Guarded& adjoint);
  void scatter(const ForwardStatement& statement, const ReadAdjoint& read);
  void report(const ForwardStatement& statement, const ReadAdjoint& read, const Inverse& inverse,
              CertificateKind certificate);
  Inverse inverse_of(const ReadAccess& read, const std::vector<FixedSubscript>& fixed, const Version& of,
                     CertificateKind& certificate);
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
  if (is_reached(statement.target) && is_differentiated(statement)) pass_on(statement, finish(statement.target));
}

/// The versions that the differentiated statements of a loop read, from those on that something behind the loop reads.
std::set<std::string> Reverse::read_in_loop(std::size_t first, std::size_t end) const {
  std::set<std::string> read;
  std::size_t known;
  do {
    known = read.size();
    for (std::size_t i = end; i-- > first;) {
      const auto& statement = result_.forward.statements[i];
      if (!is_differentiated(statement) || !(is_reached(statement.target) || read.count(statement.target))) continue;
      for (const auto& version : reads_of(statement))
        if (active_.count(version)) read.insert(version);
    }
  } while (known != read.size());
  return read;
}

/// The statements \p first to \p end of a loop: their adjoints have names before they are complete, as each may read the others.
void Reverse::visit_loop(std::size_t first, std::size_t end) {
  const auto read = read_in_loop(first, end);
  std::vector<const ForwardStatement*> statements;
  std::map<std::string, AdjointTensor> adjoints;
  for (std::size_t i = end; i-- > first;) {
    const auto& statement = result_.forward.statements[i];
    if (!is_differentiated(statement) || !(is_reached(statement.target) || read.count(statement.target))) continue;
    const bool is_seed = !pending_.count(statement.target) && !read.count(statement.target);
    statements.push_back(&statement);
    adjoints[statement.target] = is_seed ? request_.seeds.at(statement.target) : named_adjoint(statement.target);
  }
  for (const auto* statement : statements) pass_on(*statement, adjoints.at(statement->target));
  for (const auto* statement : statements)
    if (pending_.count(statement->target)) complete(statement->target, adjoints.at(statement->target));
}

/// What the reads of \p statement get.
void Reverse::pass_on(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  if (statement.previous && active_.count(*statement.previous)) keep_previous(statement, adjoint);
  const auto left = names_of(statement.left);
  const ExprPtr result = access_at(statement.target, left, version(statement.target).type);
  const Guarded whole{{}, {times(Term{}, adjoint.at(left))}};
  if (!statement.op) {
    const bool same_type = written(statement.value)->type == result->type;
    send(statement, same_type ? result : nullptr, whole);
  } else if (*statement.op == ReductionOp::Sum) {
    if (is_always_zero(statement.value) && has_adjoint(statement.target))
      unknown_(std::string(spelling(ReductionOp::Product)), statement.place);
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
  if (seed != request_.seeds.end() && pending_[name].empty()) return seed->second;
  AdjointTensor adjoint = named_adjoint(name);
  complete(name, adjoint);
  return adjoint;
}

AdjointTensor Reverse::named_adjoint(const std::string& name) {
  const auto result = request_.results.find(name);
  const std::string wanted = str("d_", name, request_.seeds.count(name) ? "_sum" : "");
  AdjointTensor adjoint{
      result == request_.results.end() ? names_.take(wanted) : result->second, compute_type(version(name).type), {}};
  adjoint.shifts.assign(version(name).box.size(), integer(0));
  return adjoint;
}

/// The statements of \p adjoint, that of the version \p name.
void Reverse::complete(const std::string& name, AdjointTensor& adjoint) {
  const auto seed = request_.seeds.find(name);
  auto& contributions = pending_[name];
  const Version& of = version(name);
  if (seed != request_.seeds.end()) {
    std::vector<std::string> coordinates;
    for (std::size_t d = 0; d < of.box.size(); ++d) coordinates.push_back(contributions.front().coordinates[d]);
    contributions.push_back({coordinates, {}, {{}, {times(Term{}, seed->second.at(coordinates))}}, {}});
  }
  if (contributions.empty()) {
    Contribution nothing;
    for (std::size_t d = 0; d < of.box.size(); ++d) nothing.coordinates.push_back(names_.iterator(str("i", d)));
    contributions.push_back(nothing);
  }
  if (!of.loops.empty()) contributions = with_outside_sums(name, std::move(contributions));
  const bool keeps_type = request_.results.count(name);
  for (Step& step : adjoint_steps(adjoint.name, of, contributions, keeps_type, names_, adjoint.type))
    result_.steps.push_back(std::move(step));
}

/// \p contributions to \p name, a version of a loop, with the sums that statements outside of the loop add in a tensor of their own,
/// which no loop computes.
///
///   d(t,n) +=! g(t,m) * W(n,m)   d(t,n) += d(t+1,n)     becomes     o(t,n) +=! g(t,m) * W(n,m)   d(t,n) = o(t,n) + d(t+1,n)
std::vector<Contribution> Reverse::with_outside_sums(const std::string& name, std::vector<Contribution> contributions) {
  const auto is_outside = [](const Contribution& c) { return c.is_outside; };
  const auto is_sum = [](const Contribution& c) { return c.is_outside && !c.reduction.empty(); };
  const bool all = std::all_of(contributions.begin(), contributions.end(), is_outside);
  if (all || std::none_of(contributions.begin(), contributions.end(), is_sum)) return contributions;
  const auto middle = std::stable_partition(contributions.begin(), contributions.end(), is_outside);
  std::vector<Contribution> outer(contributions.begin(), middle), rest(middle, contributions.end());
  Version of = version(name);
  of.loops.clear();
  AdjointTensor sum{names_.take(str("o_", name)), of.type, std::vector<ExprPtr>(of.box.size(), integer(0))};
  for (Step& step : adjoint_steps(sum.name, of, outer, false, names_, sum.type))
    result_.steps.push_back(std::move(step));
  const auto coordinates = rest.front().coordinates;
  rest.push_back({coordinates, {}, {{}, {times(Term{}, sum.at(coordinates))}}, outer.front().place});
  return rest;
}

/// What the statement leaves of the previous version, or adds to.
void Reverse::keep_previous(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  const auto left = names_of(statement.left);
  const bool is_outside =
      loop_subscripts(statement, version(*statement.previous), subscripts_of(statement.left)).empty();
  Contribution kept{left, {}, {{}, {times(Term{}, adjoint.at(left))}}, statement.place, is_outside};
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

/// The product of the other factors: by a quotient where no factor is 0; where factors are, the product of those that are
/// not, times the others that are 0 as their sum tells them: of one it is that one, so that derivatives for it are right too.
///
///   factors that are 0   the factor is 0     it is not
///   0                                        p / e
///   1                    p                   p * s / e
///   2                    p * (s - e)         0
void Reverse::visit_product(const ForwardStatement& statement, const AdjointTensor& adjoint) {
  const auto left = names_of(statement.left);
  const DType type = version(statement.target).type;
  const Sum whole{times(Term{}, adjoint.at(left))};
  if (is_never_zero(statement.value)) {
    const Sum all = times(whole, access_at(statement.target, left, type));
    return send(statement, nullptr, {{}, times(all, statement.value, -1)});
  }
  const ExprPtr zero = cast(type, number(0, type)), one = cast(type, number(1, type)), factor = statement.value;
  const ExprPtr is_zero = binary(BinaryOp::Eq, factor, zero);
  const auto choice = [&](const ExprPtr& condition, const ExprPtr& yes, const ExprPtr& no) {
    return make_expr(Select{condition, yes, no}, {}, type);
  };
  Step count = statistic(names_.take(str("z_", statement.target)), DType::Float32, statement, ReductionOp::Sum);
  count.pieces = {{{is_zero}, {Term{}}}};
  Step sum = statistic(names_.take(str("s_", statement.target)), type, statement, ReductionOp::Sum);
  sum.value = choice(is_zero, factor, zero);
  Step others = statistic(names_.take(str("p_", statement.target)), type, statement, ReductionOp::Product);
  others.value = choice(is_zero, one, factor);
  for (const Step* step : {&count, &sum, &others}) result_.steps.push_back(*step);
  const ExprPtr s = access_at(sum.target, left, type);
  const auto zeros_are = [&](double number_of) {
    return binary(BinaryOp::Eq, access_at(count.target, left, count.type), number(number_of, count.type));
  };
  const ExprPtr of_zero = choice(zeros_are(1), one, choice(zeros_are(2), binary(BinaryOp::Sub, s, factor), zero));
  const ExprPtr of_other = choice(zeros_are(0), one, choice(zeros_are(1), s, zero));
  const Sum product = times(whole, access_at(others.target, left, type));
  send(statement, nullptr, {{}, times(product, choice(is_zero, of_zero, binary(BinaryOp::Div, of_other, factor)))});
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
Inverse Reverse::inverse_of(const ReadAccess& read, const std::vector<FixedSubscript>& fixed, const Version& of,
                            CertificateKind& certificate) {
  const InverseNames names{names_.taken()};
  const auto certified = [&](const Inverse& inverse) {
    certificate = certify(read, inverse, of.box, prover_);
    for (const auto& name : inverse.coordinates) names_.take_iterator(name);
    for (const auto& range : inverse.reduction) names_.take_iterator(range.name);
    return inverse;
  };
  if (!request_.by_guards) {
    const Inverse inverse = certified(simplified(invert_around(read, fixed, names, false), of));
    if (certificate != CertificateKind::Missing) return inverse;
  }
  return certified(simplified(invert_around(read, fixed, names, true), of));
}

void Reverse::scatter(const ForwardStatement& statement, const ReadAdjoint& read) {
  const auto& element = std::get<Access>(read.read->node);
  const ReadAccess access{joined(statement.left, statement.reduction), element.subscripts, read.conditions};
  const auto fixed = loop_subscripts(statement, version(element.tensor), element.subscripts);
  CertificateKind certificate = CertificateKind::Missing;
  const Inverse inverse = inverse_of(access, fixed, version(element.tensor), certificate);
  report(statement, read, inverse, certificate);
  result_.reads.back().compares = std::any_of(inverse.by_guard.begin(), inverse.by_guard.end(),
                                              [&](std::size_t d) { return !reads_an_element(element.subscripts[d]); });
  Contribution made{inverse.coordinates, inverse.reduction, {inverse.guards, {}}, statement.place, fixed.empty()};
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
