"""A core ATen graph in parts: those that tc takes, compiled, and the rest, which torch runs.

Nothing here raises for a graph that torch can run, but where its sizes are symbols: nodes that are not taken, or fail to compile, run in torch.
"""

import json
import os
import tempfile
import time
import warnings
import weakref
from typing import Dict
from types import MappingProxyType

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .. import _core
from . import report as reporting
from .compiler import Compiler
from .lowered import Lowered, NodeFailed, is_getitem, lower_graph
from .lowering import VIEWS
from .places import device_of, devices_of
from .random_states import drop_random_states
from .report import Part, Report, log
from .runner import PartFailed, Runner
from .sizes import is_size
from .specialise import has_symbols
from .updates import stored_in_place, updates_of_submodules
from .values import Decline
from .work import work_of

A_NUMBER = "a number"
"""Why torch computes a size from sizes."""


class _Support(OperatorSupportBase):
    def __init__(self, names):
        self.names = names

    def is_node_supported(self, submodules, node):
        return node.op == "call_function" and node.name in self.names


def lowered_for(module, compiler, refused=MappingProxyType({}), held=()) -> Lowered:
    """The calls of a graph, lowered but for `refused` ones, names with reasons, and those that `compiler` has no code for. The inputs whose
    numbers are `held` may be constants."""
    devices = devices_of(module.graph)

    def reason_against(node):
        if is_size(node.meta.get("val")):
            return A_NUMBER
        if node.name in refused:
            return refused[node.name]
        if len(devices[node]) > 1:
            return f"its tensors are on {' and '.join(sorted(map(str, devices[node])))}"
        return compiler.reason_against(*devices[node])

    return Lowered(module, reason_against, held)


def _computes(node):
    return not is_getitem(node) and node.target not in VIEWS


def partition(module, reasons):
    """Puts the nodes that are taken into submodules "tc_0_0", ..., each of one device; a part of views alone stays with torch."""
    taken = {}
    for node, devices in devices_of(module.graph).items():
        if reasons[node.name] is None:
            taken.setdefault(next(iter(devices)), set()).add(node.name)
    for number, device in enumerate(sorted(taken, key=str)):
        partitioner = CapabilityBasedPartitioner(module, _Support(taken[device]), allows_single_node_partition=True)
        parts = [p for p in partitioner.propose_partitions() if any(_computes(n) for n in p.nodes)]
        for p in parts:
            _drop_orphans(p)
        module = partitioner.fuse_partitions([p for p in parts if p.nodes], prefix=f"tc_{number}_")
    return module


def _drop_orphans(part):
    """A result of several that a part shows outside must be picked by its getitem in the same part."""
    for node in list(part.nodes):
        if is_getitem(node) and node.args[0] not in part.nodes:
            part.remove_node(node)


def write_reproducer(failure: PartFailed) -> str:
    """A folder with the text of a part, its tensors and the error, to be sent with a report."""
    folder = tempfile.mkdtemp(prefix="tc_reproducer.")
    with open(os.path.join(folder, "part.tc"), "w", encoding="utf-8") as file:
        file.write(failure.part.named("part"))
    with open(os.path.join(folder, "specs.json"), "w", encoding="utf-8") as file:
        specs = [{"shape": s.shape, "strides": s.strides, "dtype": s.dtype} for s in failure.specs]
        json.dump({"specs": specs, "inputs": len(failure.part.params), "error": str(failure.error)}, file, indent=1)
    return folder


class _Guarded:
    """A part of a graph as it is called: compiled, and torch's own where a run fails."""

    def __init__(self, runner, fallback, single):
        self.runner, self.fallback, self.single, self.told = runner, fallback, single, False

    def __call__(self, *inputs):
        try:
            made = self.runner(inputs)
        except (_core.EarlierRunError, Decline):
            raise
        except Exception as error:  # whatever it is, torch's own operators give the result or raise the error
            if not self.told:
                self.told = True
                warnings.warn(f"a part of a model compiled by tc failed and ran in torch: {error}", stacklevel=2)
            return self.fallback(*inputs)
        return made[0] if self.single else tuple(made)


def _compile_submodule(submodule, compiler, frozen, program):
    """The runner of a submodule that became `program`, which may hold its inputs `frozen`. Raises PartFailed, Decline."""
    placeholders = [n.meta["val"] for n in submodule.graph.nodes if n.op == "placeholder"]
    (output,) = [n for n in submodule.graph.nodes if n.op == "output"]
    results = output.args[0] if isinstance(output.args[0], (tuple, list)) else [output.args[0]]
    fakes = [r.meta.get("val") if isinstance(r, torch.fx.Node) else None for r in results]
    runner = Runner(program, placeholders, compiler, fakes, frozen, device_of(submodule.graph))
    return _Guarded(runner, submodule, results is not output.args[0])


def _frozen_inputs(split, static):
    """The inputs `static` of the graph by their places among the arguments of each submodule, by its name."""
    placeholders = [n for n in split.graph.nodes if n.op == "placeholder"]
    nodes = {placeholders[k]: tensor for k, tensor in static.items()}
    return {
        n.target: {i: nodes[argument] for i, argument in enumerate(n.args) if argument in nodes}
        for n in split.graph.nodes
        if n.op == "call_module"
    }


def static_inputs(fakes, tensors):
    """The inputs of the graph that AOTAutograd compiles now which are parameters and buffers, by their numbers: those of `tensors`, which
    Dynamo gave, or None where these are not the inputs `fakes`."""
    context = torch._guards.TracingContext.try_get()
    known = context.fw_metadata if context else None
    numbers = [k for k in known.static_input_indices if k not in known.mutated_inp_runtime_indices] if known else []
    same = len(fakes) == len(tensors) and all(_is_like(tensors[k], fakes[k]) for k in numbers)
    return {k: tensors[k] if same else None for k in numbers}


def _is_like(tensor, fake):
    if isinstance(tensor, torch._subclasses.FakeTensor) or not isinstance(tensor, torch.Tensor):
        return False
    return tensor.shape == fake.shape and tensor.stride() == fake.stride() and tensor.dtype is fake.dtype


def compile_graph(
    module: torch.fx.GraphModule, kind: str, compiler: Compiler, static=MappingProxyType({}), sizes="", check=lambda reasons: None, updated=MappingProxyType({})
):
    """A callable of the inputs of a core ATen graph, and the report of it, which has `sizes`. Compiled parts may hold the inputs `static`, see
    static_inputs, and store results in inputs as `updated` says, see updates.py. Raises Decline where sizes are symbols and a part does not take them, and what `check` raises for the reasons why calls are left to torch."""
    started, report = time.perf_counter(), Report(kind, sizes=sizes)
    refused: Dict[str, str] = {}
    while True:
        copy = torch.fx.GraphModule(module, _copied(module.graph))
        drop_random_states(copy.graph)
        made = lowered_for(copy, compiler, refused, static)
        reasons = made.reasons
        if not refused:
            check(reasons)
        order = _random_nodes(copy)
        split = partition(copy, reasons)
        left = set(_random_nodes(split))
        if _random_nodes(split) != [name for name in order if name in left]:
            refused |= {
                n.name: "taking it would reorder random numbers" for n in module.graph.nodes if n.op == "call_function"
            }
            continue
        frozen, updates = _frozen_inputs(split, static), updates_of_submodules(split, updated)
        failed: Dict[str, str] = {}
        compiled: dict = {}
        for name, sub in split.named_children():
            if name.startswith("tc_") and not failed:
                try:
                    program = made.program(sub.graph) if made.has_program_of(sub.graph) else lower_graph(sub, held=frozen[name])
                    compiled[name] = _compile_submodule(sub, compiler, frozen[name], stored_in_place(program, updates[name]))
                except Exception as error:
                    if has_symbols(module):
                        raise
                    failed = _nodes_at_fault(sub, compiler, error, report)
                    if failed.keys() <= refused.keys():
                        raise
        if not failed:
            break
        refused |= failed
    for name, guarded in compiled.items():
        _report_part(report, guarded)
        delattr(split, name)
        setattr(split, name, _as_module(guarded))
    _report_rest(report, split, reasons)
    report.seconds = time.perf_counter() - started
    reporting.keep(report)
    return split, report


def _nodes_at_fault(submodule, compiler, error, report):
    """The nodes of a submodule that are left to torch because compiling it raised `error`, and why: those that the error names, else those that fail
    alone, else all."""
    if isinstance(error, NodeFailed):
        return {error.node: str(error)}
    if isinstance(error, PartFailed):
        path = write_reproducer(error)
        report.reproducers.append(path)
        reason = f"its part failed to compile: {str(error.error).splitlines()[0]}"
        warnings.warn(f"{reason}; it runs in torch. To report it, send the folder {path}", stacklevel=4)
        return {item.node.name: reason for item in error.items}
    log.debug("a part failed", exc_info=error)
    calls = [n for n in submodule.graph.nodes if n.op == "call_function" and not is_getitem(n)]
    failed = {}
    for node in calls if len(calls) > 1 else []:
        try:
            alone = _alone(node)
            _compile_submodule(alone, compiler, (), lower_graph(alone))
        except Exception as own:
            failed[node.name] = f"it failed to compile: {type(own).__name__}: {own}"
    return failed or {n.name: f"its part failed to compile: {type(error).__name__}: {error}" for n in calls}


def _alone(node):
    """A graph of one call and the results of it that are read."""
    graph, values = torch.fx.Graph(), {}
    for argument in node.all_input_nodes:
        values[argument] = graph.placeholder(argument.name)
    kept = [node, *(user for user in node.users if is_getitem(user))]
    for one in kept:
        values[one] = graph.node_copy(one, values.__getitem__)
    graph.output(tuple(values[one] for one in (kept[1:] or kept)))
    for old, new in values.items():
        new.meta = dict(old.meta)
    return torch.fx.GraphModule({}, graph)


def _copied(graph):
    copy = torch.fx.Graph()
    values = {}
    result = copy.graph_copy(graph, values)
    copy.output(result)
    (output,) = [n for n in copy.nodes if n.op == "output"]
    for old, new in values.items():
        new.meta = dict(old.meta)
        new.name = old.name
    return copy


class _as_module(torch.nn.Module):
    def __init__(self, guarded):
        super().__init__()
        self.guarded = guarded
        self.forward = guarded


def _random_nodes(module):
    tag = torch.Tag.nondeterministic_seeded
    return [n.name for n in module.graph.nodes if isinstance(n.target, torch._ops.OpOverload) and tag in n.target.tags]


def _report_part(report, guarded):
    runner = guarded.runner
    report.launches += runner.launches
    report.runners.append(weakref.ref(runner))
    for part, items in runner.parts:
        flops = sum(item.flops for item in items)
        names = tuple(dict.fromkeys(item.node.name for item in items))
        report.parts.append(Part(part.named("part"), names, flops))
        report.in_place += names if set(part.returns) & runner.program.updates.keys() else ()
    for node in guarded.fallback.graph.nodes:
        if node.op == "call_function" and not is_getitem(node):
            report.taken.append((node.name, str(node.target)))
            report.work[node.name] = work_of(node)


def _report_rest(report, split, reasons):
    for node in split.graph.nodes:
        if node.op != "call_function" or is_getitem(node) or is_size(node.meta.get("val")):
            continue
        view = isinstance(node.target, torch._ops.OpOverload) and node.target in VIEWS
        reason = reasons.get(node.name) or ("a view beside no computation" if view else "taking it alone gains nothing")
        report.left.append((node.name, str(node.target), reason))
        report.work[node.name] = work_of(node)
