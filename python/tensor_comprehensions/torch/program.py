"""Programs: arguments, what nodes of a graph of torch became, and results; and the lowering of one node."""

import dataclasses
from typing import Dict, List, Optional

import torch

from .builder import Builder, Item, dtype_name
from . import lowering as lowering_package
from .expression import Index, Load, walk
from .lowering import lowering_of
from .sizes import is_size
from .values import Decline, Formula, Tensor, Value, View, iterators

LOWERINGS_PACKAGE = lowering_package.__name__


@dataclasses.dataclass
class Result:
    """One result of a graph: a value read from memory, or what is no tensor (None, a number)."""

    value: object
    node: Optional[torch.fx.Node] = None

    @property
    def is_tensor(self):
        return isinstance(self.value, View)


@dataclasses.dataclass
class Program:
    """`inputs` has a tensor for each placeholder, None for one that is no tensor; `constants` the tensors of attributes. Results that are keys of `updates`
    have the memory of inputs, whose values they replace."""

    inputs: List[Optional[Tensor]]
    constants: Dict[Tensor, torch.Tensor]
    items: List[Item]
    results: List[Result]
    updates: Dict[Tensor, Tensor] = dataclasses.field(default_factory=dict)


def stored_order(fake):
    """The dimensions of a fake tensor from the outermost in memory, None where it is not dense."""
    order = sorted(range(fake.dim()), key=lambda d: -fake.stride(d) if fake.shape[d] != 1 else 0)
    big = [d for d in order if fake.shape[d] != 1]
    expected = 1
    for d in reversed(big):
        if fake.stride(d) != expected:
            return None
        expected *= fake.shape[d]
    if big == sorted(big):
        return tuple(range(fake.dim()))
    return tuple(d for d in range(fake.dim()) if fake.shape[d] == 1) + tuple(big)


def has_sizes(fake) -> bool:
    """Whether no size or stride of a fake tensor depends on values of tensors."""
    return all(is_size(n) for n in (*fake.shape, *fake.stride()))


def input_tensor(name, fake) -> Tensor:
    """An argument that looks like `fake`; declines what the language has no tensor for."""
    if not isinstance(fake, torch.Tensor):
        raise Decline(f"'{name}' is no tensor")
    if not has_sizes(fake):
        raise Decline(f"the sizes of '{name}' are symbols that values tell")
    if (
        fake.layout != torch.strided
        or fake.is_quantized
        or type(fake).__name__ not in ("FakeTensor", "Tensor", "Parameter", "FunctionalTensor")
    ):
        raise Decline(f"'{name}' is no plain tensor")
    if fake.is_neg() or fake.is_conj():
        raise Decline(f"'{name}' is a lazily negated or conjugated view")
    return Tensor(name, dtype_name(fake.dtype), fake.shape)


def _check(value, fake, number):
    which = "" if number is None else f" {number}"
    if not isinstance(value, Value):
        raise Decline(f"its result{which} is not lowered")
    if tuple(value.shape) != tuple(fake.shape) or value.dtype != dtype_name(fake.dtype):
        raise Decline(
            f"its result{which} would be {value.dtype}{list(value.shape)}, torch has {dtype_name(fake.dtype)}{list(fake.shape)}"
        )


def _store_like(value, fake, items):
    """Lays a tensor that was just made out in memory as torch does, where no other shape of it exists."""
    made = [t for item in items if not item.reshape for t in item.writes]
    reshaped = [t for item in items if item.reshape for t in item.reshape]
    if not isinstance(value, View) or value.tensor not in made or value.tensor in reshaped:
        return
    whole = value.shape == value.tensor.shape and all(row == ([(d, 1)], 0) for d, row in enumerate(value.rows))
    order = stored_order(fake)
    if whole and order:
        value.tensor.order = order


_REDUCING = {
    f"{LOWERINGS_PACKAGE}.{family}" for family in ("reductions", "norms", "attention", "pooling", "convolutions", "products")
}


def _spread(b, value):
    """`value` with every dimension in its subscripts: a sum over one that an expanded tensor or a constant does not read would
    count its elements once."""
    if isinstance(value, (tuple, list)):
        return type(value)(_spread(b, v) for v in value)
    if isinstance(value, Formula) and value.numel > 1 and not _reads_all(value):
        return b.materialise(value)
    if isinstance(value, View) and value.is_expanded():
        return b.materialise(value)
    return value


def _reads_all(value):
    """Whether a formula is an element of a tensor, with each dimension in its subscripts."""
    its = iterators(value.shape)
    element = value.at(its)
    read = {part.name for part, _ in walk(element) if isinstance(part, Index)}
    return isinstance(element, Load) and all(i.name in read for i in its if i.extent != 1)


def lower_node(b: Builder, node, lookup):
    """Lowers one node, given the values of its arguments; returns its value or a tuple of values. Declines."""
    lowering = lowering_of(node.target)
    if lowering is None:
        raise Decline("no text for it")
    fakes = node.meta.get("val")
    several = isinstance(fakes, (tuple, list))
    before = len(b.items)
    b.begin(node, node.target.overloadpacket.__name__.lstrip("_"))
    for number, fake in enumerate(fakes if several else [fakes]):
        is_read = fake is not None and (b.used(number) or not several)
        if is_read and not (isinstance(fake, torch.Tensor) and has_sizes(fake) and fake.numel() == 0):
            input_tensor("its result", fake)
    read = (lambda n: _spread(b, lookup(n))) if lowering.__module__ in _REDUCING else lookup
    made = lowering(b, *torch.fx.node.map_arg(node.args, read), **torch.fx.node.map_arg(node.kwargs, read))
    for number, (value, fake) in enumerate(zip(made, fakes) if several else [(made, fakes)]):
        if value is None and several and not b.used(number):
            continue
        _check(value, fake, number if several else None)
        _store_like(value, fake, b.items[before:])
    return made


def root_tensor(tensor: Tensor) -> Tensor:
    """The tensor whose memory `tensor` is another shape of."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor
