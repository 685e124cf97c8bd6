"""Graphs with symbolic sizes: compiled for ranges of them."""

import pytest
import torch
import torch.nn.functional as F

import tensor_comprehensions.torch as tct
from tensor_comprehensions.torch import runner


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


@pytest.fixture
def codes(monkeypatch):
    """The compiles of graphs with symbols, and their sizes."""
    made, compile_text = set(), runner.Compiler._compile

    def noting(self, text, *args, **how):
        result = compile_text(self, text, *args, **how)
        if how.get("dynamic"):
            made.add((text, result.stats["sizes"]))
        return result

    monkeypatch.setattr(runner.Compiler, "_compile", noting)
    return made


class CachedAttention(torch.nn.Module):
    """A block of a decoder: attention of one token over a growing cache, and a perceptron."""

    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(32) for _ in range(2)])
        self.qkv, self.out = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 32))

    def forward(self, x, keys, values):
        q, k, v = (t.view(1, -1, 4, 8).transpose(1, 2) for t in self.qkv(self.norms[0](x)).chunk(3, -1))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        y = F.scaled_dot_product_attention(q, keys, values)
        x = x + self.out(y.transpose(1, 2).reshape(1, -1, 32))
        return x + self.mlp(self.norms[1](x)), keys, values


def perceptron():
    return torch.nn.Sequential(torch.nn.Linear(16, 24), torch.nn.LayerNorm(24), torch.nn.GELU(), torch.nn.Linear(24, 8))


def randn(*shape):
    return torch.randn(shape)


MODULES = {
    "mlp": (perceptron, lambda n: [randn(n, 16)]),
    "softmax": (lambda: torch.nn.Softmax(-1), lambda n: [randn(n, 33)]),
    "layer_norm": (lambda: torch.nn.LayerNorm(33), lambda n: [randn(n, 33)]),
    "attention": (lambda: F.scaled_dot_product_attention, lambda n: [randn(n, 2, 9, 8) for _ in range(3)]),
    "convolution": (lambda: torch.nn.Conv2d(3, 4, 3, padding=1), lambda n: [randn(n, 3, 6, 7)]),
}


@pytest.mark.parametrize("name", MODULES)
def test_few_codes_for_many_batches(codes, name):
    torch.manual_seed(0)
    make, inputs = MODULES[name]
    model = make()
    run = torch.compile(model, backend="tc")
    with torch.no_grad():
        for n in (1, 2, 3, 7, 8, 9, 10, 33, 49, 50):
            x = inputs(n)
            torch.testing.assert_close(run(*x), model(*x), atol=1e-5, rtol=1e-4)
    assert len(codes) == 3 and len(tct.reports()) <= 3
    assert all(not report.left for report in tct.reports())
    assert tct.reports()[-1].sizes == "all like the first"


def test_a_growing_cache(codes):
    torch.manual_seed(0)
    model = CachedAttention()
    run = torch.compile(model, backend="tc")
    keys = values = randn(1, 4, 1, 8)
    with torch.no_grad():
        for _ in range(70):
            x = randn(1, 1, 32)
            got, want = run(x, keys, values), model(x, keys, values)
            torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)
            _, keys, values = want
    assert len(codes) <= 4 and all(not report.left for report in tct.reports())


def test_gradients(codes):
    torch.manual_seed(0)
    model = perceptron().double()
    run = torch.compile(model, backend="tc")
    for n in (2, 3, 8, 20):
        x = torch.randn(n, 16, dtype=torch.float64, requires_grad=True)
        wanted = [x, *model.parameters()]
        ours, theirs = (torch.autograd.grad(f(x).square().sum(), wanted) for f in (run, model))
        torch.testing.assert_close(ours, theirs)
    assert {report.kind for report in tct.reports() if report.sizes} == {"forward", "backward"}
    assert len(codes) == 6


def shifted(x):
    return x[1:] * x[:-1], x.flip(0), x[::2].sum(0) / x.shape[0], torch.arange(x.shape[0]) + x.shape[0]


def test_arithmetic_of_sizes(codes):
    run = torch.compile(shifted, backend="tc", dynamic=True)
    for n in (3, 4, 5, 8, 9, 30):
        x = torch.randint(-5, 6, (n, 4)).float()
        assert all(torch.equal(a, b) for a, b in zip(run(x), shifted(x)))
    assert len(codes) <= 3


def test_products_of_sizes_leave_one_a_number(codes):
    """A product over B*T rows has no affine ranges where both are symbols: one of them, which changes less, has code for each value."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 24), torch.nn.GELU())
    run = torch.compile(model, backend="tc", dynamic=True)
    with torch.no_grad():
        for shape in ((3, 5), (3, 6), (3, 7), (4, 7), (4, 8), (4, 11)):
            x = randn(*shape, 16)
            torch.testing.assert_close(run(x), model(x))
    assert sum(not sizes.startswith("these") for _, sizes in codes) <= 4 and all(r.sizes == "all like the first" for r in tct.reports())


def test_questions_about_sizes_have_codes_for_each_answer():
    def model(x, y):
        return x @ y if x.shape[0] > 6 else x @ y + 1

    run = torch.compile(model, backend="tc", dynamic=True)
    for n in (4, 5, 7, 20, 6):
        x, y = torch.ones(n, 5), torch.ones(5, 3)
        assert torch.equal(run(x, y), model(x, y))


def test_a_number_that_changes_is_no_size():
    run = torch.compile(lambda x, scale: x * scale + x.shape[0], backend="tc", dynamic=True)
    for n, scale in ((3, 0.5), (4, 0.25), (5, 2.0)):
        assert torch.equal(run(torch.ones(n, 2), scale), torch.ones(n, 2) * scale + n)
