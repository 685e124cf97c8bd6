"""One statement over the broadcast shape of its operands, computed in the type torch computes in."""

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes

from ..builder import dtype_name
from ..expression import FLOATS, call, cast
from ..values import Value, iterators
from .registry import lowers, operand, refuse

DEFAULT, INT_TO_FLOAT, ALWAYS_BOOL, BOOL_TO_LONG = KIND.DEFAULT, KIND.INT_TO_FLOAT, KIND.ALWAYS_BOOL, KIND.BOOL_TO_LONG


def promoted(arguments, kind):
    """The type torch computes in and the one it brings operands to before that, given the arguments of a node that stand for tensors or numbers."""
    metas = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in arguments if a is not None]
    computed = elementwise_dtypes(*metas, type_promotion_kind=kind)[0]
    common = elementwise_dtypes(*metas, type_promotion_kind=DEFAULT if kind is ALWAYS_BOOL else kind)[1]
    return dtype_name(computed), dtype_name(common)


def elementwise(b, arguments, formula, kind=DEFAULT, exact=()):
    """One statement: `formula(*elements)` of tensors and numbers, each in the computation type. They are rounded to the type they promote to first,
    except numbers and tensors of one element at the places `exact`, which torch's kernels for halves take as they are."""
    nodes = [a for a in (*b.node.args, *b.node.kwargs.values())]
    by_position = [nodes[k] if k < len(nodes) else a for k, a in enumerate(arguments)]
    computed, common = promoted([n for n, a in zip(by_position, arguments) if a is not None], kind)
    its = iterators(b.out_shape)

    def element(place, argument):
        is_exact = place in exact and (not isinstance(argument, Value) or argument.numel == 1)
        return operand(argument, its, computed, computed if is_exact else common)

    value = formula(*[None if a is None else element(k, a) for k, a in enumerate(arguments)])
    return b.define(its, cast(value, b.out_dtype))


def pointwise(*names, kind=DEFAULT, arity=None, exact=()):
    """Registers `formula` for operators whose first `arity` arguments are its own."""

    def register(formula):
        count = arity if arity is not None else formula.__code__.co_argcount

        @lowers(*names)
        def lowering(b, *args, **kwargs):
            refuse(len(args) > count or kwargs, f"its arguments {list(args[count:]) or kwargs} have no text")
            return elementwise(b, args, formula, kind, exact)

        return formula

    return register


def is_float(x):
    return x.dtype in FLOATS


def limited(value, low, high):
    """As torch: a NaN stays, and `high` wins where the limits cross."""
    refuse(value.dtype == "bool", "bool")
    value = value if low is None else call("max", value, low)
    return value if high is None else call("min", value, high)
