"""Rank correlation: how well predicted times order candidates."""

import dataclasses
import math
from typing import List, Optional, Sequence


@dataclasses.dataclass(frozen=True)
class ModelReport:
    """How well predictions ordered the candidates that were measured: Spearman's rank correlation, 1 for the right order, 0 for chance."""

    model: str
    """"price", or "xgboost": the price corrected by trees."""
    price_rank: float
    """Of the prices, which know of no measurement."""
    rank: Optional[float]
    """Of the model, each prediction by one that was trained without its candidate; None for the price alone, or too few candidates."""
    samples: int
    """Candidates with a time and a price."""

    def __str__(self):
        corrected = "" if self.rank is None else f", corrected by {self.model} (held out) {self.rank:.2f}"
        return f"rank correlation with {self.samples} measured times: price {self.price_rank:.2f}{corrected}"


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of equal length; 0 where one of them is constant."""
    x, y = _ranks(a), _ranks(b)
    mean = (len(x) + 1) / 2
    products = sum((i - mean) * (j - mean) for i, j in zip(x, y))
    squares = sum((i - mean) ** 2 for i in x) * sum((j - mean) ** 2 for j in y)
    return products / math.sqrt(squares) if squares > 0 else 0.0


def _ranks(values: Sequence[float]) -> List[float]:
    """From 1 on; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first : last + 1]:
            result[i] = (first + last) / 2 + 1
        first = last + 1
    return result
