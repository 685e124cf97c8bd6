"""The backend on tensors of a GPU that is not there: what it takes, for which target, and what attention's operators of GPUs compute."""

import pathlib
import subprocess

import pytest
import torch
import torch.nn.functional as F
from fake_cuda import TARGET, attention_of_gpus, moved, taken, traced
from suite import networks
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import tensor_comprehensions as tc
import tensor_comprehensions.torch as tct
from tensor_comprehensions.options import Options
from tensor_comprehensions.torch.decompositions import decompositions
from tensor_comprehensions.torch.compile_graph import compile_graph
from tensor_comprehensions.torch.recording import Recording, recorded
from tensor_comprehensions.torch.compiler import Compiler

needs_nvrtc = pytest.mark.skipif(not pytest.importorskip("importlib.util").find_spec("nvidia.cu13"), reason="NVRTC is not installed")


class OneAttention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.causal = causal

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))


def encoder():
    return nn.TransformerEncoderLayer(16, 2, 32, 0.0, "gelu", batch_first=True)


@needs_nvrtc
@pytest.mark.parametrize(
    "make, x",
    [
        (mlp, torch.ones(4, 16)),
        (lambda: mlp().bfloat16(), torch.ones(4, 16, dtype=torch.bfloat16)),
        (encoder, torch.ones(2, 5, 16)),
        (lambda: encoder().bfloat16(), torch.ones(2, 5, 16, dtype=torch.bfloat16)),
        pytest.param(lambda: networks.resnet((1, 1), 4), torch.ones(1, 3, 32, 32), marks=pytest.mark.long),
        (lambda: nn.Embedding(10, 4), torch.tensor([1, 2])),
    ],
    ids=["mlp", "mlp-bf16", "encoder", "encoder-bf16", "resnet", "embedding"],
)
def test_models_are_taken_whole(make, x):
    report = taken(moved(traced(make().eval(), x)))
    assert report.share == 1 and not report.reproducers and report.launches > 0, report
    assert all(reason == "a view beside no computation" for _, _, reason in report.left), report


@needs_nvrtc
@pytest.mark.parametrize("causal", [False, pytest.param(True, marks=pytest.mark.long)])
def test_attention_is_one_kernel(causal):
    q = torch.ones(2, 8, 512, 64, dtype=torch.bfloat16)
    report = taken(moved(traced(OneAttention(causal), q, q, q)))
    assert report.share == 1 and report.launches == 1, report


@needs_nvrtc
@pytest.mark.parametrize("dtype", [pytest.param(torch.float32, marks=pytest.mark.long), torch.bfloat16])
def test_training_is_taken(dtype):
    graph = traced(encoder().to(dtype), torch.ones(2, 5, 16, dtype=dtype), loss=lambda y: y.square().mean())
    report = taken(moved(graph))
    assert report.share == 1 and not report.reproducers, report


EMULATOR = pathlib.Path(tc._core.__file__).resolve().parents[2] / "bin/tc_emulate"
SMALL = networks.small(None)


@needs_nvrtc
@pytest.mark.skipif(not EMULATOR.exists(), reason="tc_emulate is not built")
@pytest.mark.parametrize(
    "name, trains",
    [(name, False) if name in ("conv1d", "dlrm") else pytest.param(name, False, marks=pytest.mark.long) for name in SMALL]
    + [pytest.param(name, True, marks=pytest.mark.long) for name in ("mlp", "encoder", "group_norm", "resnet_basic", "mixer", "unet")],
)
def test_kernels_of_models_are_right_in_the_emulator(name, trains, tmp_path):
    torch.manual_seed(0)
    model, inputs = networks.small(name)
    graph = traced(model.train(trains), *inputs, loss=(lambda y: y.square().mean()) if trains else None)
    run, report = compile_graph(moved(graph), "inference", Compiler(Options(target=TARGET)))
    assert report.share == 1 and not report.reproducers, report
    for number, runner in enumerate(report.runners):
        file = tmp_path / f"{number}.tc"
        file.write_text(runner().text)
        done = subprocess.run([EMULATOR, file, "--seeds", "1", "--target", TARGET], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_nvrtc
def test_a_model_is_captured_without_allocating_or_loading(tmp_path):
    """On a driver that only writes its calls down; with index tensors, whose tests are deferred."""
    from test_gpu_calls import run as on_a_written_down_gpu

    graph = moved(traced(nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 4), nn.LayerNorm(4), nn.Softmax(1)), torch.tensor([3, 4])))
    run, report = compile_graph(graph, "inference", Compiler(Options(target=TARGET)))
    (executable,) = report.executables
    (tmp_path / "model").write_bytes(executable.serialise())
    on_a_written_down_gpu(f"""
e = tc.load(open({str(tmp_path / "model")!r}, "rb").read())
words = {{"float32": "f4", "int64": "i8"}}
def argument(spec):
    made = OnGpu(*spec.shape)
    if spec.dtype == "int64":
        made.array = np.zeros(spec.shape, "i8")
        made.managed.tensor.data, made.managed.tensor.dtype = made.array.ctypes.data, Type(0, 64, 1)
    return made
given = [argument(spec) for _, spec, is_output in e._arguments() if not is_output]
(out,) = [argument(spec) for _, spec, is_output in e._arguments() if is_output]
e.defer_checks()
e.prepare()
driver.fake_forget()
driver.fake_capture(1)
e(*given, out=out)
assert {{line.split()[0] for line in calls().splitlines()}} == {{"cuLaunchKernel"}}, calls()
assert calls().count("cuLaunchKernel tc_raise") == 1, calls()
""")


@needs_nvrtc
def test_linear_layers_are_calls_of_cublaslt():
    """On the stand-in test/cuda/fake_cublaslt.cpp, which multiplies in memory of the host."""
    from test_gpu_calls import cublaslt
    from test_gpu_calls import run as on_a_written_down_gpu

    on_a_written_down_gpu("""
import torch
from fake_cuda import TARGET, moved, traced
from tensor_comprehensions.options import Options
from tensor_comprehensions.torch.compile_graph import compile_graph
from tensor_comprehensions.torch.compiler import Compiler

torch.manual_seed(0)
model, x = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)).eval(), torch.randn(4, 16)
_, report = compile_graph(moved(traced(model, x)), "inference", Compiler(Options(target=TARGET, libraries="cublaslt")))
(e,) = report.executables
assert report.share == 1 and len(e.stats["library_calls"]) == 2 and not e.stats["kernels"], e.stats["library_notes"]
values = {f"arg{i}_1": value for i, value in enumerate([*model.parameters(), x])}
given = []
for name, spec, is_output in e._arguments():
    given.append(OnGpu(*spec.shape))
    if not is_output:
        given[-1].array[:] = values[name].detach()
e(*given[:-1], out=given[-1])
torch.testing.assert_close(torch.from_numpy(given[-1].array), model(x).detach())
""", TC_CUBLASLT=str(cublaslt[0]))


@needs_nvrtc
def test_code_is_for_the_target():
    graph = moved(traced(mlp(), torch.ones(4, 16)))
    run, report = compile_graph(graph, "inference", Compiler(Options(target=TARGET)))
    (executable,) = report.executables
    assert executable.stats["target"] == TARGET and "__global__" in executable.source


def graph_of_two_devices():
    """tanh(x) on the GPU, sin(y) on the CPU, a copy of that to the GPU, and their sum."""
    graph = traced(lambda x, y: (torch.tanh(x) * 2 + (torch.sin(y) * 3)), torch.ones(8), torch.ones(8))
    on_gpu = moved(graph)
    before = {node.name: node for node in graph.graph.nodes}
    for node in on_gpu.graph.nodes:
        if node.name in ("arg1_1", "sin") or "sin" in str(node.args):
            node.meta["val"] = before[node.name].meta["val"]
    return on_gpu


@needs_nvrtc
def test_calls_on_two_devices_are_left_and_the_others_taken():
    report = taken(graph_of_two_devices())
    why = {target: reason for _, target, reason in report.left}
    assert why["aten.add.Tensor"] == "its tensors are on cpu and cuda:0"
    assert why["aten.sin.default"] == f"it is on cpu, and the option target is '{TARGET}'"
    assert [target for _, target in report.taken] == ["aten.tanh.default", "aten.mul.Tensor"]


@needs_nvrtc
def test_numbers_on_the_processor_count_where_they_are_used():
    def model(x, n):
        return torch.where(x > 0, x * n, torch.full((), -1.0))

    graph = traced(model, torch.ones(8), torch.tensor(2.0))
    on_gpu = moved(graph)
    before = {node.name: node for node in graph.graph.nodes}
    for node in on_gpu.graph.nodes:
        if isinstance(node.meta.get("val"), torch.Tensor) and node.meta["val"].dim() == 0:
            node.meta["val"] = before[node.name].meta["val"]
    assert not taken(on_gpu).left


def test_a_target_of_another_kind_takes_nothing():
    report = taken(moved(traced(mlp(), torch.ones(4, 16))), target="cpu")
    assert not report.taken and {reason for _, _, reason in report.left} == {"it is on cuda:0, and the option target is 'cpu'"}


def test_without_a_device_nothing_is_taken_and_the_reason_told():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    report = taken(moved(traced(mlp(), torch.ones(4, 16))), target=None)
    assert not report.taken and len({reason for _, _, reason in report.left}) == 1
    assert "CUDA" in report.left[0][2] and not report.reproducers


class Attention(nn.Module):
    def __init__(self, dtype, causal):
        super().__init__()
        self.q, self.k, self.v = (nn.Parameter(torch.randn(2, 3, 37, 8).to(dtype)) for _ in range(3))
        self.causal = causal

    def forward(self, mask=None):
        return F.scaled_dot_product_attention(self.q, self.k, self.v, attn_mask=mask, is_causal=self.causal)


@pytest.mark.parametrize(
    "dtype, causal, masked",
    [(torch.float32, False, False), (torch.float32, True, False), (torch.float32, False, True), (torch.bfloat16, True, False)],
)
def test_attention_of_gpus_and_its_gradients(dtype, causal, masked):
    torch.manual_seed(0)
    model = Attention(dtype, causal)
    mask = torch.rand(2, 1, 37, 37) > 0.3
    mask[0, 0, 5] = False  # a row that looks at nothing
    inputs = (mask,) if masked else ()
    graph = traced(model, *inputs, loss=lambda y: y.float().square().sum())
    assert any("_attention_backward" in str(node.target) for node in graph.graph.nodes)
    run, report = compile_graph(graph, "inference", Compiler())
    assert {target for _, target, _ in report.left} <= {"aten.empty.memory_format", "aten._assert_tensor_metadata.default"}
    got = run(*(p.detach() for p in model.parameters()), *inputs)
    q, k, v = (p.double() for p in model.parameters())
    loss = F.scaled_dot_product_attention(q, k, v, attn_mask=mask if masked else None, is_causal=causal).square().sum()
    for a, b in zip(got, (loss, *torch.autograd.grad(loss, list(model.parameters())))):
        assert float((a.double() - b.double()).norm() / b.double().norm()) < (1e-2 if dtype == torch.bfloat16 else 1e-5)


def test_attention_of_cudnn():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 20, 8) for _ in range(3))

    def model(q, k, v):
        result, rows, *_ = torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, True)
        return result, rows

    run, report = compile_graph(traced(model, q, k, v), "inference", Compiler())
    assert not report.left, report
    result, rows = run(q, k, v)
    scores = (q @ k.transpose(2, 3) / 8**0.5).masked_fill(~torch.ones(20, 20, dtype=torch.bool).tril(), -torch.inf)
    assert torch.allclose(result, F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-5)
    assert torch.allclose(rows, scores.logsumexp(3, keepdim=True), atol=1e-5)
    tct.reset()


def test_a_graph_on_the_processor_is_not_recorded():
    report = _reports_of(torch.compile(mlp(), backend="tc", mode="reduce-overhead"))
    assert report.not_recorded == "it is not on a GPU" and "not recorded: it is not on a GPU" in str(report)
    assert not _reports_of(torch.compile(mlp(), backend="tc", options={"cuda_graphs": False})).not_recorded


def _reports_of(model):
    tct.reset()
    torch._dynamo.reset()
    with torch.no_grad():
        model(torch.ones(4, 16))
    return tct.reports()[-1]


@pytest.mark.parametrize("kind", ["inference", "forward"])
def test_a_graph_on_one_gpu_is_recorded(monkeypatch, kind):
    asked = []
    monkeypatch.setattr("torch._inductor.cudagraph_trees.cudagraphify_impl", lambda *given, **how: asked.append((given, how)) or given[0])
    graph, called = moved(traced(mlp(), torch.ones(4, 16))), []
    recording = Recording()
    made = recorded(lambda *inputs: called.append(inputs), graph, [None] * 5, kind, recording, [])
    inputs = [1, 2]
    made(inputs)
    assert called == [(1, 2)] and inputs == []
    (((_, _, static), how),) = asked
    assert static == () and how["device_index"] == 0 and how["is_inference"] == (kind == "inference")
    assert recording.forward_device == (0 if kind == "forward" else -1)


def test_a_graph_of_two_devices_is_not_recorded():
    with pytest.raises(tct.Decline, match="device"):
        recorded(None, graph_of_two_devices(), [], "inference", Recording(), [])


@pytest.mark.parametrize("device, approximate", [("cuda:0", "tanh"), ("cpu", "none")])
def test_the_fused_encoder_layer_has_the_gelu_of_its_device(device, approximate):
    """Of the operator that nn.TransformerEncoderLayer is in inference: on a GPU cuBLAS computes it, which has the approximation alone."""
    own, layer = encoder().eval(), torch.ops.aten._transformer_encoder_layer_fwd.default
    shapes = [p.shape for p in own.parameters()]  # of attention, its projection, the two products, the two norms
    with FakeTensorMode(), torch.no_grad(), attention_of_gpus():
        p = [torch.empty(shape, device=device) for shape in shapes]
        x = torch.empty(2, 5, 16, device=device)
        given = (x, 16, 2, *p[:4], True, False, 1e-5, *p[8:12], *p[4:8], None, None)
        graph = make_fx(decompositions()[layer])(*given)
    (gelu,) = [node for node in graph.graph.nodes if node.target is torch.ops.aten.gelu.default]
    assert gelu.kwargs.get("approximate", "none") == approximate
