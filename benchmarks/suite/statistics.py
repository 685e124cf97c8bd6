"""Medians, quartiles and means of times."""

import math
from typing import Iterable, NamedTuple, Sequence


class Spread(NamedTuple):
    """Seconds of one call: median and quartiles over the samples."""

    median: float
    low: float
    high: float
    samples: int


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, interpolated linearly."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles of samples; at least one."""
    return Spread(quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75), len(values))


def geomean(values: Iterable[float]) -> float:
    """Geometric mean of positive numbers; at least one."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))
