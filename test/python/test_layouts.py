"""Layouts from Python: values, compiling in layouts, tensors that enter without a copy."""

import numpy as np
import pytest
import tensor_comprehensions as tc

CONV = "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }"


def integers(*shape):
    return np.random.default_rng(1).integers(-3, 4, shape).astype("float32")


def conv(x, k):
    return tc.define(CONV).conv(x, k)


def test_layouts_are_values():
    blocked = tc.layout("NCHW16c")
    assert blocked == tc.layout.split(1, 16).reorder(0, 1, 3, 4, 2) == tc.layout("split(1,16) reorder(0,1,3,4,2)")
    assert str(blocked) == "split(1, 16) reorder(0, 1, 3, 4, 2)" and hash(blocked) == hash(tc.layout(str(blocked)))
    assert tc.layout("HWCN", dims="NCHW") == tc.layout.reorder(2, 3, 1, 0)
    assert str(tc.layout.fuse(1, 2).pad(0, 1, 2).unfold(1, 6, 4).filled("zero")) == (
        "fuse(1, 2) pad(0, 1, 2) unfold(1, 6, 4) fill(zero)"
    )
    assert str(tc.layout.split(1, 16).inverse((4, 20))) == "fuse(1, 2) unpad(1, 0, 12)"


def test_maps_know_shapes_and_facts():
    m = tc.layout("NCHW16c").map((2, 20, 7, 7))
    assert m.logical == (2, 20, 7, 7) and m.physical == (2, 2, 7, 7, 16)
    assert m.facts == {"functional": True, "injective": True, "total": True, "dense": False, "replicating": False}
    assert "one place for each element, holes" in repr(m)


def test_errors_say_what_does_not_fit():
    with pytest.raises(tc.OptionsError, match="expected split, reorder"):
        tc.layout("splat(1)")
    with pytest.raises(tc.OptionsError, match="there is no dimension 4"):
        tc.layout.split(4, 16).map((2, 20, 7, 7))
    with pytest.raises(tc.ArgumentError, match="a layout is"):
        tc.layout(3)
    with pytest.raises(tc.OptionsError, match="has no tensor of this name"):
        tc.compile(tc.define(CONV).conv, integers(1, 3, 6, 6), integers(4, 3, 3, 3), layouts={"Z": "NHWC"})


def test_a_convolution_in_blocks():
    x, k = integers(1, 32, 10, 10), integers(32, 32, 3, 3)
    layouts = {"X": "NCHW16c", "K": "OIhw16i16o", "Y": "NCHW16c"}
    f = tc.compile(tc.define(CONV).conv, x, k, layouts=layouts)
    assert "Y(n, oo, h, w, oi)" in f.comprehension
    assert f.layouts["X"] == tc.layout("NCHW16c")
    blocked = x.reshape(1, 2, 16, 10, 10).transpose(0, 1, 3, 4, 2).copy()
    weights = k.reshape(2, 16, 2, 16, 3, 3).transpose(0, 2, 4, 5, 3, 1).copy()
    y = f(blocked, weights)
    assert y.shape == (1, 2, 8, 8, 16)
    assert np.array_equal(y.transpose(0, 1, 4, 2, 3).reshape(1, 32, 8, 8), conv(x, k))


def test_arrays_of_permuted_strides_enter_as_they_are():
    x, k = integers(1, 5, 6, 6), integers(4, 5, 3, 3)
    f = tc.compile(tc.define(CONV).conv, x, k, layouts={"X": "NHWC", "Y": "NHWC"})
    dense = x.transpose(0, 2, 3, 1).copy()
    want = conv(x, k).transpose(0, 2, 3, 1)
    assert np.array_equal(f(dense, k), want)
    assert np.array_equal(f(dense.transpose(0, 3, 1, 2), k), want)
    with pytest.raises(tc.ArgumentError, match=r"compiled for float32\(1, 6, 6, 5\)"):
        f(x, k)


def test_channels_last_of_torch_enters_without_a_copy():
    torch = pytest.importorskip("torch")
    x, k = torch.from_numpy(integers(1, 5, 6, 6)), torch.from_numpy(integers(4, 5, 3, 3))
    f = tc.compile(tc.define(CONV).conv, x, k, layouts={"X": "NHWC"})
    last = x.to(memory_format=torch.channels_last)
    assert torch.equal(f(last, k), conv(x, k))


def test_constants_have_no_layout():
    x, k = integers(1, 5, 6, 6), integers(4, 5, 3, 3)
    with pytest.raises(tc.OptionsError, match="'K' is a constant and has a layout"):
        tc.compile(tc.define(CONV).conv, x, k, layouts={"K": "HWIO"}, constants=["K"])
    f = tc.compile(tc.define(CONV).conv, x, k, layouts={"X": "NHWC"}, constants=["K"])
    assert np.array_equal(f(x.transpose(0, 2, 3, 1).copy()), conv(x, k))


NET = """
def apply(float(N,C) X, float(H,K,C) W) -> (Y) { Y(n,h,k) +=! X(n,c) * W(h,k,c) }
def main(float(N,C) X, float(H,K,C) W) -> (Y) { A = apply(X, W)  Y(n,h,k) = fmax(A(n,h,k), 0) }
"""


def test_layouts_of_a_graph_are_chosen_by_price_and_told():
    x, w = integers(4, 32), integers(64, 128, 32)
    main = tc.define(NET).main
    plain = tc.compile(main, x, w, constants=["W"], layouts="off")
    laid_out = tc.compile(main, x, w, constants=["W"], layouts="resolve")
    np.testing.assert_array_equal(laid_out(x), plain(x))
    assert plain.stats["layouts"] == [] and plain.stats["graph"] == ""
    assert any(line.startswith("W: ") and "converted once" in line for line in laid_out.stats["layouts"])
    assert "def main" in laid_out.stats["graph"] and "## layouts" in laid_out.explain()
    tc.define(laid_out.stats["graph"])
    np.testing.assert_array_equal(tc.define(NET, layouts="fold").main(x, w), plain(x))
    with pytest.raises(tc.OptionsError, match="'off', 'constants', 'resolve', 'fold', 'adjacent', 'forward', 'backward' or 'measured'"):
        tc.define(NET, layouts="on")


def test_constants_are_converted_once_unless_layouts_are_off():
    x, w = integers(32, 64), integers(80, 64)
    fc = tc.define("def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }").fc
    packed = tc.compile(fc, x, w, constants=["W"])
    assert packed.stats["layouts"][0] == "W: split(0, 16) reorder(0, 2, 1), converted once"
    assert "W_laid" in packed.stats["graph"]
    np.testing.assert_array_equal(packed(x), x @ w.T)
    assert tc.compile(fc, x, w).stats["layouts"] == []


def test_a_guideline_prices_layouts_of_a_def():
    found = tc.layout.guideline(tc.define(NET).apply, tc.spec((4, 32)), tc.spec((64, 128, 32)))
    prices = [microseconds for _, microseconds in found]
    assert prices == sorted(prices) and {} in [layouts for layouts, _ in found] and "W" in found[0][0]


TUNABLES = {
    "conv": (CONV, ((1, 8, 10, 10), (16, 8, 3, 3)), ["o", "h", "w", "c", "K.o", "K.c"]),
    "product": (
        "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        ((32, 8), (8, 16)),
        ["m", "n", "k"],
    ),
}


@pytest.mark.parametrize("name", TUNABLES)
def test_a_template_gives_layouts_for_tile_sizes(name):
    text, shapes, tunables = TUNABLES[name]
    function = getattr(tc.define(text), name)
    template = tc.layout.template(function, *map(tc.spec, shapes))
    assert [t.name for t in template.tunables] == tunables
    assert str(template.tunables[-1]) in repr(template)
    with pytest.raises(tc.ArgumentError, match="a template of the tile sizes"):
        template(**{"z": 3})
    with pytest.raises(tc.OptionsError, match="must be in 1 to"):
        template(**{tunables[0]: 100})


def test_a_convolution_in_overlapping_tiles():
    x, k = integers(1, 8, 10, 10), integers(16, 8, 3, 3)
    function = tc.define(CONV).conv
    layouts = tc.layout.template(function, x, k)(h=4, w=4, o=8, c=4)
    assert str(layouts["X"]) == "split(1, 4) unfold(3, 6, 4) unfold(5, 6, 4) reorder(0, 3, 5, 1, 4, 6, 2)"
    copy = tc.define("def copy(float(A,B,C,D) X) -> (Y) { Y(a,b,c,d) = X(a,b,c,d) }").copy
    placed = {name: tc.compile(copy, t, layouts={"Y": layouts[name]})(t) if name in layouts else t for name, t in (("X", x), ("K", k))}
    y = tc.compile(function, x, k, layouts=layouts)(placed["X"], placed["K"])
    assert y.shape == (1, 2, 2, 2, 4, 4, 8)
    assert np.array_equal(y.transpose(0, 3, 6, 1, 4, 2, 5).reshape(1, 16, 8, 8), conv(x, k))
