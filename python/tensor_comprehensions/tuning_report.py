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
        options = str(each.options) or "(default)"
        rows.append((seconds_text(each.time), seconds_text(each.spread), f"{result.default.time / each.time:.2f}x", options))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join("  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[3]]) for row in rows)


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


def convergence_svg(result) -> str:
    """Every measured candidate as a point, the best time so far as a line, the default options as a dashed line."""
    timed = [each for each in result.candidates if each.status in ("ok", "slow")]
    if not timed:
        return ""
    low, high = min(each.time for each in timed), min(max(each.time for each in timed), 3 * result.candidates[0].time)
    low, high = low * 0.95, max(high, low * 1.2) * 1.05
    end = max(result.elapsed, 1e-9)
    bottom, right = HEIGHT - BOTTOM, WIDTH - 12

    def x(at):
        return LEFT + at / end * (right - LEFT)

    def y(time):
        return TOP + (1 - math.log(min(time, high) / low) / math.log(high / low)) * (bottom - TOP)

    body = []
    for tick in (low, math.sqrt(low * high), high):
        body += [f"<path d='M{LEFT} {y(tick):.1f}H{right}' stroke='#eee'/>", _text(LEFT - 6, y(tick) + 4, seconds_text(tick), "end")]
    body += [f"<circle cx='{x(each.at):.1f}' cy='{y(each.time):.1f}' r='2' fill='{LIGHT}'/>" for each in timed]
    default = y(result.candidates[0].time)
    body.append(f"<path d='M{LEFT} {default:.1f}H{right}' stroke='{GREY}' stroke-dasharray='4 3'/>")
    body.append(_text(right, default - 4, "default", "end"))
    path, last = "", None
    for at, time in [*result.convergence(), (result.elapsed, result.convergence()[-1][1])]:
        path += f"M{x(at):.1f} {y(time):.1f}" if last is None else f"L{x(at):.1f} {last:.1f}L{x(at):.1f} {y(time):.1f}"
        last = y(time)
    body.append(f"<path d='{path}' fill='none' stroke='{BLUE}' stroke-width='2'/>")
    body += [_text(x(end * part), bottom + 16, f"{end * part:.3g} s", "middle" if part < 1 else "end") for part in (0, 0.5, 1)]
    body.append(_text((LEFT + right) / 2, HEIGHT - 4, "time since tuning began; line: best so far, points: candidates", "middle"))
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
    return f"<div><p>{html.escape(headline(result))}</p><table>{head}{rows}</table>{plots}</div>"
