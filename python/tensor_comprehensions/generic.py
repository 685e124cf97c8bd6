"""Defs that stand for many: for element types and ranks."""

import numbers
from typing import Any, Optional, Sequence, Tuple, Union

from . import _core
from .function import Function, Inference, _Origin
from .given import Given
from .typed import Out, Tensor

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
            made[kinds] = Function(definition, self._settings(), _Origin(text, self.name, self._how()))
        return made[kinds]

    def _usual(self) -> Function:
        if self._type_names() is None:
            return self
        parameters, _ = self._signature()
        return self._for_kinds(tuple((dtype, len(dims or ())) for _, dtype, dims, _ in parameters))


def kind_of(given) -> Kind:
    """The kind of an argument: a tensor of any library, a spec, or a number."""
    if isinstance(given, numbers.Number):
        return None
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    if dtype is None or shape is None:
        return _core.kind_of(given)
    return str(dtype).rpartition(".")[2], len(shape)
