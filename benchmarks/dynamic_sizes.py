"""One code for ranges of sizes against code for each size: how long 50 sizes take to compile, and how fast calls are.

    .venv/bin/python benchmarks/dynamic_sizes.py                       # all programs, one thread
    .venv/bin/python benchmarks/dynamic_sizes.py --cases softmax,mlp --seconds 2

Each program runs for the values 1 to 50 of its first size; `compiles` counts the codes that were made, `seconds` is all compiles together
without caches, in seconds of the processor. For the sizes of `--speeds`, both codes are called in turns on the same random data;
the results are compared. `speed` is the time of the code for that size over the time of the code for the range: 1 where nothing is lost. Of each code the
tenth percentile of blocks of calls counts: on a machine with other work, medians measure that too.
"""

import argparse
import json
import pathlib
import statistics
import time

import torch

import tensor_comprehensions as tc

CASES = {
    "product": ("B", "def f(float(B,K) A, float(K,N) W) -> (C) { C(b,n) +=! A(b,k) * W(k,n) }", [(0, 512), (512, 512)]),
    "softmax": (
        "B",
        "def f(float(B,N) X) -> (Y) { M(b) max=! X(b,n)  E(b,n) = exp(X(b,n) - M(b))  S(b) +=! E(b,n)  Y(b,n) = E(b,n) / S(b) }",
        [(0, 1000)],
    ),
    "mlp": (
        "B",
        "def f(float(B,I) X, float(O,I) W, float(O) b) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i)  Y(n,o) = fmax(Y(n,o) + b(o), 0) }",
        [(0, 256), (512, 256), (512,)],
    ),
    "gated": (
        "B",
        "def f(float(B,I) X, float(O,I) W, float(O,I) V) -> (Y) { G(n,o) +=! X(n,i) * W(o,i)  U(n,o) +=! X(n,i) * V(o,i)"
        "  Y(n,o) = G(n,o) / (1 + exp(-G(n,o))) * U(n,o) }",
        [(0, 256), (512, 256), (512, 256)],
    ),
    "layer_norm": (
        "B",
        "def f(float(B,N) X, float(N) g, float(N) c) -> (Y) { M(b) +=! X(b,n) / N  V(b) +=! (X(b,n) - M(b)) * (X(b,n) - M(b)) / N"
        "  Y(b,n) = (X(b,n) - M(b)) * rsqrt(V(b) + 1e-5) * g(n) + c(n) }",
        [(0, 768), (768,), (768,)],
    ),
    "attention": (
        "T",
        "def f(float(H,T,D) Q, float(H,T,D) K, float(H,T,D) V) -> (Y) { S(h,t,s) +=! Q(h,t,d) * K(h,s,d)  M(h,t) max=! S(h,t,s)"
        "  E(h,t,s) = exp(S(h,t,s) - M(h,t))  L(h,t) +=! E(h,t,s)  P(h,t,s) = E(h,t,s) / L(h,t)  Y(h,t,d) +=! P(h,t,s) * V(h,s,d) }",
        [(8, 0, 64), (8, 0, 64), (8, 0, 64)],
    ),
    "conv_batch": (
        "N",
        "def f(float(N,C,H,W) X, float(O,C,3,3) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * K(o,c,kh,kw) }",
        [(0, 32, 16, 16), (32, 32, 3, 3)],
    ),
}


def tensors(shapes, size):
    torch.manual_seed(size)
    return [torch.randn([size if extent == 0 else extent for extent in shape]) for shape in shapes]


def compile_times(text, shapes, dynamic, sizes):
    """Seconds of all compiles, and how many codes were made."""
    function = tc.define(text, cache=False, dynamic=dynamic).f
    start, ranges = time.process_time(), set()
    for size in sizes:
        executable = tc.compile(function, *tensors(shapes, size), cache=False, dynamic=dynamic)
        ranges.add(executable.stats["sizes"] or size)
    return time.process_time() - start, len(ranges)


def seconds_of_call(function, inputs, calls):
    start = time.perf_counter()
    for _ in range(calls):
        function(*inputs)
    return (time.perf_counter() - start) / calls


def speed(text, shapes, name, size, seconds):
    """The time of code for `size` alone over that of code for a range around it, in turns."""
    inputs = tensors(shapes, size)
    alone, ranged = (tc.compile(tc.define(text).f, *inputs, cache=False, dynamic=dynamic) for dynamic in ((), name))
    torch.testing.assert_close(ranged(*inputs), alone(*inputs), rtol=1e-4, atol=1e-4)
    calls = max(1, int(3e-4 / min(seconds_of_call(alone, inputs, 1) for _ in range(20))))
    ours, theirs, end = [], [], time.perf_counter() + seconds
    while len(ours) < 20 or time.perf_counter() < end:
        theirs.append(seconds_of_call(alone, inputs, calls))
        ours.append(seconds_of_call(ranged, inputs, calls))
    return sorted(theirs)[len(theirs) // 10] / sorted(ours)[len(ours) // 10]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--speeds", default="2,3,5,8,9,12,16,17,20,33,40,50,64", help="values of the size that are timed")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, for each size")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    tc.set_num_threads(1)
    torch.set_num_threads(1)
    rows = {}
    for case in asked.cases.split(","):
        name, text, shapes = CASES[case]
        taken, count = compile_times(text, shapes, name, range(1, 51))
        sizes = [int(size) for size in asked.speeds.split(",")]
        speeds = {size: speed(text, shapes, name, size, asked.seconds) for size in sizes}
        rows[case] = {"compiles": count, "seconds": taken, "speeds": speeds}
        listed = "  ".join(f"{size}: {value:.2f}" for size, value in speeds.items())
        print(f"{case:12} {count} compiles {taken:6.2f} s   mean {statistics.geometric_mean(speeds.values()):.2f}   {listed}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
