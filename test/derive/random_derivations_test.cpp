#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/derive/derivation_text.h"
#include "tc/derive/derive.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/proof/check.h"
#include "test/derive/derive_fixture.h"
#include "test/support/from_environment.h"

namespace tc::test {
namespace {

/// One to four statements over parameters and each other, of at most five iterators: products of one to three factors
/// whose subscripts are iterators, windows with strides and dilations, or quotients; guards pad them. One in four is a sum of two
/// such statements that differ in an operand. With \p odd_values, numbers, iterators and conversions are among the factors, and
/// the def and tensors are called like iterators.
class RandomStatements {
 public:
  explicit RandomStatements(std::uint64_t seed, bool odd_values = false) : random_(seed), odd_values_(odd_values) {}

  std::string text() {
    type_ = pick({"float", "float", "double", "int32"});
    if (below(4) == 0) return text_of_twins();
    std::string statements;
    const int count = 1 + below(4);
    for (int s = 0; s < count; ++s) {
      const auto target = s + 1 == count ? "O" : str("S", s);
      statements += statement(target);
      if (below(6) == 0 && op_ != " max=!" && op_ != " min=!") statements += rewritten(target);
    }
    return str("def ", odd_values_ ? "i2" : "f", "(", join(params_), ") -> (O) {\n", statements, "}\n");
  }

 private:
  struct Iterator {
    std::string name;
    int extent;
  };
  struct Tensor {
    std::string name;
    std::vector<int> shape;
  };

  std::string text_of_twins() {
    const auto first = statement("S0");
    auto second = first;
    if (!params_.empty()) {
      const auto last = params_.size() - 1;
      const auto old = str("A", last, "("), made = str("A", last + 1, "(");
      for (auto at = second.find(old); at != std::string::npos; at = second.find(old, at + 1))
        second.replace(at, old.size(), made);
      auto param = params_.back();
      params_.push_back(param.replace(param.rfind('A'), std::string::npos, str("A", last + 1)));
    }
    second.replace(second.find("S0"), 2, "S1");
    if (below(2) == 0) second = statement("S1", iterators_);
    const auto of = [&](const char* tensor) { return str(tensor, "(", join(left_), ")"); };
    const auto both = op_ == " max=!" || op_ == " min=!"
                          ? str(op_.substr(1, 3), "(", of("S0"), ", ", of("S1"), ")")
                          : str(pick({"", "2 * "}), of("S0"), pick({" + ", " - "}), of("S1"));
    return str("def f(", join(params_), ") -> (O) {\n", first, second, "  ", of("O"), " = ", both, "\n}\n");
  }

  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  std::string pick(std::vector<std::string> all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  /// \p like: the iterators of another statement, whose left ones and operator this one has; its sums are as many.
  std::string statement(const std::string& target, const std::vector<Iterator>& like = {}) {
    const auto kept = like;
    iterators_.clear();
    conditions_.clear();
    const int left = kept.empty() ? 1 + below(3) : static_cast<int>(left_.size());
    const int summed = kept.empty() ? below(3) : static_cast<int>(kept.size()) - left;
    const int primes[] = {2, 3, 5, 2, 3};
    std::vector<std::string> names, ranges;
    for (int i = 0; i < left + summed; ++i) {
      iterators_.push_back({str("i", i), primes[below(5)]});
      if (!kept.empty() && i < left) iterators_.back().extent = kept[static_cast<std::size_t>(i)].extent;
      ranges.push_back(str("i", i, " in 0:", iterators_.back().extent));
      if (i < left) names.push_back(str("i", i));
    }
    const std::string op = !kept.empty() ? op_
                           : summed == 0 ? " ="
                                         : pick({" +=!", " +=!", " +=!", " max=!", " min=!"});
    op_ = op, left_ = names;
    const std::string times = op == " max=!" || op == " min=!" ? " + " : " * ";
    std::vector<std::string> factors;
    const int count = 1 + below(3);
    for (int f = 0; f < count; ++f) factors.push_back(factor());
    if (odd_values_) add_odd_values(factors);
    std::string value = join(factors, odd_values_ && below(4) == 0 ? " - " : times);
    if (odd_values_ && below(4) == 0) value = str(pick({type_, type_, "float", "double"}), "(", value, ")");
    const bool extreme = op == " max=!" || op == " min=!";
    const std::string fill = !extreme           ? "0"
                             : type_ != "int32" ? (op == " max=!" ? "-1.0/0.0" : "1.0/0.0")
                             : op == " max=!"   ? "-2147483648"
                                                : "2147483647";
    if (!conditions_.empty()) value = str(join(conditions_, " && "), " ? ", value, " : ", fill);
    std::vector<int> shape;
    for (int i = 0; i < left; ++i) shape.push_back(iterators_[static_cast<std::size_t>(i)].extent);
    // An extreme may be infinite where a guard leaves nothing, and is read by none.
    if (!extreme) made_.push_back({target, shape});
    return str("  ", target, "(", join(names), ")", op, " ", value, " where ", join(ranges), "\n");
  }

  /// \p target, which the last statement wrote, written again by what it holds, in place or the other way round. No squares: sums of
  /// floats are to stay exact.
  std::string rewritten(const std::string& target) {
    std::vector<std::string> at;
    for (std::size_t d = 0; d < left_.size(); ++d)
      at.push_back(below(3) == 0 ? str(iterators_[d].extent - 1, " - ", left_[d]) : left_[d]);
    return str("  ", target, "(", join(left_), ") ", pick({"=", "=", "+="}), " ", target, "(", join(at), ")",
               pick({" * 2", str(" + ", target, "(", join(left_), ")")}), "\n");
  }

  /// Replaces some of \p factors, or adds to them: numbers in several types and forms, iterators, choices by indices.
  void add_odd_values(std::vector<std::string>& factors) {
    const auto number = [&] { return pick({"2", "-3", "0.5", "0.0", "-0.0", "1", "4", "-1", "0"}); };
    const auto odd = [&]() -> std::string {
      const auto& it = iterators_[static_cast<std::size_t>(below(static_cast<int>(iterators_.size())))];
      switch (below(6)) {
        case 0:
          return it.name;
        case 1:
          return str(pick({type_, "float", "int32"}), "(", pick({it.name, number()}), ")");
        case 2:
          return str("(", it.name, " >= ", below(it.extent + 1), " ? ", pick({factors[0], number()}), " : ", number(),
                     ")");
        case 3:
          return str("(", number(), pick({" + ", " - ", " * "}), number(), ")");
        default:
          return str("(", number(), ")");
      }
    };
    for (int n = below(3); n > 0; --n) {
      if (below(2) == 0)
        factors.push_back(odd());
      else
        factors[static_cast<std::size_t>(below(static_cast<int>(factors.size())))] = odd();
    }
  }

  std::string factor() {
    if (!made_.empty() && below(2) == 0)
      return read(made_[static_cast<std::size_t>(below(static_cast<int>(made_.size())))]);
    const int rank = 1 + below(3);
    std::vector<std::string> subscripts;
    std::vector<int> sizes;
    for (int d = 0; d < rank; ++d) subscripts.push_back(subscript(sizes));
    const std::string name = str("A", params_.size());
    params_.push_back(str(type_, "(", join(sizes), ") ", name));
    return str(name, "(", join(subscripts), ")");
  }

  /// An index from 0 on, and its number of values; a padded one begins below 0, under a condition.
  std::string subscript(std::vector<int>& sizes) {
    const auto& a = iterators_[static_cast<std::size_t>(below(static_cast<int>(iterators_.size())))];
    const auto& b = iterators_[static_cast<std::size_t>(below(static_cast<int>(iterators_.size())))];
    const int stride = 1 + below(3), dilation = 1 + below(2);
    const int kind = below(6);
    if (kind < 2 || a.name == b.name) {
      sizes.push_back(a.extent);
      return a.name;
    }
    if (kind == 2) {
      sizes.push_back((a.extent - 1) / 2 + 1);
      return str("(", a.name, " / 2)");
    }
    const int whole = stride * (a.extent - 1) + dilation * (b.extent - 1) + 1;
    const std::string sum =
        str(stride == 1 ? "" : str(stride, " * "), a.name, " + ", dilation == 1 ? "" : str(dilation, " * "), b.name);
    if (kind < 5 || whole < 3) {
      sizes.push_back(whole);
      return sum;
    }
    sizes.push_back(whole - 2);
    conditions_.push_back(str(sum, " >= 1 && ", sum, " < ", whole - 1));
    return str(sum, " - 1");
  }

  std::string read(const Tensor& tensor) {
    std::vector<std::string> subscripts;
    for (const int extent : tensor.shape) {
      const auto& it = iterators_[static_cast<std::size_t>(below(static_cast<int>(iterators_.size())))];
      if (it.extent > extent) conditions_.push_back(str(it.name, " < ", extent));
      subscripts.push_back(it.name);
    }
    return str(tensor.name, "(", join(subscripts), ")");
  }

  std::mt19937_64 random_;
  bool odd_values_;
  std::string type_, op_;  ///< of the last statement
  std::vector<std::string> left_, params_, conditions_;
  std::vector<Iterator> iterators_;
  std::vector<Tensor> made_;
};

struct Explored {
  std::size_t programs = 0, candidates = 0, refused = 0;
};

/// Every candidate of an exploration of \p text is proved and computes the same.
void explore(const std::string& text, std::uint64_t seed, Explored& counts) {
  SCOPED_TRACE(str("seed ", seed, "\n", text));
  const auto context = std::make_shared<polyhedral::Context>();
  std::optional<derive::Program> program;
  try {
    program = derive::from_text(text, context);
  } catch (const derive::Refusal&) {
    return;
  } catch (const SemanticError&) {
    return;
  }
  ++counts.programs;
  derive::Options options;
  options.depth = 3;
  options.width = 12;
  options.candidates = 24;
  const auto derivation = derive::derive(*program, options);
  counts.refused += derivation.statistics.refused;
  if (derivation.statistics.refused > 0) std::cout << "seed " << seed << ": " << derivation.statistics.refusal << "\n";
  for (const auto& candidate : derivation.candidates) {
    ++counts.candidates;
    for (const auto& step : candidate.steps) {
      const auto printed = derive::to_text(step.after);
      try {
        const auto same = derive::check(step.after, derive::from_text(printed, context), {});
        EXPECT_TRUE(same.equal) << same.why << "\n" << printed;
      } catch (const derive::Refusal& refused) {
        ADD_FAILURE() << refused.why << "\n" << printed;
      }
    }
    EXPECT_EQ(derive::broken_step(*program, candidate.steps), "");
    const auto proof = derive::check_derivation(derive::derivation_text(*program, candidate.steps));
    EXPECT_TRUE(proof.equal) << proof.why;
    const auto made = derive::to_text(candidate.program);
    std::string trace;
    for (const auto& step : candidate.steps) trace += str(step.rule, ": ", step.what, "\n");
    try {
      const auto difference = integer_difference(text, made, seed);
      EXPECT_FALSE(difference) << *difference << "\n" << trace << made;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << trace << made;
    }
  }
}

/// TC_DERIVE_SEEDS programs from TC_DERIVE_FIRST on; a single one is printed first.
TEST(RandomDerivations, EveryCandidateIsProvedAndEqual) {
  const auto begin = from_environment("TC_DERIVE_FIRST", 1), count = from_environment("TC_DERIVE_SEEDS", 6);
  Explored counts;
  for (auto seed = begin; seed < begin + count; ++seed) {
    const auto text = RandomStatements(seed).text();
    if (count == 1) std::cout << text;
    explore(text, seed, counts);
  }
  std::cout << counts.programs << " programs, " << counts.candidates << " candidates, " << counts.refused
            << " steps refused\n";
  EXPECT_GE(counts.programs, count / 2);
  if (count > 1) {
    EXPECT_GT(counts.candidates, 3 * counts.programs);
  }
}

/// The same of programs with numbers, iterators and conversions for factors.
TEST(RandomDerivations, OddValuesAreReadAsTheyArePrinted) {
  const auto begin = from_environment("TC_DERIVE_FIRST", 1), count = from_environment("TC_DERIVE_SEEDS", 20);
  Explored counts;
  for (auto seed = begin; seed < begin + count; ++seed) {
    const auto text = RandomStatements(seed, true).text();
    if (count == 1) std::cout << text;
    explore(text, seed, counts);
  }
  std::cout << counts.programs << " programs, " << counts.candidates << " candidates, " << counts.refused
            << " steps refused\n";
  EXPECT_GE(counts.programs, count / 8);
}

/// Programs that a random run once found wrong.
TEST(RandomDerivations, FindsStayMended) {
  Explored counts;
  const std::filesystem::path folder = std::filesystem::path(TC_SOURCE_DIR) / "test/derive/finds";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    explore({std::istreambuf_iterator<char>(in), {}}, 1, counts);
  }
  EXPECT_GT(counts.programs, 0u);
}

}  // namespace
}  // namespace tc::test
