"""The compilation cache: mapping options with measured times, and machine code, kept between processes.

Calls and `compile` use the cache of the environment by themselves. The functions of this module look at it and change
it; `Cache` opens another one.

    tc.cache.stat()                                               what it holds
    tc.cache.inject(T.mm, A, B, options="tile=64x64")             options by hand
    tc.cache.best(T.mm, A, B)                                     what "cached" will use
    tc.cache.export("tuned.options"), tc.cache.import_("tuned.options")

The environment decides which one it is; see docs/cache.md:

    TC_CACHE_MODE=rw|ro|off     read and write (the default), only read, or neither
    TC_CACHE_DIR                its folder; else below $XDG_CACHE_HOME or ~/.cache
    TC_CACHE_OVERRIDE           a folder whose options go before all others
    TC_CACHE_PATH              folders of options, joined by ':', that are read after its own
    TC_CACHE_MAX_SIZE           of its folder: "500m", "2g"
    TC_CACHE_KEY                the file of the key that signs machine code; else below $XDG_STATE_HOME or ~/.local/state
"""

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, TypeVar, Union

from . import _core
from .given import Given, OutGiven

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec

    _Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The time of a kernel, and the circumstances it was taken in."""

    median_ns: float
    least_ns: float = 0.0
    spread_ns: float = 0.0
    """Between the quartiles."""
    runs: int = 0
    cold: bool = False
    """Whether the caches of the processor were emptied before each run."""
    checked: bool = False
    """Whether the results were compared with the reference."""
    threads: int = 0
    machine: str = ""
    build: str = ""
    """Of the compiler."""
    taken_at: int = 0
    """Seconds since 1970."""

    @classmethod
    def here(cls, median_ns: float, **values) -> "Measurement":
        """A measurement of this moment, by this process: machine, build, threads and taken_at are set."""
        here = {**_core.measurement_here(), "threads": _core.get_num_threads()}
        return cls(**{**here, **values, "median_ns": median_ns})


@dataclasses.dataclass(frozen=True)
class Entry:
    """Options that the cache has for a program, tensors and a target."""

    options: _core.MappingOptions
    tensors: str
    target: str
    program: str
    """In canonical form."""
    injected: bool
    measured: Optional[Measurement]
    created_at: int
    note: str = ""
    distance: float = 0.0
    """How far its shapes are from those asked for: the sum of |log2| of the ratios of extents."""
    id: str = ""

    def __str__(self):
        time = f"{self.measured.median_ns / 1e3:.3f} us" if self.measured else "injected" if self.injected else "no time"
        return f"{str(self.options) or 'the default options'}: {time} for {self.tensors} on {self.target}"


def _entry(values: Dict[str, Any]) -> Entry:
    measured = values.pop("measured")
    return Entry(measured=Measurement(**measured) if measured else None, **values)


class Cache:
    """A cache in `folder`, which is created if it does not exist. `mode` is "rw" or "ro".

    Options are looked up in the folder `override`, then in its own folder, then in `shared`, in order; the first folder with options is
    used. Machine code is in its own folder only. A damaged or unsafe file counts as a miss and raises a RuntimeWarning.
    """

    def __init__(self, folder, *, mode: str = "rw", override=None, shared: Sequence = (), max_size: str = "1g"):
        shared = [os.fspath(each) for each in shared]
        self._core = _core.Cache(os.fspath(folder), mode, os.fspath(override or ""), shared, max_size)
        self._opened = {"mode": mode, "override": override, "shared": shared, "max_size": max_size}

    @classmethod
    def _of(cls, core) -> "Cache":
        self = cls.__new__(cls)
        self._core = core
        self._opened = {"mode": "rw" if core.writable else "ro"}
        return self

    def __reduce__(self):
        return functools.partial(Cache, **self._opened), (self.folder,)

    @property
    def folder(self) -> str:
        return self._core.folder

    @property
    def writable(self) -> bool:
        return self._core.writable

    def _key(self, function, tensors, out, target):
        return function._cache_key(tensors, out, _core.Settings(target=target))

    def find(self, function: _core.Function, *tensors: Given, out: OutGiven = None, target: Optional[str] = None) -> List[Entry]:
        """The options for `function` with tensors or specs like these, best first: injected ones, then options measured on this machine."""
        return [_entry(values) for values in self._core.find(self._key(function, tensors, out, target))]

    def best(self, function: _core.Function, *tensors: Given, out: OutGiven = None, target: Optional[str] = None) -> Optional[Entry]:
        """The options that "cached" and "tuned" use, None for none."""
        return next(iter(self.find(function, *tensors, out=out, target=target)), None)

    def nearest(self, function: _core.Function, *tensors: Given, out: OutGiven = None, target: Optional[str] = None) -> Optional[Entry]:
        """The best options for the nearest shapes of the same program, types, ranks and target; None for none.

        They are legal for all shapes, but may be slower than no options: measure.
        """
        values = self._core.nearest(self._key(function, tensors, out, target))
        return _entry(values) if values else None

    def inject(
        self,
        function: _core.Function,
        *tensors: Given,
        options: Union[str, _core.MappingOptions],
        out: OutGiven = None,
        target: Optional[str] = None,
        note: str = "",
    ) -> None:
        """Stores options that were found by hand; they have precedence over tuned options. `note` is plain text: ArgumentError for control
        characters."""
        self._put(function, tensors, out, target, options, True, None, note)

    def record(
        self,
        function: _core.Function,
        *tensors: Given,
        options: Union[str, _core.MappingOptions],
        measured: Measurement,
        out: OutGiven = None,
        target: Optional[str] = None,
        note: str = "",
    ) -> None:
        """Puts options with the time measured for them."""
        self._put(function, tensors, out, target, options, False, dataclasses.asdict(measured), note)

    def _put(self, function, tensors, out, target, options, injected, measured, note):
        if isinstance(options, str):
            options = _core.MappingOptions(options)
        try:
            note.encode()
        except UnicodeEncodeError:
            raise _core.ArgumentError(f"note={note!a} cannot be written as UTF-8") from None
        self._core.put(self._key(function, tensors, out, target), options, injected, measured, note)

    def entries(self) -> List[Entry]:
        """All options in its folder, by key, best first."""
        return [_entry(values) for values in self._core.entries()]

    def code(self) -> List[Dict[str, Any]]:
        """The machine code in its folder that is signed by this user's key, of all builds of the compiler."""
        return self._core.code()

    def stat(self) -> Dict[str, Any]:
        """Numbers of files and bytes."""
        return self._core.stat()

    def verify(self, *, recompile: bool = False) -> List[str]:
        """Reads all files and proves derived programs again; returns the problems found. With `recompile`, machine code of this build is
        compiled again from its source, with all invariant checks, and compared."""
        return self._core.verify(recompile)

    def merge(self, folder: Union[str, os.PathLike]) -> Dict[str, int]:
        """Adds the options of another cache's folder, and its prices of derived programs. Merging in any order, and twice, gives the same."""
        return self._core.merge(os.fspath(folder))

    def export(self, file: Union[str, os.PathLike], *, best_only: bool = False) -> int:
        """Writes its options, only the best of each key if `best_only`, and its prices of derived programs to one file; returns their
        number. Raises ResourceError for an existing file that is not an earlier export, because such a file is not replaced."""
        return self._core.export_entries(os.fspath(file), best_only)

    def import_(self, file: Union[str, os.PathLike]) -> Dict[str, int]:
        """Adds the contents of a file that `export` wrote."""
        return self._core.import_entries(os.fspath(file))

    def remove(self, id: str) -> int:
        """Removes the entries of its folder whose id begins with `id`, 8 digits or more; returns their number."""
        return self._core.remove(id)

    def gc(self, *, max_size: Optional[str] = None, results_a_key: int = 16) -> Dict[str, Any]:
        """Removes unfinished and damaged files, options that are not among the best `results_a_key` (of a machine and a number of threads), and
        the machine code least recently used until the folder has at most `max_size`."""
        return self._core.gc(max_size, results_a_key)

    def __repr__(self):
        return f"<tensor_comprehensions.cache.Cache {self.folder!r}{'' if self.writable else ', read only'}>"


def environment() -> Optional[Cache]:
    """The cache that calls use; None where it is off."""
    core = _core.environment_cache()
    return None if core is None else Cache._of(core)


def _required() -> Cache:
    cache = environment()
    if cache is None:
        raise _core.OptionsError("the cache is off: unset TC_CACHE_MODE=off, or open a tc.cache.Cache of your own")
    return cache


def _forward(method: "Callable[Concatenate[Cache, _Arguments], _Result]") -> "Callable[_Arguments, _Result]":
    """`method` of the environment's cache."""

    def function(*args: "_Arguments.args", **keywords: "_Arguments.kwargs") -> _Result:
        return method(_required(), *args, **keywords)

    function.__name__ = function.__qualname__ = method.__name__
    function.__doc__ = method.__doc__
    return function


find = _forward(Cache.find)
best = _forward(Cache.best)
nearest = _forward(Cache.nearest)
inject = _forward(Cache.inject)
record = _forward(Cache.record)
entries = _forward(Cache.entries)
code = _forward(Cache.code)
stat = _forward(Cache.stat)
verify = _forward(Cache.verify)
merge = _forward(Cache.merge)
export = _forward(Cache.export)
import_ = _forward(Cache.import_)
remove = _forward(Cache.remove)
gc = _forward(Cache.gc)
