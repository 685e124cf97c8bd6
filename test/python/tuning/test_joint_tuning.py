"""Tuning of layouts and loops together."""


import numpy as np
import pytest

import tensor_comprehensions as tc
from tensor_comprehensions import joint_tuning
from tensor_comprehensions.joint_tuning import plan
from tensor_comprehensions.layout_conversions import conversion, is_faster, keep_layouts
from tensor_comprehensions.search.layout_space import CheapestLayouts, LayoutSpace, tile_sizes

CONV = "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }"
RELU = """def net(float(N,C,H,W) X, float(O,C,R,S) K, float(O) b) -> (Y) {
  Z(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s)
  Y(n,o,h,w) = fmax(Z(n,o,h,w) + b(o), 0)
}"""
X = np.arange(1 * 8 * 10 * 10, dtype=np.float32).reshape(1, 8, 10, 10) % 7
K = np.arange(16 * 8 * 3 * 3, dtype=np.float32).reshape(16, 8, 3, 3) % 5


@pytest.fixture
def cache(tmp_path):
    return tc.cache.Cache(tmp_path / "cache")


def expected():
    return np.asarray(tc.compile(tc.define(CONV).conv, X, K, options="default", cache=False)(X, K))


@pytest.mark.parametrize("candidates", [1, 2, 7, 16, 32, 33, 100, 200, 1000])
def test_budgets(candidates):
    found = plan(candidates, 0)
    assert found.joint + found.loops == candidates and found.each <= 8 and found.layouts >= 1
    assert found.joint <= (0.5 if candidates <= 32 else 0.3) * candidates or candidates == 1


def test_the_budget_of_the_paper():
    found = plan(1000, 0)
    assert (found.layouts, found.each, found.loops) == (37, 8, 704)
    timed = plan(0, 100.0)
    assert timed.joint_seconds == pytest.approx(30) and timed.loop_seconds == pytest.approx(70)


def test_any_tile_sizes():
    assert tile_sizes(12) == [1, 2, 3, 4, 6, 8, 12] and tile_sizes(7) == [1, 2, 4, 7]
    assert len(tile_sizes(5040)) == 14 and tile_sizes(5040)[-1] == 5040


def test_points_of_the_space_are_layouts_that_compute_the_same():
    T = tc.define(CONV)
    space = LayoutSpace(T.conv, [X, K])
    assert space.genes[0].count >= 4 and {gene.name for gene in space.genes} >= {"o", "h", "K.c", "o count"}
    assert space.operand_layouts(space.plain) == {}
    two_levels = space.genes[0].count - 1
    points = [*space.alternatives()[:3], (two_levels, *(1 + i % 2 for i in range(len(space.genes) - 1)))]
    for point in map(space.normalised, points):
        layouts = space.layouts(point)
        kernel = tc.compile(T.conv, X, K, layouts=layouts, cache=False)
        placed = [conversion(each, layouts[name])(each) if name in layouts else each for name, each in (("X", X), ("K", K))]
        Y = kernel(*placed)
        if "Y" in layouts:
            Y = conversion(tc.spec((1, 16, 8, 8)), tc.layout("identity"), layouts["Y"])(Y)
        np.testing.assert_array_equal(np.asarray(Y), expected())


def test_two_levels_of_tiles():
    template = tc._core.layout_template(tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }").mm, [tc.spec((64, 64))] * 2)
    layouts = template.layouts([4, 8, 1], [2, 4, 1])
    assert layouts["C"].map((64, 64)).physical == (8, 2, 2, 4, 4, 8)
    assert layouts["C"].map((64, 64)).facts["dense"]
    with pytest.raises(tc.OptionsError, match="outer tile of m has 0 tiles"):
        template.layouts([4, 8, 1], [0, 4, 1])


def test_cheap_layouts_go_first():
    space = LayoutSpace(tc.define(CONV).conv, [X, K])
    policy = CheapestLayouts(space, 0, 12)
    policy.tell([(space.plain, 1.0)])
    points = policy.ask(8)
    prices = [policy.priced[point] for point in points]
    assert len(set(points)) == 8 and space.plain not in points and policy.ask(1)[0] not in points
    assert prices[0] == min(price for point, price in policy.priced.items() if point != space.plain)
    # As many layouts of the result as are nearly as cheap, then the cheapest of all.
    alike = {space.results(point) for point, price in policy.priced.items() if price <= 1.25 * min(policy.priced.values())}
    assert len({space.results(point) for point in [space.plain, *points]}) >= min(8, len(alike))


def test_temporaries_follow_their_operands():
    T = tc.define(RELU)
    found = tc._core.propagated_layouts(T.net, [X, K, tc.spec((16,))], {"Y": tc.layout("NCHW8c")})
    assert set(found) == {"Y", "Z"} and found["Z"] == found["Y"]
    b = np.arange(16, dtype=np.float32)
    kernel = tc.compile(T.net, X, K, b, layouts={"Y": "NCHW8c"}, cache=False)
    assert list(kernel.layouts) == ["Y"] and "Z(n, oo, h, w, oi) +=!" in kernel.comprehension
    Y = conversion(tc.spec((1, 16, 8, 8)), tc.layout("identity"), kernel.layouts["Y"])(kernel(X, K, b))
    np.testing.assert_array_equal(Y, np.maximum(expected() + b[:, None, None], 0))


def test_layouts_and_loops_are_tuned_together(cache, monkeypatch):
    monkeypatch.setattr(joint_tuning, "DRAWN", 2)
    T = tc.define(CONV)
    result = tc.autotune(T.conv, X, K, candidates=6, layouts=True, cache=cache, progress=False)
    assert len(result.tried) == 3 and not result.tried[0].layouts and all(each.measurements <= 1 for each in result.tried)
    assert sum(each.measurements for each in result.tried) <= 3 and len(result.candidates) <= 6
    assert len({str(each) for each in result.tried}) == 3 and all(each.predicted > 0 for each in result.tried[1:])
    assert result.kept and set(result.conversions) == set(result.layouts)
    placed = [conversion(each, result.layouts[name])(each) if name in result.layouts else each for name, each in (("X", X), ("K", K))]
    Y = result.executable(*placed)
    if "Y" in result.layouts:
        Y = conversion(tc.spec((1, 16, 8, 8)), tc.layout("identity"), result.layouts["Y"])(Y)
    np.testing.assert_array_equal(np.asarray(Y), expected())
    again = tc.compile(T.conv, X, K, layouts="tuned", cache=cache)
    assert getattr(again, "layouts", {}) == dict(result.layouts)
    assert "layouts" in str(result) and result.elapsed > 0


def test_layouts_in_the_cache_fit_a_def_with_other_names(cache):
    T = tc.define(CONV)
    key = T.conv._cache_key((X, K), None, tc._core.Settings(target=None))
    layouts = {"X": tc.layout("NHWC"), "Y": tc.layout("NHWC")}
    keep_layouts(cache, key, T.conv, layouts, 1e-3)
    other = tc.define(CONV.replace("X", "Image").replace("Y", "Result").replace("conv", "other"))
    kernel = tc.compile(other.other, X, K, layouts="tuned", cache=cache)
    assert kernel.layouts == {"Image": layouts["X"], "Result": layouts["Y"]}
    # Calls, and the search for near shapes, do not see them.
    assert cache.best(T.conv, X, K) is None and cache.nearest(T.conv, X, K) is None
    exported = cache.folder + ".options"
    assert cache.export(exported) == 1
    elsewhere = tc.cache.Cache(cache.folder + ".other")
    elsewhere.import_(exported)
    assert tc.compile(T.conv, X, K, layouts="tuned", cache=elsewhere).layouts == layouts
    with pytest.raises(tc.OptionsError, match="has no layouts for 'conv'.*\nhelp: "):
        tc.compile(T.conv, X[:, :, :9], K, layouts="tuned", cache=cache)


def made_up_tuning(times, log):
    """In place of a tuning of loops: the next of `times` in each layout."""

    def tune(function, tensors, out, target, settings, store, show, checkpoint):
        log.append((str(function), settings["candidates"], checkpoint))
        seconds = times[len(log) - 1]
        fields = {"status": "ok", "spread": 0.0, "note": "", "generation": 0, "at": 0.0, "predicted": 0.0, "device": -1}
        candidates = [{"options": "", "time": seconds, **fields}]
        best = {"options": "", "time": seconds, "least": seconds, "spread": 0.0, "runs": 1}
        return {"candidates": candidates, "best": best, "default": best, "finalists": [best], "stop": "candidates", "generations": 1, "elapsed": 1.0, "kept": False, "used": ""}

    return tune


def joint_of(search, times, log, checkpoint=""):
    settings = dict(search=search, ranking="none", seed=3, candidates=16, budget=0.0, starts=[], population=6)
    return joint_tuning.Joint(tc.define(CONV).conv, (tc.spec(X.shape), tc.spec(K.shape)), None, settings, made_up_tuning(times, log), None, str(checkpoint))


@pytest.mark.parametrize("search", ["price", "genetic", "random", "ppo"])
def test_a_joint_stage_goes_on_from_a_checkpoint(search, tmp_path, monkeypatch):
    if search == "ppo":
        pytest.importorskip("torch")
    monkeypatch.setattr(joint_tuning, "DRAWN", 2)
    times = [5.0, 4.0, 3.0, 6.0, 2.0, 7.0, 8.0, 9.0, 1.0]
    whole: list = []
    at_once = joint_of(search, times, whole)
    at_once.run(None)

    killed: list = []
    with pytest.raises(IndexError):
        joint_of(search, times[:4], killed, tmp_path / "point").run(None)
    resumed: list = []
    rest = joint_of(search, times[4:], resumed, tmp_path / "point")
    found = rest.run(None)
    assert [text for text, *_ in killed[:4] + resumed] == [text for text, *_ in whole]
    assert [(each.layouts, each.time) for each in rest.tried] == [(each.layouts, each.time) for each in at_once.tried]
    assert found["layouts"] == rest.tried[4].layouts and resumed[-1][2] == f"{tmp_path / 'point'}.loops"
    assert resumed[-1][1] == 7


def test_a_file_that_is_no_checkpoint_stays(tmp_path):
    (tmp_path / "mine").write_text("important")
    with pytest.raises(tc.ResourceError, match="something else\nhelp: "):
        joint_of("price", [1.0], [], tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "important"
    with pytest.raises(tc.ResourceError, match="cannot be written"):
        joint_of("price", [1.0], [], tmp_path / "missing" / "file")


@pytest.mark.parametrize("how", [dict(ray=True), dict(out=np.zeros((1, 16, 8, 8), np.float32)), dict(target="cuda:sm_90"), dict(ranking="model")])
def test_what_does_not_go_with_layouts(how):
    with pytest.raises(tc.OptionsError, match="layouts=True"):
        tc.autotune(tc.define(CONV).conv, X, K, candidates=4, layouts=True, cache=False, progress=False, **how)


def test_faster_beyond_noise():
    steady = [1.0 + 0.001 * (i % 3) for i in range(20)]
    assert is_faster([0.9 * each for each in steady], steady) and not is_faster(steady, steady)
    assert not is_faster([0.995 * each for each in steady], steady)
    assert not is_faster([0.5 if i % 2 else 2.0 for i in range(20)], steady)
