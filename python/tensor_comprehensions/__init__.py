"""Tensor mathematics written as text, compiled to machine code.

    import tensor_comprehensions as tc

    T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    C = T.mm(A, B)                  # torch or NumPy tensors; compiled on first use for these shapes
    print(T.mm.infer(A, B))         # shapes, ranges and conditions, without running
    print(tc.compile(T.mm, A, B).explain())
"""

import importlib.util
import pathlib
import platform
import sys
from typing import TYPE_CHECKING

if importlib.util.find_spec("._core", __name__) is None:
    _built = sorted(path.name for path in pathlib.Path(__file__).parent.glob("_core.*.so"))
    raise ImportError(
        f"tensor_comprehensions cannot run on this {platform.python_implementation()} {platform.python_version()}, because its "
        f"extension is {f'built for another one ({_built[0]})' if _built else 'not built'}: install it with this Python, "
        "`python -m pip install .` in the folder of its sources"
    )

from . import cache, tracing, virtual
from ._core import (
    ArgumentError,
    DeviceError,
    Diagnostic,
    EarlierRunError,
    Error,
    InternalError,
    Layout,
    MappingOptions,
    OptionsError,
    ResourceError,
    SemanticError,
    SyntaxError,
    TensorSpec,
    check,
    get_num_threads,
    get_threads,
    host_target,
    set_num_threads,
    set_threads,
)
from .api import Module, NoSuchDef, compile, define
from .derivation import Candidate, derive, roll
from .derivation_tuning import tune_derivations
from .executable import Executable, load
from .function import Function, Inference, Output
from .given import spec
from .layouts import layout
from .part_tuning import tune_parts
from .transforms import Batched, Gradient, Tangent, grad, jvp, vmap
from .tuning import TuneResult, autotune

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Batched",
    "Candidate",
    "DeviceError",
    "Diagnostic",
    "EarlierRunError",
    "Error",
    "Executable",
    "Function",
    "Gradient",
    "Inference",
    "InternalError",
    "Layout",
    "MappingOptions",
    "Module",
    "NoSuchDef",
    "OptionsError",
    "Output",
    "ResourceError",
    "SemanticError",
    "SyntaxError",
    "Tangent",
    "TensorSpec",
    "TuneResult",
    "autotune",
    "cache",
    "check",
    "compile",
    "define",
    "derive",
    "roll",
    "tune_derivations",
    "tune_parts",
    "get_num_threads",
    "get_threads",
    "grad",
    "host_target",
    "jvp",
    "layout",
    "load",
    "set_num_threads",
    "set_threads",
    "spec",
    "torch_op",
    "virtual",
    "vmap",
]


if TYPE_CHECKING:
    from . import jax, torch
    from .operators import torch_op


def _tell_torch():
    """Adds the name of the backend where torch, which finds it by the package's entry point, has looked for backends before this package was
    on the path. Nothing of torch is imported; the backend is, when its name is first used."""
    registry = sys.modules.get("torch._dynamo.backends.registry")
    if registry is not None and "tc" not in registry._BACKENDS:
        from importlib.metadata import EntryPoint

        registry._BACKENDS["tc"] = EntryPoint("tc", f"{__name__}.torch:backend", "torch_dynamo_backends")


_tell_torch()


def _loaded(name):
    """`tc.torch`, `tc.torch_op` and `tc.jax` are loaded when they are first named, so that torch and JAX stay optional."""
    needed = {"torch_op": "torch"}.get(name, name)
    if needed in ("torch", "jax") and importlib.util.find_spec(needed) is None:
        raise ModuleNotFoundError(f"tensor_comprehensions.{name} needs {needed}: pip install 'tensor-comprehensions[{needed}]'", name=needed)
    if name in ("torch", "jax"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "torch_op":
        from .operators import torch_op

        return torch_op
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # to checkers of types a mistyped name has no attribute
    __getattr__ = _loaded
