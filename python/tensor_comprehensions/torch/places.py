"""On which device the calls of a graph compute."""

import torch

CPU = torch.device("cpu")


def _tensors_in(value):
    """The tensors that a node is: one, some of several, or none."""
    return [t for t in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(t, torch.Tensor)]


def _goes_anywhere(tensor):
    """Whether torch takes `tensor` beside tensors of any device: one number on the CPU."""
    return tensor.dim() == 0 and tensor.device == CPU


def devices_of(graph) -> dict:
    """The devices of the tensors that each call of `graph` takes and gives, as a set.

    Numbers on the CPU count only where a call has no other tensors; it is then where its users are, if these are all on one device.
    """
    found: dict = {}
    for node in reversed(graph.nodes):
        if node.op != "call_function":
            continue
        tensors = [t for n in (node, *node.all_input_nodes) for t in _tensors_in(n.meta.get("val"))]
        own = {t.device for t in tensors if not _goes_anywhere(t)}
        if not own:
            own = set().union(*(found.get(user, {CPU}) for user in node.users))
            own = own if len(own) == 1 else {CPU}
        found[node] = own
    return found


def device_of(graph) -> torch.device:
    """The device of a graph whose calls compute on one, beside numbers on the CPU."""
    others = set().union(*devices_of(graph).values()) - {CPU}
    return others.pop() if others else CPU
