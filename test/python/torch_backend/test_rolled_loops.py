"""Loops of Python that Dynamo writes out: equal steps become one def with a loop, in inference and training, whatever they compute."""

import pytest
import torch

import tensor_comprehensions.torch as tct


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


def scan(x, a, state):
    """A recurrence of whole numbers, whose results and last state are read."""
    results = []
    for t in range(x.shape[0]):
        state = a * state + x[t]
        results.append(state.sum(-1))
    return torch.stack(results, -1), state


def backward_in_time(x, a, state):
    results = []
    for t in reversed(range(x.shape[0])):
        state = torch.relu(a * state - x[t]) + 1
        results.append(state * x[t, :, 1:2])
    return torch.stack(results), state


def two_states(x, a, state):
    """Each state reads the other one of the step before."""
    other, results = state * 2, []
    for piece in x.unbind(0):
        state, other = other + piece, state - a * piece
        results.append(state)
    return torch.stack(results, 1), other


def of_the_second_dimension(x, a, state):
    x, results = x.transpose(0, 1), []
    for t in range(x.shape[1]):
        state = state + x[:, t : t + 1, :].squeeze(1) * a
        results.append(state.reshape(-1, 1) * 2)
    return torch.stack(results)


def through_a_product(x, a, state):
    results = []
    for t in range(x.shape[0]):
        state = (state @ a.outer(a)).clamp(-3, 3) + x[t]
        results.append(state)
    return torch.stack(results), results[4]


def first_steps_alone(x, a, state):
    """A sum over some steps, and a step that is left at the end."""
    for t in range(x.shape[0] - 1):
        state = state * a + x[t]
    return state * x[-1] + state.mean() * 4


LOOPS = [scan, backward_in_time, two_states, of_the_second_dimension, through_a_product, first_steps_alone]


def tensors(steps=11):
    torch.manual_seed(steps)
    whole = lambda *shape: torch.randint(-2, 3, shape).float()
    return whole(steps, 3, 4), torch.randint(-1, 2, (4,)).float(), whole(3, 4)


def all_of(results):
    return list(results) if isinstance(results, tuple) else [results]


def rolled():
    texts = {part.text for report in tct.reports() for part in report.parts if "for " in part.text}
    for report in tct.reports():
        assert not [why for _, _, why in report.left if "view" not in why] and not report.reproducers, report
    return texts


@pytest.mark.parametrize("loop", LOOPS)
def test_whole_numbers_are_exact(loop):
    given = tensors()
    for ours, theirs in zip(all_of(torch.compile(loop, backend="tc", dynamic=False)(*given)), all_of(loop(*given)), strict=True):
        assert ours.shape == theirs.shape and torch.equal(ours, theirs)
    (text,) = rolled()
    assert f"in 0:{10 if loop is first_steps_alone else 11} {{" in text
    assert len(tct.reports()[0].taken) < 40


@pytest.mark.parametrize("loop", LOOPS)
def test_gradients(loop):
    def gradients(run):
        given = [t.clone().requires_grad_() for t in tensors()]
        return torch.autograd.grad(sum((r * (torch.arange(r.numel()).reshape(r.shape) % 3 - 1)).sum() for r in all_of(run(*given))), given)

    for ours, theirs in zip(gradients(torch.compile(loop, backend="tc", dynamic=False)), gradients(loop), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    assert len(rolled()) == (0 if loop is through_a_product else 2)  # of clamp torch has another gradient where extremes are equal


def test_cells_of_torch():
    cell, given = torch.nn.LSTMCell(4, 5).double(), torch.randn(9, 3, 4, dtype=torch.float64)

    def run(x):
        states, results = (torch.zeros(3, 5, dtype=x.dtype), torch.ones(3, 5, dtype=x.dtype)), []
        for t in range(x.shape[0]):
            states = cell(x[t], states)
            results.append(states[0])
        return torch.stack(results), states[1]

    def gradients(f):
        x = given.clone().requires_grad_()
        results = f(x)
        return [*results, *torch.autograd.grad(results[0].sum() + results[1].square().sum(), [x, *cell.parameters()])]

    for ours, theirs in zip(gradients(torch.compile(run, backend="tc", dynamic=False)), gradients(run), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    assert len(rolled()) == 2


def too_few(x, a, state):
    return scan(x[:7], a, state)


def with_numbers_that_differ(x, a, state):
    for t in range(x.shape[0]):
        state = state * a + x[t] * t
    return state


def in_place(x, a, state):
    state = state.clone()
    for t in range(x.shape[0]):
        state.mul_(a).add_(x[t])
    return state


def at_unequal_distances(x, a, state):
    for t in (0, 1, 3, 4, 2, 5, 6, 8, 7, 9, 10):
        state = state * a + x[t]
    return state


def without_a_state(x, a, state):
    return torch.stack([x[t] * a + state for t in range(x.shape[0])])


def without_a_sequence(x, a, state):
    for _ in range(x.shape[0]):
        state = torch.relu(state * a + x[0])
    return state


@pytest.mark.parametrize("loop", [too_few, with_numbers_that_differ, in_place, at_unequal_distances, without_a_state, without_a_sequence])
def test_other_steps_stay_as_they_were(loop):
    given = tensors()
    for ours, theirs in zip(all_of(torch.compile(loop, backend="tc", dynamic=False)(*given)), all_of(loop(*given)), strict=True):
        assert torch.equal(ours, theirs)
    assert not rolled()


def test_steps_with_an_operator_without_a_text_run_in_torch():
    def loop(x, a, state):
        for t in range(x.shape[0]):
            state = torch.sort(state * a + x[t]).values
        return state

    given = tensors()
    assert torch.equal(torch.compile(loop, backend="tc", dynamic=False)(*given), loop(*given))
    assert len(tct.reports()[0].left) >= 11
