"""Are goals met, and by how much: of one row, and of groups of rows."""

from typing import Dict, List, Optional

from .case import Goal
from .statistics import geomean

PASS, AIM, MISS, SHORT, UNKNOWN = "pass", "aim", "miss", "short", "-"


def verdict(value: Optional[float], must: Optional[float], aim: Optional[float]) -> str:
    """AIM: even the hoped threshold is met; PASS: the acceptance threshold; MISS: not even that; UNKNOWN: no value.

    A goal without `must` cannot be missed: below its aim it is SHORT.
    """
    if value is None:
        return UNKNOWN
    if aim is not None and value >= aim:
        return AIM
    if must is not None and value < must:
        return MISS
    return PASS if must is not None else SHORT


def judged(
    metric: str, value: Optional[float], must: Optional[float], aim: Optional[float], at_most: bool = False
) -> dict:
    """One judged value. `margin` is the value over its threshold minus 1: negative by how much the goal is missed.

    With `at_most` smaller is better: times.
    """
    threshold = must if must is not None else aim
    margin = None
    if value is not None and threshold:
        margin = threshold / value - 1 if at_most else value / threshold - 1
    negated = (lambda number: None if number is None else -number) if at_most else (lambda number: number)
    return {
        "metric": metric,
        "value": value,
        "must": must,
        "aim": aim,
        "margin": margin,
        "at_most": at_most,
        "verdict": verdict(negated(value), negated(must), negated(aim)),
    }


def metric_value(metric: str, row: dict) -> Optional[float]:
    """The value of a metric in a measured row, None where it was not measured."""
    ours, peers = row["ours"]["median"], {name: peer["median"] for name, peer in row["peers"].items()}
    if metric == "peak":
        return row["flops"] / ours / 1e9 / row["peak_gops"] if row.get("peak_gops") else None
    if metric == "copy":
        return row["bytes"] / ours / 1e9 / row["copy_gbs"] if row.get("copy_gbs") else None
    if "eager" not in peers:
        return None
    if metric == "eager":
        return peers["eager"] / ours
    compiled = [time for name, time in peers.items() if name.startswith("compile")]
    return min([peers["eager"], *compiled]) / ours if compiled else None


def judge_row(goals: List[Goal], row: dict) -> List[dict]:
    """All goals of a row. The thresholds are for one thread; rows of several threads are not judged."""
    if row["threads"] != 1:
        return []
    peakless = not row.get("peak_gops")
    return [
        judged(g.metric, metric_value(g.metric, row), g.must, g.aim)
        for g in goals
        if not (g.metric == "peak" and peakless)
    ]


def measured(rows: List[dict], prefix: str, threads: int = 1) -> List[dict]:
    """The rows of cases whose names begin with `prefix`, at a number of threads."""
    return [
        row for row in rows if row["case"].startswith(prefix) and row["threads"] == threads and row["status"] == "ok"
    ]


def odd_sizes(rows: List[dict]) -> List[dict]:
    """Worst over best rate of the odd matrix products."""
    rates = [row["flops"] / row["ours"]["median"] for row in measured(rows, "odd/")]
    return (
        [judged(f"{len(rates)} odd sizes: worst/best rate", min(rates) / max(rates), 0.7, 0.85)]
        if len(rates) > 1
        else []
    )


def contraction_mean(rows: List[dict]) -> List[dict]:
    """The geometric mean over the contractions that have goals."""
    ratios = [
        row["peers"]["eager"]["median"] / row["ours"]["median"]
        for row in measured(rows, "contractions/")
        if row["goals"]
    ]
    return [judged(f"{len(ratios)} contractions: geomean over einsum", geomean(ratios), None, 1.3)] if ratios else []


def scaling(rows: List[dict], threads: int) -> List[dict]:
    """Speed-up by threads of the large cases, as a share of the peak loop's own."""
    found = []
    one = {row["case"]: row for row in measured(rows, "") if row.get("scaling")}
    for row in measured(rows, "", threads):
        base = one.get(row["case"])
        if base and base.get("rested_gops") and row.get("rested_gops") and threads > 1:
            speedup = base["ours"]["median"] / row["ours"]["median"]
            share = speedup / (row["rested_gops"] / base["rested_gops"])
            found.append(judged(f"{threads} threads over 1: {row['case']}", share, 0.85, 0.95))
    return found


def compile_times(latency: Dict[str, float]) -> List[dict]:
    """Compile times against their thresholds."""
    thresholds = {"compile_small_ms": (80, 50), "compile_matmul_1024_ms": (130, 80), "compile_mlp3_ms": (400, 200)}
    return [
        judged(name, latency[name], must, aim, at_most=True)
        for name, (must, aim) in thresholds.items()
        if name in latency
    ]


def judge_groups(rows: List[dict], threads: int, latency: Dict[str, float]) -> List[dict]:
    """All goals that are about more than one row."""
    return odd_sizes(rows) + contraction_mean(rows) + scaling(rows, threads) + compile_times(latency)
