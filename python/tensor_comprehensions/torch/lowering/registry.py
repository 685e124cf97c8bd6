"""Which function lowers which operator of torch.

A lowering takes the builder and the node's arguments, tensors being values, and returns the node's value (a tuple where
there are several; None for one that nothing reads). It raises Decline, with a reason, for what it cannot do exactly.
"""

import math
import re
from typing import Any, Callable, Dict, Set

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from ...operators import function_behind
from ...given import spec
from ..builder import TORCH_DTYPES
from ..sizes import size
from ..values import Decline, Value, iterators
from ..expression import INTEGERS, Expr, Literal, cast, holds, literal

aten = torch.ops.aten
prims = torch.ops.prims

LOWERINGS: Dict[Any, Callable] = {}
OF_OTHERS: Dict[str, Callable] = {}
"""Lowerings of operators that other packages register, by their names: they may do so later."""
VIEWS: Set[Any] = set()
"""Operators that compute nothing: a part of these alone stays with torch."""


def lowers(*names, view=False):
    """Registers a lowering for overloads named as "mm.default"; "mm" stands for "mm.default". A name torch lacks is left out.
    "package::operator" is one that a package registers."""

    def register(function):
        for name in names:
            packet, _, overload = name.partition(".")
            if "::" in packet and not packet.startswith("prims::"):
                OF_OTHERS[packet] = function
                continue
            space = prims if packet.startswith("prims::") else aten
            found = getattr(getattr(space, packet.removeprefix("prims::"), None), overload or "default", None)
            if found is not None:
                LOWERINGS[found] = function
                if view:
                    VIEWS.add(found)
        return function

    return register


def lowering_of(target):
    """The function that lowers the operator `target`; None where there is none."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    return LOWERINGS.get(target) or OF_OTHERS.get(target._schema.name) or (call_of_def if function_behind(target) else None)


def call_of_def(b, *arguments):
    """An operator that is a def of the language: a call of the def, whose text is used as it is, without parameters that it does not read."""
    fakes = [argument.meta["val"] for argument in b.node.args]
    function = function_behind(b.node.target)._for_values(fakes)
    parameters, returns = function._signature()
    refuse(any(accumulates for *_, accumulates in returns), "it accumulates into a caller's buffer")
    several = isinstance(b.node.meta["val"], (tuple, list))
    results = b.node.meta["val"] if several else [b.node.meta["val"]]
    kept = _kept(parameters, getattr(function, "unread", ()))
    header = ", ".join(f"{dtype}({', '.join(dims)}) {name}" if dims else f"{dtype} {name}" for name, dtype, dims, _ in (parameters[k] for k in kept))
    text = re.sub(r"\bdef\s+\w+\(.*?\) -> ", f"def {{name}}({header}) -> ", function._inlined_source(), count=1, flags=re.S)
    made = b.call(text, [b.whole(arguments[k]) for k in kept], [r.shape for r in results], [r[1] for r in returns], operations_of_def(function, fakes))
    return tuple(made) if several else made[0]


def _kept(parameters, unread):
    """The places of parameters without those that are `unread`, where others give all sizes."""
    read = [k for k, (name, *_) in enumerate(parameters) if name not in unread]
    known: Set[str] = set()
    for k in read:
        known |= {size for size in parameters[k][2] or () if size.isidentifier()}
        if not all(set(re.findall(r"[A-Za-z_]\w*", size)) <= known for size in parameters[k][2] or ()):
            return range(len(parameters))
    needed = {size for _, _, sizes, _ in parameters for text in sizes or () for size in re.findall(r"[A-Za-z_]\w*", text)}
    return read if needed <= known else range(len(parameters))


def operations_of_def(function, tensors) -> int:
    """Operations of one call, about: one for each instance of a statement, two where it reduces; 0 where sizes are symbols."""
    if any(type(n) is not int for tensor in tensors for n in tensor.shape):
        return 0
    total = 0
    for line in function.infer(*(spec(tuple(t.shape), str(t.dtype).rpartition(".")[2]) for t in tensors)).ranges:
        left = re.search(r"\(([^()]*)\): \w+ in ", line)
        written = left[1].split(",") if left else []
        ranges = re.findall(r"(\w+) in \[(-?\d+), (-?\d+)\)", line)
        points = math.prod(max(0, int(high) - int(low)) for _, low, high in ranges)
        total += points * (2 if any(name not in written for name, *_ in ranges) else 1)
    return total


def broadcast(value, subscripts):
    """The element of `value` that stands at `subscripts` of a shape it is broadcast to."""
    lead = len(subscripts) - value.rank
    return value.at([subscripts[lead + d] if n != 1 else literal(0, "int64") for d, n in enumerate(value.shape)])


def number(value, dtype) -> Literal:
    """A number of Python as torch rounds it to `dtype`; declines one outside of the type, for which torch raises an error or wraps."""
    if isinstance(value, torch.SymInt) and dtype in ("int64", "float32", "float64"):
        return Literal(size(value), dtype)
    value = int(value) if dtype in INTEGERS and math.isfinite(value) else value
    refuse(dtype in INTEGERS and not (math.isfinite(value) and holds(dtype, value)), f"{value} is not of type {dtype}")
    with unset_fake_temporarily():
        rounded = torch.tensor(value, dtype=TORCH_DTYPES[dtype]).item()
    refuse(math.isfinite(value) and not math.isfinite(rounded), f"{value} is not of type {dtype}")
    return Literal(rounded, dtype)


def operand(argument, subscripts, dtype, through=None) -> Expr:
    """A tensor's element or a number, rounded to the type `through` first, as `dtype`."""
    through = through or dtype
    if isinstance(argument, Value):
        return cast(cast(broadcast(argument, subscripts), through), dtype)
    return cast(number(argument, through), dtype)


def dimensions(dims, rank):
    """Non-negative, sorted, without doubles; all of them for None and []."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(rank))
    dims = [dims] if isinstance(dims, int) else dims
    return sorted({d % rank if rank else 0 for d in dims}) if rank else []


def split_iterators(shape, dims):
    """All iterators of a shape, those over `dims` and the others."""
    its = iterators(shape)
    return its, [its[d] for d in dims], [its[d] for d in range(len(shape)) if d not in dims]


def refuse(condition, reason):
    if condition:
        raise Decline(reason)
