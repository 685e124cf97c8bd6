"""Operators of two papers at sizes for a CPU: ALT's nine (one configuration each) and Table IV of Gensor."""

import torch
import torch.nn.functional as F

from ..case import Case, random, sized
from .convolution import CONV, CONV_STRIDE_2, GROUPED, grouped_reference
from .matmul import matmul

DILATED = """def conv(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! I(n,c,h+2*kh,w+2*kw) * K(m,c,kh,kw)
}"""
CONV1D = """def conv(float(N,C,W) I, float(M,C,KW) K) -> (O) {
  O(n,m,w) +=! I(n,c,w+kw) * K(m,c,kw)
}"""
CONV3D = """def conv(float(N,C,D,H,W) I, float(M,C,KD,KH,KW) K) -> (O) {
  O(n,m,d,h,w) +=! I(n,c,d+kd,h+kh,w+kw) * K(m,c,kd,kh,kw)
}"""
TRANSPOSED2D = """def conv(float(N,C,H,W) I, float(C,M,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! (h >= kh && h-kh < 2*H && (h-kh) % 2 == 0 && w >= kw && w-kw < 2*W && (w-kw) % 2 == 0)
      ? I(n,c,(h-kh)/2,(w-kw)/2) * K(c,m,kh,kw) : 0
    where h in 0:2*H+KH-2, w in 0:2*W+KW-2
}"""
TRANSPOSED3D = """def conv(float(N,C,D,H,W) I, float(C,M,KD,KH,KW) K) -> (O) {
  O(n,m,d,h,w) +=! (d >= kd && d-kd < D && h >= kh && h-kh < H && w >= kw && w-kw < W)
      ? I(n,c,d-kd,h-kh,w-kw) * K(c,m,kd,kh,kw) : 0
    where d in 0:D+KD-1, h in 0:H+KH-1, w in 0:W+KW-1
}"""
DEPTHWISE_STRIDE_2 = """def depthwise(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) {
  O(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) * K(c,kh,kw)
}"""
MATVEC = "def mv(float(M,N) A, float(N) x) -> (y) { y(m) +=! A(m,n) * x(n) }"


def conv(name, text, image, kernel, eager, flops, terms):
    """A convolution given by the shapes of its tensors."""
    return Case(
        name, text, lambda: (random(*image), random(*kernel)), eager, terms=terms, flops=float(flops), quick=False
    )


def alt(size):
    """ALT's operators."""
    n, c, m, x = sized(size)(4, 32, 64, 28)
    yield conv("alt/c2d", CONV, (n, c, x + 2, x + 2), (m, c, 3, 3), F.conv2d, 18 * n * m * c * x * x, 9 * c)
    yield conv(
        "alt/grp", GROUPED, (n, 4, c, x + 2, x + 2), (4, c, c, 3, 3), grouped_reference, 72 * n * c * c * x * x, 9 * c
    )
    wide = size(512)
    yield conv(
        "alt/dep",
        DEPTHWISE_STRIDE_2,
        (n, wide, 2 * x + 1, 2 * x + 1),
        (wide, 3, 3),
        lambda i, k: F.conv2d(i, k.unsqueeze(1), stride=2, groups=k.shape[0]),
        18 * n * wide * x * x,
        9,
    )
    yield conv(
        "alt/dil",
        DILATED,
        (n, c, x + 4, x + 4),
        (m, c, 3, 3),
        lambda i, k: F.conv2d(i, k, dilation=2),
        18 * n * m * c * x * x,
        9 * c,
    )
    deep = size(16)
    yield conv(
        "alt/c3d",
        CONV3D,
        (1, deep, 10, x + 2, x + 2),
        (c, deep, 3, 3, 3),
        F.conv3d,
        54 * c * deep * 8 * x * x,
        27 * deep,
    )
    long = size(512)
    yield conv("alt/c1d", CONV1D, (n, m, long + 2), (2 * m, m, 3), F.conv1d, 12 * n * m * m * long, 3 * m)
    yield matmul(size, "nn", 960, 512, 1280, "alt/gmm-960x512x1280", goals=(), quick=False)
    yield conv(
        "alt/t2d",
        TRANSPOSED2D,
        (1, m, x, x),
        (m, c, 4, 4),
        lambda i, k: F.conv_transpose2d(i, k, stride=2),
        32 * m * c * x * x,
        4 * m,
    )
    yield conv(
        "alt/t3d",
        TRANSPOSED3D,
        (1, deep, 6, x, x),
        (deep, c, 3, 3, 3),
        F.conv_transpose3d,
        54 * deep * c * 6 * x * x,
        27 * deep,
    )


def average(name, n, c, x, window):
    """Average pooling with stride 2."""
    text = f"""def pool(float(N,C,H,W) I) -> (O) {{
  O(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) where kh in 0:{window}, kw in 0:{window}
  O(n,c,h,w) = O(n,c,h,w) / {window * window}
}}"""
    return Case(
        name,
        text,
        lambda: (random(n, c, x, x),),
        lambda i: F.avg_pool2d(i, window, 2),
        terms=window * window,
        quick=False,
    )


def gensor(size):
    """Table IV; batches and the largest matrices are smaller."""
    n, wide, c = sized(size)(8, 256, 128)
    x, y = sized(size)(14, 26)
    stride_2 = lambda i, k: F.conv2d(i, k, stride=2)
    yield conv(
        "gensor/c1",
        CONV_STRIDE_2,
        (n, wide, 2 * x + 1, 2 * x + 1),
        (wide, wide, 3, 3),
        stride_2,
        18 * n * wide * wide * x * x,
        9 * wide,
    )
    yield conv("gensor/c2", CONV, (n, c, y + 2, y + 2), (c, c, 3, 3), F.conv2d, 18 * n * c * c * y * y, 9 * c)
    yield conv(
        "gensor/c3", CONV_STRIDE_2, (n, c, 4 * x + 1, 4 * x + 1), (c, c, 3, 3), stride_2, 72 * n * c * c * x * x, 9 * c
    )
    yield matmul(size, "nn", 1536, 1536, 1536, "gensor/m1-1536", goals=(), quick=False)
    yield matmul(size, "nn", 16384, 1024, 4, "gensor/m2-16384x1024x4", goals=(), quick=False)
    yield matmul(size, "nn", 4096, 1024, 1024, "gensor/m3-4096x1024x1024", goals=(), quick=False)
    for label, rows, columns in (("v1", 4096, 4096), ("v2", 4096, 2048), ("v3", 16384, 1000)):
        yield matvec(f"gensor/{label}-{rows}x{columns}", *sized(size)(rows, columns))
    yield average("gensor/p1", *sized(size)(16, 48), 2 * size(24), 2)
    yield average("gensor/p2", *sized(size)(16, 168), 2 * size(41) + 1, 2)
    yield average("gensor/p3", *sized(size)(16, 617), 2 * size(10) + 1, 3)


def matvec(name, rows, columns):
    """A matrix times a vector."""
    return Case(
        name,
        MATVEC,
        lambda: (random(rows, columns), random(columns)),
        torch.mv,
        terms=columns,
        flops=2.0 * rows * columns,
        quick=False,
        numpy=lambda a, x: a @ x,
    )


def cases(size):
    yield from alt(size)
    yield from gensor(size)
