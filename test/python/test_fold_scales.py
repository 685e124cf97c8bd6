"""Scales and shifts behind sums of products, folded into constant weights: tc.compile(..., constants=..., fold_scales=True)."""

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

TEXTS = {
    "product": """
def main(float(N,C) X, float(K,C) W, float(K) b, float(K) s, float(K) t) -> (Y) {
  A(n,k) +=! X(n,c) * W(k,c)
  B(n,k) = A(n,k) + b(k)
  D(n,k) = B(n,k) * s(k) - t(k)
  Y(n,k) = relu(D(n,k))
}""",
    "convolution": """
def conv(float(N,C,H,W) X, float(K,C,3,3) F, float(K) b) -> (Y) {
  Y(n,k,h,w) +=! h+p-1 >= 0 && h+p-1 < H && w+q-1 >= 0 && w+q-1 < W ? X(n,c,h+p-1,w+q-1) * F(k,c,p,q) : 0
    where h in 0:H, w in 0:W, p in 0:3, q in 0:3
  Y(n,k,h,w) = Y(n,k,h,w) + b(k)
}
def norm(float(N,K,H,W) X, float(K) s, float(K) t) -> (Y) { u(k) = s(k) * 2  Y(n,k,h,w) = u(k) * (X(n,k,h,w) - t(k)) / 4 }
def main(float(N,C,H,W) X, float(K,C,3,3) F, float(K) b, float(K) s, float(K) t) -> (Y) {
  A = conv(X, F, b)
  Y = norm(A, s, t)
}""",
    "inside": """
def main(float(N,C) X, float(K,C) W, float(K) b, float(K) s, float(K) t) -> (Y) {
  A(n,k) +=! X(n,c) * W(k,c)
  Y(n,k) = fmax((A(n,k) + b(k)) * s(k), 0) - t(k)
}""",
    "groups": """
def main(float(N,12) X, float(8,3) W, float(8) b, float(8) s, float(8) t) -> (Y) {
  A(n,g,f) +=! X(n,g*3+c) * W(g*2+f,c) where g in 0:4, f in 0:2, c in 0:3
  B(n,k) = A(n,k/2,k%2) where k in 0:8
  Y(n,k) = (b(k) - B(n,k)) * s(k) + t(k)
}""",
}
SHAPES = {
    "product": [(5, 19), (8, 19), (8,), (8,), (8,)],
    "inside": [(5, 19), (8, 19), (8,), (8,), (8,)],
    "convolution": [(2, 3, 7, 6), (8, 3, 3, 3), (8,), (8,), (8,)],
    "groups": [(5, 12), (8, 3), (8,), (8,), (8,)],
}


def compiled(name, tensors, **how):
    function = tc.define(TEXTS[name]).main
    return tc.compile(function, *tensors, constants=list(function._parameters())[1:], **how)


@pytest.mark.parametrize("name", TEXTS)
def test_whole_numbers_and_scales_that_are_powers_of_two_give_the_same(name):
    rng = np.random.default_rng(0)
    tensors = [rng.integers(-3, 4, shape).astype(np.float32) for shape in SHAPES[name]]
    tensors[3] = (2.0 ** rng.integers(-2, 3, 8)).astype(np.float32)
    folded, plain = compiled(name, tensors, fold_scales=True), compiled(name, tensors)
    assert folded.stats["folded_scales"] == 1 and plain.stats["folded_scales"] == 0
    assert "_scaled" in folded.stats["graph"]
    np.testing.assert_array_equal(folded(tensors[0]), tc.define(TEXTS[name]).main(*tensors))
    assert np.abs(folded(tensors[0])).max() > 0


def bound(x, w, b, s, t):
    """What the product may differ by: 23 terms and four operations, each rounded by at most 2**-24 of the sum of magnitudes."""
    magnitude = (np.abs(x) @ np.abs(w).T + np.abs(b)) * np.abs(s) + np.abs(t)
    return (x.shape[1] + 4) * 2.0**-24 * 1.01 * magnitude


def test_results_differ_by_rounding_alone():
    rng = np.random.default_rng(1)
    tensors = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES["product"]]
    x, w, b, s, t = (a.astype(np.float64) for a in tensors)
    exact = np.maximum((x @ w.T + b) * s - t, 0)
    for how in (True, False):
        error = np.abs(compiled("product", tensors, fold_scales=how)(tensors[0]) - exact)
        assert (error <= bound(x, w, b, s, t)).all()
    assert (np.abs(exact) > bound(x, w, b, s, t)).any()


class Block(torch.nn.Module):
    """Convolutions with norms, the last one behind a sum, which no scale goes through."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.first = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3, groups=8, padding=1, bias=False), nn.BatchNorm2d(8, affine=False))
        self.third = nn.Sequential(nn.Conv2d(8, 8, 1, groups=2), nn.BatchNorm2d(8))
        self.last = nn.BatchNorm2d(8)

    def forward(self, x):
        x = self.first(x)
        return self.last(self.third(self.second(x)) + x)


def test_norms_of_a_frozen_model_are_folded():
    torch.manual_seed(0)
    model = Block().eval()
    for norm in (m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)):
        norm.running_var.uniform_(0.5, 2)
        norm.running_mean.uniform_(-1, 1)
    x = torch.randn(2, 4, 6, 6)
    with torch.no_grad():
        exact = model.double()(x.double())
        model.float()
        for fold, count in ((True, 3), (False, 0)):
            torch._dynamo.reset()
            tc.torch.reset()
            y = torch.compile(model, backend="tc", options={"freeze": True, "fold_scales": fold})(x)
            (executable,) = tc.torch.reports()[-1].executables
            assert executable.stats["folded_scales"] == count
            # sums of 36, 9 and 4 products and some 15 operations, each rounded; values of a few units
            assert (y.double() - exact).abs().max() <= 64 * 2.0**-24 * 16
    assert exact.abs().max() > 1
