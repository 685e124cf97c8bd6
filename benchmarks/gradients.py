"""Backwards of defs beside torch's, eager and compiled, measured in turns.

    python benchmarks/gradients.py [--threads 1] [--rounds 15] [--only layer_norm] [--without-inductor] [--forward] [--copy] [--quartile] [--least]

One backward is torch.autograd.grad of a recorded call, graph kept, for all float parameters; --forward adds the call that is
recorded. Gradients are compared with torch's in float64 first: the largest difference as a share of the largest element, which must stay
below 1e-4. What is freed is kept, so that no call pays for new pages. --copy adds a copy that moves as many bytes as the gradient must:
parameters and gradients, and what comes in, each once. Times are medians; --quartile takes lower quartiles, --least the least, for a machine with other work: what takes longer
than a slice of time is interrupted more often.
"""

import argparse
import math
import statistics
import time

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc
from suite.cases.lookups import ONE as EMBEDDING_BAG
from suite.cases.lookups import bag
from suite.cases.mlp import MLP3, mlp3
from suite.machine import keep_memory

WINDOW = "float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=!"
PADDED = """def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! h + kh >= 1 && h + kh <= H && w + kw >= 1 && w + kw <= W ? I(n,c,h+kh-1,w+kw-1) * K(m,c,kh,kw) : 0
    where h in 0:H, w in 0:W, kh in 0:KH, kw in 0:KW
}"""
LAYER_NORM = """def f(float(N,C) X, float(C) g, float(C) b) -> (O) {
  mean(n) +=! X(n,c)
  mean(n) = mean(n) / C
  var(n) +=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))
  var(n) = var(n) / C
  O(n,c) = (X(n,c) - mean(n)) * rsqrt(var(n) + 1e-5) * g(c) + b(c)
}"""
SOFTMAX = """def f(float(N,C) X) -> (O) {
  top(n) max=! X(n,c)
  total(n) +=! exp(X(n,c) - top(n))
  O(n,c) = exp(X(n,c) - top(n)) / total(n)
}"""
ATTENTION = """def f(float(H,L,D) Q, float(H,S,D) K, float(H,S,E) V) -> (O) {
  score(h,l,s) +=! Q(h,l,d) * K(h,s,d)
  score(h,l,s) = score(h,l,s) * 0.125
  top(h,l) max=! score(h,l,s)
  score(h,l,s) = exp(score(h,l,s) - top(h,l))
  total(h,l) +=! score(h,l,s)
  O(h,l,e) +=! score(h,l,s) * V(h,s,e)
  O(h,l,e) = O(h,l,e) / total(h,l)
}"""


def indices(rows, *shape):
    """Makes a tensor of that shape with numbers of rows."""
    return lambda: torch.randint(0, rows, shape)


CASES = {
    "matmul": (
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        torch.mm,
        [(512, 512), (512, 512)],
    ),
    "linear_relu": (
        "def f(float(B,I) X, float(O,I) W, float(O) b) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i) Y(n,o) = fmax(Y(n,o) + b(o), 0) }",
        lambda x, w, b: F.relu(F.linear(x, w, b)),
        [(256, 512), (512, 512), (512,)],
    ),
    "conv": (f"def f({WINDOW} I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }}", F.conv2d, [(8, 64, 30, 30), (64, 64, 3, 3)]),
    "conv_stride_2": (
        f"def f({WINDOW} I(n,c,2*h+kh,2*w+kw) * K(m,c,kh,kw) where kh in 0:KH, kw in 0:KW }}",
        lambda i, k: F.conv2d(i, k, stride=2),
        [(8, 64, 57, 57), (64, 64, 3, 3)],
    ),
    "conv_padded": (PADDED, lambda i, k: F.conv2d(i, k, padding=1), [(8, 64, 28, 28), (64, 64, 3, 3)]),
    "depthwise": (
        "def f(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw) }",
        lambda i, k: F.conv2d(i, k[:, None], groups=k.shape[0]),
        [(8, 64, 58, 58), (64, 3, 3)],
    ),
    "softmax": (SOFTMAX, lambda x: torch.softmax(x, 1), [(4096, 1024)]),
    "layer_norm": (LAYER_NORM, lambda x, g, b: F.layer_norm(x, g.shape, g, b), [(4096, 1024), (1024,), (1024,)]),
    "attention": (
        ATTENTION,
        lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], scale=0.125)[0],
        [(8, 256, 64)] * 3,
    ),
    "embedding_bag": (EMBEDDING_BAG, bag, [(10000, 64), indices(10000, 128, 50)]),
    "mlp3": (MLP3, mlp3, [(128, 128), (64, 128), (64,), (32, 64), (32,), (2, 32), (2,)]),
}


def leaves(tensors):
    return [tensor.detach().clone().requires_grad_(tensor.is_floating_point()) for tensor in tensors]


def outputs(value):
    return value if isinstance(value, tuple) else (value,)


def backward(function, tensors, seeds, with_forward=False):
    """One backward as a call without arguments: of one recorded call, or, with it, of a new one."""
    tensors = leaves(tensors)
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    recorded = outputs(function(*tensors))
    seeds = [seed.to(output.dtype) for seed, output in zip(seeds, recorded)]
    if with_forward:
        return lambda: torch.autograd.grad(outputs(function(*tensors)), wanted, seeds)
    return lambda: torch.autograd.grad(recorded, wanted, seeds, retain_graph=True)


def copy_like(tensors, seeds):
    """A copy that moves what a backward must: float parameters and their gradients, and the gradients that come in."""
    moved = 2 * sum(t.numel() for t in tensors if t.is_floating_point()) + sum(seed.numel() for seed in seeds)
    source = torch.zeros(moved // 2)
    target = torch.zeros(moved // 2)
    return lambda: target.copy_(source)


def error(run, reference):
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(run(), reference()))


def milliseconds(runs, rounds, middle=statistics.median):
    times = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: middle(values) for name, values in times.items()}


def lower_quartile(times):
    return sorted(times)[len(times) // 4]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--without-inductor", action="store_true")
    parser.add_argument("--forward", action="store_true", help="measure the forward with the backward")
    parser.add_argument("--copy", action="store_true", help="measure a copy of as many bytes too")
    parser.add_argument("--quartile", action="store_true", help="lower quartiles in the place of medians")
    parser.add_argument("--least", action="store_true", help="the least in the place of medians")
    arguments = parser.parse_args()
    middle = min if arguments.least else lower_quartile if arguments.quartile else statistics.median
    keep_memory()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {tc.host_target()}, {arguments.threads} threads")
    ratios = []
    for case, (text, reference, shapes) in CASES.items():
        if arguments.only not in case:
            continue
        tensors = [shape() if callable(shape) else torch.randn(shape) for shape in shapes]
        seeds = [torch.randn_like(output) for output in outputs(reference(*tensors))]
        module = tc.define(text)
        ours = module[text.rpartition("def ")[2].partition("(")[0]]
        runs = {name: backward(f, tensors, seeds, arguments.forward) for name, f in (("ours", ours), ("eager", reference))}
        if not arguments.without_inductor:
            runs["inductor"] = backward(torch.compile(reference), tensors, seeds, arguments.forward)
        wide = [t.double() if t.is_floating_point() else t for t in tensors]
        off = error(runs["ours"], backward(reference, wide, seeds))
        if arguments.copy:
            runs["copy"] = copy_like(tensors, seeds)
        times = milliseconds(runs, arguments.rounds, middle)
        ratios.append(min(times[peer] for peer in times if peer not in ("ours", "copy")) / times["ours"])
        line = "  ".join(f"{peer} {value:8.3f}" for peer, value in times.items())
        print(f"{case:14} {line}  ms  better / ours {ratios[-1]:.2f}  error {off:.1e}{'' if off < 1e-4 else ' WRONG'}")
    if ratios:
        print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}")


if __name__ == "__main__":
    main()
