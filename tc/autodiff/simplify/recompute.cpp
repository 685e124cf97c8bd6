#include <algorithm>

#include "tc/autodiff/reverse/loop_subscripts.h"
#include "tc/autodiff/simplify/backward_def.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/terms/derivatives.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// Does the value of \p expr jump where those of floats in it change a little: a comparison, a conversion to integers, `floor`?
bool jumps(const ExprPtr& expr) {
  const auto is_float_value = [](const ExprPtr& part) { return part->type && is_float(*part->type); };
  const auto parts = children(expr);
  if (std::none_of(parts.begin(), parts.end(), is_float_value)) return false;
  if (!is_float_value(expr)) return true;
  const auto* call = std::get_if<Call>(&expr->node);
  const auto derivatives = call ? partials(call->function, call->arguments, expr) : std::nullopt;
  return derivatives && derivatives->empty();
}

/// What a version that is computed again comes from, straight or not.
struct Sources {
  bool saved = false;  ///< a return that is saved
  bool again = false;  ///< what that return comes from, computed again

  void add(const Sources& other) {
    saved |= other.saved;
    again |= other.again;
  }
  bool operator==(const Sources&) const = default;
};

class Recomputer {
 public:
  Recomputer(const Reversed& reversed, const std::vector<Step>& gradients, const std::vector<std::string>& savable)
      : reversed_(reversed), gradients_(gradients), returns_(savable), savable_(savable.begin(), savable.end()) {
    for (const auto& statement : statements()) writers_[statement.target] = &statement;
  }

  Recomputation run() {
    do find_needed();
    while (drop_compared());
    if (auto lost = overwritten(); !lost.empty()) return {{}, {}, {}, std::move(lost)};
    share_names();
    for (const auto& statement : statements())
      if (needed_.count(statement.target)) add(statement);
    Recomputation result{std::move(steps_), {}, {}, {}};
    for (const auto& name : returns_)
      if (saved_.count(name)) result.saved.push_back(name);
    for (const Step& step : gradients_)
      result.gradients.push_back(map_expressions(step, [&](const ExprPtr& expr) { return named(expr); }));
    return result;
  }

 private:
  const std::vector<ForwardStatement>& statements() const { return reversed_.forward.statements; }

  void find_needed() {
    saved_.clear();
    needed_.clear();
    for (const Step& step : gradients_)
      for (const auto& read : reads_of(step)) {
        read_by_gradients_.insert(read);
        need(read);
      }
    for (std::size_t known = 0; known != needed_.size();) {
      known = needed_.size();
      for (auto statement = statements().rbegin(); statement != statements().rend(); ++statement)
        if (needed_.count(statement->target))
          for (const auto& read : reads_of(*statement)) need(read);
    }
  }

  /// The returns of which the caller's tensor is read.
  std::vector<std::string> overwritten() const {
    std::set<std::string> read = read_by_gradients_;
    for (const auto& version : needed_) read.merge(reads_of(*writers_.at(version)));
    std::vector<std::string> result;
    for (const auto& [name, version] : reversed_.forward.given)
      if (read.count(version)) result.push_back(name);
    return result;
  }

  void need(const std::string& version) {
    if (writers_.count(version)) (savable_.count(version) ? saved_ : needed_).insert(version);
  }

  /// The versions that each value reads that jumps.
  std::vector<std::set<std::string>> compared() const {
    std::vector<std::set<std::string>> result;
    const auto look = [&](const ExprPtr& value) {
      for_each_expr(value, [&](const ExprPtr& part) {
        if (jumps(part)) result.push_back(tensors_in(part));
      });
    };
    for (const Step& step : gradients_) look(value_of(step));
    for (const auto& version : needed_) look(writers_.at(version)->value);
    return result;
  }

  /// Of \p name, a return that is saved, and of each version that is computed again.
  std::map<std::string, Sources> sources_of(const std::string& name) const {
    std::set<std::string> before{name};
    for (std::size_t known = 0; known != before.size();) {
      known = before.size();
      for (auto statement = statements().rbegin(); statement != statements().rend(); ++statement)
        if (before.count(statement->target)) before.merge(reads_of(*statement));
    }
    std::map<std::string, Sources> result{{name, {.saved = true}}};
    for (bool changes = true; changes;) {
      changes = false;
      for (const auto& statement : statements()) {
        if (!needed_.count(statement.target)) continue;
        Sources own{.again = before.count(statement.target) != 0};
        for (const auto& read : reads_of(statement))
          if (const auto known = result.find(read); known != result.end()) own.add(known->second);
        Sources& known = result[statement.target];
        changes = changes || own != known;
        known.add(own);
      }
    }
    return result;
  }

  /// A value that jumps must not depend on the last bits of two kernels: a return that it reads beside what the return comes
  /// from, computed again, is computed again too. Is there one?
  bool drop_compared() {
    const auto all = saved_.empty() ? std::vector<std::set<std::string>>() : compared();
    bool dropped = false;
    for (const auto& name : all.empty() ? std::set<std::string>() : saved_) {
      const auto sources = sources_of(name);
      const bool unequal = std::any_of(all.begin(), all.end(), [&](const auto& reads) {
        Sources both;
        for (const auto& read : reads)
          if (const auto known = sources.find(read); known != sources.end()) both.add(known->second);
        return both.saved && both.again;
      });
      if (unequal) savable_.erase(name);
      dropped |= unequal;
    }
    return dropped;
  }

  /// The newest version of a tensor lends its name to older ones that only forward statements read before it is written.
  void share_names() {
    std::map<std::string, std::string> newest;
    for (auto statement = statements().rbegin(); statement != statements().rend(); ++statement) {
      const auto& version = statement->target;
      if (!needed_.count(version)) continue;
      const auto& tensor = reversed_.forward.versions.at(version).tensor;
      const auto next = newest.find(tensor);
      const bool shared = next != newest.end() && !read_by_gradients_.count(version);
      names_[version] = shared ? next->second : version;
      newest[tensor] = names_[version];
    }
  }

  /// \p expr with versions by their names, what is saved from 0.
  ExprPtr named(const ExprPtr& expr) const {
    return rebuild(expr, [&](const ExprPtr& part) -> ExprPtr {
      const auto* read = std::get_if<Access>(&part->node);
      if (!read) return part;
      Access made = *read;
      if (auto found = names_.find(read->tensor); found != names_.end()) made.tensor = found->second;
      if (saved_.count(read->tensor)) {
        const auto& box = reversed_.forward.versions.at(read->tensor).box;
        for (std::size_t d = 0; d < box.size(); ++d)
          made.subscripts[d] = to_expr(read_affine(binary(BinaryOp::Sub, made.subscripts[d], box[d].low)));
      }
      return make_expr(std::move(made), part->range, part->type);
    });
  }

  /// The value with its type written where that of the first statement would give the tensor another one.
  ExprPtr typed(const ExprPtr& value, DType type) const {
    const auto* conversion = std::get_if<Cast>(&value->node);
    const bool silent = conversion && conversion->implicit;
    return silent || has_literal_type(value) ? cast(type, written(value)) : value;
  }

  void add(const ForwardStatement& statement) {
    const Version& version = reversed_.forward.versions.at(statement.target);
    const std::string& name = names_.at(statement.target);
    if (statement.previous && names_.at(*statement.previous) != name) copy_previous(statement);
    Step step;
    step.target = name;
    step.type = version.type;
    step.left = statement.left;
    step.reduction = statement.reduction;
    step.op = statement.op;
    step.initialise = statement.initialise;
    step.value = typed(named(statement.value), version.type);
    step.place = statement.place;
    step.loops = statement.loops;
    steps_.push_back(std::move(step));
  }

  /// Gives the version that \p statement writes the elements of the previous one: in a loop those of the same iteration, and before it
  /// those that no iteration writes.
  void copy_previous(const ForwardStatement& statement) {
    Step step = copy(*statement.previous, statement);
    if (statement.loops.empty()) return steps_.push_back(std::move(step));
    std::string before = *statement.previous;
    while (in_one_loop(*writers_.at(before), statement) && writers_.at(before)->previous)
      before = *writers_.at(before)->previous;
    const bool is_in_loop = in_one_loop(*writers_.at(*statement.previous), statement);
    const auto first = std::find_if(steps_.begin(), steps_.end(), [&](const Step& known) {
      return !known.loops.empty() && known.loops[0].id == statement.loops[0].id;
    });
    if (!in_one_loop(*writers_.at(before), statement)) steps_.insert(first, copy(before, statement));
    if (!is_in_loop) return;
    step.loops = statement.loops;
    for (const auto& loop : statement.loops)
      for (std::size_t d = 0; d < step.left.size(); ++d)
        if (step.left[d].name == loop.iterator) step.left[d] = statement.left[d];
    steps_.push_back(std::move(step));
  }

  /// The elements of the version \p from as those of the version that \p statement writes.
  Step copy(const std::string& from, const ForwardStatement& statement) const {
    const Version& version = reversed_.forward.versions.at(statement.target);
    Step step;
    step.target = names_.at(statement.target);
    step.type = version.type;
    step.left = version.box;
    std::vector<std::string> iterators;
    for (std::size_t d = 0; d < step.left.size(); ++d) {
      step.left[d].name = statement.left[d].name;
      iterators.push_back(step.left[d].name);
    }
    step.value = access_at(names_.at(from), iterators, version.type);
    step.place = statement.place;
    return step;
  }

  const Reversed& reversed_;
  const std::vector<Step>& gradients_;
  const std::vector<std::string>& returns_;
  std::map<std::string, const ForwardStatement*> writers_;
  std::set<std::string> savable_, saved_, needed_, read_by_gradients_;
  std::map<std::string, std::string> names_;
  std::vector<Step> steps_;
};

}  // namespace

Recomputation recompute(const Reversed& reversed, const std::vector<Step>& gradients,
                        const std::vector<std::string>& savable) {
  return Recomputer(reversed, gradients, savable).run();
}

}  // namespace tc::autodiff
