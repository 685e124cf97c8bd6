"""What a compile is asked for: specs of tensors, options, caches and limits as the compiler takes them."""

import numbers
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
        limits["cache"] = getattr(cache, "_core", cache)
    limits["target"] = target
    limits["dynamic"] = set(limits.get("dynamic", ()))
    try:
        return _core.Settings(**limits)
    except _core.ArgumentError:
        raise _core.OptionsError(_wrong_setting(limits)) from None


def _wrong_setting(limits) -> str:
    """What is wrong with settings that the compiler does not take."""
    for name, value in limits.items():
        try:
            _core.Settings(**{name: value})
        except _core.ArgumentError as error:
            return f"{ {'mapping': 'options'}.get(name, name) } is of a wrong type, or beyond all limits: {error}"
    return "settings of wrong types"


def _number(value, name: str, least, kind=numbers.Real):
    """`value`, a number of `kind` from `least` on. OptionsError for anything else."""
    if not isinstance(value, kind) or not value >= least:
        words = "a whole number" if kind is numbers.Integral else "a number"
        raise _core.OptionsError(f"{name} is {words} from {least} on, {value if isinstance(value, numbers.Number) else type(value).__name__} was given")
    return value


def _memory_limit(limit: float) -> int:
    """`limit` in bytes as the compiler takes it: 0 for none, and for more than there can be."""
    if not isinstance(limit, numbers.Real) or not limit >= 0:
        raise _core.OptionsError("a memory limit is a number of bytes that is not negative; 0: none")
    return 0 if limit >= 2**63 else int(limit)


def _settings_of(how: tuple) -> _core.Settings:
    """The settings that the keywords `how` of `define` make."""
    return _settings(**{"target": None, "options": None, "cache": None, **dict(how)})
