"""Views compute nothing: they are maps of subscripts."""

import itertools

from ..expression import Literal, cast, where
from ..sizes import is_size
from ..values import Formula, identity_rows, iterators
from .registry import dimensions, lowers, number, refuse


def permuted(value, dims):
    """Dimension k of the result is dimension dims[k]."""
    rows = [None] * value.rank
    for k, d in enumerate(dims):
        rows[d] = ([(k, 1)], 0)
    return value.remap([value.shape[d] for d in dims], rows)


def replaced(value, dim, size, row):
    """`value` with dimension `dim` of another size, subscripted by `row`."""
    rows = identity_rows(value.rank)
    rows[dim] = row
    shape = list(value.shape)
    shape[dim] = size
    return value.remap(shape, rows)


def sliced(value, dim, start, stop, step=1):
    size = max(0, -(-(stop - start) // step))
    return replaced(value, dim, size, ([(dim, step)], start))


@lowers("view", "_unsafe_view", "reshape", "_reshape_alias", view=True)
def view(b, x, *_):
    return b.reshape(x, b.out_shape)


@lowers("permute", view=True)
def permute(b, x, dims):
    return permuted(x, [d % x.rank for d in dims])


@lowers("transpose.int", view=True)
def transpose(b, x, p, q):
    dims = list(range(x.rank))
    if dims:
        dims[p], dims[q] = dims[q], dims[p]
    return permuted(x, dims)


@lowers("t", "numpy_T", view=True)
def t(b, x):
    return permuted(x, list(reversed(range(x.rank))))


@lowers("expand", view=True)
def expand(b, x, *_, **__):
    shape = b.out_shape
    lead = len(shape) - x.rank
    rows = [([(lead + d, 1)], 0) if n != 1 else ([], 0) for d, n in enumerate(x.shape)]
    return x.remap(shape, rows)


@lowers("unsqueeze", view=True)
def unsqueeze(b, x, dim):
    dim %= x.rank + 1
    return x.remap(b.out_shape, [([(d + (d >= dim), 1)], 0) for d in range(x.rank)])


def dropped(value, dims):
    """`value` without `dims`, which have size 1."""
    kept = [d for d in range(value.rank) if d not in dims]
    rows = [([(kept.index(d), 1)], 0) if d in kept else ([], 0) for d in range(value.rank)]
    return value.remap([value.shape[d] for d in kept], rows)


@lowers("squeeze", "squeeze.dim", "squeeze.dims", view=True)
def squeeze(b, x, dims=None):
    return dropped(x, [d for d in dimensions(dims, x.rank) if x.shape[d] == 1] if dims != [] else [])


@lowers("slice.Tensor", view=True)
def slice_tensor(b, x, dim=0, start=None, end=None, step=1):
    dim %= x.rank
    first, stop = slice_bounds(x.shape[dim], start, end)
    return sliced(x, dim, first, stop, step)


def slice_bounds(size, start, end):
    """Start and end of a slice as torch clamps them."""
    first = 0 if start is None else start
    stop = size if end is None else end
    refuse(not is_size(first) or not is_size(stop), "its bounds are symbols that values tell")
    first = min(max(first + size if first < 0 else first, 0), size)
    return first, min(max(stop + size if stop < 0 else stop, first), size)


@lowers("select.int", view=True)
def select(b, x, dim, index):
    dim %= x.rank
    refuse(not is_size(index), "its index is a symbol that values tell")
    start = index % x.shape[dim]
    return dropped(sliced(x, dim, start, start + 1), [dim])


@lowers("split_with_sizes", view=True)
def split_with_sizes(b, x, sizes, dim=0):
    pieces, start = [], 0
    for size in sizes:
        pieces.append(sliced(x, dim % x.rank, start, start + size))
        start += size
    return tuple(pieces)


@lowers("split.Tensor", view=True)
def split(b, x, size, dim=0):
    dim %= x.rank
    return tuple(sliced(x, dim, s, min(s + size, x.shape[dim])) for s in range(0, x.shape[dim], size))


@lowers("unbind.int", view=True)
def unbind(b, x, dim=0):
    dim %= x.rank
    return tuple(dropped(sliced(x, dim, k, k + 1), [dim]) for k in range(x.shape[dim]))


@lowers("alias", "detach", "lift_fresh_copy", "clone", "contiguous", "expand_copy", "prims::view_of", view=True)
def alias(b, x, *_, **__):
    return x


@lowers("diagonal", view=True)
def diagonal(b, x, offset=0, dim1=0, dim2=1):
    p, q = dim1 % x.rank, dim2 % x.rank
    kept = [d for d in range(x.rank) if d not in (p, q)]
    last = len(kept)
    rows = [([(kept.index(d), 1)], 0) if d in kept else ([(last, 1)], 0) for d in range(x.rank)]
    rows[p] = ([(last, 1)], max(0, -offset))
    rows[q] = ([(last, 1)], max(0, offset))
    return x.remap(b.out_shape, rows)


@lowers("unfold", view=True)
def unfold(b, x, dim, size, step):
    refuse(x.rank == 0, "of a scalar")
    rows = identity_rows(x.rank)
    rows[dim % x.rank] = ([(dim % x.rank, step), (x.rank, 1)], 0)
    return x.remap(b.out_shape, rows)


@lowers("as_strided", view=True)
def as_strided(b, x, size, stride, storage_offset=None):
    base = b.node.args[0].meta["val"]
    refuse(not base.is_contiguous() or base.storage_offset(), "its base is not contiguous")
    refuse(b.node.args[0] in b.inputs, "its base may be part of a larger tensor")
    flat = b.reshape(x, (x.numel,))
    return flat.remap(size, [([(d, s) for d, s in enumerate(stride) if s], storage_offset or 0)])


@lowers("flip")
def flip(b, x, dims):
    for d in dimensions(dims, x.rank) if dims else []:
        x = replaced(x, d, x.shape[d], ([(d, -1)], x.shape[d] - 1))
    return x


# Copies with a choice of source.


@lowers("constant_pad_nd")
def constant_pad_nd(b, x, pad, value=0):
    its, inside, subscripts = iterators(b.out_shape), None, list(iterators(b.out_shape))
    for k in range(len(pad) // 2):
        d, low, high = x.rank - 1 - k, pad[2 * k], pad[2 * k + 1]
        subscripts[d] = its[d] - low
        for needed, condition in ((low > 0, its[d] >= low), (high > 0, its[d] < x.shape[d] + low)):
            if needed:
                inside = condition if inside is None else inside & condition
    element = x.at(subscripts)
    return b.define(its, element if inside is None else where(inside, element, number(value, x.dtype)))


MOST_PIECES = 256
"""Tensors that one statement joins: it may have so many names."""


@lowers("cat")
def cat(b, tensors, dim=0):
    pieces = [t for t in tensors if not (t.rank == 1 and t.shape[0] == 0)]
    refuse(not pieces, "nothing to join")
    dim %= pieces[0].rank
    pieces = [t for t in pieces if t.shape[dim]]
    while len(pieces) > MOST_PIECES:
        pieces = [joined(b, pieces[k : k + MOST_PIECES], dim, b.out_dtype) for k in range(0, len(pieces), MOST_PIECES)]
    return joined(b, pieces, dim, b.out_dtype) if pieces else Formula(lambda s: Literal(0, b.out_dtype), b.out_shape, b.out_dtype)


def joined(b, pieces, dim, dtype):
    """The tensors `pieces` one after the other along `dim`."""
    its = iterators([sum(t.shape[dim] for t in pieces) if d == dim else n for d, n in enumerate(pieces[0].shape)])
    starts = list(itertools.accumulate((t.shape[dim] for t in pieces), initial=0))

    def chosen(first, last):
        """The element among pieces first to last: a choice between halves, so that no expression is deep."""
        if last - first == 1:
            return cast(pieces[first].at([i - starts[first] if d == dim else i for d, i in enumerate(its)]), dtype)
        middle = (first + last) // 2
        return where(its[dim] < starts[middle], chosen(first, middle), chosen(middle, last))

    return b.define(its, chosen(0, len(pieces)))


@lowers("slice_scatter")
def slice_scatter(b, x, source, dim=0, start=None, end=None, step=1):
    dim %= x.rank
    first, stop = slice_bounds(x.shape[dim], start, end)
    its = iterators(x.shape)
    inside = (its[dim] >= first) & (its[dim] < stop)
    subscripts = list(its)
    subscripts[dim] = (its[dim] - first) / step
    if step != 1:
        inside = inside & ((its[dim] - first) % step).eq(0)
    return b.define(its, where(inside, cast(source.at(subscripts), x.dtype), x.at(its)))


@lowers("select_scatter")
def select_scatter(b, x, source, dim, index):
    dim %= x.rank
    its = iterators(x.shape)
    element = cast(source.at([i for d, i in enumerate(its) if d != dim]), x.dtype)
    return b.define(its, where(its[dim].eq(index % x.shape[dim]), element, x.at(its)))


@lowers("roll")
def roll(b, x, shifts, dims=()):
    refuse(not dims, "it rolls the flattened tensor")
    its = iterators(x.shape)
    subscripts = list(its)
    for shift, dim in zip(shifts, dims):
        dim %= x.rank
        if x.shape[dim]:
            subscripts[dim] = (subscripts[dim] + (-shift) % x.shape[dim]) % x.shape[dim]
    return b.define(its, x.at(subscripts))


@lowers("repeat")
def repeat(b, x, repeats):
    shape = b.out_shape
    lead, its = len(shape) - x.rank, iterators(shape)
    subscripts = []
    for d, n in enumerate(x.shape):
        refuse(n == 0, "nothing to repeat")
        subscripts.append(its[lead + d] % n if repeats[lead + d] != 1 else its[lead + d])
    return b.define(its, x.at(subscripts))
