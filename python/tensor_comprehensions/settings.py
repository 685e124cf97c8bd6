"""What a compile is asked for: specs of tensors, options, caches and limits as the compiler takes them."""

import math
from typing import Optional, Sequence

from . import _core


def _dtype_name(dtype) -> str:
    """The language's name of a type given as text, as a NumPy type or as a torch type."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return {"bool_": "bool"}.get(name, name).rpartition(".")[2]


def spec(shape: Sequence[int], dtype="float32", strides: Optional[Sequence[int]] = None) -> _core.TensorSpec:
    """A tensor without data, for `infer` and `compile`. Strides count elements; without them the tensor is dense."""
    return _core.TensorSpec(list(shape), _dtype_name(dtype), None if strides is None else list(strides))


MODES = ("cached", "default", "tuned")


def _settings(target, options, cache, **limits) -> _core.Settings:
    """`options` and `cache` as `compile` takes them."""
    if isinstance(options, str) and options in MODES:
        limits["mapping_from"] = options
    elif isinstance(options, str):
        limits["mapping"] = _core.MappingOptions(options)
    else:
        limits["mapping"] = options
    if cache is False:
        limits["use_cache"] = False
    elif cache is not None:
        limits["cache"] = cache._core
    return _core.Settings(target=target, **limits)


def _memory_limit(limit: float) -> int:
    """`limit` in bytes as the compiler takes it: 0 for none."""
    if not limit >= 0:
        raise _core.OptionsError("a memory limit is a number of bytes that is not negative; 0: none")
    return 0 if math.isinf(limit) else int(limit)


def _settings_of(how: tuple) -> _core.Settings:
    """The settings that the keywords `how` of `define` make."""
    return _settings(**{"target": None, "options": None, "cache": None, **dict(how)})
