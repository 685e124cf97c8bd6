#include "tc/autodiff/batch.h"

#include <algorithm>
#include <set>

#include "tc/autodiff/forward/forward.h"
#include "tc/autodiff/terms/expressions.h"
#include "tc/autodiff/understood.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// The expressions of \p clause, each as \p change makes it.
template <typename F>
Clause changed_clause(Clause clause, F&& change) {
  if (auto* range = std::get_if<RangeClause>(&clause.node)) {
    range->low = change(range->low);
    range->high = change(range->high);
  } else if (auto* let = std::get_if<LetClause>(&clause.node)) {
    let->value = change(let->value);
  } else {
    auto& exists = std::get<ExistsClause>(clause.node);
    exists.value = change(exists.value);
  }
  return clause;
}

std::set<std::string> tensors_read(const Assignment& statement) {
  std::set<std::string> read = tensors_in(statement.rhs);
  for (const Clause& clause : statement.clauses)
    changed_clause(clause, [&](const ExprPtr& expr) {
      read.merge(tensors_in(expr));
      return expr;
    });
  return read;
}

class Batching {
 public:
  Batching(const InlinedDef& function, const std::map<std::string, int>& places) : function_(function.def) {
    for (const TensorDecl& param : function_.params)
      if (places.count(param.name)) places_[param.name] = places.at(param.name);
    if (places_.empty()) throw ArgumentError(str("no parameter of '", function_.name, "' has a batch"));
    follow_dependences(places);
    for (auto& [name, place] : places_) {
      const int rank = function_.tensors.at(name).rank;
      if (place < -rank - 1 || place > rank)
        throw ArgumentError(str("the batch cannot be dimension ", place, " of '", name, "', which has ", rank,
                                " dimensions of its own"));
      if (place < 0) place += rank + 1;
    }
  }

  Batched run();

 private:
  /// All versions of a tensor have the dimension, or none.
  void follow_dependences(const std::map<std::string, int>& places) {
    for (bool changes = true; changes;) {
      changes = false;
      for (const Statement& statement : function_.statements) {
        const auto& assignment = std::get<Assignment>(statement.node);
        if (places_.count(assignment.target)) continue;
        const auto read = tensors_read(assignment);
        if (std::none_of(read.begin(), read.end(), [&](const auto& name) { return places_.count(name); })) continue;
        const auto wanted = places.find(assignment.target);
        places_[assignment.target] = wanted == places.end() ? 0 : wanted->second;
        changes = true;
      }
    }
  }

  void take_names();
  std::vector<ExprPtr> with_batch(const std::string& tensor, std::vector<ExprPtr> list, const ExprPtr& name) const {
    list.insert(list.begin() + places_.at(tensor), name);
    return list;
  }
  TensorDecl declared(TensorDecl decl) const;
  ExprPtr changed(const ExprPtr& expr) const;
  Assignment changed(Assignment statement) const;

  const Def& function_;
  std::map<std::string, int> places_;
  std::string name_;
  ExprPtr size_, iterator_;
};

void Batching::take_names() {
  FreshNames names(function_);
  name_ = names.take(str(function_.name, "_vmap"));
  size_ = index_name(names.take("V"));
  iterator_ = index_name(names.take("v"));
}

TensorDecl Batching::declared(TensorDecl decl) const {
  if (!places_.count(decl.name)) return decl;
  const auto role = function_.tensors.at(decl.name).role;
  if (role == Role::InOut)
    throw ArgumentError(str("'", decl.name, "' of '", function_.name,
                            "' accumulates into the caller's buffer, which has no batch: call the def for each"));
  if (decl.dims || role == Role::Input)
    decl.dims = with_batch(decl.name, decl.dims.value_or(std::vector<ExprPtr>()), size_);
  return decl;
}

ExprPtr Batching::changed(const ExprPtr& expr) const {
  return rebuild(expr, [&](const ExprPtr& part) {
    if (const auto* access = std::get_if<Access>(&part->node); access && places_.count(access->tensor))
      return make_expr(Access{access->tensor, with_batch(access->tensor, access->subscripts, iterator_), false},
                       part->range, part->type);
    if (const auto* size = std::get_if<SizeOf>(&part->node);
        size && places_.count(size->tensor) && places_.at(size->tensor) <= size->dimension)
      return make_expr(SizeOf{size->tensor, size->dimension + 1}, part->range, part->type);
    return part;
  });
}

Assignment Batching::changed(Assignment statement) const {
  statement.rhs = changed(statement.rhs);
  for (Clause& clause : statement.clauses)
    clause = changed_clause(clause, [&](const ExprPtr& expr) { return changed(expr); });
  if (!places_.count(statement.target)) return statement;
  statement.subscripts = with_batch(statement.target, statement.subscripts, iterator_);
  statement.bare = false;
  auto& range = statement.clauses.emplace_back();
  range.node = RangeClause{std::get<Name>(iterator_->node).id, integer(0), size_};
  return statement;
}

Batched Batching::run() {
  take_names();
  Def def;
  def.name = name_;
  for (const TensorDecl& param : function_.params) def.params.push_back(declared(param));
  for (const TensorDecl& result : function_.returns) def.returns.push_back(declared(result));
  for (const Statement& statement : function_.statements)
    def.statements.push_back({changed(std::get<Assignment>(statement.node)), {}, statement.loops});
  Batched result{understand_briefly(def).def(), {}};
  for (const TensorDecl& decl : function_.returns)
    if (places_.count(decl.name)) result.returns.push_back(decl.name);
  return result;
}

}  // namespace

Batched batch(const InlinedDef& function, const std::map<std::string, int>& places) {
  return Batching(function, places).run();
}

}  // namespace tc::autodiff
