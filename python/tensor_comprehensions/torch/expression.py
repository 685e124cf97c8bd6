"""Typed expressions of the language as values: built by operators, printed as text.

    Load(X, (i, j)) * 2.0  ->  "X(i,j) * 2.0"

An expression knows its type of the language; numbers of Python become literals of the type beside them. Nothing converts
by itself: where types differ the lowering writes `cast`.
"""

import itertools
import math
import operator

from .sizes import is_size, size, size_text

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

_PRECEDENCE = {"?:": 0, "||": 1, "&&": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "+": 4, "-": 4}
_PRECEDENCE |= {"*": 5, "/": 5, "%": 5, "neg": 6, "!": 6}
_ATOM = 7


class Expr:
    """Base of all expressions; `dtype` is a type of the language."""

    __slots__ = ("dtype",)

    def __add__(self, other):
        return binary("+", self, other)

    def __radd__(self, other):
        return binary("+", other, self)

    def __sub__(self, other):
        return binary("-", self, other)

    def __rsub__(self, other):
        return binary("-", other, self)

    def __mul__(self, other):
        return binary("*", self, other)

    def __rmul__(self, other):
        return binary("*", other, self)

    def __truediv__(self, other):
        return binary("/", self, other)

    def __rtruediv__(self, other):
        return binary("/", other, self)

    __floordiv__ = __truediv__

    def __mod__(self, other):
        return binary("%", self, other)

    def __neg__(self):
        return Apply("neg", (self,), self.dtype)

    def __invert__(self):
        return Apply("!", (self,), "bool")

    def __and__(self, other):
        return binary("&&", self, other)

    def __or__(self, other):
        return binary("||", self, other)

    def __lt__(self, other):
        return binary("<", self, other)

    def __le__(self, other):
        return binary("<=", self, other)

    def __gt__(self, other):
        return binary(">", self, other)

    def __ge__(self, other):
        return binary(">=", self, other)

    def eq(self, other):
        return binary("==", self, other)

    def ne(self, other):
        return binary("!=", self, other)


class Literal(Expr):
    """A number, written so that the language reads it back as exactly this value of `dtype`; or a size that is a symbol."""

    __slots__ = ("value",)

    def __init__(self, value, dtype):
        self.dtype = dtype
        self.value = value = size(value) if is_size(value) else value
        if self.is_number:
            self.value = bool(value) if dtype == "bool" else float(value) if dtype in FLOATS else int(value)

    @property
    def is_number(self):
        return not hasattr(self.value, "node")


class Index(Expr):
    """An iterator that runs over [0, extent)."""

    __slots__ = ("name", "extent")

    def __init__(self, name, extent):
        self.name, self.extent, self.dtype = name, size(extent), "int64"


class Load(Expr):
    """An element of a tensor; subscripts stand in the tensor's logical order."""

    __slots__ = ("tensor", "subscripts")

    def __init__(self, tensor, subscripts):
        self.tensor, self.subscripts, self.dtype = tensor, tuple(subscripts), tensor.dtype


class Apply(Expr):
    """An operator, a built-in function or a conversion (its `op` is the type's name) of some arguments."""

    __slots__ = ("op", "args")

    def __init__(self, op, args, dtype):
        self.op, self.args, self.dtype = op, tuple(args), dtype


def literal(value, dtype):
    return value if isinstance(value, Expr) else Literal(value, dtype)


def _is(expr, value):
    return isinstance(expr, Literal) and expr.value == value


def _fold(op, a, b):
    """Arithmetic on indices whose result is known without an operator; None otherwise."""
    if a.dtype != "int64":
        return None
    if isinstance(a, Literal) and isinstance(b, Literal) and op in "+-*":
        return Literal({"+": a.value + b.value, "-": a.value - b.value, "*": a.value * b.value}[op], "int64")
    if op == "+" and _is(a, 0):
        return b
    if op in ("+", "-") and _is(b, 0):
        return a
    if op == "*" and (_is(a, 1) or _is(b, 1)):
        return b if _is(a, 1) else a
    if op == "*" and (_is(a, 0) or _is(b, 0)):
        return Literal(0, "int64")
    if op == "/" and _is(b, 1):
        return a
    if op in ("+", "-") and isinstance(b, Literal) and b.value < 0:
        return Apply("-" if op == "+" else "+", (a, Literal(-b.value, "int64")), "int64")
    return None


def binary(op, a, b):
    """`a op b`; a number of Python takes the type of the other side. Both sides have one type."""
    a = literal(a, b.dtype) if not isinstance(a, Expr) else a
    b = literal(b, a.dtype)
    assert a.dtype == b.dtype, f"{to_text(a)}: {a.dtype} {op} {to_text(b)}: {b.dtype}"
    is_truth = op in COMPARISONS or op in ("&&", "||")
    return _fold(op, a, b) or Apply(op, (a, b), "bool" if is_truth else a.dtype)


def cast(expr, dtype):
    """`expr` as a value of `dtype`, as torch converts: numbers to bool by comparing with 0."""
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Literal) and expr.is_number and (dtype in FLOATS or math.isfinite(expr.value)):
        return Literal(expr.value, dtype)
    if dtype == "bool":
        return expr.ne(Literal(0, expr.dtype))
    return Apply(dtype, (expr,), dtype)


def call(function, *args, dtype=None):
    """A built-in function of the language; numbers take the type of the first expression among `args`."""
    own = next(a.dtype for a in args if isinstance(a, Expr))
    return Apply(function, tuple(literal(a, own) for a in args), dtype or own)


def where(condition, yes, no):
    own = next(a.dtype for a in (yes, no) if isinstance(a, Expr))
    return Apply("?:", (condition, literal(yes, own), literal(no, own)), own)


def inside(index, low, high):
    """What an `exists` says of two elements: that they ascend in the range of `index`."""
    return Apply("in", (index, low, high), "bool")


def all_of(conditions):
    """The conjunction of some conditions; None of none."""
    result = None
    for condition in conditions:
        result = condition if result is None else result & condition
    return result


def walk(expr, guarded=False):
    """All parts of an expression, itself first, each with whether a condition guards it."""
    yield expr, guarded
    if isinstance(expr, Apply):
        for k, arg in enumerate(expr.args):
            inner = guarded or (expr.op == "?:" and k > 0) or (expr.op in ("&&", "||") and k > 0)
            yield from walk(arg, inner)
    elif isinstance(expr, Load):
        for subscript in expr.subscripts:
            yield from walk(subscript, guarded)


def loads(expr):
    return [part for part, _ in walk(expr) if isinstance(part, Load)]


def interval(expr):
    """The least and the greatest value, or an estimate of these, of an integer expression over iterators; None where tensors tell its value."""
    if isinstance(expr, (Literal, Index)):
        return (expr.value, expr.value) if isinstance(expr, Literal) else (0, max(expr.extent - 1, 0))
    inner = [interval(arg) for arg in expr.args] if isinstance(expr, Apply) and expr.op in (*INTEGERS, *"+-*/%", "neg") else [None]
    if None in inner:
        return None
    if expr.op in "/%" and inner[1][0] < 1:
        return None
    if expr.op == "%":
        return (0, inner[1][1] - 1)
    function = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "neg": operator.neg}
    ends = [function.get(expr.op, int)(*each) for each in itertools.product(*inner)]
    return (min(ends), max(ends)) if expr.op not in INTEGERS or holds(expr.dtype, *ends) else None


def holds(dtype, *values):
    """Whether the integer type `dtype` has all of these whole numbers."""
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 2**bits) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return all(low <= value < high for value in values)


def operations(expr):
    """Floating-point operations of one evaluation; those of subscripts and conversions do not count."""
    if not isinstance(expr, Apply):
        return 0
    own = expr.op not in FLOATS + INTEGERS + ("?:", "&&", "||", "!") and any(a.dtype in FLOATS for a in expr.args)
    return own + sum(operations(arg) for arg in expr.args)


def _literal_text(value, dtype):
    if dtype == "bool":
        return "true" if value else "false"
    if dtype in INTEGERS:
        return str(value)
    if math.isnan(value):
        text = "float32(1E39) * 0.0"
    elif math.isinf(value):
        text = "float32(1E39)" if value > 0 else "-float32(1E39)"
    else:
        return repr(value).replace("e+", "e")
    return text if dtype == "float32" else f"{dtype}({text})"


def to_text(expr, name_of=lambda tensor: tensor.name):
    """`expr` as text of the language; `name_of` gives the names of tensors."""
    return _text(expr, name_of)[0]


def _text(expr, name_of):
    if isinstance(expr, Literal) and not expr.is_number:
        text = size_text(expr.value)
        return text if expr.dtype == "int64" else f"{expr.dtype}({text})", _ATOM
    if isinstance(expr, Literal):
        text = _literal_text(expr.value, expr.dtype)
        return text, (
            _PRECEDENCE["*"]
            if "*" in text and not text.endswith(")")
            else _PRECEDENCE["neg"] if text[0] == "-" else _ATOM
        )
    if isinstance(expr, Index):
        return expr.name, _ATOM
    if isinstance(expr, Load):
        subscripts = [_text(expr.subscripts[d], name_of)[0] for d in expr.tensor.order]
        return name_of(expr.tensor) + (f"({','.join(subscripts)})" if subscripts else ""), _ATOM
    if expr.op == "in":
        index, low, high = (_text(arg, name_of)[0] for arg in expr.args)
        return f"{index} in {low}:{high}", 0
    if expr.op not in _PRECEDENCE:
        return f"{expr.op}({', '.join(_text(arg, name_of)[0] for arg in expr.args)})", _ATOM
    return _operator_text(expr, name_of)


def _operator_text(expr, name_of):
    level = _PRECEDENCE[expr.op]

    def side(arg, at_least):
        text, inner = _text(arg, name_of)
        return text if inner >= at_least else f"({text})"

    if expr.op == "?:":
        condition, yes, no = expr.args
        return f"{side(condition, 1)} ? {side(yes, 1)} : {side(no, 0)}", level
    if len(expr.args) == 1:
        return ("-" if expr.op == "neg" else "!") + side(expr.args[0], _ATOM), level
    a, b = expr.args
    tight = expr.dtype == "int64" and level >= 4
    space = "" if tight else " "
    return f"{side(a, level + (level == 3))}{space}{expr.op}{space}{side(b, level + 1)}", level
