"""Programs that equal a def for given sizes, derived by rules, each step with a proof that is checked again."""

import dataclasses
import numbers
from typing import Iterable, Optional, Tuple

from . import _core
from .api import Module
from .function import Function
from .given import Given
from .options import AnyCache, Options, checked_number


@dataclasses.dataclass(frozen=True)
class Step:
    """A rule applied to a program."""

    rule: str
    what: str
    """The tensor and the iterators it was applied to."""
    before: str
    after: str
    """The programs as TC."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a run may take."""

    microseconds: float
    source: str
    """"model", or "measured"."""

    def __str__(self):
        return f"{self.microseconds:.4g} us ({self.source})"


class Candidate:
    """A program that equals a def for tensors of given shapes."""

    def __init__(self, original, inputs, how, text, steps, certificate, microseconds, source):
        self._original, self._inputs, self._how = original, inputs, how
        self.text: str = text
        """A def whose sizes are numbers."""
        self.steps: Tuple[Step, ...] = tuple(Step(*step) for step in steps)
        """From the def to this program; none for the def itself."""
        self.certificate: str = certificate
        """The programs on the way and the isl maps that prove them equal, as one text; see docs/derivation.md."""
        self.cost = Cost(microseconds, source)

    @property
    def function(self) -> Function:
        """The program as a function: called, compiled and tuned like any other."""
        return self._function_of(self.text)

    def _function_of(self, text) -> Function:
        module = Module(text, "<derived>", self._how)
        return module[next(iter(module))]

    def verify(self, seed: int = 0) -> None:
        """Checks the certificate again, from its text, and runs both programs on integers from `seed`, which must be equal.

        Raises InternalError where one fails. Sums of products of the integers stay below 2^24 where a sum has fewer than
        2^20 terms, so that float32 is exact. Exponentials are not: the results of rolled programs must be close.
        """
        if not self.certificate:
            return
        own = self.certificate.startswith(f"program\n{self._original}") and self.certificate.endswith(f"program\n{self.text}")
        why = _core.check_derivation(self.certificate) if own else "it is about other programs"
        if why:
            raise _core.InternalError(f"the certificate proves nothing: {why}")
        try:
            import numpy
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("verify() runs on NumPy arrays: pip install 'tensor-comprehensions[numpy]'", name="numpy") from error

        random = numpy.random.default_rng(seed)
        tensors = [_integers(random, shape, dtype) for shape, dtype in self._inputs]
        want, got = (_outputs(self._function_of(text)(*tensors)) for text in (self._original, self.text))
        for position, (a, b) in enumerate(zip(want, got)):
            rounds = any(step.rule == "roll" for step in self.steps)
            if not (_are_close(numpy, a, b, _rounding(self.text)) if rounds else numpy.array_equal(a, b)):
                raise _core.InternalError(f"return {position} differs from the original's on integers of seed {seed}")

    def __repr__(self):
        rules = ", ".join(step.rule for step in self.steps) or "the def itself"
        return f"<tensor_comprehensions.Candidate {self.cost}: {rules}>"

    def __str__(self):
        return self.text


def _integers(random, shape, dtype):
    if dtype == "bfloat16":
        try:
            import ml_dtypes  # noqa: F401  NumPy knows the type then
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("verify() of bfloat16 tensors needs: pip install ml_dtypes", name="ml_dtypes") from error
    low, high = (0, 2) if dtype == "bool" else (0, 4) if dtype.startswith("u") else (-2, 3)
    return random.integers(low, high, size=shape).astype(dtype)


def _are_close(numpy, a, b, rounding):
    """Are they the same up to a relative `rounding` of the terms of sums, which may cancel?"""
    a, b = (numpy.asarray(each, float) for each in (a, b))
    largest = numpy.abs(a[numpy.isfinite(a)]).max(initial=0) if rounding > 1e-4 else 0
    return numpy.allclose(a, b, rtol=rounding, atol=max(1e-5, rounding * largest), equal_nan=True)


def _rounding(text):
    """How far results of rolled programs may be apart: a few roundings of the narrowest type that a text converts to."""
    return 2.0**-6 if "bfloat16(" in text else 2.0**-9 if " float16(" in text else 1e-4


def _outputs(result):
    return result if isinstance(result, tuple) else (result,)


class Candidates(tuple):
    """Candidates, the cheapest first; the def itself is among them."""

    statistics: dict
    """Of the search: "states" that were made, of them "pruned" as there already, "refused" as not proved, "cut" for their price; "seconds"."""
    note: str
    """Why nothing was derived, or an empty text."""


def derive(
    function: Function,
    *tensors: Given,
    depth: int = 7,
    libraries: str = "none",
    count: int = 8,
    target: Optional[str] = None,
    converge: bool = True,
    fingerprints: bool = True,
    constants: Iterable[str] = (),
    cache: AnyCache = None,
) -> Candidates:
    """Programs equivalent to `function` for tensors like `tensors` (or specs), cheapest first, including `function` itself.

    Rules are applied at most `depth` times; `count` candidates are returned. Prices come from the compiler's model for `target`; with
    `libraries`, candidates may call them. Nothing is measured. However, if `cache` has prices that `tune_derivations` measured for the same
    `constants` (names of parameters), they are reported and have precedence. See docs/derivation.md.

    Two parts of the search can be switched off for experiments: without `converge`, no layouts are changed towards matrix products; without
    `fingerprints`, known programs are derived again.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"derive takes a def of a text, {type(function).__name__} was given")
    checked_number(depth, "depth", 0, numbers.Integral)
    checked_number(count, "count", 1, numbers.Integral)
    function = function._for_values(tensors)
    how = Options(target=target, libraries=libraries)
    settings = dataclasses.replace(how, cache=cache, layouts="constants").settings()
    return _candidates(_core.derive(function, tensors, list(constants), depth, count, converge, fingerprints, 0, settings), how)


def _candidates(found, how) -> Candidates:
    candidates, statistics, note, inputs = found
    original = next((text for text, steps, *_ in candidates if not steps), None)
    result = Candidates(Candidate(original, inputs, how, *candidate) for candidate in candidates)
    result.statistics, result.note = statistics, note
    return result


def roll(function: Function, *tensors: Given, block: int = 128, target: Optional[str] = None) -> Candidate:
    """A program equivalent to `function` for tensors like `tensors` (or specs), in which a maximum and sums of its exponentials are rolled.

    They are computed in one loop over blocks of `block` iterations, with a running maximum and sums that are corrected when it rises, so that
    no temporary holds the values of all iterations: softmax(Q K^T) V keeps no matrix of scores. Other sums of temporaries with more elements
    than any output, as in the gradient of attention, have loops of their own, which compute these temporaries again. Raises ArgumentError
    with the reason if nothing can be rolled. See docs/derivation.md.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"roll takes a def of a text, {type(function).__name__} was given")
    checked_number(block, "block", 1, numbers.Integral)
    function = function._for_values(tensors)
    how = Options(target=target)
    settings = dataclasses.replace(how, layouts="constants").settings()
    candidates = _candidates(_core.derive(function, tensors, [], 0, 1, True, True, block, settings), how)
    rolled = next((candidate for candidate in candidates if any(step.rule == "roll" for step in candidate.steps)), None)
    if rolled is None:
        raise _core.ArgumentError(f"{function.name} cannot be rolled: {candidates.note}")
    return rolled
