"""Products and convolutions: the compiler's own code, oneDNN's routines and OpenBLAS's, measured in turns.

    python benchmarks/libraries.py [--threads 1] [--rounds 30] [--only conv]

Prints a row a case: microseconds, the least of the rounds' medians, and which routine was called. Each library must give what own code
gives, up to rounding.
"""

import argparse
import os
import time

import torch

import tensor_comprehensions as tc

PRODUCT = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
LINEAR = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"
VECTOR = "def f(float(M,K) A, float(K) x) -> (y) { y(m) +=! A(m,k) * x(k) }"
BATCHED = "def f(float(B,M,K) A, float(B,K,N) W) -> (C) { C(b,m,n) +=! A(b,m,k) * W(b,k,n) }"
PADDED = """def f(float(N,C,H,W) X, float(K,C,R,S) F, float(K) b) -> (Y) {
  Z(n,k,h,w) +=! (h + r >= 1 && h + r < H + 1 && w + s >= 1 && w + s < W + 1) ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0
    where h in 0:H, w in 0:W
  Y(n,k,h,w) = fmax(Z(n,k,h,w) + b(k), 0) }"""
POINTWISE = "def f(float(N,C,H,W) X, float(K,C) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,h,w) * F(k,c) }"
STRIDED = "def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,2*h + r,2*w + s) * F(k,c,r,s) }"
GROUPED = """def f(float(N,C,H,W) X, float(G,K,D,R,S) F) -> (Y) {
  Y(n,g,k,h,w) +=! X(n,4*g + c,h + r,w + s) * F(g,k,c,r,s) where c in 0:4 }"""
DEPTHWISE = "def f(float(N,C,H,W) X, float(C,R,S) F) -> (Y) { Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }"

CASES = [
    ("product 512", PRODUCT, [(512, 512), (512, 512)]),
    ("product 1024", PRODUCT, [(1024, 1024), (1024, 1024)]),
    ("linear 16x1024x4096", LINEAR, [(16, 1024), (4096, 1024)]),
    ("linear 128x768x3072", LINEAR, [(128, 768), (3072, 768)]),
    ("matrix by vector 4096", VECTOR, [(4096, 4096), (4096,)]),
    ("batched 64 x 64", BATCHED, [(64, 64, 64), (64, 64, 64)]),
    ("conv 3x3 bias relu 64 @56", PADDED, [(1, 64, 56, 56), (64, 64, 3, 3), (64,)]),
    ("conv 3x3 bias relu 256 @14", PADDED, [(1, 256, 14, 14), (256, 256, 3, 3), (256,)]),
    ("conv 3x3 bias relu 512 @7", PADDED, [(1, 512, 7, 7), (512, 512, 3, 3), (512,)]),
    ("conv 1x1 256 to 64 @56", POINTWISE, [(1, 256, 56, 56), (64, 256)]),
    ("conv 7x7 stride 2 @229", STRIDED, [(1, 3, 229, 229), (64, 3, 7, 7)]),
    ("conv 3x3 grouped 32x4 @58", GROUPED, [(1, 128, 58, 58), (32, 4, 4, 3, 3)]),
    ("conv 3x3 depthwise 128 @58", DEPTHWISE, [(1, 128, 58, 58), (128, 3, 3)]),
]


def median_us(f, tensors, out, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        f(*tensors, out=out)
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2] * 1e6


def measure(text, shapes, libraries, rounds):
    """Microseconds and routines by library; those that have none are left out."""
    module = tc.define(text)
    tensors = [torch.randn(shape) for shape in shapes]
    found = {name: tc.compile(module.f, *tensors, libraries=name) for name in libraries}
    found = {name: f for name, f in found.items() if name == "none" or f.stats["library_calls"]}
    wanted = found["none"](*tensors)
    best = {name: float("inf") for name in found}
    for _ in range(rounds):
        for name, f in found.items():
            out = torch.full_like(wanted, float("nan"))
            best[name] = min(best[name], median_us(f, tensors, out, 5))
            torch.testing.assert_close(out, wanted, rtol=1e-3, atol=1e-3 * wanted.abs().max().item())
    return {name: (best[name], [call.split(" ")[0] for call in f.stats["library_calls"]]) for name, f in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    tc.set_num_threads(given.threads)
    libraries = ["none", "onednn:finite", "openblas"]
    print(f"{given.threads} threads; load {os.getloadavg()[0]:.1f}; microseconds")
    print(f"{'':28}" + "".join(f"{name:>28}" for name in ["own code", *libraries[1:]]))
    for name, text, shapes in CASES:
        if given.only not in name:
            continue
        times = measure(text, shapes, libraries, given.rounds)
        cells = [f"{times[l][0]:10.1f} {'+'.join(times[l][1]):17}" if l in times else f"{'none':28}" for l in libraries]
        print(f"{name:28}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
