"""Parts of a graph tuned one by one."""

import pytest
import torch

import tensor_comprehensions as tc
from tensor_comprehensions import part_tuning

NET = """
def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }
def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }
def fc(float(N,C,H,W) X, float(O,C) F) -> (Y) { P(n,c) +=! X(n,c,h,w)  Y(n,o) +=! P(n,c) * F(o,c) }
def main(float(N,C,H,W) X, float(C,C,R,S) K, float(C,C,R,S) L, float(O,C) F) -> (Y) {
  A = conv(X, K)  B = positive(A)  D = conv(B, L)  Y = fc(D, F)
}
"""


def integers(*shape):
    return torch.randint(-2, 3, shape).float()


@pytest.fixture
def tensors():
    torch.manual_seed(0)
    return [integers(*shape) for shape in ((1, 32, 18, 18), *[(32, 32, 3, 3)] * 2, (10, 32))]


def test_a_part_is_tuned_by_measuring(tensors, tmp_path):
    store = tc.cache.Cache(str(tmp_path / "cache"))
    tuned = tc.tune_parts(tc.define(NET).main, *tensors, budget=6, cache=store)
    assert sum(part.share for part in tuned) == pytest.approx(1)
    first = tuned[0]
    assert first.share == max(part.share for part in tuned) and first.budget >= 2 and not first.note
    assert len(first.result.candidates) >= 1 and tuned.candidates >= len(first.result.candidates)
    assert first.name in str(tuned) and "%" in str(tuned) and tuned.speedup > 0.5
    assert store.entries() or not first.result.kept


def test_each_part_is_tuned_for_its_share_and_graphs_use_what_was_found(tensors, tmp_path, monkeypatch):
    store, budgets = tc.cache.Cache(str(tmp_path / "cache")), []

    def inject(part, *inputs, budget, out, **others):
        store.inject(part, *inputs, out=out, options="unroll=2")
        budgets.append(budget)
        raise tc.OptionsError("nothing was measured")

    monkeypatch.setattr(part_tuning, "autotune", inject)
    main = tc.define(NET).main
    tuned = tc.tune_parts(main, *tensors, budget=1000, layouts="off", cache=store)
    assert len(tuned) == 2 and [part.note for part in tuned] == ["nothing was measured"] * 2
    assert budgets[0] == pytest.approx(1000 * tuned[0].share, rel=0.05)
    assert budgets[1] == pytest.approx(1000, rel=0.05), "time that a part does not use goes to the next one"
    fast = tc.compile(main, *tensors, options="tuned", layouts="off", cache=store)
    assert torch.equal(fast(*tensors), tc.compile(main, *tensors, cache=False)(*tensors))
    with pytest.raises(tc.OptionsError, match="no tuned options"):
        tc.compile(main, *tensors, options="tuned", layouts="off", cache=tc.cache.Cache(str(tmp_path / "empty")))


def test_parts_without_time_are_left_alone(tensors):
    tuned = tc.tune_parts(tc.define(NET).main, *tensors, budget=0, cache=False)
    assert len(tuned) > 1 and all(part.result is None and part.budget == 0 for part in tuned)
    assert tuned.candidates == 0 and tuned.speedup == pytest.approx(1)


def test_wrong_arguments_are_told(tensors):
    main = tc.define(NET).main
    with pytest.raises(tc.OptionsError, match="on processors only"):
        tc.tune_parts(main, *tensors, target="cuda:sm_90")
    with pytest.raises(tc.ArgumentError, match="a def of a text"):
        tc.tune_parts(NET, *tensors)
    with pytest.raises(tc.OptionsError, match="budget"):
        tc.tune_parts(main, *tensors, budget=-1)
