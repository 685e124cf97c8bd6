"""The graph behind an executable: what calls what, in which parts, as text and as a picture."""

import dataclasses
import html
from typing import Dict, Tuple

from . import _core


@dataclasses.dataclass(frozen=True)
class Node:
    """A call of a def, or statements that write one tensor."""

    name: str
    """Of the def it calls, or of the tensor that its statements write."""
    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]
    part: int
    """Nodes of one part run as one."""
    runs: str
    """"own code", a call of a library, or "folded": constants decide it, and no run computes it."""

    def __str__(self):
        return f"{', '.join(self.outputs)} = {self.name}({', '.join(self.inputs)})"


@dataclasses.dataclass(frozen=True)
class Graph:
    """What an executable runs, node by node. Printed a line each; notebooks show both the picture and the lines."""

    nodes: Tuple[Node, ...]
    tensors: Dict[str, _core.TensorSpec]
    """Types and shapes by name: a tensor in a layout has the shape behind it."""

    def __str__(self):
        calls = [str(node) for node in self.nodes]
        width = max(map(len, calls), default=0)
        return "\n".join(f"{node.part:4}  {call:{width}}  {node.runs.partition(':')[0]}" for node, call in zip(self.nodes, calls))

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"{self.svg()}<pre>{html.escape(str(self))}</pre>"

    def svg(self) -> str:
        """The picture as SVG: a box for each node, below those it reads from. Boxes of one part have one colour; what is folded
        has a dashed border, and calls of libraries a thick one. A box holds the shape of what it writes; the pointer on it shows what runs it."""
        return _Picture(self).svg()


_WIDTH, _HEIGHT, _GAP, _STEP = 176, 38, 24, 72
"""Of boxes, between boxes of a row, and from row to row: pixels."""


class _Picture:
    def __init__(self, graph: Graph):
        self.graph = graph
        self.writer = {name: place for place, node in enumerate(graph.nodes) for name in node.outputs}
        given = dict.fromkeys(name for node in graph.nodes for name in node.inputs if name not in self.writer)
        self.boxes = [*range(len(graph.nodes)), *given]
        self.rows = self._rows()
        self.places = self._places()

    def _sources(self, box):
        """The boxes that `box` reads from."""
        names = self.graph.nodes[box].inputs if isinstance(box, int) else ()
        return [(self.writer.get(name, name), name) for name in names]

    def _rows(self):
        """The row of each box: of a node one below its last source, of an input one above its first reader."""
        rows = {}
        for place in range(len(self.graph.nodes)):
            rows[place] = 1 + max((rows[source] for source, _ in self._sources(place) if isinstance(source, int)), default=0)
        for place in range(len(self.graph.nodes)):
            for source, _ in self._sources(place):
                if not isinstance(source, int):
                    rows[source] = min(rows.get(source, rows[place] - 1), rows[place] - 1)
        return rows

    def _places(self):
        """The middle of each box: boxes of a row in the order of the middles of their sources."""
        places = {}
        for row in range(max(self.rows.values(), default=0) + 1):
            members = [box for box in self.boxes if self.rows[box] == row]
            wish = {box: self._wish(box, places) for box in members}
            x = 0
            for box in sorted(members, key=wish.get):
                x = max(x + (_WIDTH + _GAP if x else _WIDTH / 2 + _GAP), wish[box])
                places[box] = (x, row * _STEP + _HEIGHT)
        return places

    def _wish(self, box, places):
        above = [places[source][0] for source, _ in self._sources(box) if source in places]
        return sum(above) / len(above) if above else 0

    def svg(self) -> str:
        width = max((x for x, _ in self.places.values()), default=0) + _WIDTH / 2 + _GAP
        height = max((y for _, y in self.places.values()), default=0) + _HEIGHT
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            'font-family="sans-serif" font-size="11" text-anchor="middle">'
        ]
        lines += [self._edge(box, source, name) for box in self.boxes for source, name in self._sources(box)]
        lines += [self._box(box) for box in self.boxes]
        return "\n".join([*lines, "</svg>"])

    def _edge(self, box, source, name):
        (x0, y0), (x1, y1) = self.places[source], self.places[box]
        y0, y1 = y0 + _HEIGHT / 2, y1 - _HEIGHT / 2
        bend = f"M{x0:g} {y0:g} C{x0:g} {y0 + 20:g} {x1:g} {y1 - 20:g} {x1:g} {y1:g}"
        return f'<path d="{bend}" fill="none" stroke="#888"><title>{html.escape(name)}</title></path>'

    def _box(self, box):
        x, y = self.places[box]
        if isinstance(box, int):
            node = self.graph.nodes[box]
            title, below, hint = node.name, self._shape(node.outputs[0]), f"part {node.part}: {node}: {node.runs}"
            fill = f"hsl({node.part * 47 % 360},60%,88%)"
            border = ' stroke-dasharray="4"' if node.runs == "folded" else "" if node.runs == "own code" else ' stroke-width="2.5"'
        else:
            title, below, hint, fill, border = box, self._shape(box), box, "#fff", ""
        text = lambda dy, words: f'<text x="{x:g}" y="{y + dy:g}">{html.escape(words)}</text>'
        rectangle = f'x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"'
        return (
            f'<g><title>{html.escape(hint)}</title><rect {rectangle} fill="{fill}" stroke="#444"{border}/>'
            f"{text(-3, title)}{text(12, below)}</g>"
        )

    def _shape(self, name):
        spec = self.graph.tensors.get(name)
        return f"{spec.dtype}{list(spec.shape)}" if spec else ""
