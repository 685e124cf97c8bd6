#include "programs.h"

#include "tc/base/str.h"

namespace {

using tc::DType;

tc::TensorSpec f(std::vector<std::int64_t> shape) { return tc::contiguous(DType::Float32, std::move(shape)); }
tc::TensorSpec i64(std::vector<std::int64_t> shape) { return tc::contiguous(DType::Int64, std::move(shape)); }

void add_products(std::vector<PricedProgram>& all) {
  const char* mm = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const char* tn = "def f(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";
  const char* nt = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
  const char* tt = "def f(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }";
  const char* bmm = "def f(float(B,M,K) X, float(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }";
  const char* mv = "def f(float(M,N) A, float(N) x) -> (y) { y(m) +=! A(m,n) * x(n) }";
  const char* vm = "def f(float(M,N) A, float(M) x) -> (y) { y(n) +=! A(m,n) * x(m) }";
  all.push_back({"mm-256", mm, {f({256, 256}), f({256, 256})}});
  all.push_back({"mm-384x512x320", mm, {f({384, 320}), f({320, 512})}});
  all.push_back({"mm-512", mm, {f({512, 512}), f({512, 512})}});
  all.push_back({"tn-320", tn, {f({320, 320}), f({320, 320})}});
  all.push_back({"nt-320", nt, {f({320, 320}), f({320, 320})}});
  all.push_back({"tt-320", tt, {f({320, 320}), f({320, 320})}});
  all.push_back({"tt-columns-1024", tt, {f({512, 128}), f({1024, 512})}});
  all.push_back({"tn-columns-4096", tn, {f({128, 64}), f({128, 4096})}});
  all.push_back({"mm-odd", mm, {f({251, 257}), f({257, 253})}});
  all.push_back({"mm-tall", mm, {f({8192, 16}), f({16, 64})}});
  all.push_back({"mm-wide", mm, {f({16, 256}), f({256, 2048})}});
  all.push_back({"nt-batch-1", nt, {f({1, 1024}), f({1024, 1024})}});
  all.push_back({"nt-batch-4", nt, {f({4, 1024}), f({512, 1024})}});
  all.push_back({"mv-1024", mv, {f({1024, 1024}), f({1024})}});
  all.push_back({"vm-1024", vm, {f({1024, 1024}), f({1024})}});
  all.push_back({"bmm-64x24", bmm, {f({64, 24, 24}), f({64, 24, 24})}});
  all.push_back({"bmm-8x128x64", bmm, {f({8, 128, 64}), f({8, 64, 128})}});
  all.push_back({"contraction-abcd",
                 "def f(float(A,E,B,F) X, float(D,F,C,E) Y) -> (Z) { Z(a,b,c,d) +=! X(a,e,b,f) * Y(d,f,c,e) }",
                 {f({12, 16, 12, 16}), f({16, 16, 12, 16})}});
  all.push_back({"mlp-bias-relu",
                 "def f(float(B,M) I, float(N,M) W, float(N) C) -> (O) { O(b,n) +=! I(b,m) * W(n,m)  O(b,n) = "
                 "fmax(O(b,n) + C(n), 0) }",
                 {f({64, 512}), f({512, 512}), f({512})}});
}

void add_convolutions(std::vector<PricedProgram>& all) {
  all.push_back(
      {"conv-3x3",
       "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
       {f({2, 32, 30, 30}), f({32, 32, 3, 3})}});
  all.push_back({"conv-3x3-of-32x32",
                 "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * "
                 "K(m,c,kh,kw) }",
                 {f({2, 32, 34, 34}), f({32, 32, 3, 3})}});
  all.push_back({"conv-1x1-of-64x64",
                 "def f(float(N,C,H,W) I, float(M,C) K) -> (O) { O(n,m,h,w) +=! I(n,c,h,w) * K(m,c) }",
                 {f({1, 64, 64, 64}), f({64, 64})}});
  all.push_back({"conv-1x1",
                 "def f(float(N,C,H,W) I, float(M,C) K) -> (O) { O(n,m,h,w) +=! I(n,c,h,w) * K(m,c) }",
                 {f({2, 64, 28, 28}), f({64, 64})}});
  all.push_back({"conv-stride-2",
                 "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,2*h+kh,2*w+kw) * "
                 "K(m,c,kh,kw) }",
                 {f({2, 32, 57, 57}), f({32, 32, 3, 3})}});
  all.push_back({"depthwise",
                 "def f(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw) }",
                 {f({4, 64, 58, 58}), f({64, 3, 3})}});
  all.push_back({"conv-1d",
                 "def f(float(N,C,W) I, float(M,C,KW) K) -> (O) { O(n,m,w) +=! I(n,c,w+kw) * K(m,c,kw) }",
                 {f({4, 32, 258}), f({64, 32, 3})}});
  all.push_back({"conv-dilated",
                 "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+2*kh,w+2*kw) * "
                 "K(m,c,kh,kw) }",
                 {f({2, 32, 32, 32}), f({32, 32, 3, 3})}});
  all.push_back({"conv-grouped",
                 "def f(float(N,G,C,H,W) I, float(G,M,C,KH,KW) K) -> (O) { O(n,g,m,h,w) +=! I(n,g,c,h+kh,w+kw) * "
                 "K(g,m,c,kh,kw) }",
                 {f({2, 16, 4, 30, 30}), f({16, 4, 4, 3, 3})}});
  all.push_back({"pool-max",
                 "def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) max=! I(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2 }",
                 {f({4, 32, 112, 112})}});
}

void add_rows(std::vector<PricedProgram>& all) {
  all.push_back(
      {"softmax",
       "def f(float(N,C) X) -> (Y) { top(n) max=! X(n,c)  e(n,c) = exp(X(n,c) - top(n))  total(n) +=! e(n,c)  "
       "Y(n,c) = e(n,c) / total(n) }",
       {f({512, 1024})}});
  all.push_back(
      {"layer-norm",
       "def f(float(N,C) X, float(C) g, float(C) b) -> (Y) { mean(n) +=! X(n,c)  mean(n) = mean(n) / C  var(n) "
       "+=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))  Y(n,c) = (X(n,c) - mean(n)) * rsqrt(var(n) / C + 1e-5) * "
       "g(c) + b(c) }",
       {f({512, 768}), f({768}), f({768})}});
  all.push_back(
      {"rms-norm",
       "def f(float(N,C) X, float(C) g) -> (Y) { sq(n) +=! X(n,c) * X(n,c)  Y(n,c) = X(n,c) * rsqrt(sq(n) / C "
       "+ 1e-5) * g(c) }",
       {f({512, 768}), f({768})}});
  all.push_back({"sum-rows", "def f(float(N,C) X) -> (S) { S(n) +=! X(n,c) }", {f({2048, 1024})}});
  all.push_back({"sum-columns", "def f(float(N,C) X) -> (S) { S(c) +=! X(n,c) }", {f({2048, 1024})}});
  all.push_back({"max-rows", "def f(float(N,C) X) -> (S) { S(n) max=! X(n,c) }", {f({1024, 500})}});
  all.push_back({"batch-sums", "def f(float(N,C,H) X) -> (S) { S(c) +=! X(n,c,h) }", {f({16, 64, 784})}});
  all.push_back({"attention",
                 "def f(float(H,S,D) Q, float(H,T,D) K, float(H,T,D) V) -> (O) { L(h,s,t) +=! Q(h,s,d) * K(h,t,d)  "
                 "top(h,s) max=! L(h,s,t)  E(h,s,t) = exp(0.125 * (L(h,s,t) - top(h,s)))  total(h,s) +=! E(h,s,t)  "
                 "O(h,s,d) +=! E(h,s,t) * V(h,t,d)  O(h,s,d) = O(h,s,d) / total(h,s) }",
                 {f({2, 128, 64}), f({2, 128, 64}), f({2, 128, 64})}});
}

void add_memory(std::vector<PricedProgram>& all) {
  all.push_back({"jacobi",
                 "def f(float(H,W) A) -> (B) { B(h,w) = 0.2 * (A(h,w) + A(h,w-1) + A(h,w+1) + A(h-1,w) + "
                 "A(h+1,w)) }",
                 {f({1000, 1000})}});
  all.push_back({"stencil-3x3",
                 "def f(float(H,W) I, float(KH,KW) K) -> (O) { O(h,w) +=! I(h+kh,w+kw) * K(kh,kw) }",
                 {f({514, 514}), f({3, 3})}});
  all.push_back({"heat-3d",
                 "def f(float(D,H,W) A) -> (B) { B(d,h,w) = 0.1 * (A(d,h,w) + A(d-1,h,w) + A(d+1,h,w) + A(d,h-1,w) + "
                 "A(d,h+1,w) + A(d,h,w-1) + A(d,h,w+1)) }",
                 {f({64, 130, 130})}});
  all.push_back({"transpose", "def f(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }", {f({1024, 1000})}});
  all.push_back({"transpose-1024", "def f(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }", {f({1024, 1024})}});
  all.push_back({"permute-3d", "def f(float(A,B,C) X) -> (Y) { Y(c,b,a) = X(a,b,c) }", {f({96, 80, 112})}});
  all.push_back({"permute-021", "def f(float(A,B,C) X) -> (Y) { Y(a,c,b) = X(a,b,c) }", {f({64, 128, 96})}});
  all.push_back({"add",
                 "def f(float(N,C) X, float(N,C) Z) -> (Y) { Y(n,c) = X(n,c) + Z(n,c) }",
                 {f({1000, 1000}), f({1000, 1000})}});
  all.push_back({"bias-relu",
                 "def f(float(N,C,P) X, float(C) b) -> (Y) { Y(n,c,p) = fmax(X(n,c,p) + b(c), 0) }",
                 {f({16, 64, 784}), f({64})}});
  all.push_back({"gelu", "def f(float(N,C) X) -> (Y) { Y(n,c) = gelu(X(n,c)) }", {f({512, 512})}});
  all.push_back({"outer", "def f(float(M) a, float(N) b) -> (C) { C(m,n) = a(m) * b(n) }", {f({1024}), f({1024})}});
  all.push_back(
      {"gather-rows", "def f(float(E,D) T, int64(B) I) -> (O) { O(b,d) = T(I(b), d) }", {f({20000, 64}), i64({4096})}});
  all.push_back({"gather-sum",
                 "def f(float(E,D) T, int64(B,L) I) -> (O) { O(b,d) +=! T(I(b,l), d) }",
                 {f({20000, 64}), i64({128, 50})}});
}

/// A convolution of stride \p stride, I: N C H W, K: M C KH KW.
PricedProgram convolution(const std::string& name, int stride, std::vector<std::int64_t> image,
                          std::vector<std::int64_t> kernel) {
  auto at = [&](const std::string& i) { return stride == 1 ? i + "+k" + i : tc::str(stride, "*", i, "+k", i); };
  auto text = tc::str("def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,", at("h"), ",",
                      at("w"), ") * K(m,c,kh,kw) }");
  return {name, text, {f(std::move(image)), f(std::move(kernel))}};
}
PricedProgram gemm(const std::string& name, std::int64_t m, std::int64_t k, std::int64_t n) {
  return {name,
          "def f(float(M,K) A, float(K,N) B, float(M,N) D) -> (C) { C(m,n) +=! A(m,k) * B(k,n)  C(m,n) = 2 * C(m,n) + "
          "3 * D(m,n) }",
          {f({m, k}), f({k, n}), f({m, n})}};
}
PricedProgram gemv(const std::string& name, std::int64_t m, std::int64_t n) {
  return {name,
          "def f(float(M,N) A, float(N) x, float(M) z) -> (y) { y(m) +=! A(m,n) * x(n)  y(m) = 2 * y(m) + 3 * z(m) }",
          {f({m, n}), f({n}), f({m})}};
}
PricedProgram pooling(const std::string& name, int window, std::vector<std::int64_t> image) {
  return {name,
          tc::str("def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) where kh in 0:", window,
                  ", kw in 0:", window, "  O(n,c,h,w) = O(n,c,h,w) * ", 1.0 / (window * window), " }"),
          {f(std::move(image))}};
}

}  // namespace

std::vector<PricedProgram> paper_programs(bool whole) {
  const std::int64_t batch = whole ? 32 : 1, side = whole ? 16 : 1;
  return {
      convolution("C1", 2, {4 * batch, 256, 30, 30}, {256, 256, 3, 3}),
      convolution("C2", 1, {4 * batch, 128, 28, 28}, {128, 128, 3, 3}),
      convolution("C3", 2, {4 * batch, 128, 58, 58}, {128, 128, 3, 3}),
      gemm("M1", 512 * side, 8192, 512 * side),
      gemm("M2", 4096 * side, 4, 64 * side),
      gemm("M3", 4096 * side, 1024, 256 * side),
      gemm("32768x64x2048", 2048 * side, 64, 128 * side),
      gemm("16384x32x1024", 1024 * side, 32, 64 * side),
      gemv("V1", 1024 * side, 1024 * side),
      gemv("V2", 1024 * side, 512 * side),
      gemv("V3", 1024 * side, whole ? 1000 : 62),
      pooling("P1", 2, {whole ? 16 : 1, 48, 48, 48}),
      pooling("P2", 2, {4 * batch, 168, 83, 83}),
      pooling("P3", 3, {4 * batch, 617, 21, 21}),
  };
}

/// Products that no cache holds.
void add_large_products(std::vector<PricedProgram>& all) {
  auto product = [](const char* a, const char* b, bool a_turned, bool b_turned) {
    return tc::str("def f(float(", a_turned ? "K,M" : "M,K", ") A, float(", b_turned ? "N,K" : "K,N",
                   ") B) -> (C) { C(m,n) +=! A(", a, ") * B(", b, ") }");
  };
  auto nn = product("m,k", "k,n", false, false), nt = product("m,k", "n,k", false, true),
       tn = product("k,m", "k,n", true, false), tt = product("k,m", "n,k", true, true);
  all.push_back({"mm-1024", nn, {f({1024, 1024}), f({1024, 1024})}});
  all.push_back({"nt-1024", nt, {f({1024, 1024}), f({1024, 1024})}});
  all.push_back({"tn-1024", tn, {f({1024, 1024}), f({1024, 1024})}});
  all.push_back({"tt-1024", tt, {f({1024, 1024}), f({1024, 1024})}});
  all.push_back({"mm-2048", nn, {f({2048, 2048}), f({2048, 2048})}});
  all.push_back({"tn-8192x1024x1024", tn, {f({1024, 8192}), f({1024, 1024})}});
  all.push_back({"tn-256x1024x8192", tn, {f({1024, 256}), f({1024, 8192})}});
  all.push_back({"nt-12x1024x1024", nt, {f({12, 1024}), f({1024, 1024})}});
  all.push_back({"nt-128x4096x4096", nt, {f({128, 4096}), f({4096, 4096})}});
  all.push_back({"mm-32x1024x4096", nn, {f({32, 1024}), f({1024, 4096})}});
}

std::vector<PricedProgram> priced_programs() {
  std::vector<PricedProgram> all;
  add_products(all);
  add_large_products(all);
  add_convolutions(all);
  add_rows(all);
  add_memory(all);
  return all;
}
