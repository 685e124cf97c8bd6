"""Defs under torch's tracers, transforms and modes: what they see is what an operator of torch would be."""

import pathlib
import re

import pytest
import torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

import tensor_comprehensions as tc
from tensor_comprehensions.operators import operator_of
from test_gradients import ATTENTION, BAG, LAYER_NORM, MLP, MM, SOFTMAX, index, made

ACCUMULATES = "def acc(double(M,K) A, double(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }"
HALVES = "def halves(double(N) X) -> (O) { O(i) = X(2*i) where i in 0:N/2 }"

T = tc.define(MM + SOFTMAX + LAYER_NORM + ACCUMULATES + HALVES + BAG + MLP + ATTENTION)


def reference(name, *tensors):
    return {
        "mm": lambda a, b: a @ b,
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, g, b: torch.nn.functional.layer_norm(x, x.shape[-1:], g, b),
    }[name](*tensors)


ARGUMENTS = {
    "mm": lambda: (made(3, 4), made(4, 2)),
    "softmax": lambda: (made(3, 5),),
    "layer_norm": lambda: (made(3, 6), made(6), made(6)),
}
each = pytest.mark.parametrize("name", ARGUMENTS)


def detached(tensors):
    return tuple(t.detach() for t in tensors)


@each
def test_compiles_without_a_graph_break(name):
    f, arguments = T[name], ARGUMENTS[name]()

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(*tensors):
        return (f(*tensors) * 2).sum()

    loss = step(*arguments)
    want = (reference(name, *arguments) * 2).sum()
    torch.testing.assert_close(loss, want)
    got = torch.autograd.grad(loss, arguments)
    torch.testing.assert_close(got, torch.autograd.grad(want, arguments))


def test_compiles_for_sizes_that_change():
    @torch.compile(fullgraph=True, backend="aot_eager", dynamic=True)
    def step(x):
        return T.halves(x) + 1

    for n in (8, 11, 14):
        x = torch.arange(n, dtype=torch.float64)
        torch.testing.assert_close(step(x), x[: n // 2 * 2 : 2] + 1)


def test_compiles_names_numbers_and_out():
    scale = tc.define("def scale(double(N) X, double s) -> (O) { O(i) = X(i) * s }").scale

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(x, out, c):
        scale(s=3.0, X=x, out=out)
        T.acc(x[None, :], x[:, None], out=c)
        return out * 2

    x, out, c = torch.arange(4.0, dtype=torch.float64), torch.zeros(4, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    torch.testing.assert_close(step(x, out, c), x * 6)
    torch.testing.assert_close(out, x * 3)
    assert c.item() == 1 + (x @ x).item()


@each
def test_exports(name):
    class Model(torch.nn.Module):
        def forward(self, *tensors):
            return T[name](*tensors)

    arguments = detached(ARGUMENTS[name]())
    program = torch.export.export(Model(), arguments)
    assert f"tc.{name}_" in str(program.graph)
    torch.testing.assert_close(program.module()(*arguments), reference(name, *arguments))


@each
def test_tracers_record_the_call(name):
    arguments = detached(ARGUMENTS[name]())
    others = tuple(torch.randn_like(t) for t in arguments)
    for traced in (
        torch.jit.trace(lambda *tensors: T[name](*tensors), arguments),
        make_fx(lambda *tensors: T[name](*tensors))(*arguments),
        make_fx(lambda *tensors: T[name](*tensors), tracing_mode="fake")(*arguments),
    ):
        torch.testing.assert_close(traced(*others), reference(name, *others))


@each
def test_transforms_of_functions(name):
    f, arguments = T[name], detached(ARGUMENTS[name]())
    places = tuple(range(len(arguments)))
    ours, theirs = lambda *t: f(*t), lambda *t: reference(name, *t)
    tangents = tuple(torch.randn_like(t) for t in arguments)
    seed = torch.randn_like(theirs(*arguments))
    for transform in (
        lambda call: torch.func.grad(lambda *t: call(*t).square().sum(), places)(*arguments),
        lambda call: torch.func.vjp(call, *arguments)[1](seed),
        lambda call: torch.func.jvp(call, arguments, tangents),
        lambda call: torch.func.jacrev(call)(*arguments),
        lambda call: torch.func.jacfwd(call)(*arguments),
        lambda call: torch.func.hessian(lambda t: call(t, *arguments[1:]).square().sum())(arguments[0]),
    ):
        torch.testing.assert_close(transform(ours), transform(theirs))


@each
@pytest.mark.parametrize("places", [(0, None, None), (1, 0, None), (None, -1, 0), (0, 0, 0)])
def test_vmap(name, places):
    arguments = detached(ARGUMENTS[name]())
    places = places[: len(arguments)]
    if all(place is None for place in places):
        return
    batched = tuple(
        t if p is None else torch.stack([t, t * 2, t - 1], p) for t, p in zip(arguments, places)
    )
    ours = torch.func.vmap(lambda *t: T[name](*t), places)(*batched)
    theirs = torch.func.vmap(lambda *t: reference(name, *t), places)(*batched)
    torch.testing.assert_close(ours, theirs)
    per_sample = lambda call: torch.func.vmap(torch.func.grad(lambda *t: call(*t).square().sum()), places)(*batched)
    torch.testing.assert_close(per_sample(lambda *t: T[name](*t)), per_sample(lambda *t: reference(name, *t)))


def test_vmap_of_what_accumulates():
    a, b, c = torch.randn(5, 3, 4).double(), torch.randn(4, 2).double(), torch.randn(5, 3, 2).double()
    operator = operator_of(T.acc)
    torch.testing.assert_close(torch.func.vmap(operator, (0, None, 0))(a, b, c), c + a @ b)


@each
def test_forward_mode(name):
    arguments = detached(ARGUMENTS[name]())
    tangents = tuple(torch.randn_like(t) for t in arguments)
    results = []
    for call in (lambda *t: T[name](*t), lambda *t: reference(name, *t)):
        with forward_ad.dual_level():
            duals = tuple(map(forward_ad.make_dual, arguments, tangents))
            results.append(tuple(forward_ad.unpack_dual(call(*duals))))
            results.append(tuple(forward_ad.unpack_dual(call(duals[0], *arguments[1:]))))
    torch.testing.assert_close(results[:2], results[2:])


@each
def test_a_tangent_is_a_def(name):
    arguments = detached(ARGUMENTS[name]())
    tangents = tuple(torch.randn_like(t) for t in arguments)
    product = tc.jvp(T[name])
    want = torch.func.jvp(lambda *t: reference(name, *t), arguments, tangents)[1]
    torch.testing.assert_close(product(*arguments, *tangents), want)
    torch.testing.assert_close(tc.define(str(product))[product.name](*arguments, *tangents), want)
    assert product.tangents == tuple(f"t_{name}" for name in product.wrt)


def test_a_batch_is_a_def():
    f = tc.vmap(T.mm, (0, None))
    assert str(f) == (
        "def mm_vmap(float64(V, M, K) A, float64(K, N) B) -> (C) {\n  C(v, m, n) +=! A(v, m, k) * B(k, n)\n}\n"
    )
    assert f.batched == ("C",)
    a, b = torch.randn(5, 3, 4).double(), torch.randn(4, 2).double()
    torch.testing.assert_close(f(a, b), a @ b)
    last = tc.vmap(T.mm, (2, None), out_dims=-1)
    torch.testing.assert_close(last(a.permute(1, 2, 0), b), (a @ b).permute(1, 2, 0))
    with pytest.raises(tc.ArgumentError, match="2 parameters, in_dims has 1"):
        tc.vmap(T.mm, (0,))
    with pytest.raises(tc.ArgumentError, match="no parameter of 'mm' has a batch"):
        tc.vmap(T.mm, (None, None))
    with pytest.raises(tc.ArgumentError, match="cannot be dimension 3 of 'A'"):
        tc.vmap(T.mm, (3, None))
    with pytest.raises(tc.ArgumentError, match="accumulates"):
        tc.vmap(T.acc)


def test_functional_call_and_checkpoint():
    layer = tc_module()
    x = torch.randn(4, 3)
    other = {"W": torch.randn(2, 3), "b": torch.randn(2)}
    got = torch.func.functional_call(layer, other, (x,))
    torch.testing.assert_close(got, torch.nn.functional.linear(x, other["W"], other["b"]))
    per_sample = torch.func.vmap(
        torch.func.grad(lambda p, x: torch.func.functional_call(layer, p, (x[None],)).square().sum()), (None, 0)
    )(other, x)
    assert per_sample["W"].shape == (4, 2, 3)
    x.requires_grad_()
    for reentrant in (False, True):
        checkpoint(layer, x, use_reentrant=reentrant).square().sum().backward()
        got, x.grad = x.grad, None
        layer(x).square().sum().backward()
        torch.testing.assert_close(got, x.grad)
        x.grad = None


LINEAR = """
# A product and a bias.
# With the weight transposed.
def linear(float(B,I) X, float(O,I) W, float(O) b) -> (Y) {
  Y(n,o) +=! X(n,i) * W(o,i)
  Y(n,o) = Y(n,o) + b(o)
}"""


def tc_module():
    return tc.torch.Module(tc.define(LINEAR).linear, ["W", "b"], sizes={"I": 3, "O": 2})


def test_meta_and_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    out = T.mm(torch.empty(3, 4, dtype=torch.float64, device="meta"), torch.empty(4, 2, dtype=torch.float64, device="meta"))
    assert out.device.type == "meta" and out.shape == (3, 2) and out.dtype == torch.float64
    with FakeTensorMode() as mode:
        fake = T.halves(mode.from_tensor(torch.empty(7, dtype=torch.float64)))
        assert fake.shape == (3,)
        assert type(T.mm(torch.ones(3, 4, dtype=torch.float64), torch.ones(4, 2, dtype=torch.float64))) is type(fake)
    with pytest.raises(tc.ArgumentError, match="K"):
        T.mm(torch.empty(3, 4, dtype=torch.float64, device="meta"), torch.empty(5, 2, dtype=torch.float64, device="meta"))


def test_the_profiler_names_defs():
    a, b = ARGUMENTS["mm"]()
    with torch.profiler.profile() as profile:
        T.mm(a, b).sum().backward()
    names = {event.key for event in profile.key_averages()}
    assert any(name.startswith("tc::mm_") and "grad" not in name for name in names)
    assert any(name.startswith("tc::mm_") and "__grad_" in name for name in names)


def test_nodes_bear_names():
    assert type(T.softmax(made(2, 3)).grad_fn).__name__ == "softmaxBackward"


def test_executables_refuse_what_they_would_lose():
    a, b = detached(ARGUMENTS["mm"]())
    executable = tc.compile(T.mm, a, b)
    for record in (
        lambda: torch.jit.trace(lambda a, b: executable(a, b), (a, b)),
        lambda: make_fx(lambda a, b: executable(a, b))(a, b),
        lambda: torch.func.jvp(lambda a: executable(a, b), (a,), (a,)),
    ):
        with pytest.raises(tc.ArgumentError, match="an executable of 'mm' records nothing.*: call the def"):
            record()
    with forward_ad.dual_level():
        with pytest.raises(tc.ArgumentError, match="tangents"):
            executable(forward_ad.make_dual(a, a), b)
        torch.testing.assert_close(executable(a, b), a @ b)


def test_only_some_returns_have_gradients():
    arguments = ARGUMENTS_MLP()
    first, _ = T.mlp(*arguments)
    got = torch.autograd.grad(first.sum(), arguments[:3])
    x, w, b = arguments[:3]
    torch.testing.assert_close(got, torch.autograd.grad(torch.relu(x @ w.T + b).sum(), (x, w, b)))
    records = T.mlp._records
    assert sorted(given for _, given in records) == [(True, False), (True, True)]


def ARGUMENTS_MLP():
    return made(3, 4), made(5, 4), made(5), made(2, 5), made(2)


def test_out_in_transforms():
    x, out = torch.randn(3, 4, 5).double(), torch.empty(3, 4, 5).double()
    assert torch.func.vmap(lambda x, out: T.softmax(x, out=out).sum(), (0, 0))(x, out).shape == (3,)
    torch.testing.assert_close(out, x.softmax(-1))


def test_named_operators():
    operator = tc.torch_op("tc_test::product", T.mm)
    assert operator is torch.ops.tc_test.product.default
    a, b = ARGUMENTS["mm"]()
    torch.testing.assert_close(torch.autograd.grad(operator(a, b).sum(), a), torch.autograd.grad((a @ b).sum(), a))
    with pytest.raises(tc.ArgumentError, match="has an operator"):
        tc.torch_op("tc_test::product", T.mm)
    with pytest.raises(tc.ArgumentError, match="namespace::operator"):
        tc.torch_op("product", T.mm)


PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "pytorch.md").read_text(encoding="utf-8")


def test_the_page_shows_a_batch_and_a_tangent():
    mm = tc.define(MM.replace("double", "float")).mm
    assert re.findall(r"```\n(def .*?)```", PAGE, re.S) == [str(tc.vmap(mm, (0, None))), str(tc.jvp(mm))]
