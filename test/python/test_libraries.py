"""Routines of libraries in the place of compiled code."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch

import tensor_comprehensions as tc

TEXT = """
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def scale(float(M,N) C) -> (D) { D(m,n) = C(m,n) * C(m,n) }
def both(float(M,K) A, float(K,N) B) -> (D) { C = mm(A, B)  D = scale(C) }
"""
T = tc.define(TEXT)
A, B = torch.randn(33, 20), torch.randn(20, 45)


def compiled(function, library, *tensors):
    try:
        return tc.compile(function, *tensors, libraries=library, cache=False)
    except tc.OptionsError as error:
        if "is not on this machine" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("shape", [(5, 7), (3, 1), (1, 6), (2, 3, 4), (3, 1, 1)])
def test_a_softmax_is_a_call(shape):
    left = ",".join("abc"[: len(shape) - 1])
    text = f"""def softmax(float({left.upper()},N) X) -> (Y) {{
        M({left}) max=! X({left},n)  E({left},n) = exp(X({left},n) - M({left}))
        S({left}) +=! E({left},n)  Y({left},n) = E({left},n) / S({left}) }}"""
    x = torch.randn(shape)
    assert not compiled(tc.define(text).softmax, "onednn", x).stats["library_calls"], "oneDNN makes numbers of NaN"
    f = compiled(tc.define(text).softmax, "onednn:finite", x)
    assert [call.split()[0] for call in f.stats["library_calls"]] == ["softmax"]
    # Differences are at most 16: their rounding moves an exponential by 2e-6 of itself, sums of 7 add as many roundings.
    torch.testing.assert_close(f(x).double(), x.double().softmax(-1), rtol=5e-6, atol=0)


@pytest.mark.parametrize(
    "text, eager",
    [
        ("Y(n) max=! X(n,m)", lambda x: x.amax(1)),
        ("Y(n,m) max=! X(n,m+k) where k in 0:2", lambda x: torch.maximum(x[:, :-1], x[:, 1:])),
        ("H(n) max=! X(n,m)  E(n,m) = exp(X(n,m) - H(n))  S(n) +=! E(n,m)  Y(n,m) = E(n,m) / S(n)", lambda x: x.softmax(1)),
    ],
)
def test_nan_and_infinities_stay(text, eager):
    x = torch.randn(6, 8)
    x[1, 3], x[2], x[3, 4], x[4, 5] = float("nan"), -float("inf"), float("inf"), -float("inf")
    f = compiled(tc.define(f"def f(float(N,M) X) -> (Y) {{ {text} }}").f, "onednn", x)
    torch.testing.assert_close(f(x), eager(x), equal_nan=True)


@pytest.mark.parametrize("library", ["openblas", "onednn"])
def test_a_product_is_a_call(library):
    f = compiled(T.mm, library, A, B)
    torch.testing.assert_close(f(A, B), A @ B)
    assert len(f.stats["library_calls"]) == 1 and library in f.stats["library_calls"][0]
    assert f"calls {f.stats['library_calls'][0]}" in f.explain()
    assert f.stats["code_bytes"] == 0
    again = tc.load(f.serialise())
    torch.testing.assert_close(again(A, B), A @ B)
    assert again.stats["library_calls"] == f.stats["library_calls"]


@pytest.mark.parametrize("library", ["openblas", "onednn"])
def test_a_part_is_a_call(library):
    f = compiled(T.both, library, A, B)
    torch.testing.assert_close(f(A, B), (A @ B) ** 2)
    assert f.stats["parts"] == 2 and len(f.stats["library_calls"]) == 1
    assert any("own code" in note for note in f.stats["library_notes"])
    text = f.explain(A, B)
    assert f"mm: {f.stats['library_calls'][0]}" in text and "scale: own code" in text
    assert f"not predicted, {library} computes mm" in text


@pytest.mark.parametrize("library", ["openblas", "onednn"])
def test_constants_of_calls(library):
    compiled(T.mm, library, A, B)
    f = tc.compile(T.both, A, B, libraries=library, constants=["B"], cache=False)
    torch.testing.assert_close(f(A), (A @ B) ** 2)
    assert "constant float32" in f.stats["library_calls"][0]
    torch.testing.assert_close(tc.load(f.serialise())(A), (A @ B) ** 2)


def test_without_being_asked_no_library_is_called():
    assert not tc.compile(T.mm, A, B, cache=False).stats["library_calls"]


def test_auto_without_prices_says_so():
    f = tc.compile(T.mm, A, B, libraries="auto", cache=False)
    assert not f.stats["library_calls"]
    assert "tc_libraries --measure" in f.explain()


def test_auto_follows_the_prices(tmp_path):
    called = compiled(T.mm, "openblas", A, B)
    version = called.stats["library_calls"][0].split(":")[0].split(" ")[-1]
    machine = next(e for e in machines() if e)
    threads = tc.get_num_threads()
    price = f"openblas {version} gemm {threads} 1 0 1e-6 {{}} 3 3 float32 2 20 1 float32 2 45 1 float32 2 45 1 K 20 M 33 N 45\n"
    for own, calls in (("2e-6", 1), ("0.5e-6", 0)):
        folder = tmp_path / own
        folder.mkdir()
        (folder / "library_prices.txt").write_text(f"library prices 4\n{machine}\n" + price.format(own))
        f = tc.compile(T.mm, A, B, libraries="auto", cache=tc.cache.Cache(str(folder)))
        assert len(f.stats["library_calls"]) == calls, f.explain()
        torch.testing.assert_close(f(A, B), A @ B)
    (folder / "library_prices.txt").write_text("library prices 4\nanother machine\n" + price.format("2e-6"))
    assert not tc.compile(T.mm, A, B, libraries="auto", cache=tc.cache.Cache(str(folder))).stats["library_calls"]


def machines():
    with open("/proc/cpuinfo") as lines:
        return [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]


def test_other_words_are_errors():
    with pytest.raises(tc.OptionsError, match="'none', 'auto'"):
        tc.compile(T.mm, A, B, libraries="blas")
    with pytest.raises(tc.OptionsError, match="':finite' behind it"):
        tc.compile(T.mm, A, B, libraries="openblas:fast")
    with pytest.raises(tc.OptionsError, match="'none', 'auto'"):
        tc.define(TEXT, libraries="blas").mm(A, B)


@pytest.mark.parametrize("library", ["openblas", "onednn"])
def test_a_library_that_is_missing_is_named(library):
    program = f"""
        import torch, tensor_comprehensions as tc
        T = tc.define({TEXT!r})
        try:
            tc.compile(T.mm, torch.ones(2, 3), torch.ones(3, 4), libraries="{library}")
        except tc.OptionsError as error:
            print(error)
    """
    environment = os.environ | {f"TC_{library.upper()}": "/no/such/library.so"}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"the library '{library}' is not on this machine" in result.stdout


@pytest.mark.parametrize("library", ["openblas", "onednn"])
def test_threads_of_torch_stay(library):
    f = compiled(T.mm, library, A, B)
    before = torch.get_num_threads()
    tc_before = tc.get_num_threads()
    try:
        tc.set_num_threads(1)
        torch.set_num_threads(2)
        X = torch.randn(300, 300)
        wanted = X @ X
        for _ in range(5):
            torch.testing.assert_close(f(A, B), A @ B)
            assert torch.get_num_threads() == 2
            torch.testing.assert_close(X @ X, wanted)
    finally:
        torch.set_num_threads(before)
        tc.set_num_threads(tc_before)


BRANCHES = """
def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) {
    Y(n,o,h,w) +=! h + r >= 1 && h + r <= H && w + s >= 1 && w + s <= W ? X(n,c,h + r - 1,w + s - 1) * K(o,c,r,s) : 0
        where h in 0:H, w in 0:W }
def point(float(N,C,H,W) X, float(O,C) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h,w) * K(o,c) }
def every_second(float(N,C,H,W) X, float(O,C) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,2 * h,2 * w) * K(o,c) where h in 0:7, w in 0:7 }
def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }
def add(float(N,C,H,W) A, float(N,C,H,W) B) -> (Y) { Y(n,c,h,w) = A(n,c,h,w) + B(n,c,h,w) }
def joined(float(N,C,H,W) A, float(N,D,H,W) B) -> (Y) { Y(n,c,h,w) = c < C ? A(n,c,h,w) : B(n,c - C,h,w) where c in 0:C + D }
def net(float(N,C,H,W) X, float(O,C,R,S) K, float(O,O) P, float(O,O,R,S) L, float(U,V) Q) -> (Y) {
    A = conv(X, K)  B = positive(A)  D = conv(B, L)  E = positive(D)  F = conv(E, L)  G = add(F, B)  I = point(G, P)  J = joined(G, I)
    Y = every_second(J, Q) }
"""


def copies_of_a_call(layouts):
    """The copies that oneDNN's log shows for one call of `net`, and whether it computes what own code does."""
    program = f"""
        import sys, torch, tensor_comprehensions as tc
        T = tc.define({BRANCHES!r})
        given = [torch.randint(-1, 2, shape).float() for shape in
                 ((1, 3, 14, 14), (64, 3, 3, 3), (64, 64), (64, 64, 3, 3), (64, 128))]
        how = dict(constants=["K", "P", "L", "Q"], cache=False)
        f = tc.compile(T.net, *given, libraries="onednn", **how, **{layouts!r})
        own = tc.compile(T.net, *given, **how)
        X = given[0]
        f(X), print("begin", flush=True)
        Y = f(X)
        print("end", torch.equal(Y, own(X)))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    log = subprocess.run(command, env=os.environ | {"DNNL_VERBOSE": "1"}, capture_output=True, text=True, check=True).stdout
    between, end = log.split("begin")[1].split("end")
    assert end.strip() == "True"
    lines = [line for line in between.splitlines() if ",exec," in line]
    return sum(",reorder," in line for line in lines), len(lines)


def test_layouts_that_routines_ask_for_leave_no_copies():
    compiled(T.mm, "onednn", A, B)  # is it here?
    copied, calls = copies_of_a_call({"layouts": "constants"})
    assert copied > 4
    assert copies_of_a_call({}) == (0, calls - copied)
