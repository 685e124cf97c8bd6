"""Graphs of CUDA around compiled graphs of torch, `mode="reduce-overhead"`: what Inductor records its own with (cudagraph trees)."""

import dataclasses
import sys

import torch

from .report import log
from .values import Decline


@dataclasses.dataclass
class Recording:
    """One model's forward and backward graph: a backward one is recorded where its forward one is."""

    forward_device: int = -1


def _reason_against(module):
    """Why the graph `module` cannot be recorded, None where it can."""
    from torch._dynamo.backends.cudagraphs import get_device_node_mapping
    from torch._inductor.cudagraph_utils import check_multiple_devices_or_any_cpu_nodes
    from torch._inductor.utils import get_first_incompatible_cudagraph_node

    node = get_first_incompatible_cudagraph_node(module)
    return f"it has {node.target}" if node else check_multiple_devices_or_any_cpu_nodes(get_device_node_mapping(module))


def _static_inputs(module, kind):
    """The numbers of inputs that stand where they stood in every call: parameters, and for a backward graph what its forward one keeps."""
    if kind == "backward":
        from torch._inductor.utils import count_tangents

        return range(count_tangents(module))
    context = torch._guards.TracingContext.try_get()
    return tuple(context.fw_metadata.static_input_indices) if context and context.fw_metadata else ()


def _boxed(call):
    """As torch's runtime calls it: a function of a list, which it empties."""

    def boxed(inputs):
        given = list(inputs)
        inputs.clear()
        return call(*given)

    boxed._boxed_call = True
    return boxed


def recorded(call, module, inputs, kind: str, recording: Recording, executables):
    """`call`, which runs `executables` for the graph `module` and inputs like the fake `inputs`, recorded by its second call and replayed by further ones; its
    results are overwritten by the next call, as with Inductor. Raises Decline with the reason where it cannot be."""
    from torch._inductor.cudagraph_trees import cudagraphify_impl, get_manager
    from torch._inductor.cudagraph_utils import get_placeholder_info

    devices = {n.meta["val"].device for n in module.graph.nodes if isinstance(n.meta.get("val"), torch.Tensor)}
    reason = "it is not on a GPU" if {d.type for d in devices} == {"cpu"} else _reason_against(module)
    if not reason and kind == "backward" and recording.forward_device < 0:
        reason = "its forward graph is not recorded"
    if reason and kind == "backward" and recording.forward_device >= 0:
        return _after_recorded(call, get_manager(recording.forward_device, create_if_none_exists=False))
    if reason:
        raise Decline(reason)
    (device,) = devices
    if kind == "forward":
        recording.forward_device = device.index
    (output,) = [n for n in module.graph.nodes if n.op == "output"]
    made = cudagraphify_impl(
        _boxed(call),
        inputs,
        _static_inputs(module, kind),
        device_index=device.index,
        is_backward=kind == "backward",
        is_inference=kind == "inference",
        stack_traces=[None] * len(output.args[0]),
        placeholders=get_placeholder_info(module.graph),
        mutated_input_idxs=(),
    )
    log.info("a %s graph is recorded", kind)

    def checked(given):
        for executable in executables:
            executable._check_earlier()
        return made(given)

    checked._boxed_call = True  # type: ignore[attr-defined]
    return checked


def forget_recordings():
    """Frees what was recorded, and its memory."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is not None:
        trees.reset_cudagraph_trees()


def _after_recorded(call, manager):
    """A backward graph that is not recorded behind a forward one that is."""

    def run(inputs):
        manager.set_to_running_backward()
        return call(*inputs)

    run._boxed_call = True
    return run
