"""Every operator the lowering claims, on torch's own sample inputs, against torch.

    .venv/bin/python test/python/torch_backend/operators.py --samples 6 --write benchmarks/results/torch_operators.md
    .venv/bin/python test/python/torch_backend/operators.py --disguises        # expanded, overlapping, backwards, empty, special values

A sample is traced to core ATen as the backend traces models; what the lowering takes of it is compiled and compared with torch
in the same type. "left" counts samples of which nothing that computes is taken. Where torch raises an error, so must what is compiled.
"""

import argparse
import collections
import dataclasses
import logging
import math
import sys
import warnings

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db

from tensor_comprehensions.options import Options
from tensor_comprehensions.torch import dynamo
from tensor_comprehensions.torch.compiler import Compiler

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.bool)
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}
"""Relative to the largest magnitude of the result, beside the same relative to each element: sums of at most some thousands
of terms of torch's samples stay within a few hundred roundings of each type."""

NOT_COMPARED = (
    "empty",
    "rand",
    "normal",
    "bernoulli",
    "dropout",
    "multinomial",
    "uniform",
    "exponential",
    "cauchy",
    "geometric",
    "log_normal",
    "new_empty",
    "gaussian",
    "multi_head_attention_forward",
)


logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)


def expanded(t):
    """A smaller tensor, and what makes one of the shape of `t` of it, whose elements lie on each other."""
    d = next((d for d, n in enumerate(t.shape) if n > 1), None)
    return (t, lambda u: u) if d is None else (t.narrow(d, 0, 1), lambda u: u.expand(t.shape))


def overlapping(t):
    if t.dim() < 2 or 0 in t.shape:
        return t, lambda u: u
    rows, columns = t.shape[-2:]
    return t.flatten(-2)[..., : rows + columns - 1], lambda u: u.unfold(-1, columns, 1)


def backwards(t):
    dims = list(range(t.dim()))
    return t.flip(dims), lambda u: u.flip(dims)


def empty(t):
    return t.narrow(0, 0, 0) if t.dim() else t, lambda u: u


def special(t):
    """Values at the ends of the type, and beside 0, among those of `t`."""
    if t.dtype is torch.bool:
        return t, lambda u: u
    of_type = torch.finfo(t.dtype) if t.is_floating_point() else torch.iinfo(t.dtype)
    values = [math.nan, math.inf, -math.inf, -0.0, of_type.tiny] if t.is_floating_point() else [of_type.min, of_type.max]
    made = t.clone(memory_format=torch.contiguous_format).flatten()
    for k, value in enumerate([*values, 0, -1 if of_type.min < 0 else 1]):
        made[3 * k + 1 :: 29] = value
    return made.reshape(t.shape), lambda u: u


DISGUISES = [(f, inside) for f in (expanded, overlapping) for inside in (False, True)]
DISGUISES += [(backwards, True), (empty, False), (special, False)]
"""What is done to the tensors of a sample, and whether what makes their shape of the result is a part of the graph."""


@dataclasses.dataclass
class Row:
    passed: int = 0
    left: int = 0
    failed: int = 0
    notes: set = dataclasses.field(default_factory=set)


def tensors_of(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def lies_on_itself(t):
    """Whether a tensor has more elements than places; torch's operators and their fake ones differ in the strides of such results."""
    return t.numel() > 1 + sum((n - 1) * stride for n, stride in zip(t.shape, t.stride()))


def close(ours, theirs):
    """Whether two results agree, and by how much they do not."""
    if (
        ours.shape != theirs.shape
        or ours.dtype != theirs.dtype
        or (not lies_on_itself(theirs) and ours.stride() != theirs.stride() and ours.numel() > 1)
    ):
        return (
            False,
            f"{ours.dtype}{list(ours.shape)} strides {ours.stride()} for {theirs.dtype}{list(theirs.shape)} strides {theirs.stride()}",
        )
    if not theirs.is_floating_point():
        return bool(torch.equal(ours, theirs)), "other integers"
    limit = TOLERANCE[theirs.dtype]
    a, b = ours.double(), theirs.double()
    finite = b.isfinite()
    if not torch.equal(a.isnan(), b.isnan()) or not torch.equal(a[~finite & ~b.isnan()], b[~finite & ~b.isnan()]):
        return False, "other infinities or NaNs"
    size = b[finite].abs().max().item() if finite.any() else 0.0
    gap = (a[finite] - b[finite]).abs()
    return bool((gap <= limit * (b[finite].abs() + size)).all()), (
        f"off by {gap.max().item() / (size or 1):.1e}" if gap.numel() else ""
    )


def run_sample(function, sample, compiler, disguise=None, inside=False):
    """("passed"|"left"|"failed", note) of one sample, in one of DISGUISES."""
    leaves, tree = torch.utils._pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    if getattr(sample, "kwargs", {}).get("dropout_p"):
        return "left", "random numbers"
    places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if not places:
        return "left", "no tensor"

    given = [leaves[k].detach() for k in places]
    shape = [lambda u: u] * len(given)
    if disguise:
        given, shape = zip(*(disguise(t) for t in given))
        if not inside:
            given, shape = [f(t) for f, t in zip(shape, given)], [lambda u: u] * len(given)

    def call(*tensors):
        filled = list(leaves)
        for k, tensor, made in zip(places, tensors, shape):
            filled[k] = made(tensor)
        first, args, kwargs = torch.utils._pytree.tree_unflatten(filled, tree)
        return tensors_of(function(first, *args, **kwargs))

    with torch.no_grad():
        try:
            theirs = call(*[t.clone() if t.is_contiguous() else t for t in given])
        except (RuntimeError, IndexError, ValueError) as error:
            theirs = error
        traced = make_fx(
            torch.func.functionalize(call),
            decomposition_table=dynamo.decompositions(),
            tracing_mode="fake",
            _allow_non_fake_inputs=True,
        )(*given)
        traced.graph.eliminate_dead_code()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            compiled, report = dynamo.compile_graph(traced, "inference", compiler)
            if report.reproducers:
                return "failed", f"does not compile: {[str(w.message) for w in told][:1]}"
            if not report.parts:
                return "left", report.left[0][2] if report.left else "views alone"
            try:
                ours = compiled(*given)
            except (RuntimeError, IndexError, ValueError) as error:
                return ("passed", "") if isinstance(theirs, Exception) else ("failed", f"an error: {error}")
        if isinstance(theirs, Exception):
            return "failed", f"no error, torch's is: {theirs}"
        if told:
            return "failed", str(told[0].message)
    for a, b in zip(ours, theirs):
        good, note = close(a, b)
        if not good:
            return "failed", note
    return "passed", ""


def run_operator(info, dtype, samples, compiler, disguise=None, inside=False):
    row = Row()
    for k, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=False)):
        if k >= samples:
            break
        try:
            verdict, note = run_sample(info.op, sample, compiler, disguise, inside)
        except Exception as error:  # tracing is torch's: what it cannot trace is not claimed
            verdict, note = "left", f"not traced: {type(error).__name__} {str(error)[:100]}"
        setattr(row, verdict, getattr(row, verdict) + 1)
        if note:
            row.notes.add(f"{verdict}: {note.splitlines()[0][:160]}")
    return row


def operators(pattern=""):
    """The entries of torch's table that are compared, by name."""
    for info in op_db:
        name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")
        if pattern in name and not any(word in name for word in NOT_COMPARED):
            yield name, info


def table(rows):
    lines = [
        "| operator | " + " | ".join(str(d).rpartition(".")[2] for d in DTYPES) + " |",
        "|---|" + "---|" * len(DTYPES),
    ]
    for name, cells in rows.items():
        texts = [
            f"{c.passed}/{c.passed + c.failed}" + (f" +{c.left}" if c.left else "") if c else ""
            for c in (cells.get(d) for d in DTYPES)
        ]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def totals(rows):
    total = collections.Counter()
    for cell in (cell for cells in rows.values() for cell in cells.values()):
        total.update(passed=cell.passed, failed=cell.failed, left=cell.left)
    return total


def write(path, rows, samples):
    """Writes the table of what was compared so far."""
    total = totals(rows)
    compared = total["passed"] + total["failed"]
    head = f"""# Operators of torch that the backend `tc` takes

Samples that pass, of those compared with torch in the same type (at most {samples} of torch's own for each type); `+n`: samples that
are left to torch whole. {len(rows)} operators, {total["passed"]} of {compared} samples pass. Made by
`test/python/torch_backend/operators.py --samples {samples} --write`.

"""
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + table(rows) + "\n")


def disguised(options):
    """Every operator with its tensors in every disguise; prints what differs from torch."""
    compiler, total = Compiler(Options(cache=False)), collections.Counter()
    for name, info in operators(options.only):
        for dtype in (torch.float32, torch.int64, torch.float16):
            for disguise, inside in DISGUISES:
                if dtype in info.supported_dtypes("cpu"):
                    torch.manual_seed(0)
                    row = run_operator(info, dtype, options.samples, compiler, disguise, inside)
                    total.update(passed=row.passed, failed=row.failed, left=row.left)
                    for note in sorted(n for n in row.notes if n.startswith("failed") or options.only):
                        print(name, dtype, disguise.__name__, "inside" if inside else "outside", note, flush=True)
    print(f"in disguises: {dict(total)}")
    return 1 if total["failed"] else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--only", default="")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--disguises", action="store_true")
    parser.add_argument("--write")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if options.disguises:
        return disguised(options)
    compiler, rows = Compiler(Options(cache=False)), {}
    for name, info in operators(options.only):
        for dtype in DTYPES:
            if (
                dtype not in info.supported_dtypes("cpu")
                or options.dtypes
                and str(dtype).rpartition(".")[2] not in options.dtypes.split(",")
            ):
                continue
            torch.manual_seed(0)
            row = run_operator(info, dtype, options.samples, compiler)
            if row.passed or row.failed:
                rows.setdefault(name, {})[dtype] = row
            elif dtype is torch.float32:
                break  # what floats do not take, no other type does
            for note in sorted(row.notes):
                if note.startswith("failed") or options.only:
                    print(name, dtype, note, flush=True)
        if options.write and rows:
            write(options.write, rows, options.samples)
    total = totals(rows)
    print(f"{len(rows)} operators, samples: {dict(total)}")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
