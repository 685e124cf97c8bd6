#include "test/proof/evidence_fixture.h"

#include "tc/engine/compile/pipeline.h"
#include "tc/engine/compile/write_evidence.h"
#include "tc/engine/engine.h"

namespace tc::proof {

proto::Evidence evidence_of(const std::shared_ptr<const engine::Function>& function,
                            const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                            const std::string& options, const std::string& target) {
  engine::CompileOptions how;
  how.target = Target::parse(target);
  how.mapping = options::MappingOptions::parse(options);
  const auto arguments = engine::make_arguments(*function, inputs, outputs);
  const auto bytes = std::make_shared<std::string>();
  engine::map_launches(function, arguments, how,
                       [bytes](engine::CompileState& state) { *bytes = engine::write_evidence(state); });
  proto::Evidence result;
  if (!result.ParseFromString(*bytes)) throw InternalError("the evidence cannot be read back");
  return result;
}

proto::Evidence evidence_of(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes,
                            const std::string& options, const std::string& target) {
  const auto function = engine::define(text).functions.back();
  std::vector<TensorSpec> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(contiguous(function->def.tensors.at(function->def.params.at(i).name).type, shapes[i]));
  return evidence_of(function, inputs, {}, options, target);
}

const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {"elementwise", "def f(float(N,M) A, float(M) b) -> (C) { C(n,m) = A(n,m) + b(m) }", {{40, 33}, {33}}},
      {"product", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{50, 40}, {40, 70}}},
      {"packed",
       "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{200, 300}, {300, 500}},
       "",
       "cpu:avx2,l1=4k,l2=32k"},
      {"transposed", "def f(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }", {{90, 60}, {70, 90}}},
      {"softmax",
       "def f(float(N,D) I) -> (O, mx, s) { mx(n) max=! I(n,d)  E(n,d) = exp(I(n,d) - mx(n))  s(n) +=! E(n,d)  O(n,d) "
       "= "
       "E(n,d) / s(n) }",
       {{20, 200}}},
      {"convolution",
       "def f(float(N,C,H,W) I, float(M,C,KH,KW) K, float(M) b) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * "
       "K(m,c,kh,kw)  "
       "O(n,m,h,w) = fmax(O(n,m,h,w) + b(m), 0) }",
       {{1, 4, 14, 14}, {8, 4, 3, 3}, {8}}},
      {"padded",
       "def f(float(H) I, float(K) W) -> (O) { O(h) +=! (h + k >= 1 && h + k < H + 1) ? I(h+k-1) * W(k) : 0 where h in "
       "0:H }",
       {{50}, {3}}},
      {"column sums", "def f(float(N,M) A) -> (s) { s(m) +=! A(n,m) }", {{300, 20}}},
      {"row sums", "def f(float(N,M) A) -> (s) { s(n) +=! A(n,m) }", {{30, 1000}}},
      {"sum", "def f(float(N) A) -> (s) { s +=! A(n) }", {{100000}}},
      {"accumulated", "def f(float(M,K) A, float(K) x) -> (float(M) y) { y(m) += A(m,k) * x(k) }", {{40, 60}, {60}}},
      {"chain", "def f(float(N) A) -> (D) { B(i) = A(i) * 2  C(i) = B(i) + 1  D(i) = C(i) * C(i) }", {{300}}},
      {"stencil", "def f(float(N) A) -> (C) { B(i) = A(i) + A(i+1)  C(i) = B(i) * B(i+1) }", {{300}}, "fusion=max"},
      {"own target", "def f(float(N) A) -> (B) { B(i) = A(i)  B(i) = B(N - 1 - i) + B(i) where i in 0:N }", {{60}}},
      {"halves", "def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{20, 30}, {30, 40}}},
      {"two products",
       "def f(float(M,K) A, float(K,N) B, float(N,P) E) -> (C, D) { C(m,n) +=! A(m,k) * B(k,n)  D(m,p) +=! C(m,n) * "
       "E(n,p) }",
       {{30, 20}, {20, 40}, {40, 24}}},
      {"scan",
       "def f(float(T,N) A, float(M,N) W) -> (Y) { for t in 0:T { H(t,n) = A(t,n) + (t >= 3 ? H(t-1,n) * H(t-3,n) : 1) "
       "} Y(m) +=! W(m,n) * H(T-1,n) }",
       {{9, 20}, {3, 20}}},
  };
  return all;
}

}  // namespace tc::proof
