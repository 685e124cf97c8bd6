"""Searching for the mapping options that make a def fastest on this machine, by measuring."""

import numbers
import os
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _core, distributed
from .api import define
from .executable import Executable, compiled
from .function import Function
from .cache import Cache, environment
from .given import Given, OutGiven
from .joint_result import tune_jointly
from .joint_tuning import Joint
from .options import AnyCache, Options, checked_number
from .search.choice import DEFAULT, Chosen, Search, named_search
from .tuning_report import seconds_text
from .tuning_result import Candidate, Measured, TuneResult

EFFORTS = {"quick": (20.0, 96), "full": (600.0, 4000)}
"""Seconds and candidates."""

SETTINGS = {"finalists": 3, "final_seconds": 3.0, "interpret_limit": 1.0, "devices": []}
"""What a tuning as part of a larger one sets otherwise."""

WORKER = "import sys; sys.path[:] = {path!r}; from tensor_comprehensions import _core; sys.exit(_core.tuner_worker())"


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
        **{name: found[name] for name in ("model", "layouts", "conversions", "tried") if name in found},
        **{name: found[name] for name in ("stop", "generations", "elapsed", "kept")},
    )


def autotune(
    function: Function,
    *tensors: Given,
    budget: Optional[float] = None,
    effort: Optional[str] = None,
    candidates: Optional[int] = None,
    search: Optional[Search] = None,
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
    layouts: bool = False,
    method: Optional[str] = None,
) -> TuneResult:
    """Searches for the mapping options that make `function` fastest for tensors like these, by measuring on this machine.

    It ends after `budget` seconds or `candidates` candidates, whichever comes first; `effort` stands for both: "quick" (20 s) or
    "full" (10 minutes). Without any of them the budget is 60 s. Ctrl-C ends it within about two seconds, with the best result so far, or
    with a KeyboardInterrupt if there is none yet.

    Candidates are compiled and run in their own processes; only candidates with right results count. `search` is "genetic" (the default), "random" or
    "ppo" (needs torch), which propose options, or "price", which proposes loop nests that are predicted to be fast; or a function that makes a policy of
    your own. `method` is its former name.
    `ranking` selects the proposed candidates that are measured: "none", all; "model", the fastest by the compiler's model; "learned", by
    the model corrected by measured times; "xgboost" corrects the prices of `search="price"` by boosted trees (needs xgboost). For a given `seed`, the
    candidates depend on measured times only. Specs (`tc.spec`) instead of tensors are filled with generated numbers.

    The winner goes into `cache` (a `tc.cache.Cache`; None: the environment's, False: none): calls, and `compile(..., options="cached")`,
    use it in every process. `starts` are options to try first. `checkpoint` is a file that is written after each generation and from which
    a tuning continues. `progress` is False, True or a function that takes a dict.

    Tensors on a GPU, or a target like "cuda:sm_90", use all GPUs of that architecture, or the GPUs in `devices`, at once.

    `layouts=True` searches for the layouts of the tensors, too: a first part of the budget tries layouts, the rest loops in the fastest ones. `result.layouts`
    names them, `result.executable` takes and returns tensors in them, and `compile(..., layouts="tuned")` finds them in the cache.

    `ray` tunes on many machines: True for the Ray cluster this process belongs to, else a local one, or the address of one; see
    docs/autotuning.md. `workers` is their number (one for each machine, or GPU); `resources` are Ray resources of each worker.
    """
    seconds, most = _limits(effort, budget, candidates)
    target = target or _target_of(tensors)
    tensors = tuple(map(_on_host, tensors))
    store = environment() if cache is None else cache if isinstance(cache, Cache) else None
    settings: Dict[str, Any] = {
        "budget": seconds,
        "candidates": most,
        "search": named_search(search, method, "price" if layouts else DEFAULT),
        "ranking": ranking,
        "seed": seed,
        "population": population,
        "starts": [str(start) for start in starts],
    }
    function = function._for_values(tensors)
    show = Display() if progress is True else progress if callable(progress) else None
    try:
        if ray and devices:
            raise _core.OptionsError("devices= are of this process: a tuning by Ray takes workers= and resources=")
        if layouts:
            _check_joint(settings, target, ray, out)
            joint = Joint(function, function._in_order(*tensors), target, settings, _tune_here, show, str(checkpoint or ""))
            found = tune_jointly(joint, function, function._in_order(*tensors), target, store)
        elif ray:
            found = _tune_elsewhere(function, tensors, out, {**settings, "target": target}, store, show, (ray, workers, resources), str(checkpoint or ""))
        else:
            here = {**settings, "starts": list(map(_core.MappingOptions, settings["starts"])), "devices": list(devices)}
            found = _tune_here(function, tensors, out, target, here, store, show, str(checkpoint or ""))
    finally:
        if isinstance(show, Display):
            show.close()
    how = Options(target=target, options=str(found["best"]["options"]) or "default", cache=cache)
    core = found.pop("executable", None)
    if isinstance(core, Executable):
        return _result(found, core, function.name)
    executable = compiled(function, function._in_order(*tensors), out, how) if core is None else Executable(core, function, how)
    return _result(found, executable, function.name)


def _check_joint(settings, target, ray, out) -> None:
    """Raises OptionsError for what a tuning of layouts does not take."""
    if ray or out is not None or callable(settings["search"]) or settings["ranking"] not in ("none", "xgboost"):
        raise _core.OptionsError("layouts=True takes a search by name, and neither ray=, out= nor a ranking by options")
    if target and target.startswith("cuda"):
        raise _core.OptionsError("layouts=True tunes for processors\nhelp: compile with layouts= to try layouts on a GPU")


def worker_command() -> list:
    """The command of a program that measures candidates."""
    path = [path or os.getcwd() for path in sys.path] + [os.path.dirname(os.path.dirname(_core.__file__))]
    return [sys.executable, "-S", "-c", WORKER.format(path=path)]


def _tune_here(function, tensors, out, target, settings, store, show, checkpoint) -> dict:
    """What a tuning by this process found."""
    chosen = Chosen(settings["search"], settings["ranking"], settings["seed"])
    settings = {**SETTINGS, **settings, **chosen.settings(), "worker": worker_command(), "checkpoint": checkpoint}
    key = function._cache_key(tensors, out, _core.Settings(target=target))
    found = _core.tune(key, tensors, store._core if store else None, settings, show)
    return {**found, "model": chosen.report(found["candidates"])}


def _tune_elsewhere(function, tensors, out, settings, store, show, where, checkpoint) -> dict:
    """What a tuning by workers of a Ray cluster found: of all, the one that gained most on its own machine."""
    ray, workers, resources = where
    cluster = distributed.Cluster(ray, workers, resources, bool(settings["target"] and settings["target"].startswith("cuda")), work)
    task = distributed.Task(str(function), function.name, tuple(map(distributed.packed, tensors)), out, settings)
    report = show.round if isinstance(show, Display) else show or (lambda progress: None)
    found = distributed.tune(cluster, task, report, checkpoint)
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
