"""Random programs of torch through the backend, compared with eager.

    .venv/bin/python test/python/torch_backend/random_models.py FIRST COUNT [--steps 14]

A program is a list of steps, each an operator of torch on values before it; every third is compared by its gradients. Inputs are
small integers, and a value that is exact in float32 must be equal; the others are compared with the same program in float64,
beside the error of eager. What torch's own tracer (`aot_eager`) gives another value for, too, is torch's.
"""

import argparse
import sys
import warnings

import torch
from random_programs import program_of

import tensor_comprehensions.torch as tct

OPTIONS = (
    {},
    {"libraries": "onednn"},
    {"freeze": True},
    {"layouts": "resolve"},
    {"layouts": "fold", "libraries": "openblas"},
)

TIMES_EAGER, ROUNDING = 64, 1.2e-7
"""An error may be this many times that of eager, or of one rounding of the largest value: other orders of sums of at most some
hundred terms, and functions of two or three units in the last place. For a gradient the largest value is that of all gradients
and of what they are gradients through: what a backward computes again is rounded otherwise than what a forward saved."""


def values_of(p, call, dtype):
    """The last values of the program, through `call`."""
    with torch.no_grad():
        return call([t.to(dtype) for t in p.inputs], [t.to(dtype) for t in p.parameters])


def gradients_of(p, call, dtype):
    """The gradients of all inputs and parameters, of a weighted sum of the last values."""
    given = [[t.to(dtype).detach().requires_grad_() for t in tensors] for tensors in (p.inputs, p.parameters)]
    ends = [t for t in call(*given) if t.requires_grad]
    if not ends:
        return []
    weights = [torch.arange(1, t.numel() + 1, dtype=t.dtype).remainder(5).reshape(t.shape) for t in ends]
    found = torch.autograd.grad(
        sum((t * w).sum() for t, w in zip(ends, weights)), [*given[0], *given[1]], allow_unused=True
    )
    return [t for t in found if t is not None]


def difference(ours, eager, reference, exact, largest):
    """What is wrong with a value; None where nothing is. `largest` is the largest magnitude that roundings are of."""
    if (ours.shape, ours.dtype) != (eager.shape, eager.dtype):
        return f"{ours.dtype}{list(ours.shape)} for {eager.dtype}{list(eager.shape)}"
    ours, eager, reference = ours.double(), eager.double(), reference.double()
    if exact:
        return None if torch.equal(ours, eager) else f"exact values differ by up to {(ours - eager).abs().max():.3g}"
    if not eager.isfinite().all():
        return None
    bound = TIMES_EAGER * max((eager - reference).abs().max(), ROUNDING * max(largest, reference.abs().max()))
    error = (ours - reference).abs().max()
    return None if error <= bound else f"an error of {error:.3g}; {bound:.3g} may be"


def differences(p, trained, call):
    """What is wrong with the values, or gradients, of `call`, which is the program compiled."""
    results = gradients_of if trained else values_of
    eager = results(p, p.run, torch.float32)
    torch.set_default_dtype(torch.float64)
    try:
        reference = results(p, p.run, torch.float64)
    except (RuntimeError, NotImplementedError):
        reference = eager
    finally:
        torch.set_default_dtype(torch.float32)
    ours = results(p, call, torch.float32)
    if len(ours) != len(eager):
        return [f"{len(ours)} results for {len(eager)}"]
    exact = [False] * len(eager) if trained else p.exact[-len(eager) :]
    largest = max((t.abs().max().item() for t in [*p.values, *reference] if t.is_floating_point()), default=0)
    found = (difference(*four, largest if trained else 0) for four in zip(ours, eager, reference, exact))
    return [d for d in found if d]


def check(seed, most_steps=14):
    """What is wrong with the program of a seed, with the program; "" where nothing is, None where torch itself is wrong."""
    p, trained, options = program_of(seed, most_steps), seed % 3 == 0, OPTIONS[seed % len(OPTIONS)]
    if not p.steps:
        return ""
    torch._dynamo.reset()
    tct.reset()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = differences(p, trained, torch.compile(p.run, backend="tc", options=options))
    reproducers = [path for report in tct.reports() for path in report.reproducers]
    if not found and not reproducers:
        return ""
    torch._dynamo.reset()
    if found and differences(p, trained, torch.compile(p.run, backend="aot_eager")):
        return None
    notes = [str(t.message) for t in told if reproducers]
    return "\n".join([f"seed {seed}, {'gradients' if trained else 'values'}, {options}", *found, *notes, str(p)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--steps", type=int, default=14)
    given = parser.parse_args()
    wrong = torchs = 0
    for seed in range(given.first, given.first + given.count):
        found = check(seed, given.steps)
        torchs += found is None
        if found:
            wrong += 1
            print(found, flush=True)
    print(f"{given.count} programs, {wrong} wrong, {torchs} that torch traces wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
