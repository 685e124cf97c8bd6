"""Recurrent layers, and defs as operators of models: loops along time in compiled parts, nothing left to torch."""

import pytest
import torch

import tensor_comprehensions as tc
import tensor_comprehensions.torch as tct


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


def compiled(model):
    return torch.compile(model, backend="tc", fullgraph=True, dynamic=False)


def check_nothing_is_left():
    assert tct.reports()
    for report in tct.reports():
        assert [(target, why) for _, target, why in report.left if "view" not in why] == [], report
        assert report.share == 1 and not report.reproducers


def flat(results):
    return [t for r in (results if isinstance(results, tuple) else (results,)) for t in (flat(r) if isinstance(r, tuple) else [r])]


def agree(ours, theirs, steps, terms, dtype=torch.float64):
    """Each step adds the rounding errors of its sums and functions, and gates whose derivatives are at most 1 pass them on."""
    bound = 8 * steps * (terms + 8) * torch.finfo(dtype).eps
    for mine, right in zip(ours, theirs, strict=True):
        assert mine.shape == right.shape and mine.dtype == right.dtype
        assert (mine - right).abs().max() <= bound * max(1, right.abs().max()), (mine - right).abs().max()


SIZES = [(1, 1, 1, 1), (1, 3, 2, 5), (6, 1, 4, 3), (5, 3, 7, 9)]
LAYERS = [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN]


def make(kind, inputs, width, **how):
    torch.manual_seed(0)
    return kind(inputs, width, **how).double()


def first_states(layer, batch, width):
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    states = tuple(torch.randn(count, batch, width, dtype=torch.float64) for _ in range(2))
    return states if isinstance(layer, torch.nn.LSTM) else states[0]


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("steps, batch, inputs, width", SIZES)
def test_a_layer_with_and_without_first_states(kind, steps, batch, inputs, width):
    layer, x = make(kind, inputs, width), torch.randn(steps, batch, inputs, dtype=torch.float64)
    states = first_states(layer, batch, width)
    fast = compiled(layer)
    with torch.no_grad():
        agree(flat(fast(x, states)), flat(layer(x, states)), steps, inputs + width)
        if steps == 6:
            agree(flat(fast(x)), flat(layer(x)), steps, inputs + width)
    check_nothing_is_left()


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("layers, bidirectional, batch_first, bias", [(2, False, True, True), (1, True, False, False), (3, True, True, True), (2, False, False, False)])
def test_layers_and_directions(kind, layers, bidirectional, batch_first, bias):
    layer = make(kind, 4, 3, num_layers=layers, bidirectional=bidirectional, batch_first=batch_first, bias=bias)
    x = torch.randn(5, 2, 4, dtype=torch.float64)
    states = first_states(layer, 5 if batch_first else 2, 3)
    with torch.no_grad():
        agree(flat(compiled(layer)(x, states)), flat(layer(x, states)), layers * 5, 12)
    check_nothing_is_left()


def slopes(shape):
    return (torch.arange(shape.numel()).reshape(shape) % 5 - 1).double()


def gradients(run, layer, x, states, which):
    """Of a sum of the results `which` with factors that are whole numbers."""
    given = [t.clone().requires_grad_() for t in (x, *flat(states))]
    results = flat(run(given[0], tuple(given[1:]) if len(given) > 2 else given[1]))
    total = sum((r * slopes(r.shape).to(r)).sum() for r in (results[k] for k in which if k < len(results)))
    return torch.autograd.grad(total, [*given, *layer.parameters()])


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("steps, batch, inputs, width", SIZES)
def test_gradients_of_a_layer(kind, steps, batch, inputs, width):
    layer, x = make(kind, inputs, width), torch.randn(steps, batch, inputs, dtype=torch.float64)
    states = first_states(layer, batch, width)
    for which in ((0,), (0, 1, 2), (1, 2)) if steps == 6 else ((0, 1, 2),):
        torch._dynamo.reset()
        ours, theirs = (gradients(run, layer, x, states, which) for run in (compiled(layer), layer))
        agree(ours, theirs, steps * steps * batch, inputs + width)
    check_nothing_is_left()


@pytest.mark.parametrize("kind", LAYERS)
def test_gradients_of_layers_and_directions(kind):
    layer = make(kind, 4, 3, num_layers=2, bidirectional=True, batch_first=True)
    x, states = torch.randn(2, 5, 4, dtype=torch.float64), first_states(layer, 2, 3)
    agree(*(gradients(run, layer, x, states, (0, 1, 2)) for run in (compiled(layer), layer)), 200, 12)
    check_nothing_is_left()


def test_whole_numbers_through_a_layer_of_relus_are_exact():
    layer = torch.nn.RNN(3, 4, nonlinearity="relu")
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randint(-1, 2, parameter.shape))
    x = torch.randint(-2, 3, (6, 2, 3)).float()
    ours, theirs = (gradients(run, layer, x, torch.ones(1, 2, 4), (0, 1)) for run in (compiled(layer), layer))
    assert all(torch.equal(mine, right) for mine, right in zip(ours, theirs))
    assert torch.equal(compiled(layer)(x)[0], layer(x)[0])


def test_the_code_of_a_sequence_does_not_grow_with_its_length():
    for steps in (4, 40):
        torch._dynamo.reset()
        tct.reset()
        with torch.no_grad():
            compiled(torch.nn.GRU(3, 4))(torch.randn(steps, 2, 3))
        (report,) = tct.reports()
        assert len(report.taken) < 30 and any("for t in 0:T" in part.text for part in report.parts)


def test_dropout_between_layers_draws_torchs_numbers():
    layer = make(torch.nn.LSTM, 3, 4, num_layers=2, dropout=0.5)
    x = torch.randn(5, 2, 3, dtype=torch.float64)
    torch.manual_seed(1)
    ours = compiled(layer)(x)[0]
    torch.manual_seed(1)
    agree([ours], [layer(x)[0]], 10, 12)


def test_what_no_def_takes_stays_as_it_was():
    x = torch.randn(4, 2, 3)
    projected = torch.nn.LSTM(3, 5, proj_size=2)
    with torch.no_grad():
        assert torch.allclose(compiled(projected)(x)[0], projected(x)[0], atol=1e-6)
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, [4, 2])
        layer = torch.nn.GRU(3, 5)
        fast = torch.compile(layer, backend="tc")
        assert torch.allclose(fast(packed)[0].data, layer(packed)[0].data, atol=1e-6)


def test_halves():
    layer = torch.nn.LSTM(8, 16)
    x = torch.randn(6, 2, 8)
    with torch.no_grad():
        right = layer(x)[0]
        half = layer.bfloat16()
        ours = compiled(half)(x.bfloat16())[0]
    assert ours.dtype == torch.bfloat16 and (ours - right).abs().max() < 0.05


SCAN = """
def scan(R(B,T,D,S) A, R(B,T,D,S) X, R(B,T,S) C) -> (Y, H) {
  for t in 0:T {
    H(b,t,d,s) = X(b,t,d,s) + (t >= 1 ? A(b,t,d,s) * H(b,t-1,d,s) : 0)
    Y(b,t,d) +=! C(b,t,s) * H(b,t,d,s)
  }
}
def twice(R(N) X) -> (Y) { Y(i) = 2 * X(i) }
def both(R(N) X) -> (Y, Z) { Y = twice(X)  Z = twice(Y) }
"""


def test_a_def_in_a_model_is_part_of_the_models_text():
    T = tc.define(SCAN)

    def model(x, a, c):
        y, _ = T.scan(torch.sigmoid(a).unsqueeze(2) * torch.ones(1, 1, 3, 1, dtype=a.dtype), x, c.transpose(1, 2))
        return torch.relu(y).sum(1)

    torch.manual_seed(0)
    x, a, c = (torch.randn(s, dtype=torch.float64) for s in ((2, 5, 3, 4), (2, 5, 4), (2, 4, 5)))

    def reference(x, a, c):
        h, ys = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            h = x[:, t] + torch.sigmoid(a[:, t]).unsqueeze(1) * h
            ys.append((c[:, :, t].unsqueeze(1) * h).sum(-1))
        return torch.relu(torch.stack(ys, 1)).sum(1)

    given = [t.clone().requires_grad_() for t in (x, a, c)]
    for run in (compiled(model), reference):
        result = run(*given)
        agree([result, *torch.autograd.grad(result.sin().sum(), given)], [reference(x, a, c), *torch.autograd.grad(reference(*given).sin().sum(), given)], 20, 5)
    check_nothing_is_left()
    assert any("for t in" in part.text for part in tct.reports()[0].parts)


def test_a_def_with_calls_in_a_model():
    T = tc.define(SCAN)
    x = torch.arange(6.0)
    made = compiled(lambda x: torch.add(*T.both(x + 1)))(x)
    assert torch.equal(made, 6 * (x + 1))
    check_nothing_is_left()
    (name,) = (name for name, target in tct.reports()[0].taken if target.startswith("tc."))
    assert tct.reports()[0].work[name].flops == 12


@pytest.mark.parametrize("view", [lambda x: x.t(), lambda x: x[:, 1:], lambda x: x.reshape(6, 2), lambda x: x[:1].expand(4, 3), lambda x: x.flip(0), lambda x: x[1:3]])
def test_views_as_arguments_of_defs(view):
    T = tc.define("def square(R(M,N) X) -> (Y) { Y(i,j) = X(i,j) * X(i,j) }")
    x = torch.arange(12.0).reshape(4, 3)
    assert torch.equal(compiled(lambda x: T.square(view(x)) + 1)(x), view(x) ** 2 + 1)
    check_nothing_is_left()
