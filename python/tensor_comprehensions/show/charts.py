"""The pictures of a page about an executable, as HTML and SVG in the colours of the page."""

import html
import math
from typing import Dict, Optional, Sequence

from ..tuning_report import seconds_text


def bytes_text(count: float) -> str:
    """A number of bytes in the unit that suits it."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def bar(share: float, kind: str = "") -> str:
    """A bar of `share` of the width that it has."""
    return f'<div class="bar {kind}" style="width:{max(0.0, min(1.0, share)) * 100:.1f}%"></div>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'


def launches(entries) -> str:
    """The launches in order with what runs them, and the time of each where it is known."""
    total = sum(us or 0 for _, _, us in entries)
    rows = []
    for part, call, us in entries:
        spent = "" if us is None else seconds_text(us * 1e-6)
        rows.append((html.escape(part), html.escape(call.partition(":")[0] or "own code"), spent, bar((us or 0) / total) if total else ""))
    return _table(("part", "runs", "time", ""), rows)


def levels(work: dict) -> str:
    """What goes between each two levels of memory, and what each tensor has of it."""
    moved = {"arguments, each once": work["compulsory_bytes"], **dict(reversed(work["bytes"].items()))}
    most = max(each["read"] + each["written"] for each in moved.values()) or 1
    rows = []
    for name, each in moved.items():
        both = f'<div class="bars">{bar(each["read"] / most, "read")}{bar(each["written"] / most, "written")}</div>'
        rows.append((name, bytes_text(each["read"]), bytes_text(each["written"]), both))
    tensors = []
    for name, each in work["tensors"].items():
        tensors.append((html.escape(name), *(bytes_text(each[level]["read"] + each[level]["written"]) for level in reversed(work["bytes"]))))
    return _table(("between", "read", "written", ""), rows) + _table(("tensor", *reversed(work["bytes"])), tensors, "plain")


def prices(entries: Sequence[dict], seconds: Optional[float]) -> str:
    """The predicted time by its terms, beside the measured one."""
    predicted = sum(each["seconds"] for each in entries)
    most = max(predicted, seconds or 0) or 1
    rows = [("predicted", seconds_text(predicted), bar(predicted / most, "predicted"))]
    if seconds is not None:
        rows.append(("measured", seconds_text(seconds), bar(seconds / most, "measured")))
    terms: Dict[str, float] = {}
    for each in entries:
        for name, value in each["terms"].items():
            terms[name] = terms.get(name, 0) + value
    largest = max(terms.values(), default=0) or 1
    named = [(name, seconds_text(value), bar(value / largest)) for name, value in terms.items() if value > 0]
    where = "of one core" if any("cores" in each for each in entries) else "of one multiprocessor"
    return _table(("time", "", ""), rows) + _table((f"term, {where}", "", ""), named) + "<p>Terms overlap: they do not add up to the time.</p>"


def layouts(tensors, notes: Sequence[str]) -> str:
    """The dimensions of each tensor in the order of their strides, the fastest last."""
    rows = []
    for name, spec in tensors:
        order = sorted(range(len(spec.shape)), key=lambda d: -spec.strides[d])
        cells = "".join(
            f'<span class="dim{" near" if spec.strides[d] == 1 else ""}" title="stride {spec.strides[d]}">'
            f"<small>{d}</small>{spec.shape[d]}<small>·{spec.strides[d]}</small></span>"
            for d in order
        )
        rows.append((html.escape(name), spec.dtype, cells or "scalar"))
    words = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return _table(("tensor", "type", "number of the dimension, size · stride"), rows, "plain") + words


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 520, 280, 56, 16, 14, 40


class _Axes:
    """Two logarithmic axes."""

    def __init__(self, xs, ys):
        self.x0, self.x1 = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)))
        self.y0, self.y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def x(self, value):
        return LEFT + (math.log10(value) - self.x0) / (self.x1 - self.x0) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - (math.log10(value) - self.y0) / (self.y1 - self.y0) * (HEIGHT - BOTTOM - TOP)

    def grid(self) -> str:
        lines = []
        for power in range(self.x0, self.x1 + 1):
            x = self.x(10.0**power)
            lines.append(f'<path class="rule" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/><text x="{x:.1f}" y="{HEIGHT - 24}" text-anchor="middle">{10.0**power:g}</text>')
        for power in range(self.y0, self.y1 + 1):
            y = self.y(10.0**power)
            lines.append(f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
        return "".join(lines)


def roofline(work: dict, position: dict, seconds: Optional[float]) -> str:
    """The limits of the machine, and where the run stands below them, at the intensity between the third cache and memory."""
    peak, bandwidth, intensity = position["peak_gflops"], position["peak_gbytes"], work.get("intensity")
    if not (peak and bandwidth and intensity and work["flops"]):
        return "<p>No roofline: a limit of the machine, FLOPs or bytes are not known.</p>"
    points = [("predicted", position["predicted"]), ("measured", seconds)]
    points = [(name, work["flops"] / time / 1e9) for name, time in points if time]
    ridge = peak / bandwidth
    axes = _Axes([ridge / 30, ridge * 30, intensity / 2, intensity * 2], [peak * 1.5, *(rate / 2 for _, rate in points), peak / 100])
    left, right = 10.0**axes.x0, 10.0**axes.x1
    low = max(left, 10.0**axes.y0 / bandwidth)
    roof = f"M{axes.x(low):.1f} {axes.y(low * bandwidth):.1f}L{axes.x(ridge):.1f} {axes.y(peak):.1f}H{axes.x(right):.1f}"
    marks = "".join(
        f'<circle class="{name}" cx="{axes.x(intensity):.1f}" cy="{axes.y(rate):.1f}" r="{7 if name == "predicted" else 5}"><title>{name}: {rate:.3g} GFLOP/s</title></circle>'
        for name, rate in reversed(points)
    )
    key = "".join(f'<span class="key {name}">{name} {rate:.3g} GFLOP/s</span>' for name, rate in points)
    words = f"peak {peak:.3g} GFLOP/s and {bandwidth:.3g} GB/s in {position['threads']} thread{'s' if position['threads'] > 1 else ''}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="roofline">{axes.grid()}'
        f'<path class="roof" d="{roof}"/><path class="at" d="M{axes.x(intensity):.1f} {TOP}V{HEIGHT - BOTTOM}"/>{marks}'
        f'<text x="{(LEFT + WIDTH) / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">FLOPs a byte between L3 and memory: {intensity:.3g}</text>'
        f'<text x="{LEFT + 6}" y="{TOP + 12}">GFLOP/s</text></svg><p>{key} <span>{words}; a run that finds its data in a cache can lie above the slope</span></p>'
    )
