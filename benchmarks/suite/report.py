"""Results as a table and as JSON."""

import json
import pathlib
from typing import List, Optional

from .acceptance import AIM, MISS, PASS, SHORT, UNKNOWN

MARKS = {AIM: "AIM ", PASS: "pass", MISS: "MISS", SHORT: " .. ", UNKNOWN: "  - "}


def number(value: Optional[float], form: str, width: int) -> str:
    """A number, or blanks."""
    return format(value, form).rjust(width) if value is not None else " " * width


def milliseconds(time: Optional[dict]) -> str:
    return number(time and time["median"] * 1e3, ".4g", 9)


def goal_text(goal: dict) -> str:
    """One judged goal: mark, metric, value and thresholds, and by how much the acceptance threshold is missed."""
    percent = goal["metric"] in ("peak", "copy")
    form = ".0%" if percent else ".2f"
    value = "?" if goal["value"] is None else format(goal["value"], form)
    thresholds = "/".join(
        "-" if t is None else format(t, form if not goal["at_most"] else ".0f") for t in (goal["must"], goal["aim"])
    )
    missed = f" ({goal['margin']:+.0%})" if goal["verdict"] == MISS else ""
    return f"{MARKS[goal['verdict']]} {goal['metric']} {value} of {thresholds}{missed}"


def row_text(row: dict) -> str:
    """One line of the table."""
    head = f"{row['case']:36}{row['threads']:3}"
    if "ours" not in row:
        return f"{head}  {row['status']}"
    ours, eager = row["ours"], row["peers"].get("eager")
    compiled = [peer for name, peer in row["peers"].items() if name.startswith("compile")]
    best = min(compiled, key=lambda peer: peer["median"]) if compiled else None
    rate = row["flops"] / ours["median"] / 1e9 if row["flops"] else None
    share = rate / row["peak_gops"] if rate and row.get("peak_gops") else None
    rested = rate / row["rested_gops"] if rate and row.get("rested_gops") else None
    spread = (ours["high"] - ours["low"]) / ours["median"]
    cells = [
        head,
        milliseconds(ours),
        number(spread, ".0%", 5),
        milliseconds(eager),
        milliseconds(best),
        number(eager and eager["median"] / ours["median"], ".2f", 8),
        number(rate, ".4g", 8),
        number(share, ".0%", 6),
        number(rested, ".0%", 7),
        number(row["bytes"] / ours["median"] / 1e9, ".3g", 7),
        number(row["error"], ".2f", 6),
        number(row["compile_ms"], ".0f", 6),
    ]
    state = "" if row["status"] == "ok" else f"  {row['status'].upper()}"
    if row.get("fallbacks"):
        state += f"  simpler schedule: {', '.join(map(str, row['fallbacks']))};"
    return "".join(cells) + state + "  " + "; ".join(goal_text(goal) for goal in row["goals"])


HEADER = (
    f"{'case':36}{'thr':>3}{'ms':>9}{'iqr':>5}{'eager ms':>9}{'compile':>9}{'/ eager':>8}{'GFLOP/s':>8}{'peak':>6}{'rested':>7}"
    f"{'GB/s':>7}{'error':>6}{'comp':>6}  goals (value of must/aim)"
)


def group_text(goal: dict) -> str:
    return f"{MARKS[goal['verdict']]} {goal['metric']}: {goal['value']:.2f} of " + "/".join(
        "-" if t is None else f"{t:g}" for t in (goal["must"], goal["aim"])
    )


def table(result: dict) -> str:
    """The whole result as text."""
    lines = ["machine"]
    lines += [f"  {name}: {value}" for name, value in result["machine"].items()]
    lines += [f"  {name}: {value:.1f}" for name, value in result["limits"].items()]
    for threads in sorted({row["threads"] for row in result["rows"]}):
        lines += ["", HEADER] + [row_text(row) for row in result["rows"] if row["threads"] == threads]
    extra = [
        (row, name)
        for row in result["rows"]
        for name in row["peers"]
        if name not in ("eager", "compile", "compile-max")
    ]
    if extra:
        lines += ["", "other peers: their time over ours"]
        lines += [
            f"  {row['case']:34}{row['threads']:3} {name}: {row['peers'][name]['median'] / row['ours']['median']:.2f}"
            for row, name in extra
        ]
    if result["latency"]:
        lines += ["", "latency"] + [f"  {name}: {value:.2f}" for name, value in result["latency"].items()]
    if result["groups"]:
        lines += ["", "goals of groups (value of must/aim)"] + ["  " + group_text(goal) for goal in result["groups"]]
    return "\n".join(lines + ["", summary(result)])


def all_goals(result: dict) -> List[dict]:
    return [goal for row in result["rows"] for goal in row["goals"]] + result["groups"]


def summary(result: dict) -> str:
    """Counts of verdicts and of rows that are wrong or failed."""
    verdicts = [goal["verdict"] for goal in all_goals(result)]
    bad = [row["case"] for row in result["rows"] if row["status"] != "ok"]
    text = (
        f"{len(result['rows'])} rows; goals: {verdicts.count(AIM)} at their aim, {verdicts.count(PASS)} passed, "
        f"{verdicts.count(MISS)} missed, {verdicts.count(SHORT)} short of an aim only, {verdicts.count(UNKNOWN)} not measured"
    )
    return text + (f"; wrong or failed: {', '.join(bad)}" if bad else "")


def with_earlier(result: dict, path: str) -> dict:
    """The result and, from the file of an earlier one, what it does not hold itself; groups are not joined here."""
    earlier = json.loads(pathlib.Path(path).read_text()) if pathlib.Path(path).exists() else {"rows": [], "latency": {}}
    new = {row["case"] for row in result["rows"]}
    return {
        **result,
        "rows": [row for row in earlier["rows"] if row["case"] not in new] + result["rows"],
        "latency": {**earlier["latency"], **result["latency"]},
    }


def write_json(result: dict, path: str) -> None:
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    unfinished = pathlib.Path(f"{path}.new")
    unfinished.write_text(json.dumps(result, indent=1) + "\n")
    unfinished.replace(path)
