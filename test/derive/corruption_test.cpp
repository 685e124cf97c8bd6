#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tc/base/str.h"
#include "tc/derive/derive.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/proof/check.h"
#include "tc/derive/rules/rewrite.h"
#include "test/derive/derive_fixture.h"

/// Derivations with a mistake planted in one step: the certificate of the right step must not prove the wrong one.
namespace tc::test {
namespace {

using derive::Case;
using derive::Program;
using derive::Scope;

using Random = std::mt19937_64;

std::size_t below(std::size_t count, Random& random) { return static_cast<std::size_t>(random() % count); }

isl::multi_aff with_values(const Scope& scope, const isl::multi_aff& at, int dimension, const std::string& value) {
  std::vector<std::string> values;
  for (int d = 0; d < scope.dimensions(); ++d) values.push_back(d == dimension ? value : str("i", d));
  return at.pullback(derive::function(at.ctx(), scope.dimensions(), values));
}

/// One bound of one iterator one off, inwards or outwards.
bool move_bound(Scope& scope, Case& part, Random& random) {
  const auto d = below(scope.iterators.size(), random);
  auto box = derive::hull(part.domain);
  if (random() % 2 == 0) {
    box[d].min += 1;
    box[d].extent -= 1;
    if (box[d].extent == 0) return false;
    part.domain = part.domain.intersect(derive::box_set(part.domain.ctx(), box));
    return true;
  }
  const auto next = str("i", d, " - 1");
  std::vector<std::string> values;
  for (int e = 0; e < scope.dimensions(); ++e) values.push_back(static_cast<std::size_t>(e) == d ? next : str("i", e));
  part.domain =
      part.domain.unite(part.domain.preimage(derive::function(part.domain.ctx(), scope.dimensions(), values)));
  return true;
}

bool lose_guard(const Program& program, Scope& scope, Case& part) {
  const auto whole =
      derive::box_set(part.domain.ctx(), derive::iterator_box(scope)).intersect(derive::reads_inside(program, part));
  if (whole.is_equal(part.domain) || scope.cases.size() > 1) return false;
  part.domain = whole;
  return true;
}

bool swap_index(const Scope& scope, Case& part, Random& random) {
  if (part.reads.empty() || scope.dimensions() < 2) return false;
  auto& at = part.reads[below(part.reads.size(), random)].at;
  const auto a = below(scope.iterators.size(), random), b = below(scope.iterators.size(), random);
  std::vector<std::string> values = derive::dimension_names(scope.dimensions());
  std::swap(values[a], values[b]);
  at = at.pullback(derive::function(at.ctx(), scope.dimensions(), values));
  return a != b;
}

bool lose_sum(Scope& scope, Case& part, Random& random) {
  const auto summed = derive::summed_dimensions(scope);
  if (summed.empty()) return false;
  const auto d = static_cast<std::size_t>(summed[below(summed.size(), random)]);
  auto box = derive::hull(part.domain);
  box[d].extent = 1;
  part.domain = part.domain.intersect(derive::box_set(part.domain.ctx(), box));
  return !part.domain.is_empty();
}

bool wrong_factor(const Scope& scope, Case& part, Random& random) {
  if (random() % 2 == 0) {
    part.body = derive::joined(part.body, lang::BinaryOp::Mul, random() % 2 ? derive::number(2) : part.body);
    return true;
  }
  if (part.reads.empty()) return false;
  auto& at = part.reads[below(part.reads.size(), random)].at;
  const auto d = static_cast<int>(below(scope.iterators.size(), random));
  at = with_values(scope, at, d, str("2 * i", d));
  return true;
}

bool leak_padding(Scope& scope, Case& part, Random& random) {
  if (scope.op) {
    if (part.reads.empty()) return false;
    auto& at = part.reads[below(part.reads.size(), random)].at;
    const auto d = static_cast<int>(below(scope.iterators.size(), random));
    at = with_values(scope, at, d, str("i", d, " + 1"));
    return true;
  }
  scope.fill += 1;
  return true;
}

const char* const kinds[] = {"off by one", "lost guard", "swapped index", "lost sum", "wrong factor", "leaked padding"};

/// \p program with a mistake of kind \p kind in one scope; nothing where there is no place for it.
std::optional<Program> corrupted(const Program& program, std::size_t kind, Random& random) {
  auto result = program;
  auto& place = result.scopes[below(result.scopes.size(), random)];
  Scope scope = *place;
  auto& part = scope.cases[below(scope.cases.size(), random)];
  const bool done = kind == 0   ? move_bound(scope, part, random)
                    : kind == 1 ? lose_guard(program, scope, part)
                    : kind == 2 ? swap_index(scope, part, random)
                    : kind == 3 ? lose_sum(scope, part, random)
                    : kind == 4 ? wrong_factor(scope, part, random)
                                : leak_padding(scope, part, random);
  if (!done) return std::nullopt;
  place = std::make_shared<const Scope>(std::move(scope));
  return result;
}

/// Does \p program, which may not even be a text, compute what \p text does?
bool computes(const std::string& text, const Program& program) {
  if (!derive::check(program).equal) return false;
  try {
    const auto made = derive::to_text(program);
    return !integer_difference(text, made, 1) && !integer_difference(text, made, 2);
  } catch (const std::exception&) {
    return false;
  }
}

const char* const texts[] = {
    "def conv(float(3,6) X, float(4,3,3) W) -> (O) { O(f,h) +=! h + r >= 1 && h + r < 7 ? X(c,h+r-1) * W(f,c,r) : 0 "
    "where h in 0:6 }",
    "def window(float(3,9) X, float(4,3,5) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }",
    "def chain(float(3,4) A, float(4,5) B, float(5,2) C) -> (O) { O(m,n) +=! A(m,k) * B(k,l) * C(l,n) }",
    "def transposed(float(3,4) X, float(3,4,2) W) -> (O) { O(f,h) +=! (h + 1 - r) % 2 == 0 && h + 1 - r >= 0 && h + 1 "
    "- r < 8 ? X(c,(h + 1 - r)/2) * W(c,r,f) : 0 where h in 0:8 }",
    "def padded(float(7) X, float(3) W) -> (O) { P(i) = i >= 1 && i <= 7 ? X(i - 1) : 0 where i in 0:9  O(h) +=! P(h + "
    "k) * W(k) }",
    "def shared(float(3,4) X, float(4,5) A, float(4,5) B, float(5) c) -> (O) { P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! "
    "X(m,k) * B(k,n)  O(m,n) = P(m,n) - Q(m,n) + c(n) }",
};

TEST(Corruption, TwoHundredMistakesAreRefused) {
  Random random(20261123);
  std::map<std::string, int> refused;
  int real = 0;
  for (const char* text : texts) {
    const auto program = program_of(text);
    derive::Options options;
    options.candidates = 12;
    options.width = 12;
    options.depth = 6;
    const auto derivation = derive::derive(program, options);
    for (int trial = 0; trial < 120; ++trial) {
      const auto& candidate = derivation.candidates[below(derivation.candidates.size(), random)];
      if (candidate.steps.empty()) continue;
      const auto s = below(candidate.steps.size(), random);
      const auto kind = below(std::size(kinds), random);
      const auto wrong = corrupted(candidate.steps[s].after, kind, random);
      if (!wrong || computes(text, *wrong)) continue;
      const auto& before = s == 0 ? program : candidate.steps[s - 1].after;
      const auto verdict = derive::check(before, *wrong, candidate.steps[s].certificate);
      EXPECT_FALSE(verdict.equal) << kinds[kind] << " in " << candidate.steps[s].rule << "\n"
                                  << to_text(before) << to_text(*wrong) << to_string(candidate.steps[s].certificate);
      refused[kinds[kind]] += !verdict.equal;
      ++real;
    }
  }
  EXPECT_GE(real, 200);
  for (const char* kind : kinds) EXPECT_GT(refused[kind], 0) << kind;
}

TEST(Corruption, AWrongMapIsRefusedThoughTheProgramsAreEqual) {
  const auto program = program_of(texts[0]);
  const auto derivation = derive::derive(program, {.depth = 4, .width = 8});
  int tried = 0;
  for (const auto& candidate : derivation.candidates) {
    const Program* before = &program;
    for (const auto& step : candidate.steps) {
      for (const auto& [tensor, map] : step.certificate.maps) {
        derive::Certificate none = step.certificate;
        none.maps.erase(tensor);
        none.maps.emplace(tensor, isl::union_map::empty(map.ctx()));
        EXPECT_FALSE(derive::check(*before, step.after, none).equal) << step.rule;
        ++tried;
      }
      before = &step.after;
    }
  }
  EXPECT_GT(tried, 5);
}

}  // namespace
}  // namespace tc::test
