"""What the backend promises beside right numbers: what it tells, what it does when things fail, random numbers, shapes, threads."""

import copy
import importlib.util
import logging
import os
import subprocess
import sys
import threading

import pytest
import torch

import tensor_comprehensions as tc
import tensor_comprehensions.torch as tct
from tensor_comprehensions.options import Options
from tensor_comprehensions.torch import dynamo, symbolic_graphs
from tensor_comprehensions.torch.compiler import Compiler
from tensor_comprehensions.torch.runner import MOST_BINDINGS


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


def chain(x, w):
    return torch.relu(x @ w).sum(-1)


EPSILON = torch.finfo(torch.float32).eps
X, W = torch.arange(12.0).reshape(3, 4) - 6, torch.arange(8.0).reshape(4, 2) - 3


def test_the_name_is_known_to_torch():
    assert "tc" in torch._dynamo.list_backends(exclude_tags=())
    assert tc.torch is tct


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("import tensor_comprehensions, torch", marks=pytest.mark.long),
        pytest.param("import torch, tensor_comprehensions", marks=pytest.mark.long),
        "import torch._dynamo\ntorch._dynamo.list_backends()\ntorch._dynamo.backends.registry._BACKENDS.pop('tc', None)\nimport tensor_comprehensions",
    ],
)
def test_the_name_is_known_after_the_package_is_imported(before):
    folder = os.path.dirname(os.path.dirname(tc.__file__))
    program = f"""import sys
{before}
x = torch.arange(6.0)
assert "tensor_comprehensions.torch" not in sys.modules
assert torch.equal(torch.compile(lambda x: x * 2 + 1, backend="tc")(x), x * 2 + 1)
assert len(tensor_comprehensions.torch.reports()) == 1
"""
    subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": folder}, check=True)


def test_the_package_imports_nothing_of_torch():
    program = "import sys, tensor_comprehensions\nassert not any(name.partition('.')[0] == 'torch' for name in sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(tc.__file__))}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_what_the_language_has_no_text_for_runs_in_torch_and_is_told(caplog):
    def model(x):
        return torch.sort(x * 2 + 1).values.exp() / 3

    x = torch.tensor([3.0, 1.0, 2.0])
    with caplog.at_level(logging.INFO, "tensor_comprehensions.torch"):
        assert torch.allclose(torch.compile(model, backend="tc")(x), model(x))
    (report,) = tct.reports()
    assert [(target, why) for _, target, why in report.left] == [("aten.sort.default", "no text for it")]
    assert report.launches == 2 and len(report.taken) == 4
    assert "1 left to torch" in caplog.text and "aten.sort.default" in caplog.text


def test_a_reason_says_why():
    def model(x, i):
        return x.exp() + (i & 3)

    torch.compile(model, backend="tc")(torch.randn(2000), torch.arange(2000))
    reasons = {target: why for _, target, why in tct.reports()[0].left}
    assert "bits of integers" in reasons["aten.bitwise_and.Scalar"]


def test_scatters_are_taken():
    index, columns = torch.tensor([[2, 0, 2], [1, 2, 2]]), torch.tensor([3, 1, 3, 0])

    def model(table, x):
        rows = torch.nn.functional.embedding(index, table, padding_idx=1)
        return (rows * x[:, columns].sum()).square().sum() + x.index_add(1, columns, x[:, columns])[:, 1:].unfold(1, 2, 1).square().sum()

    def gradients(f):
        table, x = torch.arange(12.0).reshape(3, 4).requires_grad_(), (torch.arange(8.0) - 3).reshape(2, 4).requires_grad_()
        return torch.autograd.grad(f(table, x), (table, x))

    made = gradients(torch.compile(model, backend="tc"))
    for ours, theirs in zip(made, gradients(model)):
        assert torch.equal(ours, theirs)
    assert [report.left for report in tct.reports()] == [[], []]


def test_an_index_outside_is_torchs_error():
    def model(x, index):
        return x.scatter_add(0, index, x)

    with pytest.warns(UserWarning, match="failed and ran in torch"), pytest.raises(RuntimeError, match="out of bounds"):
        torch.compile(model, backend="tc")(torch.ones(3), torch.tensor([0, 3, 1]))


@pytest.mark.parametrize("wrong", [{"libraries": "mkl"}, {"layouts": "best"}, {"target": "tpu"}, {"options": "fusion=most"}, {"specialise_seconds": "soon"}])
def test_a_wrong_value_of_an_option_is_an_error(wrong):
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=next(iter(wrong.values())).split("=")[-1]):
        torch.compile(chain, backend="tc", options=wrong)(X, W)
    assert not tct.reports()


def test_derivations_are_an_option():
    torch.manual_seed(0)
    model = torch.nn.ConvTranspose2d(64, 32, 4, 2, 1).eval()
    x = torch.randn(1, 64, 8, 8)
    derived = []
    for depth in (0, 1):
        torch._dynamo.reset()
        with torch.no_grad():
            torch.testing.assert_close(torch.compile(model, backend="tc", options={"derive": depth})(x), model(x), rtol=1e-4, atol=1e-4)
        derived.append([node["rules"] for executable in tct.reports()[-1].executables for node in executable.stats["derived"]])
    assert derived[0] == [] and derived[1], "the sum of products and its windows are fused"


@pytest.mark.parametrize("layouts", ["adjacent", "forward", "backward", "resolve", "measured"])
def test_layouts_of_a_model_change_no_bits(layouts):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 16, 3), torch.nn.MaxPool2d(2)).eval()
    for parameter in model.parameters():
        parameter.data = torch.randint(-2, 3, parameter.shape).float()
    x = torch.randint(-2, 3, (1, 16, 18, 18)).float()
    fast = torch.compile(model, backend="tc", options={"layouts": layouts, "freeze": True, "cache": False})
    with torch.no_grad():
        assert torch.equal(fast(x), model(x))
    (executable,) = tct.reports()[-1].executables
    assert bool(executable.stats["finalists"]) == (layouts == "measured")


class Refusing(Compiler):
    """Refuses parts whose text holds a word."""

    def __init__(self, word):
        super().__init__(Options(cache=False))
        self.word = word

    def compile(self, text, inputs, outputs, partition="auto", target=None):
        if self.word in text:
            raise tc.ResourceError("the compiler took too long")
        return super().compile(text, inputs, outputs, partition)


def test_a_part_that_fails_to_compile_runs_in_torch(monkeypatch):
    monkeypatch.setattr(dynamo, "_shared_compiler", lambda options: Refusing("* B("))
    with pytest.warns(UserWarning, match="failed to compile: the compiler took too long.*runs in torch"):
        result = torch.compile(lambda x, w: torch.exp(chain(x, w) / 9) + 1, backend="tc")(X, W)
    assert torch.allclose(result, torch.exp(chain(X, W) / 9) + 1)
    (report,) = tct.reports()
    assert report.parts and report.reproducers and any("failed to compile" in why for _, _, why in report.left)
    assert set(os.listdir(report.reproducers[0])) == {"part.tc", "specs.json"}
    with open(os.path.join(report.reproducers[0], "part.tc"), encoding="utf-8") as file:
        assert tc.define(file.read()).part


def test_a_graph_whose_nodes_are_not_at_fault_is_compiled_node_by_node(monkeypatch):
    class RefusingMergedParts(Compiler):
        def compile(self, text, inputs, outputs, partition="auto", target=None):
            if "def main(" in text and partition == "auto":
                raise tc.ResourceError("the compiler took too long")
            return super().compile(text, inputs, outputs, partition)

    monkeypatch.setattr(dynamo, "_shared_compiler", lambda options: RefusingMergedParts())
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3))
    x = torch.randn(2, 2, 6, 6)
    with torch.no_grad():
        ours = torch.compile(model, backend="tc")(x)
        assert torch.allclose(ours, model(x), atol=1e-5) and ours.abs().max() > 1e-2
    (report,) = tct.reports()
    assert not report.left and not report.reproducers and report.launches >= 3


def test_only_the_node_at_fault_is_left_whatever_its_fault_is(monkeypatch):
    class Faulty(Compiler):
        def compile(self, text, inputs, outputs, partition="auto", target=None):
            if "exp(" in text:
                raise AssertionError("not this one")
            return super().compile(text, inputs, outputs, partition)

    monkeypatch.setattr(dynamo, "_shared_compiler", lambda options: Faulty(Options(cache=False)))
    result = torch.compile(lambda x, w: torch.exp(chain(x, w) / 9).max(0).values + 1, backend="tc")(X, W)
    assert torch.allclose(result, torch.exp(chain(X, W) / 9).max(0).values + 1)
    (report,) = tct.reports()
    assert [(target, why) for _, target, why in report.left] == [("aten.exp.default", "it failed to compile: AssertionError: not this one")]


@pytest.mark.parametrize("error", [tc.DeviceError, RuntimeError, AssertionError, IndexError])
def test_a_part_that_fails_at_run_time_runs_in_torch(monkeypatch, error):
    class Failing(Compiler):
        def compile(self, text, inputs, outputs, partition="auto", target=None):
            def run(*tensors, out):
                raise error("it went wrong")

            run.stats, run.defer_checks = {"launches": 1}, lambda: None
            return run

    monkeypatch.setattr(dynamo, "_shared_compiler", lambda options: Failing())
    with pytest.warns(UserWarning, match="ran in torch: it went wrong"):
        result = torch.compile(chain, backend="tc")(X, W)
    assert torch.equal(result, chain(X, W))


def test_an_index_outside_is_torchs_own_error():
    table = torch.nn.Embedding(5, 3)
    compiled = torch.compile(table, backend="tc")
    with torch.no_grad():
        assert torch.equal(compiled(torch.tensor([4, 0])), table(torch.tensor([4, 0])))
        with pytest.warns(UserWarning, match="ran in torch"), pytest.raises(IndexError, match="out of range"):
            compiled(torch.tensor([5, 0]))


def test_eight_threads_call_one_model():
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4), torch.nn.Softmax(-1))
    compiled = torch.compile(model, backend="tc")
    inputs = [torch.randn(5, 16) for _ in range(8)]
    with torch.no_grad():
        compiled(inputs[0])
        expected = [model(x) for x in inputs]
    wrong = []

    def work(k):
        with torch.no_grad():
            for _ in range(50):
                if not torch.allclose(compiled(inputs[k]), expected[k], atol=1e-6):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_results_of_two_calls_share_no_memory():
    compiled = torch.compile(lambda x: (x * 2, (x * 2).t()), backend="tc")
    first, turned = compiled(X)
    second, _ = compiled(X + 1)
    assert torch.equal(first, X * 2) and torch.equal(turned, (X * 2).t()) and torch.equal(second, X * 2 + 2)


def test_an_argument_is_not_given_back_as_a_result():
    compiled = torch.compile(lambda x: (x.clone(), torch.flip(x, [0]), x.view(4, 3)), backend="tc")
    copied, flipped, view = compiled(X)
    assert copied.data_ptr() != X.data_ptr() and view.data_ptr() == X.data_ptr()
    assert torch.equal(copied, X) and torch.equal(flipped, X.flip(0)) and torch.equal(view, X.view(4, 3))


def test_arguments_are_changed_as_torch_changes_them():
    def model(x, total):
        total += x.sum(0)
        return x * total

    ours, theirs = torch.ones(4), torch.ones(4)
    assert torch.equal(torch.compile(model, backend="tc")(X, ours), model(X, theirs)) and torch.equal(ours, theirs)


def test_strides_are_torchs():
    convolution = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    for model in (
        convolution,
        lambda x: x.permute(0, 2, 3, 1) * 2,
        lambda x: x.sum(1, keepdim=True).expand(-1, 3, -1, -1),
    ):
        torch._dynamo.reset()
        with torch.no_grad():
            ours, theirs = torch.compile(model, backend="tc")(x), model(x)
        assert ours.stride() == theirs.stride() and torch.allclose(ours, theirs, atol=1e-5)


def test_shapes_that_change():
    compiled = torch.compile(chain, backend="tc")
    for rows in (3, 5, 7, 5, 9, 1):
        x = torch.arange(4.0 * rows).reshape(rows, 4) - 6
        assert torch.equal(compiled(x, W), chain(x, W))
    assert [report.sizes for report in tct.reports()] == ["", "all like the first", ""]


@pytest.mark.parametrize("seconds, most, compiled", [(1e9, 2, 2), (1e-9, 16, 1), (0, 16, 0)])
def test_many_shapes_end_in_torch_without_alarm(monkeypatch, recwarn, seconds, most, compiled):
    monkeypatch.setattr(symbolic_graphs, "MOST_SPECIALISATIONS", most)
    monkeypatch.setattr(symbolic_graphs, "MOST_GENERALISATIONS", 0)
    run = torch.compile(chain, backend="tc", dynamic=True, options={"specialise_seconds": seconds})
    for _ in range(2):
        for rows in (5, 6, 7, 8, 9):
            x = torch.arange(4.0 * rows).reshape(rows, 4) - 6
            assert torch.equal(run(x, W), chain(x, W))
    assert len(tct.reports()) == compiled and not recwarn.list


def test_work_is_counted_alike_wherever_it_runs():
    """By operator and shape: a product is 2 MNK operations whether it is taken or left, and a ragged one is not its result's size."""
    x, weights, offsets = torch.randn(12, 16), torch.randn(3, 16, 32), torch.tensor([4, 4, 12], dtype=torch.int32)

    def model(x, weights, offsets):
        order = torch.sort(x[:, 0]).indices
        return torch._grouped_mm(x[order].bfloat16(), weights.bfloat16(), offs=offsets).float() @ weights[0].t()

    torch.compile(model, backend="tc")(x, weights, offsets)
    (report,) = tct.reports()
    of = {target: report.work[node] for node, target, *_ in [*report.taken, *report.left]}
    assert "aten._grouped_mm.default" in [target for _, target in report.taken]
    assert of["aten._grouped_mm.default"].flops == 2 * 12 * 16 * 32 == of["aten.mm.default"].flops
    assert of["aten.sort.default"].flops == 12 * 4
    assert report.share == report.flops_taken / sum(work.flops for work in report.work.values())
    assert of["aten.mm.default"].bytes == 4 * (12 * 32 + 32 * 16 + 12 * 16)


@pytest.mark.parametrize("shape, dims", [((3, 64), 1), ((64, 4096), 1), ((4096, 64), 0), ((100_000, 8), 0), ((300_000,), 0), ((4, 3, 64, 64), (0, 2, 3))])
def test_moments_of_values_far_from_zero(shape, dims):
    torch.manual_seed(0)
    x = 1000 + torch.randn(shape)

    def moments(x):
        return x.var(dims), x.std(dims, correction=0), torch.var_mean(x, dims)[1], x.mean(dims), x.sum(dims), torch.linalg.vector_norm(x, 2, dims)

    ours, eager, exact = torch.compile(moments, backend="tc")(x), moments(x), moments(x.double())
    for mine, theirs, right in zip(ours, eager, exact):
        assert (mine - right).abs().max() <= 4 * (theirs - right).abs().max() + 4 * EPSILON * right.abs().max()


@pytest.mark.parametrize(
    "norm, shape",
    [
        (torch.nn.LayerNorm(2048), (4, 2048)),
        (torch.nn.GroupNorm(2, 4), (2, 4, 32, 32)),
        (torch.nn.BatchNorm2d(3), (8, 3, 32, 32)),
        (torch.nn.InstanceNorm2d(3), (2, 3, 64, 64)),
    ],
)
def test_norms_and_their_gradients_of_values_far_from_zero(norm, shape):
    torch.manual_seed(0)
    x, seed = 1000 + torch.randn(shape), torch.randn(shape)

    def results(run, dtype):
        given = x.to(dtype).requires_grad_()
        made = run(given)
        return made.detach(), *torch.autograd.grad(made, given, seed.to(dtype))

    exact, eager = results(copy.deepcopy(norm).double(), torch.float64), results(copy.deepcopy(norm), torch.float32)
    ours = results(torch.compile(copy.deepcopy(norm), backend="tc"), torch.float32)
    for mine, theirs, right in zip(ours, eager, exact):
        assert (mine - right).abs().max() <= 4 * (theirs - right).abs().max() + 8 * EPSILON * right.abs().max()


def ragged_product_of_float32():
    """The operator by which the package transformers has ragged products of types that torch does not trace."""
    if importlib.util.find_spec("transformers"):
        importlib.import_module("transformers.integrations.moe")
    elif not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        schema = "(Tensor input, Tensor weight, Tensor offs) -> Tensor"
        made = torch.library.custom_op("transformers::grouped_mm_fallback", lambda *_: None, mutates_args=(), schema=schema)
        made.register_fake(lambda x, weights, ends: x.new_empty(x.shape[0], weights.shape[2]))
    return torch.ops.transformers.grouped_mm_fallback


@pytest.mark.parametrize("rows, groups", [(3, 3), (12, 3), (40, 2), (7, 4), (64, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_ragged_products(rows, groups, dtype):
    """Groups of any number of rows, empty ones among them; rows behind the last end are of none."""
    torch.manual_seed(rows)
    x, weights = torch.randint(-4, 5, (rows, 8)).to(dtype), torch.randint(-4, 5, (groups, 16, 8)).to(dtype)
    operator = torch._grouped_mm if dtype == torch.bfloat16 else ragged_product_of_float32()
    fast = torch.compile(lambda x, weights, ends: operator(x, weights.transpose(1, 2), ends), backend="tc", dynamic=False)
    for _ in range(8):
        ends = torch.randint(0, rows + 1, (groups,)).sort().values.int()
        expected, begin = torch.zeros(rows, 16), 0
        for group, end in enumerate(ends.tolist()):
            expected[begin:end] = x[begin:end].float() @ weights[group].float().t()
            begin = end
        with torch.no_grad():
            assert torch.equal(fast(x, weights, ends), expected.to(dtype))
    assert not [why for report in tct.reports() for _, _, why in report.left if not why.startswith("a view")]


def test_products_with_few_rows_of_many_groups_are_torchs():
    x, weights, ends = torch.ones(2, 8).bfloat16(), torch.ones(4, 8, 16).bfloat16(), torch.tensor([0, 1, 2, 2], dtype=torch.int32)
    fast = torch.compile(lambda x, weights, ends: torch._grouped_mm(x * 2, weights, offs=ends), backend="tc")
    assert torch.equal(fast(x, weights, ends), torch.full((2, 16), 16.0).bfloat16())
    assert [target for _, target, _ in tct.reports()[0].left] == ["aten._grouped_mm.default"]


def test_running_sums_are_as_exact_as_torchs():
    torch.manual_seed(0)
    for size in (7, 16, 17, 1000):
        torch._dynamo.reset()
        x = 1000 + torch.randn(5, size)
        ours, eager, exact = torch.compile(lambda x: (x * 1).cumsum(1), backend="tc")(x), x.cumsum(1), x.double().cumsum(1)
        assert (ours - exact).abs().max() <= 2 * (eager - exact).abs().max()
        assert not tct.reports()[-1].left


def test_running_extremes_and_their_places():
    torch.manual_seed(0)
    rows = torch.randint(-5, 6, (3, 200))
    broken = rows.float()
    broken[0, 100] = broken[1, 0] = broken[1, 7] = torch.nan
    for x in (rows.int(), broken, broken.bfloat16()):
        for dim, function in ((0, torch.cummax), (1, torch.cummax), (1, torch.cummin)):
            torch._dynamo.reset()
            ours, eager = torch.compile(lambda x: function(x * 1, dim), backend="tc")(x), function(x, dim)
            assert torch.equal(ours[0].nan_to_num(99), eager[0].nan_to_num(99)) and torch.equal(ours[1], eager[1])
            assert not tct.reports()[-1].left


def test_running_sums_of_exponentials_do_not_overflow():
    torch.manual_seed(0)
    x = torch.randn(4, 200) * 300
    x[0, :3] = -torch.inf
    x[1, 50], x[2, 40] = torch.inf, torch.nan
    for dim in (0, 1):
        for dtype, within in ((torch.float32, 1e-5), (torch.bfloat16, 1e-2)):
            torch._dynamo.reset()
            ours, eager = (f(x.to(dtype)) for f in (torch.compile(lambda x: (x * 1).logcumsumexp(dim), backend="tc"), lambda x: x.logcumsumexp(dim)))
            assert torch.allclose(ours, eager, equal_nan=True, rtol=within)
            assert not tct.reports()[-1].left
    x = torch.randn(3, 50, requires_grad=True)
    model = lambda x: ((x * 1).logcumsumexp(1) * torch.arange(50.0)).sum()
    got, want = (torch.autograd.grad(f(x), x)[0] for f in (torch.compile(model, backend="tc"), model))
    assert torch.allclose(got, want, rtol=1e-4)


def test_running_products_and_gradients_of_running_sums():
    torch.manual_seed(0)
    x = (1 + torch.randn(3, 200) / 20).requires_grad_()
    for function in (lambda x: (x * 2).cumsum(1).tanh().sum(), lambda x: (x * 1).cumprod(1).sum()):
        torch._dynamo.reset()
        ours = torch.compile(function, backend="tc")(x)
        assert torch.allclose(ours, function(x), rtol=1e-4)
        got, want = torch.autograd.grad(ours, x)[0], torch.autograd.grad(function(x), x)[0]
        assert torch.allclose(got, want, rtol=1e-3, atol=1e-4)


def test_random_numbers_are_torchs():
    def model(x):
        return torch.nn.functional.dropout(x * 2, 0.5) + torch.rand_like(x) + torch.nn.functional.dropout(x, 0.25)

    torch.manual_seed(3)
    expected, after = model(X), torch.rand(1)
    torch.manual_seed(3)
    ours = torch.compile(model, backend="tc")(X)
    assert torch.allclose(ours, expected) and torch.equal(torch.rand(1), after)


def test_second_calls_compile_nothing():
    compiled = torch.compile(chain, backend="tc")
    compiled(X, W)
    compiled(X + 1, W)
    assert len(tct.reports()) == 1


def test_unknown_options_are_refused():
    with pytest.raises(Exception, match="the backend tc has no 'speed'"):
        torch.compile(chain, backend="tc", options={"speed": 11})(X, W)


def test_equal_parts_are_compiled_once():
    layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(6)])
    with torch.no_grad():
        torch.compile(layers, backend="tc")(torch.randn(4, 8))
    (report,) = tct.reports()
    assert report.launches == 6 and len({part.text for part in report.parts}) == 2


def test_types_of_autocast():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4), torch.nn.LayerNorm(4))

    def mixed(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x)

    x = torch.randn(5, 8)
    ours, theirs = torch.compile(mixed, backend="tc")(x), mixed(x)
    assert ours.dtype == theirs.dtype and torch.allclose(ours.float(), theirs.float(), atol=2e-2)
    assert not any(report.left for report in tct.reports())


def test_integers_are_divided_as_torch_divides_them():
    def model(x):
        quotients = [torch.div(x, 3, rounding_mode=mode) for mode in ("floor", "trunc")]
        return [*quotients, x % 3, torch.fmod(x, 3), x // 4]

    x = torch.arange(-7, 8)
    for ours, theirs in zip(torch.compile(model, backend="tc")(x), model(x)):
        assert torch.equal(ours, theirs)
    assert not tct.reports()[0].left


def test_a_loss_is_trained():
    layer = torch.nn.Linear(4, 3)
    optimiser = torch.optim.SGD(layer.parameters(), 0.5)
    x, target = torch.randn(16, 4), torch.arange(16) % 3
    loss_of = torch.compile(lambda: torch.nn.functional.cross_entropy(layer(x), target), backend="tc")
    losses = []
    for _ in range(6):
        optimiser.zero_grad()
        loss = loss_of()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]
    assert len(tct.reports()) == 2


def test_halves_are_rounded_to_even():
    x = torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25, 2.75, 1e9, float("inf")])
    assert torch.equal(torch.compile(torch.round, backend="tc")(x), torch.round(x))


@pytest.mark.parametrize(
    "model",
    [
        lambda x: x[:, :1].expand(3, 4).sum(1) + torch.ones(3, 4).sum(1),
        lambda x: x[:, :1].expand(3, 4).mean() * torch.full((5,), 2.0).prod(),
        lambda x: torch.log_softmax(x[:1].expand(3, 4), 0),
        lambda x: x[:, :1].expand(3, 4) @ x[:1, :1].expand(4, 2),
        lambda x: torch.nn.functional.avg_pool1d(x[:, :1].expand(3, 4)[None], 2),
    ],
)
def test_reductions_over_expanded_tensors_count_every_element(model):
    assert torch.allclose(torch.compile(model, backend="tc")(X), model(X))


def test_gradients_of_a_plain_sum():
    model = torch.nn.Sequential(
        torch.nn.Conv1d(2, 3, 2), torch.nn.Flatten(), torch.nn.LayerNorm(9), torch.nn.LogSoftmax(-1)
    )
    x = torch.randn(2, 2, 4)
    ours = torch.autograd.grad(torch.compile(model, backend="tc")(x).sum(), list(model.parameters()))
    theirs = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    for a, b in zip(ours, theirs):
        assert torch.allclose(a, b, atol=1e-4)


def test_frozen_weights_are_held_and_noticed_when_they_change(monkeypatch):
    torch.manual_seed(0)
    bound, unbound = [], []
    bind, compile_ = Compiler.bind, Compiler.compile
    monkeypatch.setattr(Compiler, "bind", lambda *given: bound.append(bind(*given)) or bound[-1])
    monkeypatch.setattr(Compiler, "compile", lambda *given, **how: unbound.append(compile_(*given, **how)) or unbound[-1])
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(512, 4)
    ).eval()
    model[1].running_var.uniform_(0.5, 2)
    fast = torch.compile(model, backend="tc", options={"freeze": True})
    x = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x))
        torch.testing.assert_close(fast(x), model(x))
        assert len(bound) == 1 and bound[0].stats["constants"] >= 8
        assert not unbound, "nothing is compiled that no call runs"
        model[4].weight.mul_(2)
        torch.testing.assert_close(fast(x), model(x))
        model[0].weight.data = torch.randn(8, 3, 3, 3)
        torch.testing.assert_close(fast(x), model(x))
        model.load_state_dict({name: torch.rand_like(value) if value.is_floating_point() else value for name, value in model.state_dict().items()})
        torch.testing.assert_close(fast(x), model(x))
        for _ in range(12):
            model[4].bias.add_(1)
            torch.testing.assert_close(fast(x), model(x))
    assert len(bound) == MOST_BINDINGS and len(unbound) == 1


def test_freezing_leaves_training_alone():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    fast = torch.compile(model, backend="tc", options={"freeze": True})
    x = torch.randn(4, 6)
    for _ in range(2):
        fast(x).square().sum().backward()
        got = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        model(x).square().sum().backward()
        for mine, parameter in zip(got, model.parameters()):
            torch.testing.assert_close(mine, parameter.grad)
        model.zero_grad()
