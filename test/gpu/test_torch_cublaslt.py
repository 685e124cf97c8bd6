"""Calls of cuBLASLt (docs/libraries.md) beside torch in float64. Skipped where there is no GPU, or no cuBLASLt."""

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import tensor_comprehensions as tc  # noqa: E402
import tensor_comprehensions.torch  # noqa: E402, F401  (the backend "tc", which a bundle does not install)

PRODUCT = "def mm({0}(M,K) A, {0}(K,N) B) -> ({1}(M,N) C) {{ C(m,n) +=! {1}(A(m,k)) * {1}(B(k,n)) }}"
BATCHED = "def bmm({0}(B,M,K) X, {0}(B,K,N) W) -> (Y) {{ Y(b,m,n) +=! X(b,m,k) * W(b,k,n) }}"
FOLLOWED = """def f({0}(M,K) X, {0}(N,K) W, {0}(N) b, {0}(M,N) Z) -> ({0}(M,N) Y) {{
  C(m,n) +=! float(X(m,k)) * float(W(n,k))
  H(m,n) = {1}
  Y(m,n) = {0}({2})
}}"""
GELU = "0.5 * H(m,n) * (1 + tanh(0.7978845608028654 * (H(m,n) + 0.044715 * H(m,n) * H(m,n) * H(m,n))))"
TOLERANCES = {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}
TYPES = tuple(TOLERANCES)


def name_of(dtype):
    return str(dtype).partition(".")[2]


def is_missing():
    """Why there is no cuBLASLt; None where there is one."""
    try:
        tc.compile(tc.define(PRODUCT.format("float32", "float32")).mm, tc.spec((16, 16)), tc.spec((16, 16)), libraries="cublaslt",
                   target=tc._core.device_target(0))
    except tc.OptionsError as error:
        return str(error)


if reason := is_missing():
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def called(text, *tensors, libraries="cublaslt"):
    """The def of the text for these tensors, all of it one call."""
    module = tc.define(text)
    f = tc.compile(module[next(iter(module))], *tensors, libraries=libraries)
    assert len(f.stats["library_calls"]) == 1 and not f.stats["kernels"], f.stats["library_notes"]
    return f


def drawn(*shape, dtype, by_rows=True):
    return (torch.randn(shape, device="cuda") if by_rows else torch.randn(shape[::-1], device="cuda").T).to(dtype)


def close(got, want, dtype):
    assert got.dtype == dtype and got.is_cuda
    error = (got.double() - want).norm() / want.norm()
    assert error < TOLERANCES[dtype], f"relative error {error:.2e}"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("by_rows", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("sizes", [(512, 384, 256), (129, 65, 33), (1, 64, 40), (64, 1, 40)])
def test_orders(dtype, by_rows, sizes):
    m, n, k = sizes
    a, b = drawn(m, k, dtype=dtype, by_rows=by_rows[0]), drawn(k, n, dtype=dtype, by_rows=by_rows[1])
    want = a.double() @ b.double()
    close(called(PRODUCT.format(name_of(dtype), name_of(dtype)), a, b)(a, b), want, dtype)
    close(called(PRODUCT.format(name_of(dtype), "float32"), a, b)(a, b), want, torch.float32)


def test_float32_is_not_rounded_to_tf32():
    a, b = drawn(256, 4096, dtype=torch.float32), drawn(4096, 256, dtype=torch.float32)
    close(called(PRODUCT.format("float32", "float32"), a, b)(a, b), a.double() @ b.double(), torch.float32)


@pytest.mark.parametrize("dtype", TYPES)
def test_batches(dtype):
    x, w = drawn(6, 65, 48, dtype=dtype), drawn(6, 48, 40, dtype=dtype)
    text = BATCHED.format(name_of(dtype))
    close(called(text, x, w)(x, w), x.double() @ w.double(), dtype)
    heads = torch.randn(65, 6, 48, device="cuda").to(dtype).transpose(0, 1)
    close(called(text, heads, w)(heads, w), heads.double() @ w.double(), dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sizes", [(256, 384, 128), (129, 65, 33)])
def test_what_follows(dtype, sizes):
    m, n, k = sizes
    tensors = drawn(m, k, dtype=dtype), drawn(n, k, dtype=dtype), drawn(n, dtype=dtype), drawn(m, n, dtype=dtype)
    x, w, b, z = (tensor.double() for tensor in tensors)
    gelu = lambda value: torch.nn.functional.gelu(value, approximate="tanh")
    for before, wanted in (("C(m,n)", x @ w.T), ("C(m,n) + b(n)", x @ w.T + b), ("C(m,n) + Z(m,n)", x @ w.T + z),
                           ("C(m,n) + b(n) + Z(m,n)", x @ w.T + b + z)):
        for last, function in (("H(m,n)", lambda value: value), ("fmax(H(m,n), 0)", torch.relu), (GELU, gelu)):
            f = called(FOLLOWED.format(name_of(dtype), before, last), *tensors, libraries="cublaslt:finite")
            got, want = f(*tensors), function(wanted)
            error = (got.double() - want).norm() / want.norm()
            assert error < max(TOLERANCES[dtype], 1e-5 if last == GELU else 0), f"{before}, {last}: relative error {error:.2e}"


@pytest.mark.parametrize("dtype", TYPES)
def test_sums_with_the_result(dtype):
    a, b, c = drawn(65, 48, dtype=dtype), drawn(48, 40, dtype=dtype), drawn(65, 40, dtype=dtype)
    f = called("def into({0}(M,K) A, {0}(K,N) B) -> (C) {{ C(m,n) += A(m,k) * B(k,n) }}".format(name_of(dtype)), a, b)
    want = c.double() + a.double() @ b.double()
    f(a, b, out=c)
    close(c, want, dtype)


def test_special_values():
    a, b = drawn(64, 64, dtype=torch.float32), drawn(64, 64, dtype=torch.float32)
    a[3, 5], a[7, 9], b[11, 2] = float("inf"), float("nan"), float("-inf")
    got = called(PRODUCT.format("float32", "float32"), a, b)(a, b)
    want = a.double() @ b.double()
    assert torch.equal(got.isnan(), want.isnan()) and torch.equal(got.isinf(), want.isinf())


def test_a_graph_replays_it():
    tensors = tuple(drawn(*shape, dtype=torch.bfloat16) for shape in ((128, 64), (96, 64), (96,), (128, 96)))
    f = called(FOLLOWED.format("bfloat16", "C(m,n) + b(n)", "H(m,n)"), *tensors)
    f.prepare()
    y = torch.empty(128, 96, device="cuda", dtype=torch.bfloat16)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f(*tensors, out=y)
    for tensor in tensors:
        tensor.copy_(torch.randn_like(tensor))
    graph.replay()
    x, w, b, _ = (tensor.double() for tensor in tensors)
    close(y, x @ w.T + b, torch.bfloat16)


def test_streams():
    x, w = drawn(4, 256, 256, dtype=torch.float32), drawn(4, 256, 256, dtype=torch.float32)
    f = called(BATCHED.format("float32"), x, w)
    results = []
    for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results.append(f(x, w))
        torch.cuda.current_stream().wait_stream(stream)
    for result in results:
        close(result, x.double() @ w.double(), torch.float32)


def test_models_call_it():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(approximate="tanh"), torch.nn.Linear(128, 64)).cuda()
    x = torch.randn(32, 64, device="cuda")
    want = model.double()(x.double())
    model.float()
    with torch.no_grad():
        got = torch.compile(model, backend="tc", options={"libraries": "cublaslt"})(x)
    close(got, want, torch.float32)
