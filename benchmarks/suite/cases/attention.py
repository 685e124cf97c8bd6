"""Attention written out."""

import math

import torch
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

TEXT = """def attention(float(H,S,D) Q, float(H,T,D) K, float(H,T,D) V, float scale) -> (O) {
  L(h,s,t) +=! Q(h,s,d) * K(h,t,d)
  top(h,s) max=! L(h,s,t)
  E(h,s,t) = exp((L(h,s,t) - top(h,s)) * scale)
  total(h,s) +=! E(h,s,t)
  O(h,s,d) +=! E(h,s,t) * V(h,t,d)
  O(h,s,d) = O(h,s,d) / total(h,s)
}"""


def written_out(q, k, v, scale):
    return torch.softmax(q @ k.transpose(1, 2) * scale, -1) @ v


def fused(q, k, v, scale):
    return F.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale.item())[0]


def cases(size):
    heads, length, depth = sized(size)(8, 512, 64)
    yield Case(
        "attention/8x512x64",
        TEXT,
        lambda: (
            random(heads, length, depth),
            random(heads, length, depth),
            random(heads, length, depth),
            torch.tensor(1 / math.sqrt(depth)),
        ),
        written_out,
        terms=length + depth,
        flops=4.0 * heads * length * length * depth,
        goals=(Goal("eager", 1.2, 3.0),),
        also={"sdpa": fused},
        scaling=True,
    )
