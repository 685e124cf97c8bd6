"""Matrix products: four layouts, the paper's sizes, bfloat16 and bytes."""

import numpy as np
import torch

from ..case import Case, Goal, random, sized

FLOAT_GOALS = (Goal("peak", 0.85, 0.93), Goal("eager", 1.0, 1.15))


def subscripts(layout, dtypes=("float", "float"), result="C"):
    """The text of a product; the letters of `layout` say whether A and B are transposed."""
    a = ("M,K", "m,k") if layout[0] == "n" else ("K,M", "k,m")
    b = ("K,N", "k,n") if layout[1] == "n" else ("N,K", "n,k")
    return (
        f"def mm({dtypes[0]}({a[0]}) A, {dtypes[1]}({b[0]}) B) -> ({result}) {{\n"
        f"  C(m,n) +=! A({a[1]}) * B({b[1]})\n}}"
    )


def product(layout):
    """The torch function of a layout."""
    return lambda a, b: torch.matmul(a if layout[0] == "n" else a.T, b if layout[1] == "n" else b.T)


def matmul(size, layout, m, n, k, name=None, goals=FLOAT_GOALS, dtype=torch.float32, **more):
    """A float product of one layout and size."""
    case_name = name or f"matmul/{layout}-{m}"
    m, n, k = sized(size)(m, n, k)
    left, right = (m, k) if layout[0] == "n" else (k, m), (k, n) if layout[1] == "n" else (n, k)
    types = {torch.float32: "float", torch.bfloat16: "bfloat16", torch.float16: "float16"}[dtype]
    return Case(
        case_name,
        subscripts(layout, (types, types)),
        lambda: (random(*left, dtype=dtype), random(*right, dtype=dtype)),
        product(layout),
        terms=k,
        flops=2.0 * m * n * k,
        goals=goals,
        peak="fp32" if dtype == torch.float32 else "bf16",
        numpy=(
            (lambda a, b: np.matmul(a if layout[0] == "n" else a.T, b if layout[1] == "n" else b.T))
            if dtype == torch.float32
            else None
        ),
        native=("matmul", layout, m, n, k) if dtype == torch.float32 else None,
        **more,
    )


BYTES_TEXT = """def mm(uint8(M,K) A, int8(K,N) B) -> (int32(M,N) C) {
  C(m,n) +=! int32(A(m,k)) * int32(B(k,n))
}"""


def byte_product(a, b):
    """uint8 by int8 into int32. torch multiplies signed bytes only: 128 is taken off and its share added again."""
    if a.dtype != torch.uint8:
        return torch.matmul(a, b)
    shifted = (a ^ 128).view(torch.int8)
    return torch._int_mm(shifted, b) + 128 * b.sum(0, dtype=torch.int32)


def bytes_case(size, m, n, k):
    """The product of unsigned and signed bytes."""
    name = f"matmul/u8s8-{m}"
    m, n, k = sized(size)(m, n, k)

    def inputs():
        return (torch.randint(0, 256, (m, k), dtype=torch.uint8), torch.randint(-128, 128, (k, n), dtype=torch.int8))

    signed = {"int_mm s8s8": lambda a, b: torch._int_mm(a.view(torch.int8), b)}
    return Case(
        name,
        BYTES_TEXT,
        inputs,
        byte_product,
        terms=k,
        flops=2.0 * m * n * k,
        peak="u8s8",
        goals=(Goal("peak", 0.6, 0.9), Goal("eager", 1.0, None)),
        also=signed,
    )


def cases(size):
    for n in (512, 1024, 2048):
        for layout in ("nn", "nt", "tn", "tt"):
            yield matmul(size, layout, n, n, n, scaling=layout == "nn" and n > 512)
    yield matmul(size, "nt", 128, 256, 32, "matmul/tmm-128x32x256", goals=())
    yield matmul(size, "nt", 128, 1024, 1024, "matmul/tmm-128x1024x1024")
    yield matmul(size, "nt", 128, 16384, 4096, "matmul/tmm-128x4096x16384", scaling=True)
    yield matmul(
        size,
        "nn",
        1024,
        1024,
        1024,
        "matmul/bf16-1024",
        dtype=torch.bfloat16,
        goals=(Goal("peak", 0.6, 0.9), Goal("eager", 1.0, None)),
    )
    yield bytes_case(size, 1024, 1024, 1024)
