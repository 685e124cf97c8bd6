"""Types of arguments that need nothing of the extension, whose own declarations name them."""

from __future__ import annotations

from typing import Any, Protocol, Sequence, Tuple, TypedDict, Union


class Array(Protocol):
    """A tensor of any library that gives its memory by DLPack."""

    def __dlpack__(self) -> Any: ...


Tensor = Union[Array, float]
"""What a def is called with: numbers are for parameters of rank 0."""
Out = Union[Array, Tuple[Array, ...], None]


class OptionFields(TypedDict, total=False):
    """The keywords of `tc.MappingOptions`."""

    fusion: str
    allow_skewing: bool
    positive_orthant: bool
    tile: Union[Sequence[int], str]
    promote: bool
    quota: int
    promote_bytes: int
    reduction_parts: int
    batch_invariant: bool
    nest: str
    parallel: bool
    vectorise: bool
    vector_bytes: int
    register_tile: Union[Sequence[int], str]
    unroll: int
    pack: bool
    reduction_block: int
    prefetch: bool
    prefetch_distance: int
    construct: str
    parallel_along: Union[Sequence[str], str]
    vector_along: Union[Sequence[str], str]
    grid: Union[Sequence[int], str]
    block: Union[Sequence[int], str]
    shared: bool
    registers: bool
    shared_bytes: int
    reduce_in_block: bool
    unroll_limit: int
    cooperative: bool
    gather_reuse: int
