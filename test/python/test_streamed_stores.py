"""Results that are stored past the caches: those of runs that touch more than the last one holds."""

import re

import pytest
import torch

import tensor_comprehensions as tc

ROWS = """def rows(float(N,C) X, float(C) g) -> (O, s) {
  top(n) max=! X(n,c)
  O(n,c) = (X(n,c) - top(n)) * g(c)
  s(c) +=! X(n,c) * top(n)
}"""


def whole_numbers(*shape):
    """Values whose sums are exact in any order, as other caches mean other tiles."""
    return torch.randint(-8, 8, shape).float()


def compiled(function, *tensors, caches=None, threads=1):
    """For this machine, with other sizes of its second and last cache."""
    target = str(tc.host_target())
    if caches:
        target = re.sub(r"l2=\w+,l3=\w+", caches, target)
    return tc.compile(function, *tensors, target=re.sub(r"cores=\d+", f"cores={threads}", target))


@pytest.mark.parametrize("columns", [256, 1000], ids=["lines", "parts of lines"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_streamed_results_are_those_of_ordinary_stores(columns, threads):
    function = tc.define(ROWS).rows
    tensors = whole_numbers(512, columns), whole_numbers(columns)
    ordinary = compiled(function, *tensors)
    streamed = compiled(function, *tensors, caches="l2=64k,l3=256k", threads=threads)
    assert "movnt" in streamed._assembly() and "movnt" not in ordinary._assembly()
    for shift in (0, 3):
        memory = torch.zeros(512 * columns + shift)
        results = [memory[shift:].view(512, columns), torch.empty(columns)]
        streamed(*tensors, out=results)
        assert all(torch.equal(a, b) for a, b in zip(results, ordinary(*tensors)))


def test_rows_that_often_end_within_a_line_are_stored_there():
    tensors = whole_numbers(512, 250), whole_numbers(250)
    assert "movnt" not in compiled(tc.define(ROWS).rows, *tensors, caches="l2=64k,l3=256k")._assembly()


def test_what_fits_the_last_cache_is_stored_there():
    tensors = whole_numbers(512, 256), whole_numbers(256)
    assert "movnt" not in compiled(tc.define(ROWS).rows, *tensors, caches="l2=64k,l3=2m")._assembly()
