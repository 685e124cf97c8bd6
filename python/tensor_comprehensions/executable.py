"""Defs that are compiled for given tensors: called, saved, shown, measured, explained."""

import dataclasses
import functools
import os
import pathlib
from typing import Optional, Sequence, Tuple, Union

from . import _core
from .function import Function, _html
from .graph import Graph, Node
from .options import Options
from .show import page
from .typed import Out, Tensor


@dataclasses.dataclass(frozen=True)
class Proof:
    """The statement of a compile about its loops, and the verdict of the checker."""

    outcome: str
    """"proved", "refused" or "not decided"."""
    law: str
    """That is broken, or not decided; "" where it is proved."""
    statement: str
    """Of the evidence, that breaks it."""
    reason: str
    milliseconds: float
    """Of the check."""
    text: str
    """The evidence: the text, and of each launch its statements and its schedule."""
    evidence: Tuple[bytes, ...]
    """Of each part that was compiled; the program `tc_proof` checks a file of one."""

    def __bool__(self):
        return self.outcome == "proved"

    def __str__(self):
        where = "".join([f", law '{self.law}'"] * bool(self.law) + [f", statement {self.statement}"] * bool(self.statement))
        return f"{self.outcome}{where}" + (f": {self.reason}" if self.reason else "")


class Executable(_core.Executable):
    """A def compiled for given tensors: called like the def, with tensors of exactly the same types, shapes and strides."""

    def __init__(self, core, function: Optional[Function] = None, how: Options = Options(), constants=None):
        super().__init__(core)
        self._function, self._how, self._bound = function, how, constants or {}
        self.__name__ = self.__qualname__ = self._name()

    def __reduce__(self):
        if self._function is None:
            return load, (self.serialise(),)
        how = dataclasses.replace(self._how, target=self.stats["target"]) if self._is_for_gpu else self._how
        given = {name: argument for name, argument, _ in self._arguments()}
        inputs = [self._bound.get(name, given.get(name)) for name in self._function._parameters()]
        outputs = tuple(argument for _, argument, is_output in self._arguments() if is_output)
        return _restored_executable, (self._function, inputs, outputs, how, list(self._bound))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def _repr_html_(self) -> str:
        rows = [("output" if is_output else "input", name, repr(spec)) for name, spec, is_output in self._arguments()]
        rows += [("constant", name, repr(spec)) for name, spec in self._constants()]
        rows += [("", "target", self.stats["target"]), ("", "options", self.stats["options"] or "default")]
        rows.append(("", "more", "show() makes a page of it, explain() a text"))
        return _html(self.name, ("", "name", ""), rows, self.comprehension)

    @property
    def name(self) -> str:
        return self._name()

    @property
    def _is_for_gpu(self) -> bool:
        return "kernels" in self.stats

    @property
    def comprehension(self) -> str:
        """The def as TC text, calls inlined."""
        return self._comprehension()

    @property
    def source(self) -> str:
        """The code that became machine code: CUDA C++ for a GPU, one loop nest for each launch for a CPU."""
        nest = self._loop_nest_stage()
        return self._device_source() or "\n".join(text for name, _, text in self._stages if name.split(".")[0] == nest)

    @property
    def nest(self) -> str:
        """The loops of the statements and the kind of each loop, as text. `compile(..., nest=text)` accepts it, edited or not. Empty for a
        loaded binary. See docs/nests.md."""
        return "\n".join(text for name, _, text in self._stages if name.split(".")[0] == "nest")

    def _loop_nest_stage(self) -> str:
        """The stage whose text is the loop nest: for a CPU the last before passes for machines and LLVM."""
        return "unswitch_guards" if any(name.startswith("unswitch_guards") for name, _, _ in self._stages) else "raise"

    @property
    def options(self) -> _core.MappingOptions:
        """The options it was compiled with."""
        return _core.MappingOptions(self.stats["options"])

    @functools.cached_property
    def graph(self) -> Graph:
        """The nodes it was compiled from, with the part of each and the code that runs it; a def of one part is one node.

        A loaded executable is one node, too, because the graph is not saved.
        """
        nodes, tensors = self._graph_nodes()
        if nodes:
            return Graph(tuple(Node(name, tuple(i), tuple(o), part, runs) for name, i, o, part, runs in nodes), tensors)
        tensors = {name: spec for name, spec, _ in self._arguments()} | dict(self._constants())
        outputs = tuple(name for name, _, is_output in self._arguments() if is_output)
        runs = next(iter(self.stats["library_calls"]), "own code")
        inputs = tuple(name for name in tensors if name not in outputs)
        return Graph((Node(self.name, inputs, outputs, 0, runs),), tensors)

    @property
    def from_cache(self) -> bool:
        """Whether its machine code was read from the cache on disk and not compiled by this process."""
        return self.stats["from_cache"]

    @property
    def binary(self) -> bytes:
        """Machine code: for a GPU the cubin of all kernels, for a CPU the bytes of `serialise`."""
        return self._cubin() or self._serialise()

    def serialise(self) -> bytes:
        """Machine code, constants and everything that is needed to run it; `load` reads it in another process."""
        return self._serialise()

    def for_tensors(self, *tensors) -> "Executable":
        """The same code for tensors of other sizes, of code that was compiled for ranges of sizes (`dynamic=`); `stats["sizes"]` says for which.
        Also of a loaded executable. Raises ArgumentError for other sizes, and for code of one size or of several parts.
        """
        return Executable(self._for_tensors(*tensors), self._function, self._how, self._bound)

    @property
    def stats(self) -> dict:
        """Compile time by stage, sizes, target, options, whether from the cache, and phases that fell back to a simpler schedule.

        For a GPU also "kernels": registers, spills, shared memory and instructions of each, read from the machine code.
        """
        return self._stats()

    @functools.cached_property
    def proof(self) -> Proof:
        """The statement of its compile about its loops, and the verdict of the checker. See docs/proofs.md."""
        outcome, law, statement, reason, milliseconds, evidence = self._proof()
        texts = "\n".join(text for _, text in evidence)
        return Proof(outcome, law, statement, reason, milliseconds, texts, tuple(part for part, _ in evidence))

    def profile(self, *tensors: Tensor, out: Out = None) -> dict:
        """Microseconds of one checked run, "total_us", of the machine code alone, "kernels_us", and on a CPU "launches": for each launch
        the name of its part, and its microseconds."""
        return self._profile(*tensors, out=out)

    def prepare(self, device: int = 0) -> None:
        """Loads kernels into GPU `device` and allocates what they need in its current stream, as a first call would.

        After it a call only puts kernels into the stream, so that a graph can capture it, also on one stream of its own, as torch
        does. Nothing for a CPU.
        """
        self._prepare(device)

    def defer_checks(self, defer: bool = True) -> None:
        """Lets calls on a GPU run without waiting for the checks of index tensors, so that CUDA graphs can record them.

        A value outside of the tensor that it indexes is then replaced by an index inside, so that no other memory is touched; the next call
        after it, or `tc.check()`, raises EarlierRunError. On a CPU there is no effect, because checks end before a call returns.
        """
        self._defer_checks(defer)

    @functools.cached_property
    def _stages(self):
        if self._function is None:
            return []
        return self._function._stage_texts(self, self._how.settings())

    @functools.cached_property
    def _sections(self):
        """For each compiled part: its statements, nests, and texts with lines that name their statements."""
        return [] if self._function is None else self._function._sections(self, self._how.settings())

    @functools.cached_property
    def _report(self):
        """The operations and bytes of a run. For a loaded binary they are computed from its source, mapped by this compiler."""
        if self._function is not None:
            return self._function._work(self, self._how.settings())
        settings = Options(target=self.stats["target"], cache=False).settings()
        definitions, _ = _core.define(self._comprehension(), self.name)
        return _core.Function(definitions[-1], settings)._work(self, settings)

    @property
    def work(self) -> dict:
        """The operations and bytes of one run, computed without running it; the first access takes about as long as a compile.

            flops               of the text, over the boxes of its statements; "exact" unless arms of a conditional differ
            operations          by kind; comparisons and integer operations are not FLOPs
            bytes               predicted, "read" and "written" between "registers-L1", "L1-L2", "L2-L3", "L3-memory"
            compulsory_bytes    minimum bytes of the arguments: each byte once
            tensors             the same for each tensor, with its "unique" bytes
            intensity           FLOPs per byte between L3 and memory
            prices              of each group of fused statements, or kernel: "seconds", its "terms", for a GPU its "bytes"
            not_predicted       why there are no bytes between caches, or None
        """
        return self._report._as_dict()

    def _seconds(self, tensors, out) -> float:
        """The median time of some runs: on `tensors`, or on tensors of its own making."""
        if self._is_for_gpu:
            raise _core.OptionsError("runs on a GPU are not measured: profile them with its own tools")
        if not tensors:
            return self._measure()
        self._profile(*tensors, out=out)
        runs = [self._profile(*tensors, out=out)["kernels_us"]]
        while len(runs) < 3 or (sum(runs) < 1e5 and len(runs) < 1000):
            runs.append(self._profile(*tensors, out=out)["kernels_us"])
        return sorted(runs)[len(runs) // 2] * 1e-6

    def roofline(self, *tensors: Tensor, out: Out = None) -> dict:
        """The position of a run under the limits of this machine, measured on `tensors` or else on generated tensors.

        The machine's peak and its memory's bandwidth are measured once in a process, about 0.2 seconds; shares are None if a limit could
        not be measured or bytes are not predicted. "bound": "arithmetic" or "memory" at half of a
        limit or more, else "neither"; "unknown" without limits. "cache": the nearest cache that holds all data from run to run
        ("L1", "L2" or "L3"), which memory does not limit, or None.
        """
        return self._report._roofline(self.stats["target"], self._seconds(tensors, out))[0]

    def _position(self, seconds) -> Optional[dict]:
        """The roofline of a run that takes `seconds`, None: as long as predicted, with "predicted" seconds; None for a GPU."""
        if self._is_for_gpu:
            return None
        predicted = sum(price["seconds"] for price in self.work["prices"])
        position = self._report._roofline(self.stats["target"], seconds or predicted or 1.0)[0]
        return position | {"predicted": predicted}

    def show(self, path: Union[str, os.PathLike, None] = None, *tensors: Tensor, out: Out = None, measure: bool = False) -> str:
        """A self-contained HTML page about it, written to `path` if one is given: text, ranges, nest, loop nest and
        machine code, linked statement by statement, with its roofline, bytes, price and layouts. See docs/show.md.

        With `tensors`, or `measure`, the kernel is also run and timed, as by `explain`.
        """
        seconds = self._seconds(tensors, out) if tensors or measure else None
        times = [time for _, time in self._profile(*tensors, out=out)["launches"]] if tensors else []
        launches = [(part, call, time) for (part, call), time in zip(self._launches(), times or [None] * self.stats["launches"])]
        text = page(self, seconds, launches)
        if path is not None:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        return text

    def explain(self, *tensors: Tensor, out: Out = None, measure: bool = False) -> str:
        """Ranges, work, schedule, loop nest and assembly as text.

        With `tensors`, or `measure`, it is run too: its time and its place under the machine's limits, see `roofline`; with `tensors`
        the time of each of several launches.
        """
        parts = [f"# {self.name} for {self.stats['target']}\n" + "\n".join(self._argument_lines())]
        work = "## work\n" + self._report._text()
        if tensors or measure:
            work += self._report._roofline(self.stats["target"], self._seconds(tensors, out))[1]
        if self._function is None:
            work += "(of the source that was loaded, mapped anew; its schedule and loop nest were not kept)\n"
        parts.append(work)
        if self.stats["sizes"]:
            parts.append("## sizes\n" + "\n".join([self.stats["sizes"], *self.stats["declined"]]))
        if self._library_lines():
            parts.append("## libraries\n" + "\n".join(self._library_lines()))
        if self.stats["launches"] > 1:
            parts.append("## launches\n" + "\n".join(self._launch_lines(tensors, out)))
        parts += self._graph_texts()
        for part in self._sections:
            of = f" of {part['name']}" if len(self._sections) > 1 else ""
            for section in part["sections"]:
                if section["title"] not in ("assembly", "CUDA"):
                    parts.append(f"## {section['title']}{of}\n" + "\n".join(text for text, _ in section["lines"]))
        parts.append(f"## CUDA\n{self.source}" if self._is_for_gpu else f"## assembly\n{self._assembly()}")
        return "\n\n".join(parts)

    def _graph_texts(self):
        """What layouts and derivation made of the graph, and why."""
        stats = self.stats
        if stats["finalists"]:
            yield "## finalists\n" + "\n".join(stats["finalists"])
        if stats["layouts"]:
            yield "## layouts\n" + "\n".join(stats["layouts"])
        if stats["derived"]:
            lines = []
            for node in stats["derived"]:
                lines.append(f"{node['node']}: {node['before_us']:.1f} us, derived {node['after_us']:.1f} us ({node['source']})")
                lines += [f"  {rule}" for rule in node["rules"]]
            yield "## derived\n" + "\n".join(lines)
        if stats["graph"]:
            yield "## graph\n" + stats["graph"]
        if len(self.graph.nodes) > 1:
            yield f"## nodes\n{self.graph}"

    def _library_lines(self):
        stats = self.stats
        return [f"calls {call}" for call in stats["library_calls"]] + stats["library_notes"]

    def _launch_lines(self, tensors, out):
        times = self._profile(*tensors, out=out)["launches"] if tensors else []
        times = [time for _, time in times] or [None] * self.stats["launches"]
        for (part, call), time in zip(self._launches(), times):
            spent = "" if time is None else f"{time:10.1f} us {100 * time / max(sum(times), 1e-9):5.1f} %  "
            yield f"{spent}{part}: {call or 'own code'}"

    def _argument_lines(self):
        for name, argument, is_output in self._arguments():
            yield f"{'output' if is_output else 'input'} {name}: {argument!r}"
        for name, constant in self._constants():
            yield f"constant {name}: {constant!r}"

    def __repr__(self):
        return f"<tensor_comprehensions.Executable {self.name} for {self.stats['target']}>"


def compiled(function: Function, given: tuple, out, how: Options, constants: Sequence[str] = ()) -> Executable:
    """`function` compiled for arguments `given` in the order of its parameters, and outputs like `out`. It holds the arguments `constants`."""
    function = function._for_values(given)
    core = function._compile(given, out, how.settings(), list(constants))
    held = {name: given[function._parameters().index(name)] for name in constants}
    return Executable(core, function, how, held)


def _restored_executable(function, inputs, outputs, how, constants) -> Executable:
    """The executable that a pickle holds, compiled for this machine."""
    return compiled(function, tuple(inputs), outputs if len(outputs) > 1 else outputs[0], how, constants)


def load(binary: bytes) -> Executable:
    """The executable that `serialise` wrote. Raises ArgumentError for other bytes, OptionsError for another machine's.

    Only for trusted input: the bytes hold machine code, which runs with all rights of this process. Damage is noticed, ill will is not:
    crafted bytes can do anything, from here on. Load them only from where you would take a program.
    """
    return Executable(_core.load_executable(binary))
