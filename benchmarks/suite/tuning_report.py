"""What tunings gained, as lines, as a page and as JSON."""

import json
import pathlib
from typing import Dict, List, Optional, Tuple

from .statistics import geomean, quantile

EQUAL = 0.01  # medians nearer than this are a draw


def load(path: pathlib.Path) -> Optional[dict]:
    """An earlier result; None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def milliseconds(time: dict) -> str:
    """The median, and the distance of the quartiles as a share of it."""
    return f"{time['median'] * 1e3:.4g} ± {(time['high'] - time['low']) / time['median'] / 2:.0%}"


def slower_beyond_noise(row: dict) -> bool:
    """Is even the fast quarter of the tuned samples slower than the slow quarter of the default ones?"""
    return row["tuned"]["low"] > row["default"]["high"]


def line(row: dict) -> str:
    """One tuning in one line."""
    if row["status"] != "ok":
        return f"{row['case']}: {row['status']}"
    found = f"{row['candidates']} candidates, 95 % after {row['seconds_to_95_percent']:.0f} s"
    if "price" in row:
        times = ", ".join(f"{name} {milliseconds(row[name])} ms" for name in ("default", "price", "genetic"))
        return f"{row['case']}: {times}; {row['price_candidates']} and {row['genetic_candidates']} candidates, {row['price_elapsed']:.0f} and {row['genetic_elapsed']:.0f} s"
    if "tuned" not in row:
        return f"{row['case']}: {row['speedup']:.2f}x, {found}"
    times = ", ".join(f"{name} {milliseconds(row[name])} ms" for name in ("default", "constructed", "tuned", "torch"))
    return f"{row['case']}: {times}; {found}; {row['options'] or 'the default options'}"


def rows_of(result: dict, part: str) -> List[dict]:
    return [row for row in result["rows"] if row["key"][0] == part and row["status"] == "ok"]


def over_tuned(row: dict, name: str) -> float:
    """The median time of the kernel `name` over that of the tuned one."""
    return row[name]["median"] / row["tuned"]["median"]


def gains_table(rows: List[dict]) -> List[str]:
    """Default, constructed, tuned, torch, and the means below."""
    budgets = sorted({row["key"][4] for row in rows})
    lines = [
        f"## Gains, {', '.join(f'{budget:g}' for budget in budgets)} s a case",
        "",
        "| case | default ms | constructed ms | tuned ms | torch ms | default / tuned | constructed / tuned | torch / tuned | 95 % after | candidates | options |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['case']} | {' | '.join(milliseconds(row[name]) for name in ('default', 'constructed', 'tuned', 'torch'))} "
            f"| {' | '.join(f'{over_tuned(row, name):.2f}' for name in ('default', 'constructed', 'torch'))} "
            f"| {row['seconds_to_95_percent']:.0f} s | {row['candidates']} | {row['options'] or 'default'} |"
        )
    slower = [row["case"] for row in rows if slower_beyond_noise(row)]
    gain, torch = (geomean(over_tuned(row, name) for row in rows) for name in ("default", "torch"))
    constructed = [1 / over_tuned(row, "constructed") for row in rows]
    waits = quantile([row["seconds_to_95_percent"] for row in rows], 0.5)
    return [
        *lines,
        "",
        f"Geometric means: {gain:.3f} times the default's speed, {torch:.2f} times torch's. Median time to 95 % of the best: {waits:.0f} s. "
        f"Slower than the default beyond noise: {', '.join(slower) or 'none'}.",
        "",
        f"Constructed: {geomean(constructed):.3f} of the tuned speed in the geometric mean, at least {min(constructed):.2f}, below 0.8 in "
        f"{sum(share < 0.8 for share in constructed)} of {len(constructed)} cases.",
        "",
        "± is half the distance of the quartiles. Tuned, constructed, default and torch are measured in turns in one process, each after 10 ms of calls.",
        "",
    ]


def best_candidate(row: dict) -> float:
    """The speed-up of the fastest candidate, as the search measured it, over the default options."""
    return row["convergence"][0][1] / row["convergence"][-1][1]


def medians(rows: List[dict]) -> Dict[str, Dict[str, Tuple[float, float, int]]]:
    """For each case and method the median speed-up over the default options after the finals, that of the fastest candidate, and the number of
    seeds."""
    found: Dict[str, Dict[str, List[Tuple[float, float]]]] = {}
    for row in rows:
        found.setdefault(row["case"], {}).setdefault(row["key"][2], []).append((row["speedup"], best_candidate(row)))

    def median(values: List[Tuple[float, float]], which: int) -> float:
        return quantile([value[which] for value in values], 0.5)

    return {case: {m: (median(v, 0), median(v, 1), len(v)) for m, v in each.items()} for case, each in found.items()}


def verdict(genetic: float, random: float) -> str:
    """Who wins by more than a draw."""
    if abs(genetic / random - 1) <= EQUAL:
        return "draw"
    return "genetic" if genetic > random else "random"


def tally(winners: List[str]) -> str:
    """How often each won."""
    count = {who: winners.count(who) for who in ("genetic", "draw", "random")}
    return f"genetic search wins {count['genetic']}, {count['draw']} are draws (within {EQUAL:.0%}), random search wins {count['random']}"


def methods_table(rows: List[dict]) -> List[str]:
    """Genetic against random search at equal budget."""
    lines = [
        f"## Genetic against random search, {rows[0]['key'][4]:g} s each",
        "",
        "| case | genetic | random | winner | after finals: genetic | random | winner | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    by_candidate, by_finals = [], []
    for case, found in medians(rows).items():
        if set(found) != {"genetic", "random"}:
            continue
        (gain, best, seeds), (other_gain, other_best, others) = found["genetic"], found["random"]
        by_candidate.append(verdict(best, other_best))
        by_finals.append(verdict(gain, other_gain))
        lines.append(
            f"| {case} | {best:.3f} | {other_best:.3f} | {by_candidate[-1]} | {gain:.3f} | {other_gain:.3f} | {by_finals[-1]} | {min(seeds, others)} |"
        )
    return [
        *lines,
        "",
        "Speed-up over the default options, the median of the seeds: of the fastest candidate as the search measured it, and of the winner of the finals, "
        f"which is the default itself unless others are faster beyond noise. Of {len(by_finals)} cases by the fastest candidate {tally(by_candidate)}; "
        f"after the finals {tally(by_finals)}.",
        "",
    ]


def prices_table(rows: List[dict]) -> List[str]:
    """What a search by price finds in a few measurements, beside a genetic search with a budget."""
    lines = [
        f"## Nests by price against options by genes, {rows[0]['key'][4]:g} s for genes",
        "",
        "| case | default ms | price ms | genetic ms | default / price | genetic / price | candidates: price | genetic | seconds: price | genetic |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]

    def over(row: dict, name: str) -> float:
        return row[name]["median"] / row["price"]["median"]

    for row in rows:
        lines.append(
            f"| {row['case']} | {' | '.join(milliseconds(row[name]) for name in ('default', 'price', 'genetic'))} "
            f"| {over(row, 'default'):.2f} | {over(row, 'genetic'):.2f} | {row['price_candidates']} | {row['genetic_candidates']} "
            f"| {row['price_elapsed']:.0f} | {row['genetic_elapsed']:.0f} |"
        )
    gain, share = (geomean(over(row, name) for row in rows) for name in ("default", "genetic"))
    return [
        *lines,
        "",
        f"Geometric means: the search by price gives {gain:.3f} times the default's speed, and {share:.3f} times the speed that genes find. Kernels are the fastest "
        "candidates of each search, measured in turns in one process.",
        "",
    ]


def seconds_to(row: dict, time: float) -> Optional[float]:
    """Seconds until a tuning had found a kernel that takes `time` or less."""
    return next((at for at, found in row["convergence"] if found <= time), None)


def rankings_table(rows: List[dict]) -> List[str]:
    """Rankings of candidates: the speed-up at the end, and the time until 95 % of the speed that the best of them reached."""
    names = list(dict.fromkeys(row["key"][2] for row in rows))
    lines = [
        f"## Rankings of candidates, {rows[0]['key'][4]:g} s each",
        "",
        "| case | seed | " + " | ".join(f"{name}: gain | 95 % after" for name in names) + " |",
        "|---|---|" + "---|" * (2 * len(names)),
    ]
    for case, seed in dict.fromkeys((row["case"], row["key"][3]) for row in rows):
        found = {row["key"][2]: row for row in rows if (row["case"], row["key"][3]) == (case, seed)}
        best = min(row["convergence"][-1][1] for row in found.values())
        cells = []
        for name in names:
            at = seconds_to(found[name], best / 0.95) if name in found else None
            cells.append(f"{found[name]['speedup']:.2f} | {'never' if at is None else f'{at:.0f} s'}" if name in found else " | ")
        lines.append(f"| {case} | {seed} | {' | '.join(cells)} |")
    means = [f"{name} {geomean(row['speedup'] for row in rows if row['key'][2] == name):.3f}" for name in names]
    return [*lines, "", f"Geometric means of the gains: {', '.join(means)}.", ""]


def page(result: dict) -> str:
    """The whole result as Markdown."""
    m = result["machine"]
    lines = ["# Tuning", "", f"{m['processor']}, {m['cores']} cores, `{m['target']}`, torch {m['torch']}.", ""]
    gains, methods, rankings, prices = (rows_of(result, part) for part in ("gains", "methods", "rankings", "prices"))
    if gains:
        lines += gains_table(gains)
    if methods:
        lines += methods_table(methods)
    if rankings:
        lines += rankings_table(rankings)
    if prices:
        lines += prices_table(prices)
    failed = [row for row in result["rows"] if row["status"] != "ok"]
    lines += [f"* {row['case']}: {row['status']}" for row in failed]
    return "\n".join(lines).rstrip() + "\n"


def write_page(result: dict, path: pathlib.Path) -> None:
    path.write_text(page(result), encoding="utf-8")
