"""Ranges of reductions whose bounds are elements of tensors: rows of CSR, segments, bags."""

import random

import pytest
import torch

import tensor_comprehensions as tc

# name: the statement, and what it does with the entries at positions j of row r
FORMS = {
    "bag": ("Y(r,d) +=! X(C(j),d)", lambda y, r, j, C, W, X: y[r].add_(X[C[j]].sum(0))),
    "product": ("Y(r,d) +=! W(j) * X(C(j),d)", lambda y, r, j, C, W, X: y[r].add_((W[j, None] * X[C[j]]).sum(0))),
    "sum": ("Y(r) +=! W(j)", lambda y, r, j, C, W, X: y[r].add_(W[j].sum())),
    "max": ("Y(r) max=! W(j)", lambda y, r, j, C, W, X: y[r].copy_(W[j].max()) if len(j) else None),
    "min": ("Y(r) min=! 2 * W(j)", lambda y, r, j, C, W, X: y[r].copy_(2 * W[j].min()) if len(j) else None),
    "all": ("Y(r) *=! W(j) > 0 ? 1 : -1", lambda y, r, j, C, W, X: y[r].mul_((1 - 2 * (W[j] <= 0).float()).prod())),
    "guard": ("Y(r) +=! W(j) > 0 ? W(j) : 0", lambda y, r, j, C, W, X: y[r].add_(W[j].clamp(min=0).sum())),
    "columns": ("Y(d) +=! W(j) * X(C(j),d)", lambda y, r, j, C, W, X: y.add_((W[j, None] * X[C[j]]).sum(0))),
    "total": ("Y +=! W(j)", lambda y, r, j, C, W, X: y.add_(W[j].sum())),
    "scatter": ("Y(C(j)) +=! Q(r)", lambda y, r, j, C, W, X: y.index_add_(0, C[j], (r % 5.0) * torch.ones(len(j)))),
    "entries": ("Y(j) +=! Q(r)", lambda y, r, j, C, W, X: y.index_add_(0, j, (r % 5.0) * torch.ones(len(j)))),
}
SHAPES = {"bag": "R,D", "product": "R,D", "columns": "D", "total": "", "scatter": "V", "entries": "N"}
IDENTITIES = {"max": -torch.inf, "min": torch.inf, "all": 1.0}


def text_of(name, pointers="int64", number="float"):
    ranges = "r in 0:R, j in P(r):P(r+1)" + (", d in 0:D" if "X(" in FORMS[name][0] else "")
    shape = SHAPES.get(name, "R")
    result = f"{number}({shape}) Y" if shape else "Y"
    parameters = f"{pointers}(E) P, int64(N) C, {number}(N) W, {number}(V,D) X, {number}(R) Q"
    return f"def f({parameters}) -> ({result}) {{ {FORMS[name][0]} where {ranges} }}"


def expected(name, P, C, W, X):
    rows, entries = len(P) - 1, len(W)
    sizes = {"R": rows, "D": X.shape[1], "V": len(X), "N": entries}
    shape = [sizes[s] for s in SHAPES.get(name, "R").split(",") if s]
    result = torch.full(shape, IDENTITIES.get(name, 0.0))
    for r in range(rows):
        FORMS[name][1](result, r, torch.arange(int(P[r]), int(P[r + 1])), C, W, X)
    return result


@pytest.mark.parametrize("name", FORMS)
def test_rows_of_any_lengths(name):
    draw = random.Random(name)
    torch.manual_seed(0)
    for rows, entries, columns in [(1, 5, 3), (2, 0, 4), (17, 40, 20), (40, 300, 64), (200, 33, 130)]:
        for dtype in draw.sample(["int32", "int64", "int16", "uint16"], 2):
            pointers = sorted(draw.randint(0, entries) for _ in range(rows + 1))
            P = torch.tensor(pointers, dtype=getattr(torch, dtype))
            C, W = torch.randint(0, 9, (entries,)), torch.randint(-3, 4, (entries,)).float()
            X, Q = torch.randint(-3, 4, (9, columns)).float(), torch.arange(rows).float() % 5
            got = torch.as_tensor(tc.define(text_of(name, dtype)).f(P, C, W, X, Q))
            assert torch.equal(got, expected(name, P, C, W, X)), (name, rows, entries, columns, dtype)


@pytest.mark.parametrize("name", ["bag", "product", "sum", "max", "total", "scatter", "entries"])
def test_gradients(name):
    f = tc.define(text_of(name, number="double")).f
    P, C = torch.tensor([0, 2, 2] + [3] * 30 + [7, 9]), torch.randint(0, 4, (9,))
    W, X, Q = (torch.rand(*shape, dtype=torch.float64, requires_grad=True) for shape in [(9,), (4, 3), (len(P) - 1,)])
    assert torch.autograd.gradcheck(lambda *inputs: f(P, C, *inputs).nan_to_num(neginf=0), (W, X, Q))


HOSTILE = {
    "descending": lambda P, entries: P[10:12].flip(0),
    "negative": lambda P, entries: [-1],
    "too large": lambda P, entries: [entries + 1],
    "least": lambda P, entries: [torch.iinfo(P.dtype).min],
    "largest": lambda P, entries: [torch.iinfo(P.dtype).max],
    "one behind least": lambda P, entries: [entries, torch.iinfo(P.dtype).min],
}


@pytest.mark.parametrize("name, dtype", [("bag", torch.int64), ("sum", torch.int32), ("entries", torch.int64)])
def test_hostile_pointers_are_refused_before_anything_is_written(name, dtype):
    entries, rows = 40, 30
    C, W, X, Q = torch.zeros(entries, dtype=torch.int64), torch.ones(entries), torch.ones(3, 8), torch.ones(rows)
    f = tc.define(text_of(name, str(dtype).removeprefix("torch."))).f
    good = torch.arange(rows + 1, dtype=dtype)
    compiled, Y = tc.compile(f, good, C, W, X, Q), torch.full(f(good, C, W, X, Q).shape, 7.0)
    for kind, wrong_values in HOSTILE.items():
        for at in (0, 11, rows - 1):
            P = good.clone()
            wrong = torch.as_tensor(wrong_values(P, entries), dtype=dtype)
            P[at : at + len(wrong)] = wrong
            for call in (f, compiled):
                with pytest.raises(tc.ArgumentError, match=r"'P\(r\):P\(r \+ 1\)', must ascend in \[0, 40\]"):
                    call(P, C, W, X, Q, out=Y)
                assert torch.all(Y == 7), kind


def test_hostile_pointers_cost_no_more_time_than_good_ones():
    """Each row would visit all entries if subscripts in rows were checked first."""
    P = torch.tensor([0, 200_000] * 100_000)
    f = tc.define(text_of("bag")).f
    with pytest.raises(tc.ArgumentError, match="must ascend"):
        f(P, torch.zeros(200_000, dtype=torch.int64), torch.ones(200_000), torch.ones(3, 8), torch.ones(len(P) - 1))


def test_only_elements_are_checked():
    """A bound of indices alone may lie outside of the entries, and is moved to their end; so may any bound of a condition."""
    W, n = torch.arange(20.0), torch.randint(0, 21, (20,))
    band = tc.define("def f(float(N) W) -> (Y) { Y(i) +=! W(j) where j in i-2:i+3, i in 0:N }").f(W)
    assert torch.equal(band, torch.stack([W[max(i - 2, 0) : i + 3].sum() for i in range(20)]))
    text = "def f(float(N) W, int64(N) n) -> (Y) { Y(i) +=! W(j) where j in i:n(i) }"
    suffix = tc.define(text).f(W, n)
    assert torch.equal(suffix, torch.stack([W[i : int(n[i])].sum() for i in range(20)]))
    with pytest.raises(tc.ArgumentError, match="'i:n.i.', must ascend in .0, 20.: a value in n does not"):
        tc.define(text).f(W, n + 20)
    clipped = "def f(float(N) W, int64(M) P) -> (Y) { Y(r) +=! j >= P(r) && j < P(r+1) ? W(j) : 0 where exists P(r+1) }"
    P = torch.tensor([-5, 3, 2, 99] * 10)
    ranges = [W[max(0, int(a)) : max(0, int(b))].sum() for a, b in zip(P[:-1], P[1:], strict=True)]
    assert torch.equal(tc.define(clipped).f(W, P), torch.stack(ranges))


def test_subscripts_of_entries_in_rows_are_checked():
    f = tc.define(text_of("bag")).f
    C, W, X, Q = torch.tensor([0, 1, 99, 2]), torch.ones(4), torch.ones(3, 2), torch.ones(20)
    Y = f(torch.tensor([0, 2] + [2] * 18 + [2]), C, W, X, Q)
    assert Y[0].tolist() == [2, 2] and Y[1:].sum() == 0
    with pytest.raises(tc.ArgumentError, match="a value in C"):
        f(torch.tensor([0, 2] + [3] * 18 + [4]), C, W, X, Q)


def test_errors():
    with pytest.raises(tc.SemanticError, match="a bound of 'j'"):
        tc.define("def f(int32(R) P, float(N) X) -> (Y) { Y(j) = X(j) where j in P(0):P(1) }")
    with pytest.raises(tc.SemanticError, match="index 'j' has no range"):
        tc.define("def f(int32(R) P) -> (Y) { Y(r) +=! 1 where r in 0:R-1, j in P(r):P(r+1) }")
    with pytest.raises(tc.SemanticError):
        tc.define("def f(float(R) P, float(N) X) -> (Y) { Y(r) +=! X(j) where r in 0:R-1, j in P(r):P(r+1) }")
