"""Tunes cases of the suite and measures tuned, default and torch in turns.

.venv/bin/python benchmarks/tune.py --budget 60 matmul/nn-1024 'norms/*' --json result.json
"""

import os

os.environ.setdefault("TC_CACHE_MODE", "off")

import argparse
import json
import math

import torch

import tensor_comprehensions as tc
from suite import cases, measure
from suite.check import as_tuple


def tuned_row(case, budget: float, method: str, seed: int) -> dict:
    """The times, in seconds, of a case after a tuning, and what the tuning did."""
    inputs = case.draw()
    function = tc.define(case.text)[case.entry]
    result = tc.autotune(function, *inputs, budget=budget, method=method, seed=seed, cache=False, progress=False)
    default = tc.compile(function, *inputs, options="default", cache=False)
    functions = {"tuned": result.executable, "default": default, "torch": case.eager}
    outs = {name: as_tuple(kernel(*inputs)) for name, kernel in functions.items()}
    calls = {name: (lambda kernel=kernel, out=outs[name]: kernel(*inputs, out=out)) for name, kernel in functions.items() if name != "torch"}
    calls["torch"] = lambda: case.eager(*inputs)
    threads = torch.get_num_threads()
    with torch.no_grad():
        times, _ = measure.interleaved(calls, {}, 2.0, threads)
    best = result.convergence()[-1][1]
    reached = next(at for at, time in result.convergence() if time <= best / 0.95)
    return {
        "case": case.name, "threads": threads, "budget": budget, "method": method, "seed": seed,
        **{name: spread.median for name, spread in times.items()},
        "options": str(result.best.options), "candidates": len(result.candidates), "counts": result.counts(),
        "generations": result.generations, "seconds_to_95_percent": reached,
    }


def shown(row: dict) -> str:
    return (
        f"{row['case']:24} default {row['default'] * 1e3:9.4f} ms  tuned {row['tuned'] * 1e3:9.4f} ms  torch {row['torch'] * 1e3:9.4f} ms  "
        f"{row['default'] / row['tuned']:.2f}x  {row['candidates']} candidates, 95 % after {row['seconds_to_95_percent']:.0f} s  {row['options']}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", help="names of cases, with * and ?")
    parser.add_argument("--budget", type=float, default=60, help="seconds a case (60)")
    parser.add_argument("--method", default="genetic", choices=["genetic", "random"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="a file to which rows are added, a line each")
    arguments = parser.parse_args()
    gains = []
    for case in cases.chosen(cases.all_cases(), arguments.cases, False):
        row = tuned_row(case, arguments.budget, arguments.method, arguments.seed)
        gains.append(row["default"] / row["tuned"])
        print(shown(row), flush=True)
        if arguments.json:
            with open(arguments.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    if len(gains) > 1:
        print(f"geomean gain {math.exp(sum(map(math.log, gains)) / len(gains)):.3f}")


if __name__ == "__main__":
    main()
