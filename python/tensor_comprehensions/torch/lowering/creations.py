"""Values without a tensor: one number everywhere, or numbers in steps."""

import torch

from ..expression import INTEGERS, cast
from ..sizes import is_size, size
from ..values import Formula
from .registry import lowers, number, refuse


def _filled(b, value):
    dtype = b.out_dtype
    refuse(isinstance(value, (torch.SymFloat, torch.fx.Node)) or isinstance(value, torch.SymInt) and not is_size(value), "its value is a symbol")
    element = number(value, dtype)
    return Formula(lambda s: element, b.out_shape, dtype)


@lowers("full")
def full(b, size, value, **_):
    return _filled(b, value)


@lowers("full_like")
def full_like(b, x, value, **_):
    return _filled(b, value)


@lowers("zeros", "zeros_like", "new_zeros", "empty.memory_format")
def zeros(b, *_, **__):
    """Also of a tensor whose elements are undefined: none has memory unless it is read."""
    return _filled(b, 0)


@lowers("ones", "ones_like", "new_ones")
def ones(b, *_, **__):
    return _filled(b, 1)


@lowers("new_full")
def new_full(b, x, size, value, **_):
    return _filled(b, value)


@lowers("scalar_tensor")
def scalar_tensor(b, value, **_):
    return _filled(b, value)


@lowers("fill.Scalar")
def fill(b, x, value):
    return _filled(b, value)


@lowers("fill.Tensor")
def fill_tensor(b, x, value):
    return value.remap(b.out_shape, [])


@lowers("arange.start_step", "prims::iota")
def arange(b, start, *rest, **kwargs):
    if b.node.target.namespace == "prims":
        first, step = kwargs["start"], kwargs["step"]
    else:
        first, step = start, rest[1] if len(rest) > 1 else 1
    dtype = b.out_dtype
    if dtype in INTEGERS:
        return Formula(lambda s: cast(s[0] * size(step) + size(first), dtype), b.out_shape, dtype)
    accumulate = "float64"
    return Formula(lambda s: cast(cast(s[0], accumulate) * float(step) + float(first), dtype), b.out_shape, dtype)
