"""Programs of the acceptance list: compiled code beside torch in float64 and beside the interpreter."""

import pytest
import torch

import tensor_comprehensions as tc
from programs import programs

PROGRAMS = list(programs())


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def check(results, expected, what):
    results, expected = as_tuple(results), as_tuple(expected)
    assert len(results) == len(expected)
    for result, reference in zip(results, expected):
        assert tuple(result.shape) == tuple(reference.shape), what
        if result.dtype.is_floating_point:
            torch.testing.assert_close(result.double(), reference.double(), rtol=2e-5, atol=2e-5, equal_nan=True)
        else:
            assert torch.equal(result.long(), reference.long()), what


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.id)
def test_compiled(program, monkeypatch):
    function = tc.define(program.text)[program.name]
    results = function(*program.inputs)
    if program.reference:
        doubles = [x.double() if x.is_floating_point() else x for x in program.inputs]
        check(results, program.reference(*doubles), "against torch")
    monkeypatch.setenv("TC_INTERPRET", "1")
    interpreted = tc.define(program.text)[program.name](*program.inputs)
    check(results, interpreted, "against the interpreter")


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.id in ("15-mm", "33-softmax", "42-conv", "62-lut", "31-columns")],
                         ids=lambda p: p.id)
@pytest.mark.parametrize("target", ["cpu:plain", "cpu:avx2"])
def test_other_targets(program, target):
    function = tc.define(program.text, target=target)[program.name]
    doubles = [x.double() if x.is_floating_point() else x for x in program.inputs]
    check(function(*program.inputs), program.reference(*doubles), target)
