"""What values() gives: returns and temporaries of a call, by name."""

import numpy as np
import pytest

import tensor_comprehensions as tc

X = np.arange(12, dtype="f4").reshape(3, 4)


def values(text, *tensors, name="f"):
    return tc.define(text)[name].values(*tensors)


def test_a_temporary_and_the_return_by_name():
    T = tc.define("def f(float(N,C) X) -> (Y) { s(n) +=! X(n,c)  Y(n,c) = X(n,c) / s(n) }")
    found = T.f.values(X)
    assert list(found) == ["Y", "s"]
    np.testing.assert_array_equal(found["s"], X.sum(1))
    np.testing.assert_array_equal(found["Y"], T.f(X))
    np.testing.assert_array_equal(T.f.values(X=X)["s"], X.sum(1))


def test_a_def_without_temporaries_gives_its_return():
    assert list(values("def f(float(N) X) -> (Y) { Y(i) = X(i) }", X[0])) == ["Y"]


def test_a_name_that_is_written_again_has_its_last_value():
    found = values("def f(float(N) X) -> (Y) { t(i) = X(i)  Z(i) = t(i)  t(i) = 2 * t(i)  Y(i) = t(i) + Z(i) }", X[0])
    np.testing.assert_array_equal(found["t"], 2 * X[0])
    np.testing.assert_array_equal(found["Z"], X[0])


def test_types_are_those_of_the_text():
    found = values("def f(float(N) X) -> (Y) { p(i) = X(i) > 1  m max=! X(i)  n(i) = int32(X(i))  Y(i) = p(i) ? m : n(i) }", X[0])
    assert found["p"].dtype == bool and found["n"].dtype == np.int32 and found["m"] == 3


def test_results_of_calls_and_the_temporaries_inside():
    text = """
    def twice(float(N) X) -> (Y) { h(i) = X(i) / 2  Y(i) = h(i) }
    def f(float(N) X) -> (Z) { A = twice(X)  Z(i) = A(i) + 1 }"""
    found = values(text, X[0])
    np.testing.assert_array_equal(found["A"], X[0] / 2)
    np.testing.assert_array_equal(found["Z"], X[0] / 2 + 1)


def test_loops_and_values_in_ranges():
    text = "def f(int s, float(N) X) -> (Y) { t(i) = X(s * i) where i in 0:2  Y(i) = t(i) * 2 }"
    np.testing.assert_array_equal(values(text, 2, X[0])["t"], X[0][:4:2])


def test_tensors_of_torch_give_tensors_of_torch():
    torch = pytest.importorskip("torch")
    found = values("def f(float(N) X) -> (Y) { s +=! X(i)  Y(i) = X(i) / s }", torch.from_numpy(X[0].copy()))
    assert isinstance(found["s"], torch.Tensor) and found["s"].item() == 6


def test_a_tensor_that_does_not_fit_is_the_error_of_the_call():
    with pytest.raises(tc.ArgumentError, match="'X' of f has 1 dimension"):
        values("def f(float(N) X) -> (Y) { s +=! X(i)  Y(i) = X(i) / s }", X)
