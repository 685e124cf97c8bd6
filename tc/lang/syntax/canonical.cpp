#include <map>
#include <set>
#include <vector>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"

namespace tc::lang {
namespace {

/// Renames a def in the order of its printed text. Names of tensors and sizes live in the whole def, those of
/// indices and lets in one statement, of the index of a loop in all of the loop.
class Renamer {
 public:
  Def run(const Def& def) {
    collect(def);
    Def result = def;
    result.name = rename(def.name);
    for (auto& decl : result.params) rename(decl);
    for (auto& decl : result.returns) rename(decl);
    for (auto& statement : result.statements) {
      local_.clear();
      for (const auto& loop : statement.loops)
        if (const auto known = loops_.find(loop.id); known != loops_.end()) local_[loop.iterator] = known->second;
      for (auto& loop : statement.loops) {
        loop.iterator = rename(loop.iterator);
        loops_[loop.id] = loop.iterator;
      }
      std::visit([&](auto& node) { rename(node); }, statement.node);
    }
    return result;
  }

  /// All names given by run().
  const std::map<std::string, std::vector<std::string>>& given() const { return given_; }

 private:
  void collect(const Def& def) {
    global_names_.insert(def.name);
    for (const auto* list : {&def.params, &def.returns})
      for (const auto& decl : *list) {
        global_names_.insert(decl.name);
        for (const auto& dim : decl.dims.value_or(std::vector<ExprPtr>{}))
          for_each_expr(dim, [&](const ExprPtr& e) {
            if (const auto* name = std::get_if<Name>(&e->node)) global_names_.insert(name->id);
          });
      }
    for (const auto& statement : def.statements) {
      if (const auto* assignment = std::get_if<Assignment>(&statement.node)) {
        global_names_.insert(assignment->target);
      } else {
        const auto& call = std::get<CallStatement>(statement.node);
        global_names_.insert(call.results.begin(), call.results.end());
        global_names_.insert(call.arguments.begin(), call.arguments.end());
      }
    }
  }

  std::string rename(const std::string& id) {
    auto& names = global_names_.count(id) ? global_ : local_;
    const auto [entry, is_new] = names.emplace(id, "");
    if (is_new) {
      entry->second = str("i", count_++);
      given_[id].push_back(entry->second);
    }
    return entry->second;
  }

  void rename(TensorDecl& decl) {
    if (decl.dims)
      for (auto& dim : *decl.dims) dim = rename(dim);
    decl.name = rename(decl.name);
  }

  void rename(Assignment& x) {
    x.target = rename(x.target);
    x.bare = x.subscripts.empty();
    for (auto& subscript : x.subscripts) subscript = rename(subscript);
    x.rhs = rename(x.rhs);
    for (auto& clause : x.clauses)
      std::visit(overloaded{
                     [&](RangeClause& c) {
                       c.index = rename(c.index);
                       c.low = rename(c.low);
                       c.high = rename(c.high);
                     },
                     [&](LetClause& c) {
                       c.name = rename(c.name);
                       c.value = rename(c.value);
                     },
                     [&](ExistsClause& c) { c.value = rename(c.value); },
                 },
                 clause.node);
  }

  /// The callee keeps its name: it says which function runs.
  void rename(CallStatement& x) {
    for (auto& name : x.results) name = rename(name);
    for (auto& name : x.arguments) name = rename(name);
  }

  ExprPtr rename(const ExprPtr& expr) {
    Expr copy = *expr;
    if (auto* name = std::get_if<Name>(&copy.node)) name->id = rename(name->id);
    if (auto* size = std::get_if<SizeOf>(&copy.node)) size->tensor = rename(size->tensor);
    if (auto* access = std::get_if<Access>(&copy.node)) {
      access->tensor = rename(access->tensor);
      access->bare = access->subscripts.empty();
    }
    auto parts = children(expr);
    for (auto& part : parts) part = rename(part);
    return with_children(std::make_shared<const Expr>(std::move(copy)), parts);
  }

  std::set<std::string> global_names_;
  std::map<std::string, std::string> global_, local_;
  std::map<int, std::string> loops_;  ///< their iterators
  std::map<std::string, std::vector<std::string>> given_;
  int count_ = 0;
};

}  // namespace

std::string canonical_text(const Def& def) {
  const std::string text = print(Renamer().run(def));
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n')
      out += out.back() == '{' || i + 1 >= text.size() || text[i + 1] == '}' ? " " : ";";
    else if (text[i] != ' ' || out.empty() || out.back() != ' ')
      out += text[i];
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::map<std::string, std::vector<std::string>> canonical_names(const Def& def) {
  Renamer renamer;
  renamer.run(def);
  return renamer.given();
}

}  // namespace tc::lang
