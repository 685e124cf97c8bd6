"""`Module`: a layer whose parameters are some of a def's."""

import math
from typing import Callable, Mapping, Optional, Sequence

import torch

from .. import _core
from ..function import Function
from ..operators import shape_of_parameter


class Module(torch.nn.Module):
    """A layer that calls a def: the parameters of the def that `parameters` names are the layer's own.

        T = tc.define(text)     # def linear(float(B,I) X, float(O,I) W, float(O) b) -> (Y) { ... }
        layer = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 784, "O": 10})
        y = layer(x)            # the other parameters of the def, in order or by name

    Their shapes and types follow from the def's text for `sizes`. `init` names functions that fill a parameter in place. Otherwise a
    parameter of two or more dimensions is initialised like the weights of torch.nn.Linear and torch.nn.Conv2d, and others with 0.
    """

    def __init__(
        self,
        function: Function,
        parameters: Sequence[str],
        sizes: Optional[Mapping[str, int]] = None,
        *,
        init: Optional[Mapping[str, Callable[[torch.Tensor], object]]] = None,
        device=None,
    ):
        super().__init__()
        if not isinstance(function, Function):
            raise _core.ArgumentError(f"Module takes a def of a text, {type(function).__name__} was given")
        if isinstance(parameters, str):
            raise _core.ArgumentError(f"parameters is a list of names: [{parameters!r}]")
        parameters = list(parameters)
        self.function, self.sizes, self.init = function, dict({} if sizes is None else sizes), dict({} if init is None else init)
        known = {name: dtype for name, dtype, _, _ in function._signature()[0]}
        for name in [*parameters, *self.init]:
            if name not in known or name not in parameters:
                raise _core.ArgumentError(f"'{function.name}' has no parameter '{name}' for the layer, it takes {', '.join(known)}")
        for name in parameters:
            dtype = torch.get_default_dtype() if name in (function._type_names() or ()) else getattr(torch, known[name])
            if not dtype.is_floating_point:
                raise _core.ArgumentError(f"'{name}' is {known[name]}: parameters of a layer are floats")
            shape = shape_of_parameter(function, name, self.sizes)
            self.register_parameter(name, torch.nn.Parameter(torch.empty(shape, dtype=dtype, device=device)))
        self._own = tuple(name in parameters for name in known)
        self._names = tuple(known)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fills all parameters as at the beginning."""
        with torch.no_grad():
            for name, parameter in self.named_parameters(recurse=False):
                if name in self.init:
                    self.init[name](parameter)
                elif parameter.dim() >= 2:
                    torch.nn.init.kaiming_uniform_(parameter, a=math.sqrt(5))
                else:
                    torch.nn.init.zeros_(parameter)

    def forward(self, *inputs, **named):
        given, tensors = list(inputs), []
        for name, own in zip(self._names, self._own):
            if own:
                tensors.append(getattr(self, name))
            elif given:
                tensors.append(given.pop(0))
            elif name in named:
                tensors.append(named[name])
            else:
                raise _core.ArgumentError(f"this layer takes '{name}', which is not given")
        if given:
            raise _core.ArgumentError("this layer takes fewer tensors than were given")
        return self.function(*tensors)

    def extra_repr(self) -> str:
        return ", ".join([self.function.name, *(f"{name}={size}" for name, size in self.sizes.items())])
