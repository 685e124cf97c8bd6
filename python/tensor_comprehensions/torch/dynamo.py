"""`torch.compile(model, backend="tc")`.

    Dynamo's graph -- AOTAutograd --> core ATen graphs -- partition --> parts of tc, the rest of torch

Nothing here raises for a model that torch can run: what is not taken, or fails to compile, runs in torch.
"""

import json
import logging
import os
import tempfile
import threading
import time
import warnings
import weakref
from types import MappingProxyType

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

import tensor_comprehensions as tc

from . import report as reporting
from .decompositions import decompositions
from .lowering import VIEWS
from .places import device_of, devices_of
from .program import NodeFailed, decline_reason, lower_graph
from .random_states import drop_random_states
from .recording import Recording, forget_recordings, recorded
from .report import Part, Report, log
from .runner import MOST_SPECIALISATIONS, Compiler, PartFailed, Runner
from .sizes import is_size
from .specialise import Generalised, has_symbols, specialised
from .values import Decline
from .work import work_of

MOST_GENERALISATIONS = 8
"""Times that one graph is compiled for all sizes that answer its questions alike."""


A_NUMBER = "a number"
"""Why torch computes a size from sizes."""


class _Support(OperatorSupportBase):
    def __init__(self, names):
        self.names = names

    def is_node_supported(self, submodules, node):
        return node.op == "call_function" and node.name in self.names


def _is_getitem(node):
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem"


def decline_reasons(module, refused, compiler):
    """For each call of a graph, by its name, why it is left to torch, None if it is taken. `refused` names nodes left before."""
    reasons = {}
    for node, devices in reversed(devices_of(module.graph).items()):
        if _is_getitem(node):
            reasons[node.name] = reasons.get(node.args[0].name)
        elif is_size(node.meta.get("val")):
            reasons[node.name] = A_NUMBER
        elif node.name in refused:
            reasons[node.name] = refused[node.name]
        elif len(devices) > 1:
            reasons[node.name] = f"its tensors are on {' and '.join(sorted(map(str, devices)))}"
        else:
            reasons[node.name] = compiler.reason_against(*devices) or decline_reason(node)
    return reasons


def _computes(node):
    return not _is_getitem(node) and node.target not in VIEWS


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
        if _is_getitem(node) and node.args[0] not in part.nodes:
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
        except (tc.EarlierRunError, Decline):
            raise
        except Exception as error:  # whatever it is, torch's own operators give the result or raise the error
            if not self.told:
                self.told = True
                warnings.warn(f"a part of a model compiled by tc failed and ran in torch: {error}", stacklevel=2)
            return self.fallback(*inputs)
        return made[0] if self.single else tuple(made)


def _compile_submodule(submodule, compiler, frozen):
    """The runner of a submodule all of whose nodes are taken, which may hold its inputs `frozen`. Raises PartFailed, Decline."""
    program = lower_graph(submodule, held=frozen)
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


def _static_inputs(fakes, tensors):
    """The inputs of the graph that AOTAutograd compiles now which are parameters and buffers, by their numbers: those of `tensors`, which
    Dynamo gave, or None where these are not the inputs `fakes`."""
    context = torch._guards.TracingContext.try_get()
    numbers = tuple(context.fw_metadata.static_input_indices) if context and context.fw_metadata else ()
    same = len(fakes) == len(tensors) and all(_is_like(tensors[k], fakes[k]) for k in numbers)
    return {k: tensors[k] if same else None for k in numbers}


def _is_like(tensor, fake):
    if isinstance(tensor, torch._subclasses.FakeTensor) or not isinstance(tensor, torch.Tensor):
        return False
    return tensor.shape == fake.shape and tensor.stride() == fake.stride() and tensor.dtype is fake.dtype


def compile_graph(module: torch.fx.GraphModule, kind: str, compiler: Compiler, static=MappingProxyType({}), sizes=""):
    """A callable of the inputs of a core ATen graph, and the report of it, which has `sizes`. Compiled parts may hold the inputs `static`, see
    _static_inputs. Raises Decline where sizes are symbols and a part does not take them."""
    started, refused, report = time.perf_counter(), {}, Report(kind, sizes=sizes)
    while True:
        copy = torch.fx.GraphModule(module, _copied(module.graph))
        drop_random_states(copy.graph)
        reasons = decline_reasons(copy, refused, compiler)
        order = _random_nodes(copy)
        split = partition(copy, reasons)
        left = set(_random_nodes(split))
        if _random_nodes(split) != [name for name in order if name in left]:
            refused |= {
                n.name: "taking it would reorder random numbers" for n in module.graph.nodes if n.op == "call_function"
            }
            continue
        frozen, failed, compiled = _frozen_inputs(split, static), {}, {}
        for name, sub in split.named_children():
            if name.startswith("tc_") and not failed:
                try:
                    compiled[name] = _compile_submodule(sub, compiler, frozen[name])
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
    calls = [n for n in submodule.graph.nodes if n.op == "call_function" and not _is_getitem(n)]
    failed = {}
    for node in calls if len(calls) > 1 else []:
        try:
            _compile_submodule(_alone(node), compiler, ())
        except Exception as own:
            failed[node.name] = f"it failed to compile: {type(own).__name__}: {own}"
    return failed or {n.name: f"its part failed to compile: {type(error).__name__}: {error}" for n in calls}


def _alone(node):
    """A graph of one call and the results of it that are read."""
    graph, values = torch.fx.Graph(), {}
    for argument in node.all_input_nodes:
        values[argument] = graph.placeholder(argument.name)
    kept = [node, *(user for user in node.users if _is_getitem(user))]
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
    for node in guarded.fallback.graph.nodes:
        if node.op == "call_function" and not _is_getitem(node):
            report.taken.append((node.name, str(node.target)))
            report.work[node.name] = work_of(node)


def _report_rest(report, split, reasons):
    for node in split.graph.nodes:
        if node.op != "call_function" or _is_getitem(node) or is_size(node.meta.get("val")):
            continue
        view = isinstance(node.target, torch._ops.OpOverload) and node.target in VIEWS
        reason = reasons.get(node.name) or ("a view beside no computation" if view else "taking it alone gains nothing")
        report.left.append((node.name, str(node.target), reason))
        report.work[node.name] = work_of(node)


class _ForAllSizes:
    """A graph with symbolic sizes: compiled for ranges of them, and where that cannot be for the sizes of each call, see _Specialising."""

    def __init__(self, module, kind, compiler):
        self.module, self.kind, self.compiler = module, kind, compiler
        self.made, self.like_first, self.lock = [], {}, threading.Lock()
        self.specialising = None

    def __call__(self, *inputs):
        if self.specialising is None:
            try:
                return self._for(inputs)(*inputs)
            except Decline as reason:
                self.specialising = _Specialising(self.module, self.kind, self.compiler, str(reason))
        return self.specialising(*inputs)

    def _for(self, inputs):
        """The callable for `inputs`. Raises Decline where no code for ranges takes them."""
        if self.made:
            values = self.made[0][0].values(inputs)
            found = self.like_first.get(values)
            if found is not None:
                return found
        with self.lock:
            found = next((run for general, run in self.made if general.is_for(general.values(inputs))), None)
            found = found or self._compile(inputs)
            self.like_first[self.made[0][0].values(inputs)] = found
        return found

    def _compile(self, inputs):
        if not self.compiler.specialise_seconds:
            raise Decline("no time is given for it")
        if len(self.made) >= MOST_GENERALISATIONS:
            raise Decline("its sizes are of too many kinds")
        started = time.perf_counter()
        try:
            general = Generalised(self.module, inputs)
            self._check_reasons(general.module, inputs)
            run, report = compile_graph(general.module, self.kind, self.compiler, sizes="all like the first")
        except Exception as error:
            reason = str(error).splitlines()[0] if isinstance(error, (Decline, ValueError, tc.Error)) else f"{type(error).__name__}: {error}"
            log.info("a graph is compiled for each size by itself, %.1f s: %s", time.perf_counter() - started, reason)
            log.debug("not for all sizes", exc_info=True)
            raise Decline(reason) from error
        self.made.append((general, run))
        return run

    def _check_reasons(self, module, inputs):
        """Raises Decline where a node is left to torch because sizes are symbols."""
        left = {name: why for name, why in decline_reasons(module, {}, self.compiler).items() if why and why != A_NUMBER}
        if left:
            alone = decline_reasons(specialised(self.module, inputs), {}, self.compiler)
            for name, why in left.items():
                if alone.get(name) is None:
                    raise Decline(why)


class _Specialising:
    """A graph with symbolic sizes: compiled for the sizes of each call, up to limits of number and time; torch runs it for others."""

    def __init__(self, module, kind, compiler, reason):
        self.module, self.kind, self.compiler, self.reason = module, kind, compiler, reason
        self.known, self.lock = {}, threading.Lock()
        self.seconds, self.ended = 0.0, False

    def __call__(self, *inputs):
        key = tuple((i.shape, i.stride()) if isinstance(i, torch.Tensor) else i for i in inputs)
        found = self.known.get(key)
        if found is None and not self.ended:
            with self.lock:
                found = self.known.get(key) or self._compile(key, inputs)
        return (found or self.module)(*inputs)

    def _compile(self, key, inputs):
        """What runs `inputs`; None where a limit is reached."""
        limit = self.compiler.specialise_seconds
        if self.seconds >= limit or len(self.known) >= MOST_SPECIALISATIONS:
            log.info("a graph took %.1f s for %d different shapes: torch runs it for further ones", self.seconds, len(self.known))
            self.ended = True
            return None
        started = time.perf_counter()
        try:
            self.known[key] = compile_graph(
                specialised(self.module, inputs), self.kind, self.compiler, sizes=f"of each call alone: {self.reason}"
            )[0]
        except Exception as error:  # a graph must not break
            warnings.warn(f"a graph with symbolic sizes runs in torch: {type(error).__name__}: {error}", stacklevel=3)
            self.known[key] = self.module
        self.seconds += time.perf_counter() - started
        return self.known[key]


def _compiler_of(kind, compiler, recording, tensors=()):
    """What AOTAutograd calls for each graph of a module whose inputs Dynamo gave as `tensors`; it is recorded where `recording` is not None."""

    def compile_it(module, example_inputs):
        if has_symbols(module):
            return make_boxed_func(_ForAllSizes(module, kind, compiler))
        static = _static_inputs(example_inputs, tensors) if compiler.freeze and kind == "inference" else {}
        try:
            run, report = compile_graph(module, kind, compiler, static)
        except Exception as error:  # a model must not break
            warnings.warn(f"tc does not take a graph, it runs in torch: {type(error).__name__}: {error}", stacklevel=2)
            log.debug("not taken", exc_info=True)
            return make_boxed_func(module.forward)
        if recording is not None:
            try:
                return recorded(run, module, example_inputs, kind, recording, report.executables)
            except Exception as error:  # torch's functions for it are private ones, which may change
                report.not_recorded = str(error) if isinstance(error, Decline) else f"{type(error).__name__}: {error}"
                log.info("a %s graph is not recorded: %s", kind, report.not_recorded)
        return make_boxed_func(run)

    return compile_it


_OPTIONS = ("target", "options", "cache", "libraries", "layouts", "time_limit", "memory_limit", "freeze", "fold_scales")
_OPTIONS += ("specialise_seconds", "cuda_graphs")


def backend(module, example_inputs, mode=None, options=None, **unknown):
    """The backend "tc" of torch.compile.

    `options` are those of `tc.compile`: target, options, cache, libraries, layouts, time_limit, memory_limit; and "freeze": in inference,
    parameters are constants, "fold_scales" (then on): with norms folded into weights; "specialise_seconds": how long a graph with
    symbolic sizes is compiled for the sizes that it meets, see docs/models.md; "cuda_graphs": on a GPU, calls are recorded and replayed, which
    the mode "reduce-overhead" means too.
    """
    options = dict(options or {})
    wrong = [*(set(options) - set(_OPTIONS)), *unknown]
    if wrong or mode not in (None, "default", "reduce-overhead"):
        raise tc.OptionsError(
            f"the backend tc has no {', '.join(map(repr, wrong)) or f'mode {mode!r}'}; options: {', '.join(_OPTIONS)}"
        )
    recording = Recording() if options.pop("cuda_graphs", False) or mode == "reduce-overhead" else None
    compiler = _shared_compiler(options)
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return aot_autograd(
        fw_compiler=_compiler_of("forward", compiler, recording),
        bw_compiler=_compiler_of("backward", compiler, recording),
        inference_compiler=_compiler_of("inference", compiler, recording, example_inputs),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=False,
    )(module, example_inputs)


_compilers = {}


def _shared_compiler(options):
    key = tuple(sorted((k, str(v)) for k, v in options.items()))
    if key not in _compilers:
        compiler = Compiler(**options)
        compiler.check_options()
        _compilers.setdefault(key, compiler)
    return _compilers[key]


def _reset():
    """Called by torch._dynamo.reset()."""
    _compilers.clear()
    forget_recordings()


backend.reset = _reset
