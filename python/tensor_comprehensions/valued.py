"""Defs whose ranges or strides are made of the values of scalar parameters."""

import operator
from typing import Any, Union

from . import _core
from .function import Function, Inference, _defined, _Origin
from .generic import GenericFunction
from .typed import Given, Out, Tensor


class ValuedFunction(GenericFunction):
    """A def with integer scalar parameters that ranges or strides are made of: a function for each of their values, made when it is first called with them."""

    _MOST = 64
    _is_generic = False  # what is made of it, is made for values

    def __call__(self, *tensors: Tensor, out: Out = None, **named: Tensor) -> Any:
        given = self._in_order(*tensors, **named)
        return self._for_values(given)(*given, out=out)

    def infer(self, *tensors: Union[Given, float], **named: Union[Given, float]) -> Inference:
        given = self._in_order(*tensors, **named)
        return self._for_values(given).infer(*given)

    def _for_values(self, given) -> Function:
        names = self._parameters()
        values = tuple((name, self._value(name, given[names.index(name)])) for name in self._valued_parameters())
        instance = super()._for_values(given)
        made = instance.__dict__.setdefault("_made", {})
        if values not in made:
            text = instance._specialised_text(dict(values))
            if len(made) >= self._MOST:
                made.pop(next(iter(made)))
            made[values] = Function(_defined(text, self.name)[-1], self._settings(), _Origin(text, self.name, self._origin.how if self._origin else ()))
        return made[values]

    def _value(self, name, given) -> int:
        try:
            return operator.index(given)
        except TypeError:
            raise _core.ArgumentError(f"'{name}' decides ranges of '{self.name}': give it as an integer, {type(given).__name__} was given") from None
