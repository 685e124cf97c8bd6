"""Measures the compiler on this machine: speed of kernels beside torch and the FMA peak, compile time, call overhead.

    make bench                                    all cases, as a table
    .venv/bin/python benchmarks/bench.py --quick  fewer repetitions
    .venv/bin/python benchmarks/bench.py --only softmax

Kernels are timed in one process, interleaved with their peer on the same threads and inputs; medians with the 10 % and 90 % quantiles. Results are compared with float64 torch.
"""

import argparse
import ctypes
import json
import pathlib
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import tensor_comprehensions as tc

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEAK = ctypes.CDLL(str(ROOT / "build" / "bin" / "libtc_bench_peak.so"))
PEAK.tc_bench_fma_peak.restype = ctypes.c_double

MATMUL_NN = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
MATMUL_NT = "def mm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"
MLP = """def mlp(float(B,I) X, float(O,I) W, float(O) b) -> (Y) {
  Y(n,o) +=! X(n,i) * W(o,i)
  Y(n,o) = fmax(Y(n,o) + b(o), 0)
}"""
SOFTMAX = """def softmax(float(N,C) X) -> (Y) {
  top(n) max=! X(n,c)
  e(n,c) = exp(X(n,c) - top(n))
  total(n) +=! e(n,c)
  Y(n,c) = e(n,c) / total(n)
}"""
LAYER_NORM = """def layer_norm(float(N,C) X, float(C) g, float(C) b) -> (Y) {
  mean(n) +=! X(n,c)
  mean(n) = mean(n) / C
  var(n) +=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))
  Y(n,c) = (X(n,c) - mean(n)) * rsqrt(var(n) / C + 1e-5) * g(c) + b(c)
}"""
CONV = "def conv(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }"
EMBEDDING = "def embedding(float(E,D) T, int64(B,L) I) -> (Y) { Y(b,d) +=! T(I(b,l), d) }"


def quantiles(times):
    """Median, 10 % and 90 % quantile of a list of seconds."""
    times = sorted(times)
    return statistics.median(times), times[len(times) // 10], times[(9 * len(times)) // 10]


def interleaved(functions, repeats, seconds):
    """Seconds of each call of each function, taken in turns.

    Before each timed call a pause lets the peer's idle threads stop spinning, and an untimed call wakes the own ones.
    """
    for function in functions:
        function(), function()
    times = [[] for _ in functions]
    start = time.perf_counter()
    while len(times[0]) < repeats or (time.perf_counter() - start < seconds and len(times[0]) < 20 * repeats):
        for i, function in enumerate(functions):
            time.sleep(0.01)
            function()
            begin = time.perf_counter()
            function()
            times[i].append(time.perf_counter() - begin)
    return [quantiles(t) for t in times]


def kernel_cases():
    """Name, text, def, inputs, torch peer, floating-point operations (0: none worth a ratio)."""
    rand = torch.randn
    for size in (512, 1024):
        flops = 2 * size**3
        yield f"matmul nn {size}^3", MATMUL_NN, "mm", (rand(size, size), rand(size, size)), torch.matmul, flops
        yield (f"matmul nt {size}^3", MATMUL_NT, "mm", (rand(size, size), rand(size, size)),
               lambda a, b: torch.matmul(a, b.T), flops)
    yield ("mlp 256x512x512", MLP, "mlp", (rand(256, 512), rand(512, 512), rand(512)),
           lambda x, w, b: torch.relu(F.linear(x, w, b)), 2 * 256 * 512 * 512)
    yield ("conv 8x32x34x34, 64 3x3", CONV, "conv", (rand(8, 32, 34, 34), rand(64, 32, 3, 3)), F.conv2d,
           2 * 8 * 64 * 32 * 32 * 32 * 9)
    yield "softmax 4096x1024", SOFTMAX, "softmax", (rand(4096, 1024),), lambda x: torch.softmax(x, 1), 0
    yield ("layer norm 4096x1024", LAYER_NORM, "layer_norm", (rand(4096, 1024), rand(1024), rand(1024)),
           lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, 1e-5), 0)
    yield ("embedding 10^5x64, 512x20", EMBEDDING, "embedding", (rand(100000, 64), torch.randint(0, 100000, (512, 20))),
           lambda t, i: F.embedding_bag(i, t, mode="sum"), 0)


def compiled(case):
    """The kernel of a case and the milliseconds from text to machine code."""
    _, text, entry, inputs, _, _ = case
    start = time.perf_counter()
    kernel = tc.compile(getattr(tc.define(text), entry), *inputs)
    return kernel, (time.perf_counter() - start) * 1e3


def measure_kernel(case, kernel, compile_ms, threads, quick):
    """One row: our time, torch's time, ratio, share of the FMA peak, error."""
    name, _, _, inputs, peer, flops = case
    tc.set_num_threads(threads)
    torch.set_num_threads(threads)
    with torch.no_grad():
        ours, theirs = interleaved((lambda: kernel(*inputs), lambda: peer(*inputs)), 5 if quick else 15, 0.3 if quick else 2)
        expected = peer(*[x.double() if x.is_floating_point() else x for x in inputs])
        error = ((kernel(*inputs).double() - expected).abs() / (1 + expected.abs())).max().item()
    peak = max(PEAK.tc_bench_fma_peak() for _ in range(3)) * threads
    return {"case": name, "threads": threads, "ms": ours[0] * 1e3, "ms_low": ours[1] * 1e3, "ms_high": ours[2] * 1e3,
            "torch_ms": theirs[0] * 1e3, "speedup": theirs[0] / ours[0], "compile_ms": compile_ms,
            "peak_share": flops / ours[0] / 1e9 / peak if flops else None,
            "torch_peak_share": flops / theirs[0] / 1e9 / peak if flops else None, "error": error}


def first_result_ms(repeats):
    """define -> first result of new single-statement programs in this warm process."""
    x = torch.randn(128, 128)
    times = []
    for i in range(repeats):
        start = time.perf_counter()
        tc.define(f"def f(float(N,M) X) -> (Y) {{ Y(i,j) = X(i,j) * {i}.5 + 1 }}").f(x)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[1:])


def cold_start_ms(repeats):
    """A new Python process without torch: import, define, compile, run; from its start to its end."""
    program = ("import numpy, tensor_comprehensions as tc;"
               "tc.define('def f(float(N,M) X) -> (Y) { Y(i,j) = X(i,j) * 2 + 1 }').f(numpy.ones((128, 128), 'float32'))")
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def python_call_us():
    """One call from Python on 8-element tensors, output given."""
    kernel = tc.define("def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }").f
    x, y = torch.ones(8), torch.empty(8)
    kernel(x, out=y)
    best = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(2000):
            kernel(x, out=y)
        best.append((time.perf_counter() - start) / 2000 * 1e6)
    allocated = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(2000):
            kernel(x)
        allocated.append((time.perf_counter() - start) / 2000 * 1e6)
    return statistics.median(best), statistics.median(allocated)


def print_table(rows):
    """The kernel rows as a table."""
    print(f"\n{'case':28}{'thr':>4}{'ms':>10}{'torch':>10}{'speedup':>9}{'peak':>7}{'torch':>7}{'error':>10}{'compile':>9}")
    for r in rows:
        share = lambda v: f"{v:6.0%}" if v is not None else "      "
        print(f"{r['case']:28}{r['threads']:4}{r['ms']:10.3f}{r['torch_ms']:10.3f}{r['speedup']:8.2f}x {share(r['peak_share'])} "
              f"{share(r['torch_peak_share'])}{r['error']:10.1e}{r['compile_ms']:7.0f}ms")


def main():
    """Runs the chosen cases, prints the tables and writes a JSON file if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", default="", help="write the result there")
    args = parser.parse_args()
    torch.manual_seed(0)
    cores = len(os.sched_getaffinity(0))
    machine = {"target": str(tc.host_target()), "cpu": platform.processor(), "cores": cores, "torch": torch.__version__,
               "numpy": np.__version__, "fma_peak_gflops": max(PEAK.tc_bench_fma_peak() for _ in range(5))}
    print(f"target {machine['target']}\nFMA peak of one core {machine['fma_peak_gflops']:.0f} GFLOP/s, torch {torch.__version__}")
    rows = []
    for case in kernel_cases():
        if args.only not in case[0]:
            continue
        kernel, compile_ms = compiled(case)
        for threads in sorted({1, cores}):
            print(f"\r\033[K  {case[0]}, {threads} threads ...", end="", flush=True)
            rows.append(measure_kernel(case, kernel, compile_ms, threads, args.quick))
    print("\r\033[K", end="")
    print_table(rows)
    result = {"machine": machine, "kernels": rows}
    if not args.only:
        repeats = 5 if args.quick else 15
        with_out, allocating = python_call_us()
        result["latency"] = {"define_to_first_result_ms": first_result_ms(repeats), "cold_start_ms": cold_start_ms(repeats),
                             "python_call_out_us": with_out, "python_call_us": allocating}
        overhead = subprocess.run([str(ROOT / "build" / "bin" / "call_overhead")], capture_output=True, text=True, check=True)
        result["latency"]["cpp"] = json.loads(overhead.stdout)
        print("\nlatency")
        print(json.dumps(result["latency"], indent=2))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
