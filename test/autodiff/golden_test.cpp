#include <gtest/gtest.h>

#include "test/autodiff/gradient_fixture.h"

namespace tc::test {
namespace {

struct Network {
  const char* name;
  const char* text;
  lang::SizeMap sizes;
  const char* want = "";
};

class Networks : public testing::TestWithParam<Network> {};

TEST_P(Networks, Text) { EXPECT_EQ(gradient_text(GetParam().text), GetParam().want); }

TEST_P(Networks, Differences) { EXPECT_EQ(gradcheck(GetParam().text, GetParam().sizes), ""); }

const Network networks[] = {
    {"Matmul",
     "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 3}, {"K", 4}, {"N", 2}},
     "d_A(m, k) +=! d_C(m, n) * B(k, n)\n"
     "d_B(k, n) +=! d_C(m, n) * A(m, k)\n"},
    {"LinearRelu",
     "def f(double(B,I) X, double(O,I) W, double(O) b) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i)  Y(n,o) = relu(Y(n,o) + "
     "b(o)) }",
     {{"B", 3}, {"I", 4}, {"O", 2}},
     "d_Y_1(n, o) = Y(n, o) > 0 ? d_Y(n, o) : 0\n"
     "d_X(n, i) +=! d_Y_1(n, o) * W(o, i)\n"
     "d_W(o, i) +=! d_Y_1(n, o) * X(n, i)\n"
     "d_b(o) +=! d_Y_1(n, o)\n"},
    {"Conv2d",
     "def f(double(N,C,H,W) I, double(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
     {{"N", 2}, {"C", 2}, {"H", 5}, {"W", 4}, {"M", 2}, {"KH", 3}, {"KW", 2}},
     "d_I(n, c, p, q) +=! p - kh >= 0 && p - kh < H - KH + 1 && q - kw >= 0 && q - kw < W - KW + 1 ? "
     "d_O(n, m, p - kh, q - kw) * K(m, c, kh, kw) : 0 where p in 0:H, q in 0:W\n"
     "d_K(m, c, kh, kw) +=! d_O(n, m, h, w) * I(n, c, h + kh, w + kw)\n"},
    {"Conv2dStride2",
     "def f(double(N,C,H,W) I, double(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,2*h+kh,2*w+kw) * K(m,c,kh,kw) }",
     {{"N", 1}, {"C", 2}, {"H", 7}, {"W", 6}, {"M", 2}, {"KH", 3}, {"KW", 2}},
     "p_I(g, h, n, c, b, e) +=! d_O(n, m, b, e) * K(m, c, g, h)\n"
     "r_I(t, v, n, c, u, a) +=! u - r >= 0 && u - r < (H - KH) / 2 + 1 && a - s >= 0 && a - s < (W - KW) / 2 + 1 && "
     "t + 2 * r < KH && v + 2 * s < KW ? p_I(t + 2 * r, v + 2 * s, n, c, u - r, a - s) : 0 "
     "where t in 0:2, v in 0:2, u in 0:(H + 1) / 2, a in 0:(W + 1) / 2, r in 0:(KH + 1) / 2, s in 0:(KW + 1) / 2\n"
     "d_I(n, c, p, q) = r_I(p % 2, q % 2, n, c, p / 2, q / 2) where p in 0:H, q in 0:W\n"
     "d_K(m, c, kh, kw) +=! d_O(n, m, h, w) * I(n, c, 2 * h + kh, 2 * w + kw) where kh in 0:KH, kw in "
     "0:KW\n"},
    {"Conv2dPadded",
     "def f(double(N,C,H,W) I, double(M,C,KH,KW) K, double(M) B) -> (O) {\n"
     "  O(n,m,h,w) +=! h+kh >= 1 && h+kh <= H && w+kw >= 1 && w+kw <= W ? I(n,c,h+kh-1,w+kw-1) * K(m,c,kh,kw) : 0\n"
     "    where h in 0:H-KH+3, w in 0:W-KW+3\n"
     "  O(n,m,h,w) = relu(O(n,m,h,w) + B(m)) }",
     {{"N", 1}, {"C", 2}, {"H", 5}, {"W", 4}, {"M", 2}, {"KH", 3}, {"KW", 3}},
     "d_O_1(n, m, h, w) = O(n, m, h, w) > 0 ? d_O(n, m, h, w) : 0\n"
     "d_I(n, c, p, q) +=! p - kh + 1 >= 0 && p - kh + 1 < H - KH + 3 && q - kw + 1 >= 0 && q - kw + 1 < W "
     "- KW + 3 ? d_O_1(n, m, p - kh + 1, q - kw + 1) * K(m, c, kh, kw) : 0 where p in 0:H, q in 0:W\n"
     "d_K(m, c, kh, kw) +=! h + kh >= 1 && h + kh <= H && w + kw >= 1 && w + kw <= W ? d_O_1(n, m, h, w) "
     "* I(n, c, h + kh - 1, w + kw - 1) : 0 where kh in 0:KH, kw in 0:KW\n"
     "d_B(m) +=! d_O_1(n, m, h, w)\n"},
    {"Depthwise",
     "def f(double(N,C,H,W) I, double(C,KH,KW) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw) }",
     {{"N", 2}, {"C", 2}, {"H", 5}, {"W", 4}, {"KH", 3}, {"KW", 2}},
     "d_I(n, c, p, q) +=! p - kh >= 0 && p - kh < H - KH + 1 && q - kw >= 0 && q - kw < W - KW + 1 ? "
     "d_O(n, c, p - kh, q - kw) * K(c, kh, kw) : 0 where p in 0:H, q in 0:W\n"
     "d_K(c, kh, kw) +=! d_O(n, c, h, w) * I(n, c, h + kh, w + kw)\n"},
    {"Softmax",
     "def f(double(N,D) I) -> (O) { top(n) max=! I(n,d)  total(n) +=! exp(I(n,d) - top(n))"
     "  O(n,d) = exp(I(n,d) - top(n)) / total(n) }",
     {{"N", 3}, {"D", 5}},
     "s_total(n) +=! d_O(n, d) * O(n, d)\n"
     "d_I(n, d) = O(n, d) * (d_O(n, d) - s_total(n))\n"},
    {"LayerNorm",
     "def f(double(N,C) X, double(C) g, double(C) b) -> (O) {\n"
     "  mean(n) +=! X(n,c)  mean(n) = mean(n) / C\n"
     "  var(n) +=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))  var(n) = var(n) / C\n"
     "  O(n,c) = (X(n,c) - mean(n)) * rsqrt(var(n) + 1e-5) * g(c) + b(c) }",
     {{"N", 3}, {"C", 5}},
     "mean(n) +=! X(n, c)\n"
     "mean(n) = mean(n) / C\n"
     "var(n) +=! (X(n, c) - mean(n)) * (X(n, c) - mean(n))\n"
     "var(n) = var(n) / C\n"
     "s_var(n) +=! d_O(n, c) * g(c) * (X(n, c) - mean(n))\n"
     "f_1(n) = rsqrt(var(n) + 1e-5)\n"
     "d_var_1(n) = -0.5 * s_var(n) * f_1(n) * f_1(n) * f_1(n) / C\n"
     "s_mean(n) +=! d_O(n, c) * g(c)\n"
     "d_mean_1(n) = -s_mean(n) * f_1(n) / C\n"
     "d_X(n, c) = d_O(n, c) * g(c) * f_1(n) + 2 * d_var_1(n) * (X(n, c) - mean(n)) + d_mean_1(n)\n"
     "d_g(c) +=! d_O(n, c) * (X(n, c) - mean(n)) * f_1(n)\n"
     "d_b(c) +=! d_O(n, c)\n"},
    {"Attention",
     "def f(double(H,L,D) Q, double(H,S,D) K, double(H,S,E) V) -> (O) {\n"
     "  score(h,l,s) +=! Q(h,l,d) * K(h,s,d)  score(h,l,s) = score(h,l,s) * 0.125\n"
     "  top(h,l) max=! score(h,l,s)  score(h,l,s) = exp(score(h,l,s) - top(h,l))  total(h,l) +=! score(h,l,s)\n"
     "  O(h,l,e) +=! score(h,l,s) * V(h,s,e)  O(h,l,e) = O(h,l,e) / total(h,l) }",
     {{"H", 2}, {"L", 3}, {"S", 4}, {"D", 3}, {"E", 2}},
     "score(h, l, s) +=! Q(h, l, d) * K(h, s, d)\n"
     "score(h, l, s) = score(h, l, s) * 0.125\n"
     "top(h, l) max=! score(h, l, s)\n"
     "score(h, l, s) = exp(score(h, l, s) - top(h, l))\n"
     "total(h, l) +=! score(h, l, s)\n"
     "d_O_1(h, l, e) = d_O(h, l, e) / total(h, l)\n"
     "s_total(h, l) +=! d_O(h, l, e) * O(h, l, e)\n"
     "d_total(h, l) = -s_total(h, l) / total(h, l)\n"
     "d_score(h, l, s) +=! d_O_1(h, l, e) * V(h, s, e)\n"
     "d_score(h, l, s) += d_total(h, l)\n"
     "d_score_1(h, l, s) = 0.125 * d_score(h, l, s) * score(h, l, s)\n"
     "d_Q(h, l, d) +=! d_score_1(h, l, s) * K(h, s, d)\n"
     "d_K(h, s, d) +=! d_score_1(h, l, s) * Q(h, l, d)\n"
     "d_V(h, s, e) +=! d_O_1(h, l, e) * score(h, l, s)\n"},
    {"Mlp3",
     "def f(double(B,M) X, double(N,M) W2, double(N) B2, double(P,N) W3, double(P) B3, double(Q,P) W4, double(Q) B4)"
     " -> (O2, O3, O4) {\n"
     "  O2(b,n) +=! X(b,m) * W2(n,m)  O2(b,n) = relu(O2(b,n) + B2(n))\n"
     "  O3(b,p) +=! O2(b,n) * W3(p,n)  O3(b,p) = relu(O3(b,p) + B3(p))\n"
     "  O4(b,q) +=! O3(b,p) * W4(q,p)  O4(b,q) = relu(O4(b,q) + B4(q)) }",
     {{"B", 2}, {"M", 3}, {"N", 4}, {"P", 3}, {"Q", 2}},
     "d_O4_1(b, q) = O4(b, q) > 0 ? d_O4(b, q) : 0\n"
     "d_O3_sum(b, p) +=! d_O4_1(b, q) * W4(q, p)\n"
     "d_O3_sum(b, p) += d_O3(b, p)\n"
     "d_O3_1(b, p) = O3(b, p) > 0 ? d_O3_sum(b, p) : 0\n"
     "d_O2_sum(b, n) +=! d_O3_1(b, p) * W3(p, n)\n"
     "d_O2_sum(b, n) += d_O2(b, n)\n"
     "d_O2_1(b, n) = O2(b, n) > 0 ? d_O2_sum(b, n) : 0\n"
     "d_X(b, m) +=! d_O2_1(b, n) * W2(n, m)\n"
     "d_W2(n, m) +=! d_O2_1(b, n) * X(b, m)\n"
     "d_B2(n) +=! d_O2_1(b, n)\n"
     "d_W3(p, n) +=! d_O3_1(b, p) * O2(b, n)\n"
     "d_B3(p) +=! d_O3_1(b, p)\n"
     "d_W4(q, p) +=! d_O4_1(b, q) * O3(b, p)\n"
     "d_B4(q) +=! d_O4_1(b, q)\n"},
};

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(networks),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tc::test
