"""Defs in programs of JAX: values, gradients and batches beside jax.numpy, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest

import tensor_comprehensions as tc

jax = pytest.importorskip("jax")
import jax.numpy as jnp

TEXT = """
def mm(TYPE(M,K) A, TYPE(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def softmax(TYPE(N,D) I) -> (O) {
  top(n) max=! I(n,d)
  e(n,d) = exp(I(n,d) - top(n))
  total(n) +=! e(n,d)
  O(n,d) = e(n,d) / total(n)
}
def scaled(TYPE(N) X, TYPE s, int32 k) -> (Y, Z) { Y(i) = X(i) * s + k  Z(i) = X(i) > 0 ? 1 : 0 }
def pick(TYPE(N,D) table, int32(B) index) -> (Y) { Y(b,d) = table(index(b), d) }
"""
T = tc.define(TEXT.replace("TYPE", "float"))
TOLERANCE = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 0.05}


def normal(seed, *shape, dtype="float32"):
    return jax.random.normal(jax.random.key(seed), shape).astype(dtype)


def same(made, want, tolerance=2e-5):
    assert jax.tree.structure(made) == jax.tree.structure(want)
    for ours, theirs in zip(jax.tree.leaves(made), jax.tree.leaves(want)):
        assert isinstance(ours, jax.Array) and ours.dtype == theirs.dtype
        np.testing.assert_allclose(np.asarray(ours, "f8"), np.asarray(theirs, "f8"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [pytest.param(dtype, marks=pytest.mark.long) if dtype == "float64" else dtype for dtype in TOLERANCE])
def test_values_and_gradients(dtype):
    with jax.enable_x64(dtype == "float64"):
        module = tc.define(TEXT.replace("TYPE", dtype))
        a, b = normal(0, 5, 7, dtype=dtype), normal(1, 7, 9, dtype=dtype)
        ours = lambda a, b: jnp.tanh(module.softmax(module.mm(a, b)) * 3).sum()
        theirs = lambda a, b: jnp.tanh(jax.nn.softmax(a @ b) * 3).sum()
        same(jax.jit(module.mm)(a, b), a @ b, TOLERANCE[dtype])
        same(jax.jit(ours)(a, b), theirs(a, b), TOLERANCE[dtype])
        same(jax.jit(jax.grad(ours, (0, 1)))(a, b), jax.grad(theirs, (0, 1))(a, b), TOLERANCE[dtype])


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint, lambda f: jax.jit(jax.checkpoint(jax.jit(f)))], ids=["eager", "jit", "remat", "all"])
def test_ways_to_differentiate(wrap):
    a, b = normal(0, 5, 7), normal(1, 7, 9)
    ours, theirs = wrap(lambda a, b: T.mm(a, b).sum()), lambda a, b: (a @ b).sum()
    for argnums in (0, 1, (0, 1)):
        same(jax.grad(ours, argnums)(a, b), jax.grad(theirs, argnums)(a, b))


def test_second_derivatives():
    x = normal(2, 2, 3)
    ours, theirs = lambda x: (T.softmax(x) ** 2).sum(), lambda x: (jax.nn.softmax(x) ** 2).sum()
    same(jax.jacrev(jax.grad(ours))(x), jax.hessian(theirs)(x))


@pytest.mark.parametrize("in_axes", [(0, None), pytest.param((None, 2), marks=pytest.mark.long), (1, 0), 0])
def test_batches(in_axes):
    places = in_axes if isinstance(in_axes, tuple) else (in_axes,) * 2
    a, b = (normal(i, *shape) if p is None else jnp.moveaxis(normal(i, 4, *shape), 0, p) for i, (p, shape) in enumerate(zip(places, [(5, 7), (7, 9)])))
    same(jax.jit(jax.vmap(T.mm, in_axes))(a, b), jax.vmap(jnp.matmul, in_axes)(a, b))
    ours, theirs = lambda a, b: (T.mm(a, b) ** 2).sum(), lambda a, b: ((a @ b) ** 2).sum()
    same(jax.vmap(jax.grad(ours, (0, 1)), in_axes)(a, b), jax.vmap(jax.grad(theirs, (0, 1)), in_axes)(a, b), 1e-4)


def test_batches_of_batches_and_loops():
    x = normal(3, 2, 3, 4, 5)
    same(jax.vmap(jax.vmap(T.softmax))(x), jax.nn.softmax(x))
    square = normal(4, 6, 6) / 6

    def power(product):
        return lambda x: jax.lax.scan(lambda carried, _: (product(carried, square), None), x, None, length=4)[0].sum()

    same(jax.jit(jax.grad(power(T.mm)))(square), jax.grad(power(jnp.matmul))(square))


def test_several_returns_numbers_and_integers():
    x = normal(5, 6)
    ours = lambda x, s: T.scaled(x, s, 2)
    y, z = jax.jit(ours)(x, 3.0)
    same(y, x * 3 + 2)
    assert z.tolist() == (np.asarray(x) > 0).astype(int).tolist()
    same(jax.grad(lambda x, s: ours(x, s)[0].sum(), (0, 1))(x, 3.0), (jnp.full(6, 3.0), x.sum()))
    same(jax.grad(lambda x: ours(x, 2.0)[1].sum().astype(float) + x.sum())(x), jnp.ones(6))
    same(jax.vmap(ours, (0, None))(x[None], 3.0)[0], (x * 3 + 2)[None])


def test_gathers():
    table, index = normal(6, 4, 3), jnp.array([0, 3, 3])
    same(jax.jit(T.pick)(table, index), table[index])
    same(jax.grad(lambda t: (T.pick(t, index) ** 2).sum())(table), jax.grad(lambda t: (t[index] ** 2).sum())(table))
    with pytest.raises(jax.errors.JaxRuntimeError, match="index"):
        jax.jit(T.pick)(table, jnp.array([0, 4])).block_until_ready()


def test_values_that_decide_ranges():
    f = tc.define("def f(float(N) X, int32 k) -> (Y) { Y(i) = X(i) * 2 where i in 0:k }").f
    x = normal(7, 6)
    same(jax.jit(lambda x: f(x, 4))(x), x[:4] * 2)
    with pytest.raises(tc.ArgumentError, match="'k' decides ranges of 'f': give it as an integer"):
        jax.jit(f)(x, 4)


def test_a_def_by_name_and_outside_of_programs():
    a, b = normal(0, 5, 7), normal(1, 7, 9)
    same(tc.jax.op(T.mm)(a, b), a @ b)
    same(jax.jit(lambda a, b: T.mm(B=b, A=a))(a, b), a @ b)
    same(jax.jit(lambda a: T.mm(a, np.asarray(b)))(a), a @ b)
    assert tc.jax.op(T.mm) is tc.jax.op(T.mm) and tc.jax.op(T.mm).__name__ == "mm"


@pytest.mark.filterwarnings("ignore:warning.TC130")
def test_refusals():
    accumulating = tc.define("def f(float(N,D) X) -> (Y) { Y(n) += X(n,d) }")
    a, b = normal(0, 5, 7), normal(1, 7, 9)
    for call, said in [
        (lambda a: T.mm(a, b, out=a), "'mm' is traced by JAX, whose arrays are not written: call it without out="),
        (lambda a: T.mm(a, b[:3]), "K"),
        (lambda a: T.mm(a.astype("bfloat16"), b), "parameter 'A' of 'mm' is a float32 tensor, one of bfloat16 was given"),
        (lambda a: accumulating.f(a), "begin with '\\+=!'"),
        (lambda a: tc.define("def f(float(N,D) X) -> (Y) { Y(n,d) = double(X(n,d)) / 3 }").f(a), "float64, which JAX has with jax.config.update"),
        (lambda a: tc.compile(T.mm, np.ones((5, 7), "f4"), b)(a, b), "does not give its memory"),
    ]:
        with pytest.raises(tc.ArgumentError, match=said):
            jax.jit(call)(a)
    with pytest.raises(tc.ArgumentError, match="jax.op takes a def of a text, function was given"):
        tc.jax.op(lambda x: x)
    with pytest.raises(tc.ArgumentError, match="'mm' takes 2 tensors, 1 were given"):
        tc.jax.op(T.mm)(a)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(T.mm, (a, b), (a, b))


def test_programs_run_in_threads():
    import threading

    a, b = normal(0, 64, 64), normal(1, 64, 64)
    program, want, results = jax.jit(lambda a, b: T.mm(T.mm(a, b), b)), a @ b @ b, [None] * 8
    program(a, b)

    def work(k):
        for _ in range(20):
            results[k] = program(a, b)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    for result in results:
        same(result, want, 1e-3)


PROGRAM = """
import sys, jax, jax.numpy as jnp, tensor_comprehensions as tc
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
f = tc.define("def f(float(N) A, float(N) B) -> (C) { C(i) = A(i) %s B(i) }" % sys.argv[2]).f
print(jax.jit(lambda a, b: f(a, b))(jnp.full(2, 3.0), jnp.full(2, 5.0)))
"""


@pytest.mark.long
def test_programs_that_jax_keeps_on_disk(tmp_path):
    for operator, wanted in ("+", "[8. 8.]"), ("*", "[15. 15.]"), ("+", "[8. 8.]"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), operator], capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == wanted, done.stderr
