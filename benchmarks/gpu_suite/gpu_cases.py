"""The cases that are measured on a GPU, by family. Sizes of the memory family are several times the second-level cache."""

from typing import Callable, Dict, List

import torch
import torch.nn.functional as F

from suite.case import Case, Goal, random, sized
from suite.cases import convolution, lookups, matmul, memory, mlp, norms
from suite.cases.batched import batch

SGEMM_GOALS = (Goal("eager", 1.0, None),)
UNIT_GOALS = (Goal("eager", 0.55, 0.8),)  # of products from 2048 on
SMALL_UNIT_GOALS = (Goal("eager", 0.85, None),)
MEMORY_GOALS = (Goal("copy", 0.8, 0.9),)
PAPER_GOALS = (Goal("best", 1.0, 1.5),)
LAYOUTS = ("nn", "nt", "tn", "tt")
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
SWIGLU = """def swiglu(float(M,K) X, float(K,N) A, float(K,N) B) -> (Y) {
  G(m,n) +=! X(m,k) * A(k,n)
  U(m,n) +=! X(m,k) * B(k,n)
  Y(m,n) = silu(G(m,n)) * U(m,n)
}"""
ODD_PRODUCTS = (("nt", 2047, 2049, 1025), ("nn", 1000, 3000, 700), ("nn", 2047, 2047, 2047))


def product(size, kind: str, layout: str, m: int, n: int, k: int, name: str, goals=()) -> Case:
    """A product of one type, a single call for torch."""
    return matmul.matmul(size, layout, m, n, k, name, goals, TYPES[kind], compiled=False)


def sgemm(size) -> List[Case]:
    return [product(size, "fp32", layout, n, n, n, f"sgemm/{layout}-{n}", SGEMM_GOALS) for n in (4096, 2048, 1024) for layout in LAYOUTS]


def swiglu(size, kind: str) -> Case:
    m, n, k = sized(size)(512, 2816, 1024)
    dtype = TYPES[kind]
    text = SWIGLU if kind == "fp32" else SWIGLU.replace("float(", f"{str(dtype).partition('.')[2]}(")
    return Case(f"gemm/{kind}-swiglu-512x1024x2816", text, lambda: (random(m, k, dtype=dtype), random(k, n, dtype=dtype), random(k, n, dtype=dtype)),
                lambda x, a, b: F.silu(x @ a) * (x @ b), terms=k, roundings=4, flops=4.0 * m * n * k)


def gemm(size) -> List[Case]:
    """Products of halves, the largest first."""
    cubes = [(kind, layout, n, UNIT_GOALS if n >= 2048 else SMALL_UNIT_GOALS) for n in (4096, 2048, 1024) for kind in ("bf16", "f16") for layout in LAYOUTS]
    return [
        *(product(size, kind, layout, n, n, n, f"gemm/{kind}-{layout}-{n}", goals) for kind, layout, n, goals in cubes[:8]),
        product(size, "bf16", "nn", 8192, 1024, 1024, "gemm/bf16-nn-8192x1024x1024", UNIT_GOALS),
        product(size, "f16", "nn", 512, 11008, 4096, "gemm/f16-nn-512x4096x11008", UNIT_GOALS),
        *(swiglu(size, kind) for kind in ("bf16", "fp32")),
        *(product(size, kind, layout, n, n, n, f"gemm/{kind}-{layout}-{n}", goals) for kind, layout, n, goals in cubes[8:]),
    ]


LINEAR_GELU = """def linear_gelu({0}(M,K) X, {0}(N,K) W, {0}(N) b) -> ({0}(M,N) Y) {{
  C(m,n) +=! float(X(m,k)) * float(W(n,k))
  H(m,n) = C(m,n) + b(n)
  Y(m,n) = {0}(0.5 * H(m,n) * (1.0 + tanh(0.7978845608028654 * (H(m,n) + 0.044715 * H(m,n) * H(m,n) * H(m,n)))))
}}"""
SCORES = "def scores({0}(B,S,D) Q, {0}(B,T,D) K) -> (Y) {{ Y(b,s,t) +=! Q(b,s,d) * K(b,t,d) }}"
VALUES = "def values({0}(B,S,T) P, {0}(B,T,D) V) -> (Y) {{ Y(b,s,d) +=! P(b,s,t) * V(b,t,d) }}"


def name_of(dtype: torch.dtype) -> str:
    """The name of a type in a text."""
    return str(dtype).partition(".")[2]


def linear_gelu(size, kind: str) -> Case:
    m, n, k = sized(size)(4096, 3072, 768)
    dtype = TYPES[kind]
    return Case(f"libraries/{kind}-linear-gelu-4096x3072x768", LINEAR_GELU.format(name_of(dtype)),
                lambda: (random(m, k, dtype=dtype), random(n, k, dtype=dtype), random(n, dtype=dtype)),
                lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh"), terms=k, roundings=3, flops=2.0 * m * n * k,
                libraries="cublaslt:finite")


def attention_products(size, kind: str) -> List[Case]:
    """The two products of 12 heads of 16 sequences of 512 words."""
    b, s, d = sized(size)(192, 512, 64)
    dtype = TYPES[kind]
    more = dict(flops=2.0 * b * s * s * d, compiled=False, libraries="cublaslt")
    return [
        Case(f"libraries/{kind}-scores-192x512x512x64", SCORES.format(name_of(dtype)),
             lambda: (random(b, s, d, dtype=dtype), random(b, s, d, dtype=dtype)), lambda q, k: q @ k.transpose(1, 2), terms=d, **more),
        Case(f"libraries/{kind}-values-192x512x64x512", VALUES.format(name_of(dtype)),
             lambda: (random(b, s, s, dtype=dtype), random(b, s, d, dtype=dtype)), torch.bmm, terms=s, **more),
    ]


ATTENTION = """def attention({0}(H,N,K) Q, {0}(H,J,K) W, {0}(H,J,D) V) -> ({0}(H,N,D) O) {{
  S(h,n,j) +=! {1}(Q(h,n,k)) * {1}(W(h,j,k))
  T(h,n,j) = {3}{2} * S(h,n,j){4}
  m(h,n) max=! T(h,n,j)
  E(h,n,j) = exp(T(h,n,j) - m(h,n))
  l(h,n) +=! E(h,n,j)
  U(h,n,d) +=! E(h,n,j) * {1}(V(h,j,d))
  O(h,n,d) = {1}(U(h,n,d) / l(h,n))
}}"""
ATTENTION_GOALS = {"fp32": (Goal("eager", 1.5, None),), "bf16": (Goal("eager", 0.5, 0.8),)}


def attention_of(size, kind: str, heads: int, rows: int, keys: int, depth: int, causal: bool = False) -> Case:
    """Attention as plain statements, beside torch's own operator."""
    dtype = TYPES[kind]
    h, n, j, d = sized(size)(heads, rows, keys, depth)
    text = ATTENTION.format(name_of(dtype), "" if kind == "fp32" else "float32", d**-0.5, *(("j <= n ? ", " : -inf") if causal else ("", "")))
    if kind != "fp32":  # exponentials are rounded as torch's kernels round them
        text = text.replace("= float32(U", f"= {name_of(dtype)}(U")
        text = text.replace("U(h,n,d) +=! E(h,n,j)", f"P(h,n,j) = {name_of(dtype)}(E(h,n,j))\n  U(h,n,d) +=! float32(P(h,n,j))")
    return Case(f"attention/{kind}-{heads}x{rows}x{keys}x{depth}{'-causal' if causal else ''}", text,
                lambda: tuple(random(h, length, d, dtype=dtype) for length in (n, j, j)),
                lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0], terms=j + d, roundings=4,
                flops=4.0 * h * n * j * d, goals=ATTENTION_GOALS[kind], compiled=False)


def attention(size) -> List[Case]:
    """Heads of several sequences, one long sequence, decoding, and a causal mask; the last lengths are odd."""
    shapes = ((128, 512, 512, 64), (32, 2048, 2048, 64), (16, 2048, 2048, 128), (16, 8192, 8192, 64), (64, 1, 4096, 64), (96, 197, 197, 64))
    return [
        *(attention_of(size, kind, *shape) for shape in shapes for kind in ("bf16", "fp32")),
        *(attention_of(size, kind, 32, 2048, 2048, 64, causal=True) for kind in ("bf16", "fp32")),
    ]


def libraries(size) -> List[Case]:
    """Calls of cuBLASLt in the place of our code."""
    cubes = [(kind, layout, n) for n in (4096, 2048, 1024) for kind in ("bf16", "f16", "fp32") for layout in ("nt", "nn")]
    return [
        *(linear_gelu(size, kind) for kind in ("bf16", "fp32")),
        *(case for kind in ("bf16", "fp32") for case in attention_products(size, kind)),
        *(with_library(product(size, kind, layout, n, n, n, f"libraries/{kind}-{layout}-{n}")) for kind, layout, n in cubes),
    ]


def with_library(case: Case) -> Case:
    return Case(**{**case.__dict__, "libraries": "cublaslt"})


def whole(m: int, n: int, k: int):
    """The next sizes that are multiples of the tiles that products usually have."""
    return (*(-(-extent // 128) * 128 for extent in (m, n)), -(-k // 32) * 32)


def odd(size) -> List[Case]:
    """Products of sizes that fill no tile, each before the one of the next whole sizes."""
    cases = []
    for layout, *extents in ODD_PRODUCTS:
        for kind in ("fp32", "bf16"):
            name = f"odd/{kind}-{layout}-{'x'.join(map(str, extents))}"
            cases.append(product(size, kind, layout, *extents, name))
            cases.append(product(size, kind, layout, *whole(*extents), f"{name}-whole"))
    return cases


def elementwise(size) -> List[Case]:
    (n,) = sized(size)(1 << 26)
    one, two = (lambda: (random(n),)), (lambda: (random(n), random(n)))
    text = "def f(float(N) X) -> (Y) {{ Y(i) = {} }}"
    return [
        Case("memory/copy-64M", text.format("X(i)"), one, lambda x: x.clone(), goals=MEMORY_GOALS),
        Case("memory/gelu-64M", text.format("gelu(X(i))"), one, F.gelu, goals=MEMORY_GOALS),
        Case("memory/multiply-add-64M", "def f(float(N) X, float(N) Y) -> (Z) { Z(i) = 2 * X(i) + Y(i) }", two,
             lambda x, y: torch.add(y, x, alpha=2), goals=MEMORY_GOALS),
        Case("memory/sum-64M", "def sum(float(N) X) -> (S) { S +=! X(i) }", one, lambda x: x.sum(), terms=n, goals=MEMORY_GOALS),
    ]


def rows(size) -> List[Case]:
    cases = []
    for n, c in ((65536, 1024), (16384, 4096), (2048, 32768)):
        kept = ("softmax", "layer-norm") if c != 4096 else ("softmax", "layer-norm", "rms-norm")
        for case in norms.rows_of(f"{n}x{c}", *sized(size)(n, c)):
            if case.name.split("/")[1].startswith(kept):
                cases.append(renamed(case, case.name.replace("norms/", "memory/"), MEMORY_GOALS))
    return cases


def renamed(case: Case, name: str, goals=()) -> Case:
    """The case under another name and with other goals."""
    return Case(**{**case.__dict__, "name": name, "goals": goals})


def planes(size) -> List[Case]:
    n, c, square, images, channels, image = sized(size)(16384, 4096, 8192, 64, 64, 128)
    table = lambda: (random(n, c),)
    return [
        Case("memory/sum-rows-16384x4096", "def sum(float(N,C) X) -> (S) { S(n) +=! X(n,c) }", table, lambda x: x.sum(1), terms=c, goals=MEMORY_GOALS),
        Case("memory/sum-columns-16384x4096", "def sum(float(N,C) X) -> (S) { S(c) +=! X(n,c) }", table, lambda x: x.sum(0), terms=n, goals=MEMORY_GOALS),
        Case("memory/transpose-8192", "def transpose(float(M,N) X) -> (Y) { Y(n,m) = X(m,n) }", lambda: (random(square, square),),
             lambda x: x.T.contiguous(), goals=MEMORY_GOALS),
        Case("memory/max-pool-2x2-64@128", memory.POOL, lambda: (random(images, channels, 2 * (image // 2), 2 * (image // 2)),),
             lambda x: F.max_pool2d(x, 2), goals=MEMORY_GOALS),
        Case("memory/jacobi-8192", memory.JACOBI, lambda: (random(square, square),), memory.jacobi, terms=5, goals=MEMORY_GOALS),
    ]


def paper(size) -> List[Case]:
    return [
        matmul.matmul(size, "nt", 128, 256, 32, "paper/tmm-128x32x256", PAPER_GOALS),
        matmul.matmul(size, "nt", 128, 1024, 1024, "paper/tmm-128x1024x1024", ()),
        matmul.matmul(size, "nt", 128, 16384, 4096, "paper/tmm-128x4096x16384", ()),
        renamed(batch(size, "", 500, 26, 26, 72), "paper/tbmm-500x26x72x26", PAPER_GOALS),
        *(renamed(convolution.grouped(size, 32, 32, c, image), f"paper/gconv-c{c}-{32 * c}@{image}", PAPER_GOALS)
          for c, image in ((4, 56), (8, 28), (16, 14), (32, 7))),
        *(renamed(case, case.name.replace("lookups/", "paper/"), PAPER_GOALS if "2lut" in case.name else ())
          for case in lookups.cases(size)),
        *(renamed(case, case.name.replace("mlp/", "paper/"), () if "c3" in case.name else PAPER_GOALS) for case in mlp.cases(size)),
    ]


def conv(size) -> List[Case]:
    layers = ((64, 56), (128, 28), (256, 14), (512, 7))
    return [
        *(convolution.dense(size, f"resnet-{c}@{image}-n32", 32, c, c, image, compiled=False) for c, image in layers),
        *(convolution.dense(size, f"resnet-bf16-{c}@{image}-n32", 32, c, c, image, dtype=torch.bfloat16, compiled=False) for c, image in layers),
        convolution.dense(size, "resnet-conv1-7x7-n32", 32, 3, 64, 112, 7, 2, (), convolution.CONV_STRIDE_2),
        convolution.depthwise(size, 32, 192, 56),
        convolution.stencil(size, 2048),
        convolution.bias_relu(size, 64, 56),
    ]


FAMILIES: Dict[str, Callable] = {
    "gemm": gemm,
    "odd": odd,
    "sgemm": sgemm,
    "libraries": libraries,
    "attention": attention,
    "memory": lambda size: elementwise(size) + rows(size) + planes(size),
    "paper": paper,
    "conv": conv,
}
