"""Generic defs: one text for many element types and ranks."""

import array
import pickle

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tensor_comprehensions as tc
import tensor_comprehensions.torch as tct

T = tc.define("""
def rmsnorm(T(...,C) X, T(C) g) -> (Y) {
  s(...) +=! X(...,c) * X(...,c)
  Y(...,c) = X(...,c) * g(c) * rsqrt(s(...) / C + 0.00001)
}
def layer_norm(T(...,C) X, T(C) g, T(C) b) -> (Y) {
  m(...) +=! X(...,c) / C
  v(...) +=! (X(...,c) - m(...)) * (X(...,c) - m(...)) / C
  Y(...,c) = (X(...,c) - m(...)) * rsqrt(v(...) + 0.00001) * g(c) + b(c)
}
def softmax(T(...,C) X) -> (Y) {
  m(...) max=! X(...,c)
  s(...) +=! exp(X(...,c) - m(...))
  Y(...,c) = exp(X(...,c) - m(...)) / s(...)
}
def linear(T(...,I) X, T(O,I) W, T(O) b) -> (Y) {
  Y(...,o) +=! X(...,i) * W(o,i)
  Y(...,o) = Y(...,o) + b(o)
}
def activation(T(...) X) -> (Y) { Y(...) = gelu(X(...)) }
def swiglu(T(...,C) X, T(...,C) Z) -> (Y) { Y(...,c) = silu(X(...,c)) * Z(...,c) }
def axpy(T a, T(...) X, T(...) Y) -> (Z) { Z(...) = a * X(...) + Y(...) }
def mean(T(...,C) X) -> (Y) { Y(...) +=! X(...,c) / C }
def outer(T(...,M) X, T(...,N) Y) -> (Z) { Z(...,m,n) = X(...,m) * Y(...,n) }
def batched(T(...,M,K) A, T(...,K,N) B) -> (C) { C(...,m,n) +=! A(...,m,k) * B(...,k,n) }
def flip(T(...,N) X) -> (Y) { Y(...,i) = X(...,N - 1 - i) where i in 0:N }
def mse(T(...) X, T(...) Y) -> (L) { L +=! (X(...) - Y(...)) * (X(...) - Y(...)) }
""")

# The shapes of the arguments behind the leading dimensions; `None`: none of these, ... (): a scalar.
CASES = {
    "rmsnorm": ([(True, 7), (False, 7)], lambda x, g: x * g * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)),
    "layer_norm": ([(True, 7), (False, 7), (False, 7)], lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b, 1e-5)),
    "softmax": ([(True, 7)], lambda x: x.softmax(-1)),
    "linear": ([(True, 5), (False, 4, 5), (False, 4)], F.linear),
    "activation": ([(True, 3)], F.gelu),
    "swiglu": ([(True, 6), (True, 6)], lambda x, z: F.silu(x) * z),
    "axpy": ([(False,), (True, 3), (True, 3)], lambda a, x, y: a * x + y),
    "mean": ([(True, 9)], lambda x: x.mean(-1)),
    "outer": ([(True, 3), (True, 4)], lambda x, y: x[..., :, None] * y[..., None, :]),
    "batched": ([(True, 3, 4), (True, 4, 5)], torch.matmul),
    "flip": ([(True, 6)], lambda x: x.flip(-1)),
    "mse": ([(True, 4), (True, 4)], lambda x, y: ((x - y) ** 2).sum()),
}
TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
LEADING = [(), (3,), (2, 3), (2, 1, 3)]


def arguments(name, dtype, leading, **how):
    torch.manual_seed(len(leading))
    return [torch.randn((*(leading if has_leading else ()), *shape)).to(dtype).requires_grad_(bool(how)) for has_leading, *shape in CASES[name][0]]


def pairs(types, leadings, every):
    """Pairs of a type and of leading dimensions: each `every`-th, so that all types and all dimensions are among them."""
    return [(t, n) for i, t in enumerate(types) for k, n in enumerate(leadings) if (i + k) % every == 0]


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_types_and_ranks(name, every):
    for dtype, leading in pairs(TYPES, LEADING, every):
        given = arguments(name, dtype, leading)
        got, want = getattr(T, name)(*given), CASES[name][1](*(t.double() for t in given))
        assert got.dtype == dtype and got.shape == want.shape
        # Every def adds at most 12 terms of magnitude below 16 and rounds about as many times.
        bound = 32 * torch.finfo(dtype).eps * (1 + want.abs().max())
        assert (got.double() - want).abs().max() <= bound, (name, dtype, leading)


def test_exact_for_integers():
    for dtype in (torch.int8, torch.int32, torch.int64, torch.float64):
        a, b = torch.randint(-3, 4, (2, 3, 4)).to(dtype), torch.randint(-3, 4, (2, 4, 5)).to(dtype)
        assert torch.equal(T.batched(a, b), torch.matmul(a.double(), b.double()).to(dtype))
        assert T.batched(a[0], b[0]).dtype == dtype


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["rmsnorm", "softmax", "linear"])
def test_operators(name, every):
    for dtype, leading in pairs((torch.float32, torch.float64, torch.bfloat16), ((3,), (2, 3), (2, 1, 3)), every):
        operator = tc.torch_op(f"tc_generic::{name}", getattr(T, name)) if not hasattr(torch.ops.tc_generic, name) else getattr(torch.ops.tc_generic, name).default
        low = dtype is torch.bfloat16
        checks = ["test_schema", "test_faketensor"] + ([] if low else ["test_autograd_registration", "test_aot_dispatch_dynamic"])
        torch.library.opcheck(operator, tuple(arguments(name, dtype, leading, requires_grad=not low)), test_utils=checks)


@pytest.mark.parametrize("name", ["rmsnorm", "linear", "batched", "mean", "axpy"])
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_gradients(name, leading):
    assert torch.autograd.gradcheck(getattr(T, name), arguments(name, torch.float64, leading, requires_grad=True))


def test_made_of_generic_defs():
    x, g = torch.randn(2, 3, 7), torch.randn(7)
    gradient = tc.grad(T.rmsnorm, ["g"])
    assert isinstance(gradient, tc.Gradient) and gradient.wrt == ("g",)
    for dtype, rows in ((torch.float32, x), (torch.float64, x[0]), (torch.float64, x)):
        given = [rows.to(dtype), g.to(dtype).detach().clone().requires_grad_()]
        CASES["rmsnorm"][1](*given).sum().backward()
        saved = [T.rmsnorm(given[0], given[1].detach())] if gradient.saved else []
        made = gradient(given[0], given[1].detach(), *saved, torch.ones_like(given[0]))
        assert made.dtype == dtype and torch.allclose(made, given[1].grad, rtol=1e-4, atol=1e-4)
    again = pickle.loads(pickle.dumps(gradient))
    assert again(x, g, *([T.rmsnorm(x, g)] if gradient.saved else []), torch.ones_like(x)).shape == (7,)
    tangent = tc.jvp(T.mean, ["X"])
    assert torch.allclose(tangent(x, x), x.mean(-1))
    batch = tc.vmap(T.rmsnorm, [1, None], 1)
    assert torch.allclose(batch(x, g), T.rmsnorm(x, g), atol=1e-6) and batch.batched == ("Y",)
    assert torch.allclose(torch.vmap(T.rmsnorm, (1, None), 1)(x, g), T.rmsnorm(x, g), atol=1e-6)


def test_numbers_take_the_type_of_the_tensors():
    for dtype in TYPES:
        x = torch.ones(2, 3, dtype=dtype)
        assert torch.equal(T.axpy(0.5, x, x), torch.full_like(x, 1.5)) and T.axpy(0.5, x, x).dtype == dtype
    assert T.axpy(2, np.ones(3, np.int16), np.ones(3, np.int16)).dtype == np.int16


def test_a_layer_changes_its_type():
    layer = tct.Module(T.rmsnorm, parameters=["g"], sizes={"C": 7}, init={"g": torch.nn.init.ones_})
    for dtype in TYPES:
        layer.to(dtype)
        assert layer(torch.ones(2, 3, 7, dtype=dtype)).dtype == dtype
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layer.float()
        assert layer(torch.ones(2, 7, dtype=torch.bfloat16)).dtype == torch.bfloat16
        assert layer(torch.ones(2, 7)).dtype == torch.float32


def test_compiled_by_torch():
    def model(x, g, w, b):
        return T.linear(T.rmsnorm(x, g), w, b) + T.axpy(2.0, x[..., :4], x[..., :4])

    for backend in ("eager", "aot_eager", "tc"):
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for dtype, leading in ((torch.float32, (3,)), (torch.float64, (2, 3))):
            given = [torch.randn(*leading, 5, dtype=dtype), *(torch.randn(*s, dtype=dtype) for s in ((5,), (4, 5), (4,)))]
            assert torch.allclose(compiled(*given), model(*given), atol=1e-5)


def test_what_does_not_fit_is_an_error():
    x, g = torch.randn(3, 7), torch.randn(7)
    with pytest.raises(tc.ArgumentError, match="'g' of 'rmsnorm' is float64 and 'X' is float32, and both have the type T: convert one of them"):
        T.rmsnorm(x, g.double())
    with pytest.raises(tc.ArgumentError, match="'X' of 'batched' has|'A' of 'batched' has 1 dimension, at least 2 are needed"):
        T.batched(g, g)
    with pytest.raises(tc.ArgumentError, match="'Z' of 'swiglu' has 0 leading dimensions and 'X' has 1: '...' stands for the same dimensions"):
        T.swiglu(x, g)
    with pytest.raises(tc.ArgumentError, match="takes 2 tensors"):
        T.rmsnorm(x)
    bits = tc.define("def f(T(...) X) -> (Y) { Y(...) = X(...) + 1.0 }  def g(Integer(...) X, Integer s) -> (Y) { Y(...) = X(...) }").f
    assert bits(np.ones(3, np.int32)).dtype == np.float32


def test_an_instance_with_errors_says_which():
    shift = tc.define("def f(T(...) X, Count(...) n) -> (Y) { Y(...) = X(...) * n(...) }").f
    assert shift(np.ones(3, np.float64), np.ones(3, np.float64)).dtype == np.float64
    with pytest.raises(tc.SemanticError, match="needs an integer|TC"):
        tc.define("def f(T(...) X) -> (Y) { Y(...) = X(...) << 2 }")


def test_shown_as_written():
    assert str(T.mean) == "def mean(T(..., C) X) -> (Y) {\n  Y(...) +=! X(..., c) / C\n}\n"
    assert str(T.mean.__signature__) == "(X: 'T(..., C)', *, out=None) -> 'Y'"
    assert "T</td><td>..., C" in T.mean._repr_html_()
    assert str(tc.compile(T.mean, np.ones((2, 3)))) == str(tc.compile(T.mean, tc.spec((2, 3), "float64")))
    assert T.mean.infer(np.ones((2, 3, 4), np.float16)).outputs[0].shape == (2, 3)
    rows = array.array("d", [1, 2, 3])
    assert float(np.asarray(T.mean(rows))) == float(np.asarray(tc.compile(T.mean, rows)(rows))) == 2
    with pytest.raises(tc.ArgumentError):
        T.mean.infer("rows")
    assert set(T.rmsnorm.values(torch.ones(2, 3), torch.ones(3))) == {"s", "Y"}
    assert pickle.loads(pickle.dumps(T))["mean"](np.ones((2, 3))).tolist() == [1, 1]


def test_tuned_and_kept(tmp_path):
    cache = tc.cache.Cache(str(tmp_path))
    x = torch.randn(4, 33, dtype=torch.float64)
    found = tc.autotune(T.softmax, x, budget=2, candidates=4, cache=cache)
    assert found.best.time > 0
    assert tc.compile(T.softmax, x, options="tuned", cache=cache) is not None


def test_tensors_may_have_the_names_of_functions():
    text = "def f(T(N) cos, T(N) exp) -> (sin) { sin(i) = tc.sin(cos(i)) * tc.exp(exp(i)) * cos(i) }"
    f = tc.define(text).f
    assert "tc.sin(cos(i)) * tc.exp(exp(i))" in str(f)
    x, z = (torch.randn(5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.allclose(f(cos=x, exp=z), x.sin() * z.exp() * x) and torch.autograd.gradcheck(f, (x, z))
    gradient = str(tc.grad(f))
    assert "tc.cos(cos(" in gradient and str(tc.define(gradient)["f_grad"]) == gradient
    assert torch.allclose(torch.vmap(f)(x[None], z[None])[0], f(x, z))
    for candidate in tc.derive(f, x.detach(), z.detach(), depth=2):
        assert torch.allclose(tc.define(candidate.text)["f"](x.detach(), z.detach()), f(x, z))
