"""Contractions of high rank, as TCCG writes them (output-left-right), and a batched product over a middle dimension."""

import math

import numpy as np
import torch

from ..case import Case, Goal, random

CONTRACTIONS = (  # name, size of every index
    ("abcd-aebf-dfce", 24),
    ("abcd-aebf-fdec", 24),
    ("abcd-aecf-bfde", 24),
    ("abcd-eafd-fbec", 24),
    ("abcde-efbad-cf", 24),
    ("abcdef-dega-gfbc", 16),
)


def text_of(out, left, right):
    """The comprehension of a contraction."""
    sizes, iterators = (lambda letters: ",".join(letters).upper()), (lambda letters: ",".join(letters))
    return (
        f"def contraction(float({sizes(left)}) X, float({sizes(right)}) Y) -> (Z) {{\n"
        f"  Z({iterators(out)}) +=! X({iterators(left)}) * Y({iterators(right)})\n}}"
    )


def contraction(name, sizes, goals):
    """One contraction; `sizes` maps indices to sizes."""
    out, left, right = name.split("-")
    equation = f"{left},{right}->{out}"
    summed = math.prod(sizes[i] for i in sizes if i not in out)
    return Case(
        f"contractions/{name}",
        text_of(out, left, right),
        lambda: (random(*[sizes[i] for i in left]), random(*[sizes[i] for i in right])),
        lambda x, y: torch.einsum(equation, x, y),
        terms=summed,
        flops=2.0 * math.prod(sizes.values()),
        goals=goals,
        numpy=lambda x, y: np.einsum(equation, x, y, optimize=True),
    )


def cases(size):
    for name, extent in CONTRACTIONS:
        # Extents differ in shrunken cases so that a mistaken order of dimensions shows.
        sizes = {i: extent if size(extent) == extent else 2 + n % 3 for n, i in enumerate(sorted(set(name) - {"-"}))}
        yield contraction(name, sizes, (Goal("eager", 0.9, 1.3),))
    readme = dict(zip("nabchw", (16, 8, 16, 2, 17, 25)))
    yield contraction("nachw-nabhw-nbchw", {i: size(extent) for i, extent in readme.items()}, ())
