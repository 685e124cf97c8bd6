"""Programs as text of the language: a def for an item or for several, and the def of calls that is the whole."""

import dataclasses
import itertools
import re
from types import MappingProxyType
from typing import List, Set

from . import expression
from .builder import Call, Item, Statement
from .expression import Index, Literal, Load
from .lowering import VIEWS
from .sizes import NoText, same, size_text, symbol_of, symbols_in
from .values import Decline, Tensor, View, digits, iterators

RESERVED = set(
    """def where in exists true false inf pi bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float double half int byte
    min max abs clamp relu fmin fmax select popcount isnan isinf exp exp2 exp10 expm1 log log2 log10 log1p logb pow sqrt rsqrt cbrt rcbrt hypot rhypot
    norm3d norm4d rnorm3d rnorm4d fma sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sinpi cospi ceil floor round trunc fabs fdim fmod
    remainder copysign nextafter fdivide sigmoid silu gelu softplus erf erfc erfinv erfcinv erfcx normcdf normcdfinv lgamma tgamma j0 j1 y0 y1
    cyl_bessel_i0 cyl_bessel_i1 main""".split()
)


@dataclasses.dataclass
class Def:
    """A def: `text` with the placeholder `{name}` for its name; equal defs have equal texts.

    `params` and `returns` are the tensors of the program it reads and writes, in the order of the text; `items` what it says.
    """

    kind: str
    text: str
    params: List[Tensor]
    returns: List[Tensor]
    items: List[Item] = dataclasses.field(default_factory=list)

    def named(self, name):
        return self.text.replace("{name}", name, 1)


def _letters(count, first, taken=()):
    """`count` names: upper-case letters from `first` on that are not `taken`, then numbered."""
    alphabet = [chr(c) for c in range(ord(first), ord("T")) if chr(c) not in taken]
    return [alphabet[k % len(alphabet)] + (str(k // len(alphabet)) if k >= len(alphabet) else "") for k in range(count)]


def _declaration(tensor, name, sizes=None):
    sizes = sizes.get(tensor) if sizes else None
    stored = [sizes[d] for d in tensor.order] if sizes else tensor.stored_shape
    return f"{tensor.dtype}{'(' + ','.join(n if isinstance(n, str) else size_text(n) for n in stored) + ')' if tensor.shape else ''} {name}"


def _names_of_sizes(statements, params, returns):
    """Names of sizes for each tensor, after the iterators: {A: ["M", "K"]}; None where the text holds for these sizes only.

    It holds for all where each dimension is subscripted by one iterator alone, everywhere the same, no number stands in it, and
    each size is a parameter's.
    """
    sizes, extents = {}, {}
    for statement in statements:
        accesses = [(statement.target, statement.subscripts)]
        for part, _ in statement.walk():
            if isinstance(part, Load):
                accesses.append((part.tensor, part.subscripts))
            elif isinstance(part, Literal) and part.dtype not in expression.FLOATS or _is_count(part):
                return None
        for tensor, subscripts in accesses:
            if not all(
                isinstance(s, Index) and same(s.extent, n) and len(s.name) == 1 for s, n in zip(subscripts, tensor.shape)
            ):
                return None
            names = [s.name.upper() for s in subscripts]
            if sizes.setdefault(tensor, names) != names:
                return None
            if any(not same(extents.setdefault(s.name, s.extent), s.extent) for s in subscripts):
                return None
    known = {name for t in params for name in sizes[t]}
    if known & {"T", "Y"}:  # the names of what the def writes
        return None
    return sizes if all(name in known for names in sizes.values() for name in names) else None


def _is_count(part):
    """Whether a number may be how many elements a mean is over: then it belongs to these sizes."""
    return isinstance(part, Literal) and (not part.is_number or 2 < abs(part.value) < 2**62 and part.value == int(part.value))


def _bounded(statement: Statement, assigned) -> List[Index]:
    """The iterators whose range the text must give, because no subscript that is an iterator alone does."""
    known: Set[str] = set()
    partial: Set[str] = set()
    if statement.target in assigned:
        for size, subscript in zip(statement.target.shape, statement.subscripts):
            if isinstance(subscript, Index):
                (known if same(size, subscript.extent) else partial).add(subscript.name)
    for part, guarded in statement.walk():
        if not isinstance(part, Load) or part.tensor is statement.target and statement.target not in assigned:
            continue
        for size, subscript in zip(part.tensor.shape, part.subscripts):
            if isinstance(subscript, Index):
                exact = same(size, subscript.extent)
                (known if exact and not guarded else partial if not exact else set()).add(subscript.name)
    return [i for i in [*statement.iterators, *statement.reduced] if i.name not in known or i.name in partial]


def statement_text(statement: Statement, name_of, assigned) -> str:
    """One statement, without its loop; ranges are given where inference would not find them."""
    target = statement.target
    left = name_of(target)
    if target.shape:
        left += f"({','.join(expression.to_text(statement.subscripts[d], name_of) for d in target.order)})"
    loop = statement.loop
    clauses = [f"{i.name} in 0:{size_text(i.extent)}" for i in _bounded(statement, assigned) if loop is None or i.name != loop.name]
    clauses += [f"exists {expression.to_text(element, name_of)}" for element in statement.exist]
    text = f"{left} {statement.operator} {expression.to_text(statement.value, name_of)}"
    return text + (f" where {', '.join(clauses)}" if clauses else "")


def _lines(statements, name_of) -> List[str]:
    """Statements in their loops; neighbours that have one loop are in it together."""
    assigned: Set[Tensor] = set()
    lines = []
    for loop, inside in itertools.groupby(statements, lambda s: s.loop):
        texts = []
        for statement in inside:
            texts.append(statement_text(statement, name_of, assigned))
            assigned.add(statement.target)
        if loop is not None:
            texts = [f"for {loop.name} in 0:{size_text(loop.extent)} {{", *(f"    {text}" for text in texts), "}"]
        lines += texts
    return lines


def declared_first(tensors) -> list:
    """Parameters in an order in which each symbol is the size of one before it is part of an expression."""
    return sorted(tensors, key=lambda t: any(symbols_in([n]) and symbol_of(n) is None for n in t.shape))


def _that_tell(symbols, params, holders):
    """Further parameters for those of `symbols` that no dimension of `params` is: tensors of `holders`, by symbol."""
    known = {symbol_of(n) for t in params for n in t.shape}
    missing = [symbol for symbol in symbols if symbol not in known]
    if any(symbol not in holders for symbol in missing):
        raise Decline(f"no tensor has the size '{next(s for s in missing if s not in holders)}'")
    return dict.fromkeys(holders[symbol] for symbol in missing)


def _symbols_of(statements, tensors):
    """The symbols that the text of statements over `tensors` names."""
    found = [n for t in tensors for n in t.shape]
    for statement in statements:
        found += [i.extent for i in [*statement.iterators, *statement.reduced]]
        found += [part.value for part, _ in statement.walk() if isinstance(part, Literal)]
    return symbols_in(found)


def def_of(items: List[Item], needed, kind=None, holders=MappingProxyType({})) -> Def:
    """The def of some items; it returns what it writes of the tensors `needed` outside. `holders` are tensors that have a symbol as a size."""
    written = list(dict.fromkeys(t for item in items for t in item.writes))
    params = list(dict.fromkeys(t for item in items for t in item.reads if t not in written))
    returns = [t for t in written if t in needed]
    statements = [s for item in items for s in item.statements]
    sizes = _names_of_sizes(statements, params, returns)
    if not sizes:
        params = declared_first([*params, *_that_tell(_symbols_of(statements, [*params, *returns]), params, holders)])
    taken = {name for of_tensor in (sizes or {}).values() for name in of_tensor}
    names = dict(zip(params, _letters(len(params), "A", taken)))
    names |= {t: "Y" + (str(k + 1) if k else "") for k, t in enumerate(returns)}
    names |= {t: "T" + (str(k + 1) if k else "") for k, t in enumerate(t for t in written if t not in needed)}
    takes = ", ".join(_declaration(t, names[t], sizes) for t in params)
    given = ", ".join(_declaration(t, names[t], sizes) for t in returns)
    lines = [f"    {line}" for line in _lines(statements, names.__getitem__)]
    text = f"def {{name}}({takes}) -> ({given}) {{\n" + "\n".join(lines) + "\n}\n"
    return Def(kind or "_".join(dict.fromkeys(item.name for item in items)), text, params, returns, items)


def reshape_def(item: Item, holders=MappingProxyType({})) -> Def:
    """The def that a second shape of a tensor's memory stands for."""
    alias, source = item.reshape
    plain = Tensor("A", source.dtype, source.stored_shape)
    its = iterators(alias.shape)
    target = Tensor("Y", alias.dtype, alias.shape)
    value = View(plain).at(digits(its, alias.shape, plain.shape))
    found = def_of([Item(item.node, "reshape", "", [Statement(target, its, "=", value)])], {target}, holders=holders)
    return Def("reshape", found.text, [source if t is plain else t for t in found.params], [alias], [item])


def called_def(item: Item, call: Call) -> Def:
    """The def that an item calls."""
    return Def(item.name, call.text, call.params, call.returns, [item])


class Names:
    """Gives each thing a name of its own that the language takes."""

    def __init__(self):
        self.taken = set(RESERVED)

    def fresh(self, wanted):
        wanted = re.sub(r"\W+", "_", wanted).strip("_") or "t"
        wanted = "t_" + wanted if wanted[0].isdigit() or wanted.startswith(("inf", "nan")) else wanted
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name


def defs_of(program) -> List[Def]:
    """A def for each item that results depend on, each returning what later items and results read."""
    needed, live = {r.value.tensor for r in program.results if r.is_tensor}, []
    for item in reversed(program.items):
        if set(item.writes) & needed:
            needed |= set(item.reads)
            live.append(item)
    holders = {symbol_of(n): t for t in reversed(program.inputs) if t is not None for n in t.shape if symbol_of(n) is not None}
    try:
        return [
            reshape_def(item, holders) if item.reshape else called_def(item, item.call) if item.call else def_of([item], needed, _kind(item), holders)
            for item in reversed(live)
        ]
    except NoText as reason:
        raise Decline(str(reason)) from reason


def _kind(item):
    """The name of an item's def: a copy that a view made necessary is a copy."""
    return "copy" if item.node is not None and item.node.target in VIEWS else item.name


def program_text(program, defs: List[Def], names_of_inputs=None) -> str:
    """Defs, equal ones once, and `main`, which calls them in order; it takes the program's inputs, then its constants."""
    names, known, parts = Names(), {}, []
    for d in defs:
        if d.text not in known:
            known[d.text] = names.fresh(d.kind if d.kind not in RESERVED else d.kind + "_of")
            parts.append(d.named(known[d.text]))
    arguments = [t for t in [*program.inputs, *program.constants] if t is not None]
    label = {t: names.fresh((names_of_inputs or {}).get(t, t.name)) for t in arguments}
    for d in defs:
        for t in d.returns:
            label[t] = names.fresh(t.name)
    returns = list(dict.fromkeys(r.value.tensor for r in program.results if r.is_tensor))
    lines = []
    for d in defs:
        left = ", ".join(label[t] for t in d.returns)
        left = f"({left})" if len(d.returns) > 1 else left
        lines.append(f"    {left} = {known[d.text]}({', '.join(label[t] for t in d.params)});")
    taken = ",\n         ".join(_declaration(t, label[t]) for t in arguments)
    given = ", ".join(_declaration(t, label[t]) if t in program.updates else label[t] for t in returns)
    return "\n".join(parts) + f"\ndef main({taken}) -> ({given}) {{\n" + "\n".join(lines) + "\n}\n"
