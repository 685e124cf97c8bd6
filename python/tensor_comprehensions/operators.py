"""Defs as operators of torch: what tracers record, transforms transform and modes see.

Every def is an operator of the namespace "tc" once something asks for it; `torch_op` gives it a name of its own.
"""

import contextlib
import functools
import hashlib
from typing import Dict, Optional

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from . import _core
from .autograd import in_autocast, node_of, places_by_type
from .function import Function
from .generic import ForMany
from .transforms import grad, made_again, vmap

_libraries: Dict[str, tuple] = {}
"""The registration of each operator by its name, as long as the process: torch forgets an operator with it."""
_functions: Dict[str, Function] = {}
"""The def that each operator of the namespace "tc" is."""
_behind: Dict[torch._ops.OpOverload, Function] = {}
"""The def of each operator."""


def torch_op(name: str, function: Function) -> torch._ops.OpOverload:
    """`function` as the operator `name`, "namespace::operator", of torch: with shapes, gradients, tangents and batches.

    Programs saved by torch.export and torch.jit find it by that name in processes that have registered it.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"torch_op takes a def of a text, {type(function).__name__} was given")
    if name.count("::") != 1 or not all(part.isidentifier() for part in name.split("::")):
        raise _core.ArgumentError(f"the name of an operator is 'namespace::operator', {name!r} was given")
    namespace, operator = name.split("::")
    if name in _libraries or hasattr(getattr(torch.ops, namespace), operator):
        raise _core.ArgumentError(f"torch has an operator '{name}' already")
    return _register(name, function)


def operator_of(function: Function) -> torch._ops.OpOverload:
    """The operator of the namespace "tc" that `function` is."""
    made = function.__dict__.get("_operator_made")
    if made is None:
        name = _name_of(function)
        registered = _libraries.get(f"tc::{name}")
        _functions.setdefault(name, function)
        made = registered[1] if registered else _register(f"tc::{name}", function)
        function._operator_made = made
    return made


def function_behind(operator) -> Optional[Function]:
    """The def that `operator` of torch is; None for others."""
    return _behind.get(operator)


def _name_of(function) -> str:
    """NAME_HASH, the hash being that of what the def and its code are made of. A def made of another has the other's and the way:
    "mlp_3f6b0c9a51d2__grad_0x1_all_1"."""
    if "_made_of" in function.__dict__:
        parent, way = function._made_of
        return f"{_name_of(parent)}__{way}"
    origin = function._origin and (function._origin.text, function._origin.how)
    made_of = (str(function), origin, type(function), _core.compiler_build())
    return f"{function.name}_{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}"


class _Namespace(torch._ops._OpNamespace):
    """torch.ops.tc. A name that says how a def is made of one that is an operator already, makes it one: what torch has compiled
    and kept names gradients, and the process that reads it has seen only what they are gradients of."""

    __module__ = "torch._ops"  # where torch.fx looks for the operators of a namespace

    def __getattr__(self, name):
        parent, _, way = name.rpartition("__")
        is_made = name in _functions
        if not is_made and parent and way and hasattr(self, parent) and parent in _functions:
            with contextlib.suppress(ValueError, _core.Error):
                operator_of(made_again(_functions[parent], way))
        return super().__getattr__(name)


torch.ops.tc = _Namespace("tc")


class _Call:
    """The def behind an operator, and the parameters and returns of the operator."""

    def __init__(self, function: Function):
        parameters, returns = function._signature()
        self.function = function
        self.inputs = [name for name, *_ in parameters]
        self.buffers = [name for name, _, _, accumulates in returns if accumulates]
        self.returns = [(name, getattr(torch, dtype), accumulates) for name, dtype, _, accumulates in returns]
        self.concrete: Dict[Function, _Call] = {}

    def of(self, tensors, batched=()) -> "_Call":
        """The call of the def for `tensors`, where it is generic; those in the places `batched` have the dimension of a batch."""
        if not isinstance(self.function, ForMany):
            return self
        function = self.function._for_values(tensors[: len(self.inputs)], batched)
        if function not in self.concrete:
            self.concrete[function] = _Call(function)
        return self.concrete[function]

    def schema(self, name: str) -> str:
        arguments = ", ".join(f"Tensor {argument}" for argument in self.inputs + self.buffers)
        made = ", ".join(["Tensor"] * len(self.returns))
        return f"{name}({arguments}) -> {made if len(self.returns) == 1 else f'({made})'}"

    def run(self, *tensors):
        """What the machine code gives; buffers that the def accumulates into are not changed but copied."""
        if self.function._stands_for_many:
            return self.of(tensors).run(*tensors)
        if not self.buffers:
            return self.function._run(*tensors)
        inputs, buffers = tensors[: len(self.inputs)], iter(tensors[len(self.inputs) :])
        outputs = tuple(
            next(buffers).clone(memory_format=torch.contiguous_format) if accumulates else empty
            for empty, (_, _, accumulates) in zip(self.empty(*tensors), self.returns)
        )
        return self.function._run(*inputs, out=outputs if len(outputs) > 1 else outputs[0])

    def empty(self, *tensors):
        """A tensor for each return."""
        if self.function._stands_for_many:
            return self.of(tensors).empty(*tensors)
        inputs = tensors[: len(self.inputs)]
        like = next((t for t in tensors if t.device.type != "cpu"), tensors[0] if tensors else None)
        device = torch.device("cpu") if like is None else like.device
        shapes = _shapes(self.function, inputs)
        return tuple(torch.empty(s, dtype=dtype, device=device) for s, (_, dtype, _) in zip(shapes, self.returns))

    def fake(self, *tensors):
        places = {tensor.device for tensor in tensors if tensor.dim() > 0}
        if len(places) > 1:
            on = ", ".join(f"'{name}' on {tensor.device}" for name, tensor in zip(self.inputs, tensors))
            raise _core.ArgumentError(f"'{self.function.name}' takes tensors on one device, not {on}")
        made = self.empty(*tensors)
        return made if len(made) > 1 else made[0]


def _shapes(function, inputs):
    """The shapes of the returns of `function`: numbers, or expressions of the sizes of `inputs` where these are symbols."""
    for tensor, (name, dtype, dims, _) in zip(inputs, function._signature()[0]):
        if tensor.dtype != getattr(torch, dtype) or tensor.dim() != len(dims):
            raise _core.ArgumentError(
                f"'{name}' of '{function.name}' is {dtype} of {len(dims)} dimensions, "
                f"{tensor.dtype} of {tensor.dim()} dimensions was given"
            )
    if all(type(size) is int for tensor in inputs for size in tensor.shape):
        specs = [_core.TensorSpec(list(t.shape), str(t.dtype).rpartition(".")[2]) for t in inputs]
        return [shape for _, _, shape, _, _ in function._infer(*specs)[0]]
    parameters, returns = _symbolic_shapes(function)
    sizes = dict(_FUNCTIONS)
    for tensor, shape in zip(inputs, parameters):
        for code, size in zip(shape, tensor.shape):
            if code.co_names and code.co_code == _NAME.co_code and code.co_names[0] not in sizes:
                sizes[code.co_names[0]] = size
    for tensor, shape in zip(inputs, parameters):
        for code, size in zip(shape, tensor.shape):
            torch._check(eval(code, sizes) == size)
    return [[eval(code, sizes) for code in shape] for shape in returns]


_NAME = compile("name", "<size>", "eval")
_FUNCTIONS = {
    "__builtins__": {"abs": abs},
    "Min": torch.sym_min,
    "Max": torch.sym_max,
    "If": torch.sym_ite,
}


def _symbolic_shapes(function):
    """The shapes of parameters and returns as code over sizes."""
    made = function.__dict__.get("_shape_code")
    if made is None:
        compiled = [
            [[compile(text, "<size>", "eval") for text in shape] for shape in shapes]
            for shapes in function._symbolic_shapes()
        ]
        made = function._shape_code = tuple(compiled)
    return made


def shape_of_parameter(function: Function, name: str, sizes: dict) -> tuple:
    """The shape of the parameter `name` of `function` for `sizes`. Raises ArgumentError for a size that is not among them."""
    shape = _symbolic_shapes(function)[0][function._parameters().index(name)]
    missing = sorted({size for code in shape for size in code.co_names} - set(sizes) - set(_FUNCTIONS) - {"abs"})
    if missing:
        raise _core.ArgumentError(f"the shape of '{name}' of '{function.name}' needs the sizes {', '.join(missing)}")
    return tuple(eval(code, {**_FUNCTIONS, **sizes}) for code in shape)


def _register(qualified: str, function: Function) -> torch._ops.OpOverload:
    namespace, name = qualified.split("::")
    call = _Call(function)
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(call.schema(name), tags=(torch.Tag.pt2_compliant_tag,))
    operator = getattr(getattr(torch.ops, namespace), name).default
    for key in ("CPU", "CUDA") if call.inputs else ("CompositeExplicitAutograd",):
        library.impl(name, call.run, key)
    library.impl(name, _recording(call, operator), "Autograd", with_keyset=True)
    torch.library.register_fake(qualified, call.fake, lib=library)
    torch.library.register_vmap(qualified, functools.partial(_batched, call, operator), lib=library)
    _libraries[qualified] = library, operator
    _behind[operator] = function
    return operator


def _recording(call: _Call, operator):
    """The kernel that records a call for gradients and tangents: torch's of one node, whose forward goes on below."""

    def kernel(keyset, *tensors):
        function = call.of(tensors).function
        with_gradients, with_tangents = torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled()

        def below(*tensors):
            with torch._C._AutoDispatchBelowAutograd():
                return operator.redispatch(keyset & torch._C._after_autograd_keyset, *tensors)

        def below_as_here(*tensors):
            """What a transform around this one records of `below`, is recorded: a node's forward turns that off."""
            with torch.set_grad_enabled(with_gradients), forward_ad._set_fwd_grad_enabled(with_tangents):
                return below(*tensors)

        wants_gradient = with_gradients and torch._C._any_requires_grad(*tensors)
        if not (wants_gradient or (with_tangents and forward_ad._current_level >= 0)):
            return below(*tensors)
        node = node_of(function)
        if not function._float_places:
            return below(*tensors)
        if call.buffers:
            if wants_gradient or any(forward_ad.unpack_dual(t).tangent is not None for t in tensors):
                grad(function)  # says why there is none
            return below(*tensors)
        if not torch._C._are_functorch_transforms_active():
            return node.apply(function, below, *tensors)
        with enable_single_level_autograd_function():
            return node.apply(function, below_as_here, *tensors)

    return kernel


def _batched(call: _Call, operator, info, in_dims, *tensors):
    """The rule for torch.vmap: the def with one more iterator, on tensors whose first dimension is the batch's."""
    moved = [t if place is None else t.movedim(place, 0) for t, place in zip(tensors, in_dims)]
    if call.buffers:
        return _one_by_one(operator, info.batch_size, in_dims, moved)
    key = tuple(None if place is None else 0 for place in in_dims)
    call = call.of(moved, [place for place, dim in enumerate(in_dims) if dim is not None])
    made = call.function.__dict__.setdefault("_batches", {})
    if key not in made:
        made[key] = vmap(call.function, key)
    outputs = made[key](*moved)
    places = tuple(0 if name in made[key].batched else None for name, *_ in call.returns)
    return outputs, places if len(places) > 1 else places[0]


def _one_by_one(operator, count, in_dims, tensors):
    """What accumulates into buffers has no batch: it is called for each."""
    rows = [operator(*(t if d is None else t[i] for t, d in zip(tensors, in_dims))) for i in range(count)]
    if isinstance(rows[0], torch.Tensor):
        return torch.stack(rows), 0
    return tuple(map(torch.stack, zip(*rows))), (0,) * len(rows[0])


def call_traced(function: Function, tensors: tuple, out, named: dict):
    """A call as torch's compiler traces it: that of an operator."""
    types = _parameter_types(function)
    given = list(tensors)
    for name, _ in types[len(tensors) :]:
        if name not in named:
            raise _core.ArgumentError(f"'{function.name}' takes '{name}', which is not given")
        given.append(named[name])
    if len(given) > len(types) or len(named) > len(types) - len(tensors):
        raise _core.ArgumentError(f"'{function.name}' takes {len(types)} tensors, others were given too")
    if function._stands_for_many:
        given = in_autocast(given, places_by_type(function))
    values = tuple(given[place] for place in _value_places(function))
    if values:
        kinds = tuple((tensor.dtype, tensor.dim()) if isinstance(tensor, torch.Tensor) else None for tensor in given)
        name = _name_for_values(function, values, kinds)
    else:
        name = function._operator_name()
    given = [_as_tensor(value, given[like].dtype if like >= 0 else getattr(torch, dtype)) for value, (_, dtype), like in zip(given, types, _type_givers(function))]
    operator = getattr(torch.ops.tc, name).default
    return _into(function, operator, given, out)


def _parameter_types(function):
    return tuple((name, dtype) for name, dtype, _, _ in function._signature()[0])


def _type_givers(function):
    """For each parameter the place of another, a tensor, whose element type a number takes; -1 where its own is known."""
    named = function._type_names() or {}
    parameters = [(name, named.get(name), bool(dims)) for name, _, dims, _ in function._signature()[0]]
    places = {type_name: place for place, (_, type_name, is_tensor) in reversed(list(enumerate(parameters))) if type_name and is_tensor}
    return tuple(places.get(type_name, -1) for _, type_name, _ in parameters)


def _value_places(function):
    """The places of the parameters whose values belong to the program."""
    return tuple(function._parameters().index(name) for name in function._valued_parameters())


def _name_for_values(function, values, kinds):
    """The name of the operator for `values` of these parameters and arguments of `kinds`."""
    of_kinds = tuple(kind and (str(kind[0]).rpartition(".")[2], kind[1]) for kind in kinds)
    instance = function if function._type_names() is None else function._for_kinds(of_kinds)
    return operator_of(function._specialised(instance, tuple(zip(function._valued_parameters(), values))))._opname


def _buffer_places(function):
    return tuple(place for place, (_, _, _, accumulates) in enumerate(function._signature()[1]) if accumulates)


for _constant in (_parameter_types, _type_givers, _value_places, _name_for_values, _buffer_places):
    _constant._dynamo_marked_constant = True  # type: ignore[attr-defined, union-attr]


def _as_tensor(value, dtype):
    if isinstance(value, torch.Tensor):
        return value
    try:
        return torch.as_tensor(value, dtype=dtype if isinstance(value, (int, float)) else None)
    except (RuntimeError, TypeError, ValueError) as error:
        raise _core.ArgumentError(f"{type(value).__name__} is no tensor of torch: {str(error).partition(chr(10))[0]}") from None


def _into(function, operator, given, out):
    """The results of `operator`, in `out` where there is one."""
    outputs = out if isinstance(out, (tuple, list)) else (out,)
    if out is None:
        if _buffer_places(function):
            raise _core.ArgumentError(f"'{function.name}' accumulates into what its output holds: pass the output as out=")
        return operator(*given)
    results = operator(*given, *[outputs[place] for place in _buffer_places(function)])
    for output, result in zip(outputs, results if isinstance(results, tuple) else (results,)):
        if output.shape != result.shape or output.dtype != result.dtype:
            raise _core.ArgumentError(f"an output of '{function.name}' is {result.dtype} {tuple(result.shape)}, out= is not")
        output.copy_(result)
    return out


def call(function: Function, tensors: tuple, out):
    """A call while torch traces, transforms, differentiates forwards, profiles, or has modes that see operators."""
    return call_traced(function, tensors, out, {})


def lacks_memory(tensors: tuple) -> bool:
    """Whether one of `tensors` has a shape alone, or is a wrapper that a transform of torch has put around others."""
    return any(isinstance(tensor, torch.Tensor) and not _has_memory(tensor) for tensor in tensors)


def _has_memory(tensor) -> bool:
    if tensor.is_meta:
        return False
    if tensor.layout is not torch.strided:
        return True
    try:
        tensor.data_ptr()
    except (RuntimeError, NotImplementedError):
        return False
    return True


def check_unrecorded(name: str, tensors: tuple) -> None:
    """Raises ArgumentError where an executable's call would be lost to torch: it records nothing."""
    reason = None
    if torch._C._is_tracing():
        reason = "torch.jit.trace would not see it"
    elif forward_ad._current_level >= 0 and any(
        isinstance(t, torch.Tensor) and forward_ad.unpack_dual(t).tangent is not None for t in tensors
    ):
        reason = "its tangents would be lost"
    elif torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None:
        reason = "the tracer would not see it"
    elif torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None:
        reason = "a mode of fake tensors is on"
    elif any(isinstance(t, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(t) for t in tensors):
        reason = "the transform of torch.func that it is called in would not see it"
    if reason:
        raise _core.ArgumentError(f"an executable of '{name}' records nothing, and {reason}: call the def")
