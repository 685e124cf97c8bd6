#include <gtest/gtest.h>

#include "tc/derive/derive.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/proof/check.h"
#include "test/derive/derive_fixture.h"

/// The band of a dilated general matrix of Longformer, M = 24, W = 2, d = 4. Ordering rows by their residue makes it
/// dense; as one matrix the bands at the ends of residues would read their neighbours.
namespace tc::test {
namespace {

const char* const dilated =
    "def g2bmm(float(2,24,3) A, float(2,24,3) B) -> (O) {\n"
    "  O(b,m,w) +=! m + 4*w >= 8 && m + 4*w < 32 ? A(b,m,k) * B(b,m+4*w-8,k) : 0 where w in 0:5, m in 0:24 }";

const char* const merged =
    "def g2bmm(float(2,24,3) A, float(2,24,3) B) -> (O) {\n"
    "  C(b,p,k) = A(b,p%6*4+p/6,k) where p in 0:24\n"
    "  D(b,p,k) = B(b,p%6*4+p/6,k) where p in 0:24\n"
    "  T(b,p,w) +=! p + w >= 2 && p + w < 26 ? C(b,p,k) * D(b,p+w-2,k) : 0 where w in 0:5, p in 0:24\n"
    "  O(b,m,w) = T(b,m%4*6+m/4,w) where m in 0:24 }";

const char* const batched =
    "def g2bmm(float(2,24,3) A, float(2,24,3) B) -> (O) {\n"
    "  C(b,r,p,k) = A(b,4*p+r,k) where p in 0:6, r in 0:4\n"
    "  D(b,r,p,k) = B(b,4*p+r,k) where p in 0:6, r in 0:4\n"
    "  T(b,r,p,w) +=! p + w >= 2 && p + w < 8 ? C(b,r,p,k) * D(b,r,p+w-2,k) : 0 where w in 0:5, p in 0:6\n"
    "  O(b,m,w) = T(b,m%4,m/4,w) where m in 0:24 }";

derive::Verdict verdict(const char* after, const std::string& map) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto first = program_of(dilated, context), second = program_of(after, context);
  return derive::check(first, second, derive::parse_certificate(map, context));
}

TEST(Dilated, TheMergedFormIsRefusedWithAnInstance) {
  EXPECT_TRUE(integer_difference(dilated, merged));
  const auto refused = verdict(merged,
                               "O: { c0[b,m,w,k] -> c0[b,m,w, b,q,w, q,0,0,0,0,0] : q = 6*(m mod 4) + floor(m/4); "
                               "c0[b,m,w,k] -> c0[b,m,w, b,q,w,k, b,q,k, b,q+w-2,k] : q = 6*(m mod 4) + floor(m/4) }");
  EXPECT_FALSE(refused.equal);
  EXPECT_NE(refused.why.find("instances of the second that the first lacks, as { ["), std::string::npos) << refused.why;
}

TEST(Dilated, TheBatchedFormIsAccepted) {
  EXPECT_FALSE(integer_difference(dilated, batched));
  const auto accepted = verdict(
      batched, "O: { c0[b,m,w,k] -> c0[b,m,w, b,r,p,w,k, b,r,p,k, b,r,p+w-2,k] : r = m mod 4 and p = floor(m/4) }");
  EXPECT_TRUE(accepted.equal) << accepted.why;
}

TEST(Dilated, TheSearchFindsTheBatch) {
  derive::Options options;
  options.candidates = 100;
  options.depth = 3;
  const auto program = program_of(dilated);
  const auto derivation = derive::derive(program, options);
  bool found = false;
  for (const auto& candidate : derivation.candidates) {
    EXPECT_EQ(derive::broken_step(program, candidate.steps), "");
    const auto text = to_text(candidate.program);
    EXPECT_FALSE(integer_difference(dilated, text)) << text;
    for (const auto& scope : candidate.program.scopes) found = found || scope->left() == 4;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tc::test
