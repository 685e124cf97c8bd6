#include "tc/lang/check/check_loops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// Where an access in an iteration of a loop points: at the same iteration, at earlier or later ones, or anywhere.
enum class Step { Same, Earlier, Later, Any };

/// How \p subscript differs from the index \p iterator of a loop.
///
///   t: Same      t-1: Earlier      t+1: Later      t/2: Any
Step step_of(const ExprPtr& subscript, const std::string& iterator) {
  const auto is_iterator = [&](const ExprPtr& e) {
    const auto* name = std::get_if<Name>(&e->node);
    return name && name->id == iterator;
  };
  if (is_iterator(subscript)) return Step::Same;
  const auto* pair = std::get_if<Binary>(&subscript->node);
  const auto* literal = pair ? std::get_if<IntLiteral>(&pair->right->node) : nullptr;
  if (!literal || !is_iterator(pair->left)) return Step::Any;
  if (literal->value == 0) return Step::Same;
  return pair->op == BinaryOp::Sub ? Step::Earlier : pair->op == BinaryOp::Add ? Step::Later : Step::Any;
}

/// Does \p condition say that \p subscript is less than the index \p iterator: s < t, s <= t-1, t > s, ...?
bool says_less(const ExprPtr& condition, const ExprPtr& subscript, const std::string& iterator) {
  const auto* pair = std::get_if<Binary>(&condition->node);
  if (!pair) return false;
  if (pair->op == BinaryOp::And)
    return says_less(pair->left, subscript, iterator) || says_less(pair->right, subscript, iterator);
  const bool is_turned = pair->op == BinaryOp::Gt || pair->op == BinaryOp::Ge;
  const ExprPtr &small = is_turned ? pair->right : pair->left, &large = is_turned ? pair->left : pair->right;
  if (!equal(small, subscript)) return false;
  const Step step = step_of(large, iterator);
  if (pair->op == BinaryOp::Lt || pair->op == BinaryOp::Gt) return step == Step::Same || step == Step::Earlier;
  return (pair->op == BinaryOp::Le || pair->op == BinaryOp::Ge) && step == Step::Earlier;
}

/// Calls \p visit for each access in \p expr, with the conditions under which it is read.
template <typename F>
void for_each_guarded(const ExprPtr& expr, std::vector<ExprPtr>& guards, F&& visit) {
  if (const auto* access = std::get_if<Access>(&expr->node)) visit(expr, *access, guards);
  const auto* select = std::get_if<Select>(&expr->node);
  const auto* pair = std::get_if<Binary>(&expr->node);
  const bool is_and = pair && pair->op == BinaryOp::And;
  const auto parts = children(expr);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool is_guarded = k == 1 && (select || is_and);
    if (is_guarded) guards.push_back(parts[0]);
    for_each_guarded(parts[k], guards, visit);
    if (is_guarded) guards.pop_back();
  }
}

class LoopChecker {
 public:
  LoopChecker(const Def& def, Diagnostics& diagnostics) : def_(def), diagnostics_(diagnostics) {}

  void run() {
    for (std::size_t s = 0; s < def_.statements.size(); ++s)
      if (!def_.statements[s].loops.empty() && std::holds_alternative<Assignment>(def_.statements[s].node)) check(s);
  }

 private:
  const Assignment* assignment(std::size_t s) const { return std::get_if<Assignment>(&def_.statements[s].node); }

  void check(std::size_t s) {
    const Assignment& own = *assignment(s);
    const auto left = left_iterators(own);
    for (const auto& loop : def_.statements[s].loops)
      if (!contains(left, loop.iterator))
        return diagnostics_.add({.code = "TC134",
                                 .range = own.target_range,
                                 .message = str("the index '", loop.iterator, "' of the loop is not on the left"),
                                 .note = "an iteration of a loop writes elements of its own",
                                 .help = str("give '", own.target, "' a dimension for it: ", own.target, "(",
                                             loop.iterator, left.empty() ? "" : ", ...", ") = ...")});
    for_each_read(own,
                  [&](const ExprPtr& e, const Access& read, const auto& guards) { check_read(s, e, read, guards); });
    check_guards(own);
  }

  /// Indices are checked before the loop runs, where the conditions around them hold; so these may not read tensors that the loop computes.
  void check_guards(const Assignment& own) {
    bool has_indices = false;
    for_each_read(own, [&](const ExprPtr&, const Access& read, const auto&) {
      for (const auto& subscript : read.subscripts) has_indices = has_indices || !tensors_read(subscript, own).empty();
    });
    if (!has_indices) return;
    for_each_expr(own.rhs, [&](const ExprPtr& e) {
      const auto* select = std::get_if<Select>(&e->node);
      const auto* pair = std::get_if<Binary>(&e->node);
      const bool is_lazy = pair && (pair->op == BinaryOp::And || pair->op == BinaryOp::Or);
      const ExprPtr condition = select ? select->condition : is_lazy ? pair->left : nullptr;
      if (!condition) return;
      const auto names = tensors_read(condition, own);
      const auto computed = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return def_.tensors.at(name).role != Role::Input;
      });
      if (computed == names.end()) return;
      diagnostics_.add({.code = "TC136",
                        .range = condition->range,
                        .message = str("a condition beside a subscript that is read from a tensor reads '", *computed,
                                       "', which is no parameter"),
                        .note = "indices are checked before a loop runs",
                        .help = "compute what the subscript finds in a statement before the loop"});
    });
  }

  /// The tensors that \p expr, of \p own, reads, by its lets too.
  static std::vector<std::string> tensors_read(const ExprPtr& expr, const Assignment& own) {
    std::vector<std::string> names;
    for_each_expr(expr, [&](const ExprPtr& e) {
      if (const auto* access = std::get_if<Access>(&e->node)) names.push_back(access->tensor);
      const auto* name = std::get_if<Name>(&e->node);
      if (!name || name->kind != Name::Kind::Let) return;
      for (const auto& clause : own.clauses)
        if (const auto* let = std::get_if<LetClause>(&clause.node); let && let->name == name->id) {
          const auto inner = tensors_read(let->value, own);
          names.insert(names.end(), inner.begin(), inner.end());
        }
    });
    return names;
  }

  template <typename F>
  static void for_each_read(const Assignment& own, F&& visit) {
    std::vector<ExprPtr> guards, none;
    for (const auto& clause : own.clauses)
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) {
        const ExprPtr index = make_expr(Name{range->index, Name::Kind::Iterator}, clause.range, DType::Int64);
        guards.push_back(make_expr(Binary{BinaryOp::Lt, index, range->high}, clause.range, DType::Bool));
      }
    for_each_guarded(own.rhs, guards, visit);
    for (const auto& clause : own.clauses) {
      if (const auto* let = std::get_if<LetClause>(&clause.node)) for_each_guarded(let->value, guards, visit);
      if (const auto* exists = std::get_if<ExistsClause>(&clause.node)) for_each_guarded(exists->value, none, visit);
    }
  }

  void check_read(std::size_t s, const ExprPtr& e, const Access& read, const std::vector<ExprPtr>& guards) {
    for (const auto& subscript : read.subscripts) check_index(e, subscript, *assignment(s));
    const bool exists_own = read.tensor == assignment(s)->target && assignment(s)->reduction;
    for (std::size_t w = 0; w < def_.statements.size(); ++w) {
      const Assignment* writer = assignment(w);
      const std::size_t common = common_loops(def_.statements[s], def_.statements[w]);
      if (!writer || writer->target != read.tensor || common == 0) continue;
      if (exists_own && w == s && is_scattered(*assignment(s), e)) continue;
      const Step step = step_between(s, w, read, common, guards);
      if (!is_there(s, w, read, step)) return report_ahead(e, read, s, w, step);
      if (step == Step::Earlier && w > s && !is_known(s, read.tensor)) return report_undeclared(e, read);
    }
  }

  /// Is \p e an element in `exists`, that of a scatter?
  static bool is_scattered(const Assignment& own, const ExprPtr& e) {
    return std::any_of(own.clauses.begin(), own.clauses.end(), [&](const Clause& clause) {
      const auto* exists = std::get_if<ExistsClause>(&clause.node);
      return exists && exists->value == e;
    });
  }

  /// How far \p read of statement \p s is from the element that statement \p w writes in the same iteration, by the outermost of their
  /// \p common loops that tells.
  Step step_between(std::size_t s, std::size_t w, const Access& read, std::size_t common,
                    const std::vector<ExprPtr>& guards) const {
    const auto left = left_iterators(*assignment(w));
    for (std::size_t k = 0; k < common; ++k) {
      const auto at = std::find(left.begin(), left.end(), def_.statements[w].loops[k].iterator);
      const auto dimension = static_cast<std::size_t>(at - left.begin());
      if (at == left.end() || dimension >= read.subscripts.size()) return Step::Any;
      const ExprPtr& subscript = read.subscripts[dimension];
      const std::string& iterator = def_.statements[s].loops[k].iterator;
      const bool is_less = std::any_of(guards.begin(), guards.end(),
                                       [&](const ExprPtr& guard) { return says_less(guard, subscript, iterator); });
      const Step step = is_less ? Step::Earlier : step_of(subscript, iterator);
      if (step != Step::Same) return step;
    }
    return Step::Same;
  }

  /// Is the element of statement \p w that \p read asks for there when statement \p s runs, and does s leave it until then?
  bool is_there(std::size_t s, std::size_t w, const Access& read, Step step) const {
    if (step == Step::Earlier) return true;
    const bool before = is_given_before_loop(s, read.tensor);
    if (step == Step::Later) return before;
    if (step == Step::Any) return before && w != s;
    if (w != s) return w < s || before || is_given_in_iteration(s, read.tensor);
    return !assignment(s)->reduction && equal(read.subscripts, assignment(s)->subscripts) &&
           (before || is_given_in_iteration(s, read.tensor));
  }

  bool is_given_before_loop(std::size_t s, const std::string& tensor) const {
    if (def_.tensors.at(tensor).role == Role::InOut) return true;
    return std::any_of(
        def_.statements.begin(), def_.statements.begin() + static_cast<std::ptrdiff_t>(s), [&](const Statement& w) {
          const auto* call = std::get_if<CallStatement>(&w.node);
          const bool writes = call ? contains(call->results, tensor) : std::get<Assignment>(w.node).target == tensor;
          return writes && common_loops(w, def_.statements[s]) == 0;
        });
  }

  /// Does a statement before \p s in the same iteration write \p tensor?
  bool is_given_in_iteration(std::size_t s, const std::string& tensor) const {
    for (std::size_t w = 0; w < s; ++w)
      if (def_.statements[w].loops == def_.statements[s].loops && assignment(w) && assignment(w)->target == tensor)
        return true;
    return false;
  }

  /// Are the sizes of \p tensor known where statement \p s reads it?
  bool is_known(std::size_t s, const std::string& tensor) const {
    if (is_given_before_loop(s, tensor) || is_given_in_iteration(s, tensor)) return true;
    return std::any_of(def_.returns.begin(), def_.returns.end(),
                       [&](const TensorDecl& decl) { return decl.name == tensor && decl.dims; });
  }

  /// Indices that are read from tensors are checked before the loop runs.
  void check_index(const ExprPtr& e, const ExprPtr& subscript, const Assignment& own) {
    for (const auto& tensor : tensors_read(subscript, own)) {
      if (def_.tensors.at(tensor).role == Role::Input) continue;
      diagnostics_.add({.code = "TC136",
                        .range = e->range,
                        .message = str("'", tensor, "', which a subscript in a loop reads, is no parameter"),
                        .note = "indices are checked before a loop runs",
                        .help = "make the tensor of indices a parameter"});
    }
  }

  void report_ahead(const ExprPtr& e, const Access& read, std::size_t s, std::size_t w, Step step) {
    const bool is_own = s == w && step == Step::Same;
    const std::string& iterator = def_.statements[s].loops[0].iterator;
    diagnostics_.add(
        {.code = "TC136",
         .range = e->range,
         .message = is_own ? str("'", print(e), "' is written by the same statement in the same iteration")
                           : str("'", print(e), "' is not known to be written before it is read"),
         .also = {{assignment(w)->target_range, str("'", read.tensor, "' is written here")}},
         .note = "a loop runs its iterations in order, and each statement reads before it writes",
         .help = str("read an earlier iteration: at a constant distance, ", read.tensor, "(", iterator,
                     "-1), or any under a "
                     "condition, j < ",
                     iterator, " ? ", read.tensor, "(j) : 0; or assign the whole tensor before the loop")});
  }

  void report_undeclared(const ExprPtr& e, const Access& read) {
    diagnostics_.add(
        {.code = "TC137",
         .range = e->range,
         .message = str("'", read.tensor, "' is read in a loop before the statement that gives it its sizes"),
         .help = how_to_declare(read.tensor, static_cast<std::size_t>(def_.tensors.at(read.tensor).rank))});
  }

  const Def& def_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::string how_to_declare(const std::string& tensor, std::size_t rank) {
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < rank; ++d) sizes.push_back(d == 0 ? "T" : d == 1 ? "N" : str("N", d));
  return str("make it a return with type and sizes, -> (float(", join(sizes, ","), ") ", tensor,
             "), or write the statement that assigns it first");
}

void check_loops(const Def& def, Diagnostics& diagnostics) { LoopChecker(def, diagnostics).run(); }

}  // namespace tc::lang
