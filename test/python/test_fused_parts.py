"""Sums along rows and sums along columns of one tensor, which the compiler may fuse part by part: exact on integers, under all laws."""

import numpy as np
import pytest

import tensor_comprehensions as tc

ROWS_AND_COLUMNS = """def f(float(N,C) A) -> (m, D, S, Q) {
  m(n) +=! A(n,c)
  D(n,c) = A(n,c) - m(n)
  S(c) +=! A(n,c) * m(n)
  Q(c) max=! D(n,c)
}"""
COLUMNS_FIRST = """def f(float(N,C) A) -> (S, m, E) {
  S(c) +=! A(n,c)
  m(n) +=! A(n,c)
  E(c) = S(c) + 1
}"""
BIAS = """def f(float(N,O) Y, float(N,O) d_Y) -> (d, b) {
  d(n,o) = Y(n,o) > 0 ? d_Y(n,o) : 0
  b(o) +=! d(n,o)
}"""
PLANES = """def f(float(N,C,W) A) -> (m, s) {
  m(n,w) +=! A(n,c,w)
  s(c) +=! A(n,c,w) * m(n,w)
}"""
SHIFTED = """def f(float(N,C) A) -> (m, s) {
  m(n) +=! A(n,c)
  s(c) +=! A(n,c) * m(N - 1 - n)
}"""
READ_AGAIN = """def f(float(N,C) A) -> (m, s, R) {
  m(n) +=! A(n,c)
  s(c) +=! A(n,c) * m(n)
  R(n,c) = A(n,c) * s(c)
}"""


def bias(y, d):
    d = np.where(y > 0, d, 0)
    return d, d.sum(0)


def rows_and_columns(a):
    m = a.sum(1)
    d = a - m[:, None]
    return m, d, (a * m[:, None]).sum(0), d.max(0)


CASES = {
    "rows_and_columns": (ROWS_AND_COLUMNS, 1, rows_and_columns),
    "columns_first": (COLUMNS_FIRST, 1, lambda a: (a.sum(0), a.sum(1), a.sum(0) + 1)),
    "bias": (BIAS, 2, bias),
    "shifted": (SHIFTED, 1, lambda a: (a.sum(1), (a * a.sum(1)[::-1, None]).sum(0))),
    "read_again": (READ_AGAIN, 1, lambda a: (a.sum(1), (s := (a * a.sum(1)[:, None]).sum(0)), a * s)),
}


@pytest.fixture(autouse=True)
def all_laws(monkeypatch):
    monkeypatch.setenv("TC_VERIFY", "1")


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def outputs(text, inputs):
    result = tc.define(text).f(*inputs)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("shape", [(4096, 96), (997, 130), (256, 33), (64, 16), (70, 300), (3, 40)])
@pytest.mark.parametrize("name", CASES)
def test_sums_are_exact(name, shape):
    text, count, reference = CASES[name]
    inputs = [integers(*shape, seed=i) for i in range(count)]
    for got, want in zip(outputs(text, inputs), reference(*[i.astype(np.float64) for i in inputs])):
        np.testing.assert_array_equal(got, want)


def test_planes():
    a = integers(320, 12, 40)
    m = a.sum(1)
    for got, want in zip(outputs(PLANES, [a]), (m, (a * m[:, None]).sum((0, 2)))):
        np.testing.assert_array_equal(got, want)


def test_one_pass_of_large_tensors_has_parts():
    """Which program has parts: the one whose sums both need the tensor; where one needs all of another it has none, but for those
    that a price cuts a single sum in."""
    a = integers(4096, 1024)
    assert "parts_" in tc.compile(tc.define(ROWS_AND_COLUMNS).f, a).explain()
    assert "parts_" not in tc.compile(tc.define(SHIFTED).f, a, options="construct=rules").explain()


def test_bits_do_not_depend_on_threads():
    a = np.random.default_rng(1).standard_normal((2048, 512)).astype(np.float32)
    f = tc.define(ROWS_AND_COLUMNS).f
    before = tc.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            tc.set_num_threads(threads)
            results.append(f(a))
    finally:
        tc.set_num_threads(before)
    for other in results[1:]:
        for one, two in zip(results[0], other):
            np.testing.assert_array_equal(one, two)
