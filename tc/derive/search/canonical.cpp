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

  /// The body of \p part with operands that commute in the order of their words.
  lang::ExprPtr sorted(const Case& part, const lang::ExprPtr& expr) const {
    const auto times = operator_of(expr);
    auto operands = times.empty() ? lang::children(expr) : factors(expr, times);
    if (operands.empty()) return expr;
    for (auto& operand : operands) operand = sorted(part, operand);
    if (times.empty()) return lang::with_children(expr, operands);
    std::vector<std::pair<std::string, lang::ExprPtr>> words;
    for (const auto& operand : operands) words.emplace_back(words_of(part, operand), operand);
    std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t o = 0; o < operands.size(); ++o) operands[o] = words[o].second;
    return product(operands, times);
  }

 private:
  /// The words of an operand, of a read those of its summed dimensions too.
  std::string words_of(const Case& part, const lang::ExprPtr& expr) const {
    auto result = body(part, expr);
    const auto k = read_number(expr);
    for (int d = scope_.left(); k && d < scope_.dimensions(); ++d)
      for (std::size_t o = 0; o < part.reads[*k].at.size(); ++o)
        if (depends(part.reads[*k].at, static_cast<int>(o), d)) result += str(" ", o, of_dimension(d));
    return result;
  }

  std::string describe(int d) const {
    std::vector<std::string> uses;
    for (const auto& part : scope_.cases)
      for (const auto k : reads_in(part.body))
        for (std::size_t o = 0; o < part.reads[k].at.size(); ++o)
          if (depends(part.reads[k].at, static_cast<int>(o), d))
            uses.push_back(
                str(name(part.reads[k].tensor), ".", o, "*", word_of_factor(part.reads[k].at, static_cast<int>(o), d)));
    std::sort(uses.begin(), uses.end());
    const auto& range = ranges_[static_cast<std::size_t>(d)];
    return str(range.min, ":", range.extent, " ", join(uses, " "));
  }

  /// The factor of \p d, on which the function depends; one that divides has several: (h - r)/2 = (h + r)/2 - r.
  static std::string word_of_factor(const isl::multi_aff& at, int output, int d) {
    const auto own = factor(at, output, d);
    return own == 0 || at.at(output).involves_locals() ? "/" : str(own);
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
            result += str(word_of_factor(part.reads[*k].at, static_cast<int>(o), d), "x", d, " ");
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

/// \p scope with its dimensions in the order \p order, bodies \p bodies and tensors called by \p names.
Scope in_order(const Scope& scope, const std::vector<int>& order, const std::vector<lang::ExprPtr>& bodies,
               const std::map<std::string, std::string>& names) {
  std::vector<int> back(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) back[static_cast<std::size_t>(order[p])] = static_cast<int>(p);
  const auto named = [&](const std::string& tensor) { return names.count(tensor) ? names.at(tensor) : tensor; };
  Scope result = scope;
  result.tensor = named(scope.tensor);
  result.iterators = dimension_names(scope.dimensions());
  const auto moved = projection(scope.cases[0].domain.ctx(), scope.dimensions(), back);
  for (std::size_t c = 0; c < result.cases.size(); ++c) {
    auto& part = result.cases[c];
    part.body = bodies[c];
    part = with_used_reads(part);
    part.domain = part.domain.preimage(moved);
    for (auto& read : part.reads) read = {named(read.tensor), read.at.pullback(moved)};
  }
  return result;
}

/// Are two cases the same, word by word? Nothing: their words are other ones, and may say the same.
std::optional<bool> is_same_case(const Case& a, const Case& b) {
  if (polyhedral::dimensions(a.domain) != polyhedral::dimensions(b.domain)) return false;
  const bool same = isl_set_plain_is_equal(a.domain.get(), b.domain.get()) == isl_bool_true;
  if (!same && !a.domain.is_equal(b.domain)) return false;
  if (!lang::equal(a.body, b.body) || a.reads.size() != b.reads.size()) return std::nullopt;
  for (std::size_t k = 0; k < a.reads.size(); ++k)
    if (a.reads[k].tensor != b.reads[k].tensor || !a.reads[k].at.plain_is_equal(b.reads[k].at)) return std::nullopt;
  return true;
}

/// The same of scopes of one tensor.
std::optional<bool> is_same_scope(const Scope& a, const Scope& b) {
  if (a.op != b.op || a.type != b.type || a.box != b.box || a.fill != b.fill || a.cases.size() != b.cases.size())
    return false;
  if (a.cases.size() == 1) return is_same_case(a.cases[0], b.cases[0]);
  for (std::size_t c = 0; c < a.cases.size(); ++c)
    if (is_same_case(a.cases[c], b.cases[c]) != true) return std::nullopt;
  return true;
}

}  // namespace

namespace {

/// \p scope with reads that depend on no iterator of one value.
ScopePtr without_single_values(const ScopePtr& scope) {
  const auto ranges = iterator_box(*scope);
  const auto is_single = [](const lang::IntegerRange& range) { return range.extent == 1; };
  if (std::none_of(ranges.begin(), ranges.end(), is_single)) return scope;
  std::vector<std::string> values;
  for (std::size_t d = 0; d < ranges.size(); ++d)
    values.push_back(is_single(ranges[d]) ? str(ranges[d].min) : str("i", d));
  const auto settled = function(scope->cases[0].domain.ctx(), scope->dimensions(), values);
  auto made = *scope;
  for (auto& part : made.cases)
    for (auto& read : part.reads) read.at = read.at.pullback(settled);
  return std::make_shared<const Scope>(std::move(made));
}

std::string name_in(const std::map<std::string, std::string>& names, const std::string& tensor) {
  const auto found = names.find(tensor);
  return found == names.end() ? tensor : found->second;
}

/// What \p scope reads, by \p names.
std::string names_read(const Scope& scope, const std::map<std::string, std::string>& names) {
  std::string result;
  for (const auto& part : scope.cases)
    for (const auto& read : part.reads) result += name_in(names, read.tensor) + " ";
  return result;
}

}  // namespace

CanonicalForms::Words& CanonicalForms::words_of(const ScopePtr& scope,
                                                const std::map<std::string, std::string>& words) {
  auto& known = known_[{scope, names_read(*scope, words)}];
  if (!known.settled) {
    known.settled = without_single_values(scope);
    const Signature signature(*known.settled, words);
    known.text = signature.text();
    known.order = signature.order();
    for (const auto& part : known.settled->cases) known.bodies.push_back(signature.sorted(part, part.body));
  }
  return known;
}

ScopePtr CanonicalForms::in_words(const Words& words, const std::map<std::string, std::string>& names) {
  auto& known =
      ordered_[{words.settled, str(names_read(*words.settled, names), name_in(names, words.settled->tensor))}];
  if (!known) known = std::make_shared<const Scope>(in_order(*words.settled, words.order, words.bodies, names));
  return known;
}

Canonical CanonicalForms::of(const Program& program) {
  std::map<std::string, std::string> words;
  std::vector<std::pair<const Words*, ScopePtr>> all;
  for (const auto& scope : program.scopes) {
    const auto& own = words_of(scope, words);
    all.emplace_back(&own, scope);
    if (!program.is_output(scope->tensor)) words[scope->tensor] = str("<", std::hash<std::string>()(own.text), ">");
  }
  Canonical result;
  result.program = program;
  auto names = words;
  for (std::size_t s = 0; s < all.size(); ++s)
    for (std::size_t before = 0; before < s && !program.is_output(all[s].second->tensor); ++before)
      if (words.count(all[before].second->tensor) &&
          words.at(all[before].second->tensor) == words.at(all[s].second->tensor))
        names.at(all[s].second->tensor) += "'";
  for (std::size_t s = 0; s < all.size(); ++s) result.program.scopes[s] = in_words(*all[s].first, names);
  std::vector<std::string> lines;
  for (const auto& [own, scope] : all)
    lines.push_back(str(own->text, program.is_output(scope->tensor) ? scope->tensor : ""));
  std::sort(lines.begin(), lines.end());
  result.fingerprint = join(lines, "\n");
  return result;
}

Canonical canonical(const Program& program) { return CanonicalForms().of(program); }

bool is_same(const Canonical& a, const Canonical& b) {
  if (a.fingerprint != b.fingerprint || a.program.scopes.size() != b.program.scopes.size()) return false;
  bool all = true;
  for (const auto& scope : a.program.scopes) {
    const auto other = b.program.find(scope->tensor);
    if (!other) return false;
    const auto same = scope == other ? true : is_same_scope(*scope, *other);
    if (same == false) return false;
    all = all && same.value_or(false);
  }
  return all || compare(a.program, b.program, {}).equal;
}

}  // namespace tc::derive
