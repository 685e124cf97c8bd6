"""Collects the statements that nodes become."""

import dataclasses
import math
from typing import List, Optional, Sequence

import torch

from . import expression
from .expression import Expr, Index
from .sizes import now, size
from .values import Decline, Formula, Tensor, Value, View, affine_reshape, digits, iterators

DTYPES = {
    torch.bool: "bool",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.uint8: "uint8",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float32: "float32",
    torch.float64: "float64",
}
TORCH_DTYPES = {name: dtype for dtype, name in DTYPES.items()}


def dtype_name(dtype) -> str:
    """The language's name of a torch type; declines those it has none for."""
    if dtype not in DTYPES:
        raise Decline(f"the language has no type {str(dtype).rpartition('.')[2]}")
    return DTYPES[dtype]


@dataclasses.dataclass
class Statement:
    """`target(subscripts) operator value`; the text has the target's subscripts in its order of memory.

    Subscripts are iterators; of a reduction, also expressions: the value goes where they say. A reduction is over the iterators `over` too
    where nothing reads them. The elements `exist` are checked to lie in their tensors. The values of the iterator `loop` run in order, so that
    the statement may read elements of its target at earlier ones.
    """

    target: Tensor
    subscripts: List[Expr]
    operator: str
    value: Expr
    over: Sequence[Index] = ()
    exist: Sequence[expression.Load] = ()
    loop: Optional[Index] = None

    @property
    def iterators(self):
        """The iterators that are subscripts of the target, one for each element that an instance writes."""
        return [s for s in self.subscripts if isinstance(s, Index)]

    def walk(self):
        """All parts of what it reads, each with whether a condition guards it."""
        for computed in (*(s for s in self.subscripts if not isinstance(s, Index)), self.value, *self.exist):
            yield from expression.walk(computed)

    @property
    def loads(self):
        return [part for part, _ in self.walk() if isinstance(part, expression.Load)]

    @property
    def reduced(self):
        """The iterators that are no subscript of the target, in order of appearance."""
        left, found = {i.name for i in self.iterators}, {}
        for part in (*(part for part, _ in self.walk()), *self.over):
            if isinstance(part, Index) and part.name not in left:
                found.setdefault(part.name, part)
        return list(found.values())

    @property
    def points(self):
        return math.prod(now(i.extent) for i in [*self.iterators, *self.reduced])

    @property
    def flops(self):
        adds = self.operator != "=" and self.value.dtype in expression.FLOATS
        return self.points * (expression.operations(self.value) + adds)


@dataclasses.dataclass
class Call:
    """A call of a def: its `text`, with the placeholder `{name}` for its name, and the tensors it takes and gives."""

    text: str
    params: List[Tensor]
    returns: List[Tensor]
    flops: int


@dataclasses.dataclass
class Item:
    """What one node became: statements, a call of a def, or (`reshape`) a second shape of a tensor's memory."""

    node: object
    name: str
    kind: str
    statements: List[Statement] = dataclasses.field(default_factory=list)
    reshape: tuple = ()
    call: Optional[Call] = None

    @property
    def writes(self):
        """The tensors it computes, each once, in order."""
        if self.reshape:
            return [self.reshape[0]]
        if self.call:
            return self.call.returns
        return list(dict.fromkeys(s.target for s in self.statements))

    @property
    def reads(self):
        """The tensors it reads and does not compute itself, in order of appearance."""
        if self.reshape:
            return [self.reshape[1]]
        if self.call:
            return list(dict.fromkeys(self.call.params))
        own, found = set(self.writes), {}
        for statement in self.statements:
            for load in statement.loads:
                if load.tensor not in own:
                    found[load.tensor] = None
        return list(found)

    @property
    def flops(self):
        return self.call.flops if self.call else sum(s.flops for s in self.statements)


class Builder:
    """The lowering of a graph so far. `node` is the one whose lowering runs."""

    def __init__(self):
        self.items: List[Item] = []
        self.node = None
        self.count = 0
        self.held = set()  # tensors that may be constants of what is compiled
        self.inputs = set()  # nodes whose values are inputs: of others, the items are known

    # what lowerings say

    def define(self, iterators, value, operator="=", dtype=None, exist=()) -> View:
        """A new tensor over `iterators` that holds `value`, reduced over all other iterators in it by `operator`."""
        dtype = dtype or value.dtype
        target = Tensor(self._fresh(), dtype, [i.extent for i in iterators])
        self.assign(View(target), iterators, value, operator, exist=exist)
        return View(target)

    def recur(self, iterators, loop, dtype, value) -> View:
        """A new tensor over `iterators` whose elements are computed in the order of `loop`, one of them: `value` gives an element from a view of
        the tensor, of which it reads earlier ones."""
        view = View(Tensor(self._fresh(), dtype, [i.extent for i in iterators]))
        self._item().statements.append(Statement(view.tensor, list(iterators), "=", expression.cast(value(view), dtype), loop=loop))
        return view

    def fresh(self, dtype, its) -> View:
        """A tensor over the iterators `its`, which add() gives statements."""
        return View(Tensor(self._fresh(), dtype, [i.extent for i in its]))

    def add(self, statement):
        """A statement that writes a tensor of fresh()."""
        self._item().statements.append(statement)

    def assign(self, view, subscripts, value, operator="=", over=(), exist=()):
        """Another statement that writes the tensor of `view`, which this node made; `over` and `exist` as in Statement."""
        value = value if value.dtype == view.dtype or operator != "=" else expression.cast(value, view.dtype)
        if operator in ("+=!", "+=") and value.dtype != view.dtype and not value.dtype in expression.FLOATS:
            value = expression.cast(value, view.dtype)
        self._item().statements.append(Statement(view.tensor, list(subscripts), operator, value, over, exist))

    def scatter(self, value, over, subscripts, addend, operator="+=") -> View:
        """A tensor like `value`, into whose elements at `subscripts` all `addend`, one for each value of the iterators `over`, are reduced by
        `operator`; an error where one is outside."""
        its = iterators(value.shape)
        target = self.define(its, value.at(its))
        zero = expression.Literal(0, "int64")
        subscripts = [expression.Apply("+", (s, zero), "int64") if s in subscripts[:k] else s for k, s in enumerate(subscripts)]
        self.assign(target, subscripts, expression.cast(addend, value.dtype), operator, over)
        return target

    def store(self, value, over, subscripts, stored) -> View:
        """A tensor like `value`, whose elements at `subscripts` become `stored`, one for each value of the iterators `over`; of several for one
        element the last one, in the order of these. An error where one is outside."""
        its = iterators(value.shape)
        target = self.define(its, value.at(its))
        zero = expression.Literal(0, "int64")
        if all(isinstance(s, Index) for s in subscripts):  # an expression on the left makes a store of it
            subscripts = [expression.Apply("+", (subscripts[0], zero), "int64"), *subscripts[1:]]
        subscripts = [expression.Apply("+", (s, zero), "int64") if s in subscripts[:k] else s for k, s in enumerate(subscripts)]
        self.assign(target, subscripts, expression.cast(stored, value.dtype), over=over)
        return target

    def sum(self, iterators, value, dtype=None) -> View:
        return self.define(iterators, value, "+=!", dtype)

    def materialise(self, value) -> View:
        """`value` as a tensor of its own shape, stored row by row."""
        its = iterators(value.shape)
        return self.define(its, value.at(its))

    def stored(self, value) -> View:
        """`value` as a tensor read through a map: a formula is written out."""
        return value if isinstance(value, View) else self.materialise(value)

    def reshape(self, value: Value, shape) -> Value:
        """`value` with another shape; it is copied only where neither a map nor its memory will do."""
        shape = tuple(size(n) for n in shape)
        if shape == value.shape:
            return value
        if value.numel == 0:
            return Formula(lambda s: expression.Literal(0, value.dtype), shape, value.dtype)
        if isinstance(value, Formula):
            old = value.shape
            return Formula(lambda s: value.at(digits(s, shape, old)), shape, value.dtype)
        found = affine_reshape(value, shape)
        if found is not None:
            return found
        stored = self.stored(value)
        if stored.is_expanded():  # elements are read where they are, instead of a copy of them for each place
            old = stored.shape
            return Formula(lambda s: stored.at(digits(s, shape, old)), shape, stored.dtype)
        if not stored.is_stored_in_order():
            stored = self.materialise(stored)
        return View(self._alias(stored.tensor, shape))

    def whole(self, value: Value) -> Tensor:
        """A tensor that has the elements of `value`, row by row; they are copied only where memory has them in no such order."""
        stored = self.stored(value)
        if not stored.is_memory_in_order():
            stored = self.materialise(stored)
        tensor = stored.tensor
        return tensor if tensor.stored_shape == stored.shape else self._alias(tensor, stored.shape)

    def call(self, text, params, shapes, dtypes, flops) -> List[View]:
        """The results of a call of the def `text`, which has the placeholder `{name}` for its name."""
        returns = [Tensor(self._fresh(), dtype, shape) for shape, dtype in zip(shapes, dtypes)]
        self.items.append(Item(self.node, self._name, "", call=Call(text, params, returns, flops)))
        return [View(tensor) for tensor in returns]

    def _alias(self, tensor, shape):
        alias = Tensor(self._fresh(), tensor.dtype, shape, alias_of=tensor)
        self.items.append(Item(self.node, "reshape", "reshape", reshape=(alias, tensor)))
        return alias

    def is_held(self, value: Value) -> bool:
        """Whether `value` is of a tensor that may be a constant, which a compile then lays out as its code likes."""
        return isinstance(value, View) and value.tensor in self.held

    def used(self, number) -> bool:
        """Whether anything reads result `number` of the node."""
        return self.node is None or any(user.args[1] == number and user.users for user in self.node.users if len(user.args) > 1)

    def result(self, number=None):
        """The fake tensor that torch says the node gives (its result `number`)."""
        value = self.node.meta["val"]
        return value if number is None else value[number]

    @property
    def out_dtype(self):
        return dtype_name(self.result().dtype)

    @property
    def out_shape(self):
        return tuple(self.result().shape)

    # bookkeeping

    def begin(self, node, name):
        self.node, self._name, self._open = node, name, None

    def _fresh(self):
        self.count += 1
        return f"t{self.count}"

    def _item(self):
        if self._open is None or self.items[-1] is not self._open:
            self._open = Item(self.node, self._name, "")
            self.items.append(self._open)
        return self._open
