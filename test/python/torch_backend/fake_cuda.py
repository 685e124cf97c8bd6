"""Graphs of models on CUDA tensors where there is no GPU: traced on the CPU with the operators that torch takes on a GPU, then moved."""

import contextlib
import math

import torch
import torch.nn.functional as F
from torch._functorch.aot_autograd import aot_export_module
from torch._subclasses.fake_tensor import FakeTensorMode

from tensor_comprehensions.options import Options
from tensor_comprehensions.torch.decompositions import decompositions
from tensor_comprehensions.torch.compile_graph import compile_graph
from tensor_comprehensions.torch.compiler import Compiler

TARGET = "cuda:sm_90,multiprocessors=132"
aten = torch.ops.aten


def _attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """The operator that torch takes on an H100 for these types and heads."""
    assert dropout_p == 0
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    if attn_mask is None and q.dtype in (torch.float16, torch.bfloat16):
        return aten._scaled_dot_product_flash_attention(q, k, v, 0.0, is_causal, scale=scale)[0]
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=q.dtype).masked_fill(~attn_mask, -math.inf)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*q.shape[:-1], k.shape[-2])
    needs = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
    return aten._scaled_dot_product_efficient_attention(q, k, v, attn_mask, needs, 0.0, is_causal, scale=scale)[0]


@contextlib.contextmanager
def attention_of_gpus():
    own, F.scaled_dot_product_attention = F.scaled_dot_product_attention, _attention
    try:
        yield
    finally:
        F.scaled_dot_product_attention = own


class _AsTuple(torch.nn.Module):
    """A module, or a function, whose result is a tuple of tensors: of those it gives, or of one number made of them."""

    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *inputs):
        made = self.model(*inputs)
        if self.loss is not None:
            return (self.loss(made),)
        return made if isinstance(made, tuple) else tuple(made.values()) if isinstance(made, dict) else (made,)


def traced(model, *inputs, loss=None):
    """The core ATen graph of a module, or of a function, for inputs on the CPU, with attention as on a GPU; with `loss`, a number made of
    its result, that of the gradients of parameters too."""
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, attention_of_gpus():
        fakes = [mode.from_tensor(i) for i in inputs]
        how = dict(trace_joint=loss is not None, output_loss_index=0 if loss else None)
        return aot_export_module(_AsTuple(model, loss), fakes, decompositions=decompositions(), **how)[0]


def moved(graph, device="cuda:0"):
    """A copy of `graph` with all its tensors on `device`."""

    def move(value):
        if isinstance(value, (tuple, list)):
            return type(value)(map(move, value))
        if not isinstance(value, torch.Tensor):
            return value
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)

    copy = torch.fx.GraphModule(graph, torch.fx.Graph())
    output = copy.graph.graph_copy(graph.graph, (values := {}))
    copy.graph.output(output)
    with FakeTensorMode(allow_non_fake_inputs=True):
        for old, new in values.items():
            new.meta = dict(old.meta, val=move(old.meta.get("val")))
            new.kwargs = {k: torch.device(device) if k == "device" else v for k, v in new.kwargs.items()}
    return copy


def taken(graph, **options):
    """The report of a graph that is compiled for a GPU and not run."""
    return compile_graph(graph, "inference", Compiler(Options(**{"target": TARGET, **options})))[1]
