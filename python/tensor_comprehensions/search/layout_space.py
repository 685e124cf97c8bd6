"""Layouts of all tensors of a def at once as a space, and the policy that prices them."""

import math
import random
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import _core
from .spaces import Gene, Point, Trial

Layouts = Dict[str, _core.Layout]

COUNTS = (1, 2, 3, 4, 6, 8)
"""Tiles that make a tile of the outer level."""
MOST_SIZES = 14
PLAIN = 0


def tile_sizes(extent: int) -> List[int]:
    """Divisors and powers of two up to `extent`, and it: no more than `MOST_SIZES`, the small ones first."""
    found = {size for size in range(1, extent + 1) if extent % size == 0}
    found |= {1 << k for k in range(extent.bit_length()) if 1 << k <= extent}
    sizes = sorted(found)
    return sizes if len(sizes) <= MOST_SIZES else [*sizes[: MOST_SIZES - 1], extent]


class LayoutSpace:
    """The layouts of a def for given tensors. The first gene is the kind: 0 the plain layouts, then each of the compiler's alternatives
    (tc.layout.guideline), then the template (tc.layout.template) with tiles of one level, and of two. The others are the tile sizes of the
    template, and how many tiles make an outer tile.

    Temporaries get the layouts that those of the operands decide (docs/layouts.md#propagation).
    """

    def __init__(self, function: _core.Function, specs: Sequence[Any]):
        self._function, self._specs = function, list(specs)
        self._named = [layouts for layouts, _ in _core.layout_guideline(function, self._specs) if layouts]
        self._template = _core.layout_template(function, self._specs)
        self._sizes = [tile_sizes(extent) for _, _, extent in self._template.tunables]
        self._one_level = 1 + len(self._named)
        kinds = self._one_level + (2 if self._sizes else 0)
        self.genes = [Gene("kind", kinds)]
        for (name, _, _), sizes in zip(self._template.tunables, self._sizes):
            self.genes += [Gene(name, len(sizes)), Gene(f"{name} count", len(COUNTS))]

    @property
    def template_kinds(self) -> Sequence[int]:
        """The kinds whose other genes count."""
        return range(self._one_level, self.genes[0].count)

    @property
    def plain(self) -> Point:
        return (PLAIN,) * len(self.genes)

    def normalised(self, point: Point) -> Point:
        kind = point[0]
        if kind < self._one_level:
            return (kind, *self.plain[1:])
        if kind == self._one_level:
            point = tuple(0 if i > 0 and i % 2 == 0 else value for i, value in enumerate(point))
        return point if self._template_layouts(point) else self.plain

    def _template_layouts(self, point: Point) -> Layouts:
        tiles = [sizes[value] for sizes, value in zip(self._sizes, point[1::2])]
        counts = [min(COUNTS[value], extent) for value, (_, _, extent) in zip(point[2::2], self._template.tunables)]
        return self._template.layouts(tiles, counts)

    def operand_layouts(self, point: Point) -> Layouts:
        """The layouts of operands at a normalised `point`; empty for plain ones."""
        kind = point[0]
        if kind == PLAIN:
            return {}
        return self._named[kind - 1] if kind < self._one_level else self._template_layouts(point)

    def results(self, point: Point) -> Tuple[str, ...]:
        """The layouts of the returns."""
        layouts = self.operand_layouts(point)
        return tuple(str(layouts.get(name, "")) for name in self._function._returns())

    def layouts(self, point: Point) -> Layouts:
        """The same with those of temporaries. Raises OptionsError where the def cannot take them."""
        operands = self.operand_layouts(point)
        return _core.propagated_layouts(self._function, self._specs, operands) if operands else {}

    def prices(self, points: Sequence[Point]) -> List[Optional[float]]:
        """Predicted seconds at each of `points`; None where the def cannot take the layouts."""
        choices = []
        for point in points:
            try:
                choices.append(self.layouts(point))
            except _core.OptionsError:
                choices.append({"": _core.Layout("identity")})
        return _core.layout_prices(self._function, self._specs, choices)

    def alternatives(self) -> List[Point]:
        """The points of the plain layouts and of the compiler's alternatives."""
        return [(kind, *self.plain[1:]) for kind in range(self._one_level)]


class CheapestLayouts:
    """A policy: the points whose layouts have the lowest prices, of all alternatives and of templates that are drawn. Prices tell layouts of the
    results apart less well than measurements, and layouts of the other tensors hardly change a time; therefore of the points within
    `ALIKE` times the lowest price, the cheapest with each layout of the results go first."""

    CHUNK, ALIKE = 16, 1.25

    def __init__(self, space: LayoutSpace, seed: int, drawn: int, seconds: float = math.inf):
        self._space, self._random, self._drawn, self._seconds = space, random.Random(seed), drawn, seconds
        self.priced: Dict[Point, float] = {}
        self._order: Optional[List[Point]] = None
        self._told: set = set()

    def ask(self, count: int) -> List[Point]:
        if self._order is None:
            self._order = self._cheapest_first()
        order = [point for point in self._order if point not in self._told]
        self._order = order[count:]
        return order[:count]

    def tell(self, trials: Sequence[Trial]) -> None:
        """Prices learn nothing; points that were measured are not proposed."""
        self._told.update(point for point, _ in trials)

    def _cheapest_first(self) -> List[Point]:
        end = time.monotonic() + self._seconds
        points = dict.fromkeys(self._space.alternatives())
        templates = self._space.template_kinds
        for _ in range(self._drawn if templates else 0):
            values = (self._random.randrange(gene.count) for gene in self._space.genes[1:])
            points[self._space.normalised((self._random.choice(templates), *values))] = None
        remaining = list(points)
        while remaining and (not self.priced or time.monotonic() < end):
            chunk, remaining = remaining[: self.CHUNK], remaining[self.CHUNK :]
            for point, price in zip(chunk, self._space.prices(chunk)):
                if price:
                    self.priced[point] = price
        order = sorted(self.priced, key=lambda point: self.priced[point])
        seen, first = set(), []
        for point in order:
            results = self._space.results(point)
            if results not in seen and self.priced[point] <= self.ALIKE * self.priced[order[0]]:
                seen.add(results)
                first.append(point)
        return list(dict.fromkeys([*first, *order]))
