"""Executables that hold some of their inputs."""

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

TEXT = """
def scale(float(K,C) W, float(K) g) -> (S) { S(k,c) = W(k,c) * g(k) }
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def main(float(N,C) X, float(K,C) W, float(K) g) -> (Y) { S = scale(W, g)  Y = fc(X, S) }
"""


@pytest.fixture(name="tensors")
def fixture_tensors():
    torch.manual_seed(0)
    return [torch.randint(-3, 4, shape).float() for shape in [(6, 5), (4, 5), (4,)]]


def expected(x, w, g):
    return x @ (w * g[:, None]).T


def test_an_executable_takes_what_is_left(tensors):
    x, w, g = tensors
    f = tc.compile(tc.define(TEXT).main, *tensors, constants=["W", "g"])
    assert torch.equal(f(x), expected(*tensors))
    assert torch.equal(f(X=x), expected(*tensors))
    assert f.stats["parts"] == 1 and f.stats["constants"] == 3
    assert f.stats["constant_bytes"] == 4 * (20 + 20 + 4)
    assert "input X" in f.explain() and "constant S" in f.explain()
    with pytest.raises(tc.ArgumentError, match="takes 1 tensor"):
        f(x, w, g)
    del tensors, w, g
    assert f(x).shape == (6, 4)


def test_a_change_of_a_constant_is_an_error(tensors):
    x, w, g = tensors
    f = tc.compile(tc.define(TEXT).main, *tensors, constants=["W", "g"])
    w.add_(1)
    with pytest.raises(tc.ArgumentError, match="'W' is a constant of 'main' and has been changed"):
        f(x)
    with pytest.raises(tc.ArgumentError, match="has been changed"):
        f.profile(x)
    assert torch.equal(tc.compile(tc.define(TEXT).main, *tensors, constants=["W", "g"])(x), expected(x, w, g))


def test_constants_are_saved(tensors):
    x, w, g = tensors
    bytes_ = tc.compile(tc.define(TEXT).main, *tensors, constants=["W", "g"]).serialise()
    wanted = expected(x, w, g)
    w.zero_()
    assert torch.equal(tc.load(bytes_)(x), wanted)


def test_numbers_and_arrays_are_constants_too():
    text = "def f(float(N) X, float(N) W, float a) -> (Y) { Y(n) = X(n) * a + W(n) }"
    w = np.arange(5, dtype=np.float32)
    f = tc.compile(tc.define(text).f, torch.ones(5), w, 3.0, constants=("a", "W"))
    assert torch.equal(f(torch.ones(5)), torch.arange(5) + 3.0)


@pytest.mark.parametrize(
    "constants, message",
    [(["V"], "no parameter 'V'"), (["W", "W"], "two constants are given for the parameter 'W'")],
)
def test_wrong_names_are_told(tensors, constants, message):
    with pytest.raises(tc.ArgumentError, match=message):
        tc.compile(tc.define(TEXT).main, *tensors, constants=constants)


def test_a_spec_is_no_constant(tensors):
    with pytest.raises(tc.ArgumentError, match="given as a spec"):
        tc.compile(tc.define(TEXT).main, tensors[0], tc.spec((4, 5)), tensors[2], constants=["W"])
