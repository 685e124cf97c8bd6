"""Scalar parameters whose values ranges and strides are made of."""

import pickle

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

SCONV2D = """
def sconv2d(int sh, int sw, float(N,C,H,W) I,
            float(F,C,KH,KW) W, float(F) B) -> (O) {
  O(n,f,h,w)  = B(f)
  O(n,f,h,w) += I(n,c, sh * h + kh, sw * w + kw)
                * W(f,c,kh,kw)
}
"""


def test_strides_of_the_paper():
    T = tc.define(SCONV2D)
    image, weight, bias = torch.randn(2, 3, 11, 9), torch.randn(4, 3, 3, 2), torch.randn(4)
    for sh, sw in [(1, 1), (2, 3), (torch.tensor(3, dtype=torch.int32), np.array(1, dtype=np.int32))]:
        result = T.sconv2d(sh, sw, image, weight, bias)
        torch.testing.assert_close(result, torch.nn.functional.conv2d(image, weight, bias, stride=(int(sh), int(sw))), rtol=1e-4, atol=1e-4)
    executable = tc.compile(T.sconv2d, 2, 2, image, weight, bias)
    torch.testing.assert_close(executable(2, 2, image, weight, bias), T.sconv2d(2, 2, image, weight, bias))
    assert T.sconv2d.infer(2, 2, image, weight, bias).outputs[0].shape == (2, 4, 5, 4)


def test_strides_have_gradients():
    T = tc.define(SCONV2D)
    inputs = [torch.randn(1, 2, 7, 7), torch.randn(2, 2, 3, 3), torch.randn(2)]
    gradients = []
    for f in (lambda *given: T.sconv2d(2, 2, *given), lambda *given: torch.nn.functional.conv2d(*given, stride=2)):
        given = [x.clone().requires_grad_() for x in inputs]
        f(*given).square().sum().backward()
        gradients.append([x.grad for x in given])
    for ours, theirs in zip(*gradients):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)


def test_sizes_that_no_tensor_has():
    T = tc.define(
        """
def eye(int N) -> (float(N,N) I) { I(i,j) = i == j ? 1 : 0 }
def take(int K, float(N) X) -> (Y) { Y(k) = X(k) * K where k in 0:K }
def windows(int S, float(N) X) -> (Y) { Y(i) max=! X(S*i + k) where k in 0:S }
def twice(int S, float(N) X) -> (Y) { A = windows(S, X)  Y = windows(S, A) }"""
    )
    assert np.array_equal(np.asarray(T.eye(N=4)), np.eye(4, dtype=np.float32))
    x = np.arange(12, dtype=np.float32)
    assert T.take(3, x).tolist() == [0, 3, 6]
    assert T.windows(S=4, X=x).tolist() == [3, 7, 11]
    assert T.windows(3, x).tolist() == [2, 5, 8, 11]
    assert T.twice(2, x).tolist() == [3, 7, 11]
    with pytest.raises(tc.ArgumentError):
        T.take(13, x)
    with pytest.raises(tc.ArgumentError):
        T.windows(0, x)
    with pytest.raises(tc.ArgumentError, match="give it as an integer"):
        T.windows(2.5, x)


@pytest.fixture(scope="module")
def pool():
    return tc.define("def pool(int s, float(N) X) -> (O) { O(i) +=! X(s * i + k) * X(s * i + k) where k in 0:s }").pool


def test_made_of_defs_with_values(pool):
    x = torch.randn(12, requires_grad=True)
    gradient, batch = tc.grad(pool), tc.vmap(pool, [None, 0])
    for s in (2, 3, 4):
        assert torch.allclose(pool(s, x), x.reshape(-1, s).square().sum(1), atol=1e-5)
        assert torch.allclose(gradient(s, x.detach(), torch.ones(12 // s)), 2 * x.detach())
        assert torch.allclose(batch(s, torch.stack([x.detach()] * 3))[1], pool(s, x.detach()))
        assert torch.equal(pickle.loads(pickle.dumps(gradient))(s, x.detach(), torch.ones(12 // s)), gradient(s, x.detach(), torch.ones(12 // s)))
        assert tc.compile(gradient, s, x.detach(), torch.ones(12 // s)) is not None
    with pytest.raises(tc.ArgumentError, match="'s' decides ranges of 'pool': give it as an integer"):
        gradient(2.5, x.detach(), torch.ones(6))


def test_made_of_what_is_made(pool):
    x, ones = torch.randn(12), torch.ones(12)
    second = tc.grad(tc.grad(pool), ["X"])
    operator = tc.torch_op("tc_valued::pool_grad", tc.grad(pool))
    for s in (2, 3, 4):
        tangents = [torch.full((12,), 3.0)] if second.seeds else []
        saved = [tc.grad(pool)(s, x, ones[: 12 // s])] if second.saved else []
        assert torch.allclose(second(s, x, ones[: 12 // s], *saved, *tangents), 6 * ones)
        assert torch.allclose(operator(torch.tensor(s, dtype=torch.int32), x, ones[: 12 // s]), 2 * x)
    rows = tc.vmap(tc.vmap(tc.define("def f(T(...,N) X, T(N) w) -> (Y) { Y(...) +=! X(...,i) * w(i) }").f, [0, None]), [0, None])
    for shape in ((2, 3, 5), (2, 3, 4, 5)):
        given = torch.randn(shape, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
        assert torch.allclose(rows(*given), (given[0] * given[1]).sum(-1))


def test_values_in_graphs_of_torch(pool):
    x = torch.randn(12)
    compiled = torch.compile(lambda x: pool(3, x) + 1, backend="eager", fullgraph=True)
    assert torch.allclose(compiled(x), x.reshape(-1, 3).square().sum(1) + 1, atol=1e-5)
    assert torch.allclose(torch.func.grad(lambda x: pool(4, x).sum())(x), 2 * x)
    both = tc.define("def pool(int s, T(...,N) X) -> (O) { O(...,i) +=! X(...,s * i + k) where k in 0:s }").pool
    compiled = torch.compile(lambda x: both(3, x), backend="eager", fullgraph=True)
    for given in (torch.ones(12), torch.ones(2, 12, dtype=torch.float64)):
        assert torch.equal(compiled(given), torch.full_like(given[..., :4], 3))
