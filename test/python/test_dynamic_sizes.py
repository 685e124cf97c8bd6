"""Code for ranges of sizes: tc.define(..., dynamic=...) and tc.compile(..., dynamic=...)."""

import copy
import pickle

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

MLP = """def mlp(float(B,I) X, float(O,I) W, float(O) b) -> (Y) {
  Y(n,o) +=! X(n,i) * W(o,i)  Y(n,o) = fmax(Y(n,o) + b(o), 0)
}"""
SOFTMAX = """def softmax(float(B,N) X) -> (Y) {
  M(b) max=! X(b,n)  E(b,n) = exp(X(b,n) - M(b))  S(b) +=! E(b,n)  Y(b,n) = E(b,n) / S(b)
}"""
CONV = """def conv(float(N,C,H,W) X, float(O,C,3,3) K) -> (Y) {
  Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * K(o,c,kh,kw)
}"""
GRAPH = """
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def positive(float(N,K) X) -> (Y) { Y(n,k) = fmax(X(n,k), 0) }
def join(float(T,K) A, float(1,K) B) -> (float(T+1,K) Y) { Y(t,k) = t < T ? A(t,k) : B(t - T,k) where t in 0:T+1 }
def main(float(T,K) X, float(1,K) Z, float(K,K) W) -> (S, Y) {
  S = join(X, Z)  A = fc(S, W)  B = positive(A)  Y = fc(Z, B)
}
"""
TABLE = "def rows(float(V,D) T, int64(N) I) -> (Y) { Y(n,d) = T(I(n),d) }"


def whole(*shape):
    return torch.randint(-3, 4, shape).float()


def sizes_of(function, *tensors):
    return tc.compile(function, *tensors, dynamic="B", cache=False).stats["sizes"]


def test_each_size_is_right_and_few_are_compiled(monkeypatch):
    mlp = tc.define(MLP, dynamic="B", cache=False).mlp
    weight, bias, seen = whole(24, 17), whole(24), set()
    for rows in range(1, 51):
        x = whole(rows, 17)
        assert torch.equal(mlp(x, weight, bias), torch.relu(x @ weight.T + bias))
        seen.add(sizes_of(mlp, x, weight, bias))
    assert seen == {"", "B from 2 to 4", "B from 5 to 16", "B from 17 to 64"}


def test_several_sizes_at_once():
    softmax = tc.define(SOFTMAX, dynamic=["B", "N"], cache=False).softmax
    for rows, columns in [(1, 1), (2, 3), (4, 17), (5, 16), (7, 129), (64, 20), (3, 1000)]:
        x = torch.randn(rows, columns)
        torch.testing.assert_close(softmax(x), torch.softmax(x, 1))


def test_sizes_of_images():
    conv = tc.define(CONV, dynamic="N,H,W", cache=False).conv
    kernel = whole(4, 3, 3, 3)
    for shape in [(2, 3, 8, 9), (3, 3, 5, 12), (4, 3, 7, 16), (2, 3, 6, 31)]:
        x = whole(*shape)
        assert torch.equal(conv(x, kernel), torch.nn.functional.conv2d(x, kernel))


def test_graphs():
    graph = tc.define(GRAPH, dynamic="T", cache=False).main
    weight, seen = whole(12, 12), set()
    for length in range(1, 20):
        x, row = whole(length, 12), whole(1, 12)
        joined, y = graph(x, row, weight)
        assert torch.equal(joined, torch.cat([x, row]))
        assert torch.equal(y, row @ torch.relu(joined @ weight.T).T)
        stats = tc.compile(graph, x, row, weight, dynamic="T", cache=False).stats
        seen.add((stats["parts"] > 1, stats["sizes"]))
    assert seen >= {(True, "T from 2 to 4"), (True, "T from 5 to 16"), (True, "T from 17 to 64")} and len(seen) == 4


def test_index_tensors_are_checked_for_the_sizes_of_the_call():
    rows = tc.define(TABLE, dynamic="V,N", cache=False).rows
    table = whole(9, 5)
    assert torch.equal(rows(table, torch.tensor([8, 0, 3])), table[[8, 0, 3]])
    with pytest.raises(tc.ArgumentError, match=r"subscript 0 of T, 'I\(n\)', must be in \[0, V\): .*; I\(1\) is 9"):
        rows(table, torch.tensor([8, 9]))
    assert torch.equal(rows(whole(12, 5) * 0 + 2, torch.tensor([8, 9])), torch.full((2, 5), 2.0))


def test_gradients_follow():
    mlp = tc.define(MLP.replace("float(", "double("), dynamic="B", cache=False).mlp
    for rows in (2, 3, 8):
        tensors = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((rows, 5), (4, 5), (4,))]
        assert torch.autograd.gradcheck(mlp, tensors)


def test_out_and_copies():
    mlp = tc.define(MLP, dynamic="B", cache=False).mlp
    x, weight, bias = whole(6, 5), whole(3, 5), whole(3)
    want = torch.relu(x @ weight.T + bias)
    out = torch.empty(6, 3)
    assert mlp(x, weight, bias, out=out) is out and torch.equal(out, want)
    executable = tc.compile(mlp, x, weight, bias, dynamic="B", cache=False)
    for same in (executable, pickle.loads(pickle.dumps(executable)), copy.copy(executable)):
        assert torch.equal(same(x, weight, bias), want)
    assert torch.equal(pickle.loads(pickle.dumps(mlp))(x, weight, bias), want)
    with pytest.raises(tc.ArgumentError):
        executable(whole(7, 5), weight, bias)


def test_says_why_the_code_is_for_these_sizes_alone():
    flat = tc.define("def flat(float(A,B) X) -> (Y) { Y(i) = X(i / B, i % B) where i in 0:A*B }").flat
    assert "is not affine in the symbolic sizes A, B" in tc.compile(flat, whole(4, 4), dynamic="A,B", cache=False).stats["sizes"]
    mlp = tc.define(MLP).mlp
    assert sizes_of(mlp, whole(5, 4).T.contiguous().T, whole(3, 4), whole(3)) == "these sizes alone: a tensor is not dense"
    assert np.array_equal(tc.define(MLP, dynamic="Q").mlp(np.ones((2, 2), "float32"), np.ones((1, 2), "float32"), np.zeros(1, "float32")), [[2], [2]])


def test_names_of_sizes():
    for wrong in (3, "B,,T", "B T", [4]):
        with pytest.raises(tc.OptionsError, match="dynamic names sizes, as in 'B,T'"):
            tc.define(MLP, dynamic=wrong)


def test_loops_suit_all_sizes_of_a_range():
    """Copies of operands are not worth their time for few rows, whatever they save at the end of the range."""
    mlp = tc.define(MLP).mlp
    how = {"dynamic": "B", "cache": False, "target": "cpu:avx512,-amx,cores=2,l1=32k,l2=1m,l3=16m"}
    few, many = (tc.compile(mlp, tc.spec((rows, 256)), tc.spec((512, 256)), tc.spec((512,)), **how).nest for rows in (8, 40))
    assert "copy W" not in few and "copy W" in many


def test_explain_says_what_is_left_out():
    mlp = tc.define(MLP).mlp
    tensors = whole(5, 4), whole(3, 4), whole(3)
    ranged = tc.compile(mlp, *tensors, dynamic="B", cache=False, options="default", libraries="auto")
    assert "no library is called: routines are made for sizes that are numbers" in ranged.stats["declined"]
    assert "## sizes\nB from 5 to 16\nno library is called" in ranged.explain()
    assert "## sizes" not in tc.compile(mlp, *tensors, cache=False).explain()
