"""Statements that share data, fused as the compiler chooses and apart (`fusion=min`), run in turns on one thread.

Prints, for each program, the median of each and their ratio: above 1, the compiler fused what runs faster apart.
"""

import statistics
import sys
import time

import tensor_comprehensions as tc
import torch

PRODUCTS = "Q(n,o) +=! X(n,k)*A(o,k) R(n,o) +=! X(n,k)*B(o,k) V(n,o) +=! X(n,k)*C(o,k)"
PROGRAMS = {
    "three products of one factor": (
        f"def f(float(M,K) X, float(O,K) A, float(O,K) B, float(O,K) C) -> (Q,R,V) {{ {PRODUCTS} }}",
        [(512, 512)] * 4,
    ),
    "the same, transposed": (
        "def f(float(M,K) X, float(K,O) A, float(K,O) B, float(K,O) C) -> (Q,R,V) { "
        + PRODUCTS.replace("(o,k)", "(k,o)")
        + " }",
        [(512, 512)] * 4,
    ),
    "gated product": (
        "def f(float(M,K) X, float(O,K) A, float(O,K) B) -> (Y) { G(n,o) +=! X(n,k)*A(o,k) U(n,o) +=! X(n,k)*B(o,k) "
        "Y(n,o) = G(n,o)/(1+exp(-G(n,o)))*U(n,o) }",
        [(256, 512), (512, 512), (512, 512)],
    ),
    "attention": (
        "def f(float(B,H,N,D) Q, float(B,H,N,D) K, float(B,H,N,D) V) -> (O) { S(b,h,n,m) +=! Q(b,h,n,d)*K(b,h,m,d) "
        "top(b,h,n) max=! S(b,h,n,m) E(b,h,n,m) = exp(S(b,h,n,m)-top(b,h,n)) t(b,h,n) +=! E(b,h,n,m) "
        "O(b,h,n,d) +=! E(b,h,n,m)*V(b,h,m,d) O(b,h,n,d) = O(b,h,n,d)/t(b,h,n) }",
        [(1, 8, 256, 64)] * 3,
    ),
    "two convolutions of one image": (
        "def f(float(N,C,H,W) I, float(M,C,3,3) A, float(M,C,3,3) B) -> (P,Q) { "
        "P(n,m,h,w) +=! I(n,c,h+kh,w+kw)*A(m,c,kh,kw) Q(n,m,h,w) +=! I(n,c,h+kh,w+kw)*B(m,c,kh,kw) }",
        [(1, 64, 58, 58), (64, 64, 3, 3), (64, 64, 3, 3)],
    ),
    "two depthwise convolutions": (
        "def f(float(N,C,H,W) I, float(C,3,3) A, float(C,3,3) B) -> (P,Q) { "
        "P(n,c,h,w) +=! I(n,c,h+kh,w+kw)*A(c,kh,kw) Q(n,c,h,w) +=! I(n,c,h+kh,w+kw)*B(c,kh,kw) }",
        [(1, 64, 58, 58), (64, 3, 3), (64, 3, 3)],
    ),
    "sums of rows and of columns": (
        "def f(float(N,N) A, float(N) x, float(N) w) -> (y,z) { y(i) +=! A(i,j)*x(j) z(j) +=! A(i,j)*w(i) }",
        [(2048, 2048), (2048,), (2048,)],
    ),
    "sum and sum of squares": (
        "def f(float(N,K) X) -> (s,q) { s(n) +=! X(n,k) q(n) +=! X(n,k)*X(n,k) }",
        [(2048, 4096)],
    ),
}


def in_turns(functions, rounds):
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(rounds):
        for function, measured in zip(functions, times):
            start = time.perf_counter()
            function()
            measured.append(time.perf_counter() - start)
    return [statistics.median(measured) * 1e3 for measured in times]


def main(rounds=25):
    tc.set_num_threads(1)
    print(f"{'program':32}{'chosen, ms':>12}{'apart, ms':>12}{'ratio':>8}")
    for name, (text, shapes) in PROGRAMS.items():
        inputs = [torch.randn(*shape) for shape in shapes]
        function = tc.define(text).f
        chosen = tc.compile(function, *inputs, options="fusion=preserve3")
        apart = tc.compile(function, *inputs, options="fusion=min")
        for a, b in zip(chosen(*inputs), apart(*inputs)):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
        one, other = in_turns([lambda: chosen(*inputs), lambda: apart(*inputs)], rounds)
        print(f"{name:32}{one:12.3f}{other:12.3f}{one / other:8.2f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
