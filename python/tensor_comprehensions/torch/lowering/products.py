"""Products of matrices."""

from ..expression import FLOATS, Index, cast
from ..values import iterators
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
