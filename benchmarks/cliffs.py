#!/usr/bin/env python3
"""Kernels that were slower than torch once, beside torch eager, in one thread and in turns: CPU time of the thread, medians.

Each result is compared with torch in float64. `--write FILE` writes the table as a page.
"""

import argparse
import statistics
import time
from pathlib import Path

import torch
from torch.nn import functional as F

import tensor_comprehensions as tc

TEXT = """
def clamp_columns(float(N,C,H,W) X) -> (float(N,C,H,W) Y) { Y(n,c,h,w) +=! X(n,c,h,clamp(w+k-1, 0, W-1)) where k in 0:3 }
def clamp_rows(float(N,C,H,W) X) -> (float(N,C,H,W) Y) { Y(n,c,h,w) +=! X(n,c,clamp(h+k-1, 0, H-1),w) where k in 0:3 }
def pad_edges(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = X(n,c,clamp(h-1, 0, H-1),clamp(w-1, 0, W-1)) where h in 0:H+2, w in 0:W+2 }
def nearest(float(N,C,H,W) X) -> (Y) { Y(n,c,i,j) = X(n,c,i/2,j/2) where i in 0:2*H, j in 0:2*W }
def weighted_bag(float(E,D) T, int64(B,L) I, float(B,L) w) -> (Y) { Y(b,d) +=! w(b,l) * T(I(b,l),d) }
def softmax(float(N,D) X) -> (Y) {
  top(n) max=! X(n,d)
  e(n,d) = exp(X(n,d) - top(n))
  s(n) +=! e(n,d)
  Y(n,d) = e(n,d) / s(n)
}
def layer_norm(float(N,D) X, float(D) g, float(D) b) -> (Y) {
  mean(n) +=! X(n,d) / D
  var(n) +=! (X(n,d) - mean(n)) * (X(n,d) - mean(n)) / D
  Y(n,d) = (X(n,d) - mean(n)) * rsqrt(var(n) + 1e-5) * g(d) + b(d)
}
def gelu_bias(float(N,D) X, float(D) b) -> (Y) { Y(n,d) = gelu(X(n,d) + b(d)) }
def deconv(float(N,C,H,W) X, float(C,M,K,L) F) -> (float(N,M,2*H+K-2,2*W+L-2) Y) { Y(n,m,2*h+k,2*w+l) +=! X(n,c,h,w) * F(c,m,k,l) }
def masked_softmax(float(N,D) X) -> (Y) {
  m(n,d) = d <= n ? X(n,d) : -inf
  top(n) max=! m(n,d)
  e(n,d) = exp(m(n,d) - top(n))
  s(n) +=! e(n,d)
  Y(n,d) = e(n,d) / s(n)
}
"""


def window_of_three(x, dim):
    index = torch.arange(x.shape[dim])
    return sum(x.index_select(dim, (index + k).clamp(0, x.shape[dim] - 1)) for k in (-1, 0, 1))


def cases():
    """Name, def, arguments, and the same in torch."""
    image = torch.randn(4, 32, 64, 64)
    yield "window along columns, clamped", "clamp_columns", (image,), lambda x: window_of_three(x, 3)
    yield "window along rows, clamped", "clamp_rows", (image,), lambda x: window_of_three(x, 2)
    yield "padding with edges", "pad_edges", (image,), lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate")
    yield "nearest, twice as large", "nearest", (image,), lambda x: F.interpolate(x, scale_factor=2, mode="nearest")
    for columns in (64, 128):
        bag = torch.randn(100000, columns), torch.randint(0, 100000, (512, 20)), torch.rand(512, 20)
        yield (f"weighted bag of {columns}", "weighted_bag", bag,
               lambda t, i, w: F.embedding_bag(i, t, mode="sum", per_sample_weights=w))
    for rows, columns in ((1024, 1024), (1024, 2048), (512, 4096), (256, 8192)):
        rectangle = torch.randn(rows, columns)
        yield f"softmax {rows} x {columns}", "softmax", (rectangle,), lambda x: x.softmax(1)
        yield (f"layer norm {rows} x {columns}", "layer_norm", (rectangle, torch.rand(columns), torch.randn(columns)),
               lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b))
    for rows, columns in ((1024, 1024), (128, 3072)):
        yield (f"gelu + bias {rows} x {columns}", "gelu_bias", (torch.randn(rows, columns), torch.randn(columns)),
               lambda x, b: F.gelu(x + b))
    mask = torch.ones(1024, 1024).tril().bool()
    yield ("softmax masked by -inf", "masked_softmax", (torch.randn(1024, 1024),),
           lambda x: x.masked_fill(~mask, -torch.inf).softmax(1))
    for kernel in (3, 4):
        yield (f"transposed convolution, window {kernel}", "deconv",
               (torch.randn(4, 32, 16, 16), torch.randn(32, 32, kernel, kernel)),
               lambda x, k: F.conv_transpose2d(x, k, stride=2))


def in_turns(ours, theirs, seconds):
    """Median CPU seconds of a call of each, and quartiles of their ratio."""
    for call in (ours, theirs) * 3:
        call()
    times = [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, found in zip((ours, theirs), times):
            begin = time.thread_time()
            for _ in range(3):
                call()
            found.append((time.thread_time() - begin) / 3)
    ratios = sorted(b / a for a, b in zip(*times))
    return [statistics.median(found) for found in times], (ratios[len(ratios) // 4], ratios[len(ratios) * 3 // 4])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each case")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tc.set_num_threads(1)
    torch.manual_seed(0)
    functions = tc.define(TEXT)
    lines = ["| kernel | tc, us | torch, us | torch over tc | quartiles | error |", "|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for name, function, tensors, reference in cases():
        if arguments.only not in name:
            continue
        kernel = tc.compile(functions[function], *tensors)
        made, wanted = kernel(*tensors).double(), reference(*(t.double() if t.is_floating_point() else t for t in tensors))
        error = ((made - wanted).abs().max() / wanted.abs().max()).item()
        assert error < 1e-5, (name, error)
        (ours, theirs), (low, high) = in_turns(lambda: kernel(*tensors), lambda: reference(*tensors), arguments.seconds)
        lines.append(f"| {name} | {ours * 1e6:.0f} | {theirs * 1e6:.0f} | {theirs / ours:.2f} | {low:.2f}-{high:.2f} | {error:.0e} |")
        print(lines[-1], flush=True)
    if arguments.write:
        arguments.write.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
