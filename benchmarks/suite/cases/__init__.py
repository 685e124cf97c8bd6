"""All cases, family by family."""

import fnmatch
from typing import Callable, List, Sequence

from ..case import Case, full
from . import attention, batched, contractions, convolution, lookups, matmul, memory, mlp, norms, odd, papers

FAMILIES = (matmul, batched, convolution, norms, memory, lookups, mlp, contractions, attention, papers, odd)


def all_cases(size: Callable[[int], int] = full) -> List[Case]:
    """Every case; `size` changes the sizes, not the names."""
    return [case for family in FAMILIES for case in family.cases(size)]


def chosen(cases: Sequence[Case], patterns: Sequence[str], quick: bool) -> List[Case]:
    """The cases whose name matches a pattern; without patterns all, with `quick` only the quick ones."""
    if not patterns:
        return [case for case in cases if case.quick or not quick]
    return [case for case in cases if any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]
