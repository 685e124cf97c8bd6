"""Defs whose ranges or strides are made of the values of scalar parameters."""

import operator
import sys
from typing import Any, Sequence, Tuple

from . import _core
from .function import Function, _defined, _Origin
from .generic import ChosenInPython, GenericFunction
from .typed import Out, Tensor

Values = Tuple[Tuple[str, int], ...]


class ValuedFunction(ChosenInPython, GenericFunction):
    """A def with integer scalar parameters that ranges or strides are made of: a function for each of their values, made when it is first called with them."""

    _MOST = 64
    _USUAL = (1, 2, 3)
    """Values to find one function with that is legal: its names are the same for all of them."""

    def __call__(self, *tensors: Tensor, out: Out = None, **named: Tensor) -> Any:
        if "torch" in sys.modules and sys.modules["torch"].compiler.is_compiling():
            return self._call_traced(tensors, out, named)
        return super().__call__(*tensors, out=out, **named)

    def _for_values(self, given, batched: Sequence[int] = ()) -> Function:
        names = self._parameters()
        values = tuple((name, self._value(name, given[names.index(name)])) for name in self._valued_parameters())
        return self._specialised(GenericFunction._for_values(self, given, batched), values)

    def _usual(self) -> Function:
        instance = GenericFunction._usual(self)
        for value in self._USUAL:
            try:
                return self._specialised(instance, tuple((name, value) for name in self._valued_parameters()))
            except _core.ArgumentError as error:
                refused = error
        raise refused

    def _specialised(self, instance: Function, values: Values) -> Function:
        made = instance.__dict__.setdefault("_made", {})
        if values not in made:
            text = instance._specialised_text(dict(values))
            if len(made) >= self._MOST:
                made.pop(next(iter(made)))
            made[values] = Function(_defined(text, self.name)[-1], self._settings(), _Origin(text, self.name, self._how()))
        return made[values]

    def _value(self, name, given) -> int:
        try:
            return operator.index(given)
        except TypeError:
            raise _core.ArgumentError(f"'{name}' decides ranges of '{self.name}': give it as an integer, {type(given).__name__} was given") from None
