#include "tc/halide_bridge/rewrite/split_residues.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tc/base/ceil_div.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/lower/conditional.h"
#include "tc/halide_bridge/lower/linear_index.h"
#include "tc/halide_bridge/rewrite/guarded_update.h"
#include "tc/halide_bridge/rewrite/residues.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// How a dimension is split. `apart`: a statement for each remainder, in place of a loop over the remainders.
struct Split {
  std::int64_t stride = 0;
  bool apart = false;
};

/// Remainders up to this number may be apart.
constexpr std::int64_t most_apart = 3;

/// The terms that the reduction of \p residue over \p extent values has for remainder \p r.
std::int64_t terms_of(const Residue& residue, std::int64_t extent, std::size_t r) {
  const std::int64_t first = residue.matching[r];
  return first < extent ? ceil_div(extent - first, residue.stride) : 0;
}

/// \p values of \p variable from 0 on, which go up by the same number modulo \p stride, without a remainder where they have none.
Expr matching_of(const Expr& variable, const std::vector<std::int64_t>& values, std::int64_t stride) {
  const std::int64_t first = values.front(), step = values.size() > 1 ? values[1] - first : 0;
  bool is_linear = true;
  for (std::size_t r = 0; r < values.size(); ++r)
    is_linear = is_linear && values[r] == first + step * static_cast<std::int64_t>(r);
  if (is_linear) return variable * index_value(step) + index_value(first);
  return ir::Mod::make(variable * index_value(step - stride * tc::floor_div(step, stride)) + index_value(first),
                       index_value(stride));
}

/// A name that begins with \p stem and that no iterator of \p statement has.
std::string unused_iterator(const ProgramStatement& statement, const std::string& stem) {
  for (int k = 0;; ++k) {
    const std::string name = k == 0 ? stem : str(stem, k);
    if (!contains(statement.iterators, name)) return name;
  }
}

/// \p statement with \p value in the place of its iterator \p name, and iterators over \p ranges there.
ProgramStatement substituted(const ProgramStatement& statement, const std::string& name, const Expr& value,
                             const std::vector<std::pair<std::string, lang::IntegerRange>>& ranges) {
  ProgramStatement result = statement;
  const auto at = std::find(result.iterators.begin(), result.iterators.end(), name) - result.iterators.begin();
  result.iterators.erase(result.iterators.begin() + at);
  result.domain.erase(result.domain.begin() + at);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    result.iterators.insert(result.iterators.begin() + at + static_cast<std::ptrdiff_t>(i), ranges[i].first);
    result.domain.insert(result.domain.begin() + at + static_cast<std::ptrdiff_t>(i), ranges[i].second);
  }
  for (auto& subscript : result.subscripts) subscript = replaced(subscript, {{name, value}});
  if (result.value.defined()) result.value = replaced(result.value, {{name, value}});
  return result;
}

/// How the dimension that \p residue is of is split for \p statement: apart if remainders differ in how many elements or terms they have,
/// since a loop over them would have conditions in it.
Split split_of(const Residue& residue, const ProgramStatement& statement) {
  bool uneven = range_of(statement, residue.left).extent % residue.stride != 0;
  const auto extent = range_of(statement, residue.reduction).extent;
  for (std::size_t r = 1; r < residue.matching.size(); ++r)
    uneven = uneven || terms_of(residue, extent, r) != terms_of(residue, extent, 0);
  return {residue.stride, uneven && residue.stride <= most_apart};
}

/// A part of a statement whose iterator `name` is `whole * stride + rest`.
struct Piece {
  ProgramStatement statement;
  Expr rest;                ///< a number or an iterator over `remainders`
  std::int64_t remainders;  ///< how many, from `first`
  std::int64_t first = 0;
};

/// \p statement, once for each remainder of its iterator \p name, over the quotients.
std::vector<Piece> split_apart(const ProgramStatement& statement, const std::string& name, std::int64_t stride) {
  const auto range = range_of(statement, name);
  const std::string whole = unused_iterator(statement, name + "o");
  std::vector<Piece> pieces;
  for (std::int64_t r = 0; r < std::min(stride, range.extent); ++r) {
    const auto quotients = ceil_div(range.extent - r, stride);
    const Expr base = index_value(range.min + r);
    if (quotients == 1) {
      pieces.push_back({substituted(statement, name, base, {}), index_value(r), 1, r});
      continue;
    }
    const Expr value = ir::Variable::make(Halide::Int(64), whole) * index_value(stride) + base;
    pieces.push_back({substituted(statement, name, value, {{whole, {0, quotients}}}), index_value(r), 1, r});
  }
  return pieces;
}

/// \p statement over the quotients and remainders of iterator \p name, and where these do not fill its range a piece of what
/// is left over.
std::vector<Piece> split_left(const ProgramStatement& statement, const std::string& name, const Split& split) {
  const auto range = range_of(statement, name);
  const std::int64_t stride = split.stride;
  if (split.apart) return split_apart(statement, name, stride);
  const std::string whole = unused_iterator(statement, name + "o"), rest = unused_iterator(statement, name + "i");
  const Expr remainder = ir::Variable::make(Halide::Int(64), rest);
  std::vector<Piece> pieces;
  const std::int64_t quotients = range.extent / stride, left_over = range.extent % stride;
  if (quotients > 0) {
    const Expr first = ir::Variable::make(Halide::Int(64), whole) * index_value(stride) + remainder;
    const Expr value = range.min == 0 ? first : first + index_value(range.min);
    pieces.push_back(
        {substituted(statement, name, value, {{whole, {0, quotients}}, {rest, {0, stride}}}), remainder, stride});
  }
  const Expr base = index_value(range.min + quotients * stride);
  if (left_over == 1) pieces.push_back({substituted(statement, name, base, {}), index_value(0), 1});
  if (left_over > 1)
    pieces.push_back({substituted(statement, name, base + remainder, {{rest, {0, left_over}}}), remainder, left_over});
  return pieces;
}

/// \p piece with the reduction of \p residue over the quotients that its remainder leaves; nothing where there are none.
std::optional<ProgramStatement> split_reduction(const Piece& piece, const Residue& residue) {
  const auto range = range_of(piece.statement, residue.reduction);
  std::int64_t least = range.extent, most = 0;
  const auto begin = residue.matching.begin() + piece.first;
  const std::vector<std::int64_t> matching(begin, begin + piece.remainders);
  for (std::int64_t r = piece.first; r < piece.first + piece.remainders; ++r) {
    const std::int64_t count = terms_of(residue, range.extent, static_cast<std::size_t>(r));
    least = std::min(least, count);
    most = std::max(most, count);
  }
  if (most == 0) return std::nullopt;
  const std::string whole = unused_iterator(piece.statement, residue.reduction + "o");
  const Expr rest =
      ir::is_const(piece.rest) ? index_value(matching.front()) : matching_of(piece.rest, matching, residue.stride);
  Expr value = rest;
  if (most > 1) value = ir::Variable::make(Halide::Int(64), whole) * index_value(residue.stride) + rest;
  const Expr inside = ir::LT::make(value, index_value(range.extent));
  if (range.min != 0) value = value + index_value(range.min);
  auto result = substituted(piece.statement, residue.reduction, value, {{whole, {0, most}}});
  const auto update = guarded_update(result);
  if (least < most) result.value = if_then_else(inside, result.value, update->identity);
  return result;
}

/// Says subscripts of reads in few operations.
class SubscriptSimplifier : public ir::IRMutator {
 public:
  explicit SubscriptSimplifier(const LinearIndices& indices) : indices_(indices) {}

 protected:
  using ir::IRMutator::visit;
  Expr visit(const ir::Call* op) override {
    if (op->call_type != ir::Call::Halide) return ir::IRMutator::visit(op);
    std::vector<Expr> subscripts;
    for (const Expr& subscript : op->args) subscripts.push_back(indices_.simplified(mutate(subscript)));
    return element_read(op->type, op->name, subscripts);
  }

 private:
  const LinearIndices& indices_;
};

/// \p statement in few operations; nothing if it never does anything.
std::optional<ProgramStatement> simplified(ProgramStatement statement) {
  const LinearIndices indices(statement.iterators, statement.domain);
  SubscriptSimplifier reads(indices);
  for (auto& subscript : statement.subscripts) subscript = indices.simplified(reads.mutate(subscript));
  if (!statement.value.defined()) return statement;
  const auto update = guarded_update(statement);
  if (!update) {
    statement.value = reads.mutate(statement.value);
    return statement;
  }
  std::vector<Expr> conditions;
  for (const auto& condition : update->conditions) {
    const Expr simple = indices.simplified(reads.mutate(condition));
    if (ir::is_const_zero(simple)) return std::nullopt;
    if (!ir::is_const_one(simple)) conditions.push_back(simple);
  }
  const Expr value = reads.mutate(update->value);
  statement.value = conditions.empty() ? value : if_then_else(all_of(conditions), value, update->identity);
  return statement;
}

/// Dimensions of tensors that statements run through by quotients and remainders, and how.
using SplitDimensions = std::map<std::pair<std::string, std::size_t>, Split>;

/// Does \p statement compute each element from others at its own place?
bool is_pointwise(const ProgramStatement& statement) {
  return statement.kind == ProgramStatement::Kind::Assign && statement.iterators.size() == statement.subscripts.size();
}

/// How the iterator \p name of \p statement, which reads elements of \p split at it, is to be split: by 0 for not at all.
Split split_of_reads(const ProgramStatement& statement, const std::string& name, const Program& program,
                     const SplitDimensions& split) {
  Split result;
  for (const auto* read : element_reads(statement.value))
    for (std::size_t d = 0; d < read->args.size(); ++d) {
      const auto found = split.find({read->name, d});
      if (found != split.end() && is_iterator(read->args[d], name) &&
          range_of(statement, name) == program.tensor(read->name).box[d])
        result = found->second;
    }
  return result;
}

/// The statements of one launch over quotients and remainders.
class LaunchSplit {
 public:
  LaunchSplit(const Program& program, const std::vector<ProgramStatement>& statements,
              const std::set<std::string>& kept)
      : program_(program), statements_(statements), kept_(kept) {}

  std::vector<ProgramStatement> run() {
    if (std::any_of(statements_.begin(), statements_.end(), [](const auto& s) { return !s.loops.empty(); }))
      return statements_;
    for (const auto& statement : statements_) {
      residues_.push_back(residues_of(statement, program_.tensor(statement.target), kept_));
      for (const auto& residue : residues_.back()) {
        const Split split = split_of(residue, statement);
        auto& known = split_.try_emplace(std::pair(statement.target, residue.dimension), split).first->second;
        known.apart = known.apart || (split.apart && split.stride == known.stride);
      }
    }
    if (split_.empty()) return statements_;
    for (std::size_t known = 0; known != split_.size();) {
      known = split_.size();
      for (const auto& statement : statements_) spread(statement);
    }
    std::vector<ProgramStatement> result;
    for (std::size_t s = 0; s < statements_.size(); ++s) {
      auto parts = parts_of(s);
      if (begins_a_reduction(s)) {
        for (auto& part : parts_of(++s)) parts.push_back(std::move(part));
        std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.place < b.place; });
      }
      for (auto& part : parts) result.push_back(std::move(part.statement));
    }
    return result;
  }

 private:
  /// Does statement number \p s set the tensor that the next one accumulates into? Their parts then stand in pairs.
  bool begins_a_reduction(std::size_t s) const {
    return s + 1 < statements_.size() && statements_[s].kind == ProgramStatement::Kind::Init &&
           statements_[s + 1].kind == ProgramStatement::Kind::Update &&
           statements_[s].target == statements_[s + 1].target;
  }

  /// What \p statement writes element by element is split as what it reads.
  void spread(const ProgramStatement& statement) {
    if (!is_pointwise(statement)) return;
    for (const auto& name : statement.iterators) {
      const auto split = split_of_reads(statement, name, program_, split_);
      const auto dimension = written_dimension(statement, name, program_.tensor(statement.target));
      if (split.stride > 0 && dimension) split_.emplace(std::pair(statement.target, *dimension), split);
    }
  }

  /// How the iterator \p name of \p statement is split: by 0 for not at all.
  Split split_of_iterator(const ProgramStatement& statement, const std::string& name) const {
    if (kept_.count(name)) return {};
    const auto dimension = written_dimension(statement, name, program_.tensor(statement.target));
    const auto found = dimension ? split_.find({statement.target, *dimension}) : split_.end();
    return found == split_.end() ? Split{} : found->second;
  }

  /// A statement, and which piece it is along each iterator that is split.
  struct Part {
    std::vector<std::size_t> place;
    ProgramStatement statement;
  };

  std::vector<Part> parts_of(std::size_t s) const {
    std::vector<Part> made{{{}, statements_[s]}};
    for (const auto& name : statements_[s].iterators) {
      const auto split = split_of_iterator(statements_[s], name);
      if (split.stride == 0) continue;
      const auto residue =
          std::find_if(residues_[s].begin(), residues_[s].end(), [&](const Residue& one) { return one.left == name; });
      const bool solves = residue != residues_[s].end() && residue->stride == split.stride;
      std::vector<Part> parts;
      for (const auto& part : made) {
        auto place = part.place;
        place.push_back(0);
        for (auto& piece : split_left(part.statement, name, split)) {
          auto done = solves ? split_reduction(piece, *residue) : std::optional(std::move(piece.statement));
          if (done) parts.push_back({place, *std::move(done)});
          ++place.back();
        }
      }
      made = std::move(parts);
    }
    std::vector<Part> result;
    for (auto& part : made) {
      auto simple =
          part.place.empty() ? std::optional(std::move(part.statement)) : simplified(std::move(part.statement));
      if (simple) result.push_back({part.place, *std::move(simple)});
    }
    return result;
  }

  const Program& program_;
  const std::vector<ProgramStatement>& statements_;
  const std::set<std::string>& kept_;
  std::vector<std::vector<Residue>> residues_;  ///< of each statement
  SplitDimensions split_;
};

}  // namespace

Program split_residues(const Program& program, const std::set<std::string>& kept) {
  Program result = program;
  int count = 0;
  for (auto& launch : result.launches) {
    launch.statements = LaunchSplit(program, launch.statements, kept).run();
    for (auto& statement : launch.statements) statement.id = str("S", count++);
  }
  return result;
}

}  // namespace tc::halide_bridge
