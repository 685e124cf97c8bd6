"""tc.derive: programs that equal a def, with proofs that are checked again."""

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
    with pytest.raises(tc.OptionsError, match="a depth that is not negative"):
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
