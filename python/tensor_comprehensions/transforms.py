"""Defs made from defs: gradients, Jacobian-vector products, batches. Nothing here needs torch."""

import functools
from collections.abc import Iterable
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from . import _core
from .function import Function, _derived
from .generic import ChosenInPython, ForMany
from .given import Dims


class Gradient(Function):
    """The def of a vector-Jacobian product: called like any other, printed by `str()`, compiled by `compile`.

    Its arguments are the parameters of the def, the returns in `saved`, and a d_O for each differentiated return O; its results are a d_X
    for each parameter of `wrt`, and a d_O_old, of the values before, for each return O of it.
    """

    wrt: Tuple[str, ...] = ()
    """The parameters, and returns that update the caller's tensor, whose gradients it gives, in order."""
    saved: Tuple[str, ...] = ()
    """The returns of the def that it takes."""
    seeds: Tuple[str, ...] = ()
    """The names of the gradients of returns that it takes, last."""
    unread: Tuple[str, ...] = ()
    """The parameters whose sizes it needs, but not their values."""
    notes: Tuple[str, ...] = ()
    """What makes it slow."""

    def _attributes(self) -> dict:
        return {name: getattr(self, name) for name in ("wrt", "saved", "seeds", "unread", "notes")}


class Tangent(Function):
    """The def of a Jacobian-vector product.

    Its arguments are the parameters of the def and a tangent for each parameter of `wrt`; its results are a tangent for each return of
    `of`.
    """

    tangents: Tuple[str, ...] = ()
    """The names of the tangents it takes, last."""
    wrt: Tuple[str, ...] = ()
    """The parameters they are of."""
    of: Tuple[str, ...] = ()
    """The returns whose tangents it gives, in order."""

    def _attributes(self) -> dict:
        return {name: getattr(self, name) for name in ("tangents", "wrt", "of")}


class Batched(Function):
    """A def with one more iterator in every statement that depends on a parameter with a batch."""

    batched: Tuple[str, ...] = ()
    """The returns that have the dimension of the batch."""

    def _attributes(self) -> dict:
        return {"batched": self.batched}


def grad(
    function: Function, wrt: Optional[Sequence[str]] = None, of: Optional[Sequence[str]] = None, *, save: bool = True
) -> Gradient:
    """The gradient of `function` with respect to the parameters `wrt`, for gradients of the returns `of`; all floats by default.

    Returns that the gradient needs are parameters of it, unless `save` is false: then it computes them again. See
    docs/gradients.md.
    """
    _check(function, "grad")
    wrt, of = _names(wrt, "wrt"), _names(of, "of")
    if isinstance(function, ForMany):
        return _made_of_many(Gradient, function, lambda instance: grad(instance, wrt, of, save=save))
    definition, *lists = function._gradient(wrt, of, save)
    parts: Dict[str, Any] = dict(zip(("wrt", "saved", "seeds", "unread", "notes"), map(tuple, lists)))
    parts["_made_of"] = function, _way("grad", *_places(function, wrt, of), [int(bool(save))])
    return _derived(Gradient, definition, function, **parts)


def jvp(function: Function, wrt: Optional[Sequence[str]] = None, of: Optional[Sequence[str]] = None) -> Tangent:
    """Tangents of the returns `of` of `function` for tangents of the parameters `wrt`; all floats by default.

    It takes the parameters of `function`, then the tangents: forward mode, as text. See docs/gradients.md.
    """
    _check(function, "jvp")
    wrt, of = _names(wrt, "wrt"), _names(of, "of")
    if isinstance(function, ForMany):
        return _made_of_many(Tangent, function, lambda instance: jvp(instance, wrt, of))
    definition, *lists = function._tangent(wrt, of)
    parts: Dict[str, Any] = dict(zip(("tangents", "wrt", "of"), map(tuple, lists)))
    parts["_made_of"] = function, _way("jvp", *_places(function, wrt, of))
    return _derived(Tangent, definition, function, **parts)


def vmap(function: Function, in_dims: Dims = 0, out_dims: int = 0) -> Batched:
    """`function` for a batch: `in_dims` says where its dimension stands in each parameter, None that it has none.

    One number stands for all parameters. Returns in `batched` have the dimension at `out_dims`; the others do not
    depend on the batch.
    """
    _check(function, "vmap")
    parameters, returns = function._signature()
    in_dims = [in_dims] * len(parameters) if isinstance(in_dims, int) else list(in_dims)
    if len(in_dims) != len(parameters):
        raise _core.ArgumentError(f"'{function.name}' has {len(parameters)} parameters, in_dims has {len(in_dims)}")
    if isinstance(function, ForMany):
        places_of_batch = [place for place, dim in enumerate(in_dims) if dim is not None]
        return _made_of_many(Batched, function, lambda instance: vmap(instance, in_dims, out_dims), places_of_batch)
    places = {name: place for (name, *_), place in zip(parameters, in_dims) if place is not None}
    places.update({name: out_dims for name, *_ in returns})
    definition, batched = function._batch(places)
    made_of = function, _way("vmap", in_dims, [out_dims])
    return _derived(Batched, definition, function, batched=tuple(batched), _made_of=made_of)


class MadeOfMany(ChosenInPython):
    """A def that is made of one that stands for many: made of the one that its arguments ask for."""

    _base: ForMany
    _make: Callable[[Function], Function]
    _batched_places: Sequence[int]

    def _for_values(self, given, batched: Sequence[int] = ()) -> Function:
        return self._made_from(self._base._for_values(given[: len(self._base._parameters())], [*self._batched_places, *batched]))

    def _usual(self) -> Function:
        return self._made_from(self._base._usual())

    def _made_from(self, function: Function) -> Function:
        made = self.__dict__.setdefault("_instances", {})
        if function not in made:
            made[function] = self._make(function)
        return made[function]

    def __reduce__(self):
        return made_again, self._made_of


def _made_of_many(kind: type, function: ForMany, make: Callable[[Function], Function], batched: Sequence[int] = ()) -> Any:
    """A function of class `kind`, made by `make` of each function that `function` stands for. The arguments at the places `batched` have one
    dimension more than those of `function`."""
    usual = make(function._usual())
    made = _class_of(kind)(usual._definition(), function._settings())
    made._origin = usual._origin
    made.__dict__.update(usual._attributes(), _base=function, _make=make, _batched_places=batched, _made_of=(function, usual._made_of[1]))
    return made


@functools.lru_cache(maxsize=None)
def _class_of(kind) -> type:
    return type(kind.__name__, (MadeOfMany, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__})


def made_again(function: Function, way: str) -> Function:
    """What `grad`, `jvp` or `vmap` make of `function` in the way that a name tells (`_way`). Raises ValueError where it tells none."""
    kind, *texts = way.split("_")
    lists = [_read(text) for text in texts]
    parameters, returns = function._parameters(), function._returns()
    if kind == "vmap" and [len(places) for places in lists] == [len(parameters), 1] and lists[1] != [None]:
        return vmap(function, lists[0], lists[1][0])
    if (kind, len(lists)) not in (("grad", 3), ("jvp", 2)) or any(None in places for places in lists):
        raise ValueError(f"no way of making a def: {way!r}")
    known = [*parameters, *returns], returns
    if any(place >= len(names) for names, places in zip(known, lists) for place in places):
        raise ValueError(f"'{function.name}' has no such parameters or returns: {way!r}")
    wrt, of = ([names[place] for place in places] for names, places in zip(known, lists))
    return jvp(function, wrt, of) if kind == "jvp" else grad(function, wrt, of, save=lists[2] == [1])


def _way(kind, *lists) -> str:
    """How a def is made of another, as a part of a name: "grad_0x2_all_1", "vmap_0xnxm1_0" (n: None, m: minus)."""
    written = [["n" if place is None else str(place).replace("-", "m") for place in places] for places in lists]
    return "_".join([kind, *("x".join(places) or "all" for places in written)])


def _read(text) -> list:
    """The list that `_way` wrote."""
    places = [] if text == "all" else text.split("x")
    return [None if place == "n" else int(place.replace("m", "-")) for place in places]


def _places(function, wrt, of):
    """Where the names `wrt` stand among the parameters of `function` and its returns behind them, and `of` among its returns."""
    parameters, returns = function._parameters(), function._returns()
    return [[*parameters, *returns].index(name) for name in wrt], [returns.index(name) for name in of]


def _check(function, what):
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"{what} takes a def of a text, {type(function).__name__} was given")


def _names(given, what) -> list:
    if given is None:
        return []
    if isinstance(given, str):
        raise _core.ArgumentError(f"{what} is a list of names: {what}=[{given!r}]")
    if not isinstance(given, Iterable):
        raise _core.ArgumentError(f"{what} is a list of names, {type(given).__name__} was given")
    return list(given)
