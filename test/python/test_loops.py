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


def test_what_a_loop_has_none_of():
    with pytest.raises(tc.SemanticError, match="the gradient of a loop is not taken"):
        tc.grad(T.decayed)(torch.randn(3, 2), torch.rand(2), torch.randn(3, 2))


def test_sizes_that_change():
    function = tc.define(str(T.decayed), dynamic="T").decayed
    for length in (1, 3, 20):
        x, a = torch.randn(length, 6), torch.rand(6)
        torch.testing.assert_close(function(x, a), decayed(x, a))
