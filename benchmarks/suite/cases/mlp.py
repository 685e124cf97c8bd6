"""The paper's production model: C3, one layer, three fused layers."""

import torch
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

C3 = """def c3(float(B,WX) I, float(WY,WX) W) -> (O) {
  O(b,wy) +=! I(b,wx) * W(wy,wx)
}"""
MLP1 = """def mlp1(float(B,M) I, float(N,M) W, float(N) C) -> (O) {
  O(b,n) +=! I(b,m) * W(n,m)
  O(b,n) = fmax(O(b,n) + C(n), 0)
}"""
MLP3 = """def mlp3(float(B,N) I, float(O,N) W2, float(O) B2, float(P,O) W3, float(P) B3, float(Q,P) W4, float(Q) B4)
    -> (O2, O3, O4) {
  O2(b,o) +=! I(b,n) * W2(o,n)
  O2(b,o) = fmax(O2(b,o) + B2(o), 0)
  O3(b,p) +=! O2(b,o) * W3(p,o)
  O3(b,p) = fmax(O3(b,p) + B3(p), 0)
  O4(b,q) +=! O3(b,p) * W4(q,p)
  O4(b,q) = fmax(O4(b,q) + B4(q), 0)
}"""


def mlp3(i, w2, b2, w3, b3, w4, b4):
    o2 = torch.relu(F.linear(i, w2, b2))
    o3 = torch.relu(F.linear(o2, w3, b3))
    return o2, o3, torch.relu(F.linear(o3, w4, b4))


def cases(size):
    b, wx, wy, m, n, o, p, q = sized(size)(128, 1000, 1024, 2000, 128, 64, 32, 2)
    yield Case(
        "mlp/c3-128x1000x1024",
        C3,
        lambda: (random(b, wx), random(wy, wx)),
        F.linear,
        terms=wx,
        flops=2.0 * b * wx * wy,
        native=("matmul", "nt", b, wy, wx),
    )
    yield Case(
        "mlp/mlp1-128x2000x128",
        MLP1,
        lambda: (random(b, m), random(n, m), random(n)),
        lambda x, w, c: torch.relu(F.linear(x, w, c)),
        terms=m,
        flops=2.0 * b * m * n,
    )
    yield Case(
        "mlp/mlp3-128x128-64-32-2",
        MLP3,
        lambda: (random(b, n), random(o, n), random(o), random(p, o), random(p), random(q, p), random(q)),
        mlp3,
        terms=n + o + p,
        flops=2.0 * b * (n * o + o * p + p * q),
        goals=(Goal("eager", 1.2, 3.0),),
    )
