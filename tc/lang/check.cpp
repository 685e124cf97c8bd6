#include "tc/lang/check.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/lang/builtins.h"
#include "tc/lang/check_def.h"
#include "tc/lang/diagnostics.h"

namespace tc::lang {
namespace {

/// Checks the defs of a file, callees before their callers.
class FileChecker {
 public:
  FileChecker(const File& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {
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
    File result;
    result.text = file_.text;
    result.name = file_.name;
    for (const auto& def : file_.defs) {
      check_once(def);
      result.defs.push_back(done_.at(def.name).def);
    }
    return result;
  }

 private:
  struct Done {
    Def def;
    bool good = false;
  };

  void check_once(const Def& def) {
    if (done_.count(def.name)) return;
    stack_.push_back(def.name);
    Diagnostics own(file_.text, file_.name);
    Def checked = check_def(
        def, names_, [&](const std::string& name, SourceRange call) { return find(name, call); }, own);
    diagnostics_.append(own);
    done_[def.name] = {std::move(checked), !own.has_errors()};
    stack_.pop_back();
  }

  const Def* find(const std::string& name, SourceRange call) {
    const auto found = index_.find(name);
    if (found == index_.end()) return nullptr;
    const auto open = std::find(stack_.begin(), stack_.end(), name);
    if (open != stack_.end()) {
      std::vector<std::string> cycle(open, stack_.end());
      cycle.push_back(name);
      diagnostics_.add(
          {.code = "TC120",
           .range = call,
           .message = str("the function '", name, "' calls itself"),
           .note = cycle.size() > 2 ? str("through ", join(cycle, " -> ")) : "recursion is not part of the language"});
      return nullptr;
    }
    check_once(*found->second);
    const Done& done = done_.at(name);
    return done.good ? &done.def : nullptr;
  }

  const File& file_;
  Diagnostics& diagnostics_;
  std::map<std::string, const Def*> index_;
  std::set<std::string> names_;
  std::map<std::string, Done> done_;
  std::vector<std::string> stack_;
};

}  // namespace

File check(const File& file, std::vector<Diagnostic>* warnings) {
  Diagnostics diagnostics(file.text, file.name);
  File result = FileChecker(file, diagnostics).run();
  if (warnings) warnings->insert(warnings->end(), diagnostics.warnings().begin(), diagnostics.warnings().end());
  diagnostics.throw_if_errors<SemanticError>();
  return result;
}

}  // namespace tc::lang
