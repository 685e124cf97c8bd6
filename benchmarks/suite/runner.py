"""Runs one case in a process of its own, so that a crash or an endless compilation costs one row."""

import dataclasses
import multiprocessing
import time
import traceback
from typing import Callable, Dict, List, Sequence

import torch

import tensor_comprehensions as tc

from . import check, measure, peers
from .acceptance import judge_row
from .case import Case, moved_bytes
from .limits import Limits
from .statistics import Spread, quantile

WARM_UP = "def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }"


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a case is measured: numbers of threads, seconds of rounds, peers, seconds after which it is given up."""

    threads: Sequence[int]
    budget: float
    peers: Sequence[str]
    limit: float


def compile_case(case: Case, inputs: tuple):
    """The executable and the milliseconds from text to machine code in a process that has compiled before."""
    tc.compile(tc.define(WARM_UP).f, tc.spec((8,)))
    start = time.perf_counter()
    kernel = tc.compile(tc.define(case.text)[case.entry], *inputs)
    return kernel, (time.perf_counter() - start) * 1e3


def empty_row(case: Case, threads: int, status: str) -> dict:
    return {"case": case.name, "family": case.family, "threads": threads, "status": status, "goals": [], "peers": {}}


def yardsticks_of(case: Case, limits: Limits, moved: float, threads: int) -> Dict[str, Callable[[], float]]:
    """The limits that a case is compared with, measured in its rounds.

    "peak_gops" is the peak loop in its turn, sampled as our kernel just before it; "rested_gops" the same loop once the
    clock has recovered.
    """
    yardsticks = {}
    if case.flops:
        yardsticks["peak_gops"] = lambda: limits.ceiling(case.peak, threads)
        yardsticks["rested_gops"] = lambda: limits.rested_ceiling(case.peak, threads)
    if any(goal.metric == "copy" for goal in case.goals):
        yardsticks["copy_gbs"] = lambda: limits.copy(moved, threads)
    return yardsticks


def summarised(name: str, values: List[float]) -> float:
    """One value of a yardstick: of the peak in turns the median, as of the kernels; of the others the largest."""
    return quantile(values, 0.5) if name == "peak_gops" else max(values)


def measure_case(case: Case, plan: Plan) -> List[dict]:
    """The rows of a case, one for each number of threads: checked, timed, judged."""
    inputs = case.draw()
    kernel, compile_ms = compile_case(case, inputs)
    with torch.no_grad():
        outputs = check.as_tuple(kernel(*inputs))
        expected = check.reference(case, inputs)
        error = check.worst_error(outputs, expected, case.terms)
        moved = moved_bytes(case, inputs, outputs)
        limits = Limits()
        rows = []
        for threads in plan.threads:
            torch.set_num_threads(threads)
            tc.set_num_threads(threads)
            others, slow, lines = peers.functions(case, inputs, plan.peers, expected)
            yardsticks = yardsticks_of(case, limits, moved, threads)
            times, rates = measure.interleaved(
                {**others, "": lambda: kernel(*inputs)}, yardsticks, plan.budget, threads
            )
            times.update({name: Spread(seconds, seconds, seconds, 1) for name, seconds in slow.items()})
            row = empty_row(case, threads, "ok" if error <= 1 else "wrong")
            row.update(
                flops=case.flops,
                bytes=moved,
                error=error,
                compile_ms=compile_ms,
                scaling=case.scaling,
                ours=times.pop("")._asdict(),
                peers={name: t._asdict() for name, t in times.items()},
                lines=lines,
                fallbacks=list(kernel.stats.get("fallbacks", [])),
                **{name: summarised(name, values) for name, values in rates.items()},
            )
            row["goals"] = judge_row(case.goals, row) if error <= 1 else []
            rows.append(row)
    return rows


def child(case: Case, plan: Plan, connection) -> None:
    """Measures in the child process and sends the rows, or the reason why there are none."""
    try:
        connection.send(measure_case(case, plan))
    except Exception as error:
        text = str(error).strip() or type(error).__name__
        row = empty_row(case, plan.threads[0], f"failed: {text.splitlines()[0]}")
        row["details"] = traceback.format_exc(limit=-2)
        connection.send([row])


def run_case(case: Case, plan: Plan, work: Callable = child) -> List[dict]:
    """The rows of a case, measured in a forked process."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(case, plan, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(plan.limit):
            process.kill()
            return [empty_row(case, plan.threads[0], f"failed: no result within {plan.limit:.0f} s")]
        return receiver.recv()
    except EOFError:
        process.join()
        return [empty_row(case, plan.threads[0], f"failed: the process ended with code {process.exitcode}")]
    finally:
        if process.is_alive():
            process.join(2)
        if process.is_alive():
            process.kill()
        process.join()
