"""Generic defs: one text for many element types and ranks."""

import functools
import numbers
from typing import Any, Callable, Optional, Tuple, Union

from .function import Function, Inference, _Origin
from .typed import Given, Out, Tensor

Kind = Optional[Tuple[str, int]]
"""The element type and the rank of an argument; None for a number, which takes the type of the others."""


class GenericFunction(Function):
    """A def with type names or leading dimensions: a function for each choice of these, made when it is first called so."""

    _is_generic = True

    def _for_values(self, given) -> Function:
        return self if self._type_names() is None else self._for_kinds(tuple(map(kind_of, given)))

    def _for_kinds(self, kinds: Tuple[Kind, ...]) -> Function:
        """The function for arguments of these kinds, one for each parameter."""
        made = self.__dict__.setdefault("_instances", {})
        if kinds not in made:
            definition, text = self._instance(list(kinds))
            made[kinds] = Function(definition, self._settings(), _Origin(text, self.name, self._origin.how if self._origin else ()))
        return made[kinds]

    def _usual(self) -> Function:
        """The function for float32 and one leading dimension, which knows names of parameters and returns."""
        parameters, _ = self._signature()
        return self._for_kinds(tuple((dtype, len(dims or ())) for _, dtype, dims, _ in parameters))


class OfGeneric(Function):
    """A def that is made of a generic one: made of the instance that its arguments ask for."""

    _base: GenericFunction
    _make: Callable[[Function], Function]

    def __call__(self, *tensors: Tensor, out: Out = None, **named: Tensor) -> Any:
        given = self._in_order(*tensors, **named)
        return self._for_values(given)(*given, out=out)

    def infer(self, *tensors: Union[Given, float], **named: Union[Given, float]) -> Inference:
        given = self._in_order(*tensors, **named)
        return self._for_values(given).infer(*given)

    def _for_values(self, given) -> Function:
        kinds = self._kinds_of_base(tuple(map(kind_of, given)))
        made = self.__dict__.setdefault("_instances", {})
        if kinds not in made:
            made[kinds] = self._make(self._base._for_kinds(kinds))
        return made[kinds]

    def _kinds_of_base(self, kinds: Tuple[Kind, ...]) -> Tuple[Kind, ...]:
        """The kinds of the generic def's arguments, which come first."""
        return kinds[: len(self._base._parameters())]

    def __reduce__(self):
        from .transforms import made_again

        return made_again, self._made_of


def of_generic(kind: type, function: GenericFunction, make: Callable[[Function], Function], **methods) -> Any:
    """A function of class `kind` made of each instance of `function` by `make`."""
    usual = make(function._usual())
    made = _class_of(kind, tuple(methods.items()))(usual._definition(), function._settings())
    made._origin = usual._origin
    made.__dict__.update(usual._attributes(), _base=function, _make=make, _made_of=(function, usual._made_of[1]))
    return made


@functools.lru_cache(maxsize=None)
def _class_of(kind, methods) -> type:
    return type(kind.__name__, (OfGeneric, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__, **dict(methods)})


def kind_of(given) -> Kind:
    """The kind of an argument: a tensor of any library, a spec, or a number."""
    if isinstance(given, numbers.Number):
        return None
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    if dtype is None or shape is None:
        import numpy as np

        dtype, shape = (array := np.from_dlpack(given)).dtype, array.shape
    return str(dtype).rpartition(".")[2], len(shape)
