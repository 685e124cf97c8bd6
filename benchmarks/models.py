"""Whole models: eager, inductor and tc, latencies in turns, and what each costs before its first result.

    .venv/bin/python benchmarks/models.py                             # all models, 1 thread, batch 1
    .venv/bin/python benchmarks/models.py --models resnet18,gpt2 --threads 1,2 --batch 1,8 --systems eager,inductor,tc
    .venv/bin/python benchmarks/models.py --json models.json --markdown models.md

| column | |
|---|---|
| `ms` | median wall time of one call, the systems in turns; `cpu` is the least CPU time of the calling thread, which other work on the machine disturbs less |
| `first s` | the first call in a process of its own: tracing, compiling, running; no system finds anything in a cache |
| `MiB` | what the peak of resident memory of that process rose by from the model's making to after some calls |
| `launches` | launches of tc in one call; in brackets the different defs |
| `taken` | share of floating-point work in tc's parts |

Models have random weights; all run in float32, `eval`, without gradients.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402
from suite import machine, networks  # noqa: E402
from suite.statistics import geomean, spread  # noqa: E402

import tensor_comprehensions as tc  # noqa: E402
import tensor_comprehensions.torch  # noqa: E402,F401  (registers the backend)


def images(batch, size=224):
    return [torch.randn(batch, 3, size, size)]


def ids(batch, length=128, words=5000):
    return [torch.randint(0, words, (batch, length))]


MODELS = {
    "resnet18": lambda n: (networks.resnet(), images(n)),
    "resnet50": lambda n: (networks.resnet((3, 4, 6, 3), bottleneck=True), images(n)),
    "mobilenet_v2": lambda n: (networks.mobilenet_v2(), images(n)),
    "vit": lambda n: (networks.VisionTransformer(), images(n)),
    "bert_base": lambda n: (networks.Encoder(), ids(n)),
    "gpt2": lambda n: (networks.Decoder(), ids(n)),
    "unet": lambda n: (networks.Unet(16), images(n, 96)),
    "dcgan": lambda n: (networks.dcgan(), [torch.randn(n, 100, 1, 1)]),
    "dlrm": lambda n: (networks.Dlrm(), [torch.randn(32 * n, 13), torch.randint(0, 1000, (32 * n, 8, 4))]),
    "lstm": lambda n: (networks.LstmCells(), ids(4 * n, 16, 1000)),
}


def make(name, batch):
    torch.manual_seed(0)
    model, inputs = MODELS[name](batch)
    return model.eval(), inputs


def system_of(name, model):
    return model if name == "eager" else torch.compile(model, backend=name)


def set_threads(threads):
    torch.set_num_threads(threads)
    tc.set_num_threads(threads)


def peak_mebibytes():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def first_call(name, system, batch, threads):
    """Seconds of the first call and mebibytes, in this process, which must be new. Printed as JSON for the parent."""
    set_threads(threads)
    model, inputs = make(name, batch)
    before = peak_mebibytes()
    with torch.no_grad():
        started = time.perf_counter()
        system_of(system, model)(*inputs)
        seconds = time.perf_counter() - started
    print(json.dumps({"first_s": seconds, "mib": peak_mebibytes() - before}))


def measured_alone(name, system, batch, threads):
    """What `first_call` finds in a process of its own, without caches; nothing where it fails."""
    environment = dict(os.environ, TC_CACHE_MODE="off", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    command = [sys.executable, "-W", "ignore", __file__, "--first", name, system, str(batch), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}


def in_turns(callables, seconds):
    """Wall times and thread CPU times of calls in turns: one list of pairs a callable."""
    times = [[] for _ in callables]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, found in zip(callables, times):
            wall, own = time.perf_counter(), time.thread_time()
            call()
            found.append((time.perf_counter() - wall, time.thread_time() - own))
    return times


def largest_error(model, inputs, result):
    """The largest distance from eager, over eager's largest magnitude."""
    expected = model(*inputs)
    return ((result - expected).abs().max() / expected.abs().max()).item()


def run(name, systems, batch, threads, options):
    """One row: everything measured of a model."""
    set_threads(threads)
    torch._dynamo.reset()
    tc.torch.reset()
    model, inputs = make(name, batch)
    row = {"model": name, "batch": batch, "threads": threads, "load": os.getloadavg()[0]}
    with torch.no_grad():
        compiled = {}
        for system in systems:
            try:
                call = system_of(system, model)
                row[system] = {"error": largest_error(model, inputs, call(*inputs))}
                compiled[system] = call
            except Exception as error:
                row[system] = {"failed": str(error).splitlines()[0][:200]}
        times = in_turns([lambda call=call: call(*inputs) for call in compiled.values()], options.seconds)
    for system, found in zip(compiled, times):
        walls = spread([wall for wall, _ in found])
        row[system] |= {"ms": walls.median * 1e3, "low": walls.low * 1e3, "high": walls.high * 1e3}
        row[system] |= {"cpu_ms": min(own for _, own in found) * 1e3, "samples": walls.samples}
        if system != "eager" and not options.no_first:
            row[system] |= measured_alone(name, system, batch, threads)
    if "tc" in compiled:
        reports = tc.torch.reports()
        parts = [part for report in reports for part in report.parts]
        taken, left = (sum(getattr(r, f"flops_{which}") for r in reports) for which in ("taken", "left"))
        row["tc"] |= {
            "launches": sum(r.launches for r in reports),
            "different": len({p.text for p in parts}),
            "taken": taken / max(1, taken + left),
        }
    return row


def cells(row, system):
    found = row.get(system, {})
    if "failed" in found:
        return ["failed", "", "", ""]
    if not found:
        return ["", "", "", ""]
    number = lambda key, form: format(found[key], form) if key in found else ""
    return [number("ms", ".2f"), number("cpu_ms", ".2f"), number("first_s", ".1f"), number("mib", ".0f")]


def best_of_others(row, key):
    return min((row[s][key] for s in row if s != "tc" and isinstance(row[s], dict) and key in row[s]), default=None)


def markdown(rows, systems):
    """The table, and the geometric means of the better of the others over tc."""
    head = ["model", "batch", "threads", *[f"{s} {c}" for s in systems for c in ("ms", "cpu", "first s", "MiB")]]
    head += ["launches", "taken", "others / tc", "by cpu"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ratios = {"ms": [], "cpu_ms": []}
    for row in rows:
        line = [row["model"], row["batch"], row["threads"], *[c for s in systems for c in cells(row, s)]]
        own = row.get("tc", {})
        line += (
            [f"{own['launches']} ({own['different']})", f"{100 * own['taken']:.1f} %"]
            if "launches" in own
            else ["", ""]
        )
        for key, all_ in ratios.items():
            other = best_of_others(row, key)
            ratio = other / own[key] if other and key in own else None
            all_ += [ratio] if ratio else []
            line.append(f"{ratio:.2f}" if ratio else "")
        lines.append("| " + " | ".join(map(str, line)) + " |")
    if ratios["ms"]:
        lines += [
            "",
            f"Geometric mean of the better of the others over tc: {geomean(ratios['ms']):.2f} by wall time, {geomean(ratios['cpu_ms']):.2f} by CPU time.",
        ]
    return "\n".join(lines) + "\n"


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--systems", default="eager,inductor,tc")
    parser.add_argument("--batch", type=numbers, default=[1])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--seconds", type=float, default=3.0, help="of measuring a row")
    parser.add_argument("--no-first", action="store_true", help="leave out first calls in processes of their own")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    parser.add_argument("--first", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        name, system, batch, threads = options.first
        return first_call(name, system, int(batch), int(threads))
    warnings.simplefilter("ignore")
    systems, rows = options.systems.split(","), []
    for threads in options.threads:
        for batch in options.batch:
            for name in options.models.split(","):
                rows.append(run(name, systems, batch, threads, options))
                print(markdown(rows[-1:], systems).splitlines()[2], flush=True)
                if options.json:
                    pathlib.Path(options.json).write_text(
                        json.dumps({"machine": machine.description(), "rows": rows}, indent=1)
                    )
    text = markdown(rows, systems)
    print("\n" + text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
