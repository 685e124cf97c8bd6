#include "tc/derive/search/canonical.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/proof/check.h"
#include "tc/derive/rules/rewrite.h"
#include "tc/lang/syntax/print.h"

namespace tc::derive {

namespace {

/// What the words of one scope are, tensors named by their own.
class Signature {
 public:
  Signature(const Scope& scope, const std::map<std::string, std::string>& tensors)
      : scope_(scope), tensors_(tensors), ranges_(iterator_box(scope)) {
    for (int d = 0; d < scope.dimensions(); ++d) dimensions_.push_back(describe(d));
  }

  std::string text() const {
    std::string result =
        str(scope_.type, " ", scope_.op ? std::string(spelling(*scope_.op)) : "=", " ", scope_.fill, " (");
    for (const auto& range : scope_.box) result += str(range.min, ":", range.extent, " ");
    std::vector<std::string> summed;
    for (int d : summed_dimensions(scope_)) summed.push_back(of_dimension(d));
    std::sort(summed.begin(), summed.end());
    result += str(") ", join(summed, "; "));
    for (const auto& part : scope_.cases) result += str(" | ", body(part, part.body));
    return result;
  }

  /// The left dimensions, then the summed ones by what is known of them.
  std::vector<int> order() const {
    auto result = left_dimensions(scope_), summed = summed_dimensions(scope_);
    std::stable_sort(summed.begin(), summed.end(), [&](int a, int b) { return of_dimension(a) < of_dimension(b); });
    result.insert(result.end(), summed.begin(), summed.end());
    return result;
  }

  /// What is known of a dimension but its place.
  const std::string& of_dimension(int d) const { return dimensions_[static_cast<std::size_t>(d)]; }

 private:
  std::string describe(int d) const {
    std::vector<std::string> uses;
    for (const auto& part : scope_.cases)
      for (const auto k : reads_in(part.body))
        for (std::size_t o = 0; o < part.reads[k].at.size(); ++o)
          if (depends(part.reads[k].at, static_cast<int>(o), d))
            uses.push_back(
                str(name(part.reads[k].tensor), ".", o, "*", factor(part.reads[k].at, static_cast<int>(o), d)));
    std::sort(uses.begin(), uses.end());
    const auto& range = ranges_[static_cast<std::size_t>(d)];
    return str(range.min, ":", range.extent, " ", join(uses, " "));
  }

  std::string name(const std::string& tensor) const {
    const auto found = tensors_.find(tensor);
    return found == tensors_.end() ? tensor : found->second;
  }

  /// Operands that commute are in the order of their words; of reads the left iterators count, by their places.
  std::string body(const Case& part, const lang::ExprPtr& expr) const {
    if (const auto k = read_number(expr)) {
      std::string result = name(part.reads[*k].tensor) + "[";
      for (std::size_t o = 0; o < part.reads[*k].at.size(); ++o) {
        for (int d = 0; d < scope_.left(); ++d)
          if (depends(part.reads[*k].at, static_cast<int>(o), d))
            result += str(factor(part.reads[*k].at, static_cast<int>(o), d), "x", d, " ");
        result += ",";
      }
      return result + "]";
    }
    const auto times = operator_of(expr);
    std::vector<std::string> parts;
    for (const auto& child : times.empty() ? lang::children(expr) : factors(expr, times))
      parts.push_back(body(part, child));
    if (parts.empty()) return lang::print(expr);
    if (!times.empty()) {
      std::sort(parts.begin(), parts.end());
      return str(times, "(", join(parts), ")");
    }
    const std::vector<lang::ExprPtr> blank(lang::children(expr).size(), number(0));
    return str(lang::print(lang::with_children(expr, blank)), "(", join(parts), ")");
  }

  const Scope& scope_;
  const std::map<std::string, std::string>& tensors_;
  lang::Box ranges_;
  std::vector<std::string> dimensions_;
};

/// \p scope with its dimensions in the order \p order, and tensors called by \p names.
Scope in_order(const Scope& scope, const std::vector<int>& order, const std::map<std::string, std::string>& names) {
  std::vector<int> back(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) back[static_cast<std::size_t>(order[p])] = static_cast<int>(p);
  const auto named = [&](const std::string& tensor) { return names.count(tensor) ? names.at(tensor) : tensor; };
  Scope result = scope;
  result.tensor = named(scope.tensor);
  result.iterators = dimension_names(scope.dimensions());
  const auto moved = projection(scope.cases[0].domain.ctx(), scope.dimensions(), back);
  for (auto& part : result.cases) {
    part.domain = part.domain.preimage(moved);
    for (auto& read : part.reads) read = {named(read.tensor), read.at.pullback(moved)};
  }
  return result;
}

}  // namespace

Canonical canonical(const Program& program) {
  std::map<std::string, std::string> words;
  std::vector<std::pair<std::string, ScopePtr>> all;
  std::map<ScopePtr, std::vector<int>> orders;
  for (const auto& scope : program.scopes) {
    const Signature signature(*scope, words);
    const auto text = signature.text();
    all.emplace_back(text, scope);
    orders[scope] = signature.order();
    if (!program.is_output(scope->tensor)) words[scope->tensor] = str("<", std::hash<std::string>()(text), ">");
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Canonical result;
  result.program = program;
  std::map<std::string, std::string> names;
  for (const auto& [text, scope] : all) {
    result.fingerprint += str(program.is_output(scope->tensor) ? scope->tensor : "", text, "\n");
    if (!program.is_output(scope->tensor)) names[scope->tensor] = str("<", names.size(), ">");
  }
  for (auto& scope : result.program.scopes)
    scope = std::make_shared<const Scope>(in_order(*scope, orders.at(scope), names));
  return result;
}

bool is_same(const Canonical& a, const Canonical& b) {
  if (a.fingerprint != b.fingerprint || a.program.scopes.size() != b.program.scopes.size()) return false;
  for (const auto& scope : a.program.scopes)
    if (!b.program.find(scope->tensor)) return false;
  return compare(a.program, b.program, {}).equal;
}

}  // namespace tc::derive
