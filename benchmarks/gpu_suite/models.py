"""Whole models through `torch.compile(model, backend="tc")` on the GPU, beside eager and Inductor: right or not, what was taken, times.

    python3 -m gpu_suite.models RESULT.json [--dry-run]

The most important cases with tc and eager first, then Inductor for them, then the others, as long as there is time. A process that dies has
named its case in RESULT.json; started again it goes on behind it. With --dry-run models are tiny and on the CPU.
"""

import argparse
import copy
import dataclasses
import faulthandler
import os
import pathlib
import statistics
import sys
import time
import traceback
import warnings
from typing import Callable, Optional

import torch
from torch import nn

import tensor_comprehensions.torch as tct
from gpu_suite.results import PATIENCE, WRONG_ROWS, Results
from suite import networks

SECONDS_OF_A_CASE = 60
SECONDS_OF_TIMES = 0.4
SLACK = {torch.float32: (10, 1e-5), torch.bfloat16: (3, 1e-2)}
"""How many times eager's error ours may be, and what it may be anyway, as a share of the largest magnitude."""
SHORT = {torch.float32: "fp32", torch.bfloat16: "bf16"}


@dataclasses.dataclass(frozen=True)
class Model:
    """`make(tiny)` gives the module and its inputs for a batch of one, on torch's current device; `batch` more of them are drawn."""

    name: str
    make: Callable
    batch: int = 1
    dtype: torch.dtype = torch.float32
    trains: bool = False
    memory_format: Optional[torch.memory_format] = None

    @property
    def case(self):
        words = [self.name, f"b{self.batch}", SHORT[self.dtype], *(["training"] if self.trains else [])]
        return " ".join(words + (["channels_last"] if self.memory_format else []))


def mlp(batch, tiny):
    width = 32 if tiny else 1024
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)), torch.randn(64 * batch, width)


def block(batch, tiny):
    width = 64 if tiny else 768
    layer = nn.TransformerEncoderLayer(width, width // 16 if tiny else 12, 4 * width, 0.0, "gelu", batch_first=True)
    return layer, torch.randn(batch, 16 if tiny else 128, width)


def image(batch, tiny):
    return torch.randn(batch, 3, *([32, 32] if tiny else [224, 224]))


def ids(batch, tiny, words):
    return torch.randint(0, words, (batch, 16 if tiny else 128))


def resnet18(batch, tiny):
    return networks.resnet((1, 1), 8) if tiny else networks.resnet(), image(batch, tiny)


def resnet50(batch, tiny):
    return networks.resnet((1, 1), 8, True) if tiny else networks.resnet((3, 4, 6, 3), bottleneck=True), image(batch, tiny)


def mobilenet_v2(batch, tiny):
    return networks.mobilenet_v2(networks.MOBILE[:2], 8, 16) if tiny else networks.mobilenet_v2(), image(batch, tiny)


def bert(batch, tiny):
    """Transformers' BERT where the package is installed, else our own encoder of its size."""
    try:
        from transformers import BertConfig, BertModel
    except ImportError:
        return own_encoder(batch, tiny)
    small = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128, vocab_size=200)
    config = BertConfig(**(small if tiny else {}), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return _FirstResult(BertModel(config)), ids(batch, tiny, config.vocab_size)


def gpt2(batch, tiny):
    """Transformers' GPT-2 where the package is installed, else our own decoder of its size."""
    try:
        from transformers import GPT2Config, GPT2Model
    except ImportError:
        return networks.Decoder(*(200, 64, 4, 1, 32) if tiny else (50257, 768, 12, 12, 1024)), ids(batch, tiny, 200)
    small = dict(n_embd=64, n_layer=1, n_head=4, vocab_size=200) if tiny else {}
    config = GPT2Config(**small, use_cache=False, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    return _FirstResult(GPT2Model(config)), ids(batch, tiny, config.vocab_size)


def own_encoder(batch, tiny):
    return networks.Encoder(200, 64, 4, 1, 32) if tiny else networks.Encoder(), ids(batch, tiny, 200)


class _FirstResult(nn.Module):
    """A model of transformers that gives its first result alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens, return_dict=False)[0]


HALF = torch.bfloat16
FIRST = [
    Model("mlp", mlp),
    Model("block", block),
    Model("block", block, dtype=HALF),
    Model("bert", bert),
    Model("gpt2", gpt2),
    Model("block", block, 4, trains=True),
    Model("bert", bert, 16, HALF),
]
REST = [
    Model("resnet18", resnet18),
    Model("mobilenet_v2", mobilenet_v2),
    Model("resnet50", resnet50),
    Model("gpt2", gpt2, 16, HALF),
    Model("resnet18", resnet18, 16, HALF, memory_format=torch.channels_last),
    Model("mobilenet_v2", mobilenet_v2, 16, HALF),
    Model("resnet50", resnet50, 16, HALF),
    Model("encoder", own_encoder),
    Model("mlp", mlp, 16, HALF),
    Model("resnet18", resnet18, 16),
    Model("bert", bert, 16),
]


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds_of(function) -> float:
    synchronize()
    start = time.perf_counter()
    function()
    synchronize()
    return time.perf_counter() - start


def in_turns(functions: dict, budget: float) -> dict:
    """Median seconds of each, of calls that are waited for."""
    samples, end = {name: [] for name in functions}, time.perf_counter() + budget * len(functions)
    while min(map(len, samples.values())) < 5 or (time.perf_counter() < end and len(samples[next(iter(samples))]) < 100):
        for name, function in functions.items():
            samples[name].append(seconds_of(function))
    return {name: statistics.median(values) for name, values in samples.items()}


class Case:
    """A model made ready: `step(callable)` is a run of it, in training with gradients."""

    def __init__(self, model: Model, device: str, tiny: bool):
        torch.manual_seed(0)
        self.model = model
        with torch.device(device):
            module, inputs = model.make(model.batch, tiny)
        with torch.no_grad():
            _take_statistics(module, inputs)
        self.module = module.train(model.trains).to(model.dtype)
        self.inputs = inputs.to(model.dtype) if inputs.is_floating_point() else inputs
        if model.memory_format is not None:
            self.module, self.inputs = self.module.to(memory_format=model.memory_format), self.inputs.to(memory_format=model.memory_format)

    def step(self, callable, module=None, inputs=None):
        """The results of a run: its result, or the gradients of all parameters."""
        inputs = self.inputs if inputs is None else inputs
        if not self.model.trains:
            with torch.no_grad():
                return [callable(inputs)]
        module = self.module if module is None else module
        made = callable(inputs)
        loss = (made * torch.sin(torch.arange(made.numel(), device=made.device).view_as(made))).sum()  # a norm's square has hardly a gradient
        return [loss, *torch.autograd.grad(loss, list(module.parameters()))]

    def expected(self):
        """The results in float64."""
        exact = copy.deepcopy(self.module).double()
        return self.step(exact, exact, self.inputs.double() if self.inputs.is_floating_point() else self.inputs)


def _take_statistics(module, inputs):
    """Gives batch norms the statistics of `inputs`: with random weights, results would else be those of zeros."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = None
        norm.train()
    if norms:
        module(inputs)
    module.eval()


def error_of(results, expected) -> float:
    """The largest difference as a share of the largest magnitude of a result; infinite where a number is none."""
    worst = 0.0
    for got, want in zip(results, expected):
        difference = (got.detach().double() - want.detach()).abs().max() / want.detach().abs().max().clamp_min(1e-30)
        worst = max(worst, float(difference) if torch.isfinite(difference) else float("inf"))
    return worst


def described(reports) -> dict:
    """What the reports of a model say."""
    left = [f"{r.kind}: {target}: {reason}" for r in reports for _, target, reason in r.left]
    taken, rest = sum(r.flops_taken for r in reports), sum(r.flops_left for r in reports)
    return {
        "launches": sum(r.launches for r in reports), "nodes": sum(len(r.taken) for r in reports), "left": sorted(set(left)),
        "nodes_left": len(left), "share": taken / (taken + rest) if taken + rest else 1.0,
    }


def measure(case: Case) -> dict:
    """The row of a case."""
    torch._dynamo.reset()
    tct.reset()
    eager = lambda: case.step(case.module)
    fast = torch.compile(case.module, backend="tc", dynamic=False)
    ours = lambda: case.step(fast)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        synchronize()
        start = time.perf_counter()
        results = ours()
        synchronize()
        first = time.perf_counter() - start
        results = ours()
    expected = case.expected()
    error, eagers = error_of(results, expected), error_of(eager(), expected)
    times_eagers, anyway = SLACK[case.model.dtype]
    row = {"case": case.model.case, "error": error, "eager_error": eagers, "first_call": first, **described(tct.reports())}
    row["warnings"] = sorted({str(w.message).splitlines()[0][:300] for w in said if "tc" in str(w.message)})
    row["status"] = "ok" if error <= max(times_eagers * eagers, anyway) else "wrong"
    row["seconds"] = in_turns({"eager": eager, "tc": ours}, SECONDS_OF_TIMES)
    return row


def graphed(case: Case, row: dict) -> None:
    """Adds the time of `mode="reduce-overhead"` to a row, or why there is none."""
    try:
        tct.reset()
        fast = torch.compile(case.module, backend="tc", dynamic=False, mode="reduce-overhead")
        for _ in range(4):
            results = [r.clone() for r in case.step(fast)]
        row["graph_error"] = error_of(results, case.expected())
        row["seconds"] |= in_turns({"tc, reduce-overhead": lambda: case.step(fast)}, SECONDS_OF_TIMES)
        refusals = {report.not_recorded for report in tct.reports() if report.not_recorded}
        row |= {"graph_failed": "; ".join(sorted(refusals))} if refusals else {}
    except Exception as error:
        traceback.print_exc()
        row["graph_failed"] = _line(error)


def by_inductor(case: Case) -> dict:
    torch._dynamo.reset()
    fast = torch.compile(case.module, dynamic=False)
    functions = {"eager": lambda: case.step(case.module), "inductor": lambda: case.step(fast)}
    first = seconds_of(functions["inductor"])
    return {"case": f"{case.model.case}, inductor", "status": "ok", "first_call": first, "seconds": in_turns(functions, SECONDS_OF_TIMES)}


def _line(error) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:300]


def guarded(name: str, work) -> dict:
    """What `work` makes, or a row that says why there is none. An error of the device ends the process: nothing works after it."""
    try:
        return work()
    except Exception as error:
        traceback.print_exc()
        if "CUDA error" in str(error) or type(error).__name__ in ("DeviceError", "AcceleratorError"):
            sys.stdout.flush()
            os._exit(3)
        return {"case": name, "status": f"failed: {_line(error)}"}


class Run:
    """All cases in one process."""

    def __init__(self, results: Results, dry: bool):
        self.results, self.dry, self.device = results, dry, "cpu" if dry else "cuda"
        self.end = time.monotonic() + float(os.environ.get("TC_SECTION_SECONDS", "600")) - 3
        self.ready = {}

    def one(self, name: str, work, least: float) -> None:
        """A row, unless it was tried or fewer seconds than `least` are left."""
        if self.results.tried(name) or self.end - time.monotonic() < least:
            return
        self.results.begin(name)
        faulthandler.dump_traceback_later(SECONDS_OF_A_CASE * (PATIENCE if self.dry else 1), exit=True)
        start = time.perf_counter()
        row = guarded(name, work) | {"seconds_of_the_case": time.perf_counter() - start}
        faulthandler.cancel_dump_traceback_later()
        print(name, {k: v for k, v in row.items() if k != "case"}, flush=True)
        self.results.end(row)

    def measured(self, model: Model) -> dict:
        case = Case(model, self.device, self.dry)
        row = measure(case)
        if not self.dry:
            graphed(case, row)
        self.ready[model.case] = case
        return row

    def all(self) -> None:
        torch.compile(lambda x: x + 1, backend="tc")(torch.ones(4, device=self.device))  # what torch loads once belongs to no case
        for models in (FIRST, REST):
            for model in models:
                self.one(model.case, lambda model=model: self.measured(model), 8)
            for model in models:
                if model.case in self.ready and not self.dry:
                    self.one(f"{model.case}, inductor", lambda model=model: by_inductor(self.ready[model.case]), 20)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--dry-run", action="store_true")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    results = Results(arguments.result)
    Run(results, arguments.dry_run).all()
    results.save()
    rows = results.content["rows"]
    return WRONG_ROWS if not rows or any(row["status"] != "ok" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
