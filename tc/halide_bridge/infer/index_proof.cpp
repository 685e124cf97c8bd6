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

 private:
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

}  // namespace tc::halide_bridge
