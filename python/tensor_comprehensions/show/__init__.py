"""One page about an executable: its text, ranges, nest, code, times and bytes, as HTML that needs nothing else."""

import html
import pathlib
import string
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from ..tuning_report import seconds_text
from . import charts

MOST_LINES = 1500
"""Of one panel; `explain()` prints all."""

ORDER = ("loop nest", "assembly", "CUDA")
"""The panels of code, side by side."""


def page(executable, seconds: Optional[float], launches: Sequence[Tuple[str, str, Optional[float]]]) -> str:
    """The page of `executable`: `seconds` is what a run took, None where none was measured; `launches` are the name of the part
    of each launch, the library call that it is, or "", and its microseconds, or None."""
    parts = executable._sections
    roofline = executable._position(seconds)
    body = [_head(executable, seconds, roofline)]
    overview = []
    if len(executable.graph.nodes) > 1:
        overview.append(_panel("graph", _graph_svg(executable), "graph"))
    if len(launches) > 1:
        overview.append(_panel("launches", charts.launches(launches)))
    if overview:
        body.append(f'<div class="grid measures">{"".join(overview)}</div>')
    drawn, measures = _roofline(executable, seconds, roofline), _measures(executable, seconds)
    if len(parts) == 1:
        body += [_part(0, parts[0], drawn), measures]
    else:
        text = _panel("comprehension", f"<pre>{html.escape(executable.comprehension)}</pre>")
        body += [f'<div class="grid">{text}{drawn}</div>', measures]
        body += [_folded(number, part) for number, part in enumerate(parts)]
    template = string.Template((pathlib.Path(__file__).parent / "page.html").read_text())
    return template.substitute(title=html.escape(f"{executable.name} for {executable.stats['target']}"), body="\n".join(body))


def _head(executable, seconds, roofline) -> str:
    facts = [("target", executable.stats["target"]), ("options", executable.stats["options"] or "default")]
    if seconds is not None:
        facts.append(("measured", seconds_text(seconds)))
    if roofline and roofline["predicted"]:
        facts.append(("predicted", seconds_text(roofline["predicted"])))
    if seconds is not None and roofline:
        facts.append(("bound by", roofline["bound"]))
    chips = "".join(f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts)
    return f'<header><h1>{html.escape(executable.name)}</h1><dl class="facts">{chips}</dl></header>'


def _panel(title: str, content: str, kind: str = "", note: str = "") -> str:
    small = f" <small>{html.escape(note)}</small>" if note else ""
    return f'<section class="panel {kind}"><h2>{html.escape(title)}{small}</h2>\n{content}</section>'


def _graph_svg(executable) -> str:
    return executable.graph.svg().replace(' xmlns="http://www.w3.org/2000/svg"', ' role="img" aria-label="graph"', 1)


class _Ids:
    """The statements of the text that statements of a part were made of, as the page calls them: "0-1" is statement 1 of part 0."""

    def __init__(self, number, part):
        self.number = number
        self.source = {each["id"]: each["source"] for each in part["statements"]}
        self.kinds = {each["id"]: f"{each['target']} {each['kind']}" for each in part["statements"]}
        self.iterators = {iterator["name"] for each in part["statements"] for iterator in each["iterators"]}

    def of(self, ids: Iterable[str]) -> List[str]:
        return sorted({f"{self.number}-{self.source[each]}" for each in ids if self.source.get(each, -1) >= 0})

    def attribute(self, ids: Iterable[str]) -> str:
        """`data-s` of an element that is about the statements `ids`, and the colour of the first."""
        names = self.of(ids)
        if not names:
            return ""
        hue = f' style="--hue:{_hue(names[0])}"' if len(names) == 1 else ""
        return f' data-s="{" ".join(names)}"{hue}'


def _hue(name: str) -> int:
    return (int(name.rpartition("-")[2]) * 137 + 205) % 360


def _folded(number: int, part: dict) -> str:
    """A part of several, that can be opened."""
    return f'<details class="part"{" open" if number == 0 else ""}><summary>part {html.escape(part["name"])}</summary>{_part(number, part)}</details>'


def _part(number: int, part: dict, beside: str = "") -> str:
    """The panels of a part; `beside` is the panel beside its text."""
    ids = _Ids(number, part)
    by_title: Dict[str, list] = {}
    for section in part["sections"]:
        by_title.setdefault(section["title"], []).append(section["lines"])
    text = _text(by_title.get("comprehension", []), ids)
    panels = [_panel("comprehension", f"{text}<h2>ranges</h2>{_ranges(by_title.get('ranges', []), ids)}", "" if beside else "wide"), beside]
    if part["nests"]:
        panels.append(_panel("nest", "".join(_nest(nest, ids) for nest in part["nests"]), "wide", "each box a loop, × its iterations"))
    panels += [_panel(title, _lines(by_title[title], ids), "code") for title in ORDER if title in by_title]
    for title in ("nest", "schedule"):
        if title in by_title:
            words = "nest as text" if title == "nest" else title
            panels.append(f'<details class="panel wide"><summary>{words}</summary>{_lines(by_title[title], ids)}</details>')
    return f'<div class="grid">{"".join(panels)}</div>'


def _text(sections, ids: _Ids) -> str:
    """The def, each statement to be pointed at, or reached by the tab key."""
    rows, seen = [], set()
    for text, statements in (line for lines in sections for line in lines):
        attribute, names = ids.attribute(statements), ids.of(statements)
        if names and names[0] not in seen:
            seen.update(names)
            attribute += f' id="s{names[0]}" tabindex="0" role="button"'
        rows.append(f'<span class="l"{attribute}>{_with_iterators(text, names, ids)}\n</span>')
    return f'<pre class="text">{"".join(rows)}</pre>'


def _with_iterators(text: str, names, ids: _Ids) -> str:
    """The text with its iterators as elements of their own, which light their loops."""
    if not names:
        return html.escape(text)
    pieces, word = [], ""
    for letter in text + "\0":
        if letter.isalnum() or letter == "_":
            word += letter
            continue
        if word:
            pieces.append(f'<b data-i="{word}">{word}</b>' if word in ids.iterators else word)
        word = ""
        pieces.append(html.escape(letter) if letter != "\0" else "")
    return "".join(pieces)


def _ranges(sections, ids: _Ids) -> str:
    rows = "".join(f'<span class="l"{ids.attribute(s)}>{_with_iterators(text, s, ids)}\n</span>' for lines in sections for text, s in lines)
    return f"<pre>{rows}</pre>"


def _lines(sections, ids: _Ids) -> str:
    """Panels of code: a line each, as far as there is room."""
    lines = [line for section in sections for line in section]
    shown = [(f"  {text[1:]}" if text.startswith("\t") else text, s) for text, s in lines[:MOST_LINES]]
    rows = [f'<span class="l"{ids.attribute(s)}>{html.escape(text)}\n</span>' for text, s in shown]
    if len(lines) > MOST_LINES:
        rows.append(f'<span class="l">… {len(lines) - MOST_LINES} more lines: explain() prints them\n</span>')
    return f'<pre tabindex="0">{"".join(rows)}</pre>'


def _nest(nest: dict, ids: _Ids) -> str:
    """The loops as boxes in boxes: the trunk outside, the branches beside each other inside."""
    below = [branch["statement"] for branch in nest["branches"]]
    branches = "".join(_branch(branch, ids) for branch in nest["branches"])
    drawn = f'<div class="branches">{branches}</div>'
    for step in reversed(nest["trunk"]):
        drawn = _box(step, drawn, below, ids) if step["is_loop"] else f'<div class="aside">{html.escape(step["text"])}</div>{drawn}'
    return f'<div class="nest">{drawn}</div>'


def _branch(branch: dict, ids: _Ids) -> str:
    statement = [branch["statement"]]
    kind = ids.kinds.get(branch["statement"], "")
    drawn = f'<div class="leaf"{ids.attribute(statement)}><b>{html.escape(branch["statement"])}</b> {html.escape(kind)}</div>'
    for step in reversed(branch["loops"]):
        drawn = _box(step, drawn, statement, ids) if step["is_loop"] else f'<div class="aside">{html.escape(step["text"])}</div>{drawn}'
    return drawn


def _box(step: dict, inside: str, below: Sequence[str], ids: _Ids) -> str:
    place = step["place"] or "serial"
    kind = "blocks" if place.startswith("grid") else place.partition(".")[0]
    index = step["index"].rpartition(".")[2]
    label = html.escape(step["text"].partition(" ")[0])
    return (
        f'<div class="box {kind}"{ids.attribute(below)} data-i="{html.escape(index)}" title="{html.escape(step["text"])}">'
        f'<div class="loop"><code>{label}</code> <b>×{step["iterations"]}</b> <i>{html.escape(place)}</i></div>{inside}</div>'
    )


def _roofline(executable, seconds, roofline) -> str:
    """The panel beside the text: the roofline, or for a GPU the price."""
    work = executable.work
    if roofline:
        return _panel("roofline", charts.roofline(work, roofline, seconds))
    words = f"<p>{work['flops']} FLOPs. Bytes are not predicted: {html.escape(str(work['not_predicted']))}.</p>"
    return _panel("price by term", charts.prices(work["prices"], seconds) + words)


def _measures(executable, seconds) -> str:
    work = executable.work
    panels = []
    if "bytes" in work:
        panels.append(_panel("bytes by level", charts.levels(work), note="predicted"))
    if work["prices"] and not executable._is_for_gpu:
        panels.append(_panel("price by term", charts.prices(work["prices"], seconds)))
    tensors = [(name, spec) for name, spec, _ in executable._arguments()] + list(executable._constants())
    panels.append(_panel("layouts", charts.layouts(tensors, executable.stats["layouts"]), note="dimensions from far to near in memory"))
    return f'<div class="grid measures">{"".join(panels)}</div>'
