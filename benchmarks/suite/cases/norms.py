"""Softmax, normalisations and cross entropy over rows of many lengths."""

import numpy as np
import torch
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

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
RMS_NORM = """def rms_norm(float(N,C) X, float(C) g) -> (Y) {
  sq(n) +=! X(n,c) * X(n,c)
  Y(n,c) = X(n,c) * rsqrt(sq(n) / C + 1e-5) * g(c)
}"""
CROSS_ENTROPY = """def cross_entropy(float(N,C) X, int64(N) T) -> (L) {
  top(n) max=! X(n,c)
  total(n) +=! exp(X(n,c) - top(n))
  L(n) = log(total(n)) + top(n) - X(n, T(n))
}"""
GOALS = (Goal("eager", 1.5, 2.5), Goal("best", 1.1, 1.5), Goal("copy", None, 0.9))


def np_softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def np_layer_norm(x, g, b):
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5) * g + b


def np_rms_norm(x, g):
    return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * g


def cases(size):
    for rows, columns in ((32768, 128), (4096, 1024), (1024, 4096), (128, 32768)):
        label = f"{rows}x{columns}"
        yield from rows_of(label, *sized(size)(rows, columns))


def rows_of(label, n, c):
    """The four operators on n rows of length c."""
    yield Case(
        f"norms/softmax-{label}",
        SOFTMAX,
        lambda: (random(n, c),),
        lambda x: torch.softmax(x, 1),
        terms=c,
        goals=GOALS,
        numpy=np_softmax,
        native=("softmax", n, c),
    )
    yield Case(
        f"norms/layer-norm-{label}",
        LAYER_NORM,
        lambda: (random(n, c), random(c), random(c)),
        lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, 1e-5),
        terms=c,
        goals=GOALS,
        numpy=np_layer_norm,
    )
    yield Case(
        f"norms/rms-norm-{label}",
        RMS_NORM,
        lambda: (random(n, c), random(c)),
        lambda x, g: F.rms_norm(x, (x.shape[1],), g, 1e-5),
        terms=c,
        goals=GOALS,
        numpy=np_rms_norm,
    )
    yield Case(
        f"norms/cross-entropy-{label}",
        CROSS_ENTROPY,
        lambda: (random(n, c), torch.randint(0, c, (n,))),
        lambda x, t: F.cross_entropy(x, t, reduction="none"),
        terms=c,
        goals=GOALS,
    )
