"""Products and convolutions: the compiler's own code, oneDNN's routines and OpenBLAS's, measured in turns.

    python benchmarks/libraries.py [--threads 1] [--rounds 30] [--only conv]
    python benchmarks/libraries.py --models resnet18,resnet50,mobilenet_v2 [--batch 1]

Prints a row a case: microseconds, the least of the rounds' medians, and which routine was called. Each library must give what own code
gives, up to rounding.

With `--models`, a row a way to compile a model, `libraries` and `layouts`: milliseconds of a call, in turns, quartiles in brackets (in one thread of its
processor time, which other work on the machine disturbs less); the speed
relative to the first way, by the median of the quotients of each round; and the copies that oneDNN makes inside its routines in one call, of
all primitives, and their share of its time, from its log in a process of their own (`DNNL_VERBOSE=1`). `--ways` gives other ways.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
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


WAYS = "none+constants,onednn+constants,onednn+resolve,measured+measured"


def compiled(name, batch, library, layouts, cache=False):
    """The model, its inputs, and the compiled model after its first call, which took as many seconds as are returned."""
    import models

    import tensor_comprehensions.torch  # noqa: F401  (registers the backend)

    model, inputs = models.make(name, batch)
    models.take_statistics(model, inputs)
    torch._dynamo.reset()
    f = torch.compile(model, backend="tc", options={"libraries": library, "layouts": layouts, "freeze": True, "cache": cache})
    begin = time.perf_counter()
    with torch.no_grad():
        torch.testing.assert_close(f(*inputs), model(*inputs), rtol=1e-3, atol=1e-3)
    return f, inputs, time.perf_counter() - begin


def one_call(name, batch, library, layouts):
    """A call of the model between two marks, for the log of oneDNN."""
    f, inputs, _ = compiled(name, batch, library, layouts)
    with torch.no_grad():
        print("call begins", flush=True)
        f(*inputs)
        print("call ends", flush=True)


def copies(name, batch, library, layouts):
    """The reorders that oneDNN runs in a call, all its primitives, and the milliseconds of both."""
    command = [sys.executable, __file__, "--one-call", name, str(batch), library, layouts]
    log = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "DNNL_VERBOSE": "1"}).stdout
    lines = [line for line in log.split("call begins")[1].split("call ends")[0].splitlines() if ",exec," in line]
    reorders = [line for line in lines if ",reorder," in line]
    milliseconds = [sum(float(line.rsplit(",", 1)[1]) for line in some) for some in (reorders, lines)]
    return len(reorders), len(lines), *milliseconds


def decision():
    """What a compile that measured finalists has chosen."""
    lines = [line for report in tc.torch.reports()[-1:] for f in report.executables for line in f.stats["finalists"]]
    return "; ".join(line for line in lines if "chosen" in line)


def measure_model(name, batch, ways, rounds):
    made, decisions = [], []
    with tempfile.TemporaryDirectory() as folder:
        store = tc.cache.Cache(folder)  # of code that several ways have
        for way in ways:
            made.append(compiled(name, batch, *way, store))
            decisions.append(decision())
    times = [[] for _ in ways]
    clock = time.thread_time if tc.get_num_threads() == 1 else time.perf_counter
    with torch.no_grad():
        for _ in range(rounds):
            for (f, inputs, _), own in zip(made, times):
                f(*inputs)
                begin = clock()
                f(*inputs)
                own.append((clock() - begin) * 1e3)
    for way, own, (_, _, first), chosen in zip(ways, times, made, decisions):
        low, median, high = statistics.quantiles(own, n=4)
        speed = statistics.median(a / b for a, b in zip(times[0], own))
        log = ""
        if way[0] not in ("none", "auto", "measured"):
            reorders, primitives, copying, computing = copies(name, batch, *way)
            log = f"{reorders} of {primitives}, {copying:.1f} of {computing:.1f} ms" if primitives else "none"
        print(f"| {name} | {way[0]} | {way[1]} | {median:.2f} ({low:.2f} to {high:.2f}) | {speed:.3f} | {log} | {first:.1f} | {chosen} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--models", default="")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--ways", default=WAYS)
    parser.add_argument("--one-call", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    tc.set_num_threads(given.threads)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    if given.one_call:
        name, batch, library, layouts = given.one_call
        return one_call(name, int(batch), library, layouts)
    torch.set_num_threads(given.threads)
    if given.models:
        print(f"{given.threads} threads; load {os.getloadavg()[0]:.1f}; batch {given.batch}; {given.rounds} rounds\n")
        print("| model | libraries | layouts | ms | speed | copies of primitives | seconds of the first call, with code that ways before have | finalists |")
        print("|---|---|---|---|---|---|---|---|")
        ways = [tuple(way.split("+")) for way in given.ways.split(",")]
        for name in given.models.split(","):
            measure_model(name, given.batch, ways, given.rounds)
        return
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
