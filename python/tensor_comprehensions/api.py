"""The two calls: texts become modules of functions, functions become executables."""

import os
import warnings
from typing import Dict, Iterable, Iterator, NoReturn, Optional, Union

from . import _core
from .executable import Executable, compiled
from .function import Function, _Origin
from .generic import GenericFunction
from .given import Given, OutGiven
from .laid_out import compile_in_layouts, tuned_layouts
from .options import AnyCache, Layouts, MappingChoice, Names, Options
from .valued import ValuedFunction


class NoSuchDef(_core.ArgumentError, KeyError):
    """A text has no def of that name."""

    __str__ = Exception.__str__


class Module:
    """The defs of a text, each an attribute and an item of its name."""

    def __init__(self, text: str, name: str, how: Options):
        definitions, self._warnings = _core.define(text, name)
        self._origin = _Origin(text, name, how)
        self._functions: Dict[str, Function] = {}
        settings = how.settings()
        for definition in definitions:
            function = Function(definition, settings, self._origin)
            if function._valued_parameters():
                function = ValuedFunction(definition, settings, self._origin)
            elif function._type_names() is not None:
                function = GenericFunction(definition, settings, self._origin)
            self._functions[function.name] = function
            self.__dict__.setdefault(function.name, function)
        for warning in self._warnings:
            warnings.warn(warning.rendered or warning.message, stacklevel=3)

    def __getitem__(self, name: str) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            raise NoSuchDef(self._missing(name)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def _missing(self, name):
        return f"there is no def '{name}' in this text; it defines: {', '.join(self.__dict__.get('_functions', ()))}"

    def __getattr__(self, name: str) -> Function:
        raise AttributeError(self._missing(name))

    def __reduce__(self):
        return _restored_module, (self._origin,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *tensors, **named) -> NoReturn:
        raise _core.ArgumentError(f"a text is not called but one of its defs: {self._suggestion()}(...)")

    def _suggestion(self):
        names = [name if name in self.__dict__ else f"['{name}']" for name in self._functions]
        return "T" + (names[0] if names and names[0].startswith("[") else "." + (names[0] if names else "f"))

    def __repr__(self):
        return f"<tensor_comprehensions.Module of {', '.join(self.__dict__.get('_functions', ()))}>"


def _restored_module(origin: _Origin) -> Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Module(origin.text, origin.text_name, origin.how)


def define(
    text: str,
    *,
    name: str = "<tc>",
    target: Optional[str] = None,
    options: MappingChoice = None,
    cache: AnyCache = None,
    partition: str = "auto",
    libraries: str = "none",
    layouts: Optional[str] = None,
    derive: int = 0,
    dynamic: Names = (),
) -> Module:
    """The defs of `text`, one callable each. All errors of the text are raised here, together.

    A text beyond a few megabytes is refused; Ctrl-C ends the work. `name` stands for the text in messages. `target` (for example "cpu:avx2"), `options`, `cache`, `partition`,
    `libraries`, `layouts` (a word, as for `compile`), `derive` and `dynamic` say how its defs are compiled when they are called; see `compile`.
    """
    how = Options(target, options, cache, partition, libraries, layouts or None, derive, dynamic=dynamic)
    return Module(_text_of(text), name, how)


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
    *tensors: Union[Given, float],
    out: OutGiven = None,
    target: Optional[str] = None,
    options: MappingChoice = None,
    cache: AnyCache = None,
    partition: str = "auto",
    libraries: str = "none",
    constants: Iterable[str] = (),
    fold_scales: bool = False,
    layouts: Layouts = None,
    derive: int = 0,
    schedule: Optional[str] = None,
    nest: Optional[str] = None,
    time_limit: float = 0.0,
    memory_limit: float = 0,
    dynamic: Names = (),
    **named: Given,
) -> Executable:
    """Compiles `function` for tensors or specs like these, and outputs like `out` (without it: dense ones).

    Tensors are given in the order of the parameters or by their names. Type checkers accept numbers by position only, so that they find a mistyped keyword.

    `options` says how it is mapped:

        None               the environment variable TC_OPTIONS; without it "cached"
        "cached"           the best options the cache has for this program, these tensors and this target, else "default"
        "default"          the compiler's own choice
        "tuned"            the best options of the cache; OptionsError if it has none
        MappingOptions     these, or their text form ("tile=32x32,fusion=max")

    `cache` is a `tc.cache.Cache`; None: the environment's (see `tc.cache`), False: none. If it has machine code for
    the same options, the code is read instead of compiled, and `from_cache` is True.

    `partition` determines how a def that calls others, or has many statements, is cut into parts that are compiled one by one:
    "auto" by the price of the tensors between them, "each" into single calls and statements, "one" not at all.
    See docs/graphs.md.

    `constants` names parameters whose tensors the executable holds, so that calls pass the others only. Values that depend
    on constants alone are computed now, once. If a torch tensor among them is changed afterwards, the next call raises an ArgumentError;
    NumPy arrays must not be changed. CPU targets only. See docs/graphs.md.

    `fold_scales` moves constant scales and shifts of a sum of products, for example of a norm behind a convolution, into its constant
    weights, which changes the rounding; `stats["folded_scales"]` counts them. See docs/graphs.md.

    `libraries` allows routines that compute the same to replace compiled code: "none", the name of a library
    ("openblas", "onednn"), or "auto" for the cheapest of all, or "measured" for the fastest of own code and each library, measured in turns (`stats["finalists"]`);
    with the suffix ":finite" ("onednn:finite") also routines that compute the same for finite values only. `stats["library_calls"]` lists them.
    See docs/libraries.md.

    `layouts` maps names of parameters, returns and temporaries to a `tc.layout` or its text ("NHWC",
    "split(1, 16)"). `tensors` have the logical shapes of the def, whereas the executable takes and returns tensors of the physical shapes;
    torch and NumPy tensors with the strides of a permuted layout (channels_last) are accepted as they are. A word chooses the layouts of
    tensors between the nodes of the def: "off", "constants", "resolve", "fold", "adjacent", "forward", "backward" or "measured"; `stats["layouts"]` lists them.
    The default is "resolve" if `libraries` names a library, "measured" if it is "measured", otherwise "constants". "tuned": the layouts of the cache, which `autotune(..., layouts=True)` found for
    tensors like these, as if they were given; OptionsError if it has none. See docs/layouts.md.

    `derive` is the largest number of rules applied to each node to find a cheaper equivalent program; `stats["derived"]` lists the
    programs found, with proofs. 0: none, except that on a GPU maxima are rolled with their sums where this is predicted to be faster. See docs/derivation.md.

    `dynamic` names sizes ("B,T"). One code then serves a range of their values, so that further values in the range compile nothing:
    1, 2 to 4, 5 to 16, 17 to 64 and so on. If this is impossible, the code is for these sizes alone; `stats["sizes"]` gives the reason. See docs/options.md.

    `nest` replaces the loop nests that the compiler chose, in the form that `Executable.nest` prints. An illegal nest raises an OptionsError that shows the line and the reason. See docs/nests.md.

    `schedule` replaces the scheduler's result, in isl's notation of schedule trees. `time_limit` is in seconds,
    `memory_limit` in bytes; 0 and infinity are no limit, a negative number is an OptionsError. See docs/promises.md.
    """
    tuned = isinstance(layouts, str) and layouts == "tuned"
    word = layouts if isinstance(layouts, str) and not tuned else None
    limits = {"time_limit": time_limit, "memory_limit": memory_limit}
    how = Options(target, options, cache, partition, libraries, word, derive, fold_scales, schedule, nest, dynamic=dynamic, **limits)
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"compile takes a def of a text, {_what_it_is(function)}")
    given = function._in_order(*tensors, **named)
    if tuned:
        layouts = tuned_layouts(function._for_values(given), given, out, how)
    if layouts and not isinstance(layouts, str):
        return compile_in_layouts(function._for_values(given), given, layouts, out, how, list(constants))
    return compiled(function, given, out, how, list(constants))


def _what_it_is(given) -> str:
    if isinstance(given, Module):
        return f"the text was given: pass {given._suggestion()}"
    if isinstance(given, str):
        return 'a text was given: pass tc.define(text).f, "f" being the name of the def'
    return f"{type(given).__name__} was given"
