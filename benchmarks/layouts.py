"""Convolutions in several layouts: the compiler's code in each, and torch's, measured in turns.

    python benchmarks/layouts.py [--threads 1] [--rounds 30] [--only 3x3]
    python benchmarks/layouts.py --guideline            # every alternative, its price by the model beside what it takes
    python benchmarks/layouts.py --tiles                # tiles of a matrix, contiguous and as they lie in its rows

Every result is compared with the first layout's, exactly, on integers. Constant weights are converted before.
"""

import argparse
import statistics
import time

import numpy as np
import torch

import tensor_comprehensions as tc

PLAIN = "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }"
STRIDED = "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,2*h+r,2*w+s) * K(o,c,r,s) }"

CASES = [
    ("3x3 64 @58", PLAIN, (1, 64, 58, 58), (64, 64, 3, 3), 1),
    ("3x3 128 @30", PLAIN, (1, 128, 30, 30), (128, 128, 3, 3), 1),
    ("3x3 256 @16", PLAIN, (1, 256, 16, 16), (256, 256, 3, 3), 1),
    ("3x3 512 @9", PLAIN, (1, 512, 9, 9), (512, 512, 3, 3), 1),
    ("1x1 256 to 64 @56", PLAIN, (1, 256, 56, 56), (64, 256, 1, 1), 1),
    ("1x1 64 to 256 @56", PLAIN, (1, 64, 56, 56), (256, 64, 1, 1), 1),
    ("7x7 stride 2 3 to 64 @229", STRIDED, (1, 3, 229, 229), (64, 3, 7, 7), 2),
]

LAYOUTS = {
    "NCHW": {},
    "NHWC": {"X": "NHWC", "K": "HWIO", "Y": "NHWC"},
    "NCHW16c": {"X": "NCHW16c", "K": "OIhw16i16o", "Y": "NCHW16c"},
    "NCHW to NCHW16c": {"K": "OIhw16o", "Y": "NCHW16c"},
}

COPY = "def copy(float(A,B,C,D) X) -> (Y) { Y(a,b,c,d) = X(a,b,c,d) }"


def placed(array, layout):
    """`array` in `layout`."""
    return tc.compile(tc.define(COPY).copy, array, layouts={"Y": layout})(array) if layout else array


def logical(array, layout, shape):
    """The inverse of `placed`."""
    like = tc.spec(shape, "float32")
    return tc.compile(tc.define(COPY).copy, like, layouts={"X": layout})(array) if layout else array


def runs_of(text, x, k, stride):
    """What is to be measured, by name; all results are found equal first."""
    runs, want = {}, None
    for name, layouts in LAYOUTS.items():
        f = tc.compile(tc.define(text).conv, x, k, layouts=layouts)
        arguments = placed(x, layouts.get("X")), placed(k, layouts.get("K"))
        out = f(*arguments)
        want = out if want is None else want
        if not np.array_equal(want, logical(out, layouts.get("Y"), want.shape)):
            raise SystemExit(f"{name} computes something else")
        runs[name] = lambda f=f, arguments=arguments, out=out: f(*arguments, out=out)
    for name, form in (("torch", torch.contiguous_format), ("torch channels_last", torch.channels_last)):
        tensors = [torch.from_numpy(array).to(memory_format=form) for array in (x, k)]
        runs[name] = lambda tensors=tensors: torch.nn.functional.conv2d(*tensors, stride=stride)
    return runs


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(i) for i in range(len(values))]


def guideline(name, text, x, k, rounds):
    """A row: what the model says of all alternatives of a convolution, beside what they take."""
    conv = tc.define(text).conv
    priced = tc.layout.guideline(conv, x, k)
    runs, want = {}, None
    for i, (layouts, _) in enumerate(priced):
        f = tc.compile(conv, x, k, layouts=layouts)
        arguments = placed(x, layouts.get("X")), placed(k, layouts.get("K"))
        out = f(*arguments)
        want = conv(x, k) if want is None else want
        if not np.array_equal(want, logical(out, layouts.get("Y"), want.shape)):
            raise SystemExit(f"{name}: {layouts} computes something else")
        runs[i] = lambda f=f, arguments=arguments, out=out: f(*arguments, out=out)
    times = list(medians(runs, rounds).values())
    plain = next(i for i, (layouts, _) in enumerate(priced) if not layouts)
    n = len(times)
    squares = sum((a - b) ** 2 for a, b in zip(ranks(times), range(n)))
    correlation = 1 - 6 * squares / (n * (n * n - 1))
    row = [n, f"{times[plain]:.3f}", f"{times[0]:.3f}", f"{priced[plain][1] / priced[0][1]:.2f}", f"{min(times):.3f}", f"{max(times):.3f}"]
    print(f"| {name} | " + " | ".join(map(str, [*row, f"{correlation:.2f}"])) + " |", flush=True)


def tiles(rounds):
    """Microseconds of the sum of a tile of 512 rows, when no cache holds it, for the widths of ALT's Table 2."""
    print("| tile | contiguous, us | in rows of 4096 | rows over contiguous |")
    print("|---|---|---|---|")
    caches = np.zeros(1 << 25, dtype="float32")
    total = tc.define("def total(float(M,N) X) -> (Y) { Y(m) +=! X(m,n) }").total
    for width in (4, 16, 64, 256):
        matrix = torch.from_numpy(np.random.default_rng(1).integers(-3, 4, (512, 4096)).astype("float32"))
        rows = matrix[:, :width]
        dense = rows.contiguous()
        runs = {}
        for name, tile in (("contiguous", dense), ("rows", rows)):
            f = tc.compile(total, tile)
            out = f(tile)
            if not torch.equal(out, dense.sum(1)):
                raise SystemExit(f"{name} computes something else")
            runs[name] = lambda f=f, tile=tile, out=out: f(tile, out=out)
        found = medians(runs, rounds, before=lambda: caches.__iadd__(1))
        times = [1e3 * found[name] for name in runs]
        print(f"| 512x{width} | {times[0]:.1f} | {times[1]:.1f} | {times[1] / times[0]:.2f} |", flush=True)


def medians(runs, rounds, before=lambda: None):
    """Milliseconds of each, measured in turns, `before` each of which is not."""
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            before()
            begin = time.perf_counter()
            run()
            times[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--guideline", action="store_true")
    parser.add_argument("--tiles", action="store_true")
    arguments = parser.parse_args()
    tc.set_num_threads(arguments.threads)
    torch.set_num_threads(arguments.threads)
    random = np.random.default_rng(1)
    # Threads of torch look for work for milliseconds after a call, on the cores of the next one.
    rest = (lambda: time.sleep(0.01)) if arguments.threads > 1 else (lambda: None)
    names = [*LAYOUTS, "torch", "torch channels_last"]
    print(f"ms, {arguments.threads} threads of {tc.host_target()}, torch {torch.__version__}")
    if arguments.tiles:
        tiles(arguments.rounds)
        return
    if arguments.guideline:
        print("| convolution | alternatives | as it is | cheapest by the model | gain it says | fastest | slowest | rank correlation |")
    else:
        print("| convolution | " + " | ".join(names) + " | best / NCHW |")
    gains = []
    for name, text, shape, weights, stride in CASES:
        if arguments.only not in name:
            continue
        x, k = (random.integers(-3, 4, extents).astype("float32") for extents in (shape, weights))
        if arguments.guideline:
            guideline(name, text, x, k, arguments.rounds)
            continue
        with torch.inference_mode():
            times = medians(runs_of(text, x, k, stride), arguments.rounds, rest)
        gains.append(times["NCHW"] / min(times[layout] for layout in LAYOUTS))
        print(f"| {name} | " + " | ".join(f"{times[n]:.3f}" for n in names) + f" | {gains[-1]:.2f} |", flush=True)
    if gains:
        print(f"geometric mean of the best layout over NCHW: {statistics.geometric_mean(gains):.3f}")


if __name__ == "__main__":
    main()
