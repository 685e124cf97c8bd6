"""Models on CUDA tensors through `torch.compile(model, backend="tc")`. Skipped where there is no GPU."""

import copy
import math
import warnings

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import tensor_comprehensions as tc  # noqa: E402
import tensor_comprehensions.torch as tct  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def close(got, want, tolerance):
    error = (got.detach().double() - want.detach().double()).norm() / want.detach().double().norm().clamp_min(1e-30)
    assert got.shape == want.shape and error < tolerance, f"relative error {error:.2e}"


def compiled(model, **how):
    return torch.compile(model, backend="tc", dynamic=False, **how)


def left():
    """What the reports say torch runs, beside tensors that nobody looks into."""
    return [entry for report in tct.reports() for entry in report.left if "aten.empty" not in entry[1]]


def quiet(function, *inputs):
    """The result, where no warning of a part that failed is given."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*part.*")
        warnings.filterwarnings("error", message=".*tc does not take.*")
        return function(*inputs)


def check(model, *inputs, tolerance=1e-5, taken=True, **how):
    """Compares with float64; all nodes are taken. Runs twice: the first run compiles."""
    exact = copy.deepcopy(model).double() if isinstance(model, nn.Module) else model
    with torch.no_grad():
        want = exact(*(x.double() if x.is_floating_point() else x for x in inputs))
        fast = compiled(model, **how)
        quiet(fast, *inputs)
        got = quiet(fast, *inputs)
    assert got.device == inputs[0].device
    close(got, want, tolerance)
    assert not taken or not left(), "\n".join(map(str, tct.reports()))
    assert sum(report.launches for report in tct.reports()) > 0
    return got


def mlp(width=64):
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)).cuda()


def test_one_operator():
    check(lambda x: torch.relu(x) * 2 + 1, torch.randn(100, 33, device="cuda"))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 1e-2), (torch.float16, 2e-3)])
def test_mlp(dtype, tolerance):
    check(mlp().to(dtype), torch.randn(32, 64, device="cuda", dtype=dtype), tolerance=tolerance)


def test_the_report_names_the_device():
    check(mlp(), torch.randn(32, 64, device="cuda"))
    (report,) = tct.reports()
    major, minor = torch.cuda.get_device_capability()
    assert all(e.stats["target"].startswith(f"cuda:sm_{major}{minor}") for e in report.executables)


def test_convolutions_and_norms():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 8, 1), nn.Flatten(), nn.Linear(8 * 64, 10))
    check(model.cuda().eval(), torch.randn(4, 3, 32, 32, device="cuda"))


def test_channels_last():
    model = nn.Sequential(nn.Conv2d(8, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 1)).cuda().eval().to(memory_format=torch.channels_last)
    x = torch.randn(4, 8, 16, 16, device="cuda").to(memory_format=torch.channels_last)
    got = check(model, x)
    assert got.stride() == model(x).stride()


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(dtype, tolerance, causal):
    q, k, v = (torch.randn(2, 4, 65, 32, device="cuda", dtype=dtype) for _ in range(3))
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), q, k, v, tolerance=tolerance)


@pytest.mark.parametrize("backend", ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"])
def test_attention_of_each_library(backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(2, 4, 64, 32, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    want = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    (gradient,) = torch.autograd.grad(want.square().sum(), [k])
    with sdpa_kernel([getattr(SDPBackend, backend)]):
        try:
            F.scaled_dot_product_attention(q, k, v)
        except RuntimeError as error:
            pytest.skip(str(error).splitlines()[0])
        got = quiet(compiled(F.scaled_dot_product_attention), q, k, v)
        (own,) = torch.autograd.grad(got.float().square().sum(), [k])
    close(got, want, 2e-2)
    close(own, gradient, 3e-2)
    assert any("attention" in target or "mm" in target for report in tct.reports() for _, target in report.taken)


def test_attention_with_a_mask():
    q, k, v = (torch.randn(2, 4, 48, 16, device="cuda") for _ in range(3))
    mask = torch.rand(2, 1, 48, 48, device="cuda") > 0.3
    check(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, mask, taken=False)


def test_an_encoder_layer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True).cuda().eval()
    check(layer, torch.randn(3, 20, 64, device="cuda"))


def test_embeddings():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.places = nn.Embedding(50, 32), nn.Embedding(20, 32)

        def forward(self, ids):
            return self.table(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))

    check(Model().cuda(), torch.randint(0, 50, (3, 17), device="cuda"))


def test_index_tensors_are_not_waited_for():
    table, ids = nn.Embedding(50, 32).cuda(), torch.randint(0, 50, (300,), device="cuda")
    with torch.no_grad():
        fast = compiled(table)
        fast(ids)
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)
        done = torch.cuda.Event()
        got = fast(ids)
        done.record()
        assert not done.query(), "a call waited for the test of its index tensor"
        assert torch.equal(got, table(ids))


def test_values_outside_are_told_by_a_later_call():
    table, ids = nn.Embedding(50, 32).cuda(), torch.randint(0, 50, (300,), device="cuda")
    bad = ids.clone()
    bad[7] = 50
    with torch.no_grad():
        fast = compiled(table)
        fast(ids)
        tc.check()
        fast(bad)
        torch.cuda.synchronize()
        with pytest.raises(tc.EarlierRunError, match="must be in"):
            fast(ids)
        assert torch.equal(fast(ids), table(ids))
        fast(bad)
        with pytest.raises(tc.EarlierRunError, match="must be in"):
            tc.check()
        tc.check()
        assert torch.equal(fast(ids), table(ids))


def test_index_tensors_are_recorded():
    table = nn.Embedding(50, 32).cuda()
    with torch.no_grad():
        fast = compiled(table, mode="reduce-overhead")
        for _ in range(5):
            ids = torch.randint(0, 50, (300,), device="cuda")
            assert torch.equal(quiet(fast, ids), table(ids))
        ids[3] = -1
        fast(ids)
        with pytest.raises(tc.EarlierRunError):
            tc.check()
        assert not any(report.not_recorded for report in tct.reports())


class Perceptron(nn.Module):
    """A model with a forward of its own: Dynamo leaves frames of torch's own modules to torch behind the graph break of DistributedDataParallel."""

    def __init__(self):
        super().__init__()
        self.layers = mlp()

    def forward(self, x):
        return self.layers(x)


def test_a_model_in_distributed_data_parallel(tmp_path):
    if not torch.distributed.is_nccl_available():
        pytest.skip("no NCCL")
    torch.distributed.init_process_group("nccl", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        model, x = Perceptron(), torch.randn(32, 64, device="cuda")
        exact = copy.deepcopy(model).double()
        fast = compiled(nn.parallel.DistributedDataParallel(model, device_ids=[0]))
        weighted(quiet(fast, x)).backward()
        for p, want in zip(model.parameters(), gradients(exact, exact, x.double())):
            close(p.grad, want, 1e-4)
        assert any(report.taken for report in tct.reports())
    finally:
        torch.distributed.destroy_process_group()


def gradients(model, callable, x):
    return torch.autograd.grad(weighted(callable(x)), list(model.parameters()))


def weighted(y):
    """A number of `y` whose gradient is not small, as that of a norm's square would be."""
    return (y * torch.sin(torch.arange(y.numel(), device=y.device).view_as(y))).sum()


@pytest.mark.parametrize("make, shape", [
    (mlp, (32, 64)),
    (lambda: nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True).cuda(), (3, 20, 64)),
    (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3, 2, 1)).cuda(), (4, 3, 16, 16)),
])
def test_gradients(make, shape):
    model, x = make(), torch.randn(shape, device="cuda")
    exact = copy.deepcopy(model).double()
    want = gradients(exact, exact, x.double())
    got = quiet(gradients, model, compiled(model), x)
    allowed = 1e-5 * max(float(b.abs().max()) for b in want)  # a bias before a norm has no gradient
    assert all(float((a.double() - b).abs().max()) <= allowed for a, b in zip(got, want))
    assert {report.kind for report in tct.reports()} == {"forward", "backward"}


def test_steps_of_an_optimizer():
    model, x, y = mlp(), torch.randn(32, 64, device="cuda"), torch.randn(32, 64, device="cuda")
    exact = copy.deepcopy(model).double()
    for callable, of, given, wanted in ((compiled(model), model, x, y), (exact, exact, x.double(), y.double())):
        optimizer = torch.optim.SGD(of.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            F.mse_loss(callable(given), wanted).backward()
            optimizer.step()
    for a, b in zip(model.parameters(), exact.parameters()):
        close(a, b, 1e-4)


def test_autocast():
    model, x = mlp(), torch.randn(32, 64, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        got = quiet(compiled(model), x)
        want = model(x)
    assert got.dtype == want.dtype == torch.bfloat16
    close(got, copy.deepcopy(model).double()(x.double()), 2e-2)


def test_graphs_of_two_devices_are_taken_device_by_device():
    def model(x, y):
        a = torch.tanh(x) * 2
        b = torch.tanh(y).sum(0) * 3
        return a + b.to(x.device)

    x, y = torch.randn(8, 5, device="cuda"), torch.randn(8, 5)
    got = quiet(compiled(model), x, y)
    close(got, model(x.double(), y.double()), 1e-5)
    assert any("cpu and cuda:0" in reason for _, _, reason in left()), left()
    assert not [entry for entry in left() if "tanh" in entry[1]]


def test_numbers_on_the_processor_go_anywhere():
    number = torch.tensor(2.5)
    check(lambda x, n: torch.where(x > 0, x * n, torch.full((), -1.0)), torch.randn(100, device="cuda"), number)


def test_tensors_that_begin_between_vectors():
    x = torch.randn(8 * 64 + 1, device="cuda")[1:].view(8, 64)
    check(mlp(), x)


def test_frozen_weights():
    model, x = mlp().eval(), torch.randn(8, 64, device="cuda")
    check(model, x, options={"freeze": True})
    with torch.no_grad():
        fast = compiled(model, options={"freeze": True})
        quiet(fast, x)
        model[0].weight.add_(1)
        close(quiet(fast, x), copy.deepcopy(model).double()(x.double()), 1e-5)


def test_runs_in_the_current_stream():
    model, stream = mlp(), torch.cuda.Stream()
    fast = compiled(model)
    x = torch.zeros(16, 64, device="cuda")
    with torch.no_grad():
        fast(x)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            x.fill_(0.5)
            y = fast(x)
        stream.synchronize()
        close(y, model(x), 1e-5)


def test_shapes_that_change():
    model = mlp()
    fast = torch.compile(model, backend="tc")
    with torch.no_grad():
        for rows in (8, 12, 3, 12):
            x = torch.randn(rows, 64, device="cuda")
            close(quiet(fast, x), model(x), 1e-5)


def test_random_numbers_stay_torchs():
    def model(x):
        return F.dropout(x * 2, 0.5) + 1

    x = torch.randn(64, 64, device="cuda")
    torch.manual_seed(7)
    want = model(x)
    torch.manual_seed(7)
    assert torch.equal(compiled(model)(x), want)


def test_more_devices():
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    for device in ("cuda:1", "cuda:0"):
        check(mlp().to(device), torch.randn(32, 64, device=device))


def test_a_target_of_another_kind_leaves_all_to_torch():
    model, x = mlp(), torch.randn(32, 64, device="cuda")
    with torch.no_grad():
        close(compiled(model, options={"target": "cpu"})(x), model(x), 1e-5)
    assert left() and all("the option target" in reason for _, _, reason in left())


def test_calls_are_recorded():
    model = nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True).cuda().eval()
    exact, fast = copy.deepcopy(model).double(), compiled(model, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(5):
            x = torch.randn(3, 20, 64, device="cuda")
            close(quiet(fast, x).clone(), exact(x.double()), 1e-5)
    assert not any(report.not_recorded for report in tct.reports())
    from torch._inductor import cudagraph_trees

    manager = cudagraph_trees.get_manager(0, create_if_none_exists=False)
    assert manager is not None and manager.new_graph_id().id > 0


def test_training_is_recorded():
    model = mlp()
    exact, fast = copy.deepcopy(model).double(), compiled(model, mode="reduce-overhead")
    for _ in range(5):
        x = torch.randn(32, 64, device="cuda")
        torch.compiler.cudagraph_mark_step_begin()
        got, want = quiet(gradients, model, fast, x), gradients(exact, exact, x.double())
        for a, b in zip(got, want):
            close(a, b, 1e-4)
    assert not any(report.not_recorded for report in tct.reports())


def test_math_is_not_left_behind():
    """Functions of floats beside torch's."""
    x = torch.linspace(0.1, 3, 999, device="cuda")
    check(lambda x: torch.exp(x) + torch.log(x) + torch.sin(x) * torch.erf(x) + x.pow(math.pi), x)
