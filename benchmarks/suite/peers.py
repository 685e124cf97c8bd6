"""What a case is measured against. A peer that is absent or fails says so in a line and is left out."""

from typing import Callable, Dict, List, Tuple

import torch

from .case import Case

ALL = ("eager", "compile", "numpy", "onednn", "halide")
TUNED_FAMILIES = ("matmul", "batched", "mlp", "conv", "contractions", "attention")


def available() -> Tuple[List[str], List[str]]:
    """The peers this machine has, and a line for each it lacks."""
    import shutil

    lines = [] if shutil.which("g++") else ["peer compile is left out: torch.compile needs g++"]
    peers = [peer for peer in ALL if peer in ("eager", "numpy") or (peer == "compile" and not lines)]
    return peers, lines


def compiled(case: Case, inputs: tuple, mode: str) -> Callable:
    """The eager function through torch.compile."""
    torch._dynamo.reset()
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
        arrays = [tensor.numpy() for tensor in inputs]
        add("numpy", lambda: lambda: case.numpy(*arrays))
    return made, lines
