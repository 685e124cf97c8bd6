#include "tc/autodiff/forward/forward.h"

#include <algorithm>

#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::autodiff {

using namespace lang;

FreshNames::FreshNames(const Def& def) {
  taken_.insert(def.name);
  for (const auto& [name, info] : def.tensors) taken_.insert(name);
  for (const auto& size : def.sizes) taken_.insert(size);
  for (const auto& statement : def.statements) {
    const auto& assignment = std::get<Assignment>(statement.node);
    for (const auto& name : left_iterators(assignment)) take_iterator(name);
    for (const auto& name : assignment.reduction_iterators) take_iterator(name);
  }
  for (const auto& builtin : builtins()) taken_.insert(std::string(builtin.name));
  for (const char* word :
       {"def", "where", "in", "exists", "true", "false", "inf", "pi", "float", "double", "half", "int", "byte"})
    taken_.insert(word);
}

std::string FreshNames::take(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; iterators_.count(name) || !taken_.insert(name).second; ++i) name = str(wanted, "_", i);
  return name;
}

std::string FreshNames::iterator(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; taken_.count(name); ++i) name = str(wanted, "_", i);
  take_iterator(name);
  return name;
}

namespace {

ExprPtr normal(const ExprPtr& expr) { return to_expr(read_affine(expr)); }

IteratorRange range_of(const std::string& name, const Range& range) {
  Affine high = read_affine(range.min);
  high.add(read_affine(range.extent));
  return {name, normal(range.min), to_expr(high)};
}

bool same_range(const IteratorRange& a, const IteratorRange& b) {
  return read_affine(a.low) == read_affine(b.low) && read_affine(a.high) == read_affine(b.high);
}

/// Makes versions statement by statement.
class Versions {
 public:
  Versions(const InlinedDef& function, FreshNames& names, const MixedRead& mixed)
      : function_(function), names_(names), mixed_(mixed) {}

  Forward run() {
    for (const auto& param : function_.def.params) take_parameter(param);
    for (const auto& decl : function_.def.returns)
      if (function_.def.tensors.at(decl.name).role == Role::InOut) take_given(decl.name);
    for (std::size_t i = 0; i < statements().size(); ++i) ++writes_[assignment(i).target];
    for (std::size_t i = 0; i < statements().size(); ++i) written_.push_back(next_version(assignment(i).target));
    for (std::size_t i = 0; i < statements().size(); ++i) take(i);
    return std::move(forward_);
  }

 private:
  const std::vector<Statement>& statements() const { return function_.def.statements; }
  const Assignment& assignment(std::size_t i) const { return std::get<Assignment>(statements()[i].node); }

  void take_parameter(const TensorDecl& param) {
    forward_.versions[param.name] = version_of(param.name);
    current_[param.name] = param.name;
    for (const auto& dim : param.dims.value_or(std::vector<ExprPtr>{})) forward_.sizes.push_back(normal(dim));
  }

  /// The tensor that the caller gives for the return \p name.
  void take_given(const std::string& name) {
    const std::string version = names_.take(str(name, "_old"));
    forward_.versions[version] = version_of(name);
    forward_.versions[version].tensor = version;
    forward_.given[name] = current_[name] = version;
  }

  Version version_of(const std::string& tensor) const {
    Version version{tensor, function_.def.tensors.at(tensor).type, {}};
    for (const Range& range : function_.ranges.tensors.at(tensor)) version.box.push_back(range_of("", range));
    return version;
  }

  /// Does \p statement join its value to what is there by an operator that is written as a statement of its own?
  static bool splits(const Assignment& statement, DType type) {
    return statement.reduction && !statement.initialise && *statement.reduction != ReductionOp::Sum && is_float(type);
  }

  std::string next_version(const std::string& tensor) {
    const std::string name = --writes_[tensor] == 0 ? tensor : names_.take(str(tensor, "_", ++made_[tensor]));
    forward_.versions[name] = version_of(tensor);
    return name;
  }

  /// The statements of loop \p id that write \p tensor, in order.
  std::vector<std::size_t> writers_in(int id, std::size_t depth, const std::string& tensor) const {
    std::vector<std::size_t> writers;
    for (std::size_t w = 0; w < statements().size(); ++w) {
      const auto& loops = statements()[w].loops;
      if (loops.size() > depth && loops[depth].id == id && assignment(w).target == tensor) writers.push_back(w);
    }
    return writers;
  }

  /// The version of \p tensor before the loop \p id at \p depth.
  std::string version_before(int id, std::size_t depth, const std::string& tensor) const {
    const auto given = forward_.given.find(tensor);
    std::string version = given == forward_.given.end() ? tensor : given->second;
    for (std::size_t w = 0; w < statements().size(); ++w) {
      const auto& loops = statements()[w].loops;
      if (loops.size() > depth && loops[depth].id == id) break;
      if (assignment(w).target == tensor) version = written_[w];
    }
    return version;
  }

  /// The version that \p read of statement \p s is of.
  std::string version_read(std::size_t s, const Access& read, SourceRange place) const {
    const auto& loops = statements()[s].loops;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      const auto writers = writers_in(loops[k].id, k, read.tensor);
      if (writers.empty()) break;
      std::set<std::size_t> dimensions;
      for (const std::size_t w : writers) dimensions.insert(dimension_of(w, k));
      Affine distance = read_affine(read.subscripts[*dimensions.begin()]);
      distance.add(read_affine(index_name(loops[k].iterator)), -1);
      if (dimensions.size() > 1 || !distance.is_constant()) {
        mixed_(read.tensor, place);
        break;
      }
      if (distance.constant < 0) return written_[writers.back()];
      if (distance.constant > 0) return version_before(loops[k].id, k, read.tensor);
    }
    const auto found = current_.find(read.tensor);
    return found == current_.end() ? read.tensor : found->second;
  }

  /// The dimension that the index of loop \p depth subscripts on the left of statement \p w.
  std::size_t dimension_of(std::size_t w, std::size_t depth) const {
    const auto left = left_iterators(assignment(w));
    const auto place = std::find(left.begin(), left.end(), statements()[w].loops[depth].iterator);
    return static_cast<std::size_t>(place - left.begin());
  }

  ExprPtr resolved(std::size_t s, const ExprPtr& expr) const {
    const ExprPtr sizes = rebuild(expr, [&](const ExprPtr& part) {
      const auto* size = std::get_if<SizeOf>(&part->node);
      if (!size) return part;
      const auto& range = function_.ranges.tensors.at(size->tensor).at(static_cast<std::size_t>(size->dimension));
      return normal(range.extent);
    });
    return normalised(rebuild(sizes, [&](const ExprPtr& part) {
      const auto* read = std::get_if<Access>(&part->node);
      if (!read) return part;
      Access made = *read;
      made.tensor = version_read(s, *read, part->range);
      return make_expr(std::move(made), part->range, part->type);
    }));
  }

  ForwardStatement statement_of(std::size_t s) const {
    const Assignment& assignment = this->assignment(s);
    const auto& ranges = function_.ranges.statements[s];
    ForwardStatement made;
    made.loops = statements()[s].loops;
    for (const auto& name : left_iterators(assignment)) made.left.push_back(range_of(name, ranges.at(name)));
    for (const auto& [name, range] : ranges) {
      const bool left = std::any_of(made.left.begin(), made.left.end(), [&](const auto& r) { return r.name == name; });
      const auto& known = assignment.reduction_iterators;
      if (!left && std::find(known.begin(), known.end(), name) == known.end())
        made.reduction.push_back(range_of(name, range));
    }
    for (const auto& name : assignment.reduction_iterators) made.reduction.push_back(range_of(name, ranges.at(name)));
    made.op = assignment.reduction;
    made.initialise = assignment.initialise;
    made.value = resolved(s, assignment.rhs);
    made.place = assignment.target_range;
    const auto box = version_of(assignment.target).box;
    for (std::size_t d = 0; d < box.size(); ++d) made.whole = made.whole && same_range(made.left[d], box[d]);
    return made;
  }

  void take(std::size_t s) {
    const Assignment& assignment = this->assignment(s);
    ForwardStatement statement = statement_of(s);
    std::vector<LoopDimension> loops;
    for (std::size_t k = 0; k < statement.loops.size(); ++k)
      loops.push_back({statement.loops[k].id, dimension_of(s, k)});
    const DType type = function_.def.tensors.at(assignment.target).type;
    if (splits(assignment, type)) split(assignment.target, statement, type, loops);
    const auto before = current_.find(assignment.target);
    const bool keeps = !statement.whole || (statement.op && !statement.initialise);
    if (keeps && before != current_.end()) statement.previous = before->second;
    statement.target = written_[s];
    forward_.versions.at(statement.target).loops = loops;
    current_[assignment.target] = statement.target;
    forward_.statements.push_back(std::move(statement));
  }

  /// Writes the reduction to a tensor of its own; \p statement becomes the joining of the two.
  void split(const std::string& tensor, ForwardStatement& statement, DType type,
             const std::vector<LoopDimension>& loops) {
    static const auto& joins =
        *new std::map<ReductionOp, const char*>{{ReductionOp::Min, "min"}, {ReductionOp::Max, "max"}};
    ForwardStatement reduction = statement;
    reduction.initialise = reduction.whole = true;
    reduction.target = names_.take(str(tensor, "_part"));
    forward_.versions[reduction.target] = {reduction.target, type, statement.left, loops};
    std::vector<std::string> left;
    for (const auto& range : statement.left) left.push_back(range.name);
    const ExprPtr old = access_at(current_.at(tensor), left, type), part = access_at(reduction.target, left, type);
    statement.value = *statement.op == ReductionOp::Product ? binary(BinaryOp::Mul, old, part)
                                                            : call(joins.at(*statement.op), {old, part});
    statement.op.reset();
    statement.reduction.clear();
    forward_.statements.push_back(std::move(reduction));
  }

  const InlinedDef& function_;
  FreshNames& names_;
  const MixedRead& mixed_;
  Forward forward_;
  std::map<std::string, int> writes_, made_;
  std::vector<std::string> written_;            ///< the version that each statement writes
  std::map<std::string, std::string> current_;  ///< by tensor, the version that the statement at hand finds
};

}  // namespace

Forward in_versions(const InlinedDef& function, FreshNames& names, const MixedRead& mixed) {
  return Versions(function, names, mixed).run();
}

std::set<std::string> reads_of(const ForwardStatement& statement) {
  std::set<std::string> reads = tensors_in(statement.value);
  if (statement.previous) reads.insert(*statement.previous);
  return reads;
}

}  // namespace tc::autodiff
