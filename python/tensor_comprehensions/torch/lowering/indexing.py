"""Elements chosen by values: the subscripts read index tensors, and a call checks what it finds in them."""

from ..expression import INTEGERS, Index, Literal, cast, where
from ..values import iterators
from .registry import broadcast, lowers, refuse


def place(element, size, may_count_from_end):
    """An element of an index tensor as a subscript."""
    subscript = cast(element, "int64")
    return where(subscript < 0, subscript + size, subscript) if may_count_from_end else subscript


@lowers("embedding")
def embedding(b, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    its = iterators(b.out_shape)
    return b.define(its, weight.at([place(indices.at(its[:-1]), weight.shape[0], False), its[-1]]))


@lowers("index_select")
def index_select(b, x, dim, index):
    refuse(x.rank == 0, "of a scalar")
    its = iterators(b.out_shape)
    subscripts = list(its)
    dim %= x.rank
    chosen = index.at([its[dim]] if index.rank else [])
    subscripts[dim] = place(chosen, x.shape[dim], False)
    return b.define(its, x.at(subscripts))


@lowers("gather")
def gather(b, x, dim, index, sparse_grad=False):
    refuse(x.rank == 0 or index.rank == 0, "of a scalar")
    its = iterators(index.shape)
    subscripts = list(its)
    dim %= x.rank
    subscripts[dim] = place(index.at(its), x.shape[dim], False)
    return b.define(its, x.at(subscripts))


@lowers("index.Tensor")
def index_tensor(b, x, indices):
    indices = list(indices) + [None] * (x.rank - len(indices))
    given = [d for d, index in enumerate(indices) if index is not None]
    refuse(
        any(indices[d].dtype not in INTEGERS or indices[d].dtype == "uint8" for d in given),
        "a mask as index: its shape depends on values",
    )
    refuse(not given, "no index")
    shape = b.out_shape
    rank = max(indices[d].rank for d in given)
    its = iterators(shape)
    adjacent = given == list(range(given[0], given[-1] + 1))
    first = given[0] if adjacent else 0
    chosen, others = its[first : first + rank], its[:first] + its[first + rank :]
    subscripts = []
    for d in range(x.rank):
        if indices[d] is None:
            subscripts.append(others.pop(0))
        else:
            subscripts.append(place(broadcast(indices[d], chosen), x.shape[d], True))
    return b.define(its, x.at(subscripts))


@lowers("index_put")
def index_put(b, x, indices, values, accumulate=False):
    mask = indices[0] if len(indices) == 1 else None
    is_mask = mask is not None and mask.dtype == "bool" and mask.rank <= x.rank
    refuse(not is_mask or accumulate or values.numel != 1, "it scatters")
    its = iterators(x.shape)
    value = cast(values.at([Literal(0, "int64")] * values.rank), x.dtype)
    return b.define(its, where(mask.at(its[: mask.rank]), value, x.at(its)))


@lowers("scatter.value", "scatter.src")
def scatter(b, x, dim, index, value):
    """One element of each line: a comparison with the place takes the place of a store."""
    refuse(x.rank == 0 or index.rank == 0, "of a scalar")
    dim %= x.rank
    refuse(index.shape[dim] != 1 or any(n != x.shape[d] for d, n in enumerate(index.shape) if d != dim), "it scatters")
    its = iterators(x.shape)
    line = [Literal(0, "int64") if d == dim else i for d, i in enumerate(its)]
    new = value.at(line) if hasattr(value, "at") else Literal(value, x.dtype)
    return b.define(its, where(cast(index.at(line), "int64").eq(its[dim]), cast(new, x.dtype), x.at(its)))


@lowers("upsample_nearest2d")
def upsample_nearest2d(b, x, output_size, scales_h=None, scales_w=None):
    shape = b.out_shape
    factors = [o // n if n and o % n == 0 else 0 for o, n in zip(shape[-2:], x.shape[-2:])]
    refuse(0 in factors, "a factor that is no integer")
    refuse(
        any(s is not None and s != f for s, f in zip((scales_h, scales_w), factors)),
        "a scale that is not the ratio of sizes",
    )
    n, c, h, w = iterators(shape, "nchw")
    return b.define([n, c, h, w], x[n, c, h / factors[0], w / factors[1]])
