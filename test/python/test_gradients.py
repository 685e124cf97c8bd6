"""Gradients of defs: printed, compiled, and recorded by torch's autograd."""

import copy
import pathlib
import re

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

MM = "def mm(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
SOFTMAX = """def softmax(double(N,D) I) -> (O) {
  top(n) max=! I(n,d)
  total(n) +=! exp(I(n,d) - top(n))
  O(n,d) = exp(I(n,d) - top(n)) / total(n)
}"""
LAYER_NORM = """def layer_norm(double(N,C) X, double(C) g, double(C) b) -> (O) {
  mean(n) +=! X(n,c)
  mean(n) = mean(n) / C
  var(n) +=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))
  var(n) = var(n) / C
  O(n,c) = (X(n,c) - mean(n)) * rsqrt(var(n) + 1e-5) * g(c) + b(c)
}"""
ATTENTION = """def attention(double(H,L,D) Q, double(H,S,D) K, double(H,S,E) V) -> (O) {
  score(h,l,s) +=! Q(h,l,d) * K(h,s,d)
  score(h,l,s) = score(h,l,s) * 0.5
  top(h,l) max=! score(h,l,s)
  score(h,l,s) = exp(score(h,l,s) - top(h,l))
  total(h,l) +=! score(h,l,s)
  O(h,l,e) +=! score(h,l,s) * V(h,s,e)
  O(h,l,e) = O(h,l,e) / total(h,l)
}"""
CONV = "def conv(double(N,C,H,W) I, double(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,%s*h+kh,%s*w+kw) * K(m,c,kh,kw) %s }"
PADDED = """def padded(double(N,C,H,W) I, double(M,C,KH,KW) K, double(M) B) -> (O) {
  O(n,m,h,w) +=! h+kh >= 1 && h+kh <= H && w+kw >= 1 && w+kw <= W ? I(n,c,h+kh-1,w+kw-1) * K(m,c,kh,kw) : 0
    where h in 0:H-KH+3, w in 0:W-KW+3
  O(n,m,h,w) = relu(O(n,m,h,w) + B(m))
}"""
DEPTHWISE = "def depthwise(double(N,C,H,W) I, double(C,KH,KW) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw) }"
MLP = """def mlp(double(B,M) X, double(N,M) W2, double(N) B2, double(P,N) W3, double(P) B3) -> (O2, O3) {
  O2(b,n) +=! X(b,m) * W2(n,m)
  O2(b,n) = relu(O2(b,n) + B2(n))
  O3(b,p) +=! O2(b,n) * W3(p,n)
  O3(b,p) = sigmoid(O3(b,p) + B3(p))
}"""
POOL = "def pool(double(C,H,W) I) -> (O) { O(c,h,w) max=! I(c,2*h+kh,2*w+kw) where kh in 0:3, kw in 0:3 }"
BAG = "def bag(double(E,D) T, int64(B,L) index, double(B,L) w) -> (O) { O(b,d) +=! T(index(b,l),d) * w(b,l) }"
ENTROPY = """def entropy(double(N,D) X, int64(N) T) -> (loss) {
  m(n) max=! X(n,d)
  s(n) +=! exp(X(n,d) - m(n))
  loss +=! (log(s(n)) + m(n) - X(n,T(n))) / N
}"""
PLACE = """def place(double(N) A, double s) -> (B) {
  B(i) = A(i) * s
  B(i) = B(i-1)*B(i) + 0.5*B(i+1) where i in 1:N-1
  B(i) = B(i)*B(i) where i in 0:N-1
}"""
SCALED = "def scaled(double(N,D) X, int64 k, double s) -> (O, P) { O(n,d) = X(n,d) * s * k  P(n,d) = int32(O(n,d)) }"


def made(*shape):
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


def index(high, *shape):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(high))


def conv(stride):
    return CONV % (stride, stride, "" if stride == 1 else "where kh in 0:KH, kw in 0:KW")


PROGRAMS = {
    "mm": (MM, lambda: (made(3, 4), made(4, 2))),
    "softmax": (SOFTMAX, lambda: (made(3, 5),)),
    "layer_norm": (LAYER_NORM, lambda: (made(3, 6), made(6), made(6))),
    "attention": (ATTENTION, lambda: (made(2, 3, 4), made(2, 5, 4), made(2, 5, 3))),
    "conv": (conv(1), lambda: (made(1, 2, 6, 5), made(2, 2, 3, 2))),
    "conv_stride_2": (conv(2), lambda: (made(1, 2, 7, 6), made(2, 2, 3, 2))),
    "conv_stride_3": (conv(3), lambda: (made(1, 1, 8, 9), made(2, 1, 2, 4))),
    "padded": (PADDED, lambda: (made(1, 2, 5, 4), made(2, 2, 3, 3), made(2))),
    "depthwise": (DEPTHWISE, lambda: (made(2, 2, 5, 4), made(2, 3, 2))),
    "mlp": (MLP, lambda: (made(3, 4), made(5, 4), made(5), made(2, 5), made(2))),
    "pool": (POOL, lambda: (made(2, 7, 5),)),
    "bag": (BAG, lambda: (made(4, 3), index(4, 2, 5), made(2, 5))),
    "entropy": (ENTROPY, lambda: (made(3, 4), index(4, 3))),
    "place": (PLACE, lambda: (made(6), made())),
    "scaled": (SCALED, lambda: (made(3, 2), 3, made())),
}


def function_of(name):
    module = tc.define(PROGRAMS[name][0])
    return module[next(iter(module))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradcheck(name):
    f, arguments = function_of(name), PROGRAMS[name][1]()
    assert torch.autograd.gradcheck(lambda *tensors: f(*tensors), arguments)


@pytest.mark.parametrize("name", ["mm", "softmax", "conv", "conv_stride_2", "bag", "place", "scaled"])
def test_gradgradcheck(name):
    f, arguments = function_of(name), PROGRAMS[name][1]()
    assert torch.autograd.gradgradcheck(lambda *tensors: f(*tensors), arguments)


def gradients(outputs, tensors, seed):
    return torch.autograd.grad(outputs, tensors, seed)


@pytest.mark.parametrize("name, reference", [
    ("mm", lambda a, b: a @ b),
    ("softmax", lambda x: torch.softmax(x, -1)),
    ("layer_norm", lambda x, g, b: torch.nn.functional.layer_norm(x, x.shape[-1:], g, b)),
    ("attention", lambda q, k, v: torch.softmax(q @ k.transpose(1, 2) * 0.5, -1) @ v),
    ("conv_stride_2", lambda i, k: torch.nn.functional.conv2d(i, k, stride=2)),
    ("padded", lambda i, k, b: torch.relu(torch.nn.functional.conv2d(i, k, b, padding=1))),
])
def test_equal_to_torch(name, reference):
    f, arguments = function_of(name), PROGRAMS[name][1]()
    got, want = f(*arguments), reference(*arguments)
    torch.testing.assert_close(got, want)
    seed = torch.randn(got.shape, dtype=got.dtype, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(gradients(got, arguments, seed), gradients(want, arguments, seed))


def test_a_gradient_is_a_def():
    T = tc.define(MM)
    g = tc.grad(T.mm, wrt=["B"])
    assert isinstance(g, tc.Function)
    assert str(g) == (
        "def mm_grad(float64(M, K) A, float64(K, N) B, float64(M, N) d_C) -> (d_B) {\n"
        "  d_B(k, n) +=! d_C(m, n) * A(m, k)\n"
        "}\n"
    )
    assert (g.wrt, g.saved, g.seeds, g.unread) == (("B",), (), ("d_C",), ("B",))
    a, b, seed = (np.random.default_rng(1).integers(-4, 5, shape).astype("f8") for shape in ((3, 4), (4, 2), (3, 2)))
    np.testing.assert_array_equal(g(a, b, seed), a.T @ seed)
    np.testing.assert_array_equal(tc.compile(g, a, b, seed)(a, b, seed), a.T @ seed)
    np.testing.assert_array_equal(tc.define(str(g)).mm_grad(a, b, seed), a.T @ seed)


def test_returns_that_a_gradient_reads():
    softmax = tc.define(SOFTMAX).softmax
    g = tc.grad(softmax)
    assert g.saved == ("O",)
    assert g.infer(tc.spec((3, 5), "float64"), tc.spec((3, 5), "float64"), tc.spec((3, 5), "float64")).outputs[0].shape == (3, 5)
    again = tc.grad(softmax, save=False)
    assert again.saved == ()
    x, seed = made(3, 5).detach(), made(3, 5).detach()
    torch.testing.assert_close(g(x, softmax(x), seed), again(x, seed))


def test_what_grad_refuses():
    T = tc.define(MM)
    with pytest.raises(tc.SemanticError, match="TC304.*'mm' has no parameter 'b'"):
        tc.grad(T.mm, wrt=["b"])
    with pytest.raises(tc.ArgumentError, match=r"wrt=\['A'\]"):
        tc.grad(T.mm, wrt="A")
    with pytest.raises(tc.ArgumentError, match="takes a def"):
        tc.grad(T)
    with pytest.raises(tc.SemanticError, match="TC303.*no derivative of 'lgamma'"):
        tc.grad(tc.define("def f(float(N) A) -> (O) { O(i) = lgamma(A(i)) }").f)


def test_slow_gradients_say_so():
    assert "T(l * l)" in tc.grad(tc.define("def f(double(E) T) -> (O) { O(l) = T(l * l) where l in 0:3 }").f).notes[0]
    assert tc.grad(tc.define(MM).mm).notes == () == tc.grad(tc.define(BAG).bag).notes


def test_gradients_of_tables_are_the_same_for_any_number_of_threads():
    grad = tc.grad(tc.define(BAG.replace("double", "float")).bag, wrt=["T"])
    table, index, out = torch.randn(300, 70), torch.randint(0, 300, (40, 25), dtype=torch.int64), torch.randn(40, 70)
    weight = torch.randint(1, 4, (40, 25)).float()
    want = torch.zeros(300, 70).index_add_(0, index.flatten(), (out[:, None] * weight[..., None]).flatten(0, 1))
    before, results = tc.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            tc.set_num_threads(threads)
            results.append(grad(T=table, index=index, w=weight, d_O=out))
    finally:
        tc.set_num_threads(before)
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])
    torch.testing.assert_close(results[0], want)


def test_an_index_that_a_step_moves_outside_is_found_before_its_gradient():
    bag = tc.define(BAG).bag
    table = made(20, 3)
    with pytest.raises(tc.ArgumentError, match="index"):
        bag(table, torch.full((2, 2), 20), torch.ones(2, 2).double()).sum().backward()
    assert table.grad is None


def test_only_what_is_needed_is_computed():
    f = function_of("mm")
    a, b = made(3, 4), made(4, 2).detach()
    f(a, b).sum().backward()
    assert a.grad.shape == (3, 4)
    assert [record.gradient.wrt for record in f._records.values()] == [("A",)]
    f(a.detach(), b)
    with torch.no_grad():
        assert not f(a, b).requires_grad


def test_names_numbers_and_several_returns():
    f = function_of("scaled")
    x, s = made(2, 2), made()
    o, p = f(X=x, s=s, k=3)
    assert o.requires_grad and not p.requires_grad
    o.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((2, 2), 3.0, dtype=torch.float64) * s.detach())
    torch.testing.assert_close(s.grad, 3 * x.detach().sum())


def test_a_module_learns():
    linear = tc.define("def linear(float(B,I) X, float(O,I) W, float(O) b) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i)  Y(n,o) = Y(n,o) + b(o) }").linear
    theirs = torch.nn.Linear(3, 2)
    ours = copy.deepcopy(theirs)
    x, y = torch.randn(8, 3), torch.randn(8, 2)
    for module, run in ((theirs, theirs), (ours, lambda x: linear(x, ours.weight, ours.bias))):
        optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(5):
            optimiser.zero_grad()
            ((run(x) - y) ** 2).mean().backward()
            optimiser.step()
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)


def test_hooks_and_a_graph_that_is_kept():
    f, (a, b) = function_of("mm"), (made(3, 4), made(4, 2))
    seen = []
    a.register_hook(lambda g: seen.append(g.clone()))
    out = f(a, b)
    out.sum().backward(retain_graph=True)
    out.sum().backward()
    torch.testing.assert_close(a.grad, 2 * seen[0])


def test_what_is_not_read_is_not_kept():
    f, (a, b) = function_of("mm"), (made(3, 4), made(4, 2).detach())
    out = f(a, b)
    kept = out.grad_fn.saved_tensors
    assert [tensor.data_ptr() for tensor in kept] == [b.data_ptr()]


def test_out_takes_nothing_that_requires_grad_and_counts_as_a_change():
    f, (a, b) = function_of("mm"), (made(3, 4), made(4, 2))
    out = torch.empty(3, 2, dtype=torch.float64)
    with pytest.raises(tc.ArgumentError, match="requires grad"):
        f(a, b, out=out)
    version = out._version
    f(a.detach(), b.detach(), out=out)
    assert out._version == version + 1
    saved = made(3, 2)
    product = saved * out
    f(a.detach(), b.detach(), out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_a_saved_tensor_that_is_changed_is_found():
    f, (a, b) = function_of("mm"), (made(3, 4), made(4, 2))
    out = f(a, b)
    with torch.no_grad():
        b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_names_bring_no_division_by_zero():
    text = "def f(double(B,D) X, double(B,D) Y) -> (C) { xy(b) +=! X(b,d) * Y(b,d)  xx(b) +=! X(b,d) * X(b,d)  C(b) = xy(b) * rsqrt(xx(b)) }"
    f, (x, y) = tc.define(text).f, (torch.tensor([[1.0, 0.0], [3.0, 4.0]]).double().requires_grad_(), torch.tensor([[0.0, 2.0], [4.0, -3.0]]).double())
    results = []
    for call in (lambda x: f(x, y), lambda x: (x * y).sum(1) * (x * x).sum(1).rsqrt()):
        first, = torch.autograd.grad(call(x).sum(), x, create_graph=True)
        second, = torch.autograd.grad(first.square().sum(), x)
        results.append((first, second))
    torch.testing.assert_close(*results)


def test_second_derivatives_where_the_first_gets_nothing():
    sigmoid = tc.define("def f(double(N) I) -> (O) { O(i) = 1 / (1 + exp(-I(i))) }").f
    x = made(4)
    seed = torch.tensor([0.0, 1.0, 0.0, 2.0]).double().requires_grad_()
    results = []
    for call in (sigmoid, torch.sigmoid):
        first, = torch.autograd.grad(call(x), x, seed, create_graph=True)
        results.append(torch.autograd.grad(first.sum(), (x, seed)))
    torch.testing.assert_close(*results)


def test_halves_and_float32():
    softmax = tc.define(SOFTMAX.replace("double", "half")).softmax
    x = torch.randn(4, 64, dtype=torch.float16, requires_grad=True)
    seed = torch.randn(4, 64, dtype=torch.float16)
    got, = torch.autograd.grad(softmax(x), x, seed)
    wide = x.detach().double().requires_grad_()
    want, = torch.autograd.grad(torch.softmax(wide, -1), wide, seed.double())
    assert got.dtype == torch.float16
    assert (got.double() - want).abs().max() < 2e-3


PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "gradients.md").read_text(encoding="utf-8")
PAIRS = re.findall(r"```\n(def (\w+)\(.*?)```\n```\n(.*?)```\n", PAGE, re.S)


def test_the_page_shows_gradients():
    assert [name for _, name, _ in PAIRS] == ["mm", "conv", "strided", "softmax", "layer_norm", "attention", "decayed"]


@pytest.mark.parametrize("text, name, gradient", PAIRS)
def test_the_page_is_right(text, name, gradient):
    assert str(tc.grad(tc.define(text)[name])) == gradient


SCATTER = "def add(double(L,D) X, int32(L) I, double(E) like) -> (double(E,D) O) { O(I(l),d) +=! X(l,d) * X(l,d) }"


def test_scatters_are_checked_before_anything_is_written():
    f = tc.define(SCATTER).add
    x, like, out = torch.randn(4, 3, dtype=torch.float64), torch.empty(20, dtype=torch.float64), torch.full((20, 3), 7.0).double()
    for bad in (20, -1):
        with pytest.raises(tc.ArgumentError, match=r"subscript 0 of O, 'I\(l\)', must be in \[0, 20\)"):
            f(x, torch.tensor([0, 1, bad, 2], dtype=torch.int32), like, out=out)
    assert (out == 7).all()


def test_scatters_print_and_differentiate():
    module = tc.define(SCATTER)
    assert "O(I(l), d) +=! X(l, d) * X(l, d)" in str(module.add)
    x, like = torch.randn(6, 3, dtype=torch.float64, requires_grad=True), torch.empty(20, dtype=torch.float64)
    index = torch.tensor([3, 0, 3, 19, 7, 3], dtype=torch.int32)
    torch.autograd.gradcheck(lambda x: module.add(x, index, like), x)
    torch.autograd.gradgradcheck(lambda x: module.add(x, index, like), x)
    want = torch.zeros(20, 3, dtype=torch.float64).index_add(0, index.long(), x.detach() ** 2)
    batch = torch.func.vmap(lambda x: module.add(x, index, like))(torch.stack([x.detach(), 2 * x.detach()]))
    assert torch.allclose(batch, torch.stack([want, 4 * want]))


@pytest.mark.parametrize("of", ["uint8", "uint32", "uint64", "int8"])
def test_the_gradient_of_a_gather_takes_indices_of_any_type(of):
    gather = tc.define(f"def pick(float(N,D) A, {of}(M) I) -> (O) {{ O(m,d) = A(I(m),d) * A(I(m),d) }}").pick
    a, index = np.arange(15, dtype="float32").reshape(5, 3), np.array([4, 0, 4, 2], of)
    (found,) = [tc.grad(gather)(a, index, np.ones((4, 3), "float32"))]
    want = np.zeros_like(a)
    np.add.at(want, index.astype(int), 2 * a[index.astype(int)])
    assert np.array_equal(found, want)


def test_scatters_into_names_that_are_taken():
    a, index = np.ones(4, "float32"), np.array([0, 1, 1, 3], "int32")
    scatter = "(float(M) A, int32(M) I) -> ({}) {{ {}(I(m)) +=! A(m) }}"
    assert tc.define("def f" + scatter.format("float(4) exp", "exp")).f(a, index).tolist() == [1, 2, 0, 1], "a built-in's name is free"
    for text in ("def f" + scatter.format("exp", "exp"), "def f(float(M) A) -> (O) { exp(t) +=! A(m)  O(i) = A(i) }"):
        with pytest.raises(tc.SemanticError, match="TC201"):
            tc.define(text)
    with pytest.raises(tc.SemanticError, match="TC103.*'f' is a function of this program"):
        tc.define("def f" + scatter.format("float(4) f", "f"))
