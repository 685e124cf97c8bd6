"""Searching for the mapping options that make a def fastest on this machine, by measuring."""

import dataclasses
import html
import sys
import time
from typing import Callable, List, Optional, Sequence, Tuple, Union

from . import _core
from .api import Executable, _settings
from .cache import Cache, environment

EFFORTS = {"quick": (20.0, 96), "full": (600.0, 4000)}
"""Seconds and candidates."""

WORKER = "import sys; sys.path[:] = {path!r}; from tensor_comprehensions import _core; sys.exit(_core.tuner_worker())"


def seconds_text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


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

    def __str__(self):
        return f"{seconds_text(self.time)} with {str(self.options) or 'the default options'}"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Options that were tried. `status` is ok, same (code as an earlier one), slow (given up), wrong, crash, timeout,
    resource or rejected; `time` is in seconds, the least of some samples, 0 for failures; `at` is when, in seconds since tuning began."""

    options: _core.MappingOptions
    status: str
    time: float
    spread: float
    note: str
    generation: int
    at: float


@dataclasses.dataclass(frozen=True)
class TuneResult:
    """What a tuning found."""

    name: str
    best: Measured
    """The default options, unless others were faster beyond noise."""
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

    @property
    def speedup(self) -> float:
        return self.default.time / self.best.time

    def counts(self) -> dict:
        """How many candidates there are of each status."""
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

    def table(self) -> str:
        """The finalists, best first."""
        rows = [("time", "spread", "vs default", "options")]
        for each in self.finalists:
            options = str(each.options) or "(default)"
            rows.append((seconds_text(each.time), seconds_text(each.spread), f"{self.default.time / each.time:.2f}x", options))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join("  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[3]]) for row in rows)

    def __str__(self):
        counts = ", ".join(f"{count} {status}" for status, count in sorted(self.counts().items(), key=lambda item: -item[1]))
        head = f"{self.name}: {self.speedup:.2f}x the default after {self.elapsed:.1f} s, {self.generations} generations ({counts})"
        return f"{head}\n{self.table()}"

    def _repr_html_(self) -> str:
        cells = ""
        for each in self.finalists:
            mark = " style='font-weight:bold'" if each is self.finalists[0] else ""
            options = html.escape(str(each.options)) or "<i>default</i>"
            cells += (
                f"<tr{mark}><td>{seconds_text(each.time)}</td><td>{seconds_text(each.spread)}</td>"
                f"<td>{self.default.time / each.time:.2f}&times;</td><td style='text-align:left'><code>{options}</code></td></tr>"
            )
        head = "<tr><th>time</th><th>spread</th><th>vs default</th><th style='text-align:left'>options</th></tr>"
        title = html.escape(str(self).splitlines()[0])
        return f"<div><p>{title}</p>{self._plot()}<table>{head}{cells}</table></div>"

    def _plot(self, width: int = 480, height: int = 120) -> str:
        """The best time so far over time, as SVG."""
        points = self.convergence()
        if not points:
            return ""
        top, end = max(time for _, time in points), max(self.elapsed, 1e-9)
        line, last = [], None
        for at, best in [*points, (self.elapsed, points[-1][1])]:
            x, y = at / end * width, height - best / top * (height - 12)
            line += [f"{x:.1f},{last:.1f}"] if last is not None else []
            line.append(f"{x:.1f},{y:.1f}")
            last = y
        return (
            f"<svg width='{width}' height='{height + 16}' role='img'><title>best time so far</title>"
            f"<polyline points='{' '.join(line)}' fill='none' stroke='#1f77b4' stroke-width='2'/>"
            f"<line x1='0' y1='{height}' x2='{width}' y2='{height}' stroke='#999'/>"
            f"<text x='0' y='{height + 13}' font-size='11'>0 to {seconds_text(top)}, {self.elapsed:.0f} s</text></svg>"
        )


def progress_line(progress: dict) -> str:
    """One line that says how far a tuning has come."""
    limit = f"/{progress['candidates']}" if progress["candidates"] else ""
    clock = f"{progress['elapsed']:.0f}" + (f"/{progress['budget']:.0f}" if progress["budget"] else "") + " s"
    gain = progress["default"] / progress["best"] if progress["best"] else 1.0
    return (
        f"generation {progress['generation']}, {progress['tried']}{limit} tried: best {seconds_text(progress['best'])} "
        f"({gain:.2f}x), median {seconds_text(progress['median'])}; {progress['same']} same, {progress['slow']} slow, "
        f"{progress['failed']} failed; {clock}"
    )


class Display:
    """Shows progress on a stream: one line that changes at a terminal, else a plain line every few seconds."""

    def __init__(self, stream=None, every: float = 5.0):
        self.stream = sys.stderr if stream is None else stream
        self.terminal = self.stream.isatty()
        self.every = every
        self.shown = 0.0

    def __call__(self, progress: dict) -> None:
        now = time.monotonic()
        if now - self.shown < (0.1 if self.terminal else self.every):
            return
        self.shown = now
        line = progress_line(progress)
        self.stream.write(f"\r\x1b[2K{line}" if self.terminal else f"{line}\n")
        self.stream.flush()

    def close(self) -> None:
        if self.terminal and self.shown:
            self.stream.write("\n")
            self.stream.flush()


def autotune(
    function,
    *tensors,
    budget: Optional[float] = None,
    effort: Optional[str] = None,
    candidates: Optional[int] = None,
    method: str = "genetic",
    seed: int = 0,
    population: int = 24,
    starts: Sequence[Union[str, _core.MappingOptions]] = (),
    cache: Union[Cache, None, bool] = None,
    out=None,
    target: Optional[str] = None,
    checkpoint=None,
    progress: Union[bool, Callable[[dict], None]] = True,
) -> TuneResult:
    """Searches for the mapping options that make `function` fastest for tensors like these, by measuring on this machine.

    It ends after `budget` seconds or `candidates` candidates, whichever comes first; `effort` stands for both: "quick" (20 s) or
    "full" (10 minutes). Without any of them the budget is 60 s. Ctrl-C ends it with the best so far.

    Candidates are compiled and run in processes of their own; only those whose results are right count. `method` is
    "genetic" or "random"; what is tried depends on `seed` and on measured times only. Specs (`tc.spec`) in place of tensors
    are filled with made-up numbers.

    The winner goes into `cache` (a `tc.cache.Cache`; None: the environment's, False: none): calls, and
    `compile(..., options="cached")`, take it from there in every process. `starts` are options to try first. `checkpoint` is a
    file that is written after each generation and gone on from. `progress` is False, True or a function that takes a dict.
    """
    if effort is not None and effort not in EFFORTS:
        raise _core.OptionsError(f"there is no effort '{effort}'; there are quick and full")
    seconds, most = EFFORTS[effort] if effort else (None, None)
    budget = seconds if budget is None else budget
    most = most if candidates is None else candidates
    if budget is None and most is None:
        budget = 60.0
    store = environment() if cache is None else (None if cache is False else cache)
    settings = {
        "worker": [sys.executable, "-S", "-c", WORKER.format(path=[path for path in sys.path if path])],
        "budget": float(budget or 0),
        "candidates": int(most or 0),
        "method": method,
        "seed": seed,
        "population": population,
        "starts": [_core.MappingOptions(start) if isinstance(start, str) else start for start in starts],
        "checkpoint": str(checkpoint or ""),
    }
    display = Display() if progress is True else None
    show = display or (progress if callable(progress) else None)
    how = _settings(target, "tuned", cache)
    key = function._cache_key(tensors, out, how)
    try:
        found = _core.tune(key, tensors, store._core if store else None, settings, show)
    finally:
        if display:
            display.close()
    return TuneResult(
        name=function.name,
        best=Measured(**found["best"]),
        default=Measured(**found["default"]),
        finalists=tuple(Measured(**each) for each in found["finalists"]),
        candidates=tuple(Candidate(**each) for each in found["candidates"]),
        executable=Executable(found["executable"], function, _settings(target, found["best"]["options"], cache)),
        **{name: found[name] for name in ("stop", "generations", "elapsed", "kept")},
    )
