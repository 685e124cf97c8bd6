"""The parts of a graph tuned one by one, each for its share of the graph's time."""

import dataclasses
import time
from typing import Iterable, Optional, Tuple

from . import _core
from .function import Function
from .given import Given
from .options import AnyCache, Options, checked_number
from .search.choice import Search
from .tuning import autotune
from .tuning_report import seconds_text
from .tuning_result import TuneResult

LEAST_BUDGET = 2.0
"""Seconds that a part is tuned for at least."""


@dataclasses.dataclass(frozen=True)
class TunedPart:
    """A part of a graph, and what a tuning of it found."""

    name: str
    runs: int
    """Equal parts in one run of the graph."""
    share: float
    """Of the predicted time of all parts."""
    budget: float
    """Seconds that it was tuned for; 0: there was no time left."""
    result: Optional[TuneResult]
    """None where it was not tuned, for lack of time or because of `note`."""
    note: str = ""

    @property
    def speedup(self) -> float:
        """The time before over the time with the options that were found; 1 where it was not tuned."""
        return self.result.default.time / self.result.best.time if self.result else 1.0


class PartTuning(tuple):
    """The different parts of a graph, those that took the most time first."""

    elapsed: float
    """Seconds."""

    @property
    def speedup(self) -> float:
        """The time of all parts before over their time now, by shares and by what was measured part by part."""
        return 1 / (sum(part.share / part.speedup for part in self) or 1)

    @property
    def candidates(self) -> int:
        """Candidates that were tried in all parts."""
        return sum(len(part.result.candidates) for part in self if part.result)

    def __str__(self):
        lines = [f"{len(self)} parts, {self.candidates} candidates in {seconds_text(self.elapsed)}: {self.speedup:.2f}x"]
        for part in self:
            tried = f"{len(part.result.candidates)} candidates in {part.budget:.0f} s, {part.speedup:.2f}x" if part.result else part.note or "not tuned"
            lines.append(f"  {100 * part.share:5.1f} %  {part.runs} x {part.name}: {tried}")
        return "\n".join(lines)


def tune_parts(
    function: Function,
    *tensors: Given,
    budget: float = 60.0,
    constants: Iterable[str] = (),
    layouts: str = "constants",
    fold_scales: bool = False,
    search: Search = "price",
    seed: int = 0,
    cache: AnyCache = None,
    target: Optional[str] = None,
) -> PartTuning:
    """Tunes each part of the graph of `function` by itself, for tensors like these (or specs), by `autotune`.

    A graph is compiled in parts, and equal parts once. Each part is tuned on generated numbers for its share of `budget` seconds, by predicted
    time, the slowest first, and two seconds at least. Time that a part does not use goes to the following ones; parts that no time is left for stay as they are. `constants`, `layouts` and `fold_scales` have the values of the compile,
    because parts differ with them; for `search` see `autotune`.

    The winners go into `cache` (a `tc.cache.Cache`; None: the environment's). `compile(..., options="cached")` uses them in every graph with
    such a part, and in calls of the part alone. Options of the def as a whole, found by `autotune`, go before them. Processors only.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"tune_parts takes a def of a text, {type(function).__name__} was given")
    checked_number(budget, "budget", 0)
    function = function._for_values(tensors)
    settings = Options(target=target, cache=cache, layouts=layouts, fold_scales=fold_scales).settings()
    parts = _core.timed_parts(function, function._in_order(*tensors), list(constants), settings)
    begin = time.monotonic()
    whole = sum(runs * seconds for *_, runs, seconds in parts) or 1.0
    left, result = whole, []
    for definition, inputs, outputs, runs, seconds in parts:
        share, rest = runs * seconds, budget - (time.monotonic() - begin)
        own = max(LEAST_BUDGET, rest * share / left) if left > 0 and rest >= LEAST_BUDGET else 0.0
        left -= share
        found, note, part = None, "", Function(definition, settings)
        if own > 0:
            out = outputs if len(outputs) > 1 else outputs[0]
            try:
                found = autotune(part, *inputs, budget=own, search=search, seed=seed, cache=cache, out=out, target=target, progress=False)
            except _core.Error as error:
                note = str(error).splitlines()[0]
        result.append(TunedPart(part.name, runs, share / whole, own if found else 0.0, found, note))
    tuning = PartTuning(result)
    tuning.elapsed = time.monotonic() - begin
    return tuning
