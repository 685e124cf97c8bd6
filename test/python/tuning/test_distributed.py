"""Tuning on many machines: the driver on a stand-in for Ray, and on a local Ray where that is installed."""

import copy
import dataclasses
import pickle
import types

import numpy as np
import pytest

import tensor_comprehensions as tc
from tensor_comprehensions import distributed, tuning

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
A = np.arange(24 * 20, dtype=np.float32).reshape(24, 20) % 7
B = np.arange(20 * 32, dtype=np.float32).reshape(20, 32) % 5
SETTINGS = dict(candidates=4, budget=0, search="random", ranking="none", seed=1, population=4, starts=["tile=9x9"], target=None)


class Ray:
    """Ray's functions, on this process. Tasks and results are pickled, as Ray does. `broken` says which tasks fail."""

    def __init__(self, machines=2, gpus=0, broken=()):
        self.machines, self.gpus, self.broken = machines, gpus, broken
        self.tasks, self.wanted, self.started = [], None, False

    def is_initialized(self):
        return self.started

    def init(self, **how):
        self.started = True
        self.init_arguments = how

    def nodes(self):
        return [{"Alive": True, "Resources": {"CPU": 4.0}}] * self.machines + [{"Alive": False, "Resources": {}}]

    def cluster_resources(self):
        return {"CPU": 4.0 * self.machines, **({"GPU": float(self.gpus)} if self.gpus else {})}

    def remote(self, function):
        def options(**wanted):
            self.wanted = wanted
            return types.SimpleNamespace(remote=lambda task: (function, pickle.dumps(task)))

        return types.SimpleNamespace(options=options)

    def get(self, reference):
        function, task = reference
        self.tasks.append(pickle.loads(task))
        if len(self.tasks) - 1 in self.broken:
            raise RuntimeError("the machine is gone")
        return pickle.loads(pickle.dumps(function(pickle.loads(task))))


def test_winners_of_all_workers_are_merged(tmp_path):
    cache, ray = tc.cache.Cache(tmp_path / "cache"), Ray(machines=3)
    T = tc.define(MM)
    told = []
    result = tc.autotune(T.mm, A, tc.spec((20, 32)), ray=ray, cache=cache, candidates=4, population=4, progress=told.append)
    assert [task.settings["seed"] for task in ray.tasks] == [0, 1, 2]
    assert ray.wanted == {"num_cpus": 4.0, "scheduling_strategy": "SPREAD"} and ray.init_arguments == {}
    assert result.speedup >= 1 and result.kept and result.best.runs > 0
    assert cache.best(T.mm, A, B) is not None and cache.stat()["options"]["files"] >= 1
    np.testing.assert_array_equal(result.executable(A, B), A @ B)
    assert told == [{"round": 1, "rounds": 1, "workers": 3, "speedup": told[0]["speedup"]}]
    assert "mm: " in str(result) and "<svg" in result._repr_html_()


def found_by(task, best):
    times = {"best": {"options": best, "time": 1.0}, "default": {"options": "", "time": 2.0}}
    return distributed.Found(times, b"")


def test_rounds_exchange_winners():
    class Cluster:
        workers = 2
        tasks = []

        def run(self, tasks):
            self.tasks.append(copy.deepcopy(tasks))
            return [found_by(task, f"tile={8 * task.settings['seed']}") for task in tasks]

    cluster = Cluster()
    task = distributed.Task(MM, "mm", (), None, {**SETTINGS, "budget": 60.0, "candidates": 30})
    distributed.tune(cluster, task, lambda progress: None)
    seeds = [[each.settings["seed"] for each in tasks] for tasks in cluster.tasks]
    starts = [tasks[0].settings["starts"] for tasks in cluster.tasks]
    assert seeds == [[1, 2], [3, 4], [5, 6]]
    assert starts == [["tile=9x9"], ["tile=9x9", "tile=8", "tile=16"], ["tile=9x9", "tile=8", "tile=16", "tile=24", "tile=32"]]
    assert {each.settings["budget"] for tasks in cluster.tasks for each in tasks} == {20.0}
    assert {each.settings["candidates"] for tasks in cluster.tasks for each in tasks} == {10}


def test_rounds_go_on_from_a_checkpoint(tmp_path):
    class Cluster:
        workers = 2

        def __init__(self, rounds):
            self.rounds, self.tasks = rounds, []

        def run(self, tasks):
            if len(self.tasks) == self.rounds:
                raise RuntimeError("the coordinator is killed")
            self.tasks.append(copy.deepcopy(tasks))
            return [found_by(task, f"tile={8 * task.settings['seed']}") for task in tasks]

    task = distributed.Task(MM, "mm", (A, ("spec", (20, 32), "float32", (32, 1))), None, {**SETTINGS, "budget": 60.0, "candidates": 30})
    silent = lambda progress: None
    whole = Cluster(3)
    found = distributed.tune(whole, task, silent)
    file = str(tmp_path / "rounds")
    with pytest.raises(RuntimeError):
        distributed.tune(Cluster(1), task, silent, file)
    rest = Cluster(2)
    assert distributed.tune(rest, task, silent, file) == found
    settings = lambda cluster: [[each.settings for each in tasks] for tasks in cluster.tasks]
    assert settings(rest) == settings(whole)[1:]
    # A tuning of something else begins anew, and a file of something else stays.
    other = Cluster(3)
    distributed.tune(other, dataclasses.replace(task, settings={**task.settings, "seed": 2}), silent, file)
    assert len(other.tasks) == 3
    (tmp_path / "mine").write_text("[]")
    with pytest.raises(tc.ResourceError, match="something else"):
        distributed.tune(Cluster(3), task, silent, str(tmp_path / "mine"))


def test_a_checkpoint_of_a_tuning_by_ray(tmp_path):
    file, T = tmp_path / "rounds", tc.define(MM)
    how = dict(cache=False, candidates=2, population=2, progress=False, checkpoint=file)
    first = tc.autotune(T.mm, A, B, ray=Ray(), **how)
    ray = Ray()
    again = tc.autotune(T.mm, A, B, ray=ray, **how)
    assert not ray.tasks and again.best == first.best and again.candidates == first.candidates


def test_a_machine_that_is_lost_costs_its_part(tmp_path):
    ray = Ray(machines=2, broken=(0,))
    result = tc.autotune(tc.define(MM).mm, A, B, ray=ray, cache=False, candidates=2, population=2, progress=False)
    assert result.speedup >= 1 and not result.kept
    with pytest.raises(RuntimeError, match="the machine is gone"):
        tc.autotune(tc.define(MM).mm, A, B, ray=Ray(machines=1, broken=(0,)), cache=False, candidates=2, progress=False)


def test_gpus_are_workers():
    with pytest.raises(tc.DeviceError, match="has no GPU"):
        distributed.Cluster(Ray(), None, None, for_gpu=True, work=tuning.work)
    ray = Ray(machines=2, gpus=5)
    cluster = distributed.Cluster(ray, None, None, for_gpu=True, work=tuning.work)
    assert cluster.workers == 5 and ray.wanted["num_gpus"] == 1
    distributed.Cluster(ray, None, {"num_cpus": 1}, for_gpu=False, work=tuning.work)
    assert ray.wanted == {"num_cpus": 1}


def test_tensors_travel():
    spec = tc.spec((3, 4), "int32")
    back = distributed.unpacked(pickle.loads(pickle.dumps(distributed.packed(spec))))
    assert (back.shape, back.dtype, back.strides) == ((3, 4), "int32", (4, 1))
    assert distributed.unpacked(distributed.packed(A)) is A


def test_without_ray(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(tc.ResourceError, match=r"pip install 'tensor-comprehensions\[ray\]'"):
        tc.autotune(tc.define(MM).mm, A, B, ray=True, cache=False, candidates=2, progress=False)


def test_a_local_ray(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    package = str(__import__("pathlib").Path(tc.__file__).resolve().parents[1])
    built = str(__import__("pathlib").Path(tc._core.__file__).parents[1])
    paths = ":".join([built, package])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        cache = tc.cache.Cache(tmp_path / "cache")
        T = tc.define(MM)
        result = tc.autotune(
            T.mm, A, B, ray=True, workers=2, resources={"num_cpus": 1}, cache=cache, candidates=4, population=4, progress=False
        )
        assert result.kept and cache.best(T.mm, A, B) is not None
        np.testing.assert_array_equal(result.executable(A, B), A @ B)
    finally:
        ray.shutdown()
