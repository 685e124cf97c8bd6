#include "programs.h"

namespace {

using tc::DType;
using Shape = std::vector<std::int64_t>;

tc::TensorSpec f(Shape shape) { return tc::contiguous(DType::Float32, std::move(shape)); }
tc::TensorSpec i64(Shape shape) { return tc::contiguous(DType::Int64, std::move(shape)); }

void add_contractions(std::vector<PricedProgram>& all) {
  auto add = [&](const char* name, const char* text, Shape a, Shape b) {
    all.push_back({name, text, {f(std::move(a)), f(std::move(b))}});
  };
  add("gram", "def f(float(N,D) X, float(N,D) Z) -> (G) { G(d,e) +=! X(n,d) * Z(n,e) }", {2000, 96}, {2000, 96});
  add("scores-of-heads", "def f(float(B,Q,H,D) X, float(B,K,H,D) Y) -> (S) { S(b,h,q,k) +=! X(b,q,h,d) * Y(b,k,h,d) }",
      {2, 96, 8, 64}, {2, 96, 8, 64});
  add("values-of-heads", "def f(float(B,H,Q,K) P, float(B,K,H,D) V) -> (O) { O(b,q,h,d) +=! P(b,h,q,k) * V(b,k,h,d) }",
      {2, 8, 96, 96}, {2, 96, 8, 64});
  add("of-three-by-matrix", "def f(float(A,B,C) X, float(C,D) Y) -> (Z) { Z(a,b,d) +=! X(a,b,c) * Y(c,d) }",
      {30, 41, 64}, {64, 50});
  add("middle-dimension", "def f(float(A,B,C) X, float(B,D) Y) -> (Z) { Z(a,d,c) +=! X(a,b,c) * Y(b,d) }",
      {24, 48, 100}, {48, 60});
  add("first-dimension", "def f(float(A,B,C) X, float(A,D) Y) -> (Z) { Z(d,b,c) +=! X(a,b,c) * Y(a,d) }", {40, 30, 130},
      {40, 64});
  add("two-summed", "def f(float(I,J,K) X, float(J,I,L) Y) -> (Z) { Z(k,l) +=! X(i,j,k) * Y(j,i,l) }", {32, 24, 120},
      {24, 32, 72});
  add("many-small-products", "def f(float(B,M,K) X, float(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }",
      {2000, 6, 6}, {2000, 6, 6});
  add("batch-last", "def f(float(M,K,B) X, float(K,N,B) Y) -> (Z) { Z(m,n,b) +=! X(m,k,b) * Y(k,n,b) }", {20, 24, 100},
      {24, 28, 100});
  add("matrix-by-vectors", "def f(float(B,M,N) A, float(B,N) x) -> (y) { y(b,m) +=! A(b,m,n) * x(b,n) }",
      {16, 200, 300}, {16, 300});
  add("skinny", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {4000, 100}, {100, 7});
  add("inner", "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", {24, 20000}, {20, 20000});
  add("distances", "def f(float(N,D) X, float(M,D) Z) -> (S) { S(n,m) +=! (X(n,d) - Z(m,d)) * (X(n,d) - Z(m,d)) }",
      {400, 32}, {300, 32});
  add("manhattan", "def f(float(N,D) X, float(M,D) Z) -> (S) { S(n,m) +=! fabs(X(n,d) - Z(m,d)) }", {300, 24},
      {500, 24});
  add("max-plus", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) + B(k,n) }", {200, 150}, {150, 220});
  add("banded", "def f(float(H,T,D) Q, float(H,S,D) K) -> (O) { O(h,t,w) +=! Q(h,t,d) * K(h,t+w,d) where w in 0:33 }",
      {4, 256, 64}, {4, 288, 64});
  add("kronecker", "def f(float(A,B) X, float(C,D) Y) -> (Z) { Z(a,c,b,d) = X(a,b) * Y(c,d) }", {30, 30}, {32, 33});
  all.push_back({"bilinear",
                 "def f(float(N,A) X, float(K,A,B) W, float(N,B) Z) -> (Y) { T(n,k,b) +=! X(n,a) * W(k,a,b)  "
                 "Y(n,k) +=! T(n,k,b) * Z(n,b) }",
                 {f({64, 48}), f({10, 48, 40}), f({64, 40})}});
}

void add_windows(std::vector<PricedProgram>& all) {
  auto add = [&](const char* name, const char* text, Shape a, Shape b) {
    all.push_back({name, text, {f(std::move(a)), f(std::move(b))}});
  };
  add("conv-5x5", "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+r,w+s) * K(m,c,r,s) }",
      {1, 16, 36, 36}, {24, 16, 5, 5});
  add("conv-stem",
      "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,2*h+r,2*w+s) * K(m,c,r,s) }",
      {1, 3, 117, 117}, {32, 3, 7, 7});
  add("conv-channels-last",
      "def f(float(N,H,W,C) I, float(R,S,C,M) K) -> (O) { O(n,h,w,m) +=! I(n,h+r,w+s,c) * K(r,s,c,m) }",
      {1, 30, 30, 32}, {3, 3, 32, 48});
  add("conv-one-channel", "def f(float(H,W) I, float(M,R,S) K) -> (O) { O(m,h,w) +=! I(h+r,w+s) * K(m,r,s) }",
      {130, 130}, {16, 5, 5});
  add("conv-small-image",
      "def f(float(N,C,H,W) I, float(M,C,R,S) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+r,w+s) * K(m,c,r,s) }", {8, 64, 6, 6},
      {64, 64, 3, 3});
  add("conv-3d",
      "def f(float(C,D,H,W) I, float(M,C,T,R,S) K) -> (O) { O(m,d,h,w) +=! I(c,d+t,h+r,w+s) * K(m,c,t,r,s) }",
      {4, 14, 26, 26}, {8, 4, 3, 3, 3});
  add("conv-1d-wide", "def f(float(N,C,W) I, float(M,C,S) K) -> (O) { O(n,m,w) +=! I(n,c,w+s) * K(m,c,s) }",
      {2, 16, 1008}, {16, 16, 9});
  add("depthwise-5x5-stride-2",
      "def f(float(N,C,H,W) I, float(C,R,S) K) -> (O) { O(n,c,h,w) +=! I(n,c,2*h+r,2*w+s) * K(c,r,s) }",
      {1, 96, 59, 59}, {96, 5, 5});
  add("depthwise-channels-last",
      "def f(float(N,H,W,C) I, float(R,S,C) K) -> (O) { O(n,h,w,c) +=! I(n,h+r,w+s,c) * K(r,s,c) }", {1, 58, 58, 96},
      {3, 3, 96});
  add("conv-transposed",
      "def f(float(N,C,H,W) I, float(C,M,R,S) K) -> (O) { O(n,m,y,x) +=! (y+1-r) % 2 == 0 && (x+1-s) % 2 == 0 && y+1-r "
      ">= 0 && x+1-s >= 0 && (y+1-r)/2 < H && (x+1-s)/2 < W ? I(n,c,(y+1-r)/2,(x+1-s)/2) * K(c,m,r,s) : 0 where y in "
      "0:28, x in 0:28 }",
      {1, 32, 14, 14}, {32, 16, 4, 4});
  all.push_back({"conv-bias-relu",
                 "def f(float(N,C,H,W) I, float(M,C,R,S) K, float(M) b) -> (O) { O(n,m,h,w) +=! I(n,c,h+r,w+s) * "
                 "K(m,c,r,s)  O(n,m,h,w) = fmax(O(n,m,h,w) + b(m), 0) }",
                 {f({1, 24, 42, 42}), f({24, 24, 3, 3}), f({24})}});
  auto of = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  of("pool-average-3x3",
     "def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) +=! I(n,c,2*h+r,2*w+s) * 0.1111 where r in 0:3, s in 0:3 }",
     {2, 48, 57, 57});
  of("pool-global", "def f(float(N,C,H,W) I) -> (O) { O(n,c) +=! I(n,c,h,w) * 0.02 }", {8, 512, 7, 7});
  of("pool-channels-last",
     "def f(float(N,H,W,C) I) -> (O) { O(n,h,w,c) max=! I(n,2*h+r,2*w+s,c) where r in 0:2, s in 0:2 }",
     {2, 56, 56, 64});
  of("upsample", "def f(float(N,C,H,W) I) -> (O) { O(n,c,y,x) = I(n,c,y/2,x/2) where y in 0:112, x in 0:112 }",
     {1, 48, 56, 56});
  of("blur-of-two",
     "def f(float(H,W) I) -> (O) { T(h,w) = 0.25 * I(h,w) + 0.5 * I(h,w+1) + 0.25 * I(h,w+2)  O(h,w) = 0.25 * T(h,w) + "
     "0.5 * T(h+1,w) + 0.25 * T(h+2,w) }",
     {700, 700});
  of("running-mean", "def f(float(N,T) X) -> (Y) { Y(n,t) +=! X(n,t+k) * 0.0625 where k in 0:16 }", {64, 4015});
}

void add_norms(std::vector<PricedProgram>& all) {
  auto of = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  of("batch-norm",
     "def f(float(N,C,H,W) X) -> (Y) { m(c) +=! X(n,c,h,w)  m(c) = m(c) / (N*H*W)  v(c) +=! (X(n,c,h,w) - m(c)) * "
     "(X(n,c,h,w) - m(c))  Y(n,c,h,w) = (X(n,c,h,w) - m(c)) * rsqrt(v(c) / (N*H*W) + 1e-5) }",
     {8, 48, 28, 28});
  of("group-norm",
     "def f(float(N,G,C,P) X) -> (Y) { m(n,g) +=! X(n,g,c,p)  v(n,g) +=! X(n,g,c,p) * X(n,g,c,p)  Y(n,g,c,p) = "
     "(X(n,g,c,p) - m(n,g) / (C*P)) * rsqrt(v(n,g) / (C*P) + 1e-5) }",
     {4, 8, 16, 400});
  of("softmax-of-columns",
     "def f(float(N,C) X) -> (Y) { t(c) max=! X(n,c)  e(n,c) = exp(X(n,c) - t(c))  s(c) +=! e(n,c)  Y(n,c) = e(n,c) / "
     "s(c) }",
     {400, 900});
  of("softmax-short",
     "def f(float(N,C) X) -> (Y) { t(n) max=! X(n,c)  e(n,c) = exp(X(n,c) - t(n))  s(n) +=! e(n,c)  Y(n,c) = e(n,c) / "
     "s(n) }",
     {20000, 10});
  of("log-sum-exp",
     "def f(float(N,C) X) -> (Y) { t(n) max=! X(n,c)  s(n) +=! exp(X(n,c) - t(n))  Y(n) = log(s(n)) + t(n) }",
     {300, 2000});
  of("norms-of-columns",
     "def f(float(N,C) X) -> (Y) { s(c) +=! X(n,c) * X(n,c)  Y(n,c) = X(n,c) * rsqrt(s(c) + 1e-6) }", {1500, 300});
  of("sum-of-all", "def f(float(N,C) X) -> (S) { S() +=! X(n,c) }", {1000, 1000});
  of("sum-middle", "def f(float(A,B,C) X) -> (S) { S(a,c) +=! X(a,b,c) }", {32, 200, 150});
  of("max-of-first", "def f(float(A,B,C) X) -> (S) { S(b,c) max=! X(a,b,c) }", {60, 100, 150});
  of("rows-and-columns", "def f(float(N,C) X) -> (R, S) { R(n) +=! X(n,c)  S(c) +=! X(n,c) }", {1200, 800});
}

void add_movements(std::vector<PricedProgram>& all) {
  auto of = [&](const char* name, const char* text, Shape a) { all.push_back({name, text, {f(std::move(a))}}); };
  of("to-channels-last", "def f(float(N,C,H,W) X) -> (Y) { Y(n,h,w,c) = X(n,c,h,w) }", {4, 64, 56, 56});
  of("permute-4d", "def f(float(A,B,C,D) X) -> (Y) { Y(c,a,d,b) = X(a,b,c,d) }", {24, 32, 20, 40});
  of("heads", "def f(float(B,T,H,D) X) -> (Y) { Y(b,h,t,d) = X(b,t,h,d) }", {4, 256, 8, 64});
  of("transposed-sum", "def f(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) + 1 }", {600, 900});
  of("symmetric", "def f(float(N,N) X) -> (Y) { Y(i,j) = 0.5 * (X(i,j) + X(j,i)) }", {700, 700});
  of("reversed", "def f(float(N,C) X) -> (Y) { Y(n,c) = X(n, C-1-c) }", {700, 1000});
  of("strided-columns", "def f(float(N,C) X) -> (Y) { Y(n,c) = X(n, 3*c) + X(n, 3*c+1) * X(n, 3*c+2) }", {600, 1500});
  of("tanh-of-half", "def f(float(N,C) X) -> (Y) { Y(n,c) = tanh(X(n,c)) * sigmoid(X(n,c+C/2)) where c in 0:256 }",
     {500, 512});
  of("triangle", "def f(float(N,N) X) -> (Y) { Y(i,j) = j <= i ? X(i,j) : 0 }", {1000, 1000});
  of("stencil-of-columns", "def f(float(H,W) X) -> (Y) { Y(h,w) = X(h,w) - 2 * X(h+1,w) + X(h+2,w) }", {1002, 700});
  of("laplace-3d",
     "def f(float(D,H,W) X) -> (Y) { Y(d,h,w) = X(d,h+1,w+1) + X(d+2,h+1,w+1) + X(d+1,h,w+1) + X(d+1,h+2,w+1) + "
     "X(d+1,h+1,w) + X(d+1,h+1,w+2) - 6 * X(d+1,h+1,w+1) }",
     {50, 102, 102});
}

void add_parts_of_models(std::vector<PricedProgram>& all) {
  all.push_back(
      {"gated",
       "def f(float(N,D) X, float(H,D) W, float(H,D) V) -> (Y) { a(n,h) +=! X(n,d) * W(h,d)  b(n,h) +=! X(n,d) * "
       "V(h,d)  Y(n,h) = a(n,h) * sigmoid(a(n,h)) * b(n,h) }",
       {f({48, 256}), f({300, 256}), f({300, 256})}});
  all.push_back(
      {"gate-of-lstm",
       "def f(float(B,I) x, float(B,H) h, float(G,I) W, float(G,H) U, float(G) b) -> (z) { z(n,g) +=! x(n,i) * "
       "W(g,i)  z(n,g) += h(n,k) * U(g,k)  z(n,g) = tanh(z(n,g) + b(g)) }",
       {f({16, 128}), f({16, 160}), f({640, 128}), f({640, 160}), f({640})}});
  all.push_back(
      {"causal-attention",
       "def f(float(H,S,D) Q, float(H,T,D) K, float(H,T,D) V) -> (O) { L(h,s,t) +=! Q(h,s,d) * K(h,t,d)  E(h,s,t) = t "
       "<= s ? exp(0.1 * L(h,s,t)) : 0  z(h,s) +=! E(h,s,t)  O(h,s,d) +=! E(h,s,t) * V(h,t,d)  O(h,s,d) = O(h,s,d) "
       "/ z(h,s) }",
       {f({4, 96, 32}), f({4, 96, 32}), f({4, 96, 32})}});
  all.push_back(
      {"rotary",
       "def f(float(T,H,D) X, float(T,E) c, float(T,E) s) -> (Y) { Y(t,h,d) = d % 2 == 0 ? X(t,h,d) * c(t,d/2) - "
       "X(t,h,d+1) * s(t,d/2) : X(t,h,d) * c(t,d/2) + X(t,h,d-1) * s(t,d/2) where d in 0:64 }",
       {f({256, 8, 65}), f({256, 32}), f({256, 32})}});
  all.push_back({"weighted-bags",
                 "def f(float(E,D) T, int64(B,L) I, float(B,L) w) -> (O) { O(b,d) +=! T(I(b,l), d) * w(b,l) }",
                 {f({5000, 48}), i64({200, 20}), f({200, 20})}});
  all.push_back(
      {"layer-norm-add",
       "def f(float(N,C) X, float(N,C) R, float(C) g) -> (Y) { t(n,c) = X(n,c) + R(n,c)  m(n) +=! t(n,c)  v(n) +=! "
       "t(n,c) * t(n,c)  Y(n,c) = (t(n,c) - m(n) / C) * rsqrt(v(n) / C - (m(n) / C) * (m(n) / C) + 1e-5) * g(c) }",
       {f({300, 512}), f({300, 512}), f({512})}});
  all.push_back(
      {"cosine",
       "def f(float(N,D) X, float(N,D) Z) -> (S) { a(n) +=! X(n,d) * Z(n,d)  b(n) +=! X(n,d) * X(n,d)  c(n) +=! "
       "Z(n,d) * Z(n,d)  S(n) = a(n) * rsqrt(b(n) * c(n) + 1e-6) }",
       {f({1000, 300}), f({1000, 300})}});
  all.push_back(
      {"scale-of-channels",
       "def f(float(N,C,H,W) X, float(N,C) s, float(N,C,H,W) R) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w) * s(n,c) + "
       "R(n,c,h,w), 0) }",
       {f({2, 96, 28, 28}), f({2, 96}), f({2, 96, 28, 28})}});
}

}  // namespace

std::vector<PricedProgram> held_out_programs() {
  std::vector<PricedProgram> all;
  add_contractions(all);
  add_windows(all);
  add_norms(all);
  add_movements(all);
  add_parts_of_models(all);
  return all;
}
