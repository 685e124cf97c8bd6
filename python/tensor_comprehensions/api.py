"""The Python face of the compiler: names, defaults and texts; the work is done by _core."""

import dataclasses
import functools
import html
import inspect
import keyword
import math
import os
import re
import warnings
from typing import Optional, Sequence, Tuple

from . import _core


@dataclasses.dataclass(frozen=True)
class Output:
    """A return of a def as its caller sees it: dense and 0-based, its first element being the one at `mins`."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    mins: Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Inference:
    """What the compiler infers of a def for given tensors."""

    outputs: Tuple[Output, ...]
    ranges: Tuple[str, ...]
    """The iterators of each statement: "O(i): i in [0, 4), k in [0, 3)"."""
    preconditions: Tuple[str, ...]
    """The conditions on sizes that calls are checked for, with what they protect."""

    def __str__(self):
        lines = [f"{o.name}: {o.dtype}{list(o.shape)}, first element at {list(o.mins)}" for o in self.outputs]
        lines += [f"range {line}" for line in self.ranges]
        lines += [f"needs {line}" for line in self.preconditions]
        return "\n".join(lines)


def _dtype_name(dtype) -> str:
    """The language's name of a type given as text, as a NumPy type or as a torch type."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return {"bool_": "bool"}.get(name, name).rpartition(".")[2]


def spec(shape: Sequence[int], dtype="float32", strides: Optional[Sequence[int]] = None) -> _core.TensorSpec:
    """A tensor without data, for `infer` and `compile`. Strides count elements; without them the tensor is dense."""
    return _core.TensorSpec(list(shape), _dtype_name(dtype), None if strides is None else list(strides))


MODES = ("cached", "default", "tuned")


def _settings(target, options, cache, **limits) -> _core.Settings:
    """`options` and `cache` as `compile` takes them."""
    if isinstance(options, str) and options in MODES:
        limits["mapping_from"] = options
    elif isinstance(options, str):
        limits["mapping"] = _core.MappingOptions(options)
    else:
        limits["mapping"] = options
    if cache is False:
        limits["use_cache"] = False
    elif cache is not None:
        limits["cache"] = cache._core
    return _core.Settings(target=target, **limits)


def _memory_limit(limit: float) -> int:
    """`limit` in bytes as the compiler takes it: 0 for none."""
    if not limit >= 0:
        raise _core.OptionsError("a memory limit is a number of bytes that is not negative; 0: none")
    return 0 if math.isinf(limit) else int(limit)


@dataclasses.dataclass(frozen=True)
class _Origin:
    """Where a def came from: with it another process makes the same."""

    text: str
    text_name: str
    how: tuple
    """Keywords of `define`, as pairs."""


class _DocumentsItself:
    """The docstring of a class, and of its objects what they say of themselves."""

    def __init__(self, text):
        self.text = text

    def __get__(self, instance, owner):
        return self.text if instance is None else instance._documentation()


class Function(_core.Function):
    __doc__ = _DocumentsItself("""One def of a text. Called with tensors, it compiles on first use for their types, shapes and strides.

    Tensors are given in the order of the parameters or by their names. Parameters of rank 0 also take Python numbers. Outputs are allocated by the library of the first tensor (torch or
    NumPy) or passed as `out=`: a tensor, or a tuple of tensors where there are several returns.
    """)

    def __init__(self, definition: _core.Definition, settings: _core.Settings, origin: Optional[_Origin] = None):
        super().__init__(definition, settings)
        self.__name__ = self.__qualname__ = self._name()
        self._origin = origin

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        if cls.__call__ is Function.__call__:
            _core.call_straight(cls)

    def __call__(self, *tensors, out=None, **named):
        """The call as torch's compiler reads it. Python's own calls go straight to the machine code (`call_straight`)."""
        from .operators import call_traced

        return call_traced(self, tensors, out, named)

    def _operator_name(self) -> str:
        """The name in torch.ops.tc of the operator that it is, which tracers record."""
        from .operators import operator_of

        return operator_of(self)._opname

    _operator_name._dynamo_marked_constant = True

    @property
    def name(self) -> str:
        return self._name()

    @property
    def __signature__(self) -> inspect.Signature:
        parameters, returns = self._signature()
        named = [
            inspect.Parameter(
                name if not keyword.iskeyword(name) else f"{name}_",
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=f"{dtype}({', '.join(dims)})" if dims else dtype,
            )
            for name, dtype, dims, _ in parameters
        ]
        named.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
        made = ", ".join(f"{name}: {dtype}" for name, dtype, _, _ in returns)
        return inspect.Signature(named, return_annotation=made if len(returns) == 1 else f"({made})")

    def _documentation(self) -> str:
        """The comment before the def, and the def."""
        before = ""
        if self._origin is not None:
            found = re.search(rf"((?:^[ \t]*#[^\n]*\n)+)\s*def\s+{re.escape(self.name)}\b", self._origin.text, re.M)
            before = "\n".join(line.strip().lstrip("#").strip() for line in found[1].splitlines()) + "\n\n" if found else ""
        return before + str(self)

    def infer(self, *tensors, **named) -> Inference:
        """Shapes, strides, types and `mins` of the outputs, ranges and preconditions; nothing runs."""
        outputs, ranges, conditions = self._infer(*self._in_order(*tensors, **named))
        return Inference(tuple(Output(*output) for output in outputs), tuple(ranges), tuple(conditions))

    def _attributes(self) -> dict:
        """What a subclass knows besides its def."""
        return {}

    def __reduce__(self):
        origin = self._origin or _Origin(str(self), "<tc>", ())
        return _restored_function, (type(self), self.name, origin, self._attributes())

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<tensor_comprehensions.{type(self).__name__} {self.name}>"

    def __str__(self):
        return self._source()

    def _repr_html_(self) -> str:
        parameters, returns = self._signature()
        rows = [("parameter", name, dtype, ", ".join(dims)) for name, dtype, dims, _ in parameters]
        rows += [("return", name, dtype, ", ".join(dims or ())) for name, dtype, dims, _ in returns]
        return _html(self.name, ("", "name", "type", "dimensions"), rows, str(self))


_core.call_straight(Function)


def _html(title, heads, rows, text) -> str:
    """A title, a table and a text for notebooks."""
    cells = lambda row, kind: "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in row)
    table = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    head = f"<tr>{cells(heads, 'th')}</tr>"
    return f"<b>{html.escape(title)}</b><table>{head}{table}</table><pre>{html.escape(text)}</pre>"


def _settings_of(how: tuple) -> _core.Settings:
    """The settings that the keywords `how` of `define` make."""
    return _settings(**{"target": None, "options": None, "cache": None, **dict(how)})


@functools.lru_cache(maxsize=256)
def _defined(text: str, text_name: str):
    definitions, _ = _core.define(text, text_name)
    return definitions


def _restored_function(kind, name: str, origin: _Origin, attributes: dict) -> Function:
    """The function of class `kind` that a pickle holds."""
    settings = _settings_of(origin.how)
    for definition in _defined(origin.text, origin.text_name):
        function = kind(definition, settings, origin)
        if function.name == name:
            function.__dict__.update(attributes)
            return function
    raise _core.ArgumentError(f"the text in this pickle has no def '{name}'")


def _derived(kind, definition, function: Function, **attributes) -> Function:
    """A function of class `kind`, made from `function` and compiled as it is."""
    how = function._origin.how if function._origin else ()
    made = kind(definition, function._settings())
    made._origin = _Origin(str(made), made.name, how)
    made.__dict__.update(attributes)
    return made


class Executable(_core.Executable):
    """A def compiled for given tensors: called like the def, with tensors of exactly those types, shapes and strides."""

    def __init__(self, core, function=None, settings=None, how=(), constants=None):
        super().__init__(core)
        self._function, self._settings = function, settings
        self._how, self._bound = how, constants or {}
        self.__name__ = self.__qualname__ = self._name()

    def __reduce__(self):
        if self._function is None:
            return load, (self.serialise(),)
        how = dict(self._how)
        if self._device_source():
            how["target"] = self.stats["target"]
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
        return _html(self.name, ("", "name", ""), rows, self.comprehension)

    @property
    def name(self) -> str:
        return self._name()

    @property
    def comprehension(self) -> str:
        """The def as TC text, calls inlined."""
        return self._comprehension()

    @property
    def source(self) -> str:
        """The code that became machine code: CUDA C++ for a GPU, one loop nest for each launch for a CPU."""
        nest = self._loop_nest_stage()
        return self._device_source() or "\n".join(text for name, _, text in self._stages if name.split(".")[0] == nest)

    def _loop_nest_stage(self) -> str:
        """The stage whose text is the loop nest: for a CPU the last before passes for machines and LLVM."""
        return "unswitch_guards" if any(name.startswith("unswitch_guards") for name, _, _ in self._stages) else "raise"

    @property
    def options(self) -> _core.MappingOptions:
        """The options it was compiled with."""
        return _core.MappingOptions(self.stats["options"])

    @property
    def from_cache(self) -> bool:
        """Whether its machine code was read from the cache on disk and not compiled by this process."""
        return self.stats["from_cache"]

    @property
    def binary(self) -> bytes:
        """Machine code: for a GPU the cubin of all kernels, for a CPU what `serialise` gives."""
        return self._cubin() or self._serialise()

    def serialise(self) -> bytes:
        """Machine code, constants and all that is needed to run it; `load` takes it back in another process."""
        return self._serialise()

    @property
    def stats(self) -> dict:
        """Compile time by stage, sizes, target, options, whether from the cache, and phases that fell back to a simpler schedule.

        For a GPU also "kernels": registers, spills, shared memory and instructions of each, read from the machine code.
        """
        return self._stats()

    def profile(self, *tensors, out=None) -> dict:
        """Microseconds of one checked run, "total_us", of the machine code alone, "kernels_us", and on a CPU those of each
        launch, "launches": the name of the part that it belongs to, and its microseconds."""
        return self._profile(*tensors, out=out)

    def prepare(self, device: int = 0) -> None:
        """Loads kernels into GPU `device` and allocates what they need in its current stream, as a first call would.

        After it a call only puts kernels into the stream, so that a graph can capture it, also on one stream of its own, as torch
        does. Nothing for a CPU.
        """
        self._prepare(device)

    @functools.cached_property
    def _stages(self):
        if self._function is None:
            return []
        return self._function._stage_texts(self, self._settings)

    @functools.cached_property
    def _report(self):
        """What a run computes and moves. Of a loaded binary it is that of the source it keeps, mapped by this compiler."""
        if self._function is not None:
            return self._function._work(self, self._settings)
        settings = _settings(self.stats["target"], None, False)
        definitions, _ = _core.define(self._comprehension(), self.name)
        return _core.Function(definitions[-1], settings)._work(self, settings)

    @property
    def work(self) -> dict:
        """What one run computes and moves, known without running it; the first look takes about a compile.

            flops               of the text, over the boxes of its statements; "exact" unless arms of a conditional differ
            operations          by kind; comparisons and integers are no FLOPs
            bytes               predicted, "read" and "written" between "registers-L1", "L1-L2", "L2-L3", "L3-memory"
            compulsory_bytes    what arguments cost at least: each byte once
            tensors             the same for each tensor, with its "unique" bytes
            intensity           FLOPs per byte between L3 and memory
            not_predicted       why there are no bytes, or None
        """
        return self._report._as_dict()

    def _seconds(self, tensors, out) -> float:
        """The median time of some runs: on `tensors`, or on tensors of its own making."""
        if self._device_source():
            raise _core.OptionsError("runs on a GPU are not measured: profile them with its own tools")
        if not tensors:
            return self._measure()
        self._profile(*tensors, out=out)
        runs = [self._profile(*tensors, out=out)["kernels_us"]]
        while len(runs) < 3 or (sum(runs) < 1e5 and len(runs) < 1000):
            runs.append(self._profile(*tensors, out=out)["kernels_us"])
        return sorted(runs)[len(runs) // 2] * 1e-6

    def roofline(self, *tensors, out=None) -> dict:
        """Where a run stands under the limits of this machine: measured on `tensors`, else on tensors of its own making.

        The machine's peak and its memory's bandwidth are measured once in a process, about 0.2 seconds; shares are None
        where a limit could not be measured or bytes are not predicted. "bound": "arithmetic" or "memory" at half of a
        limit or more, else "neither"; "unknown" without limits.
        """
        return self._report._roofline(self.stats["target"], self._seconds(tensors, out))[0]

    def explain(self, *tensors, out=None, measure: bool = False) -> str:
        """Ranges, work, schedule, loop nest and assembly as text.

        With `tensors`, or `measure`, it is run too: its time and its place under the machine's limits, see `roofline`; with `tensors`
        the time of each of several launches.
        """
        titles = {"inline": "comprehension", "infer": "ranges", "map": "schedule", self._loop_nest_stage(): "loop nest"}
        parts = [f"# {self.name} for {self.stats['target']}\n" + "\n".join(self._argument_lines())]
        work = "## work\n" + self._report._text()
        if tensors or measure:
            work += self._report._roofline(self.stats["target"], self._seconds(tensors, out))[1]
        if self._function is None:
            work += "(of the source that was loaded, mapped anew; its schedule and loop nest were not kept)\n"
        parts.append(work)
        if self._library_lines():
            parts.append("## libraries\n" + "\n".join(self._library_lines()))
        if self.stats["launches"] > 1:
            parts.append("## launches\n" + "\n".join(self._launch_lines(tensors, out)))
        parts += self._graph_texts()
        for name, _, text in self._stages:
            title = titles.get(name.split(".")[0])
            if title:
                parts.append(f"## {title}\n{text}")
        parts.append(f"## CUDA\n{self.source}" if self._device_source() else f"## assembly\n{self._assembly()}")
        return "\n\n".join(parts)

    def _graph_texts(self):
        """What layouts and derivation made of the graph, and why."""
        stats = self.stats
        if stats["layouts"]:
            yield "## layouts\n" + "\n".join(stats["layouts"])
        if stats["derived"]:
            lines = []
            for node in stats["derived"]:
                lines.append(f"{node['node']}: {node['before_us']:.1f} us, derived {node['after_us']:.1f} us (model)")
                lines += [f"  {rule}" for rule in node["rules"]]
            yield "## derived\n" + "\n".join(lines)
        if stats["graph"]:
            yield "## graph\n" + stats["graph"]

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


def _restored_executable(function, inputs, outputs, how, constants) -> Executable:
    """The executable that a pickle holds, compiled for this machine."""
    return compile(function, *inputs, out=outputs if len(outputs) > 1 else outputs[0], constants=constants, **how)


class NoSuchDef(_core.ArgumentError, KeyError):
    """A text has no def of that name."""

    __str__ = Exception.__str__


class Module:
    """The defs of a text, each an attribute and an item of its name."""

    def __init__(self, text, name, how):
        definitions, self._warnings = _core.define(text, name)
        self._origin = _Origin(text, name, how)
        self._functions = {}
        settings = _settings_of(how)
        for definition in definitions:
            function = Function(definition, settings, self._origin)
            self._functions[function.name] = function
            self.__dict__.setdefault(function.name, function)
        for warning in self._warnings:
            warnings.warn(warning.rendered or warning.message, stacklevel=3)

    def __getitem__(self, name) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            raise NoSuchDef(self._missing(name)) from None

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def _missing(self, name):
        return f"there is no def '{name}' in this text; it defines: {', '.join(self.__dict__.get('_functions', ()))}"

    def __getattr__(self, name):
        raise AttributeError(self._missing(name))

    def __reduce__(self):
        return _restored_module, (self._origin,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *tensors, **named):
        raise _core.ArgumentError(f"a text is not called but one of its defs: {self._suggestion()}(...)")

    def _suggestion(self):
        names = [name if name in self.__dict__ else f"['{name}']" for name in self._functions]
        return "T" + (names[0] if names and names[0].startswith("[") else "." + (names[0] if names else "f"))

    def __repr__(self):
        return f"<tensor_comprehensions.Module of {', '.join(self._functions)}>"


def _restored_module(origin: _Origin) -> Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Module(origin.text, origin.text_name, origin.how)


def define(
    text: str,
    *,
    name: str = "<tc>",
    target: Optional[str] = None,
    options=None,
    cache=None,
    partition: str = "auto",
    libraries: str = "none",
    layouts: str = "off",
    derive: int = 0,
) -> Module:
    """The defs of `text`, one callable each. All errors of the text are raised here, together.

    A text beyond a few megabytes is refused; Ctrl-C ends the work. `name` stands for the text in messages. `target` (for example "cpu:avx2"), `options`, `cache`, `partition`,
    `libraries`, `layouts` ("off", "resolve" or "fold") and `derive` say how its defs are compiled when they are called; see `compile`.
    """
    how = {"target": target, "options": options, "cache": cache, "partition": partition, "libraries": libraries}
    how.update(layouts=layouts, derive=derive)
    return Module(_text_of(text), name, tuple(how.items()))


def _text_of(text) -> str:
    """`text`, unless it is something else than a text: a path is not read."""
    path = os.fspath(text) if isinstance(text, os.PathLike) else text
    if not isinstance(path, str):
        raise _core.ArgumentError(f"define takes a text, {type(text).__name__} was given")
    is_line = "{" not in path and "\n" not in path
    if path is not text or (is_line and (path.endswith(".tc") or os.path.exists(path))):
        raise _core.ArgumentError(f"define takes a text, not a path: tc.define(open({path!r}).read(), name={path!r})")
    return path


def compile(
    function: Function,
    *tensors,
    out=None,
    target: Optional[str] = None,
    options=None,
    cache=None,
    partition: str = "auto",
    libraries: str = "none",
    constants=(),
    layouts=None,
    derive: int = 0,
    schedule: Optional[str] = None,
    time_limit: float = 0.0,
    memory_limit: float = 0,
    **named,
) -> Executable:
    """Compiles `function` for tensors or specs like these, and outputs like `out` (without it: dense ones).

    Tensors are given in the order of the parameters or by their names.

    `options` says how it is mapped:

        None               as the environment variable TC_OPTIONS says; without it "cached"
        "cached"           the best options the cache has for this program, these tensors and this target, else "default"
        "default"          the compiler's own choice
        "tuned"            the best options of the cache; OptionsError where it has none
        MappingOptions     these, or their text form ("tile=32x32,fusion=max")

    `cache` is a `tc.cache.Cache`; None: the environment's (see `tc.cache`), False: none. Machine code that it has for
    the same options is read instead of compiled: `from_cache` says so.

    `partition` says how a def that calls others, or has many statements, is cut into parts that are compiled one by one:
    "auto" as the price of the tensors between them says, "each" into single calls and statements, "one" not at all.
    See docs/graphs.md.

    `constants` names parameters whose tensors the executable holds and does not take: it is called with the others. What depends
    on them alone is computed now, once. A tensor of torch that is changed afterwards is an ArgumentError of the next
    call; one of NumPy must not be changed. CPU targets only. See docs/graphs.md.

    `libraries` says whose routines may take the place of compiled code, where they compute the same: "none", the name of a library
    ("openblas", "onednn"), or "auto" for the cheapest of all. `stats["library_calls"]` lists them. See docs/libraries.md.

    `layouts` places tensors, by name: parameters, returns and temporaries in a `tc.layout`, or in what its text says ("NHWC",
    "split(1, 16)"). `tensors` are as the def takes them, without layouts. The executable takes and gives tensors of the shapes behind
    them; torch and NumPy tensors whose strides are those of a permuted layout (channels_last) are taken as they are. A word says how
    tensors between the nodes of the def get layouts: "off", "resolve" or "fold"; `stats["layouts"]` tells which. See docs/layouts.md.

    `derive` is how many rules may be applied to each node to find an equal program that is cheaper; `stats["derived"]` tells what was
    found, with its proof. 0: none. See docs/derivation.md.

    `schedule` takes the place of the scheduler's result, as isl writes schedule trees. `time_limit` is in seconds,
    `memory_limit` in bytes; 0 and infinity are no limit, a negative number is an OptionsError. See docs/promises.md.
    """
    limits = {"schedule": schedule, "time_limit": time_limit, "memory_limit": _memory_limit(memory_limit)}
    how = {"target": target, "options": options, "cache": cache, "partition": partition, "libraries": libraries, **limits}
    how.update(layouts=layouts if isinstance(layouts, str) else "off", derive=derive)
    settings = _settings_of(how)
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"compile takes a def of a text, {_what_it_is(function)}")
    given = function._in_order(*tensors, **named)
    if layouts and not isinstance(layouts, str):
        from .laid_out import compile_in_layouts

        return compile_in_layouts(function, given, layouts, out, settings, how, list(constants))
    core = function._compile(given, out, settings, list(constants))
    held = {name: given[function._parameters().index(name)] for name in constants}
    return Executable(core, function, settings, how, held)


def _what_it_is(given) -> str:
    if isinstance(given, Module):
        return f"the text was given: pass {given._suggestion()}"
    if isinstance(given, str):
        return 'a text was given: pass tc.define(text).f, "f" being the name of the def'
    return f"{type(given).__name__} was given"


def load(binary: bytes) -> Executable:
    """The executable that `serialise` wrote. Raises ArgumentError for other bytes, OptionsError for another machine's.

    Only for trusted input: the bytes hold machine code, which runs with all rights of this process. Damage is noticed, ill will is not:
    crafted bytes can do anything, from here on. Load them only from where you would take a program.
    """
    return Executable(_core.load_executable(binary))
