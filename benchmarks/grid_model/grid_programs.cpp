#include "grid_programs.h"

namespace {

using tc::DType;
using Shape = std::vector<std::int64_t>;

tc::TensorSpec f(Shape shape) { return tc::contiguous(DType::Float32, std::move(shape)); }
tc::TensorSpec i64(Shape shape) { return tc::contiguous(DType::Int64, std::move(shape)); }

void add_products(std::vector<PricedProgram>& all) {
  auto add = [&](const char* name, const char* text, Shape a, Shape b) {
    all.push_back({name, text, {f(std::move(a)), f(std::move(b))}});
  };
  const char* nn = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const char* nt = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
  const char* tn = "def f(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";
  const char* tt = "def f(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }";
  const char* bmm = "def f(float(B,M,K) X, float(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }";
  add("nn-512", nn, {512, 512}, {512, 512});
  add("nn-1024", nn, {1024, 1024}, {1024, 1024});
  add("nn-2048", nn, {2048, 2048}, {2048, 2048});
  add("nt-1024", nt, {1024, 1024}, {1024, 1024});
  add("tn-1024", tn, {1024, 1024}, {1024, 1024});
  add("tt-1024", tt, {1024, 1024}, {1024, 1024});
  add("nn-odd", nn, {1000, 777}, {777, 1234});
  add("nn-flat", nn, {8192, 64}, {64, 2048});
  add("nt-128x4096x1024", nt, {128, 1024}, {4096, 1024});
  add("nt-12x4096x4096", nt, {12, 4096}, {4096, 4096});
  add("tn-64x64x65536", tn, {65536, 64}, {65536, 64});
  add("bmm-64x256x64", bmm, {64, 256, 256}, {64, 256, 64});
  add("bmm-500x26x72", bmm, {500, 26, 72}, {500, 72, 26});
  add("mv-8192", "def f(float(M,N) A, float(N) x) -> (y) { y(m) +=! A(m,n) * x(n) }", {8192, 8192}, {8192});
  add("vm-8192", "def f(float(M,N) A, float(M) x) -> (y) { y(n) +=! A(m,n) * x(m) }", {8192, 8192}, {8192});
  add("scores-of-heads", "def f(float(B,Q,H,D) X, float(B,K,H,D) Y) -> (S) { S(b,h,q,k) +=! X(b,q,h,d) * Y(b,k,h,d) }",
      {8, 512, 12, 64}, {8, 512, 12, 64});
  add("contraction-abcd", "def f(float(A,E,B,F) X, float(D,F,C,E) Y) -> (Z) { Z(a,b,c,d) +=! X(a,e,b,f) * Y(d,f,c,e) }",
      {48, 24, 32, 24}, {32, 24, 48, 24});
  add("max-plus", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) + B(k,n) }", {1024, 512},
      {512, 1024});
  add("banded", "def f(float(H,T,D) Q, float(H,S,D) K) -> (O) { O(h,t,w) +=! Q(h,t,d) * K(h,t+w,d) where w in 0:65 }",
      {16, 2048, 64}, {16, 2112, 64});
  all.push_back({"mlp",
                 "def f(float(B,M) I, float(N,M) W, float(N) C) -> (O) { O(b,n) +=! I(b,m) * W(n,m)  O(b,n) = "
                 "fmax(O(b,n) + C(n), 0) }",
                 {f({1024, 1024}), f({2048, 1024}), f({2048})}});
}

void add_windows(std::vector<PricedProgram>& all) {
  auto add = [&](const char* name, const char* text, Shape a, Shape b) {
    all.push_back({name, text, {f(std::move(a)), f(std::move(b))}});
  };
  const char* conv =
      "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }";
  add("conv-64@56", conv, {16, 64, 58, 58}, {64, 64, 3, 3});
  add("conv-256@14", conv, {16, 256, 16, 16}, {256, 256, 3, 3});
  add("conv-stem",
      "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,2*h+r,2*w+s) * K(m,c,r,s) }",
      {16, 3, 229, 229}, {64, 3, 7, 7});
  add("conv-1x1", "def f(float(N,C,H,W) I, float(M,C) K) -> (O) { O(n,m,h,w) +=! I(n,c,h,w) * K(m,c) }",
      {16, 256, 28, 28}, {128, 256});
  add("conv-channels-last",
      "def f(float(N,H,W,C) I, float(R,S,C,M) K) -> (O) { O(n,h,w,m) +=! I(n,h+r,w+s,c) * K(r,s,c,m) }",
      {16, 30, 30, 128}, {3, 3, 128, 128});
  add("depthwise", "def f(float(N,C,H,W) I, float(C,R,S) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+r,w+s) * K(c,r,s) }",
      {16, 192, 58, 58}, {192, 3, 3});
  add("grouped",
      "def f(float(N,G,C,H,W) I, float(G,M,C,R,S) K) -> (O) { O(n,g,m,h,w) +=! I(n,g,c,h+r,w+s) * K(g,m,c,r,s) }",
      {16, 32, 8, 30, 30}, {32, 8, 8, 3, 3});
  all.push_back({"pool-max",
                 "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h+r,2*w+s) where r in 0:3, s in 0:3 }",
                 {f({32, 64, 113, 113})}});
  all.push_back({"pool-global", "def f(float(N,C,H,W) X) -> (Y) { Y(n,c) +=! X(n,c,h,w) }", {f({64, 512, 28, 28})}});
  all.push_back({"stencil-3x3",
                 "def f(float(N,M) A) -> (B) { B(i,j) +=! A(i+r,j+s) where r in 0:3, s in 0:3 }",
                 {f({4098, 4098})}});
  all.push_back({"jacobi",
                 "def f(float(N,M) A) -> (B) { B(i,j) = 0.25 * (A(i,j+1) + A(i+2,j+1) + A(i+1,j) + A(i+1,j+2)) "
                 "where i in 0:4096, j in 0:4096 }",
                 {f({4098, 4098})}});
  all.push_back(
      {"heat-3d",
       "def f(float(N,M,K) A) -> (B) { B(i,j,k) = A(i+1,j+1,k+1) + A(i,j+1,k+1) + A(i+2,j+1,k+1) + A(i+1,j,k+1) + "
       "A(i+1,j+2,k+1) + A(i+1,j+1,k) + A(i+1,j+1,k+2) where i in 0:256, j in 0:256, k in 0:256 }",
       {f({258, 258, 258})}});
}

void add_rows(std::vector<PricedProgram>& all) {
  const char* softmax =
      "def f(float(N,C) X) -> (Y) { top(n) max=! X(n,c)  e(n,c) = exp(X(n,c) - top(n))  t(n) +=! e(n,c)  "
      "Y(n,c) = e(n,c) / t(n) }";
  const char* layer_norm =
      "def f(float(N,C) X) -> (Y) { s(n) +=! X(n,c)  q(n) +=! X(n,c) * X(n,c)  "
      "Y(n,c) = (X(n,c) - s(n) / C) * rsqrt(q(n) / C - s(n) / C * s(n) / C + 0.001) }";
  auto add = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  add("softmax-1024", softmax, {8192, 1024});
  add("softmax-128", softmax, {65536, 128});
  add("softmax-16384", softmax, {512, 16384});
  add("layer-norm", layer_norm, {8192, 1024});
  add("sum-rows", "def f(float(N,C) X) -> (S) { S(n) +=! X(n,c) }", {8192, 4096});
  add("sum-short-rows", "def f(float(N,C) X) -> (S) { S(n) +=! X(n,c) }", {262144, 48});
  add("sum-columns", "def f(float(N,C) X) -> (S) { S(c) +=! X(n,c) }", {8192, 4096});
  add("sum-middle", "def f(float(A,N,C) X) -> (S) { S(a,c) +=! X(a,n,c) }", {64, 512, 768});
  add("sum-all", "def f(float(N) X) -> (S) { S +=! X(i) }", {1 << 25});
  add("max-rows", "def f(float(N,C) X) -> (S) { S(n) max=! X(n,c) }", {4096, 1000});
  add("batch-norm",
      "def f(float(N,C,H,W) X) -> (Y) { s(c) +=! X(n,c,h,w)  q(c) +=! X(n,c,h,w) * X(n,c,h,w)  "
      "Y(n,c,h,w) = (X(n,c,h,w) - s(c) * 0.00001) * rsqrt(q(c) * 0.00001 + 0.001) }",
      {32, 128, 28, 28});
}

void add_copies(std::vector<PricedProgram>& all) {
  auto add = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  add("transpose", "def f(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }", {4096, 4096});
  add("permute-0213", "def f(float(B,T,H,D) X) -> (Y) { Y(b,h,t,d) = X(b,t,h,d) }", {16, 512, 12, 64});
  add("permute-210", "def f(float(A,B,C) X) -> (Y) { Y(c,b,a) = X(a,b,c) }", {256, 192, 320});
  add("gelu",
      "def f(float(N) X) -> (Y) { Y(i) = 0.5 * X(i) * (1 + tanh(0.79788456 * (X(i) + 0.044715 * X(i) * X(i) * X(i)))) "
      "}",
      {1 << 24});
  add("upsample", "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = X(n,c,h/2,w/2) where h in 0:112, w in 0:112 }",
      {16, 64, 56, 56});
  all.push_back({"add", "def f(float(N) X, float(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }", {f({1 << 25}), f({1 << 25})}});
  all.push_back({"bias-relu",
                 "def f(float(N,M) A, float(M) B) -> (C) { C(i,j) = fmax(A(i,j) + B(j), 0) }",
                 {f({8192, 3000}), f({3000})}});
  all.push_back({"outer", "def f(float(M) X, float(N) Z) -> (Y) { Y(m,n) = X(m) * Z(n) }", {f({4096}), f({5000})}});
  all.push_back(
      {"lookup", "def f(float(V,D) T, int64(N) I) -> (O) { O(n,d) = T(I(n),d) }", {f({50000, 256}), i64({65536})}});
  all.push_back({"lookup-sum",
                 "def f(float(V,D) T, int64(B,L) I) -> (O) { O(b,d) +=! T(I(b,l),d) }",
                 {f({50000, 64}), i64({8192, 40})}});
}

/// Programs that were first measured when all terms and candidates were there.
void add_held_out(std::vector<PricedProgram>& all) {
  auto one = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  auto two = [&](const char* name, const char* text, Shape a, Shape b) {
    all.push_back({name, text, {f(std::move(a)), f(std::move(b))}});
  };
  two("gram", "def f(float(N,D) X, float(N,D) Z) -> (G) { G(d,e) +=! X(n,d) * Z(n,e) }", {20000, 192}, {20000, 192});
  two("values-of-heads", "def f(float(B,H,Q,K) P, float(B,K,H,D) V) -> (O) { O(b,q,h,d) +=! P(b,h,q,k) * V(b,k,h,d) }",
      {8, 12, 384, 384}, {8, 384, 12, 64});
  two("of-three-by-matrix", "def f(float(A,B,C) X, float(C,D) Y) -> (Z) { Z(a,b,d) +=! X(a,b,c) * Y(c,d) }",
      {96, 130, 200}, {200, 150});
  two("middle-dimension", "def f(float(A,B,C) X, float(B,D) Y) -> (Z) { Z(a,d,c) +=! X(a,b,c) * Y(b,d) }",
      {64, 128, 400}, {128, 160});
  two("many-small-products", "def f(float(B,M,K) X, float(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }",
      {40000, 6, 6}, {40000, 6, 6});
  two("skinny", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {100000, 100}, {100, 7});
  two("inner", "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", {24, 200000}, {20, 200000});
  two("manhattan", "def f(float(N,D) X, float(M,D) Z) -> (S) { S(n,m) +=! fabs(X(n,d) - Z(m,d)) }", {2000, 24},
      {3000, 24});
  two("conv-5x5", "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+r,w+s) * K(m,c,r,s) }",
      {8, 32, 68, 68}, {48, 32, 5, 5});
  two("conv-dilated",
      "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+2*r,w+2*s) * K(m,c,r,s) }",
      {8, 64, 44, 44}, {64, 64, 3, 3});
  two("conv-1d", "def f(float(N,C,L) I, float(M,C,R) K) -> (O) { O(n,m,l) +=! I(n,c,l+r) * K(m,c,r) }", {16, 64, 2050},
      {96, 64, 3});
  one("pool-average", "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) +=! X(n,c,2*h+r,2*w+s) where r in 0:2, s in 0:2 }",
      {32, 96, 112, 112});
  one("group-norm",
      "def f(float(N,G,C,P) X) -> (Y) { s(n,g) +=! X(n,g,c,p)  q(n,g) +=! X(n,g,c,p) * X(n,g,c,p)  "
      "Y(n,g,c,p) = (X(n,g,c,p) - s(n,g) / (C * P)) * rsqrt(q(n,g) / (C * P) + 0.001) }",
      {32, 16, 8, 784});
  one("rms-norm", "def f(float(N,C) X) -> (Y) { q(n) +=! X(n,c) * X(n,c)  Y(n,c) = X(n,c) * rsqrt(q(n) / C + 0.001) }",
      {20000, 640});
  one("log-sum-exp",
      "def f(float(N,C) X) -> (L) { top(n) max=! X(n,c)  t(n) +=! exp(X(n,c) - top(n))  L(n) = log(t(n)) + top(n) }",
      {4096, 5000});
  one("squares-of-columns", "def f(float(N,C) X) -> (S) { S(c) +=! X(n,c) * X(n,c) }", {60000, 200});
  one("permute-0132", "def f(float(A,B,C,D) X) -> (Y) { Y(a,b,d,c) = X(a,b,c,d) }", {64, 8, 128, 200});
  one("window-sums", "def f(float(N,L) X) -> (Y) { Y(n,i) +=! X(n,i+r) where r in 0:9 }", {2048, 4104});
}

}  // namespace

std::vector<PricedProgram> grid_programs() {
  std::vector<PricedProgram> all;
  add_products(all);
  add_windows(all);
  add_rows(all);
  add_copies(all);
  add_held_out(all);
  return all;
}
