"""Choices among texts that compute the same, made for speed. The compiler maps a text as it is written and has no rule from one of these to the other, so
that the lowering chooses; every choice that depends on sizes is here, with the times that are its reason (one thread of a Xeon with AVX-512)."""

import math

from .registry import refuse


def places_are_one_dimension(weight, stride, pad, groups) -> bool:
    """Whether a convolution runs over all places as one dimension: its windows have one element each.

    Lanes along rows of 7 places are half empty: 2048 to 512 channels at 7 x 7 take 1.29 ms in one dimension, and 1.63 ms in two. Between
    14 x 14 and 56 x 56 places the times are equal.
    """
    return groups == 1 and weight.rank > 3 and math.prod(weight.shape[2:]) == 1 and set(stride) == {1} and set(pad) == {0}


def transposed_by_products(b, x, weight, stride, dilation, out_space) -> bool:
    """Whether a transposed convolution multiplies each position by each element of the window, and sums the products afterwards.

    The products read weights once and as they lie, whereas places that look for their positions read them with strides: 512 to 256 channels
    at 4 x 4, windows of 4 x 4, stride 2, take 2.9 ms by products and 254 ms without. Weights that a compile may lay out need no
    products, which are written and read again; with stride 1 they pay where they are fewer than the weights.
    """
    if b.is_held(weight) or any(d != 1 for d in dilation) or any(n % s for n, s in zip(out_space, stride)):
        return False
    places, elements = math.prod([x.shape[0], *x.shape[2:]]), math.prod(weight.shape[1:])
    return all(s > 1 for s in stride) or places * elements <= weight.numel


def rows_of_a_block(rows, groups) -> int:
    """The rows that are multiplied by one matrix together in a product of groups of `rows`: about a register tile where groups are long, fewer
    where blocks would be mostly empty."""
    refuse(rows < groups, "less rows than groups, which torch multiplies as fast")
    return 8 if rows >= 16 * groups else 4 if rows >= 2 * groups else 1


LONGEST_SQUARE = 64


def refuse_long_rows_of_a_grid(fake, length, reason):
    """On a GPU a running reduction is a sum over all earlier elements, or one thread's loop: rows of more than LONGEST_SQUARE elements are left to torch."""
    refuse(fake.device.type != "cpu" and length > LONGEST_SQUARE, f"on this device {reason}")
