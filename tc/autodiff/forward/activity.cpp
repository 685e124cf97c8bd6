#include "tc/autodiff/forward/activity.h"

#include <algorithm>

#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// Does a float of \p active reach the value of \p expr other than through conditions and subscripts?
bool depends(const ExprPtr& expr, const std::set<std::string>& active) {
  if (!expr->type || !is_float(*expr->type)) return false;
  if (const auto* read = std::get_if<Access>(&expr->node)) return active.count(read->tensor) > 0;
  const auto parts = children(expr);
  return std::any_of(parts.begin(), parts.end(), [&](const ExprPtr& part) { return depends(part, active); });
}

}  // namespace

std::set<std::string> active_versions(const Forward& forward, const std::vector<std::string>& wrt) {
  std::set<std::string> active(wrt.begin(), wrt.end());
  for (std::size_t known = 0; known != active.size();) {
    known = active.size();
    for (const auto& statement : forward.statements) {
      const bool kept = statement.previous && active.count(*statement.previous);
      const bool number = is_float(forward.versions.at(statement.target).type);
      if (number && (kept || depends(statement.value, active))) active.insert(statement.target);
    }
  }
  return active;
}

namespace {

/// The subscripts of the extreme, as texts over the iterators of a statement.
using Row = std::vector<std::string>;

/// How a value answers to a shift of the extreme of its row by s: value + weight*s, value * exp(weight*s), or in another
/// way.
struct Answer {
  enum class Kind { Same, Shifted, Scaled, Zero, Other } kind = Kind::Same;
  double weight = 0;
  Row row = {};  ///< of what is shifted or scaled

  bool operator==(const Answer&) const = default;
};
using Kind = Answer::Kind;

Answer shifted(double weight, const Row& row) { return weight == 0 ? Answer{} : Answer{Kind::Shifted, weight, row}; }
Answer scaled_by(double weight, const Row& row) { return weight == 0 ? Answer{} : Answer{Kind::Scaled, weight, row}; }
const Answer other{Kind::Other, 0, {}};

bool moves(const Answer& a) { return a.kind == Kind::Shifted || a.kind == Kind::Scaled; }
bool rows_agree(const Answer& a, const Answer& b) { return !moves(a) || !moves(b) || a.row == b.row; }
const Row& row_of(const Answer& a, const Answer& b) { return moves(a) ? a.row : b.row; }

/// As a shift, as an exponent of a scale; nothing if it is none.
std::optional<double> as_shift(const Answer& a) {
  if (a.kind == Kind::Shifted) return a.weight;
  return a.kind == Kind::Same || a.kind == Kind::Zero ? std::optional(0.0) : std::nullopt;
}
std::optional<double> as_scale(const Answer& a) {
  if (a.kind == Kind::Scaled) return a.weight;
  return a.kind == Kind::Same ? std::optional(0.0) : std::nullopt;
}

/// The answer of what is one of two, or of their sum where both are scaled alike.
Answer joined(const Answer& a, const Answer& b) {
  if (a == b) return a;
  if (a.kind == Kind::Zero && b.kind == Kind::Scaled) return b;
  if (b.kind == Kind::Zero && a.kind == Kind::Scaled) return a;
  const bool unchanged = as_shift(a) == 0.0 && as_shift(b) == 0.0;
  return unchanged ? Answer{} : other;
}

class Follower {
 public:
  Follower(const std::string& extreme, std::size_t rank) {
    std::vector<std::size_t> all(rank);
    for (std::size_t d = 0; d < rank; ++d) all[d] = d;
    answers_[extreme] = {{Kind::Shifted, 1, {}}, all};
  }

  void take(const ForwardStatement& statement) {
    Answer value = of(statement.value);
    if (statement.op == ReductionOp::Product && value.kind != Kind::Zero) value = unchanged_or_other({value});
    if (statement.op == ReductionOp::Sum && value.kind == Kind::Shifted) value = other;
    std::vector<ExprPtr> left;
    for (const auto& range : statement.left) left.push_back(index_name(range.name));
    if (statement.previous) value = joined(value, read(*statement.previous, left));
    store(statement, value);
  }

  bool changed(const std::string& version) const {
    const auto found = answers_.find(version);
    return found != answers_.end() && found->second.answer != Answer{};
  }

  /// Do both give the same answers? Where another round over loops changes none, each follows from those of earlier elements.
  bool operator==(const Follower&) const = default;

 private:
  /// The answer of a version's elements; `row` are the dimensions whose subscripts are those of the extreme.
  struct Stored {
    Answer answer;
    std::vector<std::size_t> row;

    bool operator==(const Stored&) const = default;
  };

  void store(const ForwardStatement& statement, Answer value) {
    Stored stored;
    for (const auto& subscript : value.row) {
      const auto place = std::find_if(statement.left.begin(), statement.left.end(),
                                      [&](const IteratorRange& range) { return range.name == subscript; });
      if (place == statement.left.end()) value = other;
      stored.row.push_back(static_cast<std::size_t>(place - statement.left.begin()));
    }
    value.row.clear();
    stored.answer = value;
    answers_[statement.target] = stored;
  }

  Answer read(const std::string& version, const std::vector<ExprPtr>& subscripts) const {
    const auto found = answers_.find(version);
    if (found == answers_.end()) return {};
    Answer answer = found->second.answer;
    if (moves(answer))
      for (const std::size_t d : found->second.row) answer.row.push_back(print(subscripts[d]));
    return answer;
  }

  static Answer unchanged_or_other(const std::vector<Answer>& all) {
    const bool same = std::all_of(all.begin(), all.end(), [](const Answer& a) { return as_shift(a) == 0.0; });
    return same ? Answer{} : other;
  }

  Answer sum(const Answer& a, const Answer& b, double sign) const {
    if (a.kind == Kind::Scaled || b.kind == Kind::Scaled) return joined(a, b);
    const auto left = as_shift(a), right = as_shift(b);
    return left && right && rows_agree(a, b) ? shifted(*left + sign * *right, row_of(a, b)) : other;
  }

  Answer product(const Answer& a, const Answer& b, double sign) const {
    if (a.kind == Kind::Zero) return b.kind == Kind::Other ? other : a;
    const auto left = as_scale(a), right = as_scale(b);
    return left && right && rows_agree(a, b) ? scaled_by(*left + sign * *right, row_of(a, b)) : other;
  }

  Answer of_binary(const Binary& pair) const {
    const Answer a = of(pair.left), b = of(pair.right);
    switch (pair.op) {
      case BinaryOp::Add:
        return sum(a, b, 1);
      case BinaryOp::Sub:
        return sum(a, b, -1);
      case BinaryOp::Mul:
        return b.kind == Kind::Zero ? product(b, a, 1) : product(a, b, 1);
      case BinaryOp::Div:
        return product(a, b, -1);
      default: {
        const bool alike = is_comparison(pair.op) && a == b && a.kind != Kind::Other;
        return alike ? Answer{} : unchanged_or_other({a, b});
      }
    }
  }

  Answer of_call(const Call& call) const {
    std::vector<Answer> all;
    for (const ExprPtr& argument : call.arguments) all.push_back(of(argument));
    if (call.function == "exp" && as_shift(all[0])) return scaled_by(*as_shift(all[0]), all[0].row);
    if (call.function == "log" && as_scale(all[0])) return shifted(*as_scale(all[0]), all[0].row);
    return unchanged_or_other(all);
  }

  Answer of(const ExprPtr& expr) const {
    if (const auto value = constant_value(expr)) return *value == 0 ? Answer{Kind::Zero, 0, {}} : Answer{};
    if (const auto* access = std::get_if<Access>(&expr->node)) return read(access->tensor, access->subscripts);
    if (const auto* conversion = std::get_if<Cast>(&expr->node)) return of(conversion->value);
    if (const auto* call = std::get_if<Call>(&expr->node)) return of_call(*call);
    if (const auto* pair = std::get_if<Binary>(&expr->node)) return of_binary(*pair);
    if (const auto* select = std::get_if<Select>(&expr->node)) {
      if (of(select->condition) != Answer{}) return other;
      return joined(of(select->then_value), of(select->else_value));
    }
    if (const auto* unary = std::get_if<Unary>(&expr->node)) {
      const Answer value = of(unary->value);
      return value.kind == Kind::Shifted ? shifted(-value.weight, value.row) : value;
    }
    return {};
  }

  std::map<std::string, Stored> answers_;
};

}  // namespace

bool is_stabiliser(const Forward& forward, std::size_t at, const std::vector<std::string>& outputs) {
  const auto& statement = forward.statements[at];
  if (statement.op != ReductionOp::Max && statement.op != ReductionOp::Min) return false;
  const auto& all = forward.statements;
  const bool has_loops = std::any_of(all.begin(), all.end(), [](const auto& other) { return !other.loops.empty(); });
  Follower follower(statement.target, statement.left.size());
  constexpr int most_rounds = 4;
  for (int round = 0;; ++round) {
    const Follower before = follower;
    for (std::size_t i = has_loops ? 0 : at + 1; i < all.size(); ++i)
      if (i != at) follower.take(all[i]);
    if (!has_loops || follower == before) break;
    if (round == most_rounds) return false;
  }
  return std::none_of(outputs.begin(), outputs.end(), [&](const std::string& o) { return follower.changed(o); });
}

}  // namespace tc::autodiff
