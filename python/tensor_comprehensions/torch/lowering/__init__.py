"""Lowerings of torch's operators, by families."""

from . import activations, attention, bags, convolutions, creations, indexing, norms, pointwise, pooling, products, ranks, reductions, views
from .registry import LOWERINGS, VIEWS, lowering_of

__all__ = ["LOWERINGS", "VIEWS", "lowering_of"]
