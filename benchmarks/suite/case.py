"""What a case is: a program, its inputs, what else computes it, what it costs at least and what is asked of it."""

import dataclasses
import zlib
from typing import Callable, Dict, Optional, Tuple

import torch


@dataclasses.dataclass(frozen=True)
class Goal:
    """A value and its thresholds: `must` is the acceptance threshold, `aim` the hoped one; None asks for nothing.

    Metrics: "peak" is the share of the machine's multiply-add peak, "copy" the share of its copy bandwidth, "eager" the
    time of torch eager over ours, "best" the time of the faster of eager and torch.compile over ours.
    """

    metric: str
    must: Optional[float]
    aim: Optional[float]


@dataclasses.dataclass(frozen=True)
class Case:
    """One program at one size.

    `inputs` draws random tensors, the same ones every time (see `draw`). `eager` computes the outputs with torch, also
    in float64, where it is the reference unless `reference` is given. `terms` is the length of the longest sum of one
    element, `roundings` how many values on the way to one are rounded to the type of the outputs. `bytes` are those that any implementation moves: every input read once, every output written once, unless
    given. `native` says what the peers outside Python need: ("matmul", ...) or ("conv", ...). `compiled` is False where
    torch computes the case by one call of a library, which torch.compile makes too. `libraries` may replace our code, which then is a peer.
    """

    name: str
    text: str
    inputs: Callable[[], tuple]
    eager: Callable
    terms: int = 1
    roundings: int = 1
    flops: float = 0
    bytes: Optional[float] = None
    goals: Tuple[Goal, ...] = ()
    peak: str = "fp32"
    reference: Optional[Callable] = None
    also: Dict[str, Callable] = dataclasses.field(default_factory=dict)
    numpy: Optional[Callable] = None
    native: Optional[tuple] = None
    scaling: bool = False
    quick: bool = True
    compiled: bool = True
    libraries: str = "none"

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]

    @property
    def entry(self) -> str:
        """The name of the last def of the text, which is the one that runs."""
        last = self.text.rpartition("def ")[2]
        return last[: last.index("(")].strip()

    def draw(self) -> tuple:
        """The inputs: random, and the same for the same case."""
        torch.manual_seed(zlib.crc32(self.name.encode()))
        return self.inputs()


def moved_bytes(case: Case, inputs: tuple, outputs: tuple) -> float:
    """The compulsory traffic of a case."""
    if case.bytes is not None:
        return case.bytes
    return float(sum(t.numel() * t.element_size() for t in (*inputs, *outputs)))


def random(*shape, dtype=torch.float32) -> torch.Tensor:
    """Normally distributed numbers."""
    return torch.randn(shape).to(dtype)


def sized(case_sizes: Callable[[int], int]) -> Callable:
    """A function of sizes: the sizes as they are, or what `case_sizes` makes of them."""
    return lambda *sizes: tuple(case_sizes(size) for size in sizes)


def full(size: int) -> int:
    """The size of a measured case."""
    return size


def tiny(size: int) -> int:
    """A small size in the place of `size`, for tests: different sizes mostly stay different."""
    return min(size, 5 + size % 7)
