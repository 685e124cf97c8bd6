"""Elements chosen by values: the subscripts read index tensors, and a call checks what it finds in them."""

import torch

from ..expression import INTEGERS, Literal, cast, interval, literal, where
from ..values import Formula, iterators
from .registry import broadcast, lowers, number, operand, refuse


def place(element, size, may_count_from_end):
    """An element of an index tensor as a subscript; that of a tensor without memory, whose values are known, is inside or refused."""
    subscript = cast(element, "int64")
    known = interval(subscript)
    if known is None:
        return where(subscript < 0, subscript + size, subscript) if may_count_from_end else subscript
    refuse(known[0] < (-size if may_count_from_end else 0) or known[1] >= size, "an index may be outside")
    return subscript if known[0] >= 0 else subscript % size


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


def given_indices(x, indices):
    """`indices`, one for each dimension of `x`, and the dimensions that have one."""
    indices = list(indices) + [None] * (x.rank - len(indices))
    given = [d for d, index in enumerate(indices) if index is not None]
    refuse(
        any(indices[d].dtype not in INTEGERS or indices[d].dtype == "uint8" for d in given),
        "a mask as index: its shape depends on values",
    )
    refuse(not given, "no index")
    return indices, given


def chosen_shape(x, indices):
    """The shape of x[indices]."""
    indices, given = given_indices(x, indices)
    chosen = torch.broadcast_shapes(*(indices[d].shape for d in given))
    others = [n for d, n in enumerate(x.shape) if indices[d] is None]
    first = given[0] if given == list(range(given[0], given[-1] + 1)) else 0
    return [*others[:first], *chosen, *others[first:]]


def chosen_subscripts(x, indices, its):
    """The subscripts of the element of `x` that stands at `its` of x[indices]."""
    indices, given = given_indices(x, indices)
    rank = max(indices[d].rank for d in given)
    first = given[0] if given == list(range(given[0], given[-1] + 1)) else 0
    chosen, others = its[first : first + rank], its[:first] + its[first + rank :]
    return [
        others.pop(0) if indices[d] is None else place(broadcast(indices[d], chosen), x.shape[d], True)
        for d in range(x.rank)
    ]


@lowers("index.Tensor")
def index_tensor(b, x, indices):
    its = iterators(b.out_shape)
    return b.define(its, x.at(chosen_subscripts(x, indices, its)))


def refuse_scattered(x):
    refuse(x.dtype in ("float16", "bfloat16"), "sums of halves are rounded at each step")
    refuse(x.dtype == "bool", "a sum of bools")


@lowers("index_put", "_unsafe_index_put")
def index_put(b, x, indices, values, accumulate=False):
    mask = indices[0] if len(indices) == 1 else None
    if mask is not None and mask.dtype == "bool" and mask.rank <= x.rank and values.numel == 1 and not accumulate:
        its = iterators(x.shape)
        value = cast(values.at([Literal(0, "int64")] * values.rank), x.dtype)
        return b.define(its, where(mask.at(its[: mask.rank]), value, x.at(its)))
    its = iterators(chosen_shape(x, indices))
    subscripts = chosen_subscripts(x, indices, its)
    if not accumulate:
        return b.store(x, its, subscripts, broadcast(values, its))
    refuse_scattered(x)
    return b.scatter(x, its, subscripts, broadcast(values, its))


@lowers("scatter.value", "scatter.src")
def scatter(b, x, dim, index, value):
    """For one element of each line, a comparison with the place takes the place of a store."""
    refuse(x.rank == 0 or index.rank == 0, "of a scalar")
    dim %= x.rank
    if index.shape[dim] != 1 or any(n != x.shape[d] for d, n in enumerate(index.shape) if d != dim):
        its = iterators(index.shape)
        chosen = [place(index.at(its), x.shape[dim], False) if d == dim else i for d, i in enumerate(its)]
        return b.store(x, its, chosen, operand(value, its, x.dtype))
    x, its = b.stored(x), iterators(x.shape)
    line = [Literal(0, "int64") if d == dim else i for d, i in enumerate(its)]
    chosen = place(index.at(line), x.shape[dim], False)
    exist = x.at([chosen if d == dim else i for d, i in enumerate(its)])
    return b.define(its, where(chosen.eq(its[dim]), operand(value, line, x.dtype), x.at(its)), exist=[exist])


@lowers("index_copy")
def index_copy(b, x, dim, index, source):
    refuse(x.rank == 0, "of a scalar")
    its, dim = iterators(source.shape), dim % x.rank
    subscripts = list(its)
    subscripts[dim] = place(index.at([its[dim]] if index.rank else []), x.shape[dim], False)
    return b.store(x, its, subscripts, source.at(its))


@lowers("index_fill.int_Scalar")
def index_fill(b, x, dim, index, value):
    refuse(x.rank == 0, "of a scalar")
    dim %= x.rank
    its = iterators([(index.shape[0] if index.rank else 1) if d == dim else n for d, n in enumerate(x.shape)])
    subscripts = list(its)
    subscripts[dim] = place(index.at([its[dim]] if index.rank else []), x.shape[dim], True)
    return b.store(x, its, subscripts, operand(value, its, x.dtype))


@lowers("index_add")
def index_add(b, x, dim, index, source, alpha=1):
    refuse(x.rank == 0, "of a scalar")
    refuse_scattered(x)
    its = iterators(source.shape)
    subscripts, addend = list(its), cast(source.at(its), x.dtype)
    subscripts[dim % x.rank] = place(index.at([its[dim % x.rank]] if index.rank else []), x.shape[dim % x.rank], False)
    return b.scatter(x, its, subscripts, addend if alpha == 1 else addend * number(alpha, x.dtype))


@lowers("scatter_add")
def scatter_add(b, x, dim, index, src):
    return scatter_reduce(b, x, dim, index, src, "sum")


@lowers("scatter_reduce.two")
def scatter_reduce(b, x, dim, index, src, reduce, include_self=True):
    operators = {"sum": "+=", "prod": "*=", "amax": "max=", "amin": "min="}
    refuse(reduce not in operators, f"the language has no reduction '{reduce}'")
    refuse(not include_self, "elements that nothing is reduced into would have to be told apart")
    refuse(x.rank == 0 or index.rank == 0, "of a scalar")
    refuse_scattered(x)
    its = iterators(index.shape)
    subscripts = list(its)
    subscripts[dim % x.rank] = place(index.at(its), x.shape[dim % x.rank], False)
    return b.scatter(x, its, subscripts, src.at(its), operators[reduce])


@lowers("embedding_dense_backward")
def embedding_dense_backward(b, grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    refuse(scale_grad_by_freq, "gradients scaled by how often a row is looked up")
    refuse_scattered(grad)
    its = iterators(grad.shape)
    row, zero = place(indices.at(its[:-1]), num_weights, False), literal(0, grad.dtype)
    addend = grad.at(its) if padding_idx < 0 else where(row.eq(padding_idx), zero, grad.at(its))
    return b.scatter(Formula(lambda _: zero, [num_weights, grad.shape[-1]], grad.dtype), its, [row, its[-1]], addend)


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
