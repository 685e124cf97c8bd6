#include "tc/halide_bridge/infer/index_proof.h"

#include <algorithm>
#include <set>
#include <string>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/infer/convert_expr.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::halide_bridge {

using Halide::Expr;
namespace ir = Halide::Internal;

namespace {

constexpr unsigned long operations_of_a_proof = 50000;
constexpr std::size_t parts_of_a_proof = 4000;

/// Thrown for conditions that are too large to be proved.
struct TooLarge {};

/// Writes conditions in isl's text form; every variable and every part that is not affine is a dimension of the set.
class IslText {
 public:
  /// Throws TooLarge.
  void add(const Expr& condition) { constraints_.push_back(boolean(condition)); }

  std::string set() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parts_.size(); ++i) names.push_back(str("x", i));
    return str("{ [", join(names), "]", constraints_.empty() ? "" : " : ", join(constraints_, " and "), " }");
  }

  /// The first \p count constraints, all of which are about parameters: parts made of \p sizes alone.
  std::string context(std::size_t count, const std::vector<std::string>& sizes) const {
    const std::vector<std::string> first(constraints_.begin(),
                                         constraints_.begin() + static_cast<std::ptrdiff_t>(count));
    return str("[", join(names(sizes, true)), "] -> { : ", first.empty() ? "1 = 1" : join(first, " and "), " }");
  }
  /// The set as one that depends on these parameters.
  std::string set_over(const std::vector<std::string>& sizes) const {
    return str("[", join(names(sizes, true)), "] -> { [", join(names(sizes, false)),
               "] : ", constraints_.empty() ? "1 = 1" : join(constraints_, " and "), " }");
  }
  std::size_t size() const { return constraints_.size(); }
  /// The part that the set calls \p name.
  const Expr& part(const std::string& name) const { return parts_.at(std::stoul(name.substr(1))); }

 private:
  /// The names of parts that are made of \p sizes alone, or of the others.
  std::vector<std::string> names(const std::vector<std::string>& sizes, bool over_sizes) const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto used = variables(parts_[i]);
      const bool known = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
        return std::find(sizes.begin(), sizes.end(), name) != sizes.end();
      });
      if (known == over_sizes) result.push_back(str("x", i));
    }
    return result;
  }

  std::string dimension(const Expr& part) {
    auto known = std::find_if(parts_.begin(), parts_.end(), [&](const Expr& e) { return ir::equal(e, part); });
    if (known == parts_.end()) {
      parts_.push_back(part);
      known = parts_.end() - 1;
    }
    return str("x", known - parts_.begin());
  }

  std::string compare(const Expr& a, const char* op, const Expr& b) {
    if (a.type() != Halide::Int(64)) return unknown_truth(Expr());
    const std::string left = integer(a);
    return str("(", left, " ", op, " ", integer(b), ")");
  }

  std::string unknown_truth(const Expr& expr) {
    const std::string name =
        expr.defined() ? dimension(expr) : dimension(ir::Variable::make(Halide::Bool(), str("?", ++fresh_)));
    return str("(", name, " >= 1)");
  }

  void count() {
    if (++written_ > parts_of_a_proof) throw TooLarge();
  }

  std::string boolean(const Expr& e) {
    count();
    if (ir::is_const_one(e)) return "(1 = 1)";
    if (ir::is_const_zero(e)) return "(1 = 0)";
    if (const auto* op = e.as<ir::And>()) return pair(op->a, "and", op->b);
    if (const auto* op = e.as<ir::Or>()) return pair(op->a, "or", op->b);
    if (const auto* op = e.as<ir::Not>()) return str("(not ", boolean(op->a), ")");
    if (const auto* op = e.as<ir::LT>()) return compare(op->a, "<", op->b);
    if (const auto* op = e.as<ir::LE>()) return compare(op->a, "<=", op->b);
    if (const auto* op = e.as<ir::GT>()) return compare(op->a, ">", op->b);
    if (const auto* op = e.as<ir::GE>()) return compare(op->a, ">=", op->b);
    if (const auto* op = e.as<ir::EQ>()) return compare(op->a, "=", op->b);
    if (const auto* op = e.as<ir::NE>()) return compare(op->a, "!=", op->b);
    return unknown_truth(e);
  }

  std::string pair(const Expr& a, const char* op, const Expr& b) {
    const std::string left = boolean(a);
    return str("(", left, " ", op, " ", boolean(b), ")");
  }

  std::string call(const char* function, const Expr& a, const Expr& b) {
    const std::string left = integer(a);
    return str(function, "(", left, ", ", integer(b), ")");
  }

  std::string integer(const Expr& e) {
    count();
    if (const std::int64_t* value = ir::as_const_int(e)) return str("(", *value, ")");
    if (const auto* op = e.as<ir::Add>()) return sum(op->a, "+", op->b);
    if (const auto* op = e.as<ir::Sub>()) return sum(op->a, "-", op->b);
    if (const auto* op = e.as<ir::Min>()) return call("min", op->a, op->b);
    if (const auto* op = e.as<ir::Max>()) return call("max", op->a, op->b);
    if (const auto* op = e.as<ir::Select>()) return choice(e, *op);
    if (const auto* op = e.as<ir::Mul>()) {
      if (const std::int64_t* factor = ir::as_const_int(op->b)) return str("(", *factor, " * ", integer(op->a), ")");
      if (const std::int64_t* factor = ir::as_const_int(op->a)) return str("(", *factor, " * ", integer(op->b), ")");
    }
    if (const auto* op = e.as<ir::Div>())
      if (const std::int64_t* d = ir::as_const_int(op->b); d && *d > 0)
        return str("floor((", integer(op->a), ")/", *d, ")");
    if (const auto* op = e.as<ir::Mod>())
      if (const std::int64_t* d = ir::as_const_int(op->b); d && *d > 0)
        return str("((", integer(op->a), ") mod ", *d, ")");
    if (const auto* op = e.as<ir::Mul>()) return product(e, *op);
    return dimension(e);
  }

  /// A product of two unknowns as a dimension: 0 if one of them is, at least a + b - 1 if both are positive.
  std::string product(const Expr& e, const ir::Mul& op) {
    const std::string name = dimension(e), a = integer(op.a), b = integer(op.b);
    constraints_.push_back(str("(((", a, " = 0 or ", b, " = 0) and ", name, " = 0) or (", a, " >= 1 and ", b,
                               " >= 1 and ", name, " >= ", a, " + ", b, " - 1) or ", a, " < 0 or ", b, " < 0)"));
    return name;
  }

  std::string sum(const Expr& a, const char* op, const Expr& b) {
    const std::string left = integer(a);
    return str("(", left, " ", op, " ", integer(b), ")");
  }

  std::string choice(const Expr& e, const ir::Select& op) {
    const std::string name = dimension(e), condition = boolean(op.condition);
    const std::string yes = integer(op.true_value), no = integer(op.false_value);
    constraints_.push_back(
        str("((", condition, " and ", name, " = ", yes, ") or ((not ", condition, ") and ", name, " = ", no, "))"));
    return name;
  }

  std::vector<Expr> parts_;
  std::vector<std::string> constraints_;
  int fresh_ = 0;
  std::size_t written_ = 0;
};

/// isl's condition or number over parts of \p text as Halide's.
Expr from_isl(const isl::ast_expr& expr, const IslText& text) {
  const isl_ast_expr_type kind = isl_ast_expr_get_type(expr.get());
  if (kind == isl_ast_expr_int)
    return constant(polyhedral::call(expr.ctx(), isl_ast_expr_get_val, expr.get()).num_si());
  if (kind == isl_ast_expr_id) return text.part(polyhedral::call(expr.ctx(), isl_ast_expr_get_id, expr.get()).name());
  std::vector<Expr> args;
  for (int i = 0; i < isl_ast_expr_get_op_n_arg(expr.get()); ++i)
    args.push_back(from_isl(polyhedral::call(expr.ctx(), isl_ast_expr_get_op_arg, expr.get(), i), text));
  const auto truth = [](const Expr& e) { return e.type().is_bool() ? e : e != 0; };
  const auto fold = [&](auto&& combine) {
    Expr result = args.at(0);
    for (std::size_t i = 1; i < args.size(); ++i) result = combine(result, args[i]);
    return result;
  };
  switch (isl_ast_expr_get_op_type(expr.get())) {
    case isl_ast_op_and:
    case isl_ast_op_and_then:
      return fold([&](const Expr& a, const Expr& b) { return truth(a) && truth(b); });
    case isl_ast_op_or:
    case isl_ast_op_or_else:
      return fold([&](const Expr& a, const Expr& b) { return truth(a) || truth(b); });
    case isl_ast_op_max:
      return fold([](const Expr& a, const Expr& b) { return Halide::max(a, b); });
    case isl_ast_op_min:
      return fold([](const Expr& a, const Expr& b) { return Halide::min(a, b); });
    case isl_ast_op_minus:
      return 0 - args.at(0);
    case isl_ast_op_add:
      return fold([](const Expr& a, const Expr& b) { return a + b; });
    case isl_ast_op_sub:
      return fold([](const Expr& a, const Expr& b) { return a - b; });
    case isl_ast_op_mul:
      return fold([](const Expr& a, const Expr& b) { return a * b; });
    case isl_ast_op_div:
    case isl_ast_op_fdiv_q:
    case isl_ast_op_pdiv_q:
      return fold([](const Expr& a, const Expr& b) { return a / b; });
    case isl_ast_op_pdiv_r:
    case isl_ast_op_zdiv_r:
      return fold([](const Expr& a, const Expr& b) { return a % b; });
    case isl_ast_op_cond:
    case isl_ast_op_select:
      return Halide::select(truth(args.at(0)), args.at(1), args.at(2));
    case isl_ast_op_eq:
      return args.at(0) == args.at(1);
    case isl_ast_op_le:
      return args.at(0) <= args.at(1);
    case isl_ast_op_lt:
      return args.at(0) < args.at(1);
    case isl_ast_op_ge:
      return args.at(0) >= args.at(1);
    case isl_ast_op_gt:
      return args.at(0) > args.at(1);
    default:
      throw InternalError(str("IndexProver: an AST expression of an unknown kind: ", expr.to_C_str()));
  }
}

struct Assumption {
  Expr condition;
  std::vector<std::string> variables;
};

/// Those of \p all that say something of \p conditions: they share a variable, or one with another that does.
std::vector<Expr> relevant(const std::vector<Assumption>& all, const std::vector<Expr>& conditions) {
  std::set<std::string> known;
  for (const Expr& condition : conditions)
    for (const std::string& name : variables(condition)) known.insert(name);
  std::vector<Expr> result;
  std::vector<bool> taken(all.size(), false);
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& names = all[i].variables;
      if (taken[i] || std::none_of(names.begin(), names.end(), [&](const auto& n) { return known.count(n) > 0; }))
        continue;
      taken[i] = true;
      grows = grows || names.size() > 1;
      known.insert(names.begin(), names.end());
      result.push_back(all[i].condition);
    }
  }
  return result;
}

}  // namespace

struct IndexProver::Impl {
  polyhedral::Context context;
  Cancellation cancellation;
  std::vector<Assumption> assumptions;
  std::set<std::string> texts;  ///< of them
  bool gave_up = false;
};

IndexProver::IndexProver(const Cancellation& cancellation) : impl_(std::make_unique<Impl>()) {
  impl_->cancellation = cancellation;
}
IndexProver::~IndexProver() = default;

void IndexProver::assume(const Expr& condition) {
  const Expr simple = ir::simplify(condition);
  if (ir::is_const(simple)) return;
  if (impl_->texts.insert(str(simple)).second) impl_->assumptions.push_back({simple, variables(simple)});
}

bool IndexProver::gave_up() const { return impl_->gave_up; }

bool IndexProver::feasible(const std::vector<Expr>& conditions) {
  impl_->cancellation.check("range inference");
  impl_->gave_up = false;
  IslText text;
  polyhedral::OperationQuota quota(impl_->context, operations_of_a_proof);
  try {
    for (const Expr& condition : conditions) text.add(condition);
    for (const Expr& condition : relevant(impl_->assumptions, conditions)) text.add(condition);
    return !isl::set(impl_->context, text.set()).is_empty();
  } catch (const TooLarge&) {
    impl_->gave_up = true;
    return true;
  } catch (const isl::exception& error) {
    impl_->gave_up = quota.caused(error);
    if (impl_->gave_up) return true;
    throw InternalError(str("IndexProver: ", error.what(), " in ", text.set()));
  }
}

std::optional<Expr> IndexProver::condition_against(const std::vector<Expr>& conditions,
                                                   const std::vector<std::string>& sizes,
                                                   const std::vector<Expr>& given) {
  impl_->cancellation.check("range inference");
  IslText text;
  polyhedral::OperationQuota quota(impl_->context, operations_of_a_proof);
  try {
    std::vector<Expr> all = conditions;
    all.insert(all.end(), given.begin(), given.end());
    for (const Expr& condition : given) text.add(condition);
    for (const Expr& condition : relevant(impl_->assumptions, all)) text.add(condition);
    const std::size_t known = text.size();
    for (const Expr& condition : conditions) text.add(condition);
    const isl::set context(impl_->context, text.context(known, sizes));
    const isl::set met = isl::set(impl_->context, text.set_over(sizes)).params();
    const isl::set unmet = context.subtract(met).coalesce();
    if (unmet.is_empty()) return ir::const_false();
    const Expr result = from_isl(isl::ast_build::from_context(context).expr_from(unmet.gist(context).coalesce()), text);
    return result.type().is_bool() ? result : result != 0;
  } catch (const TooLarge&) {
    return std::nullopt;
  } catch (const isl::exception& error) {
    if (quota.caused(error)) return std::nullopt;
    throw InternalError(str("IndexProver: ", error.what(), " in ", text.set_over(sizes)));
  }
}

}  // namespace tc::halide_bridge
