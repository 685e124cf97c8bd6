"""What defs are compiled for: tensors, or specs of tensors without data."""

from typing import Optional, Sequence, Tuple, Union

from . import _core
from .typed import Array

Given = Union[Array, _core.TensorSpec]
"""What a def is compiled for."""
OutGiven = Union[Given, Tuple[Given, ...], None]
Dims = Union[int, Sequence[Union[int, None]]]


def _dtype_name(dtype) -> str:
    """The language's name of a type given as text, as a NumPy type or as a torch type."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return {"bool_": "bool"}.get(name, name).rpartition(".")[2]


def spec(shape: Sequence[int], dtype="float32", strides: Optional[Sequence[int]] = None) -> _core.TensorSpec:
    """A tensor without data, for `infer` and `compile`. Strides count elements; without them the tensor is dense."""
    return _core.TensorSpec(list(shape), _dtype_name(dtype), None if strides is None else list(strides))
