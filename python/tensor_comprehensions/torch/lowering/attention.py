"""Attention and its gradients: torch has an operator of each for every library that computes it."""

import math

from ..builder import dtype_name
from ..expression import Index, Literal, call, cast, where
from .reductions import opmath, rounded
from .registry import broadcast, lowers, refuse


def _dtype(b, number):
    return dtype_name(b.result(number).dtype)


def _heads(q, k, v):
    """Iterators of attention and the head of keys and values that belongs to head h of queries."""
    refuse(q.rank != 4, "of another rank than 4")
    refuse(k.shape[2] != v.shape[2], "keys and values of different lengths")
    n, h, i = Index("n", q.shape[0]), Index("h", q.shape[1]), Index("i", q.shape[2])
    j, d, e = Index("j", k.shape[2]), Index("d", q.shape[3]), Index("e", v.shape[3])
    shared = q.shape[1] // k.shape[1]
    return n, h, i, j, d, e, (h if shared == 1 else h / shared)


def _scores(b, q, k, scale, causal, mask):
    """Scaled products of queries and keys, masked as asked."""
    n, h, i, j, d, e, kv = _heads(q, k, k)
    own = opmath(q.dtype)
    scores = b.sum([n, h, i, j], cast(q[n, h, i, d], own) * cast(k[n, kv, j, d], own))
    value = scores[n, h, i, j] * (1 / math.sqrt(q.shape[3]) if scale is None else scale)
    if mask is not None:
        element = broadcast(mask, [n, h, i, j])
        value = value + (where(element, Literal(0.0, own), -math.inf) if mask.dtype == "bool" else cast(element, own))
    if causal:
        value = where(j <= i, value, -math.inf)
    b.assign(scores, [n, h, i, j], value)
    return scores


def _attend(b, q, k, v, causal, mask, scale, rounds=False):
    """(result, the logarithm of the sum of exponentials of each row as a function of its subscripts).

    With `rounds`, exponentials are rounded to the type of the values before they are multiplied, as torch's kernels of GPUs do."""
    refuse(b.result(0).numel() == 0, "of nothing")
    n, h, i, j, d, e, kv = _heads(q, k, v)
    own = opmath(q.dtype)
    scores = _scores(b, q, k, scale, causal, mask)
    top = b.define([n, h, i], scores[n, h, i, j], "max=!")
    shift = where(top[n, h, i].eq(-math.inf), Literal(0.0, own), top[n, h, i]) if mask is not None else top[n, h, i]
    raised = b.define([n, h, i, j], call("exp", scores[n, h, i, j] - shift))
    total = b.sum([n, h, i], raised[n, h, i, j])
    factor = raised[n, h, i, j]
    if rounds and v.dtype != own:
        factor = cast(b.define([n, h, i, j], cast(factor, v.dtype))[n, h, i, j], own)
    product = b.sum([n, h, i, e], factor * cast(v[n, kv, j, e], own))
    share = product[n, h, i, e] / total[n, h, i]
    if mask is not None:
        share = where(total[n, h, i].eq(0.0), Literal(0.0, own), share)
    result = b.define([n, h, i, e], cast(share, q.dtype))

    def logarithm(n, h, i):
        if mask is None:
            return top[n, h, i] + call("log", total[n, h, i])
        # a row without any key: any finite number gives its backward zeros
        least = where(top[n, h, i].eq(-math.inf), Literal(0.0, own), top[n, h, i])
        return least + call("log", where(total[n, h, i] > 0.0, total[n, h, i], Literal(1.0, own)))

    return result, logarithm


def _rows(b, q, logarithm):
    """The second result of most operators: `logarithm` of each row, where anything reads it."""
    n, h, i, *_ = _heads(q, q, q)
    return b.define([n, h, i], cast(logarithm(n, h, i), _dtype(b, 1))) if b.used(1) else None


@lowers("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(b, q, k, v, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None):
    refuse(dropout_p != 0, "dropout")
    result, logarithm = _attend(b, q, k, v, is_causal, attn_mask, scale)
    return result, _rows(b, q, logarithm)


@lowers("_scaled_dot_product_flash_attention")
def flash_attention(b, q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    refuse(dropout_p != 0 or return_debug_mask, "dropout")
    refuse(is_causal and q.shape[2] != k.shape[2], "causal with unequal lengths")
    result, logarithm = _attend(b, q, k, v, is_causal, None, scale, rounds=True)
    return result, _rows(b, q, logarithm), *[None] * 7


@lowers("_scaled_dot_product_efficient_attention")
def efficient_attention(b, q, k, v, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, scale=None):
    refuse(dropout_p != 0, "dropout")
    result, logarithm = _attend(b, q, k, v, is_causal, attn_bias, scale, rounds=True)
    if not (compute_log_sumexp and b.used(1)):
        return result, None, None, None
    n, h, *_ = _heads(q, k, v)
    i, own = Index("i", b.result(1).shape[2]), opmath(q.dtype)  # rows are padded, to multiples of 32
    value = logarithm(n, h, i) if i.extent == q.shape[2] else where(i < q.shape[2], logarithm(n, h, i), Literal(math.inf, own))
    return result, b.define([n, h, i], cast(value, _dtype(b, 1))), None, None


@lowers("_scaled_dot_product_cudnn_attention")
def cudnn_attention(
    b, q, k, v, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None
):
    refuse(dropout_p != 0 or return_debug_mask, "dropout")
    refuse(is_causal and q.shape[2] != k.shape[2], "causal with unequal lengths")
    result, logarithm = _attend(b, q, k, v, is_causal, attn_bias, scale, rounds=True)
    rows = None
    if b.used(1):
        n, h, i, *_ = _heads(q, k, v)
        rows = b.define([n, h, i, Index("e", 1)], cast(logarithm(n, h, i), _dtype(b, 1)))
    return result, rows, *[None] * 7


def _gradients(b, grad, q, k, v, out, rows, causal, mask, scale):
    """Of queries, keys and values; `rows` gives a row's logarithm at its subscripts.

    Shares and gradients of scores are rounded to the type of the values before they are multiplied, as torch's kernels of GPUs do.
    """
    n, h, i, j, d, e, kv = _heads(q, k, v)
    refuse(kv is not h, "grouped heads")
    own = opmath(q.dtype)
    at = lambda value, *subscripts: cast(value[subscripts], own)
    factor = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    scores = _scores(b, q, k, scale, causal, mask)
    share = b.define([n, h, i, j], call("exp", scores[n, h, i, j] - cast(rows(n, h, i), own)))
    shares = share if q.dtype == own else b.define([n, h, i, j], cast(share[n, h, i, j], q.dtype))
    grad_v = b.sum([n, h, j, e], at(shares, n, h, i, j) * at(grad, n, h, i, e))
    grad_share = b.sum([n, h, i, j], at(grad, n, h, i, e) * at(v, n, h, j, e))
    lost = b.sum([n, h, i], at(grad, n, h, i, e) * at(out, n, h, i, e))
    value = share[n, h, i, j] * (grad_share[n, h, i, j] - lost[n, h, i]) * factor
    grad_scores = b.define([n, h, i, j], cast(value, q.dtype))
    grad_q = b.sum([n, h, i, d], at(grad_scores, n, h, i, j) * at(k, n, h, j, d))
    grad_k = b.sum([n, h, j, d], at(grad_scores, n, h, i, j) * at(q, n, h, i, d))
    return tuple(rounded(b, made, q.dtype) for made in (grad_q, grad_k, grad_v))


@lowers("_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_for_cpu_backward(b, grad, q, k, v, out, logsumexp, dropout_p, is_causal, attn_mask=None, scale=None):
    refuse(dropout_p != 0, "dropout")
    refuse(q.dtype in ("float16", "bfloat16"), "gradients of halves")
    return _gradients(b, grad, q, k, v, out, lambda n, h, i: logsumexp[n, h, i], is_causal, attn_mask, scale)


@lowers("_scaled_dot_product_flash_attention_backward")
def flash_attention_backward(
    b, grad, q, k, v, out, logsumexp, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, seed, offset, scale=None
):
    refuse(dropout_p != 0, "dropout")
    refuse(is_causal and q.shape[2] != k.shape[2], "causal with unequal lengths")
    return _gradients(b, grad, q, k, v, out, lambda n, h, i: logsumexp[n, h, i], is_causal, None, scale)


@lowers("_scaled_dot_product_efficient_attention_backward")
def efficient_attention_backward(
    b, grad, q, k, v, attn_bias, out, logsumexp, seed, offset, dropout_p, grad_input_mask, is_causal=False, scale=None
):
    refuse(dropout_p != 0, "dropout")
    refuse(grad_input_mask[3] and b.used(3), "the gradient of a bias")
    rows = lambda n, h, i: logsumexp[n, h, i]
    return *_gradients(b, grad, q, k, v, out, rows, is_causal, attn_bias, scale), None


@lowers("_scaled_dot_product_cudnn_attention_backward")
def cudnn_attention_backward(
    b, grad, q, k, v, out, logsumexp, seed, offset, attn_bias, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, scale=None
):
    refuse(dropout_p != 0, "dropout")
    refuse(is_causal and q.shape[2] != k.shape[2], "causal with unequal lengths")
    return _gradients(b, grad, q, k, v, out, lambda n, h, i: logsumexp[n, h, i, 0], is_causal, attn_bias, scale)
