"""Defs of a text as Python functions: called, copied, saved, shown."""

import dataclasses
import functools
import html
import inspect
import keyword
import re
from typing import Any, Callable, Dict, FrozenSet, Optional, Tuple, Type, TypeVar, Union

from . import _core
from .given import Given
from .options import Options
from .typed import Out, Tensor


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


@dataclasses.dataclass(frozen=True)
class _Origin:
    """Where a def came from: with it another process makes the same."""

    text: str
    text_name: str
    how: Options


class _DocumentsItself:
    """The docstring of a class, and of its objects what they say of themselves."""

    def __init__(self, text):
        self.text = text

    def __get__(self, instance, owner):
        return self.text if instance is None else instance._documentation()


class Function(_core.Function):
    __doc__ = _DocumentsItself("""One def of a text. Called with tensors, it compiles on first use for their types, shapes and strides.

    Tensors are given in the order of the parameters or by their names. Parameters of rank 0 also take Python numbers. Outputs are of the library of the tensors (torch, NumPy,
    JAX, CuPy; see docs/arrays.md) or passed as `out=`: a tensor, or a tuple of tensors where there are several returns.
    """)

    # What other modules make of a def when it is first asked for.
    _made_of: Tuple["Function", str]
    _node: Any
    _float_places: FrozenSet[int]
    _all_given: Tuple[bool, ...]
    _operator_made: Any
    _op_of_jax: Any
    _batchable_of_jax: Any
    _stands_for_many = False

    # Needs torch: see tracing.py.
    _call_traced: Callable[..., Any]
    _operator_name: Callable[..., str]

    def __init__(self, definition: _core.Definition, settings: _core.Settings, origin: Optional[_Origin] = None):
        super().__init__(definition, settings)
        self.__name__ = self.__qualname__ = self._name()
        self._origin = origin

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        if cls.__call__ is Function.__call__:
            _core.call_straight(cls)

    def __call__(self, *tensors: Tensor, out: Out = None, **named: Tensor) -> Any:
        """The call as torch's compiler reads it. Python's own calls go straight to the machine code (`call_straight`)."""
        return self._call_traced(tensors, out, named)

    @property
    def name(self) -> str:
        return self._name()

    @property
    def __signature__(self) -> inspect.Signature:
        parameters, returns = self._shown_signature()
        named = [
            inspect.Parameter(
                name if not keyword.iskeyword(name) else f"{name}_",
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=f"{dtype}({', '.join(dims)})" if dims else dtype,
            )
            for name, dtype, dims, _ in parameters
        ]
        named.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
        made = ", ".join(f"{name}: {dtype}" if dtype else name for name, dtype, _, _ in returns)
        return inspect.Signature(named, return_annotation=made if len(returns) == 1 else f"({made})")

    def _documentation(self) -> str:
        """The comment before the def, and the def."""
        before = ""
        if self._origin is not None:
            found = re.search(rf"((?:^[ \t]*#[^\n]*\n)+)\s*def\s+{re.escape(self.name)}\b", self._origin.text, re.M)
            before = "\n".join(line.strip().lstrip("#").strip() for line in found[1].splitlines()) + "\n\n" if found else ""
        return before + str(self)

    def infer(self, *tensors: Union[Given, float], **named: Union[Given, float]) -> Inference:
        """Shapes, strides, types and `mins` of the outputs, ranges and preconditions; nothing runs."""
        outputs, ranges, conditions = self._infer(*self._in_order(*tensors, **named))
        return Inference(tuple(Output(*output) for output in outputs), tuple(ranges), tuple(conditions))

    def values(self, *tensors: Tensor, **named: Tensor) -> Dict[str, Any]:
        """The value of each return and temporary of the text in a call with these tensors, by name.

        They are computed by code of the same text in which temporaries are returns too, on the target of the function. A tensor that
        several statements write has its last value. Temporaries of called defs are named as in the text with calls inlined. See
        docs/show.md.
        """
        given = self._in_order(*tensors, **named)
        whole = self._for_values(given)._whole
        results = whole(*given)
        names = whole._returns()
        return dict(zip(names, results if len(names) > 1 else (results,)))

    @functools.cached_property
    def _whole(self) -> "Function":
        """The function that returns its temporaries too."""
        return _derived(Function, self._returning_temporaries(), self)

    def _for_values(self, given) -> "Function":
        """The function for the values of scalar parameters among `given` that ranges are made of."""
        return self

    def _how(self) -> Options:
        """How calls of it are compiled, as far as its origin tells."""
        return self._origin.how if self._origin else Options()

    def _attributes(self) -> dict:
        """What a subclass knows besides its def."""
        return {}

    def __reduce__(self):
        origin = self._origin or _Origin(str(self), "<tc>", Options())
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
        parameters, returns = self._shown_signature()
        rows = [("parameter", name, dtype, ", ".join(dims or ())) for name, dtype, dims, _ in parameters]
        rows += [("return", name, dtype, ", ".join(dims or ())) for name, dtype, dims, _ in returns]
        return _html(self.name, ("", "name", "type", "dimensions"), rows, str(self))


_core.call_straight(Function)


def _html(title, heads, rows, text) -> str:
    """A title, a table and a text for notebooks."""
    cells = lambda row, kind: "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in row)
    table = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    head = f"<tr>{cells(heads, 'th')}</tr>"
    return f"<b>{html.escape(title)}</b><table>{head}{table}</table><pre>{html.escape(text)}</pre>"


@functools.lru_cache(maxsize=256)
def _defined(text: str, text_name: str):
    definitions, _ = _core.define(text, text_name)
    return definitions


def _restored_function(kind, name: str, origin: _Origin, attributes: dict) -> Function:
    """The function of class `kind` that a pickle holds."""
    settings = origin.how.settings()
    for definition in _defined(origin.text, origin.text_name):
        function = kind(definition, settings, origin)
        if function.name == name:
            function.__dict__.update(attributes)
            return function
    raise _core.ArgumentError(f"the text in this pickle has no def '{name}'")


_Kind = TypeVar("_Kind", bound=Function)


def _derived(kind: Type[_Kind], definition, function: Function, **attributes) -> _Kind:
    """A function of class `kind`, made from `function` and compiled as it is."""
    made = kind(definition, function._settings())
    made._origin = _Origin(str(made), made.name, function._how())
    made.__dict__.update(attributes)
    return made
