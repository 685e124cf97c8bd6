"""Results of tunings as text, as HTML and as pictures."""

import html
import math
from typing import Dict, List, Sequence, Tuple

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 520, 190, 62, 34, 12
BLUE, GREY, LIGHT, FAIL = "#1f77b4", "#666", "#bbb", "#d62728"
LISTS = ("tile", "register_tile", "block", "grid")
FONT = "font-family='sans-serif' font-size='11'"


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it, with three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def levels(options) -> Dict[str, str]:
    """The options of a text by name, each number of several for itself, and numbers between two powers of two as one level.

    tile=8x9,pack=0    {"tile 1": "2^3", "tile 2": "2^3", "pack": "0"}
    """
    found = {}
    for option in filter(None, str(options).split(",")):
        name, value = option.split("=", 1)
        numbers = value.split("x") if all(part.isdigit() for part in value.split("x")) else []
        for i, number in enumerate(numbers):
            level = f"2^{int(number).bit_length() - 1}" if int(number) else "0"
            found[f"{name} {i + 1}" if name in LISTS else name] = level
        if not numbers:
            found[name] = value
    return found


def importance(candidates: Sequence) -> List[Tuple[str, float]]:
    """How much of the variance of log time each option explains by itself, the most important first.

    Candidates with the same level of an option are a group; the share is that of the variance between groups, less what groups
    of chance would have (omega squared, at least 0). Options that were not varied are left out. A search looks where times are
    low, so the shares tell about what it tried.
    """
    timed = [(levels(each.options), math.log(each.time)) for each in candidates if each.status in ("ok", "slow")]
    names = sorted({name for options, _ in timed for name in options})
    shares = [(name, _omega_squared([(options.get(name, ""), log) for options, log in timed])) for name in names]
    return sorted(shares, key=lambda item: (-item[1], item[0]))


def _omega_squared(points: Sequence[Tuple[str, float]]) -> float:
    """The share of the variance of the numbers that their labels explain, corrected for the number of labels."""
    groups: Dict[str, List[float]] = {}
    for label, value in points:
        groups.setdefault(label, []).append(value)
    count, mean = len(points), sum(value for _, value in points) / len(points)
    total = sum((value - mean) ** 2 for _, value in points)
    between = sum(len(values) * (sum(values) / len(values) - mean) ** 2 for values in groups.values())
    if len(groups) < 2 or count <= len(groups) or total == 0:
        return 0.0
    noise = (total - between) / (count - len(groups))
    return max(0.0, (between - (len(groups) - 1) * noise) / (total + noise))


def table(result) -> str:
    """The finalists, best first."""
    rows = [("time", "spread", "vs default", "options")]
    for each in result.finalists:
        options = (str(each.options) or "(default)") + (f" in layouts {each.layouts}" if each.layouts else "")
        rows.append((seconds_text(each.time), seconds_text(each.spread), f"{result.default.time / each.time:.2f}x", options))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[3]]) for row in rows]
    return "\n".join([*lines, *filter(None, [remark(result), usage(result), layouts_line(result), str(result.model or "")])])


def layouts_line(result) -> str:
    """The layouts that a joint tuning chose, and what converting costs; "" for other tunings."""
    if not result.tried:
        return ""
    measured = f"of {len(result.tried)} layouts, tried with {sum(each.measurements for each in result.tried)} candidates"
    if not result.layouts:
        return f"the plain layouts are the fastest {measured}"
    costs = "; ".join(f"{name} in {layout}, converted in {seconds_text(result.conversions[name])}" if name in result.conversions else f"{name} in {layout}" for name, layout in sorted(result.layouts.items()))
    return f"layouts, the fastest {measured}: {costs}"


def remark(result) -> str:
    """Why options that seem faster than the first ones did not win; "" where none do."""
    first, *behind = result.finalists
    return "options that seem faster than the first are not so beyond noise" if any(each.time < first.time for each in behind) else ""


def usage(result) -> str:
    """What calls take where that is not the winner; "" where it is."""
    if str(result.used) == str(result.best.options):
        return ""
    taken = str(result.used) or "the default options"
    why = "which go before these in the cache" if result.kept else "since no cache took these"
    return f"calls take {taken}, {why}"


def headline(result) -> str:
    """What came of it, in a line."""
    counts = ", ".join(f"{count} {status}" for status, count in sorted(result.counts().items(), key=lambda item: -item[1]))
    return f"{result.name}: {result.speedup:.2f}x the default after {result.elapsed:.1f} s, {result.generations} generations ({counts})"


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' role='img' {FONT}>"
        f"<title>{html.escape(title)}</title><rect width='100%' height='100%' fill='white'/>{''.join(body)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{GREY}'>{html.escape(text)}</text>"


def _round_numbers(low: float, high: float, fewest: int = 3) -> List[float]:
    """Numbers from `low` to `high` with one digit, or two: as few as make `fewest` of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: List[float] = []
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)):
        found = [digit * 10.0**decade for decade in decades for digit in digits if low <= digit * 10.0**decade <= high]
        if len(found) >= fewest:
            break
    return found


def _even_numbers(end: float, most: int = 6) -> List[float]:
    """0, 1, 2, ... or 0, 2, 4, ... or 0, 5, 10, ... of a decade, up to `end`."""
    decade = 10.0 ** math.floor(math.log10(end / most))
    step = next(step for step in (decade, 2 * decade, 5 * decade, 10 * decade) if end / step <= most)
    return [i * step for i in range(int(end / step) + 1)]


class _Axes:
    """Seconds since tuning began from left to right, seconds of a call from bottom to top by their logarithm; what takes longer
    than `high` is at the top."""

    def __init__(self, end: float, low: float, high: float):
        self.end, self.low, self.high = end, low, high
        self.bottom, self.right = HEIGHT - BOTTOM, WIDTH - 12

    def x(self, at: float) -> float:
        return LEFT + at / self.end * (self.right - LEFT)

    def y(self, time: float) -> float:
        return TOP + (1 - math.log(min(time, self.high) / self.low) / math.log(self.high / self.low)) * (self.bottom - TOP)

    def grid(self) -> List[str]:
        lines = []
        for time in _round_numbers(self.low, self.high):
            y = self.y(time)
            lines += [f"<path d='M{LEFT} {y:.1f}H{self.right}' stroke='#eee'/>", _text(LEFT - 6, y + 4, seconds_text(time), "end")]
        lines += [_text(self.x(at), self.bottom + 16, f"{at:g} s", "middle") for at in _even_numbers(self.end)]
        return lines

    def steps(self, points: Sequence[Tuple[float, float]]) -> str:
        """A path that keeps the time of a point until the next."""
        (at, time), *others = points
        path = f"M{self.x(at):.1f} {self.y(time):.1f}"
        return path + "".join(f"H{self.x(at):.1f}V{self.y(time):.1f}" for at, time in others)


def convergence_svg(result) -> str:
    """Every measured candidate as a point, the best time so far as a line, the default options as a dashed line."""
    timed = [each for each in result.candidates if each.status in ("ok", "slow")]
    if not timed:
        return ""
    default = result.candidates[0].time
    low, high = min(each.time for each in timed), min(max(each.time for each in timed), 3 * default)
    axes = _Axes(max(result.elapsed, 1e-9), low * 0.95, max(high, low * 1.2) * 1.05)
    best = result.convergence()
    caption = "line: the best so far; points: candidates, slower ones at the top"
    body = [
        *axes.grid(),
        *(f"<circle cx='{axes.x(each.at):.1f}' cy='{axes.y(each.time):.1f}' r='2' fill='{LIGHT}'/>" for each in timed),
        f"<path d='M{LEFT} {axes.y(default):.1f}H{axes.right}' stroke='{GREY}' stroke-dasharray='4 3'/>",
        _text(axes.right, axes.y(default) - 4, "default", "end"),
        f"<path d='{axes.steps([*best, (result.elapsed, best[-1][1])])}' fill='none' stroke='{BLUE}' stroke-width='2'/>",
        _text((LEFT + axes.right) / 2, HEIGHT - 4, caption, "middle"),
    ]
    return _svg("best time so far", HEIGHT, body)


def importance_svg(result, most: int = 8) -> str:
    """The options that explain most of the differences of time, as bars."""
    shares = [item for item in result.importance() if item[1] > 0.005][:most]
    if not shares:
        return ""
    label, step = 130, 18
    body = []
    for i, (name, share) in enumerate(shares):
        width = share / shares[0][1] * (WIDTH - label - 60)
        top = 6 + i * step
        body += [
            _text(label - 6, top + 11, name, "end"),
            f"<rect x='{label}' y='{top}' width='{width:.1f}' height='{step - 5}' fill='{BLUE}'/>",
            _text(label + width + 5, top + 11, f"{share:.0%}"),
        ]
    height = 6 + len(shares) * step + 20
    body.append(_text(WIDTH / 2, height - 6, "share of the variance of log time that an option explains by itself", "middle"))
    return _svg("importance of options", height, body)


def page(result) -> str:
    """The result as HTML, for notebooks: plots and the table of the finalists."""
    rows = ""
    for each in result.finalists:
        mark = " style='font-weight:bold'" if each is result.finalists[0] else ""
        options = html.escape(str(each.options)) or "<i>default</i>"
        rows += (
            f"<tr{mark}><td>{seconds_text(each.time)}</td><td>{seconds_text(each.spread)}</td>"
            f"<td>{result.default.time / each.time:.2f}&times;</td><td style='text-align:left'><code>{options}</code></td></tr>"
        )
    head = "<tr><th>time</th><th>spread</th><th>vs default</th><th style='text-align:left'>options</th></tr>"
    plots = "".join(f"<div>{plot}</div>" for plot in (convergence_svg(result), importance_svg(result)) if plot)
    note = f"<p>{html.escape(remark(result))}</p>" if remark(result) else ""
    return f"<div><p>{html.escape(headline(result))}</p><table style='white-space:nowrap'>{head}{rows}</table>{note}{plots}</div>"
