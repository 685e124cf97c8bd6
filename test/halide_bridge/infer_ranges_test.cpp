#include "tc/halide_bridge/infer/infer_ranges.h"

#include <gtest/gtest.h>

#include <random>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "test/halide_bridge/checked_def.h"
#include "test/support/expect_error.h"

namespace tc::halide_bridge {
namespace {

/// A def and what is expected of a tensor's box: "[min : extent, ...]" as size expressions.
struct Case {
  const char* name;
  const char* text;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> boxes;
  std::vector<std::string> preconditions = {};
  std::vector<std::string> data_dependent = {};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class InferRangesTable : public testing::TestWithParam<Case> {};

/// Both expressions agree on \p sizes.
void expect_equal(const lang::ExprPtr& found, const std::string& expected, const lang::SizeMap& sizes) {
  ASSERT_EQ(evaluate_size(found, sizes), evaluate_size(lang::parse_expr(expected), sizes))
      << lang::print(found) << " is not " << expected;
}

TEST_P(InferRangesTable, BoxesAndPreconditions) {
  const lang::Def def = checked_def(GetParam().text);
  const lang::Ranges ranges = infer_ranges(def, GetParam().text);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    lang::SizeMap sizes;
    for (const auto& size : def.sizes) sizes[size] = 1 + static_cast<int>(random() % 40);
    for (const auto& [tensor, box] : GetParam().boxes) {
      const auto& found = ranges.tensors.at(tensor);
      ASSERT_EQ(found.size(), box.size());
      for (std::size_t d = 0; d < box.size(); ++d) {
        expect_equal(found[d].min, box[d].first, sizes);
        expect_equal(found[d].extent, box[d].second, sizes);
      }
    }
  }
  std::vector<std::string> conditions, checked;
  for (const auto& p : ranges.preconditions) conditions.push_back(lang::print(p.condition));
  for (const auto* access : ranges.data_dependent) checked.push_back(std::get<lang::Access>(access->node).tensor);
  EXPECT_EQ(conditions, GetParam().preconditions);
  EXPECT_EQ(checked, GetParam().data_dependent);
}

const Case table[] = {
    {"Copy1D", "def f(float(N) I) -> (O) { O(i) = I(i) }", {{"O", {{"0", "N"}}}}},
    {"Neighbour",
     "def f(float(D) X) -> (Y) { Y(d) = d % 2 == 0 ? X(d+1) : X(d-1) where d in 0:D }",
     {{"Y", {{"0", "D"}}}},
     {"D % 2 == 0"}},
    {"Halves",
     "def f(float(D) X, float(H) C) -> (Y) { Y(d) = d < H ? X(d+H) : X(d-H) where d in 0:D }",
     {{"Y", {{"0", "D"}}}},
     {"H * 2 <= D"}},
    {"Reflected",
     "def f(float(N) X) -> (Y) { Y(i) = i < 3 ? X(3-i) : i < N+3 ? X(i-3) : X(2*N+1-i) where i in 0:N+6 }",
     {{"Y", {{"0", "N + 6"}}}},
     {"N >= 4"}},
    {"Copy2D", "def f(float(M,N) I) -> (O) { O(i,j) = I(i,j) }", {{"O", {{"0", "M"}, {"0", "N"}}}}},
    {"Transpose2D", "def f(float(M,N) I) -> (O) { O(i,j) = I(j,i) }", {{"O", {{"0", "N"}, {"0", "M"}}}}},
    {"Transpose4D",
     "def f(float(A,B,C,D) I) -> (O) { O(i,j,l,k) = I(j,i,k,l) }",
     {{"O", {{"0", "B"}, {"0", "A"}, {"0", "D"}, {"0", "C"}}}}},
    {"Scale1D", "def f(float(N) I) -> (O) { O(i) = I(123*i) }", {{"O", {{"0", "(N+122)/123"}}}}},
    {"Shift1D", "def f(float(N) I) -> (O) { O(i) = I(i-1) }", {{"O", {{"1", "N"}}}}},
    {"Shift1D2", "def f(float(N) I) -> (O) { O(i) = I(i+5) }", {{"O", {{"-5", "N"}}}}},
    {"Conv",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) W1, float(M) B) -> (tmp, O) {\n"
     "  tmp(n,m,h,w) +=! I(n,c,h+kh,w+kw) * W1(m,c,kh,kw)\n"
     "  O(n,m,h,w) +=! tmp(n,m,h,w) + B(m)\n}",
     {{"tmp", {{"0", "N"}, {"0", "M"}, {"0", "H-KH+1"}, {"0", "W-KW+1"}}},
      {"O", {{"0", "N"}, {"0", "M"}, {"0", "H-KH+1"}, {"0", "W-KW+1"}}}}},
    {"ConvGrad",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) W1, float(N,M,OH,OW) dO) -> (dI, dW1, dB) {\n"
     "  dI(n,c,h,w) +=! dO(n,m,h-kh,w-kw) * W1(m,c,kh,kw)\n"
     "  dW1(m,c,kh,kw) +=! dO(n,m,h-kh,w-kw) * I(n,c,h,w)\n"
     "  dB(m) +=! dO(n,m,h,w)\n}",
     {{"dI", {{"0", "N"}, {"0", "C"}, {"KH-1", "OH-KH+1"}, {"KW-1", "OW-KW+1"}}},
      {"dW1", {{"0", "M"}, {"0", "C"}, {"H-OH", "OH-H+1"}, {"W-OW", "OW-W+1"}}},
      {"dB", {{"0", "M"}}}}},
    {"PaddedConv",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (pad, tmp) {\n"
     "  pad(n,c,h,w) = I(n,c,h-2-3,w-3-4)\n"
     "  tmp(n,m,h,w) +=! pad(n,c,2*h+kh,3*w+kw) * W1(m,c,kh,kw)\n}",
     {{"pad", {{"0", "N"}, {"0", "C"}, {"5", "H"}, {"7", "W"}}},
      {"tmp", {{"0", "N"}, {"0", "M"}, {"3", "(H-KH+1)/2"}, {"3", "(W-KW+1)/3"}}}}},
    {"WeirdConv",
     "def f(float(B,IP,H,W) input, float(OP,IP,KH,KW) weight) -> (output) {\n"
     "  output(b,op,h,w) +=! input(b,ip,2*h+3*w+kh,2*w+kw) * weight(op,ip,kh,kw)\n}",
     {{"output", {{"0", "B"}, {"0", "OP"}, {"0", "((H-KH)-((W-KW)/2)*3)/2+1"}, {"0", "(W-KW)/2+1"}}}}},
    {"TCA", "def f(float(A,B,C) I) -> (O) { O(i) +=! I(j,i+j,k) }", {{"O", {{"0", "B-A+1"}}}}},
    {"TCC", "def f(float(A,B,C) I) -> (O) { O(i) +=! I(i,i+j,j) }", {{"O", {{"0", "A"}}}}, {"A + C <= B + 1"}},
    {"TCD",
     "def f(float(A,B,C,D,E) I) -> (O) { O(i) +=! I(i,j,i,k,2*i+j) }",
     {{"O", {{"0", "min(A,C)"}}}},
     {"min(A, C) * 2 + B <= E + 2"}},
    {"TCE",
     "def f(float(A,B,C,D,E) I) -> (O) { O(i) +=! I(j,j+1,i,i+3,2*i+j+0) }",
     {{"O", {{"0", "min(C,D-3)"}}}},
     {"min(A + 1, B) + min(C + 3, D) * 2 <= E + 9"}},
    {"TCF",
     "def f(float(A0,A1,A2) A, float(B0,B1,B2) B, float(C0,C1,C2) C) -> (O2, O3) {\n"
     "  O2(j,k,l) +=! B(j,k,l) + A(i,j,k)\n  O3(k,l,m) +=! C(k,l,m) + O2(j,k,l)\n}",
     {{"O2", {{"0", "min(B0,A1)"}, {"0", "min(B1,A2)"}, {"0", "B2"}}},
      {"O3", {{"0", "min(C0,min(B1,A2))"}, {"0", "min(C1,B2)"}, {"0", "C2"}}}}},
    {"TCG",
     "def f(float(A0,A1,A2) A, float(B0,B1,B2) B, float(C0,C1,C2) C) -> (O1, O2, O3) {\n"
     "  O1(i,j) +=! A(i,j,k)\n  O2(j,k,l) +=! B(j,k,l) + O1(i,j)\n  O3(k,l,m) +=! C(k,l,m) + O2(j,k,l)\n}",
     {{"O1", {{"0", "A0"}, {"0", "A1"}}},
      {"O2", {{"0", "min(B0,A1)"}, {"0", "B1"}, {"0", "B2"}}},
      {"O3", {{"0", "min(C0,B1)"}, {"0", "min(C1,B2)"}, {"0", "C2"}}}}},
    {"PartialCopy",
     "def f(float(N,M) I) -> (O) { O(i,j) = I(i,j) where i in 3:N-1 }",
     {{"O", {{"3", "N-4"}, {"0", "M"}}}}},
    {"UnambiguousRotate",
     "def f(float(N,M) I) -> (O) { O(i,j) = I(10+i-j,i+j) where i in 0:10 }",
     {{"O", {{"0", "10"}, {"20-min(N,20)", "min(M-10,10)+min(N,20)-19"}}}}},
    {"RuntimeCheckOnDerivedSize",
     "def f(float(N,NM,M) I) -> (O) { O(i,j) = I(i,i+j,j) }",
     {{"O", {{"0", "N"}, {"0", "M"}}}},
     {"M + N <= NM + 1"}},
    {"ProvableDerivedSize",
     "def f(float(10,19,10) I) -> (O) { O(i,j) = I(i,i+j,j) }",
     {{"O", {{"0", "10"}, {"0", "10"}}}}},
    {"PartialAssign",
     "def f(float(N) I) -> (O) { O(i,j) = 3 where i in 4:8, j in 3:20 }",
     {{"O", {{"4", "4"}, {"3", "17"}}}}},
    {"EmptyRangeOfZero", "def f(float(N) I) -> (O) { O(i) = 3 where i in 8:8 }", {{"O", {{"8", "0"}}}}},
    // Worked cases of the predecessor's documents.
    {"Reversal", "def f(float(N) B) -> (O) { O(i) = B(10-i) }", {{"O", {{"11-N", "N"}}}}},
    {"Subsample", "def f(float(N) B) -> (O) { O(i) = B(2*i) }", {{"O", {{"0", "(N+1)/2"}}}}},
    {"AveragePool", "def f(float(N) B) -> (O) { O(i) = B(2*i) + B(2*i+1) }", {{"O", {{"0", "N/2"}}}}},
    {"Window", "def f(float(N) B) -> (O) { O(i) +=! B(2*i+k) where k in 0:2 }", {{"O", {{"0", "N/2"}}}}},
    {"Concatenation",
     "def f(float(M,N) A, float(P,N) B) -> (O) { O(n,i,m) = i == 0 ? A(m,n) : B(m,n) where i in 0:2 }",
     {{"O", {{"0", "N"}, {"0", "2"}, {"0", "min(M,P)"}}}}},
    {"ConstantFill", "def f(float(N) A) -> (O) { O(i) = 1 where exists A(i) }", {{"O", {{"0", "N"}}}}},
    {"Gather",
     "def f(float(N,D) I, int32(B) Idx) -> (O) { O(b,d) = I(Idx(b),d) }",
     {{"O", {{"0", "B"}, {"0", "D"}}}},
     {},
     {"I"}},
    {"ClampedGather",
     "def f(float(J) B, int32(N) C) -> (O) { O(i) = B(max(min(C(i),J-1),0)) }",
     {{"O", {{"0", "N"}}}},
     {"J >= 1"}},
    {"ByteTable", "def f(float(256) T, uint8(N) C) -> (O) { O(i) = T(int32(C(i))) }", {{"O", {{"0", "N"}}}}},
    {"ByteTableTooShort",
     "def f(float(255) T, uint8(N) C) -> (O) { O(i) = T(C(i)) }",
     {{"O", {{"0", "N"}}}},
     {},
     {"T"}},
    {"GuardedGather",
     "def f(float(J) B, int32(N) C) -> (O) { O(i) = (C(i) >= 0 && C(i) < J) ? B(C(i)) : 0 }",
     {{"O", {{"0", "N"}}}}},
    {"ShiftedGather",
     "def f(float(J) B, int32(N) C) -> (O) { O(i,j) = B(1+j+C(i)) where j in 0:3 }",
     {{"O", {{"0", "N"}, {"0", "3"}}}},
     {},
     {"B"}},
    // Guards.
    {"Padding",
     "def f(float(N,H) I) -> (O) { O(n,h) = (h>=1 && h<=H) ? I(n,h-1) : 0 where h in 0:H+2 }",
     {{"O", {{"0", "N"}, {"0", "H+2"}}}}},
    {"PaddingElseArm",
     "def f(float(N,H) I) -> (O) { O(n,h) = (h<1 || h>H) ? 0 : I(n,h-1) where h in 0:H+2 }",
     {{"O", {{"0", "N"}, {"0", "H+2"}}}}},
    {"Causal",
     "def f(float(C,T) X, float(C,K) W) -> (O) { O(c,t) +=! (t+k >= K-1) ? X(c,t+k-(K-1)) * W(c,k) : 0 where t in 0:T "
     "}",
     {{"O", {{"0", "C"}, {"0", "T"}}}}},
    {"Clamping", "def f(float(H) I) -> (O) { O(h) = I(min(max(h-1,0),H-1)) where h in 0:H }", {{"O", {{"0", "H"}}}}},
    {"ClampingWider",
     "def f(float(H) I) -> (O) { O(h) = I(min(max(h-1,0),H-1)) where h in 0:H+2 }",
     {{"O", {{"0", "H+2"}}}},
     {"H >= 1"}},
    {"ClampedStencil",
     "def f(float(N) A) -> (O) { O(i) = A(clamp(i-1,0,N-1)) + A(i) + A(clamp(i+1,0,N-1)) }",
     {{"O", {{"0", "N"}}}}},
    {"Concatenation2",
     "def f(float(N) A, float(M) C) -> (O) { O(i) = (i < N) ? A(i) : C(i-N) where i in 0:N+M }",
     {{"O", {{"0", "N+M"}}}}},
    {"ShortCircuit",
     "def f(float(N) A) -> (O) { O(i) = (i >= 1 && A(i-1) > 0.0) ? 1.0 : 0.0 where i in 0:N+1 }",
     {{"O", {{"0", "N+1"}}}}},
    {"ShortCircuitOr",
     "def f(float(N) A) -> (O) { O(i) = (i < 1 || A(i-1) > 0.0) ? 1.0 : 0.0 where i in 0:N+1 }",
     {{"O", {{"0", "N+1"}}}}},
    {"BareGuardedConstrains", "def f(float(N) A) -> (O) { O(i) = (i < 3) ? A(i) : 0 }", {{"O", {{"0", "N"}}}}},
    {"UnprovedGuardJoins", "def f(float(N) A) -> (O) { O(i) = (i < 3) ? A(i+1) : 0 }", {{"O", {{"-1", "N"}}}}},
    {"HalfProved",
     "def f(float(N) A) -> (O) { O(t) = (t >= 2) ? A(t-2) : 0 where t in 0:10 }",
     {{"O", {{"0", "10"}}}},
     {"N >= 8"}},
    {"Toeplitz",
     "def f(float(N) A) -> (O) { O(i,j) = A(abs(i-j)) where i in 0:N, j in 0:N }",
     {{"O", {{"0", "N"}, {"0", "N"}}}}},
    // Strides that are sizes, quotients, remainders, products.
    {"SymbolicStride",
     "def f(float(H) I, float(KH) W, float(SH) s) -> (O) { O(h) +=! I(SH*h+kh) * W(kh) }",
     {{"O", {{"0", "(H-KH)/SH+1"}}}},
     {"SH >= 1"}},
    {"Quotient", "def f(float(N) A) -> (O) { O(i) = A(i/2) }", {{"O", {{"0", "2*N"}}}}},
    {"Periodic",
     "def f(float(N) A, float(M) X) -> (O) { O(i) = A(i%3) where i in 0:M }",
     {{"O", {{"0", "M"}}}},
     {"min(M, 3) <= N"}},
    {"RemainderByIndex",
     "def f(float(N,C) I, float(KC) W) -> (O) { O(n,c) +=! I(n,kc % c) * W(kc) where c in 1:C }",
     {{"O", {{"0", "N"}, {"1", "C-1"}}}}},
    {"Product",
     "def f(float(N) A) -> (O) { O(i,j) = A(i*j) where i in 0:4, j in 0:5 }",
     {{"O", {{"0", "4"}, {"0", "5"}}}},
     {"N >= 13"}},
    {"Flatten", "def f(float(N,M) A) -> (O) { O(i) = A(i/M,i%M) where i in 0:N*M }", {{"O", {{"0", "N*M"}}}}},
    {"Cyclic", "def f(float(N) A) -> (O) { O(i) = A(i%N) where i in 0:100 }", {{"O", {{"0", "100"}}}}, {"N >= 1"}},
    {"Unflatten",
     "def f(float(N,M,K) B, float(N*M*K) A) -> (O) { O(i,j,k) = A((i*M+j)*K+k) + B(i,j,k) }",
     {{"O", {{"0", "N"}, {"0", "M"}, {"0", "K"}}}}},
    {"CommutedAnnotation",
     "def f(float(N,M) B) -> (float(M*(N+1)) O) { O(i) = 1 where i in 0:N*M+M }",
     {{"O", {{"0", "N*M+M"}}}}},
    {"MinOfSizes",
     "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) where i in 0:min(N,M) }",
     {{"O", {{"0", "min(N,M)"}}}}},
    {"SizeOfTensor",
     "def f(float(N) A) -> (B, O) { B(i) = A(2*i) O(i) = 1.0 where i in 0:B.0 }",
     {{"O", {{"0", "(N+1)/2"}}}}},
    // Several statements on one tensor, annotations.
    {"LaterInsideFirst",
     "def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) O(i) += B(i) O(i) += A(i-1) }",
     {{"O", {{"0", "N"}}}}},
    {"EarlierExtent", "def f(float(N) A) -> (O) { O(i) = A(i-1) O(i) += 1 }", {{"O", {{"1", "N"}}}}},
    {"EarlierExtentGuarded",
     "def f(float(N) A) -> (O) { O(i) = A(i) O(i) += (i >= 1) ? A(i-1) : 0 }",
     {{"O", {{"0", "N"}}}}},
    {"LaterWhereChecked",
     "def f(float(N) A) -> (O) { O(i) = A(i) O(i) = 0 where i in 0:4 }",
     {{"O", {{"0", "N"}}}},
     {"N >= 4"}},
    {"AnnotatedSize", "def f(float(N) A) -> (float(N) O) { O(i) = 0 }", {{"O", {{"0", "N"}}}}},
    {"AnnotatedPadding", "def f(float(N) A) -> (float(N) O) { O(i) = (i >= 1) ? A(i-1) : 0 }", {{"O", {{"0", "N"}}}}},
    {"AnnotationChecked",
     "def f(float(N) A, float(M) B) -> (float(M) O) { O(i) = A(i) }",
     {{"O", {{"0", "N"}}}},
     {"M == N"}},
    // Programs of the acceptance list.
    {"FullConvolution",
     "def f(float(X) A, float(KX) K) -> (B) { B(x) +=! A(xp) * K(X-1+x-xp) where xp in 0:X }",
     {{"B", {{"0", "KX-X+1"}}}}},
    {"PrefixOffsets",
     "def f(int32(K) S) -> (Idx) { Idx(k) +=! (r_k < k) ? S(r_k) : 0 where k in 0:K+1 }",
     {{"Idx", {{"0", "K+1"}}}}},
    {"PrefixLengths",
     "def f(int32(KP1) Idx) -> (O) { O(k) = Idx(k+1) - Idx(k) where k in 0:KP1-1 }",
     {{"O", {{"0", "KP1-1"}}}}},
    {"Perforated",
     "def f(float(N,C,H,W) input, int32(N,L) index, float(M,C,KH,KW) weights) -> (output) {\n"
     "  output(n,m,l) +=! input(n,c,index(n,l)+kh,index(n,l)+kw) * weights(m,c,kh,kw)\n}",
     {{"output", {{"0", "N"}, {"0", "M"}, {"0", "L"}}}},
     {},
     {"input"}},
    {"StridedGroupConv",
     "def f(float(N,G,C,H,W) I, float(G,F,C,KH,KW) W1) -> (O) {\n"
     "  O(n,g,o,h,w) +=! I(n,g,i,2*h+kh,2*w+kw) * W1(g,o,i,kh,kw)\n}",
     {{"O", {{"0", "N"}, {"0", "G"}, {"0", "F"}, {"0", "(H-KH)/2+1"}, {"0", "(W-KW)/2+1"}}}}},
    {"Graph2",
     "def f(float(N,C,H,W) I, float(N,C,R,T) J, float(KH,KW) W1) -> (O, Out) {\n"
     "  O(n,c,h,w) +=! J(n,c,h+kh,w+kw) * W1(kh,kw)\n  Out(c0,c1) +=! I(n,c0,h,w) * O(n,c1,h,w)\n}",
     {{"O", {{"0", "N"}, {"0", "C"}, {"0", "R-KH+1"}, {"0", "T-KW+1"}}}, {"Out", {{"0", "C"}, {"0", "C"}}}}},
    {"WaveNetGuard",
     "def f(float(B,T) X, float(C) W, float(T) D) -> (O) {\n"
     "  O(b,t) = X(b,t) * W(0) + ((t >= 4) ? X(b,t-4) : 0.0) where t in 0:T\n}",
     {{"O", {{"0", "B"}, {"0", "T"}}}},
     {"C >= 1"}},
    {"TriangularGather",
     "def f(int32(KP1) Idx, float(TOT,C) Norm) -> (Dots) {\n"
     "  Dots(k,a,b) +=! (a < b || Idx(k) + a >= Idx(k+1)) ? 0.0 : Norm(Idx(k)+a,c) * Norm(Idx(k)+b,c) where a in 0:8, "
     "b in 0:8, k in 0:KP1-1\n}",
     {{"Dots", {{"0", "KP1-1"}, {"0", "8"}, {"0", "8"}}}},
     {},
     {"Norm", "Norm"}},
    {"Scalar", "def f(float(N) A) -> (O) { O +=! A(i) }", {{"O", {}}}},
    {"SumsOverNothingAreWritten",
     "def f(float(N) A) -> (O) { O(i) = A(i)  O(i) min=! 1 where i in 2:9, r in 0:0 }",
     {{"O", {{"0", "N"}}}},
     {"N >= 9"}},
    {"EachArmOfAChoiceOnItsSide",
     "def f(float(N) X, float(2*N) A) -> (O) { O(i) = A(i) * X(i >= N ? i - N : i) }",
     {{"O", {{"0", "2*N"}}}}},
    {"TheTargetsExtentBoundsASumBeforeGuards",
     "def f(float(N) X, float(M) A, float(K) B) -> (O) { O(i) = X(i)  O(i) += A(i+k) * (k >= 1 ? B(k+1) : 0) }",
     {{"O", {{"0", "N"}}}},
     {"N < M && M + 2 <= K + N || M == N"}},
    {"ArmsThatReachBelow",
     "def f(float(N) X, float(N) Y) -> (O) { O(i) = Y(i) * X(i < 0 ? i + N : i) }",
     {{"O", {{"0", "N"}}}}},
};

INSTANTIATE_TEST_SUITE_P(Rows, InferRangesTable, testing::ValuesIn(table),
                         [](const auto& info) { return std::string(info.param.name); });

/// A def that has no ranges, and for each error its code, place and a part of its message.
struct BadCase {
  const char* name;
  const char* text;
  std::vector<std::string> errors;  ///< "TC201 line:column message"
};

void PrintTo(const BadCase& c, std::ostream* out) { *out << c.name; }

class InferRangesErrors : public testing::TestWithParam<BadCase> {};

TEST_P(InferRangesErrors, AllReported) {
  const lang::Def def = checked_def(GetParam().text);
  std::vector<std::string> found;
  try {
    infer_ranges(def, GetParam().text);
  } catch (const SemanticError& error) {
    for (const auto& d : error.diagnostics()) {
      found.push_back(str(d.code, " ", d.line, ":", d.column, " ", d.message));
      EXPECT_NE(d.rendered.find("Use a where clause"), std::string::npos) << d.rendered;
    }
  }
  EXPECT_EQ(found, GetParam().errors);
}

const BadCase bad_table[] = {
    {"Transpose5D",
     "def f(float(A,B,C,D,E) I) -> (O) { O(i,j,k,l,m) = I(j,i,k,i,l) }",
     {"TC201 1:46 index 'm' has no range"}},
    {"TCB",
     "def f(float(A,B,C) I) -> (O) {\n  O(i) +=! I(i+j,i+j,i+j)\n}",
     {"TC202 2:5 the ranges of indices 'i', 'j' are ambiguous"}},
    {"AmbiguousRotate",
     "def f(float(N,M) I) -> (O) { O(i,j) = I(10+i-j,i+j) }",
     {"TC202 1:32 the ranges of indices 'i', 'j' are ambiguous"}},
    {"ArmsOfAChoiceApart",
     "def f(float(N) I) -> (O) { O(i) = I(i < 3 ? i + N : i) }",
     {"TC202 1:30 the range of index 'i' is ambiguous"}},
    {"PartialAssign",
     "def f(float(N) I) -> (O) { O(i,j) = 3 }",
     {"TC201 1:30 index 'i' has no range", "TC201 1:32 index 'j' has no range"}},
    {"EmptySetWhere",
     "def f(float(N) I) -> (O) { O(i) = 3 where i in 8:4 }",
     {"TC203 1:30 the range of index 'i' is [8, 4), which ends before it begins"}},
    {"EmptyForEverySize",
     "def f(float(N) I) -> (O) { O(i) = I(i) where i in N+3:N }",
     {"TC203 1:30 the range of index 'i' is [N + 3, N), which ends before it begins"}},
    {"OnlyGathered",
     "def f(float(N) I, int32(N) S) -> (O) { O(i,j) = I(S(i)+j) }",
     {"TC201 1:44 index 'j' has no range"}},
    {"MaxPool",
     "def f(float(H) I) -> (O) { O(h) max=! I(h+kh) }",
     {"TC202 1:30 the ranges of indices 'h', 'kh' are ambiguous"}},
    {"GuardBoundsNothing",
     "def f(float(H) I) -> (O) { O(h) +=! (h+kh >= 1 && h+kh <= H) ? I(h+kh-1) : 0 where kh in 0:3 }",
     {"TC202 1:30 the range of index 'h' is ambiguous"}},
    {"AlwaysOutside",
     "def f(float(5) A) -> (O) { O(i) = A(i) where i in 0:10 }",
     {"TC204 1:37 subscript 0 of A, 'i', leaves [0, 5)"}},
    {"NeverInside",
     "def f(float(N) A) -> (O) { O(i) = A(i+N) where i in 0:3 }",
     {"TC204 1:37 subscript 0 of A, 'i + N', leaves [0, N) whatever the sizes are"}},
    {"WrongAnnotation",
     "def f(float(N) A) -> (float(N+1) O) { O(i) = A(i) }",
     {"TC205 1:29 dimension 0 of O is declared N + 1 but its elements are [0, N)"}},
    {"TwoStatements",
     "def f(float(N) A) -> (O, P) {\n  O(i,j) = A(i)\n  P(i) +=! O(i,i) + A(i+k)\n}",
     {"TC201 2:7 index 'j' has no range"}},
    {"TwoErrors",
     "def f(float(N) A) -> (O, P) {\n  O(i,j) = A(i)\n  P(k) = 0\n}",
     {"TC201 2:7 index 'j' has no range", "TC201 3:5 index 'k' has no range"}},
    {"OutsideFirstBox",
     "def f(float(4) A) -> (O) {\n  O(i) = A(i)\n  O(i) = 0 where i in 2:6\n}",
     {"TC204 3:5 subscript 0 of O, 'i', leaves [0, 4)"}},
};

INSTANTIATE_TEST_SUITE_P(Rows, InferRangesErrors, testing::ValuesIn(bad_table),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(InferRanges, ReasonNamesSubscript) {
  const std::string text = "def f(float(N,NM,M) I) -> (O) {\n  O(i,j) = I(i,i+j,j)\n}";
  const auto ranges = infer_ranges(checked_def(text), text);
  ASSERT_EQ(ranges.preconditions.size(), 1u);
  EXPECT_EQ(ranges.preconditions[0].reason, "subscript 1 of I, 'i + j', must stay inside [0, NM)");
  EXPECT_ERROR(lang::check_preconditions(ranges, {{"N", 3}, {"M", 3}, {"NM", 4}}), ArgumentError,
               "these sizes do not fit: M + N <= NM + 1 does not hold for M = 3, N = 3, NM = 4; subscript 1 of I, 'i + "
               "j', must stay inside [0, NM)");
  EXPECT_NO_THROW(lang::check_preconditions(ranges, {{"N", 3}, {"M", 3}, {"NM", 5}}));
}

}  // namespace
}  // namespace tc::halide_bridge
