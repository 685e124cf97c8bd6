"""The command: chooses, measures, judges, reports."""

import argparse
import dataclasses
import fnmatch
from typing import List, Optional

from . import acceptance, cases, latency, limits, machine, peers, progress, report
from .case import Case
from .runner import Plan, run_case

OUTPUT = limits.ROOT / "build" / "bench"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="bench.py", description="Measures the compiler's kernels beside their peers and the machine's limits."
    )
    p.add_argument(
        "--quick", action="store_true", help="under two minutes: fewer cases and rounds, one thread, eager only"
    )
    p.add_argument(
        "--cases",
        action="append",
        default=[],
        metavar="PATTERN",
        help="cases whose name matches, for example 'conv*'; repeatable",
    )
    p.add_argument(
        "--threads", default="", metavar="LIST", help="numbers of threads, for example 1,2 (default: 1 and all)"
    )
    p.add_argument("--peers", default="", metavar="LIST", help=f"of {','.join(peers.ALL)}")
    p.add_argument("--seconds", type=float, default=0, help="measuring time of a row, split among its peers")
    p.add_argument(
        "--json",
        default=str(OUTPUT / "result.json"),
        metavar="PATH",
        help="write the result there (default: build/bench/result.json)",
    )
    p.add_argument("--add", action="store_true", help="keep the cases of that file that are not measured now")
    p.add_argument(
        "--plots", default=str(OUTPUT), metavar="FOLDER", help="draw the result there, as SVG (default: build/bench)"
    )
    p.add_argument("--list", action="store_true", help="list the cases and stop")
    return p


def plan_of(args) -> Plan:
    """The plan that the options ask for."""
    wanted = args.peers.split(",") if args.peers else ["eager"] if args.quick else list(peers.ALL)
    unknown = sorted(set(wanted) - set(peers.ALL))
    if unknown:
        raise SystemExit(f"--peers: there is no peer {', '.join(unknown)}; there are {', '.join(peers.ALL)}")
    threads = (
        [int(t) for t in args.threads.split(",")]
        if args.threads
        else [1] if args.quick else sorted({1, machine.cores()})
    )
    budget = args.seconds or (0.25 if args.quick else 1.0)
    return Plan(threads, budget, wanted, 60 if args.quick else 300)


def scaling_plan(plan: Plan) -> Plan:
    """The plan of the cases whose scaling is judged, when one thread was asked for."""
    return dataclasses.replace(plan, threads=sorted({*plan.threads, machine.cores()}))


def measure_all(selected: List[Case], plan: Plan, args, result: dict, bar: progress.Progress) -> None:
    """Measures the cases, and the latencies if they are wanted, into the result."""
    for case in selected:
        bar.step(case.name)
        quick_scaling = case.scaling and args.quick and not args.threads
        rows = run_case(case, scaling_plan(plan) if quick_scaling else plan)
        result["rows"] += rows
        for line in sorted({line for row in rows for line in row.get("lines", [])}):
            bar.line(line)
    if wants_latency(args):
        bar.step("latency")
        result["latency"] = latency.latency(args.quick)


def wants_latency(args) -> bool:
    return not args.cases or any(fnmatch.fnmatch("latency", pattern) for pattern in args.cases)


def run(args) -> Optional[dict]:
    """The result of a run, or None after --list."""
    selected = cases.chosen(cases.all_cases(), args.cases, args.quick)
    if args.list:
        print("\n".join([case.name for case in selected] + ["latency"]))
        return None
    if not selected and not wants_latency(args):
        raise SystemExit("no case has such a name; --list names them")
    plan = plan_of(args)
    have, lines = peers.available(plan.peers)
    plan = dataclasses.replace(plan, peers=have)
    machine.keep_memory()
    peers.prepare(have)
    result = {"machine": machine.description(), "limits": {}, "rows": [], "latency": {}, "groups": []}
    bar = progress.Progress(len(selected) + wants_latency(args))
    for line in lines:
        bar.line(line)
    try:
        measure_all(selected, plan, args, result, bar)
    except KeyboardInterrupt:
        bar.line("interrupted: the result holds what was measured until now")
    bar.end()
    if args.add:
        result = report.with_earlier(result, args.json)
    result["limits"] = limits.Limits().summary(sorted({1, machine.cores()}))
    result["groups"] = acceptance.judge_groups(result["rows"], machine.cores(), result["latency"])
    return result


def draw(result: dict, folder: str) -> None:
    """Draws the result, or says why not."""
    try:
        from . import plots
    except ImportError:
        print("no plots: matplotlib is not installed (make setup installs it)")
    else:
        plots.draw(result, folder)


def main(arguments: Optional[List[str]] = None) -> None:
    """Runs the suite as the command line says."""
    args = parser().parse_args(arguments)
    result = run(args)
    if result is None:
        return
    print(report.table(result))
    report.write_json(result, args.json)
    draw(result, args.plots)
