"""The price of batch_invariant=1: the default's time over the invariant program's, for batches from 1 to 512.

    .venv/bin/python benchmarks/batch_invariance.py                         # one thread
    .venv/bin/python benchmarks/batch_invariance.py --threads 2 --json rows.json

Both take turns on the same random data, in one process. `bits` counts the elements of smaller batches that differ from the same rows of
the largest one, for the default and with the option; the second must be 0.
"""

import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch

import tensor_comprehensions as tc
from suite import measure

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)

# the text, shapes whose -1 is the batch, and where it is in the result
CASES = {
    "product X W'": ("def f(float(B,I) X, float(O,I) W) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i) }", [(-1, 1024), (1024, 1024)], 0),
    "product X W": ("def f(float(B,I) X, float(I,O) W) -> (Y) { Y(n,o) +=! X(n,i) * W(i,o) }", [(-1, 1024), (1024, 1024)], 0),
    "perceptron": (
        "def f(float(B,I) X, float(H,I) W, float(H) b, float(O,H) V) -> (Y) {\n  A(n,h) +=! X(n,i) * W(h,i)\n"
        "  A(n,h) = fmax(A(n,h) + b(h), 0)\n  Y(n,o) +=! A(n,h) * V(o,h)\n}",
        [(-1, 256), (512, 256), (512,), (128, 512)],
        0,
    ),
    "softmax": (
        "def f(float(N,C) X) -> (O) { M(n) max=! X(n,c)  E(n,c) = exp(X(n,c)-M(n))  S(n) +=! E(n,c)  O(n,c) = E(n,c)/S(n) }",
        [(-1, 4096)],
        0,
    ),
    "layer norm": (
        "def f(float(N,C) X) -> (O) { m(n) +=! X(n,c)/C  v(n) +=! (X(n,c)-m(n))*(X(n,c)-m(n))/C  O(n,c) = (X(n,c)-m(n))/sqrt(v(n)+1e-5) }",
        [(-1, 1024)],
        0,
    ),
    "attention": (
        "def f(float(H,L,D) Q, float(H,S,D) K, float(H,S,E) V) -> (O) {\n  A(h,i,j) +=! Q(h,i,d) * K(h,j,d)\n  M(h,i) max=! A(h,i,j)\n"
        "  P(h,i,j) = exp(A(h,i,j) - M(h,i))\n  Z(h,i) +=! P(h,i,j)\n  W(h,i,c) +=! P(h,i,j) * V(h,j,c)\n  O(h,i,c) = W(h,i,c) / Z(h,i)\n}",
        [(8, -1, 64), (8, 512, 64), (8, 512, 64)],
        1,
    ),
    "convolution": (
        "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
        [(-1, 32, 30, 30), (32, 32, 3, 3)],
        0,
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring, for each row")
    parser.add_argument("--largest", type=int, default=512)
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    torch.manual_seed(0)
    tc.set_num_threads(asked.threads)
    batches, rows = [b for b in BATCHES if b <= asked.largest], {}
    print(f"{asked.threads} thread(s), default/invariant by batch\n{'case':16}" + "".join(f"{b:>6}" for b in batches) + "   mean  bits")
    for name, (text, shapes, place) in CASES.items():
        tensors = [torch.randn([batches[-1] if s < 0 else s for s in shape]) / 8 for shape in shapes]
        options = {key: tc.MappingOptions(batch_invariant=key == "invariant") for key in ("default", "invariant")}
        functions = {key: tc.define(text, options=how).f for key, how in options.items()}
        whole = {key: function(*tensors) for key, function in functions.items()}
        ratios, bits = [], {key: 0 for key in functions}
        for batch in batches:
            parts = [t.narrow(shape.index(-1), 0, batch).contiguous() if -1 in shape else t for t, shape in zip(tensors, shapes)]
            for key, function in functions.items():
                bits[key] += int((function(*parts) != whole[key].narrow(place, 0, batch)).sum())
            runs = {key: tc.compile(function, *parts, options=options[key], cache=False) for key, function in functions.items()}
            times, _ = measure.interleaved({key: lambda run=run: run(*parts) for key, run in runs.items()}, {}, asked.seconds, asked.threads)
            ratios.append(times["default"].median / times["invariant"].median)
        mean = math.prod(ratios) ** (1 / len(ratios))
        rows[name] = {"default/invariant": dict(zip(map(str, batches), ratios)), "mean": mean, "bits": bits}
        print(f"{name:16}" + "".join(f"{r:6.2f}" for r in ratios) + f" {mean:6.2f}  {bits['default']} {bits['invariant']}", flush=True)
    whole = math.prod(row["mean"] for row in rows.values()) ** (1 / len(rows))
    print(f"geometric mean {whole:.3f}")
    if asked.json:
        asked.json.write_text(json.dumps(rows | {"mean": whole}, indent=1) + "\n")


if __name__ == "__main__":
    main()
