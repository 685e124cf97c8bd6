"""Defs in programs of JAX: a def called inside `jax.jit`, `jax.grad` or `jax.vmap` becomes a call of its machine code in what XLA compiles.

    T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    jax.jit(jax.grad(lambda a, b: T.mm(a, b).sum()))(a, b)
"""

from __future__ import annotations

import functools
import hashlib
from typing import Callable, Optional, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _core
from .function import Function
from .transforms import Gradient, grad, vmap

_TARGET = "tensor_comprehensions"


@functools.lru_cache(maxsize=None)
def _register() -> None:
    jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu")


def op(function: Function) -> Callable:
    """`function` for arrays of JAX, in programs and outside: with gradients by the def that `tc.grad` makes, and batches by that of `tc.vmap`.

    Calls of a def with traced arguments use it automatically. Raises ArgumentError if `function` is not a def.
    """
    if not isinstance(function, Function):
        raise _core.ArgumentError(f"jax.op takes a def of a text, {type(function).__name__} was given")
    if "_op_of_jax" in function.__dict__:
        return function._op_of_jax
    parameters, _ = function._signature()
    made = {}

    def called(*arrays):
        if len(arrays) != len(parameters):
            raise _core.ArgumentError(f"'{function.name}' takes {len(parameters)} tensors, {len(arrays)} were given")
        valued = function._for_values(arrays)
        if valued not in made:
            made[valued] = _differentiable(valued)
        return made[valued](*(jnp.asarray(a, dtype) if isinstance(a, (int, float)) else a for a, (_, dtype, *_) in zip(arrays, parameters)))

    called.__name__ = called.__qualname__ = function.name
    function._op_of_jax = called
    return called


def call(function: Function, arrays: tuple, out):
    """A call of `function` some of whose `arrays` JAX traces."""
    if out is not None:
        raise _core.ArgumentError(f"'{function.name}' is traced by JAX, whose arrays are not written: call it without out=")
    return op(function)(*arrays)


def _batchable(function):
    """The call of `function` in a program, whose batches are calls of `tc.vmap(function)`."""
    if "_batchable_of_jax" in function.__dict__:
        return function._batchable_of_jax
    batches = {}

    @jax.custom_batching.custom_vmap
    def run(*arrays):
        return _run(function, arrays)

    @run.def_vmap
    def rule(axis_size, in_batched, *arrays):
        places = tuple(0 if batched else None for batched in in_batched)
        if places not in batches:
            batches[places] = vmap(function, places)
        batched = tuple(name in batches[places].batched for name in function._returns())
        return _batchable(batches[places])(*arrays), batched if len(batched) > 1 else batched[0]

    function._batchable_of_jax = run
    return run


def _run(function, arrays):
    """The node of a program that runs `function`, compiled for arrays like these."""
    _register()
    number, outputs = _compiled(function, tuple((a.shape, np.dtype(a.dtype).name) for a in arrays))
    for name, dtype, _ in outputs:
        if jax.dtypes.canonicalize_dtype(dtype) != jnp.dtype(dtype):
            raise _core.ArgumentError(f"'{name}' of '{function.name}' is {dtype}, which JAX has with jax.config.update('jax_enable_x64', True) only")
    made = [jax.ShapeDtypeStruct(shape, dtype) for _, dtype, shape in outputs]
    results = jax.ffi.ffi_call(_TARGET, made)(*arrays, executable=np.int64(number))
    return tuple(results) if len(results) > 1 else results[0]


def _compiled(function, signature) -> Tuple[int, list]:
    """The number by which programs call `function` for tensors of such shapes and types, and its outputs. Programs that JAX keeps on disk hold the number, so it is a
    hash of all that the code depends on."""
    known = function.__dict__.setdefault("_compiled_for_jax", {})
    if signature not in known:
        specs = [_core.TensorSpec(list(shape), dtype) for shape, dtype in signature]
        outputs = [(name, dtype, shape) for name, dtype, shape, *_ in function._infer(*specs)[0]]
        executable = function._compile(tuple(specs), None, function._settings(), [])
        text = repr((str(function), function._how(), signature, _core.compiler_build()))
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)
        _core.keep_for_xla(number, executable)
        known[signature] = number, outputs
    return known[signature]


@jax.tree_util.register_static
class _Backward:
    """The gradient that runs in the backward pass of a call, None for no gradient: a part of a program, and no array."""

    def __init__(self, gradient: Optional[Gradient]):
        self.gradient = gradient


_NOTHING = _Backward(None)


def _differentiable(function):
    """`function` whose gradients are calls of `tc.grad(function)`."""
    parameters, returns, floats = function._parameters(), function._returns(), function._float_returns()
    made = {}

    def backward_of(wrt) -> _Backward:
        if not wrt or not floats:
            return _NOTHING
        if wrt not in made:
            made[wrt] = _Backward(grad(function, wrt, floats))
        return made[wrt]

    @jax.custom_vjp
    def run(*arrays):
        return _batchable(function)(*arrays)

    def forward(*given):
        arrays = [each.value for each in given]
        outputs = run(*arrays)
        way = backward_of(tuple(name for name, each in zip(parameters, given) if each.perturbed and jnp.issubdtype(each.value.dtype, jnp.floating)))
        listed = dict(zip(returns, outputs if isinstance(outputs, tuple) else (outputs,)))
        return outputs, (way, arrays, [listed[name] for name in (way.gradient.saved if way.gradient else ())])

    def backward(kept, seeds):
        way, arrays, saved = kept
        if way.gradient is None:
            return (None,) * len(parameters)
        listed = dict(zip(returns, seeds if isinstance(seeds, (tuple, list)) else (seeds,)))
        results = op(way.gradient)(*arrays, *saved, *(_dense(listed[name]) for name in floats))
        results = dict(zip(way.gradient.wrt, results if isinstance(results, tuple) else (results,)))
        return tuple(results.get(name) for name in parameters)

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run


def _dense(seed):
    """The gradient of a return: zeros where nothing depends on it."""
    return jnp.zeros(seed.shape, seed.dtype) if isinstance(seed, jax.custom_derivatives.SymbolicZero) else seed
