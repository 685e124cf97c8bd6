"""`export(model, *args)`: the text of a model."""

import re

import torch

from .. import _core
from .compile_graph import lowered_for
from .compiler import Compiler
from .decompositions import decompositions
from .places import device_of
from .runner import Runner
from .text import defs_of, program_text
from .values import Decline


class Exported:
    """A model as a text of the language.

    `text` has a def for each different operator of the model and `main`, which calls them. `parameters` are what `main`
    takes besides the model's inputs, by name; its arguments stand in the order of `arguments`. Called with inputs like those
    it was exported for, it runs and returns the list of the model's results.
    """

    def __init__(self, text, arguments, parameters, inputs, runner):
        self.text, self.arguments, self.parameters = text, arguments, parameters
        self._inputs, self._runner = inputs, runner

    def in_order(self, *inputs):
        """The tensors that `main` takes, in its order, for these inputs of the model."""
        if len(inputs) != len(self._inputs):
            raise _core.ArgumentError(f"the model takes {len(self._inputs)} tensors, {len(inputs)} were given")
        given = {**self.parameters, **dict(zip(self._inputs, inputs))}
        return [given[name] for name in self.arguments]

    def __call__(self, *inputs):
        return self._runner(self.in_order(*inputs))

    def __str__(self):
        return self.text

    def __repr__(self):
        defs = len(re.findall(r"^def ", self.text, re.M))
        return f"<tensor_comprehensions.torch.Exported of {defs} defs, {len(self.arguments)} arguments>"


def export(model: torch.nn.Module, *args, **kwargs) -> Exported:
    """The text of `model` for inputs like `args` and `kwargs`, in the mode (`eval`, `train`) it is in.

    Raises Decline, with every operator that cannot be translated and the reason, if the whole model cannot be expressed.
    """
    with torch.no_grad():
        program = torch.export.export(model, args, kwargs, strict=False).run_decompositions(decompositions())
    module = program.graph_module
    module.graph.eliminate_dead_code()
    compiler = Compiler()
    made = lowered_for(module, compiler)
    left = [f"{n.name} ({n.target}): {made.reasons[n.name]}" for n in module.graph.nodes if made.reasons.get(n.name)]
    if left:
        raise Decline("the model has operators without a text:\n  " + "\n  ".join(left))
    names, parameters, inputs = _arguments(program)
    _name_after_modules(module)
    whole = made.program(module.graph, whole_results=True)
    for tensor, data in whole.constants.items():
        parameters[tensor.name] = data
    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    for node, taken in zip(placeholders, whole.inputs):
        if taken is not None:
            taken.name = names[node.name]
    text = _text(whole)
    fakes = [n.meta["val"] for n in placeholders]
    (output,) = [n for n in module.graph.nodes if n.op == "output"]
    results = [r.meta.get("val") if isinstance(r, torch.fx.Node) else None for r in output.args[0]]
    arguments = [t.name for t in whole.inputs if t is not None]
    return Exported(text, arguments, parameters, inputs, Runner(whole, fakes, compiler, results, device=device_of(module.graph)))


def _arguments(program):
    """Names of placeholders as the model has them, the tensors of parameters and buffers, names of the model's inputs."""
    names, parameters, inputs = {}, {}, []
    for spec in program.graph_signature.input_specs:
        kind, own = spec.kind.name, spec.arg.name
        if kind == "USER_INPUT":
            names[own] = own
            inputs.append(own)
        else:
            name = re.sub(r"\W+", "_", spec.target)
            names[own] = name if not name[0].isdigit() else f"m{name}"
            tensors = (
                program.constants
                if kind == "CONSTANT_TENSOR" or spec.target not in program.state_dict
                else program.state_dict
            )
            parameters[names[own]] = tensors[spec.target].detach()
    return names, parameters, inputs


def _name_after_modules(module):
    """Gives calls names from the modules they stand in: "layer1_0_conv1"."""
    for node in module.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        if node.op != "call_function" or not stack:
            continue
        path = list(stack.values())[-1][0]
        path = re.sub(r"\W+", "_", path.rpartition("L['self'].")[2] if "L[" in path else path).strip("_")
        if path:
            node.meta["tc_name"] = path if not path[0].isdigit() else f"m{path}"


def _text(lowered):
    """Defs of the items, and `main`; results of calls are named after the modules they stand in."""
    defs = defs_of(lowered)
    for made in defs:
        node = made.items[0].node
        name = node.meta.get("tc_name") or node.name
        for t in made.returns:
            t.name = name
    return program_text(lowered, defs)
