"""Defs that stand for many: for element types and ranks, and functions made of such defs."""

import functools
import numbers
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from . import _core
from .function import Function, Inference, _Origin
from .typed import Given, Out, Tensor

Kind = Optional[Tuple[str, int]]
"""The element type and the rank of an argument; None for a number, which takes the type of the others."""


class ForMany(Function):
    """A def that stands for many: for each call there is one function, made when it is first needed."""

    _stands_for_many = True

    def infer(self, *tensors: Union[Given, float], **named: Union[Given, float]) -> Inference:
        given = self._in_order(*tensors, **named)
        return self._for_values(given).infer(*given)

    def _for_values(self, given, batched: Sequence[int] = ()) -> Function:
        """The function for the arguments `given`. Those at the places `batched` have a dimension more for each time that the place is named."""
        raise NotImplementedError

    def _usual(self) -> Function:
        """One of the functions, which knows names of parameters and returns."""
        raise NotImplementedError


class ChosenInPython(ForMany):
    """A def whose calls look for their function in Python."""

    def __call__(self, *tensors: Tensor, out: Out = None, **named: Tensor) -> Any:
        given = self._in_order(*tensors, **named)
        return self._for_values(given)(*given, out=out)


class GenericFunction(ForMany):
    """A def with type names or leading dimensions: a function for each choice of these. Calls find theirs in the machine code's cache."""

    def _for_values(self, given, batched: Sequence[int] = ()) -> Function:
        if self._type_names() is None:
            return self
        kinds = map(kind_of, given)
        return self._for_kinds(tuple(kind and (kind[0], kind[1] - batched.count(place)) for place, kind in enumerate(kinds)))

    def _for_kinds(self, kinds: Tuple[Kind, ...]) -> Function:
        """The function for arguments of these kinds, one for each parameter."""
        made = self.__dict__.setdefault("_instances", {})
        if kinds not in made:
            definition, text = self._instance(list(kinds))
            made[kinds] = Function(definition, self._settings(), _Origin(text, self.name, self._origin.how if self._origin else ()))
        return made[kinds]

    def _usual(self) -> Function:
        if self._type_names() is None:
            return self
        parameters, _ = self._signature()
        return self._for_kinds(tuple((dtype, len(dims or ())) for _, dtype, dims, _ in parameters))


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
        from .transforms import made_again

        return made_again, self._made_of


def made_of_many(kind: type, function: ForMany, make: Callable[[Function], Function], batched: Sequence[int] = ()) -> Any:
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


def kind_of(given) -> Kind:
    """The kind of an argument: a tensor of any library, a spec, or a number."""
    if isinstance(given, numbers.Number):
        return None
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    if dtype is None or shape is None:
        return _core.kind_of(given)
    return str(dtype).rpartition(".")[2], len(shape)
