"""The work of a node by its operator and shapes: the same whoever runs it, and however."""

import dataclasses
import math
from typing import Callable, Dict

import torch
from torch.utils import flop_counter

from ..operators import function_behind
from .lowering import VIEWS
from .lowering.registry import operations_of_def
from .specialise import is_concrete

_CHOOSING = ("embedding", "index", "index_select", "gather", "take", "_unsafe_index")
"""Operators that read as many elements of their first tensor as they write, however large it is."""


@dataclasses.dataclass(frozen=True)
class Work:
    """Of one run: operations (comparisons count) and bytes of the tensors that are read and written."""

    flops: int = 0
    bytes: int = 0

    def __add__(self, other):
        return Work(self.flops + other.flops, self.bytes + other.bytes)


def _tensors(value):
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _tensors(v)]
    return [value] if isinstance(value, torch.Tensor) else []


def _ragged_product(a, b, *_, **__):
    """Of torch's _grouped_mm: groups share the rows, the columns or the terms that offsets cut, so that each is in one product."""
    return 2 * math.prod(a.shape[-2:]) * b.shape[-1] * (a.shape[0] if a.dim() == b.dim() == 3 else 1)


def _sort(x, *_, **__):
    return x.numel() * max(1, math.ceil(math.log2(max(1, *x.shape)))) if x.dim() else 1


def _attention(q, k, v, *_, **__):
    return flop_counter.sdpa_flop_count(q.shape, k.shape, v.shape)


def _attention_backward(grad, q, k, v, *_, **__):
    return flop_counter.sdpa_backward_flop_count(grad.shape, q.shape, k.shape, v.shape)


_COUNTERS: Dict[str, Callable[..., float]] = {
    "_grouped_mm": _ragged_product,
    "grouped_mm_fallback": _ragged_product,
    "grouped_mm_fallback_backward": lambda a, b, *_, **__: 2 * _ragged_product(a, b),
    "sort": _sort,
    "topk": _sort,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
}
"""What torch's own table of counters lacks, by the name of the operator."""


def work_of(node) -> Work:
    """Of products by their sizes; of others an operation for each element that is read or written, whichever are more. Views have none, and
    of a node with a size that values tell none is known."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet is None or node.target in VIEWS:
        return Work()
    value_of = lambda n: n.meta.get("val")
    args, kwargs = torch.fx.node.map_arg(node.args, value_of), torch.fx.node.map_arg(node.kwargs, value_of)
    read, written = _tensors([*args, *kwargs.values()]), _tensors(node.meta.get("val"))
    if not read or not all(is_concrete(t) for t in [*read, *written]):
        return Work()
    if packet.__name__ in _CHOOSING:
        read = [*read[1:], *written]
    size = sum(t.numel() * t.element_size() for t in [*read, *written])
    function = function_behind(node.target)
    if function is not None:
        return Work(operations_of_def(function._for_values(read), read), size)
    try:
        if packet in flop_counter.flop_registry:
            return Work(int(flop_counter.flop_registry[packet](*args, **kwargs, out_val=node.meta.get("val"))), size)
        if packet.__name__ in _COUNTERS:
            return Work(int(_COUNTERS[packet.__name__](*args, **kwargs)), size)
    except (AssertionError, AttributeError, TypeError, ValueError, IndexError):
        pass  # a counter that does not know these arguments
    return Work(max((t.numel() for t in [*read, *written]), default=0), size)
