"""Defs as operators of torch: torch's own checks of an operator, over the programs of the tests."""

import pytest
import torch

import tensor_comprehensions as tc
from programs import cases, programs
from tensor_comprehensions.operators import operator_of
from test_gradients import PROGRAMS, function_of

LIST = list(programs())


def wants(tensor):
    return isinstance(tensor, torch.Tensor) and tensor.dtype in (torch.float32, torch.float64)


def check(function, arguments):
    arguments = [a if isinstance(a, torch.Tensor) else torch.tensor(a) for a in arguments]
    torch.library.opcheck(operator_of(function), tuple(arguments))


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """What is checked is the operator, not the machine code."""
    monkeypatch.setenv("TC_INTERPRET", "1")
    monkeypatch.delenv("TC_VERIFY", raising=False)


@pytest.mark.parametrize("name", cases(PROGRAMS, 2))
def test_operators_with_gradients(name):
    check(function_of(name), PROGRAMS[name][1]())


@pytest.mark.parametrize("name", ["mm", "softmax", "conv_stride_2"])
def test_gradients_are_operators(name):
    g = tc.grad(function_of(name), save=False)
    arguments = [t.detach() for t in PROGRAMS[name][1]()]
    seeds = function_of(name)(*arguments)
    check(g, [*(t.requires_grad_() for t in arguments), seeds])


@pytest.mark.parametrize("program", cases(LIST, 4), ids=lambda p: p.id)
def test_programs(program):
    function = tc.define(program.text)[program.name]
    arguments = [a.detach().clone().requires_grad_() if wants(a) else a for a in program.inputs]
    try:
        tc.grad(function)
    except tc.SemanticError:
        arguments = program.inputs
    check(function, arguments)
