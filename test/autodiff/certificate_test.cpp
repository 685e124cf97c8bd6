#include <gtest/gtest.h>

#include "tc/autodiff/access/certify.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/operators.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/autodiff/gradient_fixture.h"

namespace tc::autodiff {
namespace {

using namespace lang;

/// The subscript or condition that \p text is over int64 iterators and sizes.
ExprPtr typed(const ExprPtr& expr) {
  const auto parts = children(expr);
  std::vector<ExprPtr> made;
  for (const auto& part : parts) made.push_back(typed(part));
  const auto* pair = std::get_if<Binary>(&expr->node);
  const bool truth = pair && gives_truth(pair->op);
  return make_expr(with_children(expr, made)->node, {}, truth ? DType::Bool : DType::Int64);
}
ExprPtr index(const std::string& text) { return typed(parse_expr(text)); }

/// A read A(subscripts) of a box of N, inverted.
struct Inverted {
  ReadAccess read;
  std::vector<IteratorRange> box;
  Inverse inverse;
  GuardProver prover{{index("N"), index("K")}};

  Inverted(const std::vector<std::string>& subscripts, const std::vector<std::string>& conditions = {}) {
    read.iterators = {{"i", index("0"), index("N")}, {"k", index("0"), index("K")}};
    for (const auto& text : subscripts) {
      read.subscripts.push_back(index(text));
      box.push_back({"", index("0"), index("3*N+K")});
    }
    for (const auto& text : conditions) read.conditions.push_back(index(text));
    inverse = invert(read, {{}});
    std::vector<IteratorRange> ranges = box;
    for (std::size_t d = 0; d < ranges.size(); ++d) ranges[d].name = inverse.coordinates[d];
    ranges.insert(ranges.end(), inverse.reduction.begin(), inverse.reduction.end());
    inverse.guards = prover.simplified(ranges, inverse.guards);
  }

  CertificateKind certificate() { return certify(read, inverse, box, prover); }

  std::string text() const {
    std::vector<std::string> lines;
    for (const auto& range : inverse.reduction)
      lines.push_back(str(range.name, " in ", print(range.low), ":", print(range.high)));
    for (const auto& [iterator, value] : inverse.values) lines.push_back(str(iterator, " = ", print(value)));
    for (const auto& guard : inverse.guards) lines.push_back(print(guard));
    return join(lines, "; ");
  }
};

TEST(Invert, SolvesForTheLeftIteratorOfAWindow) {
  Inverted window({"i + k"});
  EXPECT_EQ(window.text(), "k in 0:K; i = p - k; p - k >= 0; p - k < N");
  EXPECT_EQ(window.certificate(), CertificateKind::Parametric);
}

TEST(Invert, TakesResiduesOfAStride) {
  Inverted strided({"2 * i + k"});
  EXPECT_EQ(strided.text(),
            "q in 0:(K + 1) / 2; i = p / 2 - q; k = p % 2 + 2 * q; p / 2 - q >= 0; p / 2 - q < N; "
            "p % 2 + 2 * q < K");
  EXPECT_EQ(strided.certificate(), CertificateKind::Parametric);
}

TEST(Invert, LeavesNoIteratorWhereTwoEquationsDetermineBoth) {
  Inverted both({"i + 2 * k", "i + 3 * k"});
  EXPECT_TRUE(both.inverse.reduction.empty()) << both.text();
  EXPECT_EQ(both.certificate(), CertificateKind::Parametric);
}

TEST(Invert, ComparesWhatIsNotAffine) {
  Inverted squared({"i * k"});
  EXPECT_EQ(squared.text(), "i in 0:N; k in 0:K; i * k == p");
  EXPECT_EQ(squared.certificate(), CertificateKind::ByGuard);
}

TEST(Certify, RefusesAWrongInverse) {
  Inverted window({"i + k"});
  window.inverse.values["i"] = index("p - k + 1");
  EXPECT_EQ(window.certificate(), CertificateKind::Missing);
}

TEST(Certify, RefusesADroppedGuard) {
  for (std::size_t dropped = 0; dropped < 2; ++dropped) {
    Inverted window({"i + k"});
    window.inverse.guards.erase(window.inverse.guards.begin() + static_cast<std::ptrdiff_t>(dropped));
    EXPECT_EQ(window.certificate(), CertificateKind::Missing) << dropped;
  }
}

TEST(Certify, RefusesAMissedResidue) {
  Inverted strided({"2 * i + k"});
  strided.inverse.guards.push_back(index("p % 2 == 0"));
  EXPECT_EQ(strided.certificate(), CertificateKind::Missing);
}

TEST(Certify, RefusesARangeThatIsTooShortOrCountsTwice) {
  Inverted strided({"2 * i + k"});
  strided.inverse.reduction[0].high = index("K / 2");
  EXPECT_EQ(strided.certificate(), CertificateKind::Missing);
  Inverted doubled({"i + k"});
  doubled.inverse.reduction.push_back({"r", index("0"), index("2")});
  EXPECT_EQ(doubled.certificate(), CertificateKind::Missing);
}

TEST(Certify, RefusesALostCondition) {
  Inverted guarded({"i + k"}, {"i >= 1"});
  EXPECT_EQ(guarded.certificate(), CertificateKind::Parametric);
  std::erase_if(guarded.inverse.guards, [](const ExprPtr& guard) { return print(guard) == "p - k >= 1"; });
  EXPECT_EQ(guarded.certificate(), CertificateKind::Missing);
}

TEST(GuardProver, DropsWhatRangesAndOtherGuardsImply) {
  GuardProver prover({index("N")});
  const std::vector<IteratorRange> ranges = {{"x", index("0"), index("N")}};
  const auto kept = prover.simplified(
      ranges, {index("x >= 0"), index("x < N"), index("x - 1 >= 0"), index("x - 1 >= 0"), index("x < N - 1")});
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(print(kept[0]), "x - 1 >= 0");
  EXPECT_EQ(print(kept[1]), "x < N - 1");
}

TEST(GuardProver, ProvesNothingOfData) {
  GuardProver prover({index("N")});
  EXPECT_FALSE(prover.implies({}, {}, binary(BinaryOp::Gt, access("M", {}, DType::Int64), integer(0))));
}

TEST(Affine, HasOneFormForEqualIndices) {
  const auto form = [](const char* text) { return print(to_expr(read_affine(index(text)))); };
  EXPECT_EQ(form("(2*h + k) - (h + 1)"), "h + k - 1");
  EXPECT_EQ(form("4*(q/4) + q%4"), "q");
  EXPECT_EQ(form("(4*q + m) / 4"), "q + m / 4");
  EXPECT_EQ(form("(4*q + 6) % 4"), "2");
  EXPECT_EQ(form("-(x - N)"), "N - x");
  EXPECT_EQ(form("N*M - M*N + 0*x"), "N * M - M * N");
}

}  // namespace
}  // namespace tc::autodiff
