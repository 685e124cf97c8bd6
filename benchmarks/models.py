"""Whole models: eager, inductor and tc, latencies in turns, and what each costs before its first result.

    .venv/bin/python benchmarks/models.py                             # all models, 1 thread, batch 1
    .venv/bin/python benchmarks/models.py --models resnet18,gpt2 --threads 1,2 --batch 1,8 --systems eager,inductor,tc
    .venv/bin/python benchmarks/models.py --json models.json --models vit --phases latency    # one at a time, rows are added
    .venv/bin/python benchmarks/models.py --json models.json --report                         # the table of what was measured
    .venv/bin/python benchmarks/models.py --models vit_tiny --profile                         # the time of each launch

Systems: `eager`, `inductor`, `tc`, and `tc` with options: `tc+freeze`, `tc+auto` (libraries=auto), `tc+auto+freeze`, `tc+onednn`, ...;
`tc+freeze+unfolded` is without `fold_scales`, `tc+freeze+off` without layouts (also `constants`, `resolve`, `fold`); `inductor+freeze` likewise.

| column | |
|---|---|
| `ms` | median wall time of one call, the systems in turns; `cpu` is the least CPU time of the calling thread, which other work on the machine disturbs less |
| `first s` | the first call in a process of its own: tracing, compiling, running; no system finds anything in a cache |
| `warm s` | the same where a process before has filled the caches on disk |
| `MiB` | what the peak of resident memory of that process rose by from the model's making to after the first call |
| `launches` | launches of tc in one call; in brackets the different defs |
| `taken` | share of floating-point work in tc's parts |
| `error` | the largest distance from eager, over eager's largest magnitude |

Phases, each alone by `--phases`: `fill` (the caches on disk, nothing is measured), `latency`, `first`, `warm`. Models have random
weights; all run in float32, `eval`, without gradients.
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
from suite import image_networks, machine, networks  # noqa: E402
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
    "resnet152": lambda n: (networks.resnet((3, 8, 36, 3), bottleneck=True), images(n)),
    "vgg19": lambda n: (image_networks.vgg19(), images(n)),
    "densenet121": lambda n: (image_networks.densenet121(), images(n)),
    "squeezenet": lambda n: (image_networks.squeezenet(), images(n)),
    "googlenet": lambda n: (image_networks.googlenet(), images(n)),
    "mobilenet_v2": lambda n: (networks.mobilenet_v2(), images(n)),
    "efficientnet_b0": lambda n: (networks.efficientnet_b0(), images(n)),
    "vit_tiny": lambda n: (networks.VisionTransformer(layers=12), images(n)),
    "bert_tiny": lambda n: (networks.Encoder(width=128, heads=2, layers=2), ids(n)),
    "bert_base": lambda n: (networks.Encoder(), ids(n)),
    "gpt2_small": lambda n: (networks.Decoder(50257, 768, 12, 12, 1024), ids(n)),
    "unet": lambda n: (networks.Unet(32), images(n, 128)),
    "dcgan": lambda n: (networks.dcgan(), [torch.randn(n, 100, 1, 1)]),
    "dlrm": lambda n: (networks.Dlrm(), [torch.randn(32 * n, 13), torch.randint(0, 1000, (32 * n, 8, 4))]),
    "lstm": lambda n: (networks.LstmCells(), ids(4 * n, 16, 1000)),
}


LAYOUT_MODES = ("off", "constants", "resolve", "fold", "adjacent", "forward", "backward")


def make(name, batch):
    torch.manual_seed(0)
    model, inputs = MODELS[name](batch)
    return model.eval(), inputs


def take_statistics(model, inputs):
    """Gives batch norms of `model` the statistics of `inputs`: with random weights, results would else be those of zeros."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = None
        norm.train()
    model(*inputs)
    model.eval()


def system_of(name, model):
    """The model as the system `name`, a backend and options joined by "+", runs it."""
    backend, *words = name.split("+")
    if backend == "eager":
        return model
    if backend == "inductor":
        options = {"freezing": True} if "freeze" in words else None
    else:
        options = {"freeze": True} if "freeze" in words else {}
        options |= {"fold_scales": False} if "unfolded" in words else {}
        options |= {"layouts": word for word in words if word in LAYOUT_MODES}
        options |= {"libraries": word for word in words if word not in ("freeze", "unfolded", *LAYOUT_MODES)}
    return torch.compile(model, backend=backend, options=options)


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
    print(json.dumps({"seconds": seconds, "mib": peak_mebibytes() - before}))


def alone(name, system, batch, threads, caches):
    """What `first_call` finds in a process of its own, with or without caches on disk; nothing where it fails."""
    off = {} if caches else {"TC_CACHE_MODE": "off", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    command = [sys.executable, "-W", "ignore", __file__, "--first", name, system, str(batch), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | off, check=False)
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


def largest_error(expected, result):
    """The largest distance from eager, over eager's largest magnitude."""
    return ((result - expected).abs().max() / expected.abs().max()).item()


def taken_by_tc():
    """Launches, different defs and the share of floating-point work of the graphs that tc compiled last."""
    reports = tc.torch.reports()
    parts = [part for report in reports for part in report.parts]
    taken, left = (sum(getattr(r, f"flops_{which}") for r in reports) for which in ("taken", "left"))
    return {
        "launches": sum(r.launches for r in reports),
        "different": len({p.text for p in parts}),
        "taken": taken / max(1, taken + left),
    }


def latencies(row, systems, options):
    """Adds to `row` the times of calls in turns."""
    model, inputs = make(row["model"], row["batch"])
    row["load"] = os.getloadavg()[0]
    with torch.no_grad():
        take_statistics(model, inputs)
        compiled, expected = {}, model(*inputs)
        for system in systems:
            torch._dynamo.reset()
            tc.torch.reset()
            try:
                call = system_of(system, model)
                row.setdefault(system, {}).pop("failed", None)
                row[system]["error"] = largest_error(expected, call(*inputs))
                row[system] |= taken_by_tc() if system.startswith("tc") else {}
                compiled[system] = call
            except Exception as error:
                row[system] = {"failed": str(error).splitlines()[0][:200]}
        for call in compiled.values():
            call(*inputs)
        times = in_turns([lambda call=call: call(*inputs) for call in compiled.values()], options.seconds)
    for system, found in zip(compiled, times):
        walls = spread([wall for wall, _ in found])
        row[system] |= {"ms": walls.median * 1e3, "low": walls.low * 1e3, "high": walls.high * 1e3}
        row[system] |= {"cpu_ms": min(own for _, own in found) * 1e3, "samples": walls.samples}


def random_like(spec):
    dtype = getattr(torch, str(spec.dtype))
    return torch.randn(spec.shape).to(dtype) if dtype.is_floating_point else torch.zeros(spec.shape, dtype=dtype)


def print_profile(name, systems, batch, threads, seconds):
    """Prints where one call of each system of tc spends its time: the median of each launch, equal parts together."""
    set_threads(threads)
    model, inputs = make(name, batch)
    for system in systems:
        torch._dynamo.reset()
        tc.torch.reset()
        call = system_of(system, model)
        with torch.no_grad():
            call(*inputs)
        for report in tc.torch.reports():
            for executable in report.executables:
                print_launches(f"{name} {system}", executable, seconds)


def print_launches(title, executable, seconds):
    tensors = [random_like(spec) for _, spec, is_output in executable._arguments() if not is_output]
    rounds, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(rounds) < 5:
        rounds.append([time for _, time in executable.profile(*tensors)["launches"]])
    times = [spread(column).median for column in zip(*rounds)]
    parts = {}
    for launch, time_ in zip(executable._launches(), times):
        parts.setdefault(launch, []).append(time_)
    print(f"{title}: {sum(times):.0f} us in {len(times)} launches, {executable.stats['parts']} parts")
    for (part, routine), of in sorted(parts.items(), key=lambda item: -sum(item[1])):
        share, each = 100 * sum(of) / sum(times), ", ".join(f"{t:.0f}" for t in of)
        print(f"{sum(of):10.0f} us {share:5.1f} %  {part} {routine}: {each}")


def run(row, systems, options):
    """Adds to `row` what the phases find."""
    set_threads(row["threads"])
    of = (row["batch"], row["threads"])
    compiled = [system for system in systems if system != "eager"]
    if "fill" in options.phases:
        for system in compiled:
            alone(row["model"], system, *of, True)
    if "latency" in options.phases:
        latencies(row, systems, options)
    for phase, key in (("first", "first_s"), ("warm", "warm_s")):
        for system in compiled if phase in options.phases else []:
            found = alone(row["model"], system, *of, phase == "warm")
            if found:
                row.setdefault(system, {})[key] = found["seconds"]
            if found and phase == "first":
                row[system]["mib"] = found["mib"]


COLUMNS = (("ms", "ms", ".2f"), ("cpu_ms", "cpu", ".2f"), ("first_s", "first s", ".1f"), ("warm_s", "warm s", ".2f"))
COLUMNS += (("mib", "MiB", ".0f"),)


def columns_of(rows, system):
    """Those that some row has of a system."""
    return [c for c in COLUMNS if any(c[0] in row.get(system, {}) for row in rows)]


def cells(row, system, columns):
    found = row.get(system, {})
    if "failed" in found:
        return ["failed"] + [""] * (len(columns) - 1)
    return [format(found[key], form) if key in found else "" for key, _, form in columns]


def ratio(row, system, key):
    """The better of eager and inductor over `system`; nothing where one is missing."""
    others = [row[s][key] for s in ("eager", "inductor") if key in row.get(s, {})]
    return min(others) / row[system][key] if others and key in row.get(system, {}) else None


def markdown(rows, systems):
    """The table, and the geometric means of the better of eager and inductor over each tc."""
    own = [s for s in systems if s.startswith("tc")]
    columns = {s: columns_of(rows, s) for s in systems}
    head = ["model", "batch", "threads", *[f"{s} {c[1]}" for s in systems for c in columns[s]]]
    head += ["launches", "taken", "error", *[f"best / {s}" for s in own]]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        line = [row["model"], row["batch"], row["threads"], *[c for s in systems for c in cells(row, s, columns[s])]]
        of = next((row[s] for s in own if "launches" in row.get(s, {})), None)
        line += [f"{of['launches']} ({of['different']})", f"{100 * of['taken']:.1f} %"] if of else ["", ""]
        errors = [row[s]["error"] for s in own if "error" in row.get(s, {})]
        line.append(f"{max(errors):.0e}" if errors else "")
        line += [f"{ratio(row, s, 'ms'):.2f}" if ratio(row, s, "ms") else "" for s in own]
        lines.append("| " + " | ".join(map(str, line)) + " |")
    lines.append("")
    for s in own:
        for key, name in (("ms", "wall time"), ("cpu_ms", "CPU time")):
            ratios = [r for r in (ratio(row, s, key) for row in rows) if r]
            if ratios:
                lines.append(f"Geometric mean of the better of eager and inductor over {s} by {name}: {geomean(ratios):.2f}.")
    return "\n".join(lines) + "\n"


def numbers(text):
    return [int(word) for word in text.split(",")]


def row_for(rows, name, batch, threads):
    """The row of `rows` of a model, which is added where it is missing."""
    of = {"model": name, "batch": batch, "threads": threads}
    for row in rows:
        if of.items() <= row.items():
            return row
    rows.append(of)
    return of


def kept_rows(path):
    if path and pathlib.Path(path).exists():
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["rows"]
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--systems", default="eager,inductor,tc")
    parser.add_argument("--batch", type=numbers, default=[1])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--seconds", type=float, default=3.0, help="of measuring a row")
    parser.add_argument("--phases", default="latency,first,fill,warm")
    parser.add_argument("--json", help="the rows; those that the file holds are kept")
    parser.add_argument("--markdown")
    parser.add_argument("--report", action="store_true", help="measure nothing, print the table of --json")
    parser.add_argument("--profile", action="store_true", help="print what each launch of tc takes, and measure nothing else")
    parser.add_argument("--first", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        name, system, batch, threads = options.first
        return first_call(name, system, int(batch), int(threads))
    warnings.simplefilter("ignore")
    systems, rows = options.systems.split(","), kept_rows(options.json)
    cases = [(n, b, t) for t in options.threads for b in options.batch for n in options.models.split(",")]
    if options.profile:
        for case in cases:
            print_profile(case[0], [s for s in systems if s.startswith("tc")], *case[1:], options.seconds)
        return None
    for case in [] if options.report else cases:
        row = row_for(rows, *case)
        run(row, systems, options)
        print(markdown([row], systems).splitlines()[2], flush=True)
        if options.json:
            text = json.dumps({"machine": machine.description(), "rows": rows}, indent=1)
            pathlib.Path(options.json).write_text(text, encoding="utf-8")
    text = markdown(rows, systems)
    print("\n" + text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
