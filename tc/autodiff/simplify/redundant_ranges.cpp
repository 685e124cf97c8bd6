#include <algorithm>

#include "tc/autodiff/simplify/backward_def.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/base/cancellation.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/names_in.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::autodiff {

using namespace lang;

namespace {

using StatementRanges = std::map<std::string, Range>;

bool same(const ExprPtr& a, const ExprPtr& b) { return read_affine(a) == read_affine(b); }

bool starts_at_zero(const std::vector<Range>& box) {
  return std::all_of(box.begin(), box.end(), [](const Range& range) { return same(range.min, integer(0)); });
}

/// A statement of a def as a def of its own, whose parameters are what it reads.
class AloneStatement {
 public:
  /// \p declaring: the parameter that gives each size its value.
  AloneStatement(const Def& def, const Ranges& ranges, const std::map<std::string, std::string>& declaring,
                 const Assignment& statement)
      : def_(def), ranges_(ranges), statement_(statement) {
    std::set<std::string> needed = tensors(), open = sizes_of(statement);
    const auto add_sizes_of = [&](const std::string& tensor) {
      for (const Range& range : ranges_.tensors.at(tensor)) open.merge(names_in(range.extent));
    };
    for (const auto& tensor : needed) add_sizes_of(tensor);
    add_sizes_of(statement.target);
    for (std::set<std::string> known; !open.empty();) {
      const auto name = open.extract(open.begin()).value();
      const auto found = known.insert(name).second ? declaring.find(name) : declaring.end();
      if (found != declaring.end() && needed.insert(found->second).second) add_sizes_of(found->second);
    }
    for (const auto& param : def.params)
      if (needed.erase(param.name)) parameters_.push_back(param.name);
    parameters_.insert(parameters_.end(), needed.begin(), needed.end());
  }

  /// Do the boxes of what it reads start at 0, as those of parameters do?
  bool possible() const {
    auto reads = tensors();
    if (statement_.reduction && !statement_.initialise) reads.insert(statement_.target);
    return std::all_of(reads.begin(), reads.end(),
                       [&](const std::string& tensor) { return starts_at_zero(ranges_.tensors.at(tensor)); });
  }

  /// Does inference find \p wanted without any precondition, given \p clauses only?
  bool gives(const StatementRanges& wanted, const std::vector<Clause>& clauses) const {
    Def alone;
    alone.name = "alone";
    for (const auto& tensor : parameters_) {
      alone.params.push_back(declared(tensor));
      if (tensor == statement_.target) alone.params.back().name = own_value;
    }
    const bool accumulates = statement_.reduction && !statement_.initialise;
    alone.returns = {accumulates ? declared(statement_.target) : TensorDecl{statement_.target, {}, {}, {}}};
    Assignment statement = statement_;
    statement.clauses = clauses;
    const std::string target = statement.target;
    statement = substitute(statement, {{}, {{target, own_value}}, {}});
    statement.target = target;
    alone.statements = {Statement{statement, {}}};
    try {
      const Def checked = check(alone, File{});
      const Ranges found = halide_bridge::infer_ranges(checked, "");
      return found.preconditions.empty() && equal_ranges(found.statements.front(), wanted);
    } catch (const Error&) {
      return false;
    }
  }

 private:
  /// The parameter for what the statement reads of its own target.
  static constexpr const char* own_value = "own_value_";

  std::set<std::string> tensors() const { return tensors_in(statement_.rhs); }

  /// The iterators and sizes that \p statement mentions.
  static std::set<std::string> sizes_of(const Assignment& statement) {
    std::set<std::string> names = names_in(statement.rhs);
    for (const Clause& clause : statement.clauses)
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) {
        names.merge(names_in(range->low));
        names.merge(names_in(range->high));
      }
    return names;
  }

  TensorDecl declared(const std::string& tensor) const {
    std::vector<ExprPtr> dims;
    for (const Range& range : ranges_.tensors.at(tensor)) dims.push_back(substitute(range.extent, {}));
    TensorDecl decl{tensor, def_.tensors.at(tensor).type, dims, {}};
    if (dims.empty()) decl.dims.reset();
    return decl;
  }

  static bool equal_ranges(const StatementRanges& a, const StatementRanges& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.first == y.first && same(x.second.min, y.second.min) && same(x.second.extent, y.second.extent);
    });
  }

  const Def& def_;
  const Ranges& ranges_;
  const Assignment& statement_;
  std::vector<std::string> parameters_;  ///< what the statement reads, and what gives sizes their values
};

/// The parameter of \p def that gives each size its value: the first that has it as a dimension.
std::map<std::string, std::string> declaring_parameters(const Def& def) {
  std::map<std::string, std::string> result;
  for (const TensorDecl& param : def.params)
    for (const ExprPtr& dim : param.dims.value_or(std::vector<ExprPtr>{}))
      if (const auto* name = std::get_if<Name>(&dim->node)) result.emplace(name->id, param.name);
  return result;
}

/// The iterators that are a whole subscript somewhere in \p value: what they subscript gives them a range, as a rule.
std::set<std::string> lone_iterators(const ExprPtr& value) {
  std::set<std::string> lone;
  for_each_expr(value, [&](const ExprPtr& part) {
    const auto* read = std::get_if<Access>(&part->node);
    for (const ExprPtr& subscript : read ? read->subscripts : std::vector<ExprPtr>{})
      if (const auto* name = std::get_if<Name>(&subscript->node)) lone.insert(name->id);
  });
  return lone;
}

/// \p clauses without the ranges of \p iterators.
std::vector<Clause> without(const std::vector<Clause>& clauses, const std::set<std::string>& iterators) {
  std::vector<Clause> rest = clauses;
  std::erase_if(rest, [&](const Clause& clause) {
    const auto* range = std::get_if<RangeClause>(&clause.node);
    return range && iterators.count(range->index) > 0;
  });
  return rest;
}

/// \p clauses without those that change nothing, from the first. Most often all or those of lone iterators do not, which
/// saves trying one by one.
std::vector<Clause> needed_clauses(const AloneStatement& alone, const StatementRanges& ranges,
                                   const std::vector<Clause>& clauses, const ExprPtr& value) {
  if (!alone.possible()) return clauses;
  if (alone.gives(ranges, {})) return {};
  const std::vector<Clause> others = without(clauses, lone_iterators(value));
  if (!others.empty() && others.size() < clauses.size() && alone.gives(ranges, others)) return others;
  std::vector<Clause> kept = clauses;
  for (std::size_t i = 0; i < kept.size();) {
    std::vector<Clause> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (alone.gives(ranges, fewer)) {
      kept = std::move(fewer);
    } else {
      ++i;
    }
  }
  return kept;
}

}  // namespace

Def without_redundant_ranges(const Def& def, const Ranges& ranges) {
  Def result = def;
  const auto declaring = declaring_parameters(def);
  for (std::size_t i = 0; i < result.statements.size(); ++i) {
    if (!result.statements[i].loops.empty()) continue;
    auto& statement = std::get<Assignment>(result.statements[i].node);
    check_cancelled("differentiation");
    const AloneStatement alone(def, ranges, declaring, std::get<Assignment>(def.statements[i].node));
    statement.clauses = needed_clauses(alone, ranges.statements[i], statement.clauses, statement.rhs);
  }
  return result;
}

}  // namespace tc::autodiff
