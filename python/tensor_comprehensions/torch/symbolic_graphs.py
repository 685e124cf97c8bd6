"""Graphs whose sizes are symbols: compiled once for all sizes that are alike, or for the sizes of each call."""

import functools
import threading
import time
import warnings

import torch

from .. import _core
from .compile_graph import A_NUMBER, compile_graph, lowered_for
from .report import log
from .runner import MOST_SPECIALISATIONS
from .specialise import Generalised, specialised
from .values import Decline

MOST_GENERALISATIONS = 8
"""Times that one graph is compiled for all sizes that answer its questions alike."""


class ForAllSizes:
    """A graph with symbolic sizes: compiled for ranges of them, and where that cannot be for the sizes of each call, see _Specialising."""

    def __init__(self, module, kind, compiler):
        self.module, self.kind, self.compiler = module, kind, compiler
        self.made, self.like_first, self.lock = [], {}, threading.Lock()
        self.specialising = None

    def __call__(self, *inputs):
        if self.specialising is None:
            try:
                return self._for(inputs)(*inputs)
            except Decline as reason:
                self.specialising = _Specialising(self.module, self.kind, self.compiler, str(reason))
        return self.specialising(*inputs)

    def _for(self, inputs):
        """The callable for `inputs`. Raises Decline where no code for ranges takes them."""
        if self.made:
            values = self.made[0][0].values(inputs)
            found = self.like_first.get(values)
            if found is not None:
                return found
        with self.lock:
            found = next((run for general, run in self.made if general.is_for(general.values(inputs))), None)
            found = found or self._compile(inputs)
            self.like_first[self.made[0][0].values(inputs)] = found
        return found

    def _compile(self, inputs):
        if not self.compiler.specialise_seconds:
            raise Decline("no time is given for it")
        if len(self.made) >= MOST_GENERALISATIONS:
            raise Decline("its sizes are of too many kinds")
        started = time.perf_counter()
        try:
            general = Generalised(self.module, inputs)
            check = functools.partial(self._check_reasons, inputs)
            run, report = compile_graph(general.module, self.kind, self.compiler, sizes="all like the first", check=check)
        except Exception as error:
            reason = str(error).splitlines()[0] if isinstance(error, (Decline, ValueError, _core.Error)) else f"{type(error).__name__}: {error}"
            log.info("a graph is compiled for each size by itself, %.1f s: %s", time.perf_counter() - started, reason)
            log.debug("not for all sizes", exc_info=True)
            raise Decline(reason) from error
        self.made.append((general, run))
        return run

    def _check_reasons(self, inputs, reasons):
        """Raises Decline where a node is left to torch because sizes are symbols."""
        left = {name: why for name, why in reasons.items() if why and why != A_NUMBER}
        if left:
            alone = lowered_for(specialised(self.module, inputs), self.compiler).reasons
            for name, why in left.items():
                if alone.get(name) is None:
                    raise Decline(why)


class _Specialising:
    """A graph with symbolic sizes: compiled for the sizes of each call, up to limits of number and time; torch runs it for others."""

    def __init__(self, module, kind, compiler, reason):
        self.module, self.kind, self.compiler, self.reason = module, kind, compiler, reason
        self.known, self.lock = {}, threading.Lock()
        self.seconds, self.ended = 0.0, False

    def __call__(self, *inputs):
        key = tuple((i.shape, i.stride()) if isinstance(i, torch.Tensor) else i for i in inputs)
        found = self.known.get(key)
        if found is None and not self.ended:
            with self.lock:
                found = self.known.get(key) or self._compile(key, inputs)
        return (found or self.module)(*inputs)

    def _compile(self, key, inputs):
        """What runs `inputs`; None where a limit is reached."""
        limit = self.compiler.specialise_seconds
        if self.seconds >= limit or len(self.known) >= MOST_SPECIALISATIONS:
            log.info("a graph took %.1f s for %d different shapes: torch runs it for further ones", self.seconds, len(self.known))
            self.ended = True
            return None
        started = time.perf_counter()
        try:
            self.known[key] = compile_graph(
                specialised(self.module, inputs), self.kind, self.compiler, sizes=f"of each call alone: {self.reason}"
            )[0]
        except Exception as error:  # a graph must not break
            warnings.warn(f"a graph with symbolic sizes runs in torch: {type(error).__name__}: {error}", stacklevel=3)
            self.known[key] = self.module
        self.seconds += time.perf_counter() - started
        return self.known[key]
