"""Types of the public functions, for checkers of types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Protocol, Sequence, Tuple, Union

from . import _core

if TYPE_CHECKING:
    from .cache import Cache


class Array(Protocol):
    """A tensor of any library that gives its memory by DLPack."""

    def __dlpack__(self) -> Any: ...


Tensor = Union[Array, float]
"""What a def is called with: numbers are for parameters of rank 0."""
Given = Union[Array, _core.TensorSpec]
"""What a def is compiled for."""
Out = Union[Array, Tuple[Array, ...], None]
OutGiven = Union[Given, Tuple[Given, ...], None]
Options = Union[str, _core.MappingOptions, None]
AnyCache = Union["Cache", bool, None]
Layouts = Union[str, Mapping[str, Union[str, _core.Layout]], None]
Names = Union[str, Iterable[str]]
Dims = Union[int, Sequence[Union[int, None]]]
