"""Loop nests as text: printed, given back, edited, refused with the line and the reason."""

import re

import pytest
import torch

import tensor_comprehensions as tc

TEXT = """
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def softmax(float(N,C) X) -> (Y) {
  top(n)   max=! X(n,c)
  e(n,c)       = exp(X(n,c) - top(n))
  total(n) +=! e(n,c)
  Y(n,c)       = e(n,c) / total(n)
}
def conv(float(N,C,H,W) I, float(O,C,KH,KW) K) -> (R) { R(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw) }
def dots(int8(M,K) A, int8(N,K) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(n,k)) }
def columns(float(N,K) A) -> (S) { S(k) +=! A(n,k) }
def norm(float(N) A) -> (S, T) { S +=! A(n)  T(n) = A(n) * 2 }
"""
T = tc.define(TEXT)
FAMILY = [
    ("mm", (100, 70), (70, 130)),
    ("mm", (512, 512), (512, 512)),
    ("softmax", (33, 100)),
    ("conv", (1, 1, 20, 20), (8, 1, 3, 3)),
    ("conv", (2, 16, 14, 14), (32, 16, 3, 3)),
    ("columns", (300, 77)),
    ("norm", (5000,)),
]


def whole(shape):
    return torch.randint(-3, 4, shape).float()


def loops(executable):
    """The schedule without the line of the mapping."""
    parts = re.findall(r"(?ms)^## schedule\n(.*?)(?=^## )", executable.explain())
    return [part.split("\n\n", 1)[1] for part in parts]


# One target of each program, of the next program the other one; the other half by `make test-long`.
TARGETS = ["cpu", "cpu:avx2"]
PAIRS = [(target, name, shapes) for name, *shapes in FAMILY for target in TARGETS]
HALF = [pair if k % 4 in (0, 3) else pytest.param(*pair, marks=pytest.mark.long) for k, pair in enumerate(PAIRS)]


@pytest.mark.parametrize("target, name, shapes", HALF)
def test_nests_are_read_back(target, name, shapes):
    specs = [tc.spec(shape) for shape in shapes]
    chosen = tc.compile(getattr(T, name), *specs, target=target, cache=False)
    given = tc.compile(getattr(T, name), *specs, target=target, nest=chosen.nest, cache=False)
    assert chosen.nest.startswith("nest of ")
    assert given.nest == chosen.nest
    assert loops(given) == loops(chosen)


def test_bytes_in_units_are_read_back():
    specs = tc.spec((64, 256), "int8"), tc.spec((48, 256), "int8")
    chosen = tc.compile(T.dots, *specs, target="cpu:avx512", options="register_tile=4x16", cache=False)
    given = tc.compile(T.dots, *specs, target="cpu:avx512", nest=chosen.nest, cache=False)
    assert given.nest == chosen.nest and loops(given) == loops(chosen)


EDITED = """
nest of S0, S1
  n/32 on cores
    copy B of S1 in panels of 16 n, 8 lanes
    m/5
      n%32/16
        keep C
        copies along n, 8 lanes, unrolled
        S0: m%5 unrolled  n%16/8 unrolled  n%8 lanes
        S1: k  m%5 unrolled  n%16/8 unrolled  n%8 lanes
"""


@pytest.mark.parametrize("m, n, k", [(100, 130, 70), (5, 32, 1), (17, 33, 9), (64, 64, 64)])
def test_an_edited_nest_computes_the_same(m, n, k):
    a, b = whole((m, k)), whole((k, n))
    given = tc.compile(T.mm, a, b, nest=EDITED, cache=False)
    assert torch.equal(given(a, b), a @ b)
    assert "n/32 on cores" in given.nest or n <= 32


LEVELS = """
nest of S0, S1
  m/64 on cores
    S1.k/32 with private sums
      copy A of S1 in rows of 4 m, 8 lanes
      n/96
        copy B of S1 in panels of 16 n, 8 lanes
        m%64/24
          n%96/32
            n%32/16
              m%24/4
                keep C
                copies along n, 8 lanes, unrolled
                S0: m%4 unrolled  n%16/8 unrolled  n%8 lanes
                S1: k%32  n%16/8 unrolled  m%4 unrolled  n%8 lanes
"""


@pytest.mark.parametrize("m, n, k", [(200, 300, 100), (64, 96, 32), (1, 17, 5), (70, 1, 33)])
def test_members_may_have_any_number_of_levels(m, n, k):
    a, b = whole((m, k)), whole((k, n))
    mine = tc.compile(T.mm, a, b, nest=LEVELS, cache=False)
    assert mine.nest.split() == LEVELS.split()
    assert torch.equal(mine(a, b), a @ b)


def test_nests_of_other_clusters_stay():
    a = whole((5000,))
    chosen = tc.compile(T.norm, a, cache=False)
    sections = re.split(r"(?m)^(?=nest of)", chosen.nest)[1:]
    assert len(sections) > 1
    for section in sections:
        given = tc.compile(T.norm, a, nest=section, cache=False)
        assert given.nest == chosen.nest
        total, twice = given(a)
        assert total == a.sum() and torch.equal(twice, a * 2)


@pytest.mark.parametrize("before, after, message", [
    ("m/5", "q/5", "line 5 of the nest, 'q/5': there is no index 'q' here; the band has m, n"),
    ("n%32/16", "n%30/16", "breaks the law 'digits': a loop above counts n in steps of 32, so the next one is over n%32"),
    ("S1: k  ", "S1: ", "breaks the law 'digits': no loop is over k"),
    ("m/5", "m/5 on cores", "breaks the law 'cores'"),
    ("n%8 lanes\n        S1", "n%8\n        S1", "breaks the law 'unrolled'"),
    ("S1: k  m%5 unrolled", "S1: m%5 unrolled  k", "breaks the law 'order': serial loops over its own iterators stand above all other loops"),
    ("keep C", "keep C\n  keep C", "breaks the law 'keep': 'C' is staged twice"),
    ("keep C", "keep Q", "there is no tensor 'Q' to stage"),
    ("nest of S0, S1", "nest of S0, S7", "no loops hold the statements S0, S7 together"),
    ("copy B", "copy A", "cannot be copied in panels"),
])
def test_an_illegal_nest_is_refused_with_the_line(before, after, message):
    assert before in EDITED
    with pytest.raises(tc.OptionsError) as error:
        tc.compile(T.mm, tc.spec((100, 70)), tc.spec((70, 130)), nest=EDITED.replace(before, after), cache=False)
    assert message in str(error.value)


def test_a_carried_dependence_is_no_loop_on_cores():
    text = "nest of S0\n  S0:\nnest of S1\n  S1: n on cores"
    with pytest.raises(tc.OptionsError, match="'cores'"):
        tc.compile(tc.define("def f(float(N) A) -> (S) { S +=! A(n) }").f, tc.spec((100,)), nest=text, cache=False)


def kernel(name, *shapes, **how):
    return tc.compile(getattr(T, name), *[tc.spec(shape) for shape in shapes], target="cuda:sm_90", cache=False, **how)


@pytest.mark.parametrize("name, shapes", [
    pytest.param(name, shapes, marks=pytest.mark.long if shapes[0] == (512, 512) else ()) for name, *shapes in FAMILY])
def test_nests_of_kernels_are_read_back(name, shapes):
    chosen = kernel(name, *shapes)
    given = kernel(name, *shapes, nest=chosen.nest)
    assert chosen.nest.startswith("nest of ") and "\n  blocks of " in chosen.nest
    assert given.nest == chosen.nest and given.source == chosen.source


KERNEL = """
nest of S0, S1
  blocks of 8x8 threads, shared bytes 16384
  m/32 on grid.y
    n/32 on grid.x
      copy A of S1 to shared memory along m
      copy B of S1 to shared memory along n, 4 of n at once, asynchronous
      keep C
      added statements points innermost, unrolled, in lanes
      S0: m%32/4 on thread.y  n%32/4 on thread.x  m%4 unrolled  n%4 lanes
      S1: k/8 with copies in 3 slots  k%8 unrolled  m%32/4 on thread.y  n%32/4 on thread.x  m%4 unrolled  n%4 lanes
"""


def test_an_edited_nest_is_the_kernel():
    given = kernel("mm", (512, 512), (512, 512), nest=KERNEL)
    assert given.nest.strip() == KERNEL.strip()
    (facts,) = given.stats["kernels"]
    assert list(facts["grid"])[:2] == [16, 16] and list(facts["block"])[:2] == [8, 8]
    assert "tc_copy_async" in given.source


@pytest.mark.parametrize("before, after, message", [
    ("8x8 threads", "8x4 threads", "the loop has 8 values and the block 4 threads along y; count the rounds in a loop above it, 'm%32/16'"),
    ("n/32 on grid.x", "n/32 on cores", "line 5 of the nest, 'n/32 on cores', breaks the law 'machine'"),
    ("  blocks of 8x8 threads, shared bytes 16384\n", "", "this target is a GPU; below this line stands"),
    ("8x8 threads", "64x64 threads", "breaks the law 'block': a block has at most 1024 threads"),
    ("keep C", "keep Q", "there is no tensor 'Q'"),
])
def test_an_illegal_nest_of_a_kernel_is_refused_with_the_line(before, after, message):
    assert before in KERNEL
    with pytest.raises(tc.OptionsError) as error:
        kernel("mm", (512, 512), (512, 512), nest=KERNEL.replace(before, after))
    assert message in str(error.value)


def test_threads_that_cannot_join_their_sums_are_refused():
    rows = tc.define("def rows(float(N,K) A) -> (S) { S(n) +=! A(n,k) }").rows
    text = "nest of S0, S1\n  blocks of 64 threads\n  n on grid.x\n    S0:\n    S1: k/64  k%64 on thread.x"
    how = {"target": "cuda:sm_90", "cache": False}
    assert tc.compile(rows, tc.spec((300, 77)), nest=text, **how).nest == text
    along_y = text.replace("of 64", "of 1x64").replace("thread.x", "thread.y")
    with pytest.raises(tc.OptionsError, match="breaks the law 'sums': threads along x share a reduction"):
        tc.compile(rows, tc.spec((300, 77)), nest=along_y, **how)


def test_a_nest_is_for_its_kind_of_machine():
    with pytest.raises(tc.OptionsError, match="this target is a processor"):
        tc.compile(T.mm, tc.spec((512, 512)), tc.spec((512, 512)), nest=KERNEL, cache=False)
    with pytest.raises(tc.OptionsError, match="this target is a GPU"):
        kernel("mm", (512, 512), (512, 512), nest=EDITED)


@pytest.mark.filterwarnings("ignore:.*ran out of its quota")
@pytest.mark.parametrize("quota", [500, 2000, 4000, 8000])
def test_loops_that_stay_as_scheduled_have_a_nest(quota):
    text = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n)  C(m,n) = fmax(C(m,n), 0) }"
    left = tc.compile(tc.define(text).f, tc.spec((100, 70)), tc.spec((70, 50)), options=f"quota={quota}", cache=False)
    assert left.stats["fallbacks"] and left.work["flops"] > 0 and "## schedule" in left.explain()
    assert set(re.findall(r"S\d", " ".join(re.findall(r"nest of (.*)", left.nest)))) == {"S0", "S1", "S2"}


def test_explain_shows_the_nest():
    executable = tc.compile(T.mm, tc.spec((64, 64)), tc.spec((64, 64)), cache=False)
    assert f"## nest\n{executable.nest}\n" in executable.explain()
    given = kernel("softmax", (33, 100))
    assert f"## nest\n{given.nest}\n" in given.explain()
