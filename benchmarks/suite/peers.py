"""What a case is measured against. A peer that is absent or fails says so in a line and is left out."""

import ctypes
import os
import pathlib
import shutil
from typing import Callable, Dict, List, Tuple

import numpy
import torch

from .case import Case

ALL = ("eager", "compile", "numpy", "onednn", "halide")
TUNED_FAMILIES = ("matmul", "batched", "mlp", "conv", "contractions", "attention")


def available(wanted) -> Tuple[List[str], List[str]]:
    """Those of the wanted peers that this machine has, and a line for each it lacks."""
    missing = {}
    if "compile" in wanted and not shutil.which("g++"):
        missing["compile"] = "torch.compile needs g++"
    return [peer for peer in wanted if peer not in missing], [f"peer {name} is left out: {why}" for name, why in missing.items()]


def prepare(wanted) -> None:
    """What forked processes share: torch.compile's imports and its probing of the processor, which take seconds."""
    if "compile" in wanted:
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
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
    function(*inputs)
    return lambda: function(*inputs)


def functions(case: Case, inputs: tuple, wanted) -> Tuple[Dict[str, Callable], List[str]]:
    """Peer name to a function without parameters, and lines about those that failed."""
    made: Dict[str, Callable] = {}
    lines: List[str] = []

    def add(name, make):
        try:
            function = make()
            function()
            made[name] = function
        except Exception as error:  # A peer's failure is a fact about the peer, not about the run.
            lines.append(f"{case.name}: peer {name} failed: {str(error).splitlines()[0] if str(error) else type(error).__name__}")

    if "eager" in wanted:
        add("eager", lambda: lambda: case.eager(*inputs))
        for name, function in case.also.items():
            add(name, lambda function=function: lambda: function(*inputs))
    if "compile" in wanted:
        add("compile", lambda: compiled(case, inputs, "default"))
        if case.family in TUNED_FAMILIES:
            add("compile-max", lambda: compiled(case, inputs, "max-autotune-no-cudagraphs"))
    if "numpy" in wanted and case.numpy:
        set_numpy_threads(torch.get_num_threads())
        arrays = [tensor.numpy() for tensor in inputs]
        add("numpy", lambda: lambda: case.numpy(*arrays))
    return made, lines
