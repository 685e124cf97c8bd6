"""report.json, report.md and logs.txt from what the sections left."""

import json
import math
import pathlib
import shutil
from typing import Dict, List, Optional

FAMILIES = ("gemm", "odd", "conv", "memory", "paper", "sgemm", "libraries", "attention")
INTERESTING = ("eager", "compile", "triton")


def read(path: pathlib.Path):
    """The content of a JSON file; nothing where there is none or half of one."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def lines_of(path: pathlib.Path) -> List[dict]:
    """The values of a file of a JSON line each; what there is of it."""
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except (OSError, ValueError):
        return []


def collected(plan, outcomes) -> dict:
    """All there is, as one value."""
    manifest = read(plan.layout.root / "manifest.json") or {}
    return {
        "dry_run": plan.dry,
        "bundle": {key: manifest[key] for key in ("commit", "compiler") if key in manifest},
        "machine": read(plan.results / "machine.json") or {},
        "sections": {name: {"status": o.status, "seconds": round(o.seconds, 1), "text": o.text} for name, o in outcomes.items()},
        "kernels": read(plan.results / "kernels.json") or [],
        "prices": read(plan.results / "prices.json") or {},
        "limits": read(plan.results / "limits.json") or {},
        "units": lines_of(plan.results / "units.jsonl"),
        "python": read(plan.results / "python.json") or {"rows": []},
        "models": read(plan.results / "models.json") or {"rows": []},
        "overhead": read(plan.results / "overhead.json") or {"rows": []},
        **{family: read(plan.results / f"{family}.json") or {"rows": []} for family in FAMILIES},
    }


def copy_rate(content: dict, family: str) -> Optional[float]:
    rates = content[family].get("copy_bytes_per_second")
    return max(rates) if rates else None


def times(row: dict, which: str, name: str) -> Optional[float]:
    """Median seconds of a candidate, "" for ours."""
    entry = row.get(which, {}).get(name)
    return entry and entry["median"]


def scaled(value: Optional[float], unit: float, digits: int = 1) -> str:
    return "-" if value is None else f"{value * unit:.{digits}f}"


def ratio(above: Optional[float], below: Optional[float]) -> Optional[float]:
    return above / below if above and below else None


def best_of_torch(row: dict, which: str) -> Optional[float]:
    """The faster of eager and torch.compile."""
    known = [times(row, which, name) for name in ("eager", "compile")]
    return min((t for t in known if t), default=None)


def table(header: List[str], rows: List[List[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def spread_text(row: dict, which: str) -> str:
    entry = row.get(which, {}).get("")
    return "-" if not entry else f"{100 * (entry['high'] - entry['low']) / entry['median']:.0f} %"


def bench_row(row: dict, rate: Optional[float]) -> List[str]:
    if "cold" not in row:
        facts = ", ".join(f"{k['registers']} registers, {k['spill_store_bytes']} B spilled" for k in row.get("kernels", [])[:1])
        return [row["case"], row["status"], facts] + [""] * 9
    ours = times(row, "cold", "")
    moved = row["bytes"] / ours if ours else None
    return [
        row["case"], row["status"], scaled(ours, 1e6), spread_text(row, "cold"),
        *(scaled(times(row, "cold", name), 1e6) for name in INTERESTING),
        scaled(ratio(best_of_torch(row, "cold"), ours), 1, 2), scaled(times(row, "warm", ""), 1e6),
        scaled(ratio(best_of_torch(row, "warm"), times(row, "warm", "")), 1, 2),
        scaled(ratio(row["flops"] or None, ours), 1e-12, 2), scaled(ratio(moved, rate), 100, 0),
    ]


def family_text(content: dict, family: str) -> str:
    header = ["case", "status", "us", "iqr", "eager us", "compile us", "Triton us", "torch / ours", "warm us", "warm torch / ours", "TFLOP/s", "% of copy"]
    rate = copy_rate(content, family)
    said = content.get("sections", {}).get(family, {}).get("text", "").partition("\n")[0]
    warning = f"{said}\n\n" if said.startswith("EVERY CASE DIED") else ""
    text = f"## {family}\n\n{warning}" + table(header, [bench_row(row, rate) for row in content[family]["rows"]])
    lines = [f"{row['case']}: {line}" for row in content[family]["rows"] for line in row.get("lines", [])]
    lines += content[family].get("notes", [])
    if "floor" in content[family]:
        lines.append(f"two events with nothing between them: {content[family]['floor']['median'] * 1e6:.1f} us")
    return text + "".join(f"\n* {line}" for line in lines) + "\n"


def overhead_text(content: dict) -> str:
    rows = [[row["case"], row["status"], scaled(row.get("host", {}).get("median"), 1e6, 2)] for row in content["overhead"]["rows"]]
    return "## call overhead\n\n" + table(["call", "status", "us of the host"], rows)


def models_text(content: dict) -> str:
    """A row for each model, beside what Inductor took for it in a row of its own; and what was left to torch, and why."""
    rows = content.get("models", {}).get("rows", [])
    inductor = {row["case"].removesuffix(", inductor"): row for row in rows if row["case"].endswith(", inductor")}
    own = [row for row in rows if not row["case"].endswith(", inductor")]
    if not own:
        return ""
    lines, table_rows = [], []
    for row in own:
        times = {**row.get("seconds", {}), **inductor.get(row["case"], {}).get("seconds", {})}
        best, theirs = times.get("tc, reduce-overhead"), inductor.get(row["case"], {}).get("first_call")
        table_rows.append([
            row["case"], row["status"], f"{row['error']:.1e}" if "error" in row else "-", str(row.get("launches", "-")),
            scaled(row.get("share"), 100), *(scaled(times.get(name), 1e3, 3) for name in ("eager", "inductor", "tc")), scaled(best, 1e3, 3),
            scaled(ratio(times.get("inductor"), times.get("tc")), 1, 2), scaled(row.get("first_call"), 1), scaled(theirs, 1)])
        lines += [f"{row['case']}: left {text}" for text in row.get("left", [])] + [f"{row['case']}: {text}" for text in row.get("warnings", [])]
        lines += [f"{row['case']}: not recorded: {row['graph_failed']}"] if "graph_failed" in row else []
    header = ["model", "status", "error", "launches", "% taken", "eager ms", "inductor ms", "tc ms", "tc, reduce-overhead ms", "inductor / tc",
              "first call s", "inductor's s"]
    return "## models\n\n" + table(header, table_rows) + "".join(f"\n* {line}" for line in lines) + "\n"


def geometric_mean(values: List[float]) -> Optional[float]:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def family_of(content: dict, family: str, *words: str) -> List[dict]:
    """The right rows of a family whose names have one of the words, all without words."""
    rows = [row for row in content[family]["rows"] if row["status"] == "ok"]
    return [row for row in rows if not words or any(word in row["case"] for word in words)]


def against_eager(row: dict) -> Optional[float]:
    """The time of eager over ours: warm where calls in a row were measured."""
    which = "warm" if times(row, "warm", "") and times(row, "warm", "eager") else "cold"
    return ratio(times(row, which, "eager"), times(row, which, ""))


def whole_of(content: dict, row: dict) -> Optional[dict]:
    """The row of the next whole sizes of an odd one."""
    return next((other for other in content["odd"]["rows"] if other["case"] == row["case"] + "-whole"), None)


def odd_ratio(content: dict, row: dict, name: str = "") -> Optional[float]:
    """The time of a candidate at odd sizes over its time at the next whole ones."""
    other = whole_of(content, row)
    return other and ratio(times(row, "cold", name), times(other, "cold", name))


def odd_text(content: dict) -> str:
    """What odd sizes cost."""
    rows = [row for row in content["odd"]["rows"] if whole_of(content, row)]
    cells = [[row["case"], scaled(times(row, "cold", ""), 1e6), scaled(times(whole_of(content, row), "cold", ""), 1e6),
              scaled(odd_ratio(content, row), 1, 2), scaled(odd_ratio(content, row, "eager"), 1, 2)] for row in rows]
    return "## odd sizes beside the next whole ones\n\n" + table(["case", "us", "whole us", "odd / whole", "eager's odd / whole"], cells)


def units_text(content: dict) -> str:
    """What instructions, loads and kernels written by hand reach."""
    rate = lambda row: row["operations"] / row["seconds"] * 1e-12 if "seconds" in row else None
    cells = [[row["case"], row["status"], scaled(row.get("seconds"), 1e6), scaled(rate(row), 1)] for row in content["units"]]
    return "## matrix units\n\n" + table(["kernel", "status", "us", "TFLOP/s, or TB/s of loads"], cells)


def goal_line(name: str, value: Optional[float], aim: float, unit: str, at_most: bool = False) -> List[str]:
    if value is None:
        return [name, "not measured", f"{aim:g} {unit}".strip(), "-"]
    met = value <= aim if at_most else value >= aim
    texts = [f"{value:.3g} {unit}".strip(), f"{'at most ' if at_most else ''}{aim:g} {unit}".strip()]
    return [name, *texts, "met" if met else "missed"]


def worst(content: dict, name: str, aim: float, family: str, *words: str, better=against_eager) -> List[str]:
    """The line of the worst row, by `better`."""
    pairs = [(better(row), row["case"]) for row in family_of(content, family, *words)]
    value, case = min((pair for pair in pairs if pair[0]), default=(None, ""))
    return goal_line(f"{name}, worst{f' ({case})' if case else ''}", value, aim, "")


def product_goals(content: dict) -> List[List[str]]:
    """Products by their sizes, odd ones beside whole ones."""
    odd = [odd_ratio(content, row) for row in family_of(content, "odd")]
    large = lambda kind: [f"/{kind}-{layout}-{extent}" for layout in ("nn", "nt", "tn", "tt") for extent in (2048, 4096, "8192x", "512x")]
    lines = [worst(content, f"{kind} products from 2048 on, eager / ours", 0.55, "gemm", *large(kind)) for kind in ("bf16", "f16")]
    return [*lines, worst(content, "products of halves of 1024, eager / ours", 0.85, "gemm", "-1024"),
            worst(content, "gated products, eager / ours", 0.55, "gemm", "swiglu"), worst(content, "fp32 products, eager / ours", 1.0, "sgemm"),
            goal_line("odd sizes, worst, time over that of the next whole size", max((v for v in odd if v), default=None), 1.2, "", at_most=True)]


def goals_text(content: dict) -> str:
    """The aims of the project for one GPU."""
    rate = copy_rate(content, "memory")
    memory = [row["bytes"] / times(row, "cold", "") / rate for row in family_of(content, "memory") if rate and times(row, "cold", "")]
    best = lambda row: ratio(best_of_torch(row, "warm"), times(row, "warm", "")) or ratio(best_of_torch(row, "cold"), times(row, "cold", ""))
    lookups = [times(row, "cold", "") for row in family_of(content, "paper", "2lut")]
    lines = [*product_goals(content),
             worst(content, "fp32 convolutions of 3×3, eager / ours", 0.8, "conv", "resnet-64", "resnet-128", "resnet-256", "resnet-512"),
             worst(content, "bf16 convolutions of 3×3, eager / ours", 0.6, "conv", "resnet-bf16"),
             worst(content, "depthwise convolutions, eager / ours", 1.5, "conv", "depthwise"),
             worst(content, "grouped convolutions, eager / ours", 1.5, "paper", "gconv"),
             goal_line("memory suite, geometric mean, share of copy bandwidth", geometric_mean(memory), 0.85, ""),
             goal_line("memory suite, worst, share of copy bandwidth", min(memory, default=None), 0.8, ""),
             worst(content, "the paper's kernels, torch / ours", 1.0, "paper", better=best),
             goal_line("2LUT", max(lookups) * 1e6 if lookups and all(lookups) else None, 12, "us", at_most=True)]
    hosts = [row.get("host", {}).get("median") for row in content["overhead"]["rows"] if row["case"] == "T.mm(A, B)"]
    lines.append(goal_line("call from Python", hosts[0] * 1e6 if hosts and hosts[0] else None, 4, "us", at_most=True))
    return "## aims\n\n" + table(["aim", "value", "wanted", ""], lines)


def kernels_text(content: dict) -> str:
    cases = [case for entry in content["kernels"] for case in entry["cases"]]
    if not cases:
        return ""
    bad = [f"* {entry['file']}: {case['status']} {case['text'].splitlines()[0][:200]}"
           for entry in content["kernels"] for case in entry["cases"] if case["status"] != "ok"]
    silent = [f"* {entry['file']}: {entry['error'][:200]}" for entry in content["kernels"] if entry["failed"] and not entry["cases"]]
    head = f"{len(content['kernels'])} programs, {len(cases)} cases, {sum(case['status'] == 'ok' for case in cases)} right"
    return f"## programs\n\n{head}\n\n" + "\n".join((bad + silent)[:60]) + "\n"


def python_text(content: dict) -> str:
    rows = content.get("python", {}).get("rows", [])
    if not rows:
        return ""
    count = lambda status: sum(row["status"] == status for row in rows)
    bad = [f"* {row['case']}: {row['status']}" for row in rows if row["status"] not in ("ok", "skipped")]
    return f"## torch tensors\n\n{len(rows)} tests, {count('ok')} right, {count('skipped')} skipped\n\n" + "\n".join(bad) + "\n"


def method_text(content: dict) -> str:
    if content["dry_run"]:
        return "A dry run: kernels were compiled for sm_90 and launched through a driver that runs nothing; no value and no time is a GPU's.\n"
    limits = content["limits"]
    rates = [f"{family} {copy_rate(content, family) / 1e12:.2f}" for family in FAMILIES if copy_rate(content, family)]
    peak = f"FFMA peak {limits['ffma_flops'] / 1e12:.1f} TFLOP/s, " if limits.get("ffma_flops") else ""
    return (
        f"{peak}copy of 2 GiB in the process of each family (TB/s, read and written): {', '.join(rates) or 'not measured'}.\n"
        "Times are of the device, by events, medians; `iqr` is the distance of the quartiles over the median. Cold: 256 MiB are read before each"
        " call. Warm: calls in a row, replayed from a graph, for cases of up to 32 MiB. Candidates take turns. No TF32 anywhere. Outputs are"
        " poisoned before and compared with float64 after a run. `torch / ours` has the faster of eager and torch.compile.\n"
    )


def markdown(content: dict) -> str:
    machine = content["machine"]
    gpu = machine.get("gpu", {})
    facts = [f"* GPU: {gpu.get('name') or gpu.get('missing', 'unknown')} {gpu.get('architecture', '')}, driver {machine.get('nvidia-smi', {}).get('driver_version', '-')}",
             f"* Python {machine.get('python', '-')}, {', '.join(f'{k} {v}' for k, v in machine.get('packages', {}).items())}",
             f"* {machine.get('c++', '')}, tree {content['bundle'].get('commit', 'in place')}"]
    status = [[name, entry["status"], f"{entry['seconds']:.0f}"] for name, entry in content["sections"].items()]
    failed = [f"### {name}: {entry['status']}\n\n```\n{entry['text'][-3000:]}\n```\n" for name, entry in content["sections"].items()
              if entry["status"] in ("failed", "timed out") and name not in FAMILIES]
    parts = ["# GPU report\n", "\n".join(facts) + "\n", table(["section", "status", "s"], status), method_text(content), goals_text(content)]
    parts += [family_text(content, family) for family in FAMILIES if content[family]["rows"]]
    parts += [units_text(content)] if content["units"] else []
    parts += [odd_text(content)] if content["odd"]["rows"] else []
    parts += [overhead_text(content)] if content["overhead"]["rows"] else []
    parts += [models_text(content)]
    return "\n".join(parts + [kernels_text(content), python_text(content)] + failed)


def write(results: pathlib.Path, plan, outcomes: Dict) -> None:
    content = collected(plan, outcomes)
    (results / "report.json").write_text(json.dumps(content, indent=1))
    (results / "report.md").write_text(markdown(content))
    for path in plan.results.glob("*.jsonl"):
        shutil.copyfile(path, results / path.name)
    with open(results / "logs.txt", "wb") as logs:
        for path in sorted(plan.results.glob("*.log")):
            logs.write(f"==== {path.stem}\n".encode() + path.read_bytes() + b"\n")
