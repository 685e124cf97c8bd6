"""Steps that a graph of Dynamo's repeats, as one def whose loop runs along them.

    h = x[0] + a*h0   h = x[1] + a*h   ...  stack   ->   H = loop(x, a, h0),   H(t,n) = X(t,n) + A(n) * (t >= 1 ? H(t-1,n) : H0(n))

Dynamo writes a loop of Python out, step by step. Steps are the same functions of the same shapes; from one to the next, their arguments are
results of the same step, results of the step before, the same tensors, or elements of one tensor that advance by equal distances. Nothing here
knows what a step computes. Where a step has no text, or steps differ otherwise, the graph stays as it is.
"""

import dataclasses
import operator
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import make_fx

from .builder import Item, Statement
from .compiler import defined
from .decompositions import decompositions
from .expression import Apply, Index, Literal, Load, where
from .lowered import lower_graph
from .program import input_tensor
from .report import log
from .text import def_of
from .values import Decline, Tensor, digits, iterators

LEAST_STEPS = 8
MOST_NODES = 128
"""Nodes of one step at most."""


def roll_loops(module: torch.fx.GraphModule) -> None:
    """Replaces repeated steps in a graph of Dynamo's by calls of defs with loops."""
    while _rolled(module.graph):
        module.recompile()


def _rolled(graph) -> bool:
    """Whether steps were replaced; the first that can be."""
    nodes = [n for n in graph.nodes if n.op in ("call_function", "call_method")]
    for place, size, count in _repeats(nodes):
        try:
            steps = _Steps(nodes, place, size, count)
            made = steps.made_def()
        except Exception as reason:  # a model must not break
            log.debug("%s steps of %s nodes are not rolled: %s", count, size, reason)
            continue
        steps.replace(graph, *made)
        return True
    return False


def _repeats(nodes):
    """(place of the first node, nodes of a step, steps) of runs of equal steps, those of short steps first."""
    keys = [_key(node) for node in nodes]
    for size in range(1, min(MOST_NODES, len(nodes) // LEAST_STEPS) + 1):
        begin = 0
        for place in range(len(nodes) - size + 1):
            if place + size < len(nodes) and keys[place] == keys[place + size]:
                continue
            steps = (place + size - begin) // size
            if steps >= LEAST_STEPS:
                for shift in range(min(size, place + size - begin - LEAST_STEPS * size + 1)):
                    yield begin + shift, size, (place + size - begin - shift) // size
            begin = place + 1


def _key(node):
    """What nodes that do the same in different steps have in common."""
    value = node.meta.get("example_value")
    kind = f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else str(type(value))
    return hash((node.op, node.target, str(_skeleton((node.args, node.kwargs))), kind))


def _skeleton(argument):
    """An argument without the nodes and whole numbers in it."""
    if isinstance(argument, (tuple, list)):
        return [_skeleton(a) for a in argument]
    if isinstance(argument, dict):
        return [(k, _skeleton(a)) for k, a in argument.items()]
    if isinstance(argument, slice):
        return ["slice", *(_skeleton(a) for a in (argument.start, argument.stop, argument.step))]
    if isinstance(argument, torch.fx.Node):
        return torch.fx.Node
    return int if type(argument) is int else repr(argument)


def _leaves(argument) -> list:
    """The nodes and whole numbers in an argument, in order."""
    if isinstance(argument, (tuple, list)):
        return [leaf for a in argument for leaf in _leaves(a)]
    if isinstance(argument, dict):
        return _leaves(list(argument.values()))
    if isinstance(argument, slice):
        return _leaves((argument.start, argument.stop, argument.step))
    return [argument] if isinstance(argument, torch.fx.Node) or type(argument) is int else []


def _advances(numbers) -> Optional[Tuple[int, int]]:
    """(first, distance) of numbers at equal distances."""
    distance = numbers[1] - numbers[0]
    return (numbers[0], distance) if all(b - a == distance for a, b in zip(numbers, numbers[1:])) else None


@dataclasses.dataclass(frozen=True)
class _Piece:
    """Elements of the tensor of `base` in each step: for each of its dimensions (first, distance) of the number that a step takes, or (start,
    dimension of the piece)."""

    base: torch.fx.Node
    taken: Tuple[Tuple[str, int, int], ...]

    @property
    def advances(self):
        return any(kind == "number" and distance for kind, _, distance in self.taken)

    def at(self, tensor, step, subscripts):
        number = lambda first, distance: Literal(first, "int64") + step * distance
        found = [number(a, b) if kind == "number" else subscripts[b] + a for kind, a, b in self.taken]
        return Load(tensor, found)


def _piece_of(nodes) -> Optional[_Piece]:
    """The piece that each of `nodes` takes of one tensor in its step."""
    first = nodes[0]
    if not all(n.op == "call_function" and n.target is operator.getitem and n.args[0] is first.args[0] for n in nodes):
        return None
    base, indices = first.args[0], [n.args[1] if isinstance(n.args[1], tuple) else (n.args[1],) for n in nodes]
    value = base.meta.get("example_value")
    if isinstance(value, (tuple, list)) and (base.target is torch.unbind or base.target == "unbind"):
        dim = base.args[1] if len(base.args) > 1 else base.kwargs.get("dim", 0)
        base = base.args[0]
        value = base.meta.get("example_value")
        indices = [(slice(None),) * (dim % value.dim()) + index for index in indices]
    if not isinstance(value, torch.Tensor) or any(str(_skeleton(i)) != str(_skeleton(indices[0])) for i in indices):
        return None
    taken = _taken(indices, value)
    return None if taken is None else _Piece(base, tuple(taken))


def _taken(indices, value):
    """What indices of steps take of each dimension of `value`; None where that is no piece."""
    index = indices[0]
    plain = [i for i in index if i is not None and i is not Ellipsis]
    whole = value.dim() - len(plain)
    found, dimension = [], 0
    for place, item in enumerate(index):
        if item is None:
            dimension += 1
        elif item is Ellipsis:
            found += [("slice", 0, dimension + k) for k in range(whole)]
            dimension += whole
        elif type(item) is int:
            advance = _advances([i[place] for i in indices])
            if advance is None or min(advance[0], advance[0] + advance[1] * (len(indices) - 1)) < 0:
                return None
            found.append(("number", *advance))
        elif isinstance(item, slice) and item.step is None and all(type(n) is int and n >= 0 or n is None for n in (item.start, item.stop)):
            starts, stops = [i[place].start or 0 for i in indices], [i[place].stop for i in indices]
            if len(set(starts)) == 1 and len(set(stops)) == 1:
                found.append(("slice", starts[0], dimension))
            elif item.stop is not None and _advances(starts) and all(b - a == 1 for a, b in zip(starts, stops)):
                found.append(("number", *_advances(starts)))
            else:
                return None
            dimension += 1
        else:
            return None
    found += [("slice", 0, dimension + k) for k in range(value.dim() - len(found))]
    return found


class _Steps:
    """`count` steps of `size` nodes each, from `begin` on. Raises Decline where they are no loop."""

    def __init__(self, nodes, begin, size, count):
        self.size, self.count = size, count
        self.steps = [nodes[begin + s * size : begin + (s + 1) * size] for s in range(count)]
        self.places = {node: (s, j) for s, step in enumerate(self.steps) for j, node in enumerate(step)}
        self.pieces = {j: piece for j in range(size) if (piece := _piece_of([step[j] for step in self.steps])) and piece.base not in self.places}
        self.carried: Dict[int, torch.fx.Node] = {}
        self.graph, self.given = torch.fx.Graph(), {}
        self._made: Dict[int, torch.fx.Node] = {}
        for j in range(size):
            if j not in self.pieces:
                self._made[j] = self._body_node(j)
        if not any(isinstance(what, _Piece) and what.advances for what in self.given):
            raise Decline("no step reads a sequence")
        if not self._recurs():
            raise Decline("no state goes from step to step")

    def _recurs(self):
        """Whether a result of a step depends on the same result of some step before."""
        reads = {j: {k for k in self.carried if self.given[k] in _needed(self._made[j])} for j in self.carried}
        reached = {j: set(own) for j, own in reads.items()}
        for _ in reads:
            reached = {j: own.union(*(reads[k] for k in own)) for j, own in reached.items()}
        return any(j in own for j, own in reached.items())

    def _body_node(self, j):
        """Node `j` of the body, whose arguments are as in all steps."""
        nodes = [step[j] for step in self.steps]
        if nodes[0].op == "call_method" and nodes[0].target.endswith("_") or any(n.meta.get("example_value") is None for n in nodes):
            raise Decline(f"{nodes[0].name} changes a tensor, or is none")
        sequences = iter(zip(*(_leaves((n.args, n.kwargs)) for n in nodes), strict=True))

        def same(argument):
            if isinstance(argument, (tuple, list)):
                return type(argument)(same(a) for a in argument)
            if isinstance(argument, dict):
                return {k: same(a) for k, a in argument.items()}
            if isinstance(argument, slice):
                return slice(*map(same, (argument.start, argument.stop, argument.step)))
            if not isinstance(argument, torch.fx.Node) and type(argument) is not int:
                return argument
            return self._argument(next(sequences))

        return self.graph.create_node(nodes[0].op, nodes[0].target, same(nodes[0].args), same(dict(nodes[0].kwargs)))

    def _argument(self, leaves):
        """The argument of a node of the body that is `leaves` in the steps."""
        if type(leaves[0]) is int:
            if len(set(leaves)) > 1:
                raise Decline("a number differs between steps")
            return leaves[0]
        where_ = [self.places.get(leaf) for leaf in leaves]
        j = where_[1][1] if where_[1] else -1
        if where_ == [(s, j) for s in range(self.count)]:
            return self._input(self.pieces[j], leaves) if j in self.pieces else self._made[j]
        if where_[0] is None and where_[1:] == [(s, j) for s in range(self.count - 1)]:
            return self._carry(j, leaves)
        if all(leaf is leaves[0] for leaf in leaves) and where_[0] is None:
            return self._input(leaves[0], leaves)
        piece = None if any(where_) else _piece_of(leaves)
        if piece is None:
            raise Decline(f"{leaves[0]} and {leaves[1]} are not alike")
        return self._input(piece, leaves)

    def _carry(self, j, leaves):
        first, later = (leaf.meta["example_value"] for leaf in leaves[:2])
        if j in self.pieces or first.shape != later.shape or first.dtype != later.dtype:
            raise Decline(f"{leaves[0]} is not like what steps give")
        if self.carried.setdefault(j, leaves[0]) is not leaves[0]:
            raise Decline("a result has two values before the first step")
        return self._input(j, leaves)

    def _input(self, what, leaves):
        """The placeholder of `what` a step reads: a node, a piece of a sequence, or (a number) that result of the step before."""
        if what not in self.given:
            value = leaves[1].meta["example_value"]
            if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or any(type(n) is not int for n in value.shape):
                raise Decline(f"{leaves[1]} is no tensor on the CPU of known sizes")
            with self.graph.inserting_before():
                self.given[what] = self.graph.placeholder(f"given{len(self.given)}")
            self.given[what].meta["example_value"] = value
        return self.given[what]

    # The def.

    def _outside(self) -> List[int]:
        """The results of steps that others than the steps read."""
        read = {self.places[node][1] for node in self.places if any(user not in self.places for user in node.users)}
        if any(j in self.pieces for j in read):
            raise Decline("a piece is read outside of the steps")
        return sorted(read)

    def _is_differentiated(self):
        return torch.is_grad_enabled() and any(n.meta["example_value"].requires_grad for n in self.graph.nodes if n.op == "placeholder")

    def _lowered(self, results):
        """(program of a step, what its inputs are)."""
        placeholders = [n for n in self.graph.nodes if n.op == "placeholder"]
        self.graph.output(tuple(self._made[j] for j in results))
        fakes = [n.meta["example_value"] for n in placeholders]
        with unset_fake_temporarily(), FakeTensorMode(), torch.no_grad():
            fakes = [torch.empty_strided(tuple(f.shape), f.stride(), dtype=f.dtype) for f in fakes]
            table = decompositions()
            traced = make_fx(torch.fx.GraphModule({}, self.graph), decomposition_table=table)(*fakes)
            traced = make_fx(torch.func.functionalize(traced), decomposition_table=table)(*fakes)  # what operators do in place is seen now
        traced.graph.eliminate_dead_code()
        what_of = {n: what for what, n in self.given.items()}
        return lower_graph(traced, whole_results=True), [what_of[n] for n in placeholders]

    def made_def(self):
        """(def, node of each parameter, the place of each result among the returns)."""
        results = sorted({*self.carried, *self._outside()})
        program, inputs = self._lowered(results)
        if self._is_differentiated() and any(_is_kinked(statement) for item in program.items for statement in item.statements):
            raise Decline("torch has gradients of its own where extremes are equal")
        if program.constants or any(not r.is_tensor for r in program.results):
            raise Decline("a step makes a constant, or gives no tensor")
        step = Index("step", self.count)
        stacked = {t: Tensor(t.name, t.dtype, (self.count, *t.shape), (0, *(d + 1 for d in t.order))) for i in program.items for t in i.writes}
        of_result = dict(zip(results, (r.value.tensor for r in program.results)))
        params: Dict[torch.fx.Node, Tensor] = {}

        def param(node):
            return params.setdefault(node, input_tensor(node.name, node.meta["example_value"]))

        def read(tensor, subscripts):
            if tensor in stacked:
                return Load(stacked[tensor], (step, *subscripts))
            what = inputs[program.inputs.index(tensor)]
            if isinstance(what, _Piece):
                return what.at(param(what.base), step, subscripts)
            if isinstance(what, torch.fx.Node):
                return Load(param(what), subscripts)
            one = Literal(1, "int64")
            return where(one <= step, Load(stacked[of_result[what]], (step - one, *subscripts)), Load(param(self.carried[what]), subscripts))

        statements = [s for item in program.items for s in _in_loop(item, step, stacked, read)]
        made = def_of([Item(None, "loop", "", statements)], {stacked[t] for t in of_result.values()})
        nodes = {tensor: node for node, tensor in params.items()}
        return made, [nodes[t] for t in made.params], {j: made.returns.index(stacked[t]) for j, t in of_result.items()}

    def replace(self, graph, made, params, returns):
        """Puts a call of the def that made_def() gave in the place of the steps."""
        with graph.inserting_before(self.steps[0][0]):
            call = graph.call_function(_calling(defined(made.named("loop"))), tuple(params))
            several = len(made.returns) > 1
            out = {j: graph.call_function(operator.getitem, (call, k)) if several else call for j, k in returns.items()}
        for j, stacked in out.items():
            own = [step[j] for step in self.steps]
            for user in {user for node in own for user in node.users if user not in self.places}:
                _join(graph, user, own, stacked)
            for s, node in enumerate(own):
                if any(user not in self.places for user in node.users):
                    with graph.inserting_before(self.steps[0][0]):
                        element = graph.call_function(operator.getitem, (stacked, s))
                    element.meta = dict(node.meta)
                    node.replace_all_uses_with(element, lambda user: user not in self.places)
        for node in reversed(list(self.places)):
            graph.erase_node(node)


def _is_kinked(statement) -> bool:
    return any(isinstance(part, Apply) and part.op in ("min", "max", "clamp", "fmin", "fmax") for part, _ in statement.walk())


def _needed(node):
    """A node and all that it depends on."""
    found, left = set(), [node]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += one.all_input_nodes
    return found


def _calling(function):
    def loop(*tensors):
        return function(*tensors)

    return loop


def _join(graph, user, own, stacked):
    """Replaces a `user` that stacks the results of all steps by the tensor that holds them."""
    if user.target is not torch.stack or list(user.args[0]) != own:
        return
    dim = user.args[1] if len(user.args) > 1 else user.kwargs.get("dim", 0)
    with graph.inserting_before(user):
        joined = graph.call_function(torch.movedim, (stacked, 0, dim))
    joined.meta = dict(user.meta)
    user.replace_all_uses_with(joined)
    graph.erase_node(user)


def _in_loop(item, step, stacked, read) -> List[Statement]:
    """The statements of `item` in the loop of `step`."""
    if item.call:
        raise Decline("a step calls a def")
    statements = item.statements
    if item.reshape:
        alias, source = item.reshape
        its = iterators(alias.shape)
        subscripts = dict(zip(source.order, digits(its, alias.shape, source.stored_shape)))
        statements = [Statement(alias, its, "=", Load(source, [subscripts[d] for d in range(len(source.shape))]))]
    replaced = lambda expr: _replaced(expr, read)
    return [
        Statement(stacked[s.target], [step, *map(replaced, s.subscripts)], s.operator, replaced(s.value), s.over, list(map(replaced, s.exist)), step)
        for s in statements
    ]


def _replaced(expr, read) -> Any:
    """`expr` with other loads: `read` gives each from its tensor and subscripts."""
    if isinstance(expr, Load):
        return read(expr.tensor, [_replaced(s, read) for s in expr.subscripts])
    if isinstance(expr, Apply):
        return Apply(expr.op, [_replaced(arg, read) for arg in expr.args], expr.dtype)
    return expr
