"""Reductions: one statement that reduces, and what follows from it."""

import math

from ..expression import FLOATS, Index, Literal, call, cast, where
from ..values import iterators
from .choices import refuse_long_rows_of_a_grid
from .registry import dimensions, lowers, refuse, split_iterators

LONGEST_ACCUMULATION = 256
"""Terms that one accumulator of float32 takes in turn: a sum of a hundred thousand is off by 5e-6, torch's by 1e-7."""


def reshaped(b, value, keepdim, dims, rank):
    """A reduction's result with its reduced dimensions as size 1 where `keepdim`."""
    if not keepdim:
        return value
    kept = [d for d in range(rank) if d not in dims]
    shape = [1 if d in dims else value.shape[kept.index(d)] for d in range(rank)]
    return value.remap(shape, [([(d, 1)], 0) for d in kept])


def opmath(dtype):
    """The type in which torch computes on elements of `dtype`."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def reduced(b, x, dims, operator, value=lambda v: v, dtype=None):
    """A tensor over the dimensions that are not in `dims`."""
    its, _, kept = split_iterators(x.shape, dims)
    return b.define(kept, value(x.at(its)), operator, dtype)


def rounded(b, value, dtype):
    if value.dtype == dtype:
        return value
    its = iterators(value.shape)
    return b.define(its, cast(value.at(its), dtype))


def accumulator(dtype, x, dims):
    """The type in which a sum of `dtype` over `dims` accumulates: float64 for one of float32 so long that its roundings would show.

    A sum along rows has an accumulator for each lane of a vector, one along columns a single one.
    """
    lanes = 16 if x.rank - 1 in dims else 1
    return "float64" if dtype == "float32" and count_of(x, dims) > lanes * LONGEST_ACCUMULATION else dtype


def summed(b, x, dims, dtype, value=lambda v: v):
    """The sum over `dims` in `dtype`; elements are converted first where torch does."""
    own = accumulator(opmath(dtype), x, dims) if dtype in FLOATS else dtype
    result = reduced(b, x, dims, "+=!", lambda v: value(cast(v, own)), own)
    return rounded(b, result, dtype)


@lowers("sum", "sum.dim_IntList")
def sum_dims(b, x, dims=None, keepdim=False, dtype=None):
    dims = dimensions(dims, x.rank)
    return reshaped(b, summed(b, x, dims, b.out_dtype), keepdim, dims, x.rank)


def count_of(x, dims):
    return math.prod(x.shape[d] for d in dims)


def mean_of(b, x, dims, dtype):
    """The mean over `dims` in the type that its sum accumulates in."""
    own = accumulator(opmath(dtype), x, dims)
    total = reduced(b, x, dims, "+=!", lambda v: cast(v, own))
    its = iterators(total.shape)
    b.assign(total, its, total.at(its) / Literal(count_of(x, dims), total.dtype))
    return total


@lowers("mean", "mean.dim")
def mean(b, x, dims=None, keepdim=False, dtype=None):
    dims = dimensions(dims, x.rank)
    refuse(count_of(x, dims) == 0, "the mean of nothing")
    return reshaped(b, rounded(b, mean_of(b, x, dims, b.out_dtype), b.out_dtype), keepdim, dims, x.rank)


def extreme(operator, of_bool):
    def lowering(b, x, dims=None, keepdim=False):
        dims = dimensions(dims, x.rank)
        refuse(count_of(x, dims) == 0, "the extreme of nothing")
        used = of_bool if x.dtype == "bool" else operator
        return reshaped(b, reduced(b, x, dims, used), keepdim, dims, x.rank)

    return lowering


lowers("amax")(extreme("max=!", "||=!"))
lowers("amin")(extreme("min=!", "&&=!"))


@lowers("max", "min")
def extreme_of_all(b, x):
    name = b.node.target.overloadpacket.__name__
    return (extreme("max=!", "||=!") if name == "max" else extreme("min=!", "&&=!"))(b, x)


@lowers("prod", "prod.dim_int")
def prod(b, x, dims=None, keepdim=False, dtype=None):
    dims = dimensions(dims, x.rank)
    own = opmath(b.out_dtype)
    refuse(own == "bool", "bool")
    result = rounded(b, reduced(b, x, dims, "*=!", lambda v: cast(v, own)), b.out_dtype)
    return reshaped(b, result, keepdim, dims, x.rank)


@lowers("any", "any.dim", "any.dims")
def any_of(b, x, dims=None, keepdim=False):
    return truth(b, x, dims, keepdim, "||=!")


@lowers("all", "all.dim", "all.dims")
def all_true(b, x, dims=None, keepdim=False):
    return truth(b, x, dims, keepdim, "&&=!")


def truth(b, x, dims, keepdim, operator):
    dims = dimensions(dims, x.rank)
    result = reduced(b, x, dims, operator, lambda v: cast(v, "bool"))
    return reshaped(b, rounded(b, result, b.out_dtype), keepdim, dims, x.rank)


def variance_of(b, x, dims, dtype, correction):
    """Mean and variance over `dims`, in the type torch computes in.

    A first mean is as wrong as its sum is rounded, which is much where values are far from 0. Differences from it are small: their
    sum tells the rest of the mean, and by how much it makes the sum of their squares too large.
    """
    own, count = opmath(dtype), count_of(x, dims)
    refuse(count - correction <= 0, "the variance of too few")
    first = mean_of(b, x, dims, dtype)
    its, _, kept = split_iterators(x.shape, dims)
    apart = cast(x.at(its), first.dtype) - first.at(kept)
    rest, squares = b.sum(kept, apart), b.sum(kept, apart * apart)
    share = rest.at(kept) / Literal(count, first.dtype)
    var = (squares.at(kept) - rest.at(kept) * share) / Literal(count - correction, first.dtype)
    return b.define(kept, cast(first.at(kept) + share, own)), b.define(kept, cast(var, own))


@lowers("var.correction", "std.correction", "var_mean.correction")
def variance(b, x, dims=None, correction=None, keepdim=False):
    name = b.node.target.overloadpacket.__name__
    dtype = x.dtype
    dims = dimensions(dims, x.rank)
    mean_value, var = variance_of(b, x, dims, dtype, 1 if correction is None else correction)
    if name == "std":
        its = iterators(var.shape)
        b.assign(var, its, call("sqrt", var.at(its)))
    var = reshaped(b, rounded(b, var, dtype), keepdim, dims, x.rank)
    if name != "var_mean":
        return var
    return var, reshaped(b, rounded(b, mean_value, dtype), keepdim, dims, x.rank)


@lowers("linalg_vector_norm")
def vector_norm(b, x, ord=2, dims=None, keepdim=False, dtype=None):
    dims = dimensions(dims, x.rank)
    own = opmath(b.out_dtype) if ord == math.inf else accumulator(opmath(b.out_dtype), x, dims)
    refuse(ord not in (1, 2, math.inf), f"norm of order {ord}")
    if ord == math.inf:
        refuse(count_of(x, dims) == 0, "the extreme of nothing")
        result = reduced(b, x, dims, "max=!", lambda v: call("abs", cast(v, own)))
    elif ord == 1:
        result = reduced(b, x, dims, "+=!", lambda v: call("abs", cast(v, own)))
    else:
        result = reduced(b, x, dims, "+=!", lambda v: cast(v, own) * cast(v, own))
        its = iterators(result.shape)
        b.assign(result, its, call("sqrt", result.at(its)))
    return reshaped(b, rounded(b, result, b.out_dtype), keepdim, dims, x.rank)


def first_place(b, x, dim, value, operator):
    """The first place along `dim` where `x` holds `value`, or where it is NaN."""
    its, _, kept = split_iterators(x.shape, [dim])
    element = x.at(its)
    found = element.eq(value.at(kept))
    if x.dtype in FLOATS:
        found = found | element.ne(element)
    return b.define(kept, where(found, its[dim], Literal(x.shape[dim], "int64")), "min=!")


def arg_extreme(operator, number_of_results):
    def lowering(b, x, dim=None, keepdim=False):
        refuse(x.dtype == "bool", "bool")
        refuse(x.numel == 0, "the extreme of nothing")
        rank = x.rank
        if rank == 0 or dim is None:
            x = b.reshape(x, (x.numel,))
        at = 0 if dim is None or rank == 0 else dim % rank
        value = reduced(b, x, [at], operator)
        dims = list(range(rank)) if dim is None else [at] if rank else []
        if number_of_results == 1:
            return reshaped(b, first_place(b, x, at, value, operator), keepdim, dims, rank)
        place = first_place(b, x, at, value, operator) if b.used(1) else None
        return tuple(r and reshaped(b, r, keepdim and rank > 0, dims, rank) for r in (value, place))

    return lowering


lowers("argmax")(arg_extreme("max=!", 1))
lowers("argmin")(arg_extreme("min=!", 1))
lowers("max.dim")(arg_extreme("max=!", 2))
lowers("min.dim")(arg_extreme("min=!", 2))


def cumulative(operator, identity):
    """The lowering of reductions over all elements up to each: the compiler runs them in order."""

    def lower(b, x, dim, dtype=None):
        """Sums and products of float32 accumulate in float64, as torch's do."""
        if x.rank == 0:
            return rounded(b, b.materialise(x), b.out_dtype)
        dim %= x.rank
        refuse_long_rows_of_a_grid(b.result(), x.shape[dim], "a running reduction costs the square of its terms")
        own = {"float32": "float64"}.get(b.out_dtype, opmath(b.out_dtype))
        its = iterators(x.shape)
        before = Index("u", x.shape[dim])
        subscripts = [before if d == dim else i for d, i in enumerate(its)]
        term = where(before <= its[dim], cast(x.at(subscripts), own), identity)
        return rounded(b, b.define(its, term, operator, own), b.out_dtype)

    return lower


def up_to(x, dim):
    """The iterators of `x`, one for an element before along `dim` or the same, and the subscripts of that element."""
    its = iterators(x.shape)
    before = Index("u", x.shape[dim])
    return its, before, [before if d == dim else i for d, i in enumerate(its)]


def running_extreme(operator, identity):
    """The lowering of extremes of all elements up to each, with the places of the last of them."""

    def lower(b, x, dim):
        refuse(x.dtype in ("bool", "int64"), x.dtype)
        refuse(x.numel == 0, "the extreme of nothing")
        if x.rank == 0:
            return b.materialise(x), b.define([], Literal(0, "int64"))
        dim %= x.rank
        refuse_long_rows_of_a_grid(b.result(0), x.shape[dim], "a running reduction costs the square of its terms")
        own = opmath(x.dtype) if x.dtype in FLOATS else "float64"
        its, before, at = up_to(x, dim)
        term = where(before <= its[dim], cast(x.at(at), own), Literal(identity, own))
        value = b.define(its, term, operator, own)
        element = cast(x.at(at), own)
        found = element.eq(value.at(at)) | element.ne(element)
        last = Literal(2**63 - 1, "int64")  # the least of what is negative is found, as -2**63 is no literal
        place = b.define(its, where((before <= its[dim]) & found, Literal(0, "int64") - before, last), "min=!", "int64")
        return rounded(b, value, x.dtype), b.define(its, Literal(0, "int64") - place.at(its))

    return lower


@lowers("logcumsumexp")
def logcumsumexp(b, x, dim):
    """The larger of the result so far and an element is taken out of the exponentials, so that none overflows."""
    own = opmath(b.out_dtype)
    refuse(x.dtype not in FLOATS, x.dtype)
    if x.rank == 0:
        return rounded(b, b.materialise(x), b.out_dtype)
    dim %= x.rank
    refuse_long_rows_of_a_grid(b.result(), x.shape[dim], "one thread runs all terms of a row")
    its = iterators(x.shape)
    one = Literal(1, "int64")
    earlier = [i - one if d == dim else i for d, i in enumerate(its)]

    def value(result):
        before, element = where(one <= its[dim], result.at(earlier), Literal(-math.inf, own)), cast(x.at(its), own)
        high, low = call("max", before, element), call("min", before, element)
        return high + where(low.eq(high), Literal(math.log(2), own), call("log1p", call("exp", low - high)))

    return rounded(b, b.recur(its, its[dim], own, value), b.out_dtype)


lowers("cummax")(running_extreme("max=!", -math.inf))
lowers("cummin")(running_extreme("min=!", math.inf))
lowers("cumsum")(cumulative("+=!", 0))
lowers("cumprod")(cumulative("*=!", 1))
