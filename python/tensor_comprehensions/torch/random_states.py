"""Attention without dropout has no random numbers, but operators of GPUs hand the generator's state to their gradients."""

import torch

aten = torch.ops.aten

_PLACES = {
    "_scaled_dot_product_flash_attention": (6, 7),
    "_scaled_dot_product_efficient_attention": (2, 3),
    "_scaled_dot_product_cudnn_attention": (6, 7),
}
"""Which results of an operator are the state."""


def _argument(node, name):
    """What a call is given for the parameter `name`."""
    (place,) = [k for k, parameter in enumerate(node.target._schema.arguments) if parameter.name == name]
    default = node.target._schema.arguments[place].default_value
    return node.args[place] if place < len(node.args) else node.kwargs.get(name, default)


def drop_random_states(graph: torch.fx.Graph) -> None:
    """Gives readers of the state that attention without dropout returns a tensor of the same shape that holds anything: no operator looks into it."""
    for node in list(graph.nodes):
        name = node.target.overloadpacket.__name__ if isinstance(node.target, torch._ops.OpOverload) else ""
        if name not in _PLACES or _argument(node, "dropout_p") != 0:
            continue
        for user in [user for user in node.users if user.args[1] in _PLACES[name]]:
            fake = user.meta["val"]
            with graph.inserting_before(node):
                state = graph.call_function(aten.empty.memory_format, (list(fake.shape),), {"dtype": fake.dtype, "device": fake.device})
            state.meta = dict(user.meta)
            user.replace_all_uses_with(state)
            graph.erase_node(user)
