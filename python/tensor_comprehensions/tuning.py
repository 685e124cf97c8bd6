"""Searching for the mapping options that make a def fastest on this machine, by measuring."""

import dataclasses
import numbers
import os
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _core, distributed, tuning_report
from .api import define
from .executable import Executable, compiled
from .function import Function
from .cache import Cache, environment
from .given import Given, OutGiven
from .options import AnyCache, Options, checked_number
from .tuning_report import seconds_text

EFFORTS = {"quick": (20.0, 96), "full": (600.0, 4000)}
"""Seconds and candidates."""

WORKER = "import sys; sys.path[:] = {path!r}; from tensor_comprehensions import _core; sys.exit(_core.tuner_worker())"


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


def seconds_left(progress: dict) -> Optional[float]:
    """Until the limit that comes first is reached, at the pace so far; None where there is none yet."""
    left = []
    if progress["budget"]:
        left.append(progress["budget"] - progress["elapsed"])
    if progress["candidates"] and progress["tried"]:
        left.append((progress["candidates"] - progress["tried"]) * progress["elapsed"] / progress["tried"])
    return max(0.0, min(left)) if left else None


def progress_line(progress: dict) -> str:
    """One line that says how far a tuning has come."""
    limit = f"/{progress['candidates']}" if progress["candidates"] else ""
    gain = progress["default"] / progress["best"] if progress["best"] else 1.0
    left = seconds_left(progress)
    clock = f"{progress['elapsed']:.0f} s" + (f", {left:.0f} s left" if left is not None else "")
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

    def round(self, progress: dict) -> None:
        """Shows how far a tuning on many machines has come."""
        self.stream.write(
            f"round {progress['round']} of {progress['rounds']}: {progress['workers']} workers, {progress['speedup']:.2f}x the default\n"
        )
        self.stream.flush()

    def close(self) -> None:
        if self.terminal and self.shown:
            self.stream.write("\n")
            self.stream.flush()


def _limits(effort: Optional[str], budget: Optional[float], candidates: Optional[int]) -> Tuple[float, int]:
    """Seconds and candidates, 0 for no limit."""
    if effort is not None and effort not in EFFORTS:
        raise _core.OptionsError(f"there is no effort '{effort}'; there are quick and full")
    seconds, most = EFFORTS[effort] if effort else (None, None)
    seconds = seconds if budget is None else budget
    most = most if candidates is None else candidates
    if seconds is None and most is None:
        return 60.0, 0
    seconds, most = 0 if seconds is None else seconds, 0 if most is None else most
    return float(checked_number(seconds, "budget", 0)), int(checked_number(most, "candidates", 0, numbers.Integral))


def _target_of(tensors) -> Optional[str]:
    """The target of the GPU that tensors of torch lie on, None for none."""
    for tensor in tensors:
        if getattr(tensor, "is_cuda", False):
            import torch

            return "cuda:sm_{}{}".format(*torch.cuda.get_device_capability(tensor.device))
    return None


def _on_host(tensor):
    """The tensor in the memory of the host, which tuning takes it from."""
    return tensor.cpu() if getattr(tensor, "is_cuda", False) else tensor


def _result(found: dict, executable: Executable, name: str) -> TuneResult:
    """The result of what C++, or a worker elsewhere, found."""

    def measured(fields):
        return Measured(**{**fields, "options": _core.MappingOptions(str(fields["options"]))})

    return TuneResult(
        name=name,
        best=measured(found["best"]),
        default=measured(found["default"]),
        finalists=tuple(measured(each) for each in found["finalists"]),
        candidates=tuple(Candidate(**{**each, "options": _core.MappingOptions(str(each["options"]))}) for each in found["candidates"]),
        executable=executable,
        used=_core.MappingOptions(str(found["used"])),
        **{name: found[name] for name in ("stop", "generations", "elapsed", "kept")},
    )


def autotune(
    function: Function,
    *tensors: Given,
    budget: Optional[float] = None,
    effort: Optional[str] = None,
    candidates: Optional[int] = None,
    method: str = "genetic",
    ranking: str = "none",
    seed: int = 0,
    population: int = 24,
    starts: Sequence[Union[str, _core.MappingOptions]] = (),
    cache: AnyCache = None,
    out: OutGiven = None,
    target: Optional[str] = None,
    devices: Sequence[int] = (),
    checkpoint: Union[str, os.PathLike, None] = None,
    progress: Union[bool, Callable[[dict], None]] = True,
    ray: Union[bool, str, None] = None,
    workers: Optional[int] = None,
    resources: Optional[dict] = None,
) -> TuneResult:
    """Searches for the mapping options that make `function` fastest for tensors like these, by measuring on this machine.

    It ends after `budget` seconds or `candidates` candidates, whichever comes first; `effort` stands for both: "quick" (20 s) or
    "full" (10 minutes). Without any of them the budget is 60 s. Ctrl-C ends it within about two seconds, with the best result so far, or
    with a KeyboardInterrupt if there is none yet.

    Candidates are compiled and run in their own processes; only candidates with right results count. `method` is "genetic" or "random", which
    propose options, or "price", which proposes loop nests that are predicted to be fast.
    `ranking` selects the proposed candidates that are measured: "none", all; "model", the fastest by the compiler's model; "learned", by
    the model corrected by measured times. For a given `seed`, the candidates depend on measured times only. Specs (`tc.spec`) instead of
    tensors are filled with generated numbers.

    The winner goes into `cache` (a `tc.cache.Cache`; None: the environment's, False: none): calls, and `compile(..., options="cached")`,
    use it in every process. `starts` are options to try first. `checkpoint` is a file that is written after each generation and from which
    a tuning continues. `progress` is False, True or a function that takes a dict.

    Tensors on a GPU, or a target like "cuda:sm_90", use all GPUs of that architecture, or the GPUs in `devices`, at once.

    `ray` tunes on many machines: True for the Ray cluster this process belongs to, else a local one, or the address of one; see
    docs/autotuning.md. `workers` is their number (one for each machine, or GPU); `resources` are Ray resources of each worker.
    """
    seconds, most = _limits(effort, budget, candidates)
    target = target or _target_of(tensors)
    tensors = tuple(map(_on_host, tensors))
    store = environment() if cache is None else (None if cache is False else cache)
    settings: Dict[str, Any] = {
        "budget": seconds,
        "candidates": most,
        "method": method,
        "ranking": ranking,
        "seed": seed,
        "population": population,
        "starts": [str(start) for start in starts],
    }
    function = function._for_values(tensors)
    show = Display() if progress is True else progress if callable(progress) else None
    try:
        if ray and (devices or checkpoint):
            raise _core.OptionsError("devices= and checkpoint= are of this process: a tuning by Ray takes workers= and resources=")
        if ray:
            found = _tune_elsewhere(function, tensors, out, {**settings, "target": target}, store, show, (ray, workers, resources))
        else:
            here = {**settings, "starts": list(map(_core.MappingOptions, settings["starts"])), "devices": list(devices)}
            found = _tune_here(function, tensors, out, target, here, store, show, str(checkpoint or ""))
    finally:
        if isinstance(show, Display):
            show.close()
    how = Options(target=target, options=str(found["best"]["options"]) or "default", cache=cache)
    core = found.pop("executable", None)
    executable = compiled(function, function._in_order(*tensors), out, how) if core is None else Executable(core, function, how)
    return _result(found, executable, function.name)


def worker_command() -> list:
    """The command of a program that measures candidates."""
    path = [path or os.getcwd() for path in sys.path] + [os.path.dirname(os.path.dirname(_core.__file__))]
    return [sys.executable, "-S", "-c", WORKER.format(path=path)]


def _tune_here(function, tensors, out, target, settings, store, show, checkpoint) -> dict:
    """What a tuning by this process found."""
    settings = {**settings, "worker": worker_command(), "checkpoint": checkpoint}
    key = function._cache_key(tensors, out, _core.Settings(target=target))
    return _core.tune(key, tensors, store._core if store else None, settings, show)


def _tune_elsewhere(function, tensors, out, settings, store, show, where) -> dict:
    """What a tuning by workers of a Ray cluster found: of all, the one that gained most on its own machine."""
    ray, workers, resources = where
    cluster = distributed.Cluster(ray, workers, resources, bool(settings["target"] and settings["target"].startswith("cuda")), work)
    task = distributed.Task(str(function), function.name, tuple(map(distributed.packed, tensors)), out, settings)
    report = show.round if isinstance(show, Display) else show or (lambda progress: None)
    found = distributed.tune(cluster, task, report)
    kept = bool(store and distributed.merge(found, store))
    best = max(found, key=distributed.speedup).result
    entry = store.best(function, *tensors, out=out, target=settings["target"]) if store else None
    return {**best, "kept": kept, "used": entry.options if entry else ""}


def work(task: distributed.Task) -> distributed.Found:
    """Runs a task in the process of a worker."""
    function = define(task.text)[task.name]
    with tempfile.TemporaryDirectory() as folder:
        store = Cache(os.path.join(folder, "cache"))
        tensors = [distributed.unpacked(tensor) for tensor in task.tensors]
        result = autotune(function, *tensors, out=task.out, cache=store, progress=False, **task.settings)
        exported = os.path.join(folder, "options")
        store.export(exported)
        with open(exported, "rb") as file:
            return distributed.Found(distributed.plain(result), file.read())
