"""Programs that memory bounds: sums, a transposition, pooling, a stencil sweep, an activation."""

import numpy as np
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

GOALS = (Goal("best", 1.0, None), Goal("copy", None, 0.9))
POOL = """def pool(float(N,C,H,W) I) -> (O) {
  O(n,c,h,w) max=! I(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2
}"""
JACOBI = """def jacobi(float(H,W) A) -> (B) {
  B(h,w) = 0.2 * (A(h,w) + A(h,w-1) + A(h,w+1) + A(h-1,w) + A(h+1,w))
}"""


def jacobi(a):
    return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])


def cases(size):
    rows, columns, square, images, channels, grid, long = sized(size)(4096, 1024, 2048, 8, 64, 2000, 1 << 22)
    image = 2 * size(56)
    yield Case(
        "memory/sum-rows-4096x1024",
        "def sum(float(N,C) X) -> (S) { S(n) +=! X(n,c) }",
        lambda: (random(rows, columns),),
        lambda x: x.sum(1),
        terms=columns,
        goals=GOALS,
        numpy=lambda x: x.sum(1),
    )
    yield Case(
        "memory/sum-columns-4096x1024",
        "def sum(float(N,C) X) -> (S) { S(c) +=! X(n,c) }",
        lambda: (random(rows, columns),),
        lambda x: x.sum(0),
        terms=rows,
        goals=GOALS,
        numpy=lambda x: x.sum(0),
    )
    yield Case(
        "memory/transpose-2048",
        "def transpose(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }",
        lambda: (random(square, square),),
        lambda x: x.T.contiguous(),
        goals=GOALS,
        numpy=lambda x: np.ascontiguousarray(x.T),
    )
    yield Case(
        "memory/max-pool-2x2-64@112",
        POOL,
        lambda: (random(images, channels, image, image),),
        lambda x: F.max_pool2d(x, 2),
        goals=GOALS,
    )
    yield Case("memory/jacobi-2000", JACOBI, lambda: (random(grid, grid),), jacobi, terms=5, goals=GOALS, numpy=jacobi)
    yield Case(
        "memory/gelu-4M",
        "def gelu_of(float(N) X) -> (Y) { Y(i) = gelu(X(i)) }",
        lambda: (random(long),),
        F.gelu,
        goals=(),
        quick=False,
    )
