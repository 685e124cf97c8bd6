"""Products of matrices."""

from ..expression import FLOATS, Index, Literal, call, cast, where
from .choices import rows_of_a_block
from .reductions import opmath, rounded
from .registry import broadcast, lowers, refuse


def _mm(x, y):
    m, n, k = Index("m", x.shape[0]), Index("n", y.shape[1]), Index("k", x.shape[1])
    return [m, n], x[m, k], y[k, n]


def _bmm(x, y):
    s, m, n, k = Index("b", x.shape[0]), Index("m", x.shape[1]), Index("n", y.shape[2]), Index("k", x.shape[2])
    return [s, m, n], x[s, m, k], y[s, k, n]


def _mv(x, y):
    m, k = Index("m", x.shape[0]), Index("k", x.shape[1])
    return [m], x[m, k], y[k]


def _dot(x, y):
    k = Index("k", x.shape[0])
    return [], x[k], y[k]


@lowers("mm", "bmm", "mv", "dot", "vdot")
def product(b, x, y):
    """Halves accumulate in float32 and round once."""
    refuse(x.dtype == "bool", "bool")
    name = b.node.target.overloadpacket.__name__
    its, p, q = {"mm": _mm, "bmm": _bmm, "mv": _mv, "dot": _dot, "vdot": _dot}[name](x, y)
    return b.define(its, p * q, "+=!", x.dtype)


@lowers("addmm", "baddbmm", "addmv", "addbmm")
def added_product(b, bias, x, y, beta=1, alpha=1):
    """Products of halves are summed, scaled and added to in float32 and rounded once, as the libraries under torch do."""
    refuse(x.dtype == "bool", "bool")
    own = opmath(x.dtype)
    name = b.node.target.overloadpacket.__name__
    its, p, q = {"addmm": _mm, "baddbmm": _bmm, "addmv": _mv, "addbmm": _bmm}[name](x, y)
    if name == "addbmm":
        its = its[1:]
    result = b.define(its, cast(p, own) * cast(q, own), "+=!", own)
    return rounded(b, plus(b, result, its, bias, beta, alpha), x.dtype)


def plus(b, result, its, bias, beta, alpha):
    """beta * bias + alpha * result, written over the result."""
    whole = isinstance(beta, int) and isinstance(alpha, int)
    refuse(result.dtype not in FLOATS and not whole, "factors that are no integers")
    value = result.at(its)
    value = value if alpha == 1 else value * alpha
    if beta != 0:
        added = cast(broadcast(bias, its), result.dtype)
        value = value + (added if beta == 1 else added * beta)
    b.assign(result, its, value)
    return result


@lowers("_grouped_mm", "transformers::grouped_mm_fallback")
def ragged_product(b, x, weights, ends=None, bias=None, out_dtype=None):
    """Rows of `x` from the end of the group before to its own times the matrix of the group; rows behind the last end are 0.

    Groups are cut into blocks of the same number of rows: how many blocks there are at most is known, whatever the ends are, and a
    block reads one matrix. Tables say which group a block is of and where it begins, and which block a row is in.
    """
    refuse(x.rank != 2 or weights.rank != 3 or ends is None, "groups of terms, or of columns")
    refuse(bias is not None or (out_dtype is not None and b.out_dtype != x.dtype), "a bias, or a result of another type")
    (rows, terms), (groups, _, columns) = x.shape, weights.shape
    size = rows_of_a_block(rows, groups)
    e, f, j = Index("e", groups), Index("f", groups), Index("j", rows // size + min(rows, groups))
    t, r, k, n = Index("t", rows), Index("r", size), Index("k", terms), Index("n", columns)
    at_least = lambda value, least: call("max", value, least)
    end = lambda group: cast(ends[group], "int64")
    begin = lambda group: where(group > 0, end(at_least(group - 1, 0)), 0)
    blocks = b.define([e], (end(e) - begin(e) + (size - 1)) / size)
    behind = b.sum([e], where(f <= e, blocks[f], 0))
    before = b.sum([j], where(behind[e] <= j, Literal(1, "int64"), 0))
    group = b.define([j], call("min", before[j], groups - 1))
    first = b.define([j], begin(group[j]) + (j - behind[group[j]] + blocks[group[j]]) * size)
    row = call("min", at_least(first[j] + r, 0), rows - 1)
    packed = b.define([j, r, k], x[row, k])
    product = b.define([j, r, n], packed[j, r, k] * weights[group[j], k, n], "+=!", x.dtype)
    begun = b.sum([t], where((first[j] <= t) & (j < behind[groups - 1]), Literal(1, "int64"), 0))
    block = b.define([t], at_least(begun[t] - 1, 0))
    place = call("min", at_least(t - first[block[t]], 0), size - 1)
    return b.define([t, n], where(t < end(groups - 1), product[block[t], place, n], 0))
