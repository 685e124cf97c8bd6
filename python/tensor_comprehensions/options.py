"""How defs are compiled: one value for the keywords of `define` and `compile`."""

import dataclasses
import numbers
from typing import Any, Dict, Iterable, Mapping, Optional, Union

from . import _core
from .cache import Cache

MappingChoice = Union[str, _core.MappingOptions, None]
AnyCache = Union[Cache, bool, None]
Layouts = Union[str, Mapping[str, Union[str, _core.Layout]], None]
Names = Union[str, Iterable[str]]

MODES = ("cached", "default", "tuned")


@dataclasses.dataclass(frozen=True)
class Options:
    """How defs are compiled; `compile` describes the fields. Raises OptionsError for values that the compiler does not take."""

    target: Optional[str] = None
    options: MappingChoice = None
    cache: AnyCache = None
    partition: str = "auto"
    libraries: str = "none"
    layouts: Optional[str] = None
    """Of tensors between nodes. None: those that suit `libraries`."""
    derive: int = 0
    fold_scales: bool = False
    schedule: Optional[str] = None
    nest: Optional[str] = None
    time_limit: float = 0.0
    memory_limit: float = 0
    dynamic: Names = ()

    def __post_init__(self):
        object.__setattr__(self, "dynamic", _size_names(self.dynamic))
        self.settings()

    def settings(self) -> _core.Settings:
        """The same as the compiler takes it."""
        values: Dict[str, Any] = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["memory_limit"] = _memory_limit(self.memory_limit)
        values["dynamic"] = set(self.dynamic)
        values["layouts"] = self.layouts if self.layouts is not None else _layouts_for(self.libraries)
        values |= {**_mapping(values.pop("options")), **_cache(values.pop("cache"))}
        try:
            return _core.Settings(**values)
        except _core.ArgumentError:
            raise _core.OptionsError(_wrong(values)) from None


def _mapping(options: MappingChoice) -> Dict[str, Any]:
    if isinstance(options, str):
        return {"mapping_from": options} if options in MODES else {"mapping": _core.MappingOptions(options)}
    return {"mapping": options}


def _cache(cache: AnyCache) -> Dict[str, Any]:
    if cache is False:
        return {"use_cache": False}
    return {} if cache is None else {"cache": getattr(cache, "_core", cache)}


def _layouts_for(libraries: str) -> str:
    """The layouts of tensors between nodes: a library that is asked for by name gets those that it would copy to else."""
    if str(libraries).split(":")[0] == "measured":
        return "measured"
    return "constants" if str(libraries).split(":")[0] in ("none", "auto") else "resolve"


def _wrong(values: Dict[str, Any]) -> str:
    """Which of `values` the compiler does not take, and why."""
    for name, value in values.items():
        try:
            _core.Settings(**{name: value})
        except _core.ArgumentError as error:
            return f"{ {'mapping': 'options'}.get(name, name) } is of a wrong type, or beyond all limits: {error}"
    return "settings of wrong types"


def _size_names(dynamic: Names) -> tuple:
    """The names of sizes in `dynamic`: a text ("B,T") or several. OptionsError for what no size can be called."""
    names = dynamic.split(",") if isinstance(dynamic, str) else dynamic
    try:
        names = tuple(sorted({name.strip() for name in names}))
    except (TypeError, AttributeError):
        raise _core.OptionsError(f"dynamic names sizes, as in 'B,T': {type(dynamic).__name__} was given") from None
    for name in names:
        if not name.isidentifier():
            raise _core.OptionsError(f"dynamic names sizes, as in 'B,T': {name!r} is no name")
    return names


def _memory_limit(limit: float) -> int:
    """`limit` in bytes as the compiler takes it: 0 for none, and for more than there can be."""
    if not isinstance(limit, numbers.Real) or not limit >= 0:
        raise _core.OptionsError("a memory limit is a number of bytes that is not negative; 0: none")
    return 0 if limit >= 2**63 else int(limit)


def checked_number(value, name: str, least, kind=numbers.Real):
    """`value`, a number of `kind` from `least` on. OptionsError for anything else."""
    if not isinstance(value, kind) or not value >= least:
        words = "a whole number" if kind is numbers.Integral else "a number"
        raise _core.OptionsError(f"{name} is {words} from {least} on, {value if isinstance(value, numbers.Number) else type(value).__name__} was given")
    return value
