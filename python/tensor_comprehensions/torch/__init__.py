"""PyTorch's face of the compiler.

import tensor_comprehensions.torch
fast = torch.compile(model, backend="tc")
print(tensor_comprehensions.torch.reports()[-1])     # what was taken, what was left, and why
"""

from torch._dynamo.backends.registry import register_backend as _register_backend
from torch._dynamo.backends.registry import _BACKENDS

from .dynamo import backend
from .export import Exported, export
from .module import Module
from .report import Report, reports, reset
from .values import Decline

if "tc" not in _BACKENDS:
    _register_backend(backend, name="tc")

__all__ = ["Decline", "Exported", "Module", "Report", "backend", "export", "reports", "reset"]
