"""Convolutions of one to three dimensions: strided, dilated, grouped, padded, transposed, and their gradients."""

import math

from ..expression import Apply, Index, Literal, Load, all_of, cast, where
from ..values import View, iterators
from .choices import places_are_one_dimension, transposed_by_products
from .reductions import opmath, rounded
from .registry import lowers, refuse

SPACE, WINDOW = "hwd", "pqr"


def filled(values, count):
    """One value a spatial dimension."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    return values * count if len(values) == 1 else values


def reduced(name, extent):
    """What runs over `extent` values on the right of a statement: an iterator, or 0 where there is one value."""
    return Index(name, extent) if extent != 1 else Literal(0, "int64")


def extent_of(index):
    return index.extent if isinstance(index, Index) else 1


def reads(position, window, stride, pad, dilation, size, extent):
    """Where a window reads along one dimension, and the conditions under which that lies inside: (subscript, conditions).

    `extent` is how many positions there are, `size` how many elements.
    """
    subscript = position * stride + window * dilation - pad
    conditions = []
    if pad > 0:
        conditions.append(subscript >= 0)
    if (extent - 1) * stride + (extent_of(window) - 1) * dilation - pad >= size:
        conditions.append(subscript < size)
    return subscript, conditions


def reached_by(place, window, stride, pad, dilation, extent):
    """The position whose window reads `place` with its element `window`, and when there is one: (subscript, conditions)."""
    distance = place + pad - window * dilation
    conditions = [distance >= 0] if pad < (extent_of(window) - 1) * dilation else []
    if stride > 1:
        conditions.append((distance % stride).eq(0))
    position = distance / stride
    if (place.extent - 1 + pad) // stride >= extent:
        conditions.append(position < extent)
    return position, conditions


def in_each(count, found):
    """The subscripts and all conditions of `found(d)`, a pair of these, for each dimension of space."""
    pairs = [found(d) for d in range(count)]
    return [subscript for subscript, _ in pairs], [c for _, conditions in pairs for c in conditions]


def guarded(conditions, value):
    condition = all_of(conditions)
    return value if condition is None else where(condition, value, Literal(0, value.dtype))


def convolved(b, x, weight, stride, pad, dilation, groups, out_space):
    """The convolution without bias, as a view (n, channel, space...)."""
    count, own = len(out_space), opmath(x.dtype)
    outputs, channels = weight.shape[0] // groups, weight.shape[1]
    if places_are_one_dimension(weight, stride, pad, groups):
        return _convolved_places(b, x, weight)
    n, g, f, c = Index("n", x.shape[0]), Index("g", groups), Index("f", outputs), reduced("c", channels)
    space = [Index(SPACE[d], out_space[d]) for d in range(count)]
    window = [reduced(WINDOW[d], weight.shape[2 + d]) for d in range(count)]
    places, conditions = in_each(
        count, lambda d: reads(space[d], window[d], stride[d], pad[d], dilation[d], x.shape[2 + d], out_space[d])
    )
    element = x.at([n, g * channels + c, *places] if groups > 1 else [n, c, *places])
    factor = weight.at([g * outputs + f, c, *window] if groups > 1 else [f, c, *window])
    return grouped_sum(b, n, g, f, space, guarded(conditions, cast(element, own) * cast(factor, own)), groups, outputs)


def _convolved_places(b, x, weight):
    """A window of one element at every place: a product over all places as one dimension, the longest for lanes to run along."""
    places, own = math.prod(x.shape[2:]), opmath(x.dtype)
    flat = b.reshape(x, [*x.shape[:2], places])
    n, f, c, h = Index("n", x.shape[0]), Index("f", weight.shape[0]), reduced("c", weight.shape[1]), Index("h", places)
    zeros = [Literal(0, "int64") for _ in x.shape[2:]]
    result = b.sum([n, f, h], cast(flat.at([n, c, h]), own) * cast(weight.at([f, c, *zeros]), own))
    return b.reshape(result, [x.shape[0], weight.shape[0], *x.shape[2:]])


def grouped_sum(b, n, g, f, space, value, groups, outputs):
    """The sum over what is not on the left: (n, g*outputs + f, space...)."""
    if groups == 1:
        return b.sum([n, f, *space], value)
    if outputs == 1:
        return b.sum([n, g, *space], _without(value, f))
    result = b.sum([n, g, f, *space], value)
    return b.reshape(result, [n.extent, groups * outputs, *[s.extent for s in space]])


def _without(value, index):
    """`value` where `index`, which has one value, is 0."""
    if value is index:
        return Literal(0, "int64")
    if isinstance(value, Load):
        return Load(value.tensor, [_without(s, index) for s in value.subscripts])
    if isinstance(value, Apply):
        args = [_without(a, index) for a in value.args]
        if value.op == "+" and value.dtype == "int64" and isinstance(args[1], Literal) and args[1].value == 0:
            return args[0]
        return Apply(value.op, args, value.dtype)
    return value


def convolved_transposed(b, x, weight, stride, pad, dilation, groups, out_space):
    """The transposed convolution without bias: each place gathers from the positions that reach it."""
    form = _by_products if transposed_by_products(b, x, weight, stride, dilation, out_space) else _by_guards
    return form(b, x, weight, stride, pad, dilation, groups, out_space)


def _by_guards(b, x, weight, stride, pad, dilation, groups, out_space):
    """Every place looks at all elements of the window and takes those that a position meets."""
    count, own = len(out_space), opmath(x.dtype)
    channels, outputs = x.shape[1] // groups, weight.shape[1]
    n, g, f, c = Index("n", x.shape[0]), Index("g", groups), Index("f", outputs), reduced("c", channels)
    space = [Index(SPACE[d], out_space[d]) for d in range(count)]
    window = [reduced(WINDOW[d], weight.shape[2 + d]) for d in range(count)]
    positions, conditions = in_each(
        count, lambda d: reached_by(space[d], window[d], stride[d], pad[d], dilation[d], x.shape[2 + d])
    )
    element = x.at([n, g * channels + c, *positions] if groups > 1 else [n, c, *positions])
    factor = weight.at([g * channels + c, f, *window] if groups > 1 else [c, f, *window])
    return grouped_sum(b, n, g, f, space, guarded(conditions, cast(element, own) * cast(factor, own)), groups, outputs)


def _phase(stride, pad):
    """(r + pad) / stride and (r + pad) % stride as functions of r in [0, stride), without quotients where they have none."""
    if pad % stride == 0:
        return lambda r: Literal(pad // stride, "int64"), lambda r: r
    if stride == 2:
        return lambda r: r + (pad - 1) // 2, lambda r: 1 - r
    return lambda r: (r + pad) / stride, lambda r: (r + pad) % stride


def _by_products(b, x, weight, stride, pad, dilation, groups, out_space):
    """Each element of the window times each position, a plain product that reads the weights once and as they lie; each place
    then sums those that meet there.
    """
    count, own = len(out_space), opmath(x.dtype)
    channels, outputs, elements = x.shape[1] // groups, weight.shape[1], math.prod(weight.shape[2:])
    n, g, f, c = Index("n", x.shape[0]), Index("g", groups), Index("f", outputs), reduced("c", channels)
    position, row = [Index(SPACE[d], x.shape[2 + d]) for d in range(count)], Index("r", outputs * elements)
    channel, lead = (c, [n]) if groups == 1 else (g * channels + c, [n, g])
    rows = b.reshape(weight, [groups * channels, outputs * elements])
    value = cast(rows.at([channel, row]), own) * cast(x.at([n, channel, *position]), own)
    products = b.sum([*lead, row, *position], value)
    space = [Index(SPACE[d], out_space[d] // stride[d]) for d in range(count)]
    phase = [Index("suv"[d], stride[d]) for d in range(count)]
    tap = [reduced(WINDOW[d], -(-weight.shape[2 + d] // stride[d])) for d in range(count)]
    places, conditions, element = [], [], f
    for d in range(count):
        shift, remainder = (part(phase[d]) for part in _phase(stride[d], pad[d]))
        place, inside = space[d] + shift - tap[d], tap[d] * stride[d] + remainder
        conditions += [place >= 0, place < x.shape[2 + d]]
        conditions += [inside < weight.shape[2 + d]] if weight.shape[2 + d] % stride[d] else []
        places.append(place)
        element = element * weight.shape[2 + d] + inside
    woven = [f] + [i for pair in zip(space, phase) for i in pair]
    operator = "+=!" if any(extent_of(t) > 1 for t in tap) else "="
    result = b.define([*lead, *woven], guarded(conditions, products.at([*lead, element, *places])), operator)
    return b.reshape(result, [n.extent, groups * outputs, *out_space])


def add_bias(b, result, bias):
    if bias is None:
        return result
    its = iterators(result.shape, "nfhwd")
    value = result.at(its) + cast(bias.at([its[1]]), result.dtype)
    if isinstance(result, View) and len(result.rows) == result.rank and not result.tensor.alias_of:
        b.assign(result, its, value)
        return result
    return b.define(its, value)


@lowers("convolution")
def convolution(b, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    count = weight.rank - 2
    refuse(count < 1 or count > 3, f"{count} dimensions of space")
    refuse(any(isinstance(v, str) for v in filled(padding, count)), "padding by name")
    stride, padding, dilation = (filled(v, count) for v in (stride, padding, dilation))
    too_wide = any(o >= max(s, d) for o, s, d in zip(filled(output_padding, count), stride, dilation))
    refuse(transposed and too_wide, "torch raises an error for an output padding that neither stride nor dilation exceed")
    form = convolved_transposed if transposed else convolved
    result = form(b, x, weight, stride, padding, dilation, groups, b.out_shape[2:])
    return rounded(b, add_bias(b, result, bias), b.out_dtype)


@lowers("convolution_backward")
def convolution_backward(
    b, grad, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask
):
    refuse(x.dtype in ("float16", "bfloat16"), "gradients of convolutions of halves")
    count = weight.rank - 2
    stride, padding, dilation = (filled(v, count) for v in (stride, padding, dilation))
    wanted = [mask[k] and b.used(k) for k in range(3)]
    result = [None, None, None]
    if wanted[0]:
        form = convolved if transposed else convolved_transposed
        result[0] = form(b, grad, weight, stride, padding, dilation, groups, x.shape[2:])
    if wanted[1]:
        result[1] = weight_gradient(
            b, *((x, grad) if transposed else (grad, x)), weight, stride, padding, dilation, groups
        )
    if wanted[2]:
        its = iterators(grad.shape, "nfhwd")
        result[2] = b.sum([its[1]], grad.at(its))
    return tuple(result)


def weight_gradient(b, positions, elements, weight, stride, pad, dilation, groups):
    """dW(f,c,p) = sum over n and positions of positions(n,f,h) * elements(n,c,h*stride + p*dilation - pad)."""
    count = weight.rank - 2
    outputs, channels = weight.shape[0] // groups, weight.shape[1]
    n, g, f, c = Index("n", positions.shape[0]), Index("g", groups), Index("f", outputs), Index("c", channels)
    space = [Index(SPACE[d], positions.shape[2 + d]) for d in range(count)]
    window = [Index(WINDOW[d], weight.shape[2 + d]) for d in range(count)]
    places, conditions = in_each(
        count,
        lambda d: reads(space[d], window[d], stride[d], pad[d], dilation[d], elements.shape[2 + d], space[d].extent),
    )
    if groups == 1:
        return b.sum([f, c, *window], guarded(conditions, positions.at([n, f, *space]) * elements.at([n, c, *places])))
    value = positions.at([n, g * outputs + f, *space]) * elements.at([n, g * channels + c, *places])
    result = b.sum([g, f, c, *window], guarded(conditions, value))
    return b.reshape(result, weight.shape)
