"""PolyBench, TCCG and opt_einsum at small sizes, beside NumPy in float64: whole numbers are equal, others to rounding."""

import pathlib
import sys

import numpy as np
import pytest

import tensor_comprehensions as tc
from programs import cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"))

from suite.public import einsums, polybench  # noqa: E402

POLYBENCH, EINSUMS = polybench.programs(), [*einsums.tccg(), *einsums.opt_einsum(), *einsums.opt_einsum_by_pairs()]
OTHERS = [("cpu:avx2", "fusion=max,tile=3x5x2"), ("cpu:plain", "parallel=0,vectorise=0,promote=0"), ("cpu", "fusion=min,tile=4x8")]


def check(program, **compiled_for):
    """Runs the program at its golden sizes and compares all results."""
    arrays = program.draw(program.golden)
    results = tc.define(program.text, **compiled_for)[program.entry](*arrays)
    results = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
    assert tuple(result.shape for result in results) == program.shapes
    for result, wanted in zip(results, program.reference(*arrays)):
        if program.exact:
            np.testing.assert_array_equal(result, wanted)
        else:
            np.testing.assert_allclose(result, wanted, rtol=1e-11, atol=1e-11)


def test_all_of_each_suite_are_here():
    assert len(POLYBENCH) == 30 and len(set(einsums.TCCG)) == 49 and len(set(einsums.OPT_EINSUM)) == 69


@pytest.mark.parametrize("program", cases(POLYBENCH, 1), ids=lambda program: program.name)
def test_polybench(program):
    check(program)


@pytest.mark.parametrize("program", cases(EINSUMS, 6), ids=lambda program: program.name)
def test_einsum(program):
    check(program)


@pytest.mark.long
@pytest.mark.parametrize("target, options", OTHERS)
@pytest.mark.parametrize("program", POLYBENCH + EINSUMS, ids=lambda program: program.name)
def test_other_targets_and_options(program, target, options):
    check(program, target=target, options=options)


REFUSED = {  # forms in which the suite's loops are usually written, and why the texts of the suite say them otherwise
    "TC115": """def backwards(double(N) X) -> (double(N) Y) {
      for i in 0:N { Y(N-1-i) = X(N-1-i) + (i >= 1 ? Y(N-i) : 0) } }""",
    "TC134": """def in_place(int T, double(N) A) -> (X) {
      X(i) = A(i)  for t in 0:T { X(i) = i >= 1 ? X(i-1) + X(i) : X(i) } }""",
}


@pytest.mark.parametrize("code", REFUSED)
def test_forms_that_are_refused(code):
    with pytest.raises(tc.SemanticError, match=code):
        tc.define(REFUSED[code])


def test_a_sum_over_the_rows_that_are_done():
    text = """def lu(double(N,N) A) -> (double(N,N) U) {
      for k in 0:N { S(k,j) +=! p < k ? A(k,p) * U(p,j) : 0  U(k,j) = A(k,j) - S(k,j) } }"""
    a = np.random.default_rng(1).integers(-1, 2, (9, 9)).astype(float)
    want = np.zeros_like(a)
    for k in range(len(a)):
        want[k] = a[k] - a[k, :k] @ want[:k]
    np.testing.assert_array_equal(tc.define(text).lu(a), want)
