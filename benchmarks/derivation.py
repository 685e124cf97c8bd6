"""Programs and what is derived from them: the def itself, the cheapest candidate by the model, and the fastest measured, in turns.

    python benchmarks/derivation.py [--threads 1] [--rounds 15] [--only conv]

All run on integers and must be equal. Tensors that the program names as weights are constants: what depends on them alone is computed by the compile.
"""

import argparse
import statistics
import time

import numpy as np

import tensor_comprehensions as tc

# name, depth, text, shapes, weights
CASES = [
    ("chain A B v, 512", 3, "def program(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }",
     [(512, 512), (512, 512), (512,)], []),
    ("factor in a sum", 3, "def program(float(M,N) A, float(N) b, float(K) c) -> (y) { y(m) +=! A(m,n) * b(n) * c(k) }",
     [(512, 512), (512,), (256,)], []),
    ("conv 3x3 padded, 128 of 14x14", 4, """def program(float(1,128,14,14) X, float(128,128,3,3) K) -> (O) {
  P(n,c,h,w) = h >= 1 && h <= 14 && w >= 1 && w <= 14 ? X(n,c,h-1,w-1) : 0 where h in 0:16, w in 0:16
  O(n,f,h,w) +=! P(n,c,h+r,w+s) * K(f,c,r,s) where h in 0:14, w in 0:14 }""", [(1, 128, 14, 14), (128, 128, 3, 3)], ["K"]),
    ("conv 3x3 padded, 512 of 7x7", 4, """def program(float(1,512,7,7) X, float(512,512,3,3) K) -> (O) {
  P(n,c,h,w) = h >= 1 && h <= 7 && w >= 1 && w <= 7 ? X(n,c,h-1,w-1) : 0 where h in 0:9, w in 0:9
  O(n,f,h,w) +=! P(n,c,h+r,w+s) * K(f,c,r,s) where h in 0:7, w in 0:7 }""", [(1, 512, 7, 7), (512, 512, 3, 3)], ["K"]),
    ("G2BMM, 8 x 512 x 64, band 65", 3, """def program(float(8,512,64) A, float(8,512,64) C) -> (O) {
  O(b,m,w) +=! m + w >= 32 && m + w < 544 ? A(b,m,k) * C(b,m+w-32,k) : 0 where w in 0:65, m in 0:512 }""",
     [(8, 512, 64), (8, 512, 64)], []),
    ("G2BMM, dilated by 4", 3, """def program(float(8,512,64) A, float(8,512,64) C) -> (O) {
  O(b,m,w) +=! m + 4*w >= 128 && m + 4*w < 640 ? A(b,m,k) * C(b,m+4*w-128,k) : 0 where w in 0:65, m in 0:512 }""",
     [(8, 512, 64), (8, 512, 64)], []),
]


def medians(runs, rounds):
    """Microseconds of each, measured in turns."""
    times = [[] for _ in runs]
    for _ in range(rounds):
        for i, run in enumerate(runs):
            begin = time.perf_counter()
            run()
            times[i].append(1e6 * (time.perf_counter() - begin))
    return [statistics.median(values) for values in times]


def executable(function, tensors, weights, **how):
    """A call of `function` with its weights bound."""
    f = tc.compile(function, *tensors, constants=weights, cache=False, **how)
    taken = [tensor for name, tensor in zip(function._parameters(), tensors) if name not in weights]
    return f, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    tc.set_num_threads(arguments.threads)
    random = np.random.default_rng(1)
    print(f"us, {arguments.threads} threads of {tc.host_target()}")
    print("| program | original (model) | best candidate measured (model) | derive=N | search s | candidates |")
    for name, depth, text, shapes, weights in CASES:
        if arguments.only not in name:
            continue
        tensors = [random.integers(-2, 3, shape).astype("float32") for shape in shapes]
        function = tc.define(text).program
        found = tc.derive(function, *tensors, depth=depth)
        compiled = [executable(function, tensors, weights), executable(function, tensors, weights, derive=depth)]
        models = []
        for candidate in found:
            if candidate.steps:
                compiled.append(executable(candidate.function, tensors, weights))
                models.append(candidate)
        outs = [f(*taken) for f, taken in compiled]
        if not all(np.array_equal(outs[0], out) for out in outs):
            raise SystemExit(f"{name}: a candidate computes something else")
        times = medians([lambda c=c, o=o: c[0](*c[1], out=o) for c, o in zip(compiled, outs)], arguments.rounds)
        best = min(range(2, len(times)), key=times.__getitem__, default=None)
        original = next(candidate for candidate in found if not candidate.steps)
        shown = "" if best is None else f"{times[best]:.0f} ({models[best - 2].cost})"
        taken = compiled[1][0].stats["derived"]
        how = f"{times[1]:.0f}" + ("" if taken else " (as it is)")
        print(f"| {name} | {times[0]:.0f} ({original.cost}) | {shown} | {how} | {found.statistics['seconds']:.1f} | {len(models)} |", flush=True)


if __name__ == "__main__":
    main()
