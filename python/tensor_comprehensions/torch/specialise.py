"""Graphs whose sizes are symbols: for concrete sizes, and for all that answer the questions about them alike."""

import torch

from .sizes import all_hold, is_size, symbol_of, symbols_in, values_of


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


class Generalised:
    """A graph traced anew with symbols of its own, and the sizes for which it may be compiled.

    Raises ValueError for a graph that has a symbol which no input tells, or which is no size.
    """

    def __init__(self, module, inputs):
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self._env = ShapeEnv()
        given = [n.meta["val"] for n in module.graph.nodes if n.op == "placeholder"]
        if any(isinstance(value, (torch.SymFloat, torch.SymBool)) for value in given):
            raise ValueError("a number that is no size is a symbol")
        old = symbols_in(s for value in given for s in sizes_of(value))
        self._places = [place_of(symbol, given) for symbol in old]
        self._old = values_of(old, self.values(inputs))
        self._new = dict(zip(old, (self._symbol(symbol, value) for symbol, value in zip(old, self.values(inputs)))))
        self._symbols = [n.node.expr for n in self._new.values()]
        self.module = self._traced(module, FakeTensorMode(allow_non_fake_inputs=True, shape_env=self._env))

    def values(self, inputs) -> tuple:
        """The values of the symbols in a call."""
        return tuple(inputs[k] if d is None else inputs[k].shape[d] for k, d in self._places)

    def is_for(self, values) -> bool:
        """Whether sizes answer the questions that have been asked as the sizes of the first call did."""
        return min(values) > 1 and all_hold([guard.expr for guard in self._env.guards], self._symbols, values)

    def _symbol(self, name, value):
        from torch._dynamo.source import ConstantSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        source = ConstantSource(str(name))
        symbol = self._env.create_symbol(value, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
        return self._env.create_symintnode(symbol, hint=value, source=source)

    def _renamed(self, n):
        if not isinstance(n, torch.SymInt):
            return n
        table = {old: new.node.expr for old, new in self._new.items()}
        return self._env.create_symintnode(n.node.expr.xreplace(table), hint=self._old(n))

    def _fake(self, value, mode):
        if not isinstance(value, torch.Tensor):
            return self._renamed(value)
        if is_concrete(value):
            return mode.from_tensor(value, static_shapes=True)
        shape, strides = map(self._renamed, value.shape), map(self._renamed, value.stride())
        return torch.empty_strided(tuple(shape), tuple(strides), dtype=value.dtype, device=value.device)

    def _traced(self, module, mode):
        graph, values = torch.fx.Graph(), {}
        fake_of = lambda args: torch.fx.node.map_arg(args, lambda n: values[n].meta["val"])
        with mode:
            for node in module.graph.nodes:
                new = graph.node_copy(node, values.__getitem__)
                new.name = node.name
                new.meta = dict(node.meta)
                values[node] = new
                if node.op == "placeholder":
                    new.meta["val"] = self._fake(node.meta["val"], mode)
                elif node.op == "get_attr":
                    new.meta["val"] = mode.from_tensor(getattr(module, node.target), static_shapes=True)
                elif node.op == "call_function":
                    new.meta["val"] = node.target(*fake_of(node.args), **fake_of(node.kwargs))
        return torch.fx.GraphModule(module, graph)


def sizes_of(value) -> list:
    """The sizes and strides of a tensor, or a number that is a size."""
    if isinstance(value, torch.Tensor):
        return [*value.shape, *value.stride()]
    return [value] if is_size(value) else []


def place_of(symbol, values):
    """(k, d) for a symbol that is dimension d of tensor k of `values`, (k, None) where value k is the number. Raises ValueError."""
    for k, value in enumerate(values):
        if symbol_of(value) == symbol:
            return k, None
        if isinstance(value, torch.Tensor):
            for d, n in enumerate(value.shape):
                if symbol_of(n) == symbol:
                    return k, d
    raise ValueError(f"no tensor has the size '{symbol}'")


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
