"""Two threads beside torch's: kernels and models in turns with eager and Inductor, in one process, without rests.

    .venv/bin/python benchmarks/threads.py --json threads.json                  # the families of bench.py and the models
    .venv/bin/python benchmarks/threads.py --cases 'conv*' --models none        # some of them
    .venv/bin/python benchmarks/threads.py --json threads.json --report         # the table of what was measured
    .venv/bin/python benchmarks/threads.py --pauses --cases 'norms/*'           # tc's rule against its own threads behind pauses

Each case runs in two processes, one with the default environment and one with OMP_WAIT_POLICY=passive, where torch's threads
sleep as soon as a loop ends. No candidate waits before its sample, therefore torch's threads still spin when tc begins.

| column | |
|---|---|
| `ms` | median of one call of tc, in the default environment |
| `of passive` | time under the passive policy over that: 1 where torch's spinning threads cost nothing |
| `best` | the better of eager and Inductor over tc, in the default environment; above 1 tc is faster |
| `best passive` | the same under the passive policy |
"""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("TC_CACHE_MODE", "off")

MODEL_ERROR = 1e-3  # of the largest result; at most 1.6e-5 was measured (11 models, float32)
POLICIES = {"default": {}, "passive": {"OMP_WAIT_POLICY": "passive"}}


def case_rows(name, threads, seconds):
    """Medians and quartiles of a case of bench.py, and its largest error."""
    from suite import cases, check, measure, peers
    from suite.runner import compile_case
    import torch

    (case,) = [case for case in cases.all_cases() if case.name == name]
    inputs = case.draw()
    kernel, _ = compile_case(case, inputs)
    expected = check.reference(case, inputs)
    error = check.worst_error(check.as_tuple(kernel(*inputs)), expected, case.terms)
    if error > 1:
        raise RuntimeError(f"the result is wrong: {error:.3g} of the error that rounding allows")
    others = {"eager": lambda: case.eager(*inputs)}
    try:
        others["inductor"] = peers.compiled(case, inputs, "default")
    except Exception as failure:  # a peer's failure is a fact about the peer
        print(f"{name}: inductor failed: {type(failure).__name__}", file=sys.stderr)
    with torch.no_grad():
        times, _ = measure.interleaved({**others, "tc": lambda: kernel(*inputs)}, {}, seconds, threads, beside=True)
    return {"error": error, **{system: time._asdict() for system, time in times.items()}}


def model_rows(name, threads, seconds):
    """The same for a model, its systems by torch.compile."""
    import models
    from suite import measure
    import torch

    model, inputs = models.make(name, 1)
    with torch.no_grad():
        models.take_statistics(model, inputs)
        expected, calls = model(*inputs), {}
        for system in ("eager", "inductor", "tc"):
            torch._dynamo.reset()
            function = models.system_of(system, model)
            error = models.largest_error(expected, function(*inputs))
            if error > MODEL_ERROR:
                raise RuntimeError(f"{system} is {error:.3g} of the largest result away from eager")
            calls[system] = lambda function=function: function(*inputs)
        times, _ = measure.interleaved(calls, {}, seconds, threads, beside=True)
    return {"error": error, **{system: time._asdict() for system, time in times.items()}}


def behind_pauses(name, threads, rounds=31, pause=0.02):
    """Seconds of a call behind a pause, with tc's own threads and as the rule has it: medians of calls in turns."""
    import time

    from suite import cases
    from suite.runner import compile_case
    from suite.statistics import spread
    import tensor_comprehensions as tc

    (case,) = [case for case in cases.all_cases() if case.name == name]
    inputs = case.draw()
    kernel, _ = compile_case(case, inputs)
    tc.set_num_threads(threads)
    times = {"own": [], "auto": []}
    for number in range(2 * rounds + 4):
        mode = ("own", "auto")[(number + number // 2) % 2]
        tc.set_threads(mode)
        time.sleep(pause)
        start = time.perf_counter()
        kernel(*inputs)
        if number >= 4:
            times[mode].append(time.perf_counter() - start)
    return {mode: spread(values).median for mode, values in times.items()}


def pauses(options):
    """The table of calls behind pauses: own over auto, on one thread and on several."""
    from suite.statistics import geomean

    print(f"| case | own ms | own / auto, 1 thread | own / auto, {options.threads} threads |\n|---|---|---|---|")
    ratios = []
    for _, name in wanted(options):
        found = [behind_pauses(name, threads) for threads in (1, options.threads)]
        ratios.append([times["own"] / times["auto"] for times in found])
        print(f"| {name} | {found[1]['own'] * 1e3:.4g} | {ratios[-1][0]:.3f} | {ratios[-1][1]:.3f} |", flush=True)
    print("\ngeometric means: " + ", ".join(f"{geomean(column):.3f}" for column in zip(*ratios)))


def serve(threads, seconds):
    """Measures the cases whose kinds and names come on standard input, a line of JSON for each."""
    import models
    import torch

    torch.set_num_threads(threads)
    models.set_threads(threads)
    for line in sys.stdin:
        kind, name = line.split()
        try:
            row = (case_rows if kind == "case" else model_rows)(name, threads, seconds)
        except Exception as failure:
            row = {"failed": str(failure).splitlines()[0] if str(failure) else type(failure).__name__}
        print("ROW " + json.dumps(row), flush=True)


def server(policy, options):
    command = [sys.executable, __file__, "--serve", "--threads", str(options.threads), "--seconds", str(options.seconds)]
    environment = {**os.environ, **POLICIES[policy]}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, kind, name):
    print(kind, name, file=process.stdin, flush=True)
    for line in process.stdout:
        if line.startswith("ROW "):
            return json.loads(line[4:])
    return {"failed": "the process ended"}


def wanted(options):
    """Kinds and names of what is measured."""
    from suite import cases
    import models

    patterns = options.cases or ["*"]
    for case in cases.all_cases():
        if case.family not in ("odd", "latency") and any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns):
            yield "case", case.name
    for name in models.MODELS if options.models == "all" else options.models.split(","):
        if name != "none":
            yield "model", name


def measure_all(options, rows):
    servers = {}
    for number, (kind, name) in enumerate(wanted(options)):
        if name in rows and "failed" not in rows[name]:
            continue
        row = {"kind": kind}
        for policy in sorted(POLICIES, reverse=bool(number % 2)):
            if policy not in servers or servers[policy].poll() is not None:
                servers[policy] = server(policy, options)
            row[policy] = ask(servers[policy], kind, name)
        if any("failed" in row[policy] for policy in POLICIES):
            row["failed"] = str([row[policy].get("failed") for policy in POLICIES])
        rows[name] = row
        print(line_of(name, row), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    for process in servers.values():
        process.stdin.close()
        process.wait()


def ratios(row):
    """The columns of a row: ms, of passive, best, best passive."""
    ours = {policy: row[policy]["tc"]["median"] for policy in POLICIES}
    best = {
        policy: min(row[policy][system]["median"] for system in ("eager", "inductor") if system in row[policy])
        for policy in POLICIES
    }
    return [
        ours["default"] * 1e3,
        ours["passive"] / ours["default"],
        best["default"] / ours["default"],
        best["passive"] / ours["passive"],
    ]


def line_of(name, row):
    if "failed" in row:
        return f"| {name} | {row['failed']} | | | |"
    ms, passive, best, best_passive = ratios(row)
    return f"| {name} | {ms:.4g} | {passive:.2f} | {best:.2f} | {best_passive:.2f} |"


def report(rows):
    from suite.statistics import geomean

    print("| case | ms | of passive | best | best passive |\n|---|---|---|---|---|")
    for name, row in rows.items():
        print(line_of(name, row))
    for kind in ("case", "model"):
        columns = [ratios(row) for row in rows.values() if row["kind"] == kind and "failed" not in row]
        if not columns:
            continue
        _, passive, best, best_passive = zip(*columns)
        print(
            f"\n{kind}s: {len(columns)}; of passive {geomean(passive):.3f} (least {min(passive):.2f}); best {geomean(best):.2f}, "
            f"ahead in {sum(value >= 1 for value in best)} (passive: {geomean(best_passive):.2f}, "
            f"{sum(value >= 1 for value in best_passive)})"
        )


def main():
    parser = argparse.ArgumentParser(description="Threads beside torch's, in turns with torch.")
    parser.add_argument("--cases", action="append", metavar="PATTERN", help="cases of bench.py; repeatable")
    parser.add_argument("--models", default="all", help="of models.py, with commas between; none")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring a row")
    parser.add_argument("--json", help="the rows; those that the file holds are kept")
    parser.add_argument("--report", action="store_true", help="measure nothing, print the table of --json")
    parser.add_argument("--pauses", action="store_true", help="calls of tc behind pauses, its own threads and the rule in turns")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.threads, options.seconds)
    if options.pauses:
        options.models = "none"
        return pauses(options)
    path = pathlib.Path(options.json) if options.json else None
    rows = json.loads(path.read_text()) if path and path.exists() else {}
    if not options.report:
        measure_all(options, rows)
    report(rows)


if __name__ == "__main__":
    main()
