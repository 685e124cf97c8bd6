"""The largest elements of rows, by rank: a pass over the row for each."""

import math

from ..builder import Statement
from ..expression import FLOATS, Index, Literal, where
from ..values import iterators
from .reductions import refuse_long_rows_of_a_grid
from .registry import lowers, refuse

MOST_RANKS = 8  # passes over a row for its values, and for their places; torch sorts a part of the row


def _least(dtype):
    """What no element of the type is less than."""
    if dtype in FLOATS:
        return Literal(-math.inf, dtype)
    bits = int(dtype.lstrip("uint"))
    return Literal(0 if dtype.startswith("u") else -(2 ** (bits - 1)), dtype)


@lowers("topk")
def topk(b, x, k, dim=-1, largest=True, sorted=True):
    """For each rank, the maximum of the elements that are less than the one before, or equal to it and behind it; NaN is the largest, and of equal elements the first
    one comes first."""
    refuse(not largest, "the smallest elements")
    refuse(x.rank == 0 or x.numel == 0 or x.dtype == "bool", "no rows of numbers")
    refuse(not 0 < k <= MOST_RANKS, f"more than {MOST_RANKS} ranks: torch sorts a part of each row")
    refuse(not (b.used(0) and b.used(1)), "values, or their places, alone")
    dim %= x.rank
    refuse_long_rows_of_a_grid(b.result(0), x.shape[dim], "one thread runs all ranks of a row")
    its, rank = iterators(x.shape), Index("u", k)
    at = [rank if d == dim else i for d, i in enumerate(its)]
    values, places = b.fresh(x.dtype, at), b.fresh("int64", at)
    element, before = x.at(its), [rank - 1 if d == dim else i for d, i in enumerate(its)]

    def equals(value):
        equal = element.eq(value)
        return equal | (element.ne(element) & value.ne(value)) if x.dtype in FLOATS else equal

    last = values.at(before)
    less = element < last
    less = less | (last.ne(last) & element.eq(element)) if x.dtype in FLOATS else less
    left = rank.eq(0) | (less | (equals(last) & (its[dim] > places.at(before))))
    found = left & equals(values.at(at))
    b.add(Statement(values.tensor, at, "max=!", where(left, element, _least(x.dtype)), loop=rank))
    b.add(Statement(places.tensor, at, "min=!", where(found, its[dim], Literal(x.shape[dim], "int64")), loop=rank))
    return values, places
