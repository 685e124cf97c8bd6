"""Whole models through the backend, against float64 torch."""

import copy

from suite import networks
import pytest
import torch

import tensor_comprehensions.torch as tct

EPSILON = torch.finfo(torch.float32).eps


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


def outputs_of(model, inputs):
    """Results, and gradients of the parameters of a weighted sum of them."""
    for p in model.parameters():
        p.grad = None
    result = model(*inputs)
    weights = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).reshape(result.shape).to(result.dtype)
    (result * weights).sum().backward()
    return [result.detach()] + [p.grad for p in model.parameters()]


def doubled(inputs):
    return [x.double() if x.is_floating_point() else x for x in inputs]


def assert_close(ours, eager, exact, names):
    """Ours is as near to float64 as eager float32 is, up to a factor and some roundings of the largest magnitude.

    Both are sums of the same terms in other orders, so their errors are of one size; a tensor of zeros is off by its own
    magnitude. A gradient that is 0 by cancellation (of a bias before a batch norm) has roundings of the terms that cancel, which
    are of the other gradients' magnitude.
    """
    largest = max(x.abs().max().item() for x in exact)
    for a, e, x, name in zip(ours, eager, exact, names):
        size = x.abs().max().item()
        cancels = size <= 1e-6 * largest
        error, theirs = ((t.double() - x).abs().max().item() for t in (a, e))
        limit = 8 * theirs + 256 * EPSILON * (largest if cancels else size)
        assert error <= limit, f"{name}: off by {error}, torch by {theirs}, magnitude {size}"
        assert cancels or size > limit, f"{name}: the tolerance lets zeros pass"


def seeded(name):
    torch.manual_seed(1)
    return networks.small(name)


@pytest.mark.parametrize("name", networks.small(None))
def test_inference(name):
    model, inputs = seeded(name)
    model.eval()
    with torch.no_grad():
        ours = torch.compile(model, backend="tc", fullgraph=True)(*inputs)
        eager, exact = model(*inputs), copy.deepcopy(model).double()(*doubled(inputs))
    assert_close([ours], [eager], [exact], ["output"])
    assert ours.stride() == eager.stride()
    (report,) = tct.reports()
    assert report.share >= 0.95 and not report.reproducers, str(report)


TRAINED = [
    n for n in networks.small(None) if n not in ("resnet_bottleneck", "vit", "mixer", "conv3d", "dcgan", "encoder")
]
LONG = ("efficientnet", "lstm_cells", "mobilenet_v2", "unet")
"""Of these, networks whose operators others or random models have, too."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in TRAINED])
def test_training(name):
    model, inputs = seeded(name)
    start = copy.deepcopy(model)
    ours = outputs_of(torch.compile(model, backend="tc"), inputs)
    eager_model, exact_model = copy.deepcopy(start), copy.deepcopy(start).double()
    eager, exact = outputs_of(eager_model, inputs), outputs_of(exact_model, doubled(inputs))
    assert_close(ours, eager, exact, ["output", *(n for n, _ in model.named_parameters())])
    for (name_, a), e in zip(model.named_buffers(), eager_model.buffers()):
        assert torch.allclose(a.double(), e.double(), rtol=1e-4, atol=1e-5), name_
    assert {r.kind for r in tct.reports()} == {"forward", "backward"}
    assert not any(r.reproducers for r in tct.reports())
