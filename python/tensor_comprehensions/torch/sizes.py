"""Sizes of tensors: numbers, and in graphs for many sizes symbols of torch, whose values the tensors of a call tell.

A question about a symbol that not all its values answer alike is answered for the call that a graph is compiled for; torch keeps it as a guard.
"""

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols


class NoText(Exception):
    """A size that the language has no expression for."""


def is_size(n) -> bool:
    """Whether `n` is a number, or a symbol that tensors tell."""
    return isinstance(n, int) or isinstance(n, torch.SymInt) and not free_unbacked_symbols(n)


def size(n):
    """`n` as a number of Python, or the symbol it is."""
    if not isinstance(n, torch.SymInt):
        return int(n)
    number = n.node.maybe_as_int()
    return n if number is None else number


def symbols_in(values) -> list:
    """The symbols in sizes, each once, in order of their names."""
    found = set().union(*(n.node.expr.free_symbols for n in values if isinstance(n, torch.SymInt)))
    return sorted(found, key=str)


def symbol_of(n):
    """The symbol that `n` is, None of a number or an expression."""
    return n.node.expr if isinstance(n, torch.SymInt) and n.node.expr.is_Symbol else None


def same(a, b) -> bool:
    """Whether two sizes are equal for all values of their symbols, as far as that shows; asks no question."""
    if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt):
        return isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt) and a.node.expr == b.node.expr
    return a == b


def now(n) -> int:
    """The value of a size in the call that the graph is compiled for; asks no question."""
    return n.node.hint if isinstance(n, torch.SymInt) else int(n)


def values_of(symbols, values):
    """A function that gives a size as a number, where `symbols` have `values`."""
    table, known = dict(zip(symbols, map(sympy.Integer, values))), {}

    def number(n):
        if not isinstance(n, torch.SymInt):
            return int(n)
        expr = n.node.expr
        if expr not in known:
            known[expr] = int(expr.xreplace(table))
        return known[expr]

    return number


def all_hold(conditions, symbols, values) -> bool:
    """Whether `conditions` over `symbols` hold for `values`."""
    table = dict(zip(symbols, map(sympy.Integer, values)))
    return all(bool(condition.xreplace(table)) for condition in conditions)


def size_text(n) -> str:
    """A size in the language. Raises NoText."""
    return _text(n.node.expr) if isinstance(n, torch.SymInt) else str(n)


def _text(expr):
    kind, args = type(expr).__name__, expr.args
    if expr.is_Integer:
        return str(expr) if expr >= 0 else f"({expr})"
    if expr.is_Symbol:
        return str(expr)
    if expr.is_Pow and args[1].is_Integer and args[1] > 0:
        args = [args[0]] * int(args[1])
    sign = {"Add": " + ", "Mul": "*", "Pow": "*", "FloorDiv": "/", "CleanDiv": "/", "Mod": "%", "PythonMod": "%"}.get(kind)
    if sign is None:
        raise NoText(f"the size '{expr}' has no text")
    return f"({sign.join(map(_text, args))})"
