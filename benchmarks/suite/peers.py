"""What a case is measured against. A peer that is absent or fails says so in a line and is left out."""

import ctypes
import os
import pathlib
import shutil
import time
import warnings
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy
import torch

from . import check, native
from .case import Case

ALL = ("eager", "compile", "numpy", "onednn", "halide")
SLOW_SECONDS = 0.7
SLACK = 10  # Peers may round more than we do: they are compared to see that they compute the same thing.
TUNED_FAMILIES = ("matmul", "batched", "mlp", "conv", "contractions", "attention")


def available(wanted) -> Tuple[List[str], List[str]]:
    """Those of the wanted peers that this machine has, and a line for each it lacks."""
    missing = {}
    if "compile" in wanted and not shutil.which("g++"):
        missing["compile"] = "torch.compile needs g++"
    for name in ("onednn", "halide"):
        if name in wanted and native.library(name) is None:
            missing[name] = native.MISSING[name]
    return [peer for peer in wanted if peer not in missing], [
        f"peer {name} is left out: {why}" for name, why in missing.items()
    ]


def prepare(wanted) -> None:
    """What forked processes share: torch.compile's imports and its probing of the processor, which take seconds."""
    if "compile" in wanted:
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        os.environ.setdefault("TORCHINDUCTOR_MAX_AUTOTUNE_REPORT_CHOICES_STATS", "0")
        warnings.filterwarnings("ignore", "TypedStorage is deprecated")
        import torch._inductor.compile_fx
        import torch._inductor.cpu_vec_isa

        torch._inductor.cpu_vec_isa.pick_vec_isa()


def set_numpy_threads(threads: int) -> None:
    """Makes NumPy's BLAS use as many threads as the others, where it is the OpenBLAS of its wheels."""
    for path in pathlib.Path(numpy.__file__).parent.parent.glob("numpy.libs/libscipy_openblas*.so*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads"):
            if hasattr(library, name):
                getattr(library, name)(threads)


def compiled(case: Case, inputs: tuple, mode: str) -> Callable:
    """The eager function through torch.compile, for the number of threads that torch has now."""
    torch._dynamo.reset()
    torch._inductor.config.cpp.threads = torch.get_num_threads()
    function = torch.compile(case.eager, mode=mode, dynamic=False)
    with native.silent_errors():
        function(*inputs)
    return lambda: function(*inputs)


class Slow(NamedTuple):
    """A peer too slow to be measured in rounds, with the seconds of its one measured call."""

    seconds: float


def made(function: Callable, expected: Optional[tuple], case: Case):
    """The function, called once and compared with what is right, or Slow."""
    results = check.as_tuple(function())
    if expected is not None:
        results = tuple(torch.as_tensor(result) for result in results)
        if check.worst_error(results, expected, case.terms) > SLACK:
            raise RuntimeError("its result is wrong")
    start = time.perf_counter()
    function()
    elapsed = time.perf_counter() - start
    return Slow(elapsed) if elapsed > SLOW_SECONDS else function


def makers(case: Case, inputs: tuple, wanted, threads: int):
    """Name, whether its result is compared, and a function that makes the peer's function, for each peer of the case."""
    if "eager" in wanted:
        yield "eager", False, lambda: lambda: case.eager(*inputs)
        for name, function in case.also.items():
            yield name, False, lambda function=function: lambda: function(*inputs)
    if case.family == "odd":
        return
    if "compile" in wanted and threads == 1:
        yield "compile", False, lambda: compiled(case, inputs, "default")
        if case.family in TUNED_FAMILIES:
            yield "compile-max", False, lambda: compiled(case, inputs, "max-autotune-no-cudagraphs")
    if "numpy" in wanted and case.numpy:
        set_numpy_threads(threads)
        arrays = [tensor.numpy() for tensor in inputs]
        yield "numpy", True, lambda: lambda: case.numpy(*arrays)
    if case.native:
        output = torch.empty_like(case.eager(*inputs), memory_format=torch.contiguous_format)
        for name, make in native.makers(case.native, inputs, output, threads, wanted).items():
            yield name, "alone" not in name, make


def functions(case: Case, inputs: tuple, wanted, expected: Optional[tuple] = None):
    """Peer name to a function without parameters, name to the seconds of slow peers, and lines about those that failed.

    The peers use as many threads as torch does. `expected` are the right outputs.
    """
    ready: Dict[str, Callable] = {}
    slow: Dict[str, float] = {}
    lines: List[str] = []
    for name, compared, make in makers(case, inputs, wanted, torch.get_num_threads()):
        try:
            result = made(make(), expected if compared else None, case)
        except Exception as error:  # A peer's failure is a fact about the peer, not about the run.
            lines.append(f"{case.name}: peer {name} failed: {(str(error) or type(error).__name__).splitlines()[0]}")
            continue
        if isinstance(result, Slow) and name != "eager":
            slow[name] = result.seconds
        else:
            ready[name] = (lambda: case.eager(*inputs)) if isinstance(result, Slow) else result
    return ready, slow, lines
