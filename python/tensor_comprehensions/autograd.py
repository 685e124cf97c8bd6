"""Calls that torch records: nodes of its graph that run a def forwards, its gradient backwards, and its tangents."""

from typing import Any, Tuple

import torch
from torch.autograd import forward_ad

from .function import Function
from .transforms import Gradient, Tangent, grad, jvp


class _Record:
    """What torch's graph keeps of a call whose parameters need gradients as `needs` says."""

    def __init__(self, function: Function, needs: tuple, given: tuple):
        names, returns = function._parameters(), function._returns()
        wrt = [name for name, need in zip(names, needs) if need]
        self.gradient: Gradient = grad(function, wrt, [name for name, is_given in zip(returns, given) if is_given])
        self.needs, self.given = needs, given
        self.reads = [name not in self.gradient.unread for name in names]
        self.saved = [returns.index(name) for name in self.gradient.saved]


def _record_of(function: Function, needs: tuple, given: tuple) -> _Record:
    made = function.__dict__.setdefault("_records", {})
    found = made.get((needs, given))
    if found is None:
        found = made[needs, given] = _Record(function, needs, given)
    return found


def _tangent_of(function: Function, wrt: tuple) -> Tangent:
    made = function.__dict__.setdefault("_tangents", {})
    if wrt not in made:
        made[wrt] = jvp(function, wrt)
    return made[wrt]


def _shape_of(tensor):
    """What makes a tensor of the same shape in the memory of one element."""
    return tensor.shape, tensor.dtype, tensor.device


def _made_of(shape, dtype, device):
    return torch.empty((), dtype=dtype, device=device).expand(shape)


class Node(torch.autograd.function._SingleLevelFunction):
    """A call of `ctx.function` in torch's graph. Every def has a class of its own, which bears its name."""

    @staticmethod
    def forward(ctx, function, run, *tensors):
        output = run(*tensors)
        outputs = output if type(output) is tuple else (output,)
        ctx.function = function
        ctx.set_materialize_grads(False)
        floats = function._float_places
        if len(floats) < len(outputs):
            ctx.mark_non_differentiable(*(o for place, o in enumerate(outputs) if place not in floats))
        record = _record_of(function, ctx.needs_input_grad[2:], function._all_given)
        ctx.record = record
        if len(outputs) > 1:
            ctx.shapes = [_shape_of(o) for o in outputs]
        ctx.others = others = {}
        kept = []
        for place, (tensor, reads) in enumerate(zip(tensors, record.reads)):
            if not isinstance(tensor, torch.Tensor):
                others[place] = tensor
            elif reads:
                kept.append(tensor)
            else:
                others[place] = _shape_of(tensor)
        kept += [outputs[place] for place in record.saved]
        ctx.save_for_backward(*kept)
        if forward_ad._current_level >= 0:
            ctx.tensors = [None if isinstance(tensor, torch.Tensor) else tensor for tensor in tensors]
            ctx.save_for_forward(*(tensor for tensor in tensors if isinstance(tensor, torch.Tensor)))
        return output

    @staticmethod
    def backward(ctx, *seeds):
        record = ctx.record
        tensors = list(ctx.saved_tensors)
        for place, other in ctx.others.items():
            tensors.insert(place, _made_of(*other) if type(other) is tuple else other)
        given = tuple(seed is not None for seed in seeds)
        if given != record.given:
            return _backward_of_some(ctx, tensors, seeds, given)
        tensors += [seed.contiguous() for seed in seeds if seed is not None]
        return _in_places(record.gradient(*tensors), record.needs)

    @staticmethod
    def jvp(ctx, *tangents):
        saved = iter(ctx.saved_tensors)
        primals = [forward_ad.unpack_dual(next(saved)).primal if given is None else given for given in ctx.tensors]
        names = ctx.function._parameters()
        tangents = {name: tangent for name, tangent in zip(names, tangents[2:]) if tangent is not None}
        product = _tangent_of(ctx.function, tuple(tangents))
        results = product(*primals, *(tangents[name].contiguous() for name in product.wrt))
        results = dict(zip(product.of, results if isinstance(results, tuple) else (results,)))
        made = tuple(results.get(name) for name in ctx.function._returns())
        return made if len(made) > 1 else made[0]


def _in_places(results, needs):
    results = iter(results if type(results) is tuple else (results,))
    return (None, None, *[next(results) if need else None for need in needs])


def _backward_of_some(ctx, tensors, seeds, given):
    """The gradients where some returns have none: those of the others are a def of their own."""
    record, count = ctx.record, len(ctx.record.needs)
    if not any(given):
        return (None,) * (2 + count)
    some, saved = _record_of(ctx.function, record.needs, given), dict(zip(record.saved, tensors[count:]))
    if all(has or not reads for has, reads in zip(record.reads, some.reads)) and set(some.saved) <= set(saved):
        values = [*tensors[:count], *(saved[place] for place in some.saved)]
    else:
        some, values = record, tensors
        seeds = [
            torch.zeros(shape, dtype=dtype, device=device) if seed is None and is_float else seed
            for seed, is_float, (shape, dtype, device) in zip(seeds, record.given, ctx.shapes)
        ]
    return _in_places(some.gradient(*values, *(seed.contiguous() for seed in seeds if seed is not None)), record.needs)


def node_of(function: Function) -> Any:
    """The class of nodes that calls of `function` make."""
    made = function.__dict__.get("_node")
    if made is None:
        floats, returns = function._float_returns(), function._returns()
        function._float_places = frozenset(returns.index(name) for name in floats)
        function._all_given = tuple(name in floats for name in returns)
        made = function._node = type(function.name, (Node,), {"__doc__": f"A call of '{function.name}'."})
    return made


def places_by_type(function: Function) -> Tuple[Tuple[int, ...], ...]:
    """For each type name of a generic def the places of the parameters that have it."""
    named = function._type_names() or {}
    names = function._parameters()
    return tuple(tuple(names.index(name) for name in named if named[name] == type_name) for type_name in sorted(set(named.values())))


places_by_type._dynamo_marked_constant = True  # type: ignore[attr-defined]


def in_autocast(tensors, places) -> list:
    """`tensors` as torch's autocast has them where it is on: of those in each list of `places`, floats of several types are converted to
    its type."""
    tensors = list(tensors)
    device = next((t.device.type for t in tensors if isinstance(t, torch.Tensor) and t.device.type != "cpu"), "cpu")
    if not torch.is_autocast_enabled(device):
        return tensors
    for sharing in places:
        floats = [place for place in sharing if isinstance(tensors[place], torch.Tensor) and tensors[place].is_floating_point()]
        if len({tensors[place].dtype for place in floats}) > 1:
            for place in floats:
                tensors[place] = tensors[place].to(torch.get_autocast_dtype(device))
    return tensors


def call_in_autocast(function: Function, tensors: tuple, out):
    """A call of a generic def whose tensors differ in type: autocast converts them, or NotImplemented where it is off."""
    if len(tensors) != len(function._parameters()):
        return NotImplemented
    converted = in_autocast(tensors, places_by_type(function))
    return function(*converted, out=out) if any(a is not b for a, b in zip(tensors, converted)) else NotImplemented


def record(function: Function, tensors: tuple):
    """Calls `function` and records it: a tensor requires grad, and torch does nothing else."""
    if function._stands_for_many:
        tensors = tuple(in_autocast(tensors, places_by_type(function)))
        function = function._for_values(tensors)
    node = function.__dict__.get("_node") or node_of(function)
    if not function._float_places:
        with torch.no_grad():
            return function(*tensors)
    return node.apply(function, function, *tensors)
