"""Networks of EINNET's evaluation that are no stack of layers, as texts: the block of GCN, ResNet-18 and a layer of Longformer.

Each has a function, names of its weights, tensors (integers or normal numbers, by `numbers` of derived_networks.py; the input first, then the
weights in the order of their names) and a reference in float64.
"""

import numpy as np
import torch
import torch.nn.functional as F
from derivation import convolution

import tensor_comprehensions as tc


class Gcn:
    """A convolution of a row and one of a column behind each other, in both orders, added: 2048 channels of 7 x 7 to 128."""

    exact = True
    names = ["K", "L", "M", "N"]
    text = """def gcn(float(1,2048,7,7) X, float(128,2048,7) K, float(128,128,7) L, float(128,2048,7) M, float(128,128,7) N) -> (O) {
  A(n,f,h,w) +=! w + s >= 3 && w + s < 10 ? X(n,c,h,w+s-3) * K(f,c,s) : 0 where h in 0:7, w in 0:7
  B(n,f,h,w) +=! h + r >= 3 && h + r < 10 ? A(n,c,h+r-3,w) * L(f,c,r) : 0 where h in 0:7, w in 0:7
  D(n,f,h,w) +=! h + r >= 3 && h + r < 10 ? X(n,c,h+r-3,w) * M(f,c,r) : 0 where h in 0:7, w in 0:7
  E(n,f,h,w) +=! w + s >= 3 && w + s < 10 ? D(n,c,h,w+s-3) * N(f,c,s) : 0 where h in 0:7, w in 0:7
  O(n,f,h,w) = B(n,f,h,w) + E(n,f,h,w) }"""

    def __init__(self, numbers):
        self.numbers = numbers

    def function(self):
        return tc.define(self.text).gcn

    def tensors(self, whole):
        random = np.random.default_rng(1)
        shapes = [(1, 2048, 7, 7), (128, 2048, 7), (128, 128, 7), (128, 2048, 7), (128, 128, 7)]
        return [self.numbers(random, shape, 1 if i == 0 else shape[1] * 7, whole) for i, shape in enumerate(shapes)]

    def reference(self, tensors):
        x, k, l, m, n = (torch.from_numpy(tensor).double() for tensor in tensors)
        row, column = (lambda x, w: F.conv2d(x, w[:, :, None, :], padding=(0, 3))), (lambda x, w: F.conv2d(x, w[:, :, :, None], padding=(3, 0)))
        return (column(row(x, k), l) + row(column(x, m), n)).numpy()


class ResNet18:
    """Batch 1 of 224 x 224, norms folded into the weights."""

    exact = True

    def __init__(self, numbers):
        self.numbers = numbers
        self.defs, self.steps, self.weights, self.shapes = {}, [], {}, {"X": (3, 224)}
        last = self.pooled(self.layer("X", 64, 7, 2, 3))
        for filters, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            for first in (stride, 1):
                side = self.layer(last, filters, 1, first, 0, relu=False) if first == 2 else last
                made = self.layer(self.layer(last, filters, 3, first, 1), filters, 3, 1, 1, relu=False)
                last = self.added(made, side)
        self.weights["W"] = (1000, 512)
        self.defs["classified"] = ("def classified(float(N,C,H,W) X, float(F,C) K) -> (Y) { P(n,c) +=! X(n,c,h,w)  Y(n,f) +=! P(n,c) * K(f,c) }")
        self.steps.append(f"Y = classified({last}, W)")
        self.names = list(self.weights)

    def step(self, call, channels, size):
        name = f"A{len(self.steps)}"
        self.steps.append(f"{name} = {call}")
        self.shapes[name] = (channels, size)
        return name

    def layer(self, x, filters, kernel, stride, pad, relu=True):
        """A convolution with a bias, and relu."""
        channels, size = self.shapes[x]
        text, shapes, _ = convolution(1, channels, size, filters, (kernel, kernel), (pad, pad), stride)
        name = f"conv_{channels}_{size}_{filters}_{kernel}_{stride}"
        self.defs[name] = text.replace("def program", f"def {name}")
        act = "fmax(X(n,c,h,w) + b(c), 0)" if relu else "X(n,c,h,w) + b(c)"
        self.defs[f"bias_{relu}"] = f"def bias_{relu}(float(N,C,H,W) X, float(C) b) -> (Y) {{ Y(n,c,h,w) = {act} }}"
        weights, bias = f"K{len(self.weights)}", f"b{len(self.weights)}"
        self.weights |= {weights: shapes[1], bias: (filters,)}
        made = (size + 2 * pad - kernel) // stride + 1
        return self.step(f"bias_{relu}({self.step(f'{name}({x}, {weights})', filters, made)}, {bias})", filters, made)

    def pooled(self, x):
        channels, size = self.shapes[x]
        self.defs["pool"] = f"""def pool(float(N,C,H,W) X) -> (Y) {{ Y(n,c,h,w) max=! 2*h + r >= 1 && 2*h + r <= {size} && 2*w + s >= 1 && 2*w + s <= {size} ?
  X(n,c,2*h+r-1,2*w+s-1) : -1.0/0.0 where r in 0:3, s in 0:3, h in 0:{size // 2}, w in 0:{size // 2} }}"""
        return self.step(f"pool({x})", channels, size // 2)

    def added(self, x, y):
        self.defs["added"] = "def added(float(N,C,H,W) X, float(N,C,H,W) Y) -> (Z) { Z(n,c,h,w) = fmax(X(n,c,h,w) + Y(n,c,h,w), 0) }"
        return self.step(f"added({x}, {y})", *self.shapes[x])

    def function(self):
        params = ", ".join(f"float({','.join(map(str, shape))}) {name}" for name, shape in self.weights.items())
        head = f"def network(float(1,3,224,224) X, {params}) -> (Y) {{"
        return tc.define("\n".join([*self.defs.values(), head, *self.steps, "}"])).network

    def tensors(self, whole):
        random = np.random.default_rng(1)
        image = self.numbers(random, (1, 3, 224, 224), 1, whole)
        return [image, *(self.numbers(random, shape, np.prod(shape[1:]) if len(shape) > 1 else 8, whole, 1) for shape in self.weights.values())]

    def reference(self, tensors):
        x, *rest = (torch.from_numpy(tensor).double() for tensor in tensors)
        rest = iter(rest)

        def layer(x, stride, pad, relu=True):
            made = F.conv2d(x, next(rest), next(rest), stride, pad)
            return torch.relu(made) if relu else made

        x = F.max_pool2d(layer(x, 2, 3), 3, 2, 1)
        for stage in range(4):
            for block in range(2):
                stride = 2 if stage > 0 and block == 0 else 1
                side = layer(x, 2, 0, False) if stride == 2 else x
                x = torch.relu(layer(layer(x, stride, 1), 1, 1, False) + side)
        return (x.sum(dim=(2, 3)) @ next(rest).T).numpy()


class Longformer:
    """A layer: 512 rows of 512, 8 heads of 64, each row with the 65 rows around it that lie 4 apart, then two dense layers."""

    exact = False  # exponentials
    rows, width, heads, band, dilation = 512, 512, 8, 65, 4
    names = ["Q", "K", "V", "W", "F", "G"]

    def __init__(self, numbers):
        self.numbers = numbers

    def function(self):
        reach = self.band // 2 * self.dilation
        inside, at = f"m + 4*w >= {reach} && m + 4*w < {self.rows + reach}", f"m+4*w-{reach}"
        ranges = f"w in 0:{self.band}, m in 0:{self.rows}"
        return tc.define(f"""
def project(float(M,C) X, float(C,B,K) W) -> (P) {{ P(b,m,k) +=! X(m,c) * W(c,b,k) }}
def banded(float(B,{self.rows},K) Q, float(B,{self.rows},K) P) -> (S) {{
  S(b,m,w) +=! {inside} ? Q(b,m,k) * P(b,{at},k) : 0 where {ranges} }}
def weights(float(B,{self.rows},{self.band}) S) -> (E) {{
  T(b,m) max=! {inside} ? S(b,m,w) : -1.0/0.0 where {ranges}
  Z(b,m,w) = {inside} ? exp(S(b,m,w) - T(b,m)) : 0 where {ranges}
  L(b,m) +=! Z(b,m,w)
  E(b,m,w) = Z(b,m,w) / L(b,m) }}
def weighted(float(B,{self.rows},{self.band}) E, float(B,{self.rows},K) V) -> (O) {{
  O(b,m,k) +=! {inside} ? E(b,m,w) * V(b,{at},k) : 0 where {ranges} }}
def joined(float(B,M,K) O, float(B,K,C) W) -> (Y) {{ Y(m,c) +=! O(b,m,k) * W(b,k,c) }}
def dense(float(M,C) X, float(C,F) W) -> (Y) {{ Y(m,f) +=! X(m,c) * W(c,f) }}
def positive(float(M,C) X) -> (Y) {{ Y(m,c) = fmax(X(m,c), 0) }}
def layer(float({self.rows},512) X, float(512,8,64) Q, float(512,8,64) K, float(512,8,64) V, float(8,64,512) W, float(512,512) F, float(512,512) G) -> (Y) {{
  q = project(X, Q)  k = project(X, K)  v = project(X, V)
  S = banded(q, k)  E = weights(S)  O = weighted(E, v)
  J = joined(O, W)  A = dense(J, F)  B = positive(A)  Y = dense(B, G) }}""").layer

    def tensors(self, whole):
        random = np.random.default_rng(1)
        shapes = [(512, 8, 64)] * 3 + [(8, 64, 512), (512, 512), (512, 512)]
        return [self.numbers(random, (self.rows, self.width), 1, whole), *(self.numbers(random, shape, 512, whole) for shape in shapes)]

    def reference(self, tensors):
        x, q, k, v, w, f, g = (torch.from_numpy(tensor).double() for tensor in tensors)
        q, k, v = (torch.einsum("mc,cbk->bmk", x, each) for each in (q, k, v))
        rows = torch.arange(self.rows)[:, None] + self.dilation * (torch.arange(self.band) - self.band // 2)
        inside, rows = (rows >= 0) & (rows < self.rows), rows.clamp(0, self.rows - 1)
        scores = torch.einsum("bmk,bmwk->bmw", q, k[:, rows]).masked_fill(~inside, -torch.inf)
        o = torch.einsum("bmw,bmwk->bmk", torch.softmax(scores, dim=2), v[:, rows])
        return (torch.relu(torch.einsum("bmk,bkc->mc", o, w) @ f) @ g).numpy()
