"""A graph of torch whose nodes are lowered, each once, and the programs of its parts."""

import itertools
from typing import Any, Callable, Dict, List, Optional

import torch

from .builder import Builder, Item
from .lowering import VIEWS
from .program import Program, Result, input_tensor, lower_node, root_tensor
from .sizes import is_size
from .values import Decline, Formula, Value, View

_FRESH = {"clone", "lift_fresh_copy", "contiguous", "expand_copy"}
"""View lowerings whose result is new memory in torch."""


class NodeFailed(Decline):
    """The lowering of a graph does not take one of its nodes, whose name is `node`, beside the others."""

    def __init__(self, node, reason):
        super().__init__(reason)
        self.node = node


class _Unreadable:
    """What the language has no tensor for, as an argument: a lowering may pass over it, and declines where it looks at it."""

    def __init__(self, reason):
        self.reason = reason

    def __getattr__(self, name):
        raise Decline(self.reason)


def is_getitem(node) -> bool:
    """Whether a node picks one of several results."""
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem"


class Lowered:
    """The nodes of a graph, lowered in order, each given what its arguments became.

    `reasons` says for each call, by its name, why it is left to torch, None if it is taken. Calls that `against` has a reason against are left; those
    that read what is left take it as an input. The inputs of the graph whose numbers are `held` may be constants of what is compiled.
    """

    def __init__(self, module: torch.fx.GraphModule, against: Callable = lambda node: None, held=()):
        self.reasons: Dict[str, Optional[str]] = {}
        self._module, self._builder = module, Builder()
        self._values: Dict[str, Any] = {}
        self._items: Dict[str, List[Item]] = {}
        number = itertools.count()
        for node in module.graph.nodes:
            if node.op == "get_attr":
                self._read(node, node.meta.get("val", _attribute(module, node.target)))
            elif node.op == "placeholder":
                value = self._read(node, node.meta.get("val"))
                if next(number) in held and isinstance(value, View):
                    self._builder.held.add(value.tensor)
            elif is_getitem(node):
                self._pick(node)
            elif node.op == "call_function":
                self._lower(node, against(node))

    def _read(self, node, fake):
        """The value of `node`, an input that looks like `fake`."""
        several = isinstance(fake, (tuple, list))
        value = [_argument(node.name, f) for f in fake] if several else _argument(node.name, fake)
        self._values[node.name] = value
        self._builder.inputs.add(node)
        return value

    def _pick(self, node):
        source = node.args[0]
        self.reasons[node.name] = self.reasons.get(source.name)
        if source in self._builder.inputs:
            self._read(node, node.meta.get("val"))
        else:
            self._values[node.name] = self._values[source.name][node.args[1]]

    def _lower(self, node, reason):
        before = len(self._builder.items)
        if reason is None:
            try:
                self._values[node.name] = lower_node(self._builder, node, lambda n: self._values[n.name])
            except Exception as error:
                reason = self._reason(node, error)
        self.reasons[node.name] = reason
        if reason is None:
            self._items[node.name] = self._builder.items[before:]
        else:
            del self._builder.items[before:]
            self._read(node, node.meta.get("val"))

    def _reason(self, node, error) -> str:
        """Why the lowering of `node`, which raised `error`, does not take it."""
        if isinstance(error, Decline):
            return str(error)
        values = [self._values[n.name] for n in node.all_input_nodes]
        each = [v for value in values for v in (value if isinstance(value, list) else [value])]
        unreadable = [v.reason for v in each if isinstance(v, _Unreadable)]
        return unreadable[0] if unreadable else f"its lowering failed: {type(error).__name__}: {error}"

    def has_program_of(self, graph: torch.fx.Graph) -> bool:
        """Whether `graph`, a part of the graph, reads inputs only. What a call that is taken gives to another part need not be a tensor."""
        names = {n.name for n in self._builder.inputs}
        return all(n.name in names for n in graph.nodes if n.op == "placeholder")

    def program(self, graph: torch.fx.Graph, whole_results=False) -> Program:
        """The program of the graph or of a part of it, whose placeholders have the names of what it reads. With `whole_results` each result is a tensor of
        its own, stored row by row."""
        b, inputs, constants, results = Builder(), [], {}, []
        b.count = self._builder.count
        for node in graph.nodes:
            if node.op == "placeholder":
                value = self._values[node.name]
                inputs.append(value.tensor if isinstance(value, View) else None)
            elif node.op == "get_attr":
                constants[self._values[node.name].tensor] = _attribute(self._module, node.target)
            elif node.op == "output":
                results = _results(b, node.args[0], self._value, whole_results)
            else:
                b.items += self._items.get(node.name, [])
        return Program(inputs, constants, b.items, results)

    def _value(self, node):
        value = self._values[node.name]
        return node.meta.get("val") if isinstance(value, _Unreadable) else value


def lower_graph(module: torch.fx.GraphModule, whole_results=False, held=()) -> Program:
    """The program of a graph all of whose nodes are lowered, see Lowered. Raises NodeFailed for the first one that cannot be."""
    lowered = Lowered(module, held=held)
    for name, reason in lowered.reasons.items():
        if reason is not None:
            raise NodeFailed(name, reason)
    return lowered.program(module.graph, whole_results)


def _argument(name, fake):
    """An argument that looks like `fake`: a tensor, a size, or what cannot be read."""
    if is_size(fake):
        return fake
    try:
        return View(input_tensor(name, fake))
    except Decline as reason:
        return _Unreadable(str(reason))


def _attribute(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def alias_root(node):
    """The node whose memory `node` shows in torch: itself unless it is a view."""
    while node.op == "call_function":
        if (
            node.target.__name__ == "getitem"
            and isinstance(node.args[0].target, torch._ops.OpOverload)
            and node.args[0].target in VIEWS
        ):
            node = node.args[0].args[0]
        elif node.target in VIEWS and node.target.overloadpacket.__name__ not in _FRESH:
            node = node.args[0]
        else:
            break
    return node


def _is_whole(view):
    rows = all(row == ([(d, 1)], 0) for d, row in enumerate(view.rows))
    return rows and view.shape == view.tensor.shape and view.tensor.order == tuple(range(view.rank))


def _results(b, nodes, values, whole):
    """Results read from memory; those that would share memory where torch's do not are copied."""
    results, owners = [], {}
    nodes = nodes if isinstance(nodes, (tuple, list)) else [nodes]
    for node in nodes:
        if not isinstance(node, torch.fx.Node):
            results.append(Result(node))
            continue
        value, root = values(node), alias_root(node)
        if not isinstance(value, Value):
            results.append(Result(value, node))
            continue
        b.begin(node, "copy")
        if isinstance(value, Formula) or any(c < 0 for terms, _ in value.rows for _, c in terms):  # torch has no negative strides
            value = b.materialise(value)
        memory = root_tensor(value.tensor)
        is_input = not any(memory in item.writes for item in b.items)
        if (is_input and root.op not in ("placeholder", "get_attr")) or owners.setdefault(memory, root) is not root:
            value = b.materialise(value)
        elif whole and (
            is_input or not _is_whole(value) or value.tensor in [r.value.tensor for r in results if r.is_tensor]
        ):
            value = b.materialise(value)
        results.append(Result(value, node))
    return results
