"""Programs that rules derive from a def, measured: compiles with derive=N then take what was fastest."""

import dataclasses
from typing import Iterable, Optional, Tuple

from . import _core
from .derivation import Cost
from .function import Function
from .given import Given
from .options import AnyCache, Options
from .tuning import worker_command


@dataclasses.dataclass(frozen=True)
class Program:
    """A program that computes a part of a def's graph."""

    text: str
    """A def; of derived programs all sizes are numbers."""
    rules: Tuple[str, ...]
    """That were applied; none for the part as it is written."""
    certificate: str
    """The proof; see docs/derivation.md."""
    predicted: Cost
    """By the model; 0 where it tells nothing."""
    cost: Optional[Cost]
    """Measured; None where the program failed, or was given up."""
    status: str
    """As of candidates of `autotune`: "ok", "same", "slow", "wrong", ..."""
    note: str
    """What went wrong."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a def's graph, and the programs it was measured with."""

    name: str
    programs: Tuple[Program, ...]
    """As it is written first, then as the model orders them."""
    best: Program
    """The first, unless another was faster beyond noise."""
    kept: bool
    """Is that in the cache?"""

    @property
    def speedup(self) -> float:
        """The time of the part as it is written over that of the best program; NaN where one of them was not measured."""
        written, best = self.programs[0].cost, self.best.cost
        return written.microseconds / best.microseconds if written and best else float("nan")


class DerivationTuning(tuple):
    """The parts that were measured."""

    stop: str
    """Why it ended: "space" with all measured, "budget", "interrupt"."""
    elapsed: float
    """Seconds."""

    def __str__(self):
        lines = []
        for part in self:
            rules = "; ".join(part.best.rules) or "as it is written"
            lines.append(f"{part.name}: {part.programs[0].cost}, best {part.best.cost} ({part.speedup:.2f}x): {rules}")
        return "\n".join(lines) or "nothing is derived"


def _program(fields) -> Program:
    cost = Cost(1e6 * fields["seconds"], "measured") if fields["seconds"] > 0 else None
    return Program(
        fields["text"],
        tuple(fields["rules"]),
        fields["certificate"],
        Cost(1e6 * fields["predicted"], "model"),
        cost,
        fields["status"],
        fields["note"],
    )


def _part(fields) -> Part:
    programs = tuple(map(_program, fields["programs"]))
    return Part(fields["name"], programs, programs[fields["best"]], fields["kept"])


def tune_derivations(
    function: Function,
    *tensors: Given,
    depth: int = 7,
    constants: Iterable[str] = (),
    libraries: str = "none",
    budget: float = 60.0,
    candidates: int = 0,
    seed: int = 0,
    cache: AnyCache = None,
    target: Optional[str] = None,
) -> DerivationTuning:
    """Measures the programs that a compile of `function` with derive=`depth` derives, for tensors like these (or specs).

    Each part of the def's graph is measured separately, on generated numbers, in its own processes. Up to `candidates` programs (0: 24)
    that rules derive from it are compiled with these `libraries`, and with these names of parameters as `constants`. Programs with right
    results are timed, and the fastest are measured in turns with the source form of the part. The measurement ends after `budget` seconds.

    The times are stored in `cache` (a `tc.cache.Cache`; None: the environment's). `compile(..., derive=N)` with any N above 0 and the same
    constants, libraries, target and number of threads then uses the fastest program and proves it again; `stats["derived"]` contains
    "measured".
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"tune_derivations takes a def of a text, {type(function).__name__} was given")
    function = function._for_values(tensors)
    settings = Options(target=target, cache=cache, libraries=libraries, derive=depth, layouts="constants").settings()
    values = {"worker": worker_command(), "budget": float(budget), "candidates": candidates, "seed": seed}
    parts, stop, elapsed = _core.tune_derivations(function, tensors, list(constants), settings, values)
    result = DerivationTuning(map(_part, parts))
    result.stop, result.elapsed = stop, elapsed
    return result
