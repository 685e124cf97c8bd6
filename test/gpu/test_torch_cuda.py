"""The Python package on torch's CUDA tensors. Skipped where there is no GPU."""

import gc
import os
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import tensor_comprehensions as tc  # noqa: E402

T = tc.define("""
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def scale(float(N) A, float s) -> (B) { B(i) = A(i) * s }
def inc(float(N) A) -> (B) { B(i) = A(i) + 1 }
def softmax(float(N,C) X) -> (Y) {
  top(n) max=! X(n,c)
  e(n,c) = exp(X(n,c) - top(n))
  total(n) +=! e(n,c)
  Y(n,c) = e(n,c) / total(n)
}
def two(float(N,M) A) -> (S, B) { S(i) +=! A(i,j)
  B(j,i) = A(i,j) - S(i) }
def gather(float(E,D) T, int64(B) I) -> (O) { O(b,d) = T(I(b),d) }
def add_to(float(N) A) -> (S) { S(i) += A(i) }
""")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def close(got, want, tolerance=1e-5):
    error = (got.double() - want.double()).norm() / want.double().norm()
    assert got.is_cuda and got.dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64)
    assert error < tolerance, f"relative error {error:.2e}"


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (7, 13, 5), (64, 64, 64), (129, 65, 33), (512, 384, 1000), (2048, 2048, 256)])
def test_products(m, n, k):
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    close(T.mm(a, b), a.double() @ b.double())


def test_strided_inputs():
    a, b = torch.randn(96, 200, device="cuda"), torch.randn(160, 96, device="cuda")
    close(T.mm(a.T, b.T), (b.double() @ a.double()).T)
    close(T.mm(a[:, 8:72:2], b[:32]), a[:, 8:72:2].double() @ b[:32].double())


def test_tensors_that_begin_between_vectors():
    x = torch.randn(4097, device="cuda")[1:]
    try:
        close(T.inc(x), x + 1)
    except tc.ArgumentError as error:
        assert "16 bytes" in str(error)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_float_types(dtype):
    f = tc.define(f"def f({dtype}(N,M) A) -> (B) {{ B(i,j) = exp(A(i,j)) * A(i,j) }}").f
    x = torch.randn(300, 70, device="cuda").to(getattr(torch, dtype))
    got = f(x)
    assert got.dtype == x.dtype
    close(got, x.double().exp() * x.double(), {"float16": 3e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-12}[dtype])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_integer_types(dtype):
    f = tc.define(f"def f({dtype}(N,M) A, {dtype}(N,M) B) -> (C) {{ C(i,j) = A(i,j) * B(i,j) }}").f
    type_ = getattr(torch, dtype)
    a, b = (torch.randint(0, 11, (33, 65), device="cuda").to(type_) for _ in range(2))
    assert torch.equal(f(a, b).to(type_), a * b)


def test_several_outputs_and_out():
    a = torch.randn(70, 90, device="cuda")
    s, b = T.two(a)
    close(s, a.double().sum(1), 1e-4)
    out = torch.empty(70, device="cuda"), torch.empty(90, 70, device="cuda")
    assert T.two(a, out=out) is out
    assert torch.equal(out[1], b)


def test_numbers_become_tensors():
    x = torch.randn(1000, device="cuda")
    assert torch.equal(T.scale(x, 2.5), x * 2.5)
    assert torch.equal(T.scale(x, torch.tensor(-1.5, device="cuda")), x * -1.5)


def test_accumulation_into_an_output():
    a, s = torch.randn(500, device="cuda"), torch.ones(500, device="cuda")
    T.add_to(a, out=s)
    assert torch.equal(s, a + 1)


def test_rows_of_many_lengths():
    for n, c in ((1, 1), (3, 5), (100, 31), (64, 1024), (17, 4096), (5, 10007), (2, 100000)):
        x = torch.randn(n, c, device="cuda")
        close(T.softmax(x), torch.softmax(x.double(), 1))


def test_empty_tensors():
    assert T.inc(torch.empty(0, device="cuda")).shape == (0,)


def test_index_tensors():
    table, index = torch.randn(1000, 64, device="cuda"), torch.randint(0, 1000, (77,), device="cuda")
    assert torch.equal(T.gather(table, index), table[index])
    for bad in (1000, -1):
        index[5] = bad
        with pytest.raises(tc.ArgumentError, match="I"):
            T.gather(table, index)


def test_more_than_two_to_the_31_elements():
    if torch.cuda.mem_get_info()[0] < 24 << 30:
        pytest.skip("the GPU is too small")
    count = (1 << 31) + 65
    x = torch.zeros(count, device="cuda")
    x[-1], x[-70] = 5, 7
    y = T.inc(x)
    assert y[-1].item() == 6 and y[-70].item() == 8 and y[0].item() == 1 and y.sum(dtype=torch.float64).item() == count + 12


def test_runs_in_the_current_stream():
    x = torch.zeros(1 << 16, device="cuda")
    T.inc(x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(41)
        y = T.inc(x)
        z = y * 1
    stream.synchronize()
    assert (z == 42).all()


def test_does_not_wait_for_the_device():
    x = torch.zeros(1 << 16, device="cuda")
    T.inc(x)
    torch.cuda.synchronize()
    torch.cuda._sleep(200_000_000)
    done = torch.cuda.Event()
    T.inc(x)
    done.record()
    assert not done.query(), "a call waited for the kernel before it"
    torch.cuda.synchronize()


def test_inputs_may_be_freed_at_once():
    for i in range(200):
        y = T.inc(torch.full((100_000,), float(i), device="cuda"))
        torch.full((100_000,), -1.0, device="cuda")
        if i % 50 == 0:
            assert (y == i + 1).all()


@pytest.mark.parametrize("name", ["inc", "softmax"])
def test_graphs(name):
    function = {"inc": lambda x: x + 1, "softmax": lambda x: torch.softmax(x, 1)}[name]
    x = torch.randn(300, 500, device="cuda") if name == "softmax" else torch.randn(3000, device="cuda")
    run = tc.compile(T[name], x)
    run.prepare()
    y = torch.empty_like(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(x, out=y)
        fresh = run(x)
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.cuda.synchronize()
        close(y, function(x.double()))
        assert torch.equal(y, fresh)


def test_temporaries_in_a_graph():
    run = tc.compile(T.softmax, tc.spec((64, 96)), target=tc.compile(T.inc, torch.zeros(8, device="cuda")).stats["target"], options="fusion=min")
    x, y = torch.randn(64, 96, device="cuda"), torch.empty(64, 96, device="cuda")
    run.prepare()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(x, out=y)
    graph.replay()
    torch.cuda.synchronize()
    close(y, torch.softmax(x.double(), 1))


def test_executables_that_end_during_a_capture():
    x, y = torch.randn(64, 96, device="cuda"), torch.empty(64, 96, device="cuda")
    target = tc.compile(T.inc, torch.zeros(8, device="cuda")).stats["target"]
    make = lambda options: tc.compile(T.softmax, tc.spec((64, 96)), target=target, options=options)
    run, others = make("fusion=min"), [make("fusion=min,unroll_limit=1")]
    run.prepare()
    others[0](x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        others.clear()
        gc.collect()
        run(x, out=y)
    graph.replay()
    torch.cuda.synchronize()
    close(y, torch.softmax(x.double(), 1))


def test_cooperative_kernels():
    a = torch.randn(700, 300, device="cuda")
    run = tc.compile(T.two, a, options="cooperative=1,fusion=min")
    assert len(run.stats["kernels"]) == 1
    run.prepare()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        in_graph = run(a)
    for _ in range(20):
        a.normal_()
        graph.replay()
        sums, differences = run(a)
        torch.cuda.synchronize()
        close(sums, a.double().sum(1))
        close(differences, (a.double() - a.double().sum(1, keepdim=True)).T)
        assert torch.equal(sums, in_graph[0]) and torch.equal(differences, in_graph[1])


def test_index_tensors_refuse_a_capture():
    table, index = torch.randn(10, 4, device="cuda"), torch.zeros(3, dtype=torch.int64, device="cuda")
    run = tc.compile(T.gather, table, index)
    out = torch.empty(3, 4, device="cuda")
    run(table, index, out=out)
    run.prepare()
    with pytest.raises(Exception) as caught:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            run(table, index, out=out)
    assert "graph" in str(caught.value) or "captur" in str(caught.value)
    torch.cuda.synchronize()
    assert torch.equal(run(table, index), table[index])


def test_stored_executables():
    x = torch.randn(1000, device="cuda")
    run = tc.load(tc.compile(T.inc, x).serialise())
    assert torch.equal(run(x), x + 1)


def test_profiles():
    x = torch.randn(1 << 22, device="cuda")
    times = tc.compile(T.inc, x).profile(x)
    assert 0 < times["kernels_us"] < 1e5


def test_threads_with_streams_of_their_own():
    wrong = []

    def work(number):
        with torch.cuda.stream(torch.cuda.Stream()):
            for i in range(30):
                x = torch.full((64, 200), float(number * 100 + i), device="cuda")
                if not torch.allclose(T.softmax(x), torch.full_like(x, 1 / 200)):
                    wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_several_devices():
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    for device in (1, 0, 1):
        x = torch.randn(1000, device=f"cuda:{device}")
        y = T.inc(x)
        assert y.device == x.device and torch.equal(y, x + 1)
    with pytest.raises(tc.ArgumentError, match="device"):
        T.mm(torch.randn(4, 4, device="cuda:0"), torch.randn(4, 4, device="cuda:1"))


def test_cpu_and_gpu_take_turns():
    x = torch.randn(100)
    for _ in range(2):
        assert torch.equal(T.inc(x), x + 1)
        assert torch.equal(T.inc(x.cuda()).cpu(), x + 1)


@pytest.mark.parametrize("call, error, text", [
    (lambda x: T.mm(x, x.cpu()), tc.ArgumentError, "memory of the CPU"),
    (lambda x: T.inc(x[0], out=x[0]), tc.ArgumentError, "shares memory"),
    (lambda x: T.inc(x), tc.ArgumentError, "A"),
    (lambda x: tc.compile(T.inc, tc.spec((8,)), target="cpu")(x[0]), tc.ArgumentError, "is on a GPU"),
    (lambda x: tc.compile(T.mm, x, x, options="block=32x64"), tc.OptionsError, "block"),
    (lambda x: tc.compile(T.mm, x, x, options="block=2048"), tc.OptionsError, "block"),
])
def test_bad_calls(call, error, text):
    x = torch.zeros(8, 8, device="cuda")
    with pytest.raises(error, match=text):
        call(x)
    assert (T.inc(x[0]) == 1).all()


def test_memory_that_runs_out():
    with pytest.raises((torch.cuda.OutOfMemoryError, tc.ResourceError)):
        T.mm(torch.zeros(1 << 20, 1, device="cuda"), torch.zeros(1, 1 << 20, device="cuda"))
    assert (T.inc(torch.zeros(8, device="cuda")) == 1).all()


@pytest.mark.parametrize("variable", ["TC_NVRTC", "TC_CUDA_DRIVER"])
def test_without_a_library(variable):
    text = "import torch, tensor_comprehensions as tc\nx = torch.zeros(8, device='cuda')\n" \
           "try:\n  tc.define('def f(float(N) A) -> (B) { B(i) = A(i) + 1 }').f(x)\nexcept tc.DeviceError as error:\n  print('refused:', error)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120,
                          env={**os.environ, variable: "/nowhere/lib.so", "TC_CACHE_MODE": "off"})
    assert "refused:" in done.stdout and "/nowhere/lib.so" in done.stdout, done.stdout + done.stderr


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    a, b, c = cupy.random.rand(32, 48, dtype="f4"), cupy.random.rand(48, 16, dtype="f4"), cupy.empty((32, 16), "f4")
    T.mm(a, b, out=c)
    made = T.mm(a, b)
    assert isinstance(made, cupy.ndarray) and made.device == a.device
    assert float(abs(c - a @ b).max()) < 1e-4 and float(abs(made - c).max()) == 0
