"""Loops whose iterations run in order, and reductions up to an index, beside torch."""

import pytest
import torch

import tensor_comprehensions as tc

T = tc.define("""
def decayed(float(T,N) X, float(N) a) -> (H) {
  for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? a(n) * H(t-1,n) : 0) }
}
def recurrent(float(T,B,I) X, float(H,I) W, float(H,H) U) -> (float(T,B,H) Y) {
  for t in 0:T {
    G(t,b,h) +=! W(h,i) * X(t,b,i)
    R(t,b,h) +=! U(h,k) * (t >= 1 ? Y(t-1,b,k) : 0)
    Y(t,b,h) = tanh(G(t,b,h) + R(t,b,h))
  }
}
def running(float(N,T) X) -> (S, R) {
  S(n,i) +=! k <= i ? X(n,k) : 0 where i in 0:T
  R(n,i) max=! k >= i ? X(n,k) : -inf where i in 0:T
}
""")


def decayed(x, a):
    states = [x[0]]
    for row in x[1:]:
        states.append(row + a * states[-1])
    return torch.stack(states)


def test_a_recurrence():
    x, a = torch.randn(50, 37), torch.rand(37)
    torch.testing.assert_close(T.decayed(x, a), decayed(x, a))


def test_a_recurrent_layer():
    x, w, u = torch.randn(9, 3, 5), torch.randn(8, 5) / 3, torch.randn(8, 8) / 4
    layer = torch.nn.RNN(5, 8, bias=False)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(w)
        layer.weight_hh_l0.copy_(u)
    torch.testing.assert_close(T.recurrent(x, w, u), layer(x)[0].detach(), atol=1e-5, rtol=1e-5)


TURNED = tc.define("""
def layer(float(T,B,H) X, float(H,H) U) -> (float(T,B,H) Y) {
  for t in 0:T {
    R(t,b,h) +=! (t >= 1 ? Y(t-1,b,k) : 0) * U(k,h)
    Y(t,b,h) = tanh(X(t,b,h) + R(t,b,h))
  }
}
""")


def test_a_product_in_a_step_has_a_register_tile():
    """Lanes run along the contiguous index of the weights, not along the sum, and two vectors of each row are summed at a time."""
    x, u = tc.spec((20, 16, 256)), tc.spec((256, 256))
    nest = tc.compile(TURNED.layer, x, u, target="cpu:avx512,cores=1", cache=False).nest
    assert "h/32  k  b%8 unrolled  h%32/16 unrolled  h%16 lanes" in nest
    for batch, width in ((1, 1), (1, 40), (3, 33), (16, 70)):
        x, u = torch.randn(7, batch, width), torch.randn(width, width) / width
        want = [torch.tanh(x[0])]
        for row in x[1:]:
            want.append(torch.tanh(row + want[-1] @ u))
        torch.testing.assert_close(TURNED.layer(x, u), torch.stack(want), atol=1e-5, rtol=1e-5)


def test_running_reductions_of_all_lengths():
    for length in (1, 2, 63, 64, 65, 1000):
        x = torch.randint(-4, 5, (3, length)).float()
        sums, highest = T.running(x)
        assert torch.equal(sums, x.cumsum(1)) and torch.equal(highest, x.flip(1).cummax(1).values.flip(1))


def test_a_batch_of_recurrences():
    x, a = torch.randn(4, 20, 5), torch.rand(5)
    batched = tc.vmap(T.decayed, in_dims=[0, None])
    want = torch.stack([decayed(row, a) for row in x])
    torch.testing.assert_close(batched(x, a), want)


D = tc.define(
    "\n".join(str(T[name]).replace("float32", "float64") for name in ("decayed", "recurrent", "running"))
    + """
def cells(double(T,N) X, double(3,N,N) U, double(3,N) b) -> (double(T,N) H, double(T,N) C) {
  for t in 0:T {
    A(t,g,n) +=! U(g,n,m) * (t >= 1 ? H(t-1,m) : 0)
    S(t,g,n) = sigmoid(A(t,g,n) + b(g,n) + X(t,n))
    C(t,n) = S(t,0,n) * (t >= 1 ? C(t-1,n) : 0) + S(t,1,n) * tanh(A(t,2,n))
    H(t,n) = S(t,2,n) * tanh(C(t,n))
  }
}
def selective(double(T,D) X, double(T,D) dt, double(D,S) A, double(T,S) B, double(T,S) C) -> (Y) {
  for t in 0:T { H(t,d,s) = exp(dt(t,d) * A(d,s)) * (t >= 1 ? H(t-1,d,s) : 0) + dt(t,d) * B(t,s) * X(t,d) }
  Y(t,d) +=! C(t,s) * H(t,d,s)
}
def product(double(T) X) -> (P) { for t in 0:T { P(t) = X(t) * (t >= 1 ? P(t-1) : 1) } }
"""
)
SHAPES = {
    "decayed": [(5, 3), (3,)],
    "recurrent": [(4, 2, 3), (2, 3), (2, 2)],
    "running": [(2, 7)],
    "cells": [(4, 2), (3, 2, 2), (3, 2)],
    "selective": [(5, 3), (5, 3), (3, 2), (5, 2), (5, 2)],
    "product": [(6,)],
}


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives(name):
    inputs = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in SHAPES[name]]
    assert torch.autograd.gradcheck(lambda *tensors: D[name](*tensors), inputs, fast_mode=True, check_forward_ad=True, check_batched_grad=True)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name == "cells" else name for name in SHAPES])
def test_second_derivatives(name):
    inputs = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in SHAPES[name]]
    assert torch.autograd.gradgradcheck(lambda *tensors: D[name](*tensors), inputs, fast_mode=True)


def test_the_gradient_of_a_layer_of_torch():
    torch.manual_seed(0)
    layer = torch.nn.RNN(5, 8, bias=False)
    x = torch.randn(30, 3, 5)
    weights = [w.detach().clone().requires_grad_() for w in (layer.weight_ih_l0, layer.weight_hh_l0)]
    seed = torch.randn(30, 3, 8)
    layer(x)[0].backward(seed)
    T.recurrent(x, *weights).backward(seed)
    for ours, theirs in zip(weights, layer.parameters()):
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-4)


C = tc.define(
    str(T.decayed)
    + str(T.recurrent)
    + """
def project(float(T,B,H) Y, float(O,H) W) -> (Z) { Z(t,b,o) +=! Y(t,b,h) * W(o,h) }
def stack(float(T,B,I) X, float(H,I) W, float(H,H) U, float(H,H) V, float(O,H) P) -> (Z) {
  A = recurrent(X, W, U)
  D = recurrent(A, V, U)
  E = project(D, P)
  Z(t,b,o) = fmax(E(t,b,o), 0)
}
"""
)


def test_calls_of_defs_with_loops():
    x, w, u, v, p = torch.randn(9, 3, 5), torch.randn(8, 5) / 3, torch.randn(8, 8) / 4, torch.randn(8, 8) / 4, torch.randn(2, 8)
    layers = [torch.nn.RNN(5, 8, bias=False), torch.nn.RNN(8, 8, bias=False)]
    with torch.no_grad():
        for layer, first in zip(layers, (w, v)):
            layer.weight_ih_l0.copy_(first)
            layer.weight_hh_l0.copy_(u)
    want = (layers[1](layers[0](x)[0])[0] @ p.T).relu().detach()
    for partition in ("auto", "each", "one"):
        f = tc.compile(C.stack, x, w, u, v, p, options=tc.MappingOptions(), partition=partition)
        torch.testing.assert_close(f(x, w, u, v, p), want, atol=1e-5, rtol=1e-5)
    assert tc.compile(C.stack, x, w, u, v, p).stats["parts"] == 3
    inputs = [t.double().requires_grad_() for t in (x[:3, :1, :2], w[:3, :2], u[:3, :3], v[:3, :3], p[:, :3])]
    double = tc.define("\n".join(str(C[name]).replace("float32", "float64") for name in ("recurrent", "project", "stack")))
    assert torch.autograd.gradcheck(lambda *tensors: double.stack(*tensors), inputs, fast_mode=True)


def test_a_gradient_that_no_loop_computes():
    mixed = tc.define("def f(float(T) X) -> (float(T) H) { H(t) = X(t)  G(t) = H(t)  for t in 0:T { G(t) = H(T-1-t)  H(t) = 2 * G(t) } }").f
    with pytest.raises(tc.SemanticError, match="TC308.*not at a constant distance"):
        tc.grad(mixed)


def test_sizes_that_change():
    function = tc.define(str(T.decayed), dynamic="T").decayed
    for length in (1, 3, 20):
        x, a = torch.randn(length, 6), torch.rand(6)
        torch.testing.assert_close(function(x, a), decayed(x, a))


LAST = tc.define("""
def last(float(T,N) X, float(N) a) -> (Y) {
  for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? a(n) * H(t-1,n) : 0) }
  Y(n) = H(T-1,n)
}
def readout(float(T,N) X, float(N) a, float(M,N) W) -> (Y) {
  for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? a(n) * H(t-1,n) : 0) }
  Y(m) +=! W(m,n) * H(T-1,n)
}
def beside(float(T,N) X, float(N) a) -> (Y) {
  for t in 0:T { H(t,n) = X(t,n) + (t >= 1 ? a(n) * H(t-1,n) : 0)  Y(t,n) = H(t,n) + (t >= 2 ? H(t-2,n) : 0) }
}
def lstm(float(T,B,I) X, float(4,I,H) W, float(4,H,H) U) -> (float(T,B,H) S, float(B,H) Y) {
  for t in 0:T {
    G(t,b,g,h) +=! (t >= 1 ? S(t-1,b,k) : 0) * U(g,k,h)
    A(t,b,g,h) +=! X(t,b,i) * W(g,i,h)
    C(t,b,h) = sigmoid(G(t,b,0,h) + A(t,b,0,h)) * (t >= 1 ? C(t-1,b,h) : 0) + sigmoid(G(t,b,1,h) + A(t,b,1,h)) * tanh(G(t,b,2,h) + A(t,b,2,h))
    S(t,b,h) = sigmoid(G(t,b,3,h) + A(t,b,3,h)) * tanh(C(t,b,h))
  }
  Y(b,h) = C(T-1,b,h)
}
""")


def lstm(x, w, u):
    state = cell = torch.zeros(x.shape[1], u.shape[2], dtype=x.dtype)
    states = []
    for row in x:
        i, f, g, o = torch.einsum("bk,gkh->gbh", state, u) + torch.einsum("bi,gih->gbh", row, w)
        cell = i.sigmoid() * cell + f.sigmoid() * g.tanh()
        state = o.sigmoid() * cell.tanh()
        states.append(state)
    return torch.stack(states), cell


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 33])
def test_temporaries_of_a_loop_in_a_few_slots(steps):
    x, a, w = torch.randn(steps, 21), torch.rand(21), torch.randn(3, 21)
    want = decayed(x, a)
    torch.testing.assert_close(LAST.last(x, a), want[-1])
    torch.testing.assert_close(LAST.readout(x, a, w), w @ want[-1], atol=1e-5, rtol=1e-5)
    two = want.clone()
    two[2:] += want[:-2]
    torch.testing.assert_close(LAST.beside(x, a), two)
    x, w, u = torch.randn(steps, 3, 4), torch.randn(4, 4, 5), torch.randn(4, 5, 5) / 2
    for got, value in zip(LAST.lstm(x, w, u), lstm(x, w, u)):
        torch.testing.assert_close(got, value, atol=1e-5, rtol=1e-5)


def test_the_memory_of_a_loop_does_not_grow_with_its_steps():
    """`last` and `readout` keep two states, `beside` three, all in buffers; `lstm` keeps the product with the inputs, which has one matrix
    for all steps, and two cells."""
    steps, width = 4096, 256
    x, a = tc.spec((steps, width)), tc.spec((width,))
    target = "cpu:avx512,cores=2,l2=1m"
    for compiled in (
        tc.compile(LAST.last, x, a, target=target, cache=False),
        tc.compile(LAST.readout, x, a, tc.spec((64, width)), target=target, cache=False),
        tc.compile(LAST.beside, x, a, target=target, cache=False),
    ):
        assert compiled.stats["workspace_bytes"] == 0, compiled.name
        assert compiled.proof, compiled.proof
    steps, batch, inputs, hidden = 128, 16, 64, 128
    compiled = tc.compile(LAST.lstm, tc.spec((steps, batch, inputs)), tc.spec((4, inputs, hidden)), tc.spec((4, hidden, hidden)), target=target, cache=False)
    assert compiled.stats["workspace_bytes"] <= steps * batch * 4 * hidden * 4


SCANS = tc.define("""
def sums(float(M,N) X) -> (S) { S(m,i) +=! k <= i ? X(m,k) : 0 where i in 0:N }
def later(float(M,N) X) -> (S) { S(m,i) +=! i <= k ? X(m,k) : 0 where i in 0:N }
def before(float(M,N) X) -> (S) { S(m,i) +=! k < i ? X(m,k) : 0 where i in 0:N }
def most(float(M,N) X) -> (S) { S(m,i) max=! k <= i ? X(m,k) : -inf where i in 0:N }
def least(double(M,N) X) -> (S) { S(m,i) min=! k <= i ? X(m,k) : inf where i in 0:N }
def products(double(M,N) X) -> (S) { S(m,i) *=! k <= i ? X(m,k) : 1 where i in 0:N }
def squares(double(M,N) X) -> (S) { S(m,i) +=! k <= i ? X(m,k) * X(m,k) + 1 : 0 where i in 0:N }
def counts(int32(M,N) X) -> (S) { S(m,i) +=! k <= i ? X(m,k) : 0 where i in 0:N }
""", cache=False)


@pytest.mark.parametrize("length", [1, 63, 64, 79, 80, 81, 300])
def test_running_reductions_in_vectors(length):
    x = torch.randint(-4, 5, (3, length)).float()
    assert torch.equal(SCANS.sums(x), x.cumsum(1))
    assert torch.equal(SCANS.later(x), x.flip(1).cumsum(1).flip(1))
    assert torch.equal(SCANS.before(x), x.cumsum(1) - x)
    assert torch.equal(SCANS.most(x), x.cummax(1).values)
    assert torch.equal(SCANS.least(x.double()), x.double().cummin(1).values)
    signs = x.double().sign() + 0.5
    torch.testing.assert_close(SCANS.products(signs), signs.cumprod(1))
    assert torch.equal(SCANS.squares(x.double()), (x.double().square() + 1).cumsum(1))
    assert torch.equal(SCANS.counts(x.int()), x.cumsum(1).int())


def test_undefined_values_in_running_reductions():
    x = torch.randn(2, 200)
    x[0, 77], x[1, 30], x[1, 150] = float("nan"), float("inf"), float("-inf")
    for got, want in ((SCANS.sums(x), x.cumsum(1)), (SCANS.most(x), x.cummax(1).values)):
        torch.testing.assert_close(got, want, equal_nan=True, rtol=1e-4, atol=1e-4)
    zeros = torch.full((1, 200), -0.0)
    assert not torch.signbit(SCANS.sums(zeros)).any()


def test_running_sums_in_their_own_order():
    x = torch.randn(3, 333)
    one_by_one = x[:, 0]
    for k in range(1, 333):
        one_by_one = one_by_one + x[:, k]
    assert torch.equal(tc.compile(SCANS.sums, x, options="batch_invariant=1", cache=False)(x)[:, -1], one_by_one)
    assert not torch.equal(SCANS.sums(x)[:, -1], one_by_one)
