"""Bags of rows of a table (`nn.EmbeddingBag`), and their gradients: a bag has the entries between two offsets."""

import math

from ..builder import dtype_name
from ..expression import Index, Literal, call, cast, inside, literal, where
from ..values import Formula
from .indexing import place, refuse_scattered
from .reductions import opmath, rounded
from .registry import lowers, refuse

MEAN, MAXIMUM = 1, 2


def entries(offsets, r, j, include_last):
    """Whether entry `j` is in bag `r`, and the check that bags ascend."""
    begin, end = cast(offsets[r], "int64"), cast(offsets[call("min", r + 1, offsets.shape[0] - 1)], "int64")
    end = end if include_last else where(r < r.extent - 1, end, j.extent)
    return (begin <= j) & (j < end), inside(j, begin, end)


def bags_of(b, here, r, j, ascend):
    """The bag of each entry."""
    return b.define([j], where(here, r, Literal(-(2**63), "int64")), "max=!", "int64", [ascend])


def of_type(fake, value):
    """The integers of `value` in the type that torch gives them."""
    dtype = dtype_name(fake.dtype)
    return value if dtype == value.dtype else Formula(lambda s: cast(value.at(s), dtype), value.shape, dtype)


@lowers("_embedding_bag_forward_only", "_embedding_bag")
def embedding_bag(
    b, weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, weights=None, include_last=False, padding_idx=-1
):
    """Sums, means or maxima of the rows of a bag. Halves accumulate in float32; an empty bag is 0. Gradients ask for the bag of each entry, which torch does not always
    give, and for the number of entries of each bag."""
    refuse(b.used(3) and mode == MAXIMUM, "a maximum of bags whose gradient is asked for")
    refuse(indices.rank != 1 or offsets.rank != 1, "offsets and lists of indices that are no vectors")
    r, d, j = Index("r", b.result(0).shape[0]), Index("d", weight.shape[1]), Index("j", indices.shape[0])
    own, count, bag_of = opmath(weight.dtype), None, None
    between, ascend = entries(offsets, r, j, include_last)
    if b.used(1):
        shape = b.result(1).shape
        bag_of = bags_of(b, between, r, j, ascend) if shape[0] else Formula(lambda _: Literal(0, "int64"), shape, "int64")
        bag_of = of_type(b.result(1), bag_of)
    here = between if padding_idx < 0 else between & cast(indices[j], "int64").ne(padding_idx)
    value = cast(weight.at([place(indices[j], weight.shape[0], False), d]), own)
    value = value if weights is None else value * cast(weights[j], own)
    none = Literal(-math.inf if mode == MAXIMUM else 0, own)
    result = b.define([r, d], where(here, value, none), "max=!" if mode == MAXIMUM else "+=!", own, [ascend])
    sized = b.used(2) or b.used(3)
    if mode != 0 or sized:
        count = b.sum([r], where(here, Literal(1, "int64"), Literal(0, "int64")))
    if mode != 0:
        made = result[r, d] if mode == MAXIMUM else result[r, d] / cast(count[r], own)
        result = b.define([r, d], where(count[r] > 0, made, Literal(0, own)))
    size = of_type(b.result(2), count) if sized else None
    return rounded(b, result, weight.dtype), bag_of, size, None if mode == MAXIMUM else size


def of_gradient(b, grad, indices, offsets, offset2bag):
    """An iterator over entries, the bag of one, and an iterator over columns."""
    refuse(indices.rank != 1 or offsets.rank != 1, "offsets and lists of indices that are no vectors")
    j, r = Index("j", indices.shape[0]), Index("r", grad.shape[0])
    if offset2bag.numel == 0 and indices.numel != 0:
        between, ascend = entries(offsets, r, j, offsets.shape[0] == grad.shape[0] + 1)
        offset2bag = bags_of(b, between, r, j, ascend)
    return j, cast(offset2bag[j], "int64"), Index("d", grad.shape[1])


@lowers("_embedding_bag_backward", "_embedding_bag_dense_backward")
def embedding_bag_backward(
    b, grad, indices, offsets, offset2bag, bag_size, max_indices, num_weights, scale_grad_by_freq, mode, sparse=False, weights=None, padding_idx=-1
):
    refuse(mode == MAXIMUM, "the gradient of a maximum of bags")
    refuse(scale_grad_by_freq, "gradients scaled by how often a row is looked up")
    refuse(sparse is True, "a sparse gradient")
    refuse_scattered(grad)
    j, bag, d = of_gradient(b, grad, indices, offsets, offset2bag)
    row, zero = place(indices[j], num_weights, False), literal(0, grad.dtype)
    addend = grad.at([bag, d])
    addend = addend if weights is None else addend * cast(weights[j], grad.dtype)
    addend = addend / cast(bag_size.at([bag]), grad.dtype) if mode == MEAN else addend
    addend = addend if padding_idx < 0 else where(row.eq(padding_idx), zero, addend)
    return b.scatter(Formula(lambda _: zero, [num_weights, grad.shape[1]], grad.dtype), [j, d], [row, d], addend)


@lowers("_embedding_bag_per_sample_weights_backward")
def embedding_bag_weights_backward(b, grad, weight, indices, offsets, offset2bag, mode, padding_idx=-1):
    refuse(mode != 0, "weights of entries that are not summed")
    own = opmath(weight.dtype)
    j, bag, d = of_gradient(b, grad, indices, offsets, offset2bag)
    row = place(indices[j], weight.shape[0], False)
    product = cast(grad.at([bag, d]), own) * cast(weight.at([row, d]), own)
    product = product if padding_idx < 0 else where(row.eq(padding_idx), Literal(0, own), product)
    return rounded(b, b.sum([j], product), weight.dtype)
