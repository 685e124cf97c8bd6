"""First and second derivatives of the programs of the tests, in float64, beside finite differences along random directions."""

import re

import pytest
import torch

import tensor_comprehensions as tc
from programs import cases, programs

NOT_DIFFERENTIABLE = {}


def widened(program):
    """`program` with float64 in the place of every other float."""
    text = re.sub(r"\b(float|float32|half|float16|bfloat16)\b(?=\s*[(\s])", "double", program.text)
    inputs = tuple(t.double().requires_grad_() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in program.inputs)
    return tc.define(text)[program.name], inputs


def differentiable():
    for program in programs():
        function, inputs = widened(program)
        try:
            tc.grad(function)
        except tc.SemanticError as error:
            NOT_DIFFERENTIABLE[program.id] = str(error)
            continue
        yield program


LIST = list(differentiable())


def test_what_is_not_differentiable():
    assert all(re.search("TC30[136]", error) for error in NOT_DIFFERENTIABLE.values()), NOT_DIFFERENTIABLE
    assert len(LIST) >= 60


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """The texts of gradients are checked here; their machine code is, where programs are."""
    monkeypatch.setenv("TC_INTERPRET", "1")
    monkeypatch.delenv("TC_VERIFY", raising=False)


@pytest.mark.parametrize("program", cases(LIST, 3), ids=lambda p: p.id)
def test_derivatives(program):
    function, inputs = widened(program)
    call = lambda *tensors: function(*tensors)
    assert torch.autograd.gradcheck(call, inputs, fast_mode=True, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(call, inputs, fast_mode=True)


def test_products_with_zeros():
    """Rows of five factors, none to four of which are 0."""
    product = tc.define("def product(double(N,M) A) -> (O) { O(i) *=! A(i,j) }").product
    factors = torch.rand(5, 5, dtype=torch.double) + 0.5
    for row in range(5):
        factors[row, torch.randperm(5)[:row]] = 0
    factors.requires_grad_()
    call = lambda tensor: product(tensor)
    assert torch.autograd.gradcheck(call, factors, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, factors)
    with pytest.raises(tc.SemanticError, match="third derivative of a product"):
        tc.grad(tc.grad(tc.grad(product), wrt=["A"]), wrt=["A"])
