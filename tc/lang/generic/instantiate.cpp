#include "tc/lang/generic/instantiate.h"

#include <algorithm>
#include <set>

#include "tc/base/str.h"
#include "tc/lang/syntax/leading.h"

namespace tc::lang {
namespace {

/// The names of \p def, as parsed, for tensors, sizes, indices and lets.
class WrittenNames {
 public:
  std::set<std::string> declared;  ///< type names aside
  std::set<std::string> all;       ///< read ones too

  explicit WrittenNames(const Def& def) {
    for (const auto* decls : {&def.params, &def.returns})
      for (const auto& decl : *decls) {
        declared.insert(decl.name);
        for (const auto& dim : decl.dims.value_or(std::vector<ExprPtr>{})) declare(dim);
      }
    for (const auto& statement : def.statements) std::visit([&](const auto& node) { add(node); }, statement.node);
    all.insert(declared.begin(), declared.end());
  }

 private:
  void add(const CallStatement& call) { declared.insert(call.results.begin(), call.results.end()); }
  void add(const Assignment& assignment) {
    declared.insert(assignment.target);
    for (const auto& subscript : assignment.subscripts) declare(subscript);
    for (const auto& clause : assignment.clauses) {
      if (const auto* range = std::get_if<RangeClause>(&clause.node)) declared.insert(range->index);
      if (const auto* let = std::get_if<LetClause>(&clause.node)) declared.insert(let->name);
    }
    for_each_value(assignment, [&](const ExprPtr& expr) { read(expr); });
  }
  void declare(const ExprPtr& expr) {
    if (const auto* name = std::get_if<Name>(&expr->node)) declared.insert(name->id);
    read(expr);
  }
  void read(const ExprPtr& expr) {
    for_each_expr(expr, [&](const ExprPtr& part) {
      if (const auto* name = std::get_if<Name>(&part->node)) all.insert(name->id);
      if (const auto* access = std::get_if<Access>(&part->node)) all.insert(access->tensor);
    });
  }
};

class Instantiation {
 public:
  Instantiation(const Def& def, const Instance& instance) : def_(def), instance_(instance) {
    const auto taken = WrittenNames(def).all;
    sizes_ = names("L", taken);
    iterators_ = names("l", taken);
  }

  Def run() const {
    Def result = def_;
    for (auto* decls : {&result.params, &result.returns})
      for (auto& decl : *decls) declare(decl);
    for (auto& statement : result.statements)
      if (auto* assignment = std::get_if<Assignment>(&statement.node)) {
        assignment->subscripts = subscripts(assignment->subscripts);
        for_each_value(*assignment, [&](ExprPtr& expr) { expr = value(expr); });
      }
    return result;
  }

 private:
  /// \p base with the numbers of the leading dimensions behind it, and marks between them while a name is \p taken.
  std::vector<std::string> names(std::string base, const std::set<std::string>& taken) const {
    std::vector<std::string> result;
    for (; result.empty(); base += "_") {
      for (int i = 0; i < instance_.leading; ++i) result.push_back(str(base, i));
      if (result.empty()) return result;
      if (std::any_of(result.begin(), result.end(), [&](const auto& name) { return taken.count(name) > 0; }))
        result.clear();
    }
    return result;
  }

  void declare(TensorDecl& decl) const {
    if (!decl.type_name.empty()) decl.type = instance_.types.at(decl.type_name);
    decl.type_name.clear();
    if (!decl.dims) return;
    decl.dims = listed(*decl.dims, sizes_);
    if (decl.dims->empty()) decl.dims.reset();
  }

  static std::vector<ExprPtr> listed(const std::vector<ExprPtr>& list, const std::vector<std::string>& names) {
    std::vector<ExprPtr> result;
    for (const auto& item : list) {
      if (!is_leading(item)) {
        result.push_back(item);
        continue;
      }
      for (const auto& name : names) result.push_back(make_expr(Name{name}, item->range));
    }
    return result;
  }

  std::vector<ExprPtr> subscripts(const std::vector<ExprPtr>& given) const {
    auto result = listed(given, iterators_);
    for (auto& subscript : result) subscript = value(subscript);
    return result;
  }

  ExprPtr value(const ExprPtr& expr) const {
    if (const auto* access = std::get_if<Access>(&expr->node)) {
      const auto type = instance_.types.find(access->tensor);
      if (type != instance_.types.end() && access->subscripts.size() == 1)
        return make_expr(Cast{type->second, value(access->subscripts[0])}, expr->range);
      Access changed = *access;
      changed.subscripts = subscripts(access->subscripts);
      return make_expr(std::move(changed), expr->range);
    }
    auto parts = children(expr);
    for (auto& part : parts) part = value(part);
    return with_children(expr, parts);
  }

  const Def& def_;
  const Instance& instance_;
  std::vector<std::string> sizes_, iterators_;
};

class GenericCheck {
 public:
  GenericCheck(const Def& def, Diagnostics& diagnostics) : def_(def), diagnostics_(diagnostics) {
    for (const auto& decl : def.params) {
      if (!decl.type_name.empty()) types_.insert(decl.type_name);
      leading_ = leading_ || has_leading(decl);
    }
  }

  void run() {
    const auto declared = WrittenNames(def_).declared;
    for (const auto& decl : def_.params)
      if (declared.count(decl.type_name) && reported_.insert(decl.type_name).second)
        diagnostics_.add({.code = "TC102",
                          .range = decl.type_range,
                          .message = str("the type name '", decl.type_name, "' is the name of something else too"),
                          .help = "choose another name for the type"});
    for (const auto& decl : def_.returns) {
      if (!decl.type_name.empty() && !types_.count(decl.type_name))
        diagnostics_.add(
            {.code = "TC007",
             .range = decl.type_range,
             .message = str("no parameter has the type '", decl.type_name, "'"),
             .help = "a type name is known from the parameters; without a type, that of the values is taken"});
      if (has_leading(decl)) check_place(decl.dims->front());
    }
    for (const auto& statement : def_.statements)
      if (const auto* assignment = std::get_if<Assignment>(&statement.node)) check(*assignment);
  }

 private:
  void check(const Assignment& assignment) {
    for (const auto& subscript : assignment.subscripts)
      if (is_leading(subscript)) check_place(subscript);
    for_each_value(assignment,
                   [&](const ExprPtr& expr) { for_each_expr(expr, [&](const ExprPtr& part) { check_part(part); }); });
  }

  void check_part(const ExprPtr& part) {
    if (is_leading(part)) check_place(part);
    const auto* size = std::get_if<SizeOf>(&part->node);
    if (!size) return;
    for (const auto& decl : def_.params)
      if (decl.name == size->tensor && has_leading(decl))
        diagnostics_.add(
            {.code = "TC139",
             .range = part->range,
             .message = str("the dimensions of '", decl.name, "' have no numbers, because '...' stands for any"),
             .help = "use the name of the size, for example C of T(...,C) X"});
  }

  void check_place(const ExprPtr& place) {
    if (leading_ || !reported_.insert(leading_name).second) return;
    diagnostics_.add({.code = "TC139",
                      .range = place->range,
                      .message = "'...' stands for leading dimensions, and no parameter declares them",
                      .help = "a parameter with leading dimensions is written float(...,N) X"});
  }

  const Def& def_;
  Diagnostics& diagnostics_;
  std::set<std::string> types_, reported_;
  bool leading_ = false;
};

}  // namespace

Def instantiate(const Def& def, const Instance& instance) { return Instantiation(def, instance).run(); }

void check_generic(const Def& def, Diagnostics& diagnostics) { GenericCheck(def, diagnostics).run(); }

}  // namespace tc::lang
