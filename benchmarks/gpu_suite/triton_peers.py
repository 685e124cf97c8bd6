"""Triton kernels that are short to write by hand: a product of float32 matrices, softmax of rows."""

import torch
import triton
import triton.language as tl

CONFIGURATIONS = [
    triton.Config({"BM": 128, "BN": 128, "BK": 16}, num_warps=8, num_stages=3),
    triton.Config({"BM": 128, "BN": 64, "BK": 32}, num_warps=8, num_stages=3),
    triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3),
]


@triton.autotune(configs=CONFIGURATIONS, key=["M", "N", "K"])
@triton.jit
def product_kernel(A, B, C, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(A + rows[:, None] * am + (k + inner)[None, :] * ak, mask=(rows[:, None] < M) & ((k + inner)[None, :] < K), other=0.0)
        b = tl.load(B + (k + inner)[:, None] * bk + columns[None, :] * bn, mask=((k + inner)[:, None] < K) & (columns[None, :] < N), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(C + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


def product(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty(m, n, device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))
    product_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride())
    return c


@triton.jit
def softmax_kernel(X, Y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    x = tl.load(X + row + at, mask=at < columns, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(Y + row + at, e / tl.sum(e, 0), mask=at < columns)


def softmax(x):
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=block, num_warps=min(max(block // 1024, 4), 16))
    return y


def peer(case):
    """The function that computes what the case does, or None."""
    if case.name.startswith("sgemm/nn"):
        return product
    return softmax if "softmax" in case.name else None
