"""Graphs whose sizes are symbols, for concrete sizes."""

import torch


def is_concrete(value) -> bool:
    """Whether all sizes and strides of a fake tensor, or a number, are known."""
    if isinstance(value, torch.Tensor):
        return all(isinstance(n, int) for n in (*value.shape, *value.stride()))
    return not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def has_symbols(module) -> bool:
    """Whether a size, a stride or a number of the inputs of a graph is not known yet."""
    return not all(is_concrete(n.meta.get("val")) for n in module.graph.nodes if n.op == "placeholder")


def specialised(module, inputs):
    """The graph with concrete sizes that `module`, whose sizes are symbols, is for these inputs; only sizes that values tell stay symbols."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    fake_mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    graph, values = torch.fx.Graph(), {}
    with fake_mode:
        _specialise(module, inputs, graph, values, fake_mode)
    return torch.fx.GraphModule(module, graph)


def _specialise(module, inputs, graph, values, fake_mode):
    """Copies node by node: what is a number becomes a constant, what is a tensor is traced with its concrete size."""
    given = iter(inputs)
    numbers = {}

    def new_args(args):
        return torch.fx.node.map_arg(args, lambda n: numbers[n] if n in numbers else values[n])

    def fake_args(args):
        return torch.fx.node.map_arg(args, lambda n: numbers[n] if n in numbers else values[n].meta["val"])

    for node in module.graph.nodes:
        if node.op == "output":
            graph.output(new_args(node.args[0]))
            continue
        if node.op == "call_function":
            result = node.target(*fake_args(node.args), **fake_args(node.kwargs))
            if isinstance(result, (int, float, bool)):
                numbers[node] = result
                continue
            new = graph.call_function(node.target, new_args(node.args), new_args(node.kwargs))
        elif node.op == "placeholder":
            value = next(given)
            new = graph.placeholder(node.name)
            result = fake_mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) else value
            if not isinstance(value, torch.Tensor):
                numbers[node] = value
        else:
            new = graph.get_attr(node.target)
            result = fake_mode.from_tensor(getattr(module, node.target), static_shapes=True)
        new.name = node.name
        new.meta = dict(node.meta, val=result)
        values[node] = new
