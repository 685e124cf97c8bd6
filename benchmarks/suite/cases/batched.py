"""Many small matrix products."""

import numpy as np
import torch

from ..case import Case, Goal, random, sized

TEXT = """def bmm(float(B,M,K) X, float(B,K,N) Y) -> (Z) {
  Z(b,m,n) +=! X(b,m,k) * Y(b,k,n)
}"""


def batch(size, name, b, m, n, k, goals=(), **more):
    """A batch of b products m x k by k x n."""
    b, m, n, k = sized(size)(b, m, n, k)
    return Case(
        f"batched/{name}",
        TEXT,
        lambda: (random(b, m, k), random(b, k, n)),
        torch.bmm,
        terms=k,
        flops=2.0 * b * m * n * k,
        goals=goals,
        numpy=np.matmul,
        **more,
    )


def cases(size):
    goals = (Goal("eager", 1.5, 2.5),)
    yield batch(size, "tbmm-500x26x72x26", 500, 26, 26, 72, goals)
    yield batch(size, "4096x16", 4096, 16, 16, 16, goals, scaling=True)
    yield batch(size, "1024x64", 1024, 64, 64, 64, quick=False)
    yield batch(size, "256x128x64", 256, 128, 128, 64, quick=False)
