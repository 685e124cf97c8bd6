"""Statements that share data, fused as the compiler chooses and apart (`fusion=min`), run in turns.

Prints, for each program, the time of each and their ratio: above 1, the compiler fused what runs faster apart; then the
time that each took to compile, and whether both are the same loops. Times are lower quartiles, which other work on the
machine disturbs least.

With `--layers` prints, for chains of 8 to 64 layers in one def, what a layer takes to run and to compile.
"""

import argparse
import itertools
import os
import re
import time

import tensor_comprehensions as tc
import torch


def products(count, across, transposed):
    """`count` products of one factor, which is stored by columns where `across`, the others where `transposed`."""
    factor, weight = ("X(k,n)", "W{0}(k,o)") if across else ("X(n,k)", "W{0}(k,o)")
    if transposed:
        weight = "W{0}(o,k)"
    size = 384
    params = ["float(K,M) X" if across else "float(M,K) X"]
    params += [f"float({'O,K' if transposed else 'K,O'}) W{i}" for i in range(count)]
    body = " ".join(f"Y{i}(n,o) +=! {factor}*{weight.format(i)}" for i in range(count))
    results = ",".join(f"Y{i}" for i in range(count))
    return f"def f({', '.join(params)}) -> ({results}) {{ {body} }}", [(size, size)] * (count + 1)


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

for count, across, transposed in itertools.product((2, 3, 4), (False, True), (False, True)):
    name = f"{count} products, {'tn'[not across]}{'nt'[transposed]}"
    PROGRAMS[name] = products(count, across, transposed)


def quartile(times):
    return sorted(times)[len(times) // 4]


def in_turns(functions, rounds):
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(rounds):
        for function, measured in zip(functions, times):
            start = time.perf_counter()
            function()
            measured.append(time.perf_counter() - start)
    return [quartile(measured) * 1e3 for measured in times]


def compile_timed(function, inputs, options):
    """The executable, and the milliseconds it took."""
    start = time.perf_counter()
    executable = tc.compile(function, *inputs, options=options)
    return executable, (time.perf_counter() - start) * 1e3


def loops_of(executable):
    """The loop nests, without the numbers that make names unique."""
    text = executable.explain()
    return re.sub(r"\$\d+", "", text[text.index("## loop nest") : text.index("## assembly")])


def compare(name, text, shapes, rounds):
    inputs = [torch.randn(*shape) for shape in shapes]
    function = tc.define(text).f
    chosen, chosen_compile = compile_timed(function, inputs, "fusion=preserve3")
    apart, apart_compile = compile_timed(function, inputs, "fusion=min")
    for a, b in zip(chosen(*inputs), apart(*inputs)):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
    one, other = in_turns([lambda: chosen(*inputs), lambda: apart(*inputs)], rounds)
    same = "  same loops" if loops_of(chosen) == loops_of(apart) else ""
    compiles = f"{chosen_compile:14.0f}{apart_compile:14.0f}{chosen_compile / apart_compile:8.2f}"
    print(f"{name:32}{one:12.3f}{other:12.3f}{one / other:8.2f}{compiles}{same}", flush=True)


def chain(kind, count):
    """`count` small layers, so that no run is long enough to be interrupted, and the shapes of their tensors."""
    if kind == "dense":
        params, shapes = ["float(N,K) T0"], [(64, 64)]
        layer = "T{1}(n,o) +=! T{0}(n,k)*W{0}(o,k) T{1}(n,o) = fmax(T{1}(n,o) + b{0}(o), 0)"
        weights, weight_shapes = ["float(K,K) W{0}", "float(K) b{0}"], [(64, 64), (64,)]
    else:
        params, shapes = ["float(C,H,W) T0"], [(8, 16, 16)]
        layer = (
            "T{1}(m,h,w) +=! (h+i >= 1 && h+i-1 < H && w+j >= 1 && w+j-1 < W ? T{0}(c,h+i-1,w+j-1) : 0)*W{0}(m,c,i,j) "
            "where h in 0:H, w in 0:W, i in 0:3, j in 0:3 T{1}(m,h,w) = fmax(T{1}(m,h,w) + b{0}(m), 0)"
        )
        weights, weight_shapes = ["float(C,C,3,3) W{0}", "float(C) b{0}"], [(8, 8, 3, 3), (8,)]
    for i in range(count):
        params += [weight.format(i) for weight in weights]
        shapes += weight_shapes
    body = " ".join(layer.format(i, i + 1) for i in range(count))
    return f"def f({', '.join(params)}) -> (T{count}) {{ {body} }}", shapes


def measure_layers(rounds):
    print(f"{'chain':16}{'layers':>8}{'define, ms':>12}{'compile, ms':>12}{'run, ms':>10}{'a layer, us':>13}")
    for kind, count in itertools.product(("dense", "convolutions"), (8, 16, 32, 64)):
        text, shapes = chain(kind, count)
        inputs = [torch.randn(*shape) / 8 for shape in shapes]
        start = time.perf_counter()
        function = tc.define(text).f
        defined = time.perf_counter()
        executable = tc.compile(function, *inputs)
        compiled = time.perf_counter()
        (run,) = in_turns([lambda: executable(*inputs)], 8 * rounds)
        before = f"{(defined - start) * 1e3:12.1f}{(compiled - defined) * 1e3:12.0f}"
        print(f"{kind:16}{count:8}{before}{run:10.3f}{run * 1e3 / count:13.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--layers", action="store_true")
    arguments = parser.parse_args()
    for threads in arguments.threads:
        tc.set_num_threads(threads)
        print(f"\n{threads} threads, load {os.getloadavg()[0]:.1f}")
        if arguments.layers:
            measure_layers(arguments.rounds)
            continue
        columns = f"{'chosen, ms':>12}{'apart, ms':>12}{'ratio':>8}{'compile, ms':>14}{'apart, ms':>14}{'ratio':>8}"
        print(f"{'program':32}{columns}")
        for name, (text, shapes) in PROGRAMS.items():
            compare(name, text, shapes, arguments.rounds)


if __name__ == "__main__":
    main()
