"""Recurrent layers and a loop of Python over time through torch.compile: eager, tc and Inductor, in turns, in one process.

    .venv/bin/python benchmarks/recurrent_layers.py                       # one thread
    .venv/bin/python benchmarks/recurrent_layers.py --threads 2 --only lstm --backends eager,tc

Shapes are steps x batch x inputs, width. `unrolled` is Inductor with torch._dynamo.config.allow_rnn, which tc needs; without it, Inductor leaves the
layers to eager torch. Results and gradients are compared with float64. Training is a forward and a backward pass. `first` is the time of the first
call, compiles included.
"""

import argparse
import copy
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch

import tensor_comprehensions as tc
from suite import measure


class Selective(torch.nn.Module):
    """The scan of Mamba as models write it: a state of `width` x 16, a step for each element of the sequence."""

    def __init__(self, width):
        super().__init__()
        self.rates = torch.nn.Parameter(-torch.rand(width, 16))
        self.of_input = torch.nn.Linear(width, 33)

    def forward(self, x):
        read, write, step = self.of_input(x).split((16, 16, 1), -1)
        step = torch.nn.functional.softplus(step)
        decay = torch.exp(step.unsqueeze(-1) * self.rates)
        added = (step * x).unsqueeze(-1) * write.unsqueeze(2)
        state, results = torch.zeros_like(decay[0]), []
        for t in range(x.shape[0]):
            state = decay[t] * state + added[t]
            results.append((state * read[t].unsqueeze(1)).sum(-1))
        return torch.stack(results)


def cases():
    for kind in ("LSTM", "GRU"):
        for steps, batch, inputs, width in ((32, 1, 64, 64), (64, 16, 128, 256), (128, 32, 256, 512)):
            yield f"{kind.lower()} {steps}x{batch}x{inputs}, {width}", getattr(torch.nn, kind)(inputs, width), (steps, batch, inputs)
    yield "lstm 2 layers, both ways 64x16x128, 128", torch.nn.LSTM(128, 128, num_layers=2, bidirectional=True), (64, 16, 128)
    yield "selective scan 64x4x128", Selective(128), (64, 4, 128)


def compiled(name, model):
    """(callable, whether recurrent layers are traced)."""
    model = copy.deepcopy(model)
    if name == "eager":
        return model, False
    return torch.compile(model, backend="tc" if name == "tc" else "inductor", dynamic=False), name != "inductor"


def output(results):
    return results[0] if isinstance(results, tuple) else results


def runs(name, model, x, training):
    run, traced = compiled(name, model)
    parameters = list(run.parameters())

    def infer():
        with torch.no_grad():
            return [output(run(x))]

    def train():
        given = x.detach().requires_grad_()
        result = output(run(given))
        return [result, *torch.autograd.grad(result.square().sum(), [given, *parameters])]

    call = train if training else infer
    begun = time.perf_counter()
    with torch._dynamo.config.patch(allow_rnn=traced):
        call()
    return call, time.perf_counter() - begun


def check(name, made, exact):
    for mine, right in zip(made, exact):
        assert (mine - right).abs().max() <= 1e-3 * max(1.0, right.abs().max()), name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, for each case")
    parser.add_argument("--backends", default="eager,tc,inductor,unrolled")
    parser.add_argument("--only", default="", help="cases whose names have this")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    tc.set_num_threads(asked.threads)
    torch.set_num_threads(asked.threads)
    rows = {}
    print(f"torch {torch.__version__}, {asked.threads} thread(s); ms, first call in s")
    for name, model, shape in cases():
        for training in (False, True):
            if asked.only not in name:
                continue
            torch.manual_seed(0)
            x = torch.randn(shape)
            exact = runs("eager", model.double(), x.double(), training)[0]()
            model, calls, first = model.float(), {}, {}
            for backend in asked.backends.split(","):
                torch._dynamo.reset()
                calls[backend], first[backend] = runs(backend, model, x, training)
                check(f"{name}, {backend}", calls[backend](), exact)
            times, _ = measure.interleaved(calls, {}, asked.seconds, asked.threads)
            label = f"{name}, {'training' if training else 'inference'}"
            rows[label] = {b: {"ms": times[b].median * 1e3, "first_s": first[b]} for b in calls}
            print(f"{label:52}" + "".join(f"{b} {r['ms']:9.3f} ({r['first_s']:5.1f})  " for b, r in rows[label].items()), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
