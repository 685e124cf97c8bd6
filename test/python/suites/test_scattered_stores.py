"""Stores at subscripts that are expressions: as in NumPy, of several values for one element the last one is kept."""

import pickle

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

ROWS = "def put(int64(N) p, float(N,D) X, float(E,D) old) -> (Y) { Y(e,d) = old(e,d)  Y(p(i),d) = X(i,d) }"


def rows(n, e, d, seed=0):
    torch.manual_seed(seed)
    return torch.randint(0, max(e, 1), (n,)), torch.randn(n, d), torch.randn(e, d)


@pytest.mark.parametrize("n, e, d", [(30, 20, 8), (5, 100, 3), (1000, 64, 40), (0, 4, 3), (1, 1, 1), (50, 33, 1)])
def test_the_last_value_is_kept(n, e, d):
    p, X, old = rows(n, e, d)
    want = old.numpy().copy()
    want[p.numpy()] = X.numpy()  # NumPy keeps the last one, too
    for position in range(n):
        want[p[position]] = X[position]
    assert np.array_equal(tc.define(ROWS).put(p, X, old), want)


def test_any_number_of_threads_keeps_the_same():
    p, X, old = rows(4000, 50, 64)
    put, threads = tc.compile(tc.define(ROWS).put, p, X, old), tc.get_num_threads()
    results = []
    for count in (1, 2, 3):
        tc.set_num_threads(count)
        results.append(torch.as_tensor(put(p, X, old)))
    tc.set_num_threads(threads)
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])


def test_iterators_run_in_the_order_of_the_left_side():
    text = "def put(int64(A,B) p, float(A,B) X, float(E) old) -> (Y) {{ Y(e) = old(e)  Y(p({0})) = X({0}) + k }}"
    torch.manual_seed(1)
    p, X, old = torch.randint(0, 5, (6, 7)), torch.randn(6, 7), torch.zeros(9)
    outer = old.clone()
    for i in range(6):
        for k in range(7):
            outer[p[i, k]] = X[i, k] + k
    assert torch.equal(torch.as_tensor(tc.define(text.format("i,k")).put(p, X, old)), outer)
    inner = old.clone()
    for k in range(7):
        for i in range(6):
            inner[p[i, k]] = X[i, k] + k
    turned = text.replace("Y(p({0}))", "Y(0*k + p({0}))").format("i,k")  # k comes first
    assert torch.equal(torch.as_tensor(tc.define(turned).put(p, X, old)), inner)


def test_a_cache_of_keys():
    text = "def put(int32(B) at, float(B,D) new, float(B,L,D) old) -> (Y) { Y(b,l,d) = old(b,l,d)  Y(b,at(b),d) = new(b,d) }"
    at, new, old = torch.tensor([3, 0, 6], dtype=torch.int32), torch.randn(3, 16), torch.randn(3, 7, 16)
    want = old.clone()
    want[torch.arange(3), at.long()] = new
    assert torch.equal(torch.as_tensor(tc.define(text).put(at, new, old)), want)


def test_subscripts_do_not_wrap():
    """`uint8` values computed in a subscript are wider than their type, and names of `where` are not."""
    p, X = torch.tensor([250, 3], dtype=torch.uint8), torch.tensor([1.0, 2.0])
    text = "def f(uint8(N) p, float(N) X) -> (Y) { Y(e) = 0.0 where e in 0:300  Y(p(i)+10) = X(i) }"
    Y = torch.as_tensor(tc.define(text).f(p, X))
    assert Y[260] == 1 and Y[13] == 2 and Y.sum() == 3
    named = text.replace("Y(p(i)+10) = X(i)", "Y(c) = X(i) where c = p(i)+10")
    Y = torch.as_tensor(tc.define(named).f(p, X))
    assert Y[4] == 1 and Y[13] == 2 and Y.sum() == 3


def test_indices_outside_are_refused_before_anything_is_written():
    p, X, old = rows(30, 20, 8)
    put = tc.define(ROWS).put
    Y = torch.full((20, 8), 7.0)
    for wrong in (-1, 20, 2**62, -(2**63)):
        p[17] = wrong
        with pytest.raises(tc.ArgumentError, match=r"'p\(i\)', must be in \[0, 20\)"):
            put(p, X, old, out=Y)
        assert torch.all(Y == 7)


def test_gradients_go_to_the_values_that_were_kept():
    text = ROWS.replace("float", "double").replace("= X(i,d)", "= X(i,d) * X(i,d)")
    put = tc.define(text).put
    p, X, old = rows(12, 6, 3)
    inputs = [t.double().requires_grad_() for t in (X, old)]
    assert torch.autograd.gradcheck(lambda *tensors: put(p, *tensors), inputs)
    tc_gradient = torch.autograd.grad(torch.as_tensor(put(p, *inputs)).sum(), inputs)
    last = torch.zeros(12, 1, dtype=torch.float64)
    last[[max(i for i in range(12) if p[i] == row) for row in set(p.tolist())]] = 1
    assert torch.equal(tc_gradient[0], 2 * inputs[0].detach() * last)


def test_a_target_is_assigned_first_or_has_sizes():
    with pytest.raises(tc.SemanticError, match="declare the sizes of .Y. as a return"):
        tc.define("def f(int(N) p, float(N) X) -> (Y) { Y(p(i)) = X(i) }")


IN_PLACE = "def put(int E, int64(N) p, float(N,D) X) -> (float(E,D) Y) { Y(p(i),d) = X(i,d) }"


def in_place():
    with pytest.warns(UserWarning, match="TC130"):
        return tc.define(IN_PLACE).put


@pytest.mark.parametrize("n, e, d", [(30, 20, 8), (5, 100, 3), (1000, 64, 40), (0, 4, 3), (1, 1, 1), (50, 33, 1), (3, 5, 0)])
def test_the_tensor_of_the_caller_is_updated(n, e, d):
    p, X, Y = rows(n, e, d)
    want, there = Y.numpy().copy(), Y.data_ptr()
    for position in range(n):
        want[p[position]] = X[position]
    in_place()(e, p, X, out=Y)
    assert np.array_equal(Y, want) and Y.data_ptr() == there


def test_an_update_takes_time_in_proportion_to_the_entries():
    put, e, d = in_place(), 2**20, 256
    p, X, Y = torch.tensor([e // 2]), torch.randn(1, d), torch.zeros(e, d)
    compiled = tc.compile(put, e, p, X)
    lowered = next(text for name, _, text in compiled._stages if name == "lower")
    assert "Y(p(i), d) = X(i, d)" in lowered and f"0:{e}, d" not in lowered.split("launch 0")[1]
    compiled(e, p, X, out=Y)
    assert torch.equal(Y[e // 2], X[0]) and Y.count_nonzero() == X.count_nonzero()


def test_an_update_is_refused_before_anything_is_written():
    p, X, Y = rows(30, 20, 8)
    put, before = in_place(), Y.clone()
    for wrong in (-1, 20, 2**62, -(2**63)):
        p[17] = wrong
        with pytest.raises(tc.ArgumentError, match=r"'p\(i\)', must be in \[0, 20\)"):
            put(20, p, X, out=Y)
        assert torch.equal(Y, before)


def test_an_update_needs_a_tensor_of_its_own():
    put = in_place()
    p, X, Y = rows(4, 20, 8)
    with pytest.raises(tc.ArgumentError, match="out="):
        put(20, p, X)
    with pytest.raises(tc.ArgumentError, match="shares memory with input 'X'"):
        put(20, p, Y[3:7], out=Y)


def test_an_update_in_any_strides_and_numbers_of_threads():
    p, X, Y = rows(500, 40, 64)
    want = Y.clone()
    in_place()(40, p, X, out=want)
    turned, threads = Y.t().contiguous().t(), tc.get_num_threads()
    for count in (1, 2, 3):
        tc.set_num_threads(count)
        again = turned.clone(memory_format=torch.preserve_format)
        in_place()(40, p, X, out=again)
        assert again.stride() == (1, 40) and torch.equal(again, want)
    tc.set_num_threads(threads)


def test_defs_that_call_an_update():
    text = IN_PLACE + """
def step(int E, int64(N) p, float(N,C) x, float(C,D) W, float(D) q) -> (float(E,D) cache, S) {
  X(n,d) +=! x(n,c) * W(c,d)
  cache = put(E, p, X)
  S(e) +=! cache(e,d) * q(d)
}"""
    with pytest.warns(UserWarning, match="TC130"):
        step = tc.define(text).step
    p, x, W, q, cache = torch.tensor([5, 2, 5]), torch.ones(3, 4), torch.randint(0, 5, (4, 6)).float(), torch.ones(6), torch.ones(9, 6)
    want, S = cache.clone(), torch.empty(9)
    want[p] = x @ W
    step(9, p, x, W, q, out=(cache, S))
    assert torch.equal(cache, want) and torch.equal(S, want.sum(1))


def test_batches_and_calls():
    p, X, old = rows(9, 6, 3)
    T = tc.define(ROWS + " def twice(int64(N) p, float(N,D) X, float(E,D) old) -> (Z) { A = put(p, X, old)  Z(e,d) = 2 * A(e,d) }")
    want = torch.as_tensor(T.put(p, X, old))
    assert torch.equal(torch.as_tensor(T.twice(p, X, old)), 2 * want)
    batched = tc.vmap(T.put, in_dims=(None, 0, None))(p, torch.stack([X, 2 * X]), old)
    assert torch.equal(torch.as_tensor(batched)[0], want)


UPDATES = """
def put(int E, int32(N) p, double(N,D) X) -> (double(E,D) Y) { Y(p(i),d) = X(i,d) }
def add(int E, int32(N) p, double(N,D) X) -> (double(E,D) Y) { Y(p(i),d) += X(i,d) }
def squares(int E, int32(N) p, double(N,D) X) -> (double(E,D) Y, S) { Y(p(i),d) = X(i,d) * X(i,d)  S(e) +=! Y(e,d) * Y(e,d) }
"""


def torch_updates(name, p, X, Y):
    """The results of a def of UPDATES in torch; of equal positions the last one is kept."""
    if name == "add":
        return (Y.index_add(0, p, X),)
    last = {int(row): i for i, row in enumerate(p)}
    rows, winners = torch.tensor([*last], dtype=torch.long), torch.tensor([*last.values()], dtype=torch.long)
    stored = Y.index_copy(0, rows, (X * X if name == "squares" else X)[winners])
    return (stored,) if name == "put" else (stored, (stored * stored).sum(1))


@pytest.mark.parametrize("name", ["put", "add", "squares"])
@pytest.mark.parametrize("n, e, d", [(30, 20, 8), (5, 40, 3), (0, 4, 3), (1, 1, 1), (7, 3, 0)])
def test_an_update_has_gradients_of_its_values_and_of_the_tensor(name, n, e, d):
    generator = torch.Generator().manual_seed(n)
    p = torch.randint(0, e, (n,), generator=generator, dtype=torch.int32)
    X, Y = (torch.randint(-4, 5, (rows, d), generator=generator).double() for rows in (n, e))
    with pytest.warns(UserWarning, match="TC130"):
        update = getattr(tc.define(UPDATES), name)
    leaves = [X.clone().requires_grad_(), Y.clone().requires_grad_()]
    results = torch_updates(name, p.long(), *leaves)
    seeds = [torch.randint(-4, 5, r.shape, generator=generator).double() for r in results]
    want = torch.autograd.grad(results, leaves, seeds)
    gradient = tc.grad(update)
    assert gradient.wrt == ("X", "Y") and gradient.saved == (("Y",) if name == "squares" else ())
    saved = [r.detach() for r in results[: len(gradient.saved)]]
    for got, wanted in zip(gradient(e, p, X, *saved, *seeds), want):
        assert torch.equal(got, wanted)
    tangent = tc.jvp(update, wrt=["X", "Y"], of=["Y"])
    if name != "squares":  # its tangents need values of Y in between
        tangents = [torch.randint(-4, 5, t.shape, generator=generator).double() for t in leaves]
        wanted = torch.func.jvp(lambda *t: torch_updates(name, p.long(), *t)[0], (X, Y), tuple(tangents))[1]
        assert torch.equal(tangent(e, p, X, *tangents), wanted)


def test_a_gradient_may_need_what_an_update_overwrites():
    text = "def f(float(N) A, float b) -> (float(N) O) { O(i) = b * O(i) + A(i) }"
    with pytest.warns(UserWarning, match="TC130"):
        f = tc.define(text).f
    with pytest.raises(tc.SemanticError, match=r"TC306.*the values of 'O' that the def overwrites"):
        tc.grad(f)
    A, seed = torch.ones(5), torch.arange(5.0)
    for got, want in zip(tc.grad(f, wrt=["A", "O"])(A, torch.tensor(3.0), seed), (seed, 3 * seed)):
        assert torch.equal(got, want)
    assert pickle.loads(pickle.dumps(tc.grad(f, wrt=["O"]))).wrt == ("O",)
