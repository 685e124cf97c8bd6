"""Pooling and resampling."""

import math

from ..expression import FLOATS, Index, Literal, all_of, call, cast, where
from .convolutions import WINDOW, filled, guarded, in_each, reached_by, reads, reduced
from .reductions import opmath, rounded
from .registry import lowers, refuse

NAMES = "ncklm"


def _windows(b, x, kernel, stride, pad, dilation, out_space):
    """Iterators over leading dimensions, space and window; where they read; conditions."""
    count = len(kernel)
    lead = [Index(NAMES[d], n) for d, n in enumerate(x.shape[: x.rank - count])]
    space = [Index("hwd"[d], n) for d, n in enumerate(out_space)]
    window = [reduced(WINDOW[d], n) for d, n in enumerate(kernel)]
    size = x.shape[x.rank - count :]
    places, conditions = in_each(
        count, lambda d: reads(space[d], window[d], stride[d], pad[d], dilation[d], size[d], out_space[d])
    )
    return lead, space, places, conditions


@lowers("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(b, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    count = 3 if "3d" in b.node.target.overloadpacket.__name__ else 2
    kernel = filled(kernel, count)
    stride = filled(stride, count) if stride else kernel
    padding, dilation = filled(padding, count), filled(dilation, count)
    refuse(x.dtype not in FLOATS, "maxima of integers have no least element with padding")
    out_space = b.result(0).shape[-count:]
    lead, space, places, conditions = _windows(b, x, kernel, stride, padding, dilation, out_space)
    element, condition = x.at([*lead, *places]), all_of(conditions)
    value = element if condition is None else where(condition, element, Literal(-math.inf, x.dtype))
    result = b.define([*lead, *space], value, "max=!")
    if not b.used(1):
        return result, None
    size, flat = x.shape[-count:], Literal(0, "int64")
    for d, place in enumerate(places):
        flat = flat * size[d] + place
    here = element.eq(result.at([*lead, *space])) | element.ne(element)
    here = here if condition is None else condition & here
    return result, b.define([*lead, *space], where(here, flat, Literal(math.prod(size), "int64")), "min=!")


@lowers("max_pool2d_with_indices_backward")
def max_pool_backward(b, grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    kernel = filled(kernel, 2)
    stride = filled(stride, 2) if stride else kernel
    padding, dilation = filled(padding, 2), filled(dilation, 2)
    lead = [Index(NAMES[d], n) for d, n in enumerate(x.shape[:-2])]
    space = [Index("hw"[d], n) for d, n in enumerate(x.shape[-2:])]
    window = [reduced(WINDOW[d], n) for d, n in enumerate(kernel)]
    positions, conditions = in_each(
        2, lambda d: reached_by(space[d], window[d], stride[d], padding[d], dilation[d], grad.shape[grad.rank - 2 + d])
    )
    own = opmath(x.dtype)
    mine = indices.at([*lead, *positions]).eq(space[0] * x.shape[-1] + space[1])
    value = where(all_of([*conditions, mine]), cast(grad.at([*lead, *positions]), own), Literal(0, own))
    return rounded(b, b.sum([*lead, *space], value), b.out_dtype)


def _divisor(space, kernel, stride, pad, size, count_include_pad, ceil_mode, override, out_space):
    """By how much the sum of a window is divided: a number, or an expression where it depends on the place."""
    if override:
        return float(override)
    full = all((out_space[d] - 1) * stride[d] + kernel[d] - pad[d] <= size[d] + pad[d] for d in range(len(kernel)))
    inside = full and not any(pad) or count_include_pad and full
    refuse(not inside and count_include_pad, "windows that are cut at the end and count their padding")
    if inside:
        return float(math.prod(kernel))
    result = None
    for d, position in enumerate(space):
        start = position * stride[d] - pad[d]
        low = call("max", start, 0)
        high = call("min", start + kernel[d], size[d])
        extent = high - low
        result = extent if result is None else result * extent
    return result


@lowers("avg_pool2d", "avg_pool3d", "avg_pool1d")
def avg_pool(b, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    count = int(b.node.target.overloadpacket.__name__[-2])
    kernel = filled(kernel, count)
    stride = filled(stride, count) if stride else kernel
    padding = filled(padding, count)
    refuse(x.dtype not in FLOATS, "of integers")
    out_space = b.result().shape[-count:]
    own = opmath(x.dtype)
    lead, space, places, conditions = _windows(b, x, kernel, stride, padding, [1] * count, out_space)
    result = b.sum([*lead, *space], guarded(conditions, cast(x.at([*lead, *places]), own)))
    size = x.shape[-count:]
    divisor = _divisor(space, kernel, stride, padding, size, count_include_pad, ceil_mode, divisor_override, out_space)
    divisor = Literal(divisor, own) if isinstance(divisor, float) else cast(divisor, own)
    b.assign(result, [*lead, *space], result.at([*lead, *space]) / divisor)
    return rounded(b, result, b.out_dtype)


@lowers("avg_pool2d_backward")
def avg_pool_backward(b, grad, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel = filled(kernel, 2)
    stride = filled(stride, 2) if stride else kernel
    padding, own = filled(padding, 2), opmath(x.dtype)
    lead = [Index(NAMES[d], n) for d, n in enumerate(x.shape[:-2])]
    space = [Index("hw"[d], n) for d, n in enumerate(x.shape[-2:])]
    window = [reduced(WINDOW[d], n) for d, n in enumerate(kernel)]
    out_space = grad.shape[-2:]
    positions, conditions = in_each(
        2, lambda d: reached_by(space[d], window[d], stride[d], padding[d], 1, out_space[d])
    )
    divisor = _divisor(
        positions, kernel, stride, padding, x.shape[-2:], count_include_pad, ceil_mode, divisor_override, out_space
    )
    divisor = Literal(divisor, own) if isinstance(divisor, float) else cast(divisor, own)
    value = cast(grad.at([*lead, *positions]), own) / divisor
    return rounded(b, b.sum([*lead, *space], guarded(conditions, value)), b.out_dtype)


@lowers("_adaptive_avg_pool2d", "adaptive_avg_pool1d", "_adaptive_avg_pool3d")
def adaptive_avg_pool(b, x, output_size):
    out_space = b.result().shape[x.rank - len(output_size) :]
    size = x.shape[x.rank - len(output_size) :]
    refuse(any(o == 0 or n % o for n, o in zip(size, out_space)), "windows of several sizes")
    kernel = [n // o for n, o in zip(size, out_space)]
    own, count = opmath(x.dtype), len(kernel)
    lead, space, places, _ = _windows(b, x, kernel, kernel, [0] * count, [1] * count, out_space)
    result = b.sum([*lead, *space], cast(x.at([*lead, *places]), own))
    b.assign(result, [*lead, *space], result.at([*lead, *space]) / Literal(math.prod(kernel), own))
    return rounded(b, result, b.out_dtype)
