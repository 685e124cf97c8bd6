"""A program of a public suite: its text, what NumPy makes of the same arrays, and the sizes it is run at."""

import dataclasses
import re
from typing import Callable, Dict, List, Tuple

import numpy as np

PARAMETER = re.compile(r"(\w+)(?:\(([^()]*)\))? (\w+)$")


@dataclasses.dataclass
class Program:
    name: str
    text: str
    reference: Callable
    """Of the arrays, a tuple of arrays: direct NumPy in the suite's own order of operations."""
    golden: Dict[str, int]
    """Small sizes, all of them different, at which results are compared with `reference` run in float64."""
    shapes: Tuple[Tuple[int, ...], ...]
    """The shapes of the results at the golden sizes."""
    usual: Dict[str, int]
    """The sizes it is timed at."""
    exact: bool = True
    """Whole numbers give whole numbers: results are compared with ==."""
    prepare: Callable = staticmethod(lambda arrays: arrays)
    """Makes valid input of drawn arrays, a positive definite matrix for example."""
    equation: str = ""
    """What `einsum` calls it, if it is a contraction."""

    @property
    def entry(self) -> str:
        return re.search(r"def (\w+)", self.text).group(1)

    def draw(self, sizes: Dict[str, int], seed: int = 0) -> List:
        """An argument for each parameter: arrays of whole numbers from -2 to 3, and the size itself for an `int` of its name."""
        rng = np.random.default_rng(seed)
        parameters = re.search(r"def \w+\((.*)\) ->", self.text).group(1)
        drawn = []
        for parameter in re.split(r", (?=\w+(?:\(|\s))", parameters):
            type_name, dims, name = PARAMETER.match(parameter).groups()
            if type_name == "int" and name in sizes:
                drawn.append(sizes[name])
                continue
            shape = tuple(eval(dim, {}, dict(sizes)) for dim in dims.split(",")) if dims else ()
            dtype = {"double": np.float64, "float": np.float32, "int32": np.int32}[type_name]
            drawn.append(rng.integers(-2, 4, size=shape).astype(dtype) if shape else np.array(rng.integers(1, 4), dtype))
        return self.prepare(drawn)
