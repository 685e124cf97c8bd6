"""Lowerings of torch's operators, by families."""

from . import convolutions, indexing, norms, pointwise, pooling, products, reductions, views
from .registry import LOWERINGS, VIEWS

__all__ = ["LOWERINGS", "VIEWS"]
