"""Normalisations and softmax: defs of a few statements each."""

from ..expression import Index, Literal, call, cast
from ..values import Formula, iterators
from .reductions import count_of, opmath, reshaped, rounded, variance_of
from .registry import broadcast, lowers, refuse, split_iterators


@lowers("_softmax", "_log_softmax")
def softmax(b, x, dim, half_to_float=False):
    name, own = b.node.target.overloadpacket.__name__, opmath(b.out_dtype)
    refuse(x.rank == 0, "of a scalar")
    refuse(x.numel == 0, "of nothing")
    dim %= x.rank
    its, _, kept = split_iterators(x.shape, [dim])
    top = b.define(kept, cast(x.at(its), own), "max=!")
    apart = cast(x.at(its), own) - top.at(kept)
    if name == "_log_softmax":
        total = b.sum(kept, call("exp", apart))
        return b.define(its, cast(apart - call("log", total.at(kept)), b.out_dtype))
    raised = b.define(its, call("exp", apart))
    total = b.sum(kept, raised.at(its))
    return b.define(its, cast(raised.at(its) / total.at(kept), b.out_dtype))


@lowers("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(b, grad, output, dim, input_dtype):
    own = opmath(grad.dtype)
    refuse(output.rank == 0, "of a scalar")
    its, _, kept = split_iterators(output.shape, [dim % output.rank])
    g, y = cast(grad.at(its), own), cast(output.at(its), own)
    if "log" in b.node.target.overloadpacket.__name__:
        total = b.sum(kept, g)
        return b.define(its, cast(g - call("exp", y) * total.at(kept), b.out_dtype))
    total = b.sum(kept, g * y)
    return b.define(its, cast((g - total.at(kept)) * y, b.out_dtype))


def moments(b, x, dims, eps, dtype):
    """Mean and 1/sqrt(variance + eps) over `dims`."""
    mean, var = variance_of(b, x, dims, dtype, 0)
    its = iterators(var.shape)
    return mean, b.define(its, call("rsqrt", var.at(its) + Literal(eps, var.dtype)))


@lowers("native_layer_norm")
def layer_norm(b, x, shape, weight, bias, eps):
    dims = list(range(x.rank - len(shape), x.rank))
    refuse(x.numel == 0, "of nothing")
    own = opmath(x.dtype)
    mean, rstd = moments(b, x, dims, eps, x.dtype)
    its, inner, kept = split_iterators(x.shape, dims)
    value = (cast(x.at(its), own) - mean.at(kept)) * rstd.at(kept)
    value = value if weight is None else value * cast(weight.at(inner), own)
    value = value if bias is None else value + cast(bias.at(inner), own)
    result = b.define(its, cast(value, x.dtype))
    return result, *(
        rounded(b, reshaped(b, v, True, dims, x.rank), _dtype(b, k)) if b.used(k) else None
        for k, v in ((1, mean), (2, rstd))
    )


def _dtype(b, number):
    from ..builder import dtype_name

    return dtype_name(b.result(number).dtype)


@lowers("native_layer_norm_backward")
def layer_norm_backward(b, grad, x, shape, mean, rstd, weight, bias, mask):
    own = opmath(x.dtype)
    dims = list(range(x.rank - len(shape), x.rank))
    its, inner, kept = split_iterators(x.shape, dims)
    g, scaled = cast(grad.at(its), own), cast(grad.at(its), own)
    r = cast(broadcast(rstd, its), own)
    normal = (cast(x.at(its), own) - cast(broadcast(mean, its), own)) * r
    scaled = g if weight is None else g * cast(weight.at(inner), own)
    result = [None, None, None]
    if mask[0] and b.used(0):
        count = Literal(count_of(x, dims), own)
        first, second = b.sum(kept, scaled), b.sum(kept, scaled * normal)
        value = r * (scaled - first.at(kept) / count - normal * (second.at(kept) / count))
        result[0] = b.define(its, cast(value, x.dtype))
    if mask[1] and b.used(1):
        result[1] = rounded(b, b.sum(inner, g * normal), _dtype(b, 1))
    if mask[2] and b.used(2):
        result[2] = rounded(b, b.sum(inner, g), _dtype(b, 2))
    return tuple(result)


@lowers("native_group_norm")
def group_norm(b, x, weight, bias, n, channels, space, groups, eps):
    refuse(x.numel == 0, "of nothing")
    own, size = opmath(x.dtype), channels // groups
    split = b.reshape(x, [n, groups, size, space])
    mean, rstd = moments(b, split, [2, 3], eps, x.dtype)
    i, g, c, s = Index("n", n), Index("g", groups), Index("c", size), Index("s", space)
    value = (cast(split[i, g, c, s], own) - mean[i, g]) * rstd[i, g]
    value = value if weight is None else value * cast(weight[g * size + c], own)
    value = value if bias is None else value + cast(bias[g * size + c], own)
    result = b.reshape(b.define([i, g, c, s], cast(value, x.dtype)), x.shape)
    return result, *(rounded(b, v, _dtype(b, k)) if b.used(k) else None for k, v in ((1, mean), (2, rstd)))


def _scaled_and_shifted(b, x, mean, rstd, weight, bias):
    """(x - mean) * rstd * weight + bias along dimension 1: a scale and a shift of each channel first."""
    own = rstd.dtype
    c = Index("c", x.shape[1])
    scale = b.define([c], rstd[c] if weight is None else rstd[c] * cast(weight[c], own))
    base = Literal(0.0, own) if bias is None else cast(bias[c], own)
    shift = b.define([c], base - cast(mean[c], own) * scale[c])
    its = iterators(x.shape, "nchwd")
    return b.define(its, cast(cast(x.at(its), own) * scale[its[1]] + shift[its[1]], x.dtype))


def _empty(b, number):
    return Formula(lambda s: Literal(0, _dtype(b, number)), b.result(number).shape, _dtype(b, number))


@lowers("_native_batch_norm_legit_no_training")
def batch_norm_inference(b, x, weight, bias, mean, var, momentum, eps):
    own = opmath(x.dtype)
    refuse(x.rank < 2, "without channels")
    c = Index("c", x.shape[1])
    rstd = b.define([c], call("rsqrt", cast(var[c], own) + Literal(eps, own)))
    return _scaled_and_shifted(b, x, mean, rstd, weight, bias), *(_empty(b, k) if b.used(k) else None for k in (1, 2))


def _batch_statistics(b, x, weight, bias, eps):
    dims = [d for d in range(x.rank) if d != 1]
    mean, var = variance_of(b, x, dims, x.dtype, 0)
    c = Index("c", x.shape[1])
    rstd = b.define([c], call("rsqrt", var[c] + Literal(eps, var.dtype)))
    return _scaled_and_shifted(b, x, mean, rstd, weight, bias), mean, var, rstd, count_of(x, dims)


@lowers("_native_batch_norm_legit_functional", "_native_batch_norm_legit.no_stats")
def batch_norm_training(b, x, weight, bias, *rest):
    functional = len(rest) == 5
    running_mean, running_var, training, momentum, eps = rest if functional else (None, None, *rest)
    refuse(not training, "with running statistics")
    result, mean, var, rstd, count = _batch_statistics(b, x, weight, bias, eps)
    if not functional:
        return result, mean, rstd
    c, own = Index("c", x.shape[1]), mean.dtype

    def moved(running, value):
        value = cast(running[c], own) * (1 - momentum) + value * momentum
        return b.define([c], cast(value, running.dtype))

    refuse(count < 2, "the variance of too few")
    mean_out = moved(running_mean, mean[c]) if b.used(3) else None
    var_out = moved(running_var, var[c] * (count / (count - 1))) if b.used(4) else None
    return result, mean, rstd, mean_out, var_out
