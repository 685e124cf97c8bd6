"""Are outputs right? Floats against float64, within what rounding allows; integers exactly."""

import math
from typing import Callable

import torch

INDEX_TYPES = (torch.int32, torch.int64, torch.bool)


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers as float64 (exact for bytes); indices stay."""
    return tensor if tensor.dtype in INDEX_TYPES else tensor.double()


def as_tuple(value) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def tolerance(dtype: torch.dtype, terms: int, roundings: int = 1) -> float:
    """Allowed error, relative to an element plus the root mean square of its tensor.

    Rounding errors of a sum of n random terms grow like the square root of n; a lost or doubled term changes the sum
    by 1/sqrt(n) of it, far above this.
    """
    if not dtype.is_floating_point:
        return 0.0
    accumulated = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    return (8 + 4 * math.sqrt(terms)) * accumulated + roundings * torch.finfo(dtype).eps


def reference(case, inputs: tuple) -> tuple:
    """The outputs in float64."""
    function: Callable = case.reference or case.eager
    return as_tuple(function(*[widened(tensor) for tensor in inputs]))


def worst_error(outputs: tuple, expected: tuple, terms: int, roundings: int = 1) -> float:
    """The largest error as a share of what is allowed: right if at most 1. NaN and infinities count as infinite."""
    assert len(outputs) == len(expected), f"{len(outputs)} outputs, {len(expected)} expected"
    worst = 0.0
    for output, right in zip(outputs, expected):
        if output.shape != right.shape:
            raise ValueError(f"the output has the shape {tuple(output.shape)}, not {tuple(right.shape)}")
        if output.numel() == 0:
            continue
        right = right.double()
        error = (output.double() - right).abs()
        allowed = tolerance(output.dtype, terms, roundings) * (right.abs() + right.square().mean().sqrt())
        share = torch.where(error == 0, 0.0, error / allowed).nan_to_num(math.inf, math.inf)
        worst = max(worst, share.max().item())
    return worst
