"""Gradients: defs of gradients as functions, and calls that torch's autograd records. Imports torch when one is made."""

import functools
from typing import Optional, Sequence, Tuple

from . import _core
from .api import Function


class Gradient(Function):
    """The def of a vector-Jacobian product: called like any other, printed by `str()`, compiled by `compile`.

    It takes the parameters of the def, the returns in `saved`, and for each differentiated return O a d_O; it gives a
    d_X for each parameter of `wrt`.
    """

    wrt: Tuple[str, ...] = ()
    """The parameters whose gradients it gives, in order."""
    saved: Tuple[str, ...] = ()
    """The returns of the def that it takes."""
    seeds: Tuple[str, ...] = ()
    """The names of the gradients of returns that it takes, last."""
    unread: Tuple[str, ...] = ()
    """The parameters whose sizes it needs, but not their values."""
    notes: Tuple[str, ...] = ()
    """What makes it slow."""


def grad(
    function: Function, wrt: Optional[Sequence[str]] = None, of: Optional[Sequence[str]] = None, *, save: bool = True
) -> Gradient:
    """The gradient of `function` with respect to the parameters `wrt`, for gradients of the returns `of`; all floats by default.

    Returns that the gradient needs are parameters of it, unless `save` is false: then it computes them again. See
    docs/gradients.md.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"grad takes a def of a text, {type(function).__name__} was given")
    wrt, of = (_names(given, what) for given, what in ((wrt, "wrt"), (of, "of")))
    definition, settings, *parts = function._gradient(wrt, of, save)
    gradient = Gradient(definition, settings)
    gradient.wrt, gradient.saved, gradient.seeds, gradient.unread, gradient.notes = map(tuple, parts)
    return gradient


def _names(given, what) -> list:
    if isinstance(given, str):
        raise _core.ArgumentError(f"{what} is a list of names: {what}=[{given!r}]")
    return list(given or ())


class _Record:
    """What torch's graph keeps of a call of `function`: the same for all calls whose parameters need gradients as `needs` says."""

    def __init__(self, function: Function, needs: Tuple[bool, ...]):
        names = function._parameters()
        self.gradient = grad(function, [name for name, need in zip(names, needs) if need])
        self.needs = needs
        self.keeps_value = [name not in self.gradient.unread for name in names]
        self.saved = [function._returns().index(name) for name in self.gradient.saved]


def _record_of(function: Function, needs: Tuple[bool, ...]) -> _Record:
    made = function.__dict__.setdefault("_records", {})
    if needs not in made:
        made[needs] = _Record(function, needs)
    return made[needs]


@functools.lru_cache(maxsize=None)
def _recorder():
    """The node of torch's graph that runs a def forwards and its gradient backwards."""
    import torch

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx, function, *tensors):
            output = function(*tensors)
            outputs = output if isinstance(output, tuple) else (output,)
            ctx.record = record = _record_of(function, ctx.needs_input_grad[1:])
            ctx.floats = [o.dtype.is_floating_point for o in outputs]
            if not all(ctx.floats):
                ctx.mark_non_differentiable(*(o for o, is_float in zip(outputs, ctx.floats) if not is_float))
            kept = [t if keeps else _shape_of(t) for t, keeps in zip(tensors, record.keeps_value)]
            kept += [outputs[place] for place in record.saved]
            ctx.others = {place: other for place, other in enumerate(kept) if not isinstance(other, torch.Tensor)}
            ctx.save_for_backward(*(tensor for tensor in kept if isinstance(tensor, torch.Tensor)))
            return output

        @staticmethod
        def backward(ctx, *seeds):
            tensors = list(ctx.saved_tensors)
            for place, other in ctx.others.items():
                tensors.insert(place, other)
            tensors += [seed.contiguous() for seed, is_float in zip(seeds, ctx.floats) if is_float]
            results = ctx.record.gradient(*tensors)
            results = iter(results if isinstance(results, tuple) else (results,))
            return None, *(next(results) if needs else None for needs in ctx.record.needs)

    def _shape_of(tensor):
        """A tensor of the same shape in the memory of one element."""
        return tensor.new_empty(1).expand(tensor.shape) if isinstance(tensor, torch.Tensor) else tensor

    return Call


def call(function: Function, tensors: tuple):
    """Calls `function` and records it: a tensor requires grad."""
    import torch

    if not function._float_returns():
        with torch.no_grad():
            return function(*tensors)
    return _recorder().apply(function, *tensors)
