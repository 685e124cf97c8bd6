"""Spaces of choices, as policies see them: genes, each with numbered values."""

import dataclasses
from typing import Protocol, Sequence, Tuple

from .. import _core

Point = Tuple[int, ...]
"""A number of a value for each gene of a space."""

Trial = Tuple[Point, float]
"""A point and its measured seconds, infinity for failures."""


@dataclasses.dataclass(frozen=True)
class Gene:
    """One choice. Values whose numbers are neighbours are alike, if values have an order."""

    name: str
    count: int
    """Of its values."""


class Space(Protocol):
    """What policies choose in."""

    @property
    def genes(self) -> Sequence[Gene]: ...

    def normalised(self, point: Point) -> Point:
        """The one point that stands for all points of the same effect."""


class OptionSpace:
    """The mapping options of a tuning as a space."""

    def __init__(self, core: _core.SearchSpace):
        self._core = core
        self.genes = [Gene(f"{option} {position}", len(values)) for option, position, values in core.genes]

    def normalised(self, point: Point) -> Point:
        return tuple(self._core.normalised(list(point)))

    def options(self, point: Point) -> _core.MappingOptions:
        return self._core.options(list(point))

    def point(self, options: _core.MappingOptions) -> Point:
        """The nearest point; options without genes are lost."""
        return tuple(self._core.choice(options))
