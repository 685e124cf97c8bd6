#include "tc/lang/check/check.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/check/check_def.h"
#include "tc/lang/generic/instantiate.h"
#include "tc/lang/syntax/builtins.h"
#include "tc/lang/syntax/call_order.h"
#include "tc/lang/syntax/diagnostics.h"

namespace tc::lang {
namespace {

/// Checks the defs of a file, callees before their callers.
class FileChecker {
 public:
  FileChecker(const File& file, Diagnostics& diagnostics, const Cancellation& cancellation)
      : file_(file), diagnostics_(diagnostics), cancellation_(cancellation) {
    for (const auto& def : file.defs) {
      if (!index_.emplace(def.name, &def).second)
        diagnostics_.add({.code = "TC102",
                          .range = def.name_range,
                          .message = str("the function '", def.name, "' is defined twice"),
                          .also = {{index_.at(def.name)->name_range, "first defined here"}}});
      if (find_builtin(def.name))
        diagnostics_.add({.code = "TC103",
                          .range = def.name_range,
                          .message = str("'", def.name, "' is a built-in function and cannot be redefined"),
                          .help = "choose another name"});
      names_.insert(def.name);
    }
  }

  File run() {
    std::vector<CallCycle> cycles;
    const auto order = callees_first(file_.defs, cycles);
    for (const auto& cycle : cycles) report(cycle);
    for (const std::size_t i : order) check_written(file_.defs[i]);
    File result;
    result.text = file_.text;
    result.name = file_.name;
    for (const auto& def : file_.defs)
      if (const auto done = done_.find(def.name); done != done_.end()) result.add(done->second.def);
    for (const auto& [name, done] : done_)
      if (!done.def.instance_of.empty()) result.add(done.def);
    return result;
  }

 private:
  struct Done {
    Def def;
    bool good = false;
  };

  void report(const CallCycle& cycle) {
    diagnostics_.add({.code = "TC120",
                      .range = cycle.call,
                      .message = str("the function '", cycle.names.front(), "' calls itself"),
                      .note = cycle.names.size() > 2 ? str("through ", join(cycle.names, " -> "))
                                                     : "recursion is not part of the language"});
  }

  /// A generic def is checked as its usual instance.
  void check_written(const Def& def) {
    Diagnostics own(file_.text, file_.name);
    check_generic(def, own);
    diagnostics_.append(own);
    if (own.has_errors())
      done_[def.name] = {def, false};
    else
      check_once(is_generic(def) ? instantiate(def, usual_instance(def)) : def);
  }

  void check_once(const Def& def) {
    cancellation_.check("the checker");
    if (done_.count(def.name) || diagnostics_.full()) return;
    Diagnostics own(file_.text, file_.name);
    const FindDef find_def = [&](const auto& name, const auto& arguments) { return find(name, arguments); };
    Def checked = check_def(def, names_, find_def, own, cancellation_);
    diagnostics_.append(own);
    done_[def.name] = {std::move(checked), !own.has_errors()};
  }

  const Def* find(const std::string& name, const std::vector<Operand>& arguments) {
    const auto written = index_.find(name);
    if (written != index_.end() && is_generic(*written->second)) return find_instance(*written->second, arguments);
    return good(name);
  }

  const Def* good(const std::string& name) const {
    const auto done = done_.find(name);
    return done != done_.end() && done->second.good ? &done->second.def : nullptr;
  }

  /// The instance of \p def for \p arguments, made and checked by the first call that needs it.
  const Def* find_instance(const Def& def, const std::vector<Operand>& arguments) {
    const Def* usual = good(def.name);
    if (!usual || std::any_of(arguments.begin(), arguments.end(), [](const auto& given) { return !given.type; }))
      return nullptr;
    const auto instance = instance_for(def, arguments);
    if (instance == usual_instance(def)) return usual;
    auto& name = instances_[{def.name, instance}];
    if (name.empty()) {
      name = instance_name(def.name, instance);
      Def made = instantiate(def, instance);
      made.name = name;
      made.instance_of = def.name;
      check_once(made);
    }
    if (const Def* found = good(name)) return found;
    throw ArgumentError(str("'", def.name, "' has errors for ", print(instance)));
  }

  /// rmsnorm_float64_2
  std::string instance_name(const std::string& def, const Instance& instance) {
    std::string name = def;
    for (const auto& [_, type] : instance.types) name += str("_", type);
    name += str("_", instance.leading);
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  const File& file_;
  Diagnostics& diagnostics_;
  std::map<std::string, const Def*> index_;
  std::set<std::string> names_;
  const Cancellation& cancellation_;
  std::map<std::string, Done> done_;
  std::map<std::pair<std::string, Instance>, std::string> instances_;  ///< their names
};

}  // namespace

File check(const File& file, std::vector<Diagnostic>* warnings, const Cancellation& cancellation) {
  Diagnostics diagnostics(file.text, file.name);
  File result = FileChecker(file, diagnostics, cancellation).run();
  if (warnings) warnings->insert(warnings->end(), diagnostics.warnings().begin(), diagnostics.warnings().end());
  diagnostics.throw_if_errors<SemanticError>();
  return result;
}

Def check_alone(const Def& def, const File& file, const Cancellation& cancellation) {
  Diagnostics diagnostics(file.text, file.name);
  Def result = check_def(def, {def.name}, [](const auto&, const auto&) { return nullptr; }, diagnostics, cancellation);
  diagnostics.throw_if_errors<SemanticError>();
  return result;
}

Def check(const Def& def, const File& others) {
  Diagnostics diagnostics(others.text, others.name);
  std::set<std::string> names;
  for (const auto& other : others.defs)
    if (other.name != def.name) names.insert(other.name);
  const auto find = [&](const std::string& name, const auto&) { return others.find(name); };
  Def result = check_def(def, names, find, diagnostics, Cancellation());
  diagnostics.throw_if_errors<SemanticError>();
  return result;
}

}  // namespace tc::lang
