#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/lexer.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/range_check.h"

/// parse(print(x)) == x and print(parse(print(x))) == print(x), over random trees and the programs of programs/;
/// texts that are no programs give a SyntaxError and nothing worse.
namespace tc::lang {
namespace {

namespace fs = std::filesystem;

/// Random parse trees.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(static_cast<int>(list.size())))];
  }
  std::string id() {
    return one_of<std::string>({"A", "B", "i", "j", "N", "in", "nan0", "minimum", "exp", "min", "x_1"});
  }

  ExprPtr expr(int depth) {
    const int kind = depth == 0 ? pick(5) : pick(12);
    switch (kind) {
      case 0:
        return make_expr(IntLiteral{random_() % 3 ? random_() % 100 : (std::uint64_t{random_()} << 32 | random_())});
      case 1:
        if (pick(8) == 0) return make_expr(FloatLiteral{std::numeric_limits<double>::infinity(), ""});
        return make_expr(FloatLiteral{std::ldexp(random_() % 1000, pick(40) - 20), ""});
      case 2:
        return make_expr(BoolLiteral{pick(2) == 0});
      case 3:
        return make_expr(Name{id()});
      case 4:
        return make_expr(SizeOf{id(), pick(3)});
      case 5:
        return make_expr(Access{one_of<std::string>({"A", "B", "tensor"}), list(depth, pick(3)), false});
      case 6:
        return make_expr(Call{one_of<std::string>({"exp", "min", "fma"}), list(depth, 1 + pick(2))});
      case 7:
        return make_expr(Cast{static_cast<DType>(pick(13)), expr(depth - 1), false});
      case 8:
        return make_expr(Unary{unary_operators[pick(3)], expr(depth - 1)});
      case 9:
        return make_expr(Select{expr(depth - 1), expr(depth - 1), expr(depth - 1)});
      default:
        return make_expr(Binary{static_cast<BinaryOp>(pick(19)), expr(depth - 1), expr(depth - 1)});
    }
  }
  std::vector<ExprPtr> list(int depth, int n) {
    std::vector<ExprPtr> result;
    for (int i = 0; i < n; ++i) result.push_back(expr(depth - 1));
    return result;
  }

  Statement statement(int depth) {
    Statement result;
    if (pick(6) == 0) {
      CallStatement call{{id(), id()}, id(), {}};
      for (int n = pick(3); n > 0; --n) call.arguments.push_back(id());
      result.node = call;
      return result;
    }
    Assignment x;
    x.target = id();
    x.bare = pick(3) == 0;
    if (!x.bare) x.subscripts = list(2, pick(3));
    if (pick(2)) {
      x.reduction = static_cast<ReductionOp>(pick(6));
      x.initialise = pick(2);
    }
    x.rhs = expr(depth);
    for (int n = pick(4) - 1; n > 0; --n) x.clauses.push_back(clause(depth));
    result.node = x;
    return result;
  }

  Clause clause(int depth) {
    switch (pick(4)) {
      case 0:
        return {RangeClause{id(), expr(depth), expr(depth)}, {}};
      case 3:
        return {ExistsClause{make_range_check({id(), expr(depth), expr(depth)}, {})}, {}};
      case 1:
        return {LetClause{id(), expr(depth)}, {}};
      default:
        return {ExistsClause{expr(depth)}, {}};
    }
  }

  TensorDecl decl(bool typed) {
    TensorDecl result{id(), std::nullopt, std::nullopt, {}};
    if (typed || pick(2)) {
      if (pick(4))
        result.type = static_cast<DType>(pick(13));
      else
        result.type_name = one_of<std::string>({"T", "U", "Element"});
      if (pick(2)) result.dims = list(2, 1 + pick(2));
      if (result.dims && pick(3) == 0) result.dims->insert(result.dims->begin(), make_expr(Name{leading_name}));
    }
    return result;
  }

  Def def() {
    Def result;
    result.name = "def_" + id();
    for (int n = pick(4); n > 0; --n) result.params.push_back(decl(true));
    for (int n = pick(4); n > 0; --n) result.returns.push_back(decl(false));
    for (int n = pick(5); n > 0; --n) result.statements.push_back(statement(4));
    return result;
  }

  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
};

bool equal_files(const File& a, const File& b) {
  return a.defs.size() == b.defs.size() && std::equal(a.defs.begin(), a.defs.end(), b.defs.begin(),
                                                      [](const Def& x, const Def& y) { return equal(x, y); });
}

void expect_round_trip(const File& file) {
  const std::string text = print(file);
  const File again = parse(text);
  EXPECT_TRUE(equal_files(file, again)) << text;
  EXPECT_EQ(print(again), text);
}

TEST(RoundTrip, RandomExpressions) {
  Generator generator(1);
  for (int i = 0; i < 2000; ++i) {
    const ExprPtr expr = generator.expr(5);
    const std::string text = print(expr);
    const ExprPtr again = parse_expr(text);
    ASSERT_TRUE(equal(expr, again)) << text;
    ASSERT_EQ(print(again), text);
  }
}

TEST(RoundTrip, RandomDefs) {
  Generator generator(2);
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    File file;
    for (int n = 1 + generator.pick(2); n > 0; --n) file.add(generator.def());
    expect_round_trip(file);
  }
}

/// The texts of programs/ and of the acceptance programs.
std::vector<std::string> programs() {
  std::vector<std::string> result;
  for (const char* folder : {"test/lang/programs", "test/filetests/programs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TC_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".tc") continue;
      std::ifstream in(entry.path());
      std::stringstream text;
      text << in.rdbuf();
      result.push_back(text.str());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(RoundTrip, Programs) {
  ASSERT_GE(programs().size(), 20u);
  for (const auto& text : programs()) {
    const File file = parse(text);
    expect_round_trip(file);
    File checked;
    ASSERT_NO_THROW(checked = check(file)) << text;
    if (checked.defs.back().statements.size() != file.defs.back().statements.size()) {
      EXPECT_EQ(print(check(parse(print(checked)))), print(checked)) << "with its stores written out";
      continue;
    }
    EXPECT_EQ(print(checked), print(file));
    EXPECT_TRUE(equal_files(checked, file));
    EXPECT_EQ(print(check(checked)), print(file));
  }
}

/// A program that is meant as it stands gets no warning of what is hardly meant.
TEST(Warnings, NoneOfSurprisesInPrograms) {
  std::vector<std::string> found;
  for (const auto& text : programs()) {
    std::vector<Diagnostic> warnings;
    check(parse(text), &warnings);
    for (const auto& warning : warnings)
      if (warning.code >= "TC131" && warning.code <= "TC133") found.push_back(warning.rendered);
  }
  EXPECT_LE(found.size(), 1u) << join(found, "\n");
}

/// Every expression of a checked program is typed; the operands of operators and arms have one type.
TEST(CheckedTree, IsTyped) {
  for (const auto& text : programs()) {
    for (const auto& def : check(parse(text)).defs) {
      for (const auto& statement : def.statements) {
        const auto* assignment = std::get_if<Assignment>(&statement.node);
        if (!assignment) continue;
        EXPECT_EQ(assignment->rhs->type, def.tensors.at(assignment->target).type) << print(statement);
        for_each_expr(assignment->rhs, [&](const ExprPtr& e) {
          ASSERT_TRUE(e->type) << print(e) << " in " << print(statement);
          const auto parts = children(e);
          if (std::holds_alternative<Binary>(e->node)) {
            EXPECT_EQ(parts[0]->type, parts[1]->type) << print(e);
          } else if (std::holds_alternative<Select>(e->node)) {
            EXPECT_EQ(parts[1]->type, parts[2]->type) << print(e);
          } else if (std::holds_alternative<Access>(e->node)) {
            for (const auto& part : parts) EXPECT_EQ(part->type, DType::Int64) << print(e);
          } else if (const auto* name = std::get_if<Name>(&e->node)) {
            EXPECT_NE(name->kind, Name::Kind::Unresolved) << name->id;
          } else if (const auto* cast = std::get_if<Cast>(&e->node)) {
            EXPECT_EQ(e->type, cast->type);
          }
        });
      }
    }
  }
}

/// Parses and checks \p text; anything but a program, a SyntaxError or a SemanticError with places is a failure.
void survive(const std::string& text) {
  try {
    const File file = parse(text);
    expect_round_trip(file);
    check(file);
  } catch (const InternalError& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  } catch (const Error& error) {
    ASSERT_FALSE(error.diagnostics().empty()) << error.what();
    for (const auto& d : error.diagnostics()) {
      EXPECT_GE(d.line, 1);
      EXPECT_GE(d.column, 1);
    }
  }
}

TEST(Fuzz, RandomBytes) {
  Generator generator(3);
  for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
    std::string text(static_cast<std::size_t>(generator.pick(60)), ' ');
    for (char& c : text) c = static_cast<char>(generator.pick(i % 2 ? 256 : 95) + (i % 2 ? 0 : 32));
    survive(text);
  }
}

/// Programs with tokens dropped, doubled, swapped or replaced.
TEST(Fuzz, MutatedPrograms) {
  Generator generator(4);
  for (const auto& program : programs()) {
    Diagnostics diagnostics(program, "x");
    std::vector<std::string> tokens;
    for (const auto& token : tokenize(program, diagnostics)) tokens.emplace_back(token.text);
    for (int i = 0; i < 25 && !::testing::Test::HasFailure(); ++i) {
      auto mutated = tokens;
      for (int n = 1 + generator.pick(4); n > 0; --n) {
        const auto at = static_cast<std::size_t>(generator.pick(static_cast<int>(mutated.size())));
        const auto other = static_cast<std::size_t>(generator.pick(static_cast<int>(mutated.size())));
        switch (generator.pick(4)) {
          case 0:
            mutated.erase(mutated.begin() + static_cast<std::ptrdiff_t>(at));
            break;
          case 1:
            mutated.insert(mutated.begin() + static_cast<std::ptrdiff_t>(at), mutated[other]);
            break;
          case 2:
            std::swap(mutated[at], mutated[other]);
            break;
          default:
            mutated[at] = mutated[other];
        }
      }
      survive(join(mutated, " "));
    }
  }
}

}  // namespace
}  // namespace tc::lang
