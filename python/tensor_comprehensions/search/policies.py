"""Policies over spaces of points, without learning, and the door to the options of a tuning."""

import math
import random
from typing import Any, Callable, Dict, List, Protocol, Sequence, Tuple

from .. import _core
from .spaces import OptionSpace, Point, Space, Trial

TRIES = 200
"""Draws for a point that was not proposed before."""


class Policy(Protocol):
    """Proposes points of a space. Its proposals depend on its seed and on what it was told; none is made twice."""

    def ask(self, count: int) -> List[Point]:
        """Up to `count` points to measure next; fewer where it finds no others."""

    def tell(self, trials: Sequence[Trial]) -> None:
        """Takes measured seconds, infinity for failures, also of points that it did not propose."""


class Random:
    """Points with each gene drawn alone."""

    def __init__(self, space: Space, seed: int):
        self.space, self.random = space, random.Random(seed)
        self.seen: set = set()

    def draw(self) -> Point:
        return self.space.normalised(tuple(self.random.randrange(gene.count) for gene in self.space.genes))

    def ask(self, count: int) -> List[Point]:
        found: List[Point] = []
        for _ in range(TRIES * count):
            if len(found) == count:
                break
            point = self.draw()
            if point not in self.seen:
                self.seen.add(point)
                found.append(point)
        return found

    def tell(self, trials: Sequence[Trial]) -> None:
        self.seen.update(point for point, _ in trials)


class Genetic(Random):
    """Children of three of the fastest points, each gene from one of them, which then mutate; as tc/autotuner/search/genetic_search.h."""

    POPULATION, MUTATION, FEWEST = 24, 0.07, 3

    def __init__(self, space: Space, seed: int):
        super().__init__(space, seed)
        self.population: List[Tuple[float, Point]] = []

    def draw(self) -> Point:
        if len(self.population) < self.FEWEST:
            return super().draw()
        weights = [1 / seconds for seconds, _ in self.population]
        parents = [point for _, point in self.random.choices(self.population, weights, k=3)]
        child = [self.random.choice(values) for values in zip(*parents)]
        for i, gene in enumerate(self.space.genes):
            if self.random.random() < self.MUTATION:
                child[i] = self.random.randrange(gene.count)
        return self.space.normalised(tuple(child))

    def tell(self, trials: Sequence[Trial]) -> None:
        super().tell(trials)
        self.population += [(seconds, point) for point, seconds in trials if math.isfinite(seconds)]
        self.population = sorted(self.population, key=lambda each: each[0])[: self.POPULATION]


def _ppo(space: Space, seed: int) -> Policy:
    from .ppo import Agent, Walks

    return Walks(Agent(seed), "loops", space)


POLICIES: Dict[str, Callable[[Space, int], Policy]] = {"random": Random, "genetic": Genetic, "ppo": _ppo}


def make_policy(name: str, space: Space, seed: int) -> Policy:
    """The policy of this name. Raises ResourceError where it needs a package that is missing."""
    return POLICIES[name](space, seed)


class _Options:
    """A policy over points as one over mapping options."""

    def __init__(self, space: OptionSpace, policy: Policy):
        self.space, self.policy = space, policy

    def ask(self, count: int) -> List[_core.MappingOptions]:
        return [self.space.options(point) for point in self.policy.ask(count)]

    def tell(self, trials: Sequence[Tuple[_core.MappingOptions, float]]) -> None:
        self.policy.tell([(self.space.point(options), seconds) for options, seconds in trials])


def options_policy(make: Callable[[Space], Policy]) -> Callable[[_core.SearchSpace], Any]:
    """What a tuning takes as `search=`: makes, for the space of a tuning, the policy that `make` gives for its points."""

    def made(core: _core.SearchSpace) -> _Options:
        space = OptionSpace(core)
        return _Options(space, make(space))

    return made
