"""Nodes of a graph are lowered once, and parts around what torch runs are right."""

import collections

import pytest
import torch

import tensor_comprehensions.torch as tct
from tensor_comprehensions.torch import lowered


@pytest.fixture
def times(monkeypatch):
    """How often each node was lowered."""
    found, lower = collections.Counter(), lowered.lower_node

    def counting(b, node, lookup):
        found[node.name] += 1
        return lower(b, node, lookup)

    monkeypatch.setattr(lowered, "lower_node", counting)
    torch._dynamo.reset()
    tct.reset()
    return found


def run(function, *inputs):
    """The result of `function` compiled, which must be torch's, and the report."""
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(function, backend="tc")(*inputs), function(*inputs))
    return tct.reports()[-1]


X = torch.arange(24.0).reshape(4, 6) % 7 - 3


def test_nodes_of_a_graph_are_lowered_once(times):
    report = run(lambda x: torch.softmax(x.t() @ x, 1).split(2, 1)[1].cumsum(0) * 2, X)
    assert not report.left and len(times) >= 4 and set(times.values()) == {1}


def test_what_torch_gives_is_an_input_of_nodes_that_are_lowered_once(times):
    def model(x):
        values, places = torch.sort(x * 2 + 1)
        return values.exp() / 3 + places

    report = run(model, X)
    assert [target for _, target, _ in report.left] == ["aten.sort.default"] and len(report.parts) >= 4
    assert times and set(times.values()) == {1}


@pytest.mark.parametrize("passed", [
    lambda h: h, lambda h: h.t().flip(0).t(), lambda h: h.expand(2, 4, 6)[1], lambda h: torch.full_like(h, 3.0), lambda h: h.view(6, 4).reshape(4, 6),
])  # fmt: skip
def test_what_a_part_gives_another_is_a_tensor(times, passed):
    """A value that goes around a node which torch runs is a tensor of its own in the part behind it, whatever it is in the part before."""

    def model(x):
        h = torch.relu(x * 2 + 1)
        shown = passed(h)
        return torch.sort(h * 3).values.exp() * shown + shown.sum(1, keepdim=True)

    report = run(model, X)
    assert [target for _, target, _ in report.left] == ["aten.sort.default"]


def test_strided_views_of_inputs_and_of_what_torch_gives(times):
    """Memory around a tensor that torch made is not the part's to read."""

    def model(x):
        s = torch.sort(x).values
        return torch.as_strided(s, (3, 3), (6, 1)) + 1

    run(model, X)
    run(lambda x: torch.as_strided(x * 2 + 1, (3, 3), (6, 1)) + 1, X)
