"""Inputs that a graph without mutation gives new values: where these are stores into the old ones, they go into the memory of the input.

    cache[:, :, p] = k      of torch is      new = index_put(cache, [None, None, p], k)      and a copy of new to cache, made by AOTAutograd

A copy of a tensor to itself does nothing, so a result in the memory of its input ends the update.
"""

import dataclasses

import torch

from .expression import Load
from .program import Program, root_tensor
from .values import View


def updated_inputs(fakes):
    """The results of the graph that AOTAutograd compiles now, with inputs like `fakes`, that are new values of inputs: number of a result, of an input."""
    context = torch._guards.TracingContext.try_get()
    known = context.fw_metadata if context else None
    if known is None or len(known.input_info) != len(fakes):
        return {}
    return dict(enumerate(known.mutated_inp_runtime_indices))


def updates_of_submodules(split, updated):
    """The pairs `updated` of a graph in parts for each submodule, by its name, whose inputs nothing outside of it reads."""
    placeholders = [n for n in split.graph.nodes if n.op == "placeholder"]
    (output,) = [n for n in split.graph.nodes if n.op == "output"]
    results = output.args[0] if isinstance(output.args[0], (tuple, list)) else [output.args[0]]
    made: dict = {n.target: {} for n in split.graph.nodes if n.op == "call_module"}
    for number, source in updated.items():
        result, given = results[number], placeholders[source]
        is_one = isinstance(result, torch.fx.Node) and result.op == "call_module"
        call, place = (result, 0) if is_one else getattr(result, "args", (None, None))[:2] or (None, None)
        if isinstance(call, torch.fx.Node) and call.op == "call_module" and isinstance(place, int) and set(given.users) == {call}:
            made[call.target][place] = call.args.index(given)
    return made


def stored_in_place(program: Program, pairs) -> Program:
    """`program`, whose results have the memory of inputs where `pairs`, number of a result and of an input, allow it: the result is written by one item,
    a copy of the input and then stores; nothing else reads the input, and no other result shows the result's memory.

        before  Y(e,d) = X(e,d)  Y(p(i),d) = K(i,d)         after  Y(e,d) = Y(e,d)  Y(p(i),d) = K(i,d)

    If the program runs again on what it left, it leaves the same.
    """
    items, updates = list(program.items), {}
    shown = [root_tensor(r.value.tensor) for r in program.results if isinstance(r.value, View)]
    for number, source in pairs.items():
        old, result = program.inputs[source], program.results[number].value
        if old is None or not isinstance(result, View) or old in shown or program.inputs.count(old) != 1:
            continue
        new = result.tensor
        written = [k for k, item in enumerate(items) if new in item.writes]
        read = [k for k, item in enumerate(items) if old in item.reads]
        if len(written) != 1 or read != written or shown.count(new) != 1 or not _is_stored_over(items[written[0]], new, old):
            continue
        first, *stores = items[written[0]].statements
        kept = dataclasses.replace(first, value=Load(new, first.subscripts))
        items[written[0]] = dataclasses.replace(items[written[0]], statements=[kept, *stores])
        updates[new] = old
    return dataclasses.replace(program, items=items, updates=updates)


def _is_stored_over(item, new, old):
    """Whether `item` is a copy of `old` to `new`, laid out alike, and stores into it of what neither holds."""
    if item.call or item.reshape or not item.statements or item.writes != [new]:
        return False
    if (new.shape, new.dtype, new.order) != (old.shape, old.dtype, old.order):
        return False
    first, *stores = item.statements
    is_copy = isinstance(first.value, Load) and first.value.tensor is old and list(first.value.subscripts) == list(first.subscripts)
    plain = all(s.operator == "=" and s.loop is None for s in item.statements)
    return is_copy and plain and not any(load.tensor in (new, old) for s in stores for load in s.loads)
