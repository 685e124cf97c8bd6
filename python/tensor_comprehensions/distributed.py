"""One tuning on many machines or GPUs, by Ray: `autotune(..., ray=True)`.

A driver, the process that calls it, and workers, one on each machine or GPU. A tuning goes in rounds: each worker tunes by itself for a
part of the budget, with a seed of its own; the driver then hands the winners of all to each as options to try first. What workers
put into their caches is merged into the cache of the driver.
"""

import base64
import dataclasses
import importlib
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import _core
from .checkpoint import StageLog

ROUNDS = 3
KIND = "tensor_comprehensions tuning by Ray 1"
"""Of its checkpoints."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a worker tunes, as plain data."""

    text: str
    name: str
    tensors: tuple
    out: Any
    settings: Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Found:
    """What a worker found, as plain data: `result` has the fields of a TuneResult but `executable`; `exported` holds the options of
    its cache, as `Cache.export` writes them."""

    result: Dict[str, Any]
    exported: bytes


def packed(tensor):
    """A tensor or spec as it travels to a worker."""
    if isinstance(tensor, _core.TensorSpec):
        return ("spec", tuple(tensor.shape), tensor.dtype, tuple(tensor.strides))
    return tensor


def unpacked(tensor):
    """The inverse of `packed`."""
    if isinstance(tensor, tuple) and tensor[:1] == ("spec",):
        return _core.TensorSpec(*tensor[1:])
    return tensor


def plain(result) -> Dict[str, Any]:
    """The fields of a TuneResult but its executable; options as text."""

    def fields(each):
        return {**{f.name: getattr(each, f.name) for f in dataclasses.fields(each)}, "options": str(each.options)}

    return {
        "best": fields(result.best),
        "default": fields(result.default),
        "finalists": [fields(each) for each in result.finalists],
        "candidates": [fields(each) for each in result.candidates],
        **{name: getattr(result, name) for name in ("stop", "generations", "elapsed")},
    }


def merge(found: Sequence[Found], store) -> int:
    """Adds the options of all workers to the cache `store`; how many were new."""
    taken = 0
    for each in found:
        with tempfile.NamedTemporaryFile() as file:
            file.write(each.exported)
            file.flush()
            taken += store.import_(file.name)["taken"]
    return taken


class Cluster:
    """Workers on a Ray cluster. `ray` is True (the cluster this process belongs to, else a local one), the address of a cluster, or
    a module with Ray's functions. `work` is a worker's whole task."""

    def __init__(self, ray, workers: Optional[int], resources: Optional[dict], for_gpu: bool, work: Callable[[Task], Found]):
        self.ray = ray if hasattr(ray, "remote") else self._import()
        if not self.ray.is_initialized():
            self.ray.init(**({"address": ray} if isinstance(ray, str) else {}))
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        total = self.ray.cluster_resources()
        if for_gpu and not total.get("GPU"):
            raise _core.DeviceError("the Ray cluster has no GPU: start nodes that have one, or tune for a processor")
        self.workers = workers or (int(total["GPU"]) if for_gpu else len(nodes))
        whole = {"num_gpus": 1} if for_gpu else {"num_cpus": min(node["Resources"].get("CPU", 1) for node in nodes)}
        self._remote = self.ray.remote(work).options(**(resources or {**whole, "scheduling_strategy": "SPREAD"}))

    @staticmethod
    def _import():
        try:
            return importlib.import_module("ray")
        except ImportError as error:
            raise _core.ResourceError("tuning on many machines needs Ray: pip install 'tensor-comprehensions[ray]'") from error

    def run(self, tasks: List[Task]) -> List[Found]:
        """The results of those workers that came to an end; raises what the last one raised where none did."""
        waiting, found, failure = [self._remote.remote(task) for task in tasks], [], None
        try:
            for each in waiting:
                try:
                    found.append(self.ray.get(each))
                except Exception as error:
                    failure = error
        except BaseException:
            for each in waiting:
                self.ray.cancel(each)
            raise
        if not found:
            raise getattr(failure, "cause", None) or failure or _core.ResourceError("no worker answered")
        return found


def rounds_of(workers: int, budget: float) -> int:
    """One worker has nobody to exchange with; nor pays it for less than seconds."""
    return ROUNDS if workers > 1 and budget >= 10 * ROUNDS else 1


def _identity(task: Task, workers: int) -> Dict[str, Any]:
    """What tunings have in common of which one goes on with the checkpoint of the other."""
    tensors = [[list(getattr(each, "shape", ())), str(getattr(each, "dtype", ""))] for each in map(unpacked, task.tensors)]
    settings = {name: str(value) for name, value in task.settings.items()}
    return {"text": task.text, "name": task.name, "tensors": tensors, "settings": settings, "workers": workers, "compiler": _core.compiler_build()}


def _as_entry(found: Sequence[Found]) -> dict:
    return {"found": [{"result": each.result, "exported": base64.b64encode(each.exported).decode()} for each in found]}


def _of_entry(entry: dict) -> List[Found]:
    return [Found(each["result"], base64.b64decode(each["exported"])) for each in entry["found"]]


def tune(cluster: Cluster, task: Task, report: Callable[[dict], None], checkpoint: str = "") -> List[Found]:
    """The findings of all workers in the last round, in which each has tried the winners of the others. `report` is called after
    each round with a dict: round, rounds, workers, speedup. With a file `checkpoint`, rounds that are in it are not run again."""
    budget, candidates = task.settings["budget"] or 0, task.settings["candidates"] or 0
    rounds = rounds_of(cluster.workers, budget)
    starts, found = list(task.settings["starts"]), list[Found]()
    log = StageLog(checkpoint, KIND, _identity(task, cluster.workers) if checkpoint else {})
    for number in range(rounds):
        tasks = []
        for worker in range(cluster.workers):
            seed = task.settings["seed"] + number * cluster.workers + worker
            share = {"budget": budget / rounds or None, "candidates": -(-candidates // rounds) or None}
            tasks.append(dataclasses.replace(task, settings={**task.settings, **share, "seed": seed, "starts": starts}))
        try:
            if number == len(log.entries):
                log.add(_as_entry(cluster.run(tasks)))
        except KeyboardInterrupt:
            if not found:
                raise
            break
        found = _of_entry(log.entries[number])
        starts = list(dict.fromkeys([*starts, *(each.result["best"]["options"] for each in found)]))
        starts = [each for each in starts if each]
        report({"round": number + 1, "rounds": rounds, "workers": len(found), "speedup": max(map(speedup, found))})
    return found


def speedup(found: Found) -> float:
    """Over the default options on the same machine; times of different machines are not compared."""
    return found.result["default"]["time"] / found.result["best"]["time"]
