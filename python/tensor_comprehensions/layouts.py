"""Layouts of tensors: where their elements lie. See docs/layouts.md.

    tc.layout("NCHW16c")                                        by its name
    tc.layout("split(1, 16) reorder(0, 1, 3, 4, 2)")            by its text
    tc.layout.split(1, 16).reorder(0, 1, 3, 4, 2)               by its steps
"""

import dataclasses
from typing import TYPE_CHECKING, Dict, List, Mapping, Tuple, Union

from ._core import ArgumentError, Layout, layout_guideline, layout_template, named_layout
from .given import Given

if TYPE_CHECKING:
    from .function import Function


@dataclasses.dataclass(frozen=True)
class Tunable:
    """A tile size that is free: 1 leaves elements where they are, `extent` moves the whole dimension inwards."""

    name: str
    """The iterator; "K.o" is that of tensor K's own."""
    places: Tuple[Tuple[str, int], ...]
    """Tensors and the dimension of each."""
    extent: int

    def __str__(self):
        return f"{self.name}: 1 to {self.extent}, of {', '.join(f'{tensor} {dim}' for tensor, dim in self.places)}"


class Template:
    """The layouts of a def's operands with free tile sizes: called with these, in order or by name, it gives layouts for
    `tc.compile(..., layouts=)`. Sizes that are not named are 1. `counts` names numbers of tiles that make an outer tile."""

    def __init__(self, found):
        self._found = found
        self.tunables = [Tunable(name, tuple(places), extent) for name, places, extent in found.tunables]

    def __call__(self, *tiles: int, counts: Mapping[str, int] = {}, **named: int) -> Dict[str, Layout]:
        names = [t.name for t in self.tunables]
        named.update(zip(names, tiles))
        unknown = [name for name in [*named, *counts] if name not in names]
        if unknown or len(tiles) > len(names):
            raise ArgumentError(f"a template of the tile sizes {', '.join(names)} is given {', '.join(unknown) or len(tiles)}")
        return self._found.layouts([named.get(name, 1) for name in names], [counts.get(name, 1) for name in names])

    def __repr__(self):
        return "\n".join(map(str, self.tunables))


class Layouts:
    """Makes layouts: called with a text or a name, or by the first step."""

    def __call__(self, text: Union[str, Layout], dims: str = "") -> Layout:
        """The layout of `text`. `dims` are the letters of the tensor's own dimensions, where a name's are not N C D H W or G O I D H W."""
        return named_layout(str(text), dims) if dims else as_layout(text)

    def guideline(self, function: "Function", *tensors: Given, **named: Given) -> List[Tuple[Dict[str, Layout], float]]:
        """What the compiler's own code for `function` likes: pairs of layouts by name, for `tc.compile(..., layouts=)`, and the
        microseconds (model) that a run in them costs, the cheapest first. Copies into them are not counted; nothing runs."""
        return layout_guideline(function, list(function._in_order(*tensors, **named)))

    def template(self, function: "Function", *tensors: Given, **named: Given) -> Template:
        """The layouts of `function` for these tensors with free tile sizes, a Template, found in its access relations by one rule."""
        return Template(layout_template(function, list(function._in_order(*tensors, **named))))

    def __getattr__(self, step):
        if step.startswith("_"):
            raise AttributeError(step)
        return getattr(Layout("identity"), step)

    def __repr__(self):
        return "<tensor_comprehensions.layout>"


layout = Layouts()


def as_layout(value) -> Layout:
    """`value`, a layout or the text of one."""
    if isinstance(value, (Layout, str)):
        return value if isinstance(value, Layout) else Layout(value)
    raise ArgumentError(f"a layout is a tc.layout or its text, {type(value).__name__} was given")


def _permuted(tensor, order):
    return tensor.permute(order) if hasattr(tensor, "permute") else tensor.transpose(order)


def _is_dense(tensor) -> bool:
    if hasattr(tensor, "is_contiguous"):
        return tensor.is_contiguous()
    return tensor.flags["C_CONTIGUOUS"]


class LogicalView:
    """Takes a tensor without a layout as one in the permuted layout that its strides are, without a copy."""

    def __init__(self, order, shape):
        self.order, self.shape = order, tuple(shape)
        self.physical = tuple(shape[d] for d in order)

    @staticmethod
    def of(layout, tensor):
        order = layout._permutation() if layout is not None else None
        return None if order is None else LogicalView(order, tensor.shape)

    def __call__(self, tensor):
        shape = tuple(getattr(tensor, "shape", ()))
        if shape != self.shape or (shape == self.physical and _is_dense(tensor)):
            return tensor
        return _permuted(tensor, self.order)
