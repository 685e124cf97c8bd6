"""tc.derive: programs that equal a def, with proofs that are checked again."""

import time

import numpy as np
import pytest

import tensor_comprehensions as tc

CONV = """
def conv(float(C,H) X, float(F,C,R) W) -> (O) {
  P(c,i) = i >= 1 && i <= H ? X(c,i-1) : 0 where i in 0:H+2
  O(f,h) +=! P(c,h+r) * W(f,c,r) where h in 0:H
}
def gathered(float(H) X, int32(N) I) -> (O) { O(i) = X(I(i)) }
"""


@pytest.fixture(scope="module")
def found():
    T = tc.define(CONV)
    return tc.derive(T.conv, tc.spec((8, 12)), tc.spec((6, 8, 3)), depth=6)


def test_candidates_are_the_cheapest_first_and_the_def_is_among_them(found):
    costs = [candidate.cost.microseconds for candidate in found]
    assert costs == sorted(costs) and all(candidate.cost.source == "model" for candidate in found)
    assert len(found) > 3 and sum(not candidate.steps for candidate in found) == 1
    assert found.note == "" and found.statistics["states"] > 10 and found.statistics["refused"] == 0


def test_candidates_are_verified(found):
    for candidate in found:
        candidate.verify()


def test_a_product_and_a_sum_of_offsets_is_among_them(found):
    rules = [tuple(step.rule for step in candidate.steps) for candidate in found]
    assert any("split summation" in path and "substitute variables" in path for path in rules), rules


def test_steps_lead_from_the_def_to_the_candidate(found):
    for candidate in found:
        texts = [step.after for step in candidate.steps]
        assert [step.before for step in candidate.steps[1:]] == texts[:-1]
        assert not texts or texts[-1] == candidate.text


def test_a_candidate_is_a_function(found):
    random = np.random.default_rng(1)
    x, w = (random.integers(-4, 5, size=shape).astype("float32") for shape in ((8, 12), (6, 8, 3)))
    want = tc.define(CONV).conv(x, w)
    for candidate in found:
        assert np.array_equal(candidate.function(x, w), want), candidate


def test_a_forged_certificate_is_refused(found):
    candidate = next(candidate for candidate in found if candidate.steps)
    genuine = candidate.certificate
    assert "- 1" in genuine
    try:
        candidate.certificate = genuine.replace("h + r - 1", "h + r - 2")
        with pytest.raises(tc.InternalError, match="proves nothing"):
            candidate.verify()
    finally:
        candidate.certificate = genuine


def test_what_is_not_derived_says_why():
    found = tc.derive(tc.define(CONV).gathered, tc.spec((8,)), tc.spec((4,), "int32"))
    assert len(found) == 1 and not found[0].steps and "read from a tensor" in found.note
    found[0].verify()


def test_mistakes_are_told():
    T = tc.define(CONV)
    with pytest.raises(tc.ArgumentError, match="a def of a text, str was given"):
        tc.derive(CONV)
    with pytest.raises(tc.ArgumentError, match=r"takes 2 tensors \(X, W\), 1 was given"):
        tc.derive(T.conv, tc.spec((8, 12)))
    with pytest.raises(tc.OptionsError, match="depth is a whole number from 0 on"):
        tc.derive(T.conv, tc.spec((8, 12)), tc.spec((6, 8, 3)), depth=-1)


def test_nodes_are_derived_where_a_compile_is_asked_to():
    chain = "def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }"
    function = tc.define(chain).f
    random = np.random.default_rng(1)
    tensors = [random.integers(-2, 3, shape).astype("float32") for shape in ((64, 48), (48, 56), (56,))]
    plain, derived = tc.compile(function, *tensors), tc.compile(function, *tensors, derive=3)
    np.testing.assert_array_equal(derived(*tensors), plain(*tensors))
    assert plain.stats["derived"] == []
    (node,) = derived.stats["derived"]
    assert node["node"] == "f" and node["rules"] and node["after_us"] < node["before_us"]
    assert node["certificate"].startswith("program") and "## derived" in derived.explain()
    with pytest.raises(tc.OptionsError, match="derive is a number of rules"):
        tc.define(chain, derive=-1)


def whole(seed, *shapes, most=3):
    """Arrays of small integers."""
    random = np.random.default_rng(seed)
    return [random.integers(-most, most + 1, shape).astype("float32") for shape in shapes]


TRANSPOSED = """
def up(float(1,3,2,2) A, float(3,4,4,2) K) -> (O) {
  O(n,c,h,w) +=! (h + 1 - r) % 2 == 0 && (w + 1 - s) % 2 == 0 && h + 1 - r >= 0 && h + 1 - r < 4 && w + 1 - s >= 0 && w + 1 - s < 4
    ? A(n,f,(h + 1 - r)/2,(w + 1 - s)/2) * K(f,r,s,c) : 0 where h in 0:4, w in 0:4
}"""


def test_a_transposed_convolution_is_that_of_torch():
    torch = pytest.importorskip("torch")
    a, k = np.arange(12, dtype="float32").reshape(1, 3, 2, 2), np.arange(96, dtype="float32").reshape(3, 4, 4, 2)
    want = torch.nn.functional.conv_transpose2d(torch.from_numpy(a), torch.from_numpy(k).permute(0, 3, 1, 2), stride=2, padding=1).numpy()
    found = tc.derive(tc.define(TRANSPOSED).up, a, k, depth=5, constants=["K"])
    assert len(found) > 3
    for candidate in found:
        assert np.array_equal(candidate.function(a, k), want), candidate
        candidate.verify()


def test_nothing_outside_of_tensors_is_read(found):
    x, w = whole(1, (8, 12), (6, 8, 3))
    want = tc.define(CONV).conv(x, w)
    around = np.full((10, 14), np.nan, "float32")
    around[1:-1, 1:-1] = x
    for candidate in found:
        assert np.array_equal(candidate.function(around[1:-1, 1:-1], w), want), candidate


SHARED = """
def fc(float(M,K) X, float(K,N) A) -> (Y) { Y(m,n) +=! X(m,k) * A(k,n) }
def add(float(M,N) P, float(M,N) Q) -> (Y) { Y(m,n) = P(m,n) + Q(m,n) }
def both(float(M,K) X, float(K,N) A, float(K,N) B) -> (Y) { P = fc(X, A)  Q = fc(X, B)  Y = add(P, Q) }
def qkv(float(M,K) X, float(K,N) A, float(K,N) B, float(K,N) C) -> (Q, R, S) {
  Q(m,n) +=! X(m,k) * A(k,n)  R(m,n) +=! X(m,k) * B(k,n)  S(m,n) +=! X(m,k) * C(k,n)
}"""


def test_products_that_share_an_operand_are_one_of_a_sum_that_the_compile_computes():
    x, a, b = whole(1, (32, 256), (256, 256), (256, 256))
    f = tc.compile(tc.define(SHARED).both, x, a, b, constants=["A", "B"], derive=4)
    assert np.array_equal(f(x), x @ a + x @ b)
    (node,) = f.stats["derived"]
    assert [rule.split(":")[0] for rule in node["rules"]] == ["merge sums", "factor sum"]
    assert f.stats["launches"] == 1, "the sum of both is computed once"


def test_products_of_one_tensor_are_one_product():
    x, a, b, c = whole(1, (16, 64), (64, 64), (64, 64), (64, 64))
    found = tc.derive(tc.define(SHARED).qkv, x, a, b, c, depth=2, count=40, constants=["A", "B", "C"])
    merged = next(each for each in found if [step.rule for step in each.steps].count("merge expressions") == 2)
    assert "in 0:192" in merged.text
    f = tc.compile(merged.function, x, a, b, c, constants=["A", "B", "C"], partition="each", derive=0)
    for got, want in zip(f(x), (x @ a, x @ b, x @ c)):
        assert np.array_equal(got, want)


ONE = """
def one(float(1,64,8,8) X, float(64,1,9,9) K) -> (O) {
  O(n,f,h,w) +=! (h + 3 - r) % 4 == 0 && h + 3 - r >= 0 && h + 3 - r < 32 && (w + 3 - s) % 4 == 0 && w + 3 - s >= 0 && w + 3 - s < 32
    ? X(n,c,(h + 3 - r)/4,(w + 3 - s)/4) * K(c,f,r,s) : 0 where h in 0:31, w in 0:31 }
def act(float(N,C,H,W) X, float(C) b) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w) + b(c), 0) }
"""
ONE_ACT = ONE + """
def main(float(1,64,8,8) X, float(64,1,9,9) K, float(1) b) -> (Y) { P = one(X, K)  Y = act(P, b) }
"""


def launches_of_nodes(f):
    """The launch of each tensor, by its name."""
    lines = [line.split() for line in f.explain().split("## nodes")[1].splitlines() if " = " in line]
    return {line[1]: line[0] for line in lines if "folded" not in line}


@pytest.mark.long  # test_a_network_is_that_of_torch has these parts
def test_what_reads_a_sum_of_offsets_is_in_its_launch():
    x, k, b = whole(1, (1, 64, 8, 8), (64, 1, 9, 9), (1,))
    T = tc.define(ONE_ACT)
    f = tc.compile(T.main, x, k, b, constants=["K", "b"], derive=5, layouts="off")
    assert np.array_equal(f(x), tc.compile(T.main, x, k, b)(x, k, b))
    assert len(f.stats["derived"]) == 1 and "substitute variables" in str(f.stats["derived"])
    launches = launches_of_nodes(f)
    assert launches["P"] == launches["Y"], launches


SOFTMAX = """
def last(float(N,C,H,W) X) -> (Y) { Y(n,h,w,c) = X(n,c,h,w) }
def first(float(N,H,W,C) X) -> (Y) { Y(n,c,h,w) = X(n,h,w,c) }
def softmax(float(N,H,W,C) X) -> (Y) {
  M(n,h,w) max=! X(n,h,w,c)  E(n,h,w,c) = exp(X(n,h,w,c) - M(n,h,w))  D(n,h,w) +=! E(n,h,w,c)  Y(n,h,w,c) = E(n,h,w,c) / D(n,h,w)
}
def main(float(N,C,H,W) X) -> (Z) { Y = last(X)  S = softmax(Y)  Z = first(S) }
"""


def test_copies_that_undo_each_other_around_a_softmax_are_gone():
    (x,) = whole(1, (2, 64, 14, 14))
    T = tc.define(SOFTMAX)
    f = tc.compile(T.main, x, derive=1)
    e = np.exp(x - x.max(1, keepdims=True), dtype="float64")
    np.testing.assert_allclose(f(x), e / e.sum(1, keepdims=True), rtol=1e-6)
    (node,) = f.stats["derived"]
    assert {rule.split(":")[0] for rule in node["rules"]} <= {"fuse", "change layout"}
    body = f.stats["graph"]
    assert not any(line.strip().startswith("Y0") and line.rstrip().endswith(("X0(n, c, h, w)", "X0(n, h, w, c)")) for line in body.splitlines()), body

NETWORK = ONE + """
def conv(float(N,C,31,31) X, float(F,C,3,3) K) -> (O) {
  O(n,f,h,w) +=! h + r >= 1 && h + r < 32 && w + s >= 1 && w + s < 32 ? X(n,c,h+r-1,w+s-1) * K(f,c,r,s) : 0 where h in 0:31, w in 0:31 }
def network(float(1,64,8,8) X, float(64,1,9,9) K, float(1) b, float(4,1,3,3) L, float(4) d, float(2,4,3,3) M, float(2) e) -> (Y) {
  A = one(X, K)  B = act(A, b)  C = conv(B, L)  D = act(C, d)  E = conv(D, M)  Y = act(E, e) }
"""


def test_a_network_is_that_of_torch():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    shapes = ((1, 64, 8, 8), (64, 1, 9, 9), (1,), (4, 1, 3, 3), (4,), (2, 4, 3, 3), (2,))
    x, *weights = whole(1, *shapes, most=1)
    names = ["K", "b", "L", "d", "M", "e"]
    f = tc.compile(tc.define(NETWORK).network, x, *weights, constants=names, derive=5, layouts="off")
    k, b, m, d, n, e = (torch.from_numpy(weight).double() for weight in weights)
    y = F.relu(F.conv_transpose2d(torch.from_numpy(x).double(), k, b, stride=4, padding=3))
    y = F.relu(F.conv2d(F.relu(F.conv2d(y, m, d, padding=1)), n, e, padding=1))
    assert float(y.max()) > 0
    assert np.array_equal(f(x), y.numpy())
    assert any(node["node"] == "one" for node in f.stats["derived"]) and "substitute variables" in str(f.stats["derived"])
    launches = launches_of_nodes(f)
    assert launches["A"] == launches["B"], launches


def layers(count):
    """Sums of squares and what they scale, each layer reading the one before it twice."""
    lines = [f"  S{k}(i) +=! A{k - 1}(i,j) * A{k - 1}(i,j)   A{k}(i,j) = A{k - 1}(i,j) / (1 + S{k}(i))"
             for k in range(1, count + 1)]
    return tc.define(f"def deep(float(M,N) A0) -> (A{count}) {{\n" + "\n".join(lines) + "\n}").deep


def test_the_time_of_a_derivation_does_not_double_with_a_layer():
    deep = layers(17)
    start = time.process_time()
    tc.compile(deep, tc.spec((8, 8)), derive=1, cache=False)
    assert time.process_time() - start < 60


@pytest.mark.parametrize("ask", [
    lambda deep, spec, limit: tc.compile(deep, spec, derive=7, cache=False, time_limit=limit),
    lambda deep, spec, limit: tc.compile(deep, spec, derive=7, cache=False, libraries="auto", time_limit=limit),
])
def test_a_derivation_obeys_its_time_limit(ask):
    start = time.monotonic()
    with pytest.raises(tc.ResourceError, match="time limit"):
        ask(layers(60), tc.spec((64, 64)), 0.2)
    assert time.monotonic() - start < 10


def test_defs_and_iterators_of_one_name_are_kept_apart():
    T = tc.define("def f(float(A,B) X, float(B,F) Y, float(F,C) Z) -> (O) { O(a,c) +=! X(a,b) * Y(b,f) * Z(f,c) }")
    X, Y, Z = (np.arange(n * m, dtype=np.float32).reshape(n, m) % 5 for n, m in ((40, 50), (50, 60), (60, 30)))
    compiled = tc.compile(T.f, X, Y, Z, derive=1, cache=False)
    assert compiled.stats["derived"]
    np.testing.assert_allclose(compiled(X, Y, Z), X @ Y @ Z)
    for candidate in tc.derive(T.f, X, Y, Z, depth=2):
        candidate.verify()


@pytest.mark.parametrize("how", [
    {},
    {"constants": ["W"], "derive": 1},
    pytest.param({"derive": 2}, marks=pytest.mark.long),
    pytest.param({"libraries": "auto", "derive": 3}, marks=pytest.mark.long),
])
def test_reductions_may_run_over_the_name_of_any_def(how):
    sums = "\n".join(f"  g{k}(i,j) +=! f{k - 1}(i,f) * W(f,j)   f{k}(i,j) = g{k}(i,j) * 0 + f{k - 1}(i,j)" for k in range(1, 10))
    T = tc.define(f"""
        def f(float(M,K) f0, float(K,K) W) -> (f9) {{ {sums} }}
        def X0(float(M,K) A, float(K,N) W) -> (B) {{ B(i,j) +=! A(i,f_1) * W(f_1,j) }}
        def f_1(float(M,K) A, float(K,N) W) -> (C) {{ P = X0(A, W)   Q(i,j) = P(i,j) * 2   C(i,j) = relu(Q(i,j)) + 1 }}
    """)
    X, W = (np.arange(n * m, dtype=np.float32).reshape(n, m) % 5 - 2 for n, m in ((64, 32), (32, 32)))
    for function, want in ((T.f, X), (T.f_1, np.maximum(2 * (X @ W), 0) + 1)):
        compiled = tc.compile(function, X, W, cache=False, **how)
        given = (X,) if "constants" in how else (X, W)
        np.testing.assert_allclose(compiled(*given), want)


def test_conversions_and_choices_are_read_as_they_are_printed():
    T = tc.define("""
        def f(float(N) A) -> (O) { O(k) = float(k >= 2 ? A(k-2) : 2) where k in 0:8 }
        def g(float(N) A) -> (O) { T(k) = double(0.1) * k where k in 0:6   O(k) = A(k) - 0.0 - float(T(k)) }
        def h(int32(N) A) -> (O) { O(k) = A(k) * (k >= 0 ? A(k) : -0.0) }
    """)
    for function, size in ((T.f, 6), (T.g, 6), (T.h, 6)):
        for candidate in tc.derive(function, tc.spec((size,), "int32" if function is T.h else "float32"), depth=2):
            candidate.verify()
