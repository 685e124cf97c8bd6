"""Draws a result: speed beside the peers, shares of the peaks, odd sizes. Needs matplotlib."""

import pathlib
from typing import List

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

from .acceptance import measured  # noqa: E402

MEANINGS = {
    "aim": "aim met",
    "pass": "threshold met",
    "miss": "threshold missed",
    "short": "below an aim",
    "-": "not measured",
    "none": "no threshold",
}
COLOURS = {
    "aim": "#1a7f37",
    "pass": "#7ac77f",
    "miss": "#d1495b",
    "short": "#e0b04a",
    "-": "#9aa0a6",
    "none": "#5b7fa6",
}
ORDER = ("miss", "short", "pass", "aim", "-")


def worst_verdict(row: dict) -> str:
    """The verdict that colours a row's bar: of its goals the one furthest from its aim."""
    verdicts = [goal["verdict"] for goal in row["goals"]]
    return next((verdict for verdict in ORDER if verdict in verdicts), "none")


def bars(axes, rows: List[dict], values: List[float], label: str) -> None:
    """Horizontal bars, the first row on top, with their values beside them."""
    places = range(len(rows))
    axes.barh(places, values, color=[COLOURS[worst_verdict(row)] for row in rows], height=0.75)
    axes.set_yticks(places, [row["case"] for row in rows], fontsize=7)
    for place, value in zip(places, values):
        axes.text(value, place, f" {value:.2f}", va="center", fontsize=6)
    axes.invert_yaxis()
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    used = [verdict for verdict in MEANINGS if any(worst_verdict(row) == verdict for row in rows)]
    axes.legend(
        [Patch(color=COLOURS[verdict]) for verdict in used],
        [MEANINGS[verdict] for verdict in used],
        fontsize=6,
        loc="lower right",
    )


def save(figure, folder: pathlib.Path, name: str) -> None:
    figure.tight_layout()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def speedups(rows: List[dict], folder: pathlib.Path, threads: int) -> None:
    """Time of torch eager over ours; where torch.compile was measured, a mark at its own speed-up over eager."""
    rows = [row for row in rows if row["family"] != "odd" and "eager" in row["peers"]]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.19 * len(rows)))
    bars(
        axes,
        rows,
        [row["peers"]["eager"]["median"] / row["ours"]["median"] for row in rows],
        f"speed relative to torch eager, {threads} thread{'s' * (threads > 1)}; mark: torch.compile",
    )
    for place, row in enumerate(rows):
        compiled = [peer["median"] for name, peer in row["peers"].items() if name.startswith("compile")]
        if compiled:
            axes.plot(row["peers"]["eager"]["median"] / min(compiled), place, "k|", markersize=9)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    save(figure, folder, f"speedup_{threads}t")


def peak_shares(rows: List[dict], folder: pathlib.Path, threads: int) -> None:
    """Share of the multiply-add peak."""
    rows = [row for row in rows if row["family"] != "odd" and row["flops"] and row.get("peak_gops")]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.19 * len(rows)))
    bars(
        axes,
        rows,
        [row["flops"] / row["ours"]["median"] / 1e9 / row["peak_gops"] for row in rows],
        f"share of the multiply-add peak, {threads} thread{'s' * (threads > 1)}",
    )
    axes.axvline(1, color="black", linewidth=0.8)
    save(figure, folder, f"peak_{threads}t")


def odd_sizes(rows: List[dict], folder: pathlib.Path, threads: int) -> None:
    """Rate over work of the odd matrix products, ours and torch's."""
    rows = [row for row in rows if row["family"] == "odd"]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(7, 4))
    work = [row["flops"] for row in rows]
    axes.scatter(
        work, [row["flops"] / row["ours"]["median"] / 1e9 for row in rows], s=14, label="tensor comprehensions"
    )
    with_eager = [row for row in rows if "eager" in row["peers"]]
    axes.scatter(
        [row["flops"] for row in with_eager],
        [row["flops"] / row["peers"]["eager"]["median"] / 1e9 for row in with_eager],
        s=14,
        marker="x",
        label="torch eager",
    )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("floating-point operations of a product")
    axes.set_ylabel(f"GFLOP/s, {threads} thread{'s' * (threads > 1)}")
    axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, folder, f"odd_{threads}t")


def draw(result: dict, folder: str) -> None:
    """One SVG file a picture into `folder`."""
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for threads in sorted({row["threads"] for row in result["rows"]}):
        rows = measured(result["rows"], "", threads)
        for picture in (speedups, peak_shares, odd_sizes):
            picture(rows, path, threads)
