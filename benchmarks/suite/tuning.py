"""Tunings as measurements: what they gain over the default options and torch, how fast, and which search is better."""

import argparse
import dataclasses
import datetime
import pathlib
from typing import Callable, List, Optional, Sequence

import torch

import tensor_comprehensions as tc

from . import cases, machine, measure, progress, report, tuning_report
from .case import Case, full
from .cases import norms
from .limits import ROOT
from .runner import run_case

CASES = (
    "matmul/nn-1024",
    "matmul/tmm-128x1024x1024",
    "batched/tbmm-500x26x72x26",
    "conv/grouped-c4-128@56",
    "conv/depthwise-192@56",
    "norms/layer-norm-4096x4096",
    "mlp/mlp3-128x128-64-32-2",
    "lookups/2lut-1e6",
)
METHODS = ("genetic", "random")
RANKINGS = ("none", "model", "learned")
GAINS, COMPARISON, RANKING, PRICES = "gains", "methods", "rankings", "prices"
PARTS = (GAINS, COMPARISON, RANKING, PRICES)
PRICED_CANDIDATES = 16  # that a search by price measures, where a genetic one has a budget
UNMEASURED = {"default": "default", "constructed": "construct"}  # options that need no measurement, by the name in a row
FINAL_SECONDS = 4.0
WARM_SECONDS = 0.01  # of calls before each sample of the final table


@dataclasses.dataclass(frozen=True)
class Job:
    """One tuning. `threads` and `limit`, seconds after which it is given up, are what the runner of cases asks for."""

    part: str
    budget: float
    method: str
    seed: int
    threads: Sequence[int]
    ranking: str = "none"

    @property
    def limit(self) -> float:
        return 3 * self.budget + 60

    def key(self, case: str) -> list:
        """Equal for jobs whose results stand for each other."""
        return [self.part, case, self.ranking if self.part == RANKING else self.method, self.seed, self.budget]


def all_cases() -> List[Case]:
    """The cases of the suite, and those that only tunings are asked for."""
    return cases.all_cases(full) + list(norms.rows_of("4096x4096", 4096, 4096))


def chosen(patterns: Sequence[str]) -> List[Case]:
    """The cases that `patterns` name, in that order."""
    everything = all_cases()
    return [case for pattern in patterns for case in cases.chosen(everything, [pattern], False)]


def tuned(case: Case, job: Job, inputs: tuple):
    """The result of the tuning of `job`."""
    function = tc.define(case.text)[case.entry]
    how = {"budget": job.budget, "search": job.method, "ranking": job.ranking, "seed": job.seed}
    return tc.autotune(function, *inputs, **how, cache=False, progress=False)


def seconds_to_95_percent(result) -> float:
    """Seconds until a candidate ran at 95 % of the speed of the fastest one."""
    points = result.convergence()
    return next(at for at, time in points if time <= points[-1][1] / 0.95)


def facts(case: Case, job: Job, result) -> dict:
    """What a tuning did, as JSON has it."""
    return {
        "key": job.key(case.name),
        "case": case.name,
        "threads": job.threads[0],
        "status": "ok",
        "speedup": result.speedup,
        "options": str(result.best.options),
        "candidates": len(result.candidates),
        "counts": result.counts(),
        "generations": result.generations,
        "elapsed": result.elapsed,
        "seconds_to_95_percent": seconds_to_95_percent(result),
        "convergence": result.convergence(),
    }


def gains_row(case: Case, job: Job, inputs: tuple) -> dict:
    """The times of the tuned kernel, the one constructed by price, the default one and torch, in turns, after a tuning.

    Where the default options won, the tuned kernel is the default one, and is not measured a second time.
    """
    result = tuned(case, job, inputs)
    function = tc.define(case.text)[case.entry]
    kernels = {name: tc.compile(function, *inputs, options=options, cache=False) for name, options in UNMEASURED.items()}
    kernels["torch"] = case.eager
    if str(result.best.options):
        kernels["tuned"] = result.executable
    calls = {name: (lambda kernel=kernel: kernel(*inputs)) for name, kernel in kernels.items()}
    times, _ = measure.interleaved(calls, {}, FINAL_SECONDS, job.threads[0], WARM_SECONDS)
    times.setdefault("tuned", times["default"])
    return {**facts(case, job, result), **{name: each._asdict() for name, each in times.items()}}


def fastest(result) -> str:
    """The options of the fastest candidate, as the search measured it."""
    return str(min((each for each in result.candidates if each.status in ("ok", "same")), key=lambda each: each.time).options)


def prices_row(case: Case, job: Job, inputs: tuple) -> dict:
    """The times of the kernels that a search by price finds in a few measurements, and that a genetic one finds in the budget, in turns with
    the default one."""
    function = tc.define(case.text)[case.entry]
    few = {"search": "price", "candidates": PRICED_CANDIDATES, "seed": job.seed}
    many = {"search": "genetic", "budget": job.budget, "seed": job.seed}
    found = {how["search"]: tc.autotune(function, *inputs, **how, cache=False, progress=False) for how in (few, many)}
    options = {"default": "default", **{method: fastest(result) for method, result in found.items()}}
    kernels = {name: tc.compile(function, *inputs, options=each or "default", cache=False) for name, each in options.items()}
    calls = {name: (lambda kernel=kernel: kernel(*inputs)) for name, kernel in kernels.items()}
    times, _ = measure.interleaved(calls, {}, FINAL_SECONDS, job.threads[0], WARM_SECONDS)
    measured = {f"{method}_candidates": len(result.candidates) - 1 for method, result in found.items()}
    seconds = {f"{method}_elapsed": result.elapsed for method, result in found.items()}
    row = {**facts(case, job, found["price"]), "found": options, **measured, **seconds}
    return {**row, **{name: each._asdict() for name, each in times.items()}}


def child(case: Case, job: Job, connection) -> None:
    """Tunes in a process of its own, and sends the row or why there is none."""
    try:
        inputs = case.draw()
        with torch.no_grad():
            rows = {GAINS: gains_row, PRICES: prices_row}
            row = rows[job.part](case, job, inputs) if job.part in rows else facts(case, job, tuned(case, job, inputs))
        connection.send([row])
    except Exception as error:
        text = (str(error).strip() or type(error).__name__).splitlines()[0]
        connection.send([{"case": case.name, "status": f"failed: {text}"}])


def jobs_of(args) -> List[Job]:
    """The tunings that the options ask for; those of each case follow each other, but seeds come one after another."""
    threads = [machine.cores()]
    jobs = [Job(GAINS, args.budget, "genetic", 0, threads)] if args.part in (None, GAINS) else []
    if args.part in (None, COMPARISON):
        jobs += [
            Job(COMPARISON, args.method_budget, method, seed, threads) for seed in range(args.seeds) for method in METHODS
        ]
    if args.part == RANKING:
        jobs += [
            Job(RANKING, args.method_budget, "genetic", seed, threads, ranking) for seed in range(args.seeds) for ranking in RANKINGS
        ]
    if args.part == PRICES:
        jobs += [Job(PRICES, args.budget, "price", 0, threads)]
    return jobs


def waves(jobs: List[Job]) -> List[List[Job]]:
    """Jobs that run together for one case: the gains, then all methods of each seed."""
    found: dict = {}
    for job in jobs:
        found.setdefault((job.part, job.seed), []).append(job)
    return list(found.values())


def run(args, work: Callable = child) -> dict:
    """Runs what the file of the result does not hold yet; it is written after each tuning."""
    selected, path = chosen(args.cases or CASES), pathlib.Path(args.result)
    result = tuning_report.load(path) or {"machine": machine.description(), "rows": []}
    known = [row["key"] for row in result["rows"] if row["status"] == "ok"]
    todo = [(case, job) for wave in waves(jobs_of(args)) for case in selected for job in wave if job.key(case.name) not in known]
    bar = progress.Progress(len(todo))
    machine.keep_memory()
    try:
        for case, job in todo:
            bar.step(f"{job.key(case.name)}")
            row = run_case(case, job, work)[0]
            row["key"] = job.key(case.name)
            result["rows"] = [kept for kept in result["rows"] if kept["key"] != row["key"]] + [row]
            bar.line(tuning_report.line(row))
            report.write_json(result, str(path))
            tuning_report.write_page(result, path.with_suffix(".md"))
    except KeyboardInterrupt:
        bar.line("interrupted: the same command goes on from here")
    bar.end()
    return result


def default_result() -> str:
    """Where results that are kept lie: a file for each day and machine."""
    kind = str(tc.host_target()).split(":")[1].split(",")[0]
    name = f"{datetime.date.today()}_{kind}_{machine.cores()}cores_tuning.json"
    return str(ROOT / "benchmarks" / "results" / name)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="tune.py", description="Tunes cases of the suite and tells what it gains.")
    p.add_argument("--part", choices=PARTS, help="gains: default, tuned, torch; methods: genetic against random; without it both. rankings: of candidates. prices: few nests by price against many options by genes")
    p.add_argument("--cases", action="append", default=[], metavar="PATTERN", help="cases by name; repeatable (eight)")
    p.add_argument("--budget", type=float, default=60, help="seconds of each tuning of the gains (60)")
    p.add_argument("--method-budget", type=float, default=15, help="seconds of each tuning of the methods (15)")
    p.add_argument("--seeds", type=int, default=3, help="tunings of each case with each method (3)")
    p.add_argument("--result", default=default_result(), metavar="PATH", help="JSON; a page .md beside it (%(default)s)")
    return p


def main(arguments: Optional[List[str]] = None) -> None:
    """Runs tunings as the command line says."""
    result = run(parser().parse_args(arguments))
    print(tuning_report.page(result))
