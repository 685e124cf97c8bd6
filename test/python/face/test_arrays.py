"""Outputs are of the library of the inputs: NumPy, torch, JAX, and what the array API standard and DLPack reach."""

import types

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc
from tensor_comprehensions import arrays

jax, ml_dtypes = pytest.importorskip("jax"), pytest.importorskip("ml_dtypes")
import jax.numpy as jnp

T = tc.define("""
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def two(float(N) A) -> (B, C) { B(n) = A(n) * 2 C(n) = A(n) > 1 }
def wide(float(N) A) -> (B) { B(n) = double(A(n)) / 3 }
""")


@pytest.mark.parametrize("name", ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32"])
def test_every_type_comes_back_to_its_library(name):
    same = tc.define(f"def same({name}(N) A) -> (B) {{ B(i) = A(i) }}").same
    values = np.array([0, 1, 1, 0] if name == "bool" else [0, 1, 100, 3])
    here = values.astype(getattr(ml_dtypes, name) if name == "bfloat16" else name)
    for given, kind in [(here, np.ndarray), (jnp.asarray(here), jax.Array), (here[::-1], np.ndarray), (here[:0], np.ndarray)]:
        made = same(given)
        assert isinstance(made, kind) and made.dtype == given.dtype == here.dtype
        np.testing.assert_array_equal(np.asarray(made), np.asarray(given))
    assert isinstance(same(torch.from_numpy(values).to(getattr(torch, name))), torch.Tensor)


def test_products_of_jax():
    a, b = jax.random.normal(jax.random.key(0), (13, 17)), jax.random.normal(jax.random.key(1), (17, 19))
    made = T.mm(a, b)
    assert isinstance(made, jax.Array)
    np.testing.assert_allclose(made, a @ b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tc.compile(T.mm, a, b)(a, b), a @ b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(made + T.mm(a * 2, b), 3 * (a @ b), rtol=1e-4, atol=1e-4)
    assert T.mm(jnp.ones((0, 3)), jnp.ones((3, 2))).shape == (0, 2)


def test_several_outputs_of_jax():
    doubled, above = T.two(jnp.arange(3.0))
    assert doubled.tolist() == [0, 2, 4] and above.tolist() == [False, False, True]
    assert isinstance(doubled, jax.Array) and isinstance(above, jax.Array)


def test_types_beyond_those_of_jax_are_narrowed_as_jax_does():
    assert T.wide(jnp.ones(2)).dtype == jnp.float32
    with jax.enable_x64(True):
        assert T.wide(jnp.ones(2, jnp.float32)).tolist() == [1 / 3, 1 / 3]


@pytest.mark.parametrize("turned", [False, True])
def test_numpy_gives_way(turned):
    def of(a, b):
        return T.mm(b, a) if turned else T.mm(a, b)

    numbers = np.eye(3, dtype="f4")
    for other in (torch.ones(3, 3), jnp.ones((3, 3))):
        assert isinstance(of(numbers, other), type(other))


def test_two_libraries_are_refused_unless_out_says_where():
    a, b, out = torch.ones(2, 3), jnp.ones((3, 2)), np.zeros((2, 2), "f4")
    with pytest.raises(tc.ArgumentError, match="'A' is of torch and 'B' of jax.numpy, and outputs are of one library: .*from_dlpack"):
        T.mm(a, b)
    assert T.mm(a, b, out=out) is out and out.tolist() == [[3, 3], [3, 3]]


def test_arrays_of_jax_are_not_written():
    out = jnp.zeros((2, 2))
    with pytest.raises(tc.ArgumentError, match="output 'C' is read only"):
        T.mm(jnp.ones((2, 3)), jnp.ones((3, 2)), out=out)
    assert out.tolist() == [[0, 0], [0, 0]]


class Standing:
    """An array of a library that has no more than the array API asks for, as CuPy's."""

    def __init__(self, tensor):
        self.tensor, self.device = tensor, "its device"

    def __array_namespace__(self, api_version=None):
        return library

    def __dlpack__(self, **how):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


library = types.SimpleNamespace(__name__="standing", float32="float", from_dlpack=lambda given: Standing(torch.from_dlpack(given)),
                                empty=lambda shape, dtype, device: (shape, dtype, device))


def test_a_library_of_the_array_api():
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    made = T.mm(Standing(a), Standing(b))
    assert isinstance(made, Standing)
    torch.testing.assert_close(made.tensor, a @ b)
    out = Standing(torch.zeros(5, 9))
    assert T.mm(Standing(a), Standing(b), out=out) is out
    torch.testing.assert_close(out.tensor, a @ b)


def test_a_library_that_refuses_an_output():
    class Refusing(Standing):
        def __array_namespace__(self, api_version=None):
            def refuse(given):
                raise TypeError("no such type here\nand more")

            return types.SimpleNamespace(__name__="refusing", from_dlpack=refuse)

    with pytest.raises(tc.ArgumentError, match="^refusing does not take an output float32\\(2, 2\\): no such type here$"):
        T.mm(Refusing(torch.ones(2, 2)), Refusing(torch.ones(2, 2)))


def test_outputs_on_gpus_are_made_by_the_library_of_the_arrays():
    array = Standing(torch.ones(2))
    assert arrays.empty_beside(array, [2, 3], "float32") == ((2, 3), "float", "its device")
    with pytest.raises(tc.ArgumentError, match="standing has no type bfloat16: pass the output as out="):
        arrays.empty_beside(array, [2, 3], "bfloat16")
    entered = []

    class Device:
        def __enter__(self):
            entered.append("in")

        def __exit__(self, *_):
            entered.append("out")

    class OfCupy(Standing):
        def __array_namespace__(self, api_version=None):
            return types.SimpleNamespace(__name__="cupy", bool_="flag", empty=lambda shape, dtype: (shape, dtype, list(entered)))

    array = OfCupy(torch.ones(2))
    array.device = Device()
    assert arrays.empty_beside(array, (4,), "bool") == ((4,), "flag", ["in"]) and entered == ["in", "out"]
    with pytest.raises(tc.ArgumentError, match="arrays of JAX on a GPU cannot be written"):
        arrays.empty_beside(jnp.ones(2), (2,), "float32")


def test_specs_take_types_of_jax_and_ml_dtypes():
    for dtype in (jnp.bfloat16, ml_dtypes.bfloat16, jnp.ones(1, jnp.bfloat16).dtype, torch.bfloat16):
        assert tc.spec((3,), dtype) == tc.spec((3,), "bfloat16")
    assert T.mm.infer(jnp.ones((2, 3)), np.ones((3, 2), "f4")).outputs[0].shape == (2, 2)
