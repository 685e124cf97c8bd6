#include <algorithm>

#include "tc/autodiff/simplify/backward_def.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::autodiff {

using namespace lang;

namespace {

class Recomputer {
 public:
  Recomputer(const Reversed& reversed, const std::vector<Step>& gradients, const std::vector<std::string>& savable)
      : reversed_(reversed), gradients_(gradients), returns_(savable) {
    for (const auto& name : savable)
      if (!reversed.not_saved.count(name)) savable_.insert(name);
  }

  Recomputation run() {
    for (const Step& step : gradients_)
      for (const auto& read : reads_of(step)) {
        read_by_gradients_.insert(read);
        need(read);
      }
    share_names();
    for (const auto& statement : statements())
      if (needed_.count(statement.target)) add(statement);
    Recomputation result{std::move(steps_), {}, {}};
    for (const auto& name : returns_)
      if (saved_.count(name)) result.saved.push_back(name);
    for (const Step& step : gradients_)
      result.gradients.push_back(map_expressions(step, [&](const ExprPtr& expr) { return named(expr); }));
    return result;
  }

 private:
  const std::vector<ForwardStatement>& statements() const { return reversed_.forward.statements; }

  const ForwardStatement* writer(const std::string& version) const {
    for (const auto& statement : statements())
      if (statement.target == version) return &statement;
    return nullptr;
  }

  void need(const std::string& version) {
    const ForwardStatement* statement = writer(version);
    if (!statement) return;
    if (savable_.count(version)) {
      saved_.insert(version);
    } else if (needed_.insert(version).second) {
      for (const auto& read : reads_of(*statement)) need(read);
    }
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
    const bool copies = statement.previous && names_.at(*statement.previous) != name;
    if (copies) steps_.push_back(copy(statement, version));
    Step step;
    step.target = name;
    step.type = version.type;
    step.left = statement.left;
    step.reduction = statement.reduction;
    step.op = statement.op;
    step.initialise = statement.initialise;
    step.value = typed(named(statement.value), version.type);
    step.place = statement.place;
    steps_.push_back(std::move(step));
  }

  Step copy(const ForwardStatement& statement, const Version& version) const {
    Step step;
    step.target = names_.at(statement.target);
    step.type = version.type;
    step.left = version.box;
    std::vector<std::string> iterators;
    for (std::size_t d = 0; d < step.left.size(); ++d) {
      step.left[d].name = statement.left[d].name;
      iterators.push_back(step.left[d].name);
    }
    step.value = access_at(names_.at(*statement.previous), iterators, version.type);
    step.place = statement.place;
    return step;
  }

  const Reversed& reversed_;
  const std::vector<Step>& gradients_;
  const std::vector<std::string>& returns_;
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
