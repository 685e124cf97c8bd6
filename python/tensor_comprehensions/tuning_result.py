"""Results of tunings."""

import dataclasses
from typing import List, Mapping, Optional, Tuple

from . import _core, tuning_report
from .executable import Executable
from .search.ranks import ModelReport
from .tuning_report import seconds_text


@dataclasses.dataclass(frozen=True)
class Measured:
    """Options that were measured in turns with others."""

    options: _core.MappingOptions
    time: float
    """Seconds of a call, the median."""
    least: float
    spread: float
    """Seconds between the quartiles."""
    runs: int
    """In turns with the others; 0: Ctrl-C left no time for them, and the times are those of the search."""
    layouts: str = ""
    """Of the tensors, where a tuning chooses them, too; "" for plain ones."""

    def __str__(self):
        return f"{seconds_text(self.time)} with {str(self.options) or 'the default options'}"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Options that were tried. `status` is ok, same (code as an earlier one), slow (given up), wrong, crash, timeout,
    resource or rejected; `time` is in seconds, the least of some samples, 0 for failures; `at` is when, in seconds since tuning began;
    `predicted` is what the compiler's model says in seconds, 0 for nothing; `device` is the GPU that measured it, for targets of GPUs."""

    options: _core.MappingOptions
    status: str
    time: float
    spread: float
    note: str
    generation: int
    at: float
    predicted: float = 0.0
    device: int = -1
    layouts: str = ""
    """Of the tensors, where a tuning chooses them, too; "" for plain ones."""


@dataclasses.dataclass(frozen=True)
class TriedLayouts:
    """Layouts of a joint stage."""

    layouts: Mapping[str, _core.Layout]
    predicted: float
    """Seconds, by the price; 0: not priced."""
    time: float
    """Seconds of the fastest loops that were tried in them; infinity where none ran."""
    measurements: int
    """Candidates that were tried in them."""

    def __str__(self):
        return layouts_text(self.layouts)


def layouts_text(layouts: Mapping[str, _core.Layout]) -> str:
    """Names and layouts in one line; "" for none."""
    return "; ".join(f"{name}: {layout}" for name, layout in sorted(layouts.items()))


@dataclasses.dataclass(frozen=True)
class TuneResult:
    """The result of a tuning."""

    name: str
    best: Measured
    """What calls took before (the best options of the cache, else the default ones), unless others were faster beyond noise."""
    default: Measured
    finalists: Tuple[Measured, ...]
    candidates: Tuple[Candidate, ...]
    executable: Executable
    """Of the best options."""
    stop: str
    """Why it ended: "budget", "candidates", "space" (nothing else to try) or "interrupt"."""
    generations: int
    elapsed: float
    kept: bool
    """Whether the cache has it."""
    used: _core.MappingOptions
    """What calls take afterwards: the best options, unless the cache did not take them, or options that were injected, or are in
    a folder that goes before, are in their way."""
    model: Optional[ModelReport] = None
    """How well prices ordered the candidates of a search by price."""
    layouts: Mapping[str, _core.Layout] = dataclasses.field(default_factory=dict)
    """Of `layouts=True`: the layouts that `executable` takes and returns its tensors in; empty where plain ones are as fast."""
    conversions: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Seconds to convert each parameter into its layout, and each return back."""
    tried: Tuple[TriedLayouts, ...] = ()
    """The layouts of the joint stage, in order."""

    @property
    def speedup(self) -> float:
        return self.default.time / self.best.time

    def counts(self) -> dict:
        """The number of candidates with each status."""
        found: dict = {}
        for candidate in self.candidates:
            found[candidate.status] = found.get(candidate.status, 0) + 1
        return found

    def convergence(self) -> List[Tuple[float, float]]:
        """The best time so far, in seconds, at each moment it fell, in seconds since tuning began."""
        points: List[Tuple[float, float]] = []
        for candidate in self.candidates:
            if candidate.status == "ok" and (not points or candidate.time < points[-1][1]):
                points.append((candidate.at, candidate.time))
        return points

    def importance(self) -> List[Tuple[str, float]]:
        """How much of the differences of time each option explains by itself, the most important first."""
        return tuning_report.importance(self.candidates)

    def table(self) -> str:
        """The finalists, best first."""
        return tuning_report.table(self)

    def convergence_svg(self) -> str:
        """A picture of the times over the tuning, as SVG."""
        return tuning_report.convergence_svg(self)

    def importance_svg(self) -> str:
        """A picture of `importance()`, as SVG; "" where nothing is."""
        return tuning_report.importance_svg(self)

    def __str__(self):
        return f"{tuning_report.headline(self)}\n{self.table()}"

    def _repr_html_(self) -> str:
        return tuning_report.page(self)
