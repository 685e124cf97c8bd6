"""Tensors of a call: outputs, overlaps, strides, sizes, types, frameworks."""

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc
from texts import ADD, MM, TWO


# outputs


def test_out():
    T = tc.define(MM + TWO)
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    out = torch.empty(5, 9)
    assert T.mm(a, b, out=out) is out
    torch.testing.assert_close(out, a @ b)
    outs = (torch.empty(4), torch.empty(4))
    assert T.two(torch.ones(4), out=outs) is outs and outs[0].tolist() == [2.0] * 4
    for bad in [torch.empty(5, 8), torch.empty(5, 9, dtype=torch.float64), torch.empty(9, 5)]:
        with pytest.raises(tc.ArgumentError, match="output 'C' of 'mm' is float32"):
            T.mm(a, b, out=bad)
    with pytest.raises(tc.ArgumentError, match="'mm' has 1 output, out= gives 2"):
        T.mm(a, b, out=(out, out))
    with pytest.raises(tc.ArgumentError, match="'two' has 2 outputs, out= gives 1"):
        T.two(torch.ones(4), out=outs[0])
    with pytest.raises(tc.ArgumentError, match="read only"):
        locked = np.zeros((5, 9), "f4")
        locked.flags.writeable = False
        T.mm(a, b, out=locked)
    with pytest.raises(tc.ArgumentError, match="has no parameter 'output', it takes A, B"):
        T.mm(a, b, output=out)


def test_in_out():
    T = tc.define("def acc(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }")
    a, b, c = torch.randn(5, 7), torch.randn(7, 9), torch.randn(5, 9)
    expected = c + a @ b
    torch.testing.assert_close(T.acc(a, b, out=c), expected)
    with pytest.raises(tc.ArgumentError, match="out="):
        T.acc(a, b)


def test_out_that_overlaps_is_refused_before_anything_is_written():
    T = tc.define("def twice(float(M,N) A) -> (B) { B(m,n) = A(m,n) * 2 }\n"
                  "def turn(float(N,N) A) -> (B) { B(m,n) = A(n,m) where m in 0:N }\n"
                  "def rows(float(M,N) A) -> (S) { S(m) +=! A(m,n) }")
    x = torch.arange(36.0).reshape(6, 6)
    before = x.clone()
    refused = [
        lambda: T.turn(x, out=x),
        lambda: T.twice(x[:5], out=x[1:]),
        lambda: T.rows(x, out=x[:, 0]),
        lambda: T.twice(torch.ones(3, 4), out=torch.zeros(4).expand(3, 4)),
    ]
    for call in refused:
        with pytest.raises(tc.ArgumentError, match="memory"):
            call()
        assert torch.equal(x, before)
    T.twice(x[:, :3], out=x[:, 3:])
    assert torch.equal(x[:, 3:], before[:, :3] * 2) and torch.equal(x[:, :3], before[:, :3])
    T.twice(x, out=x)
    assert torch.equal(x[:, :3], before[:, :3] * 2)
    two = tc.define(TWO)
    buffer = torch.zeros(6)
    with pytest.raises(tc.ArgumentError, match="'B' and 'C' share memory"):
        two.two(torch.ones(4), out=(buffer[:4], buffer[2:]))


# strides, sizes, types


@pytest.mark.parametrize("make", [
    lambda a: a, lambda a: a.T.contiguous().T, lambda a: torch.cat([a, a], 1)[:, :a.shape[1]],
    lambda a: torch.stack([a, a], 2)[:, :, 1], lambda a: torch.cat([torch.zeros(1), a.flatten()])[1:].view(a.shape),
    lambda a: a[:1].expand(a.shape), lambda a: a[:, :1].expand(a.shape), lambda a: a[0, 0].expand(a.shape),
], ids=["dense", "transposed", "padded", "strided", "unaligned", "rows", "columns", "scalar"])
def test_strides(make):
    T = tc.define(MM + ADD)
    a, b = make(torch.randn(13, 17)), torch.randn(17, 19)
    torch.testing.assert_close(T.mm(a, b), a @ b, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(T.add(a, make(torch.ones(13, 17))), a + 1)
    out = torch.zeros(19, 13).T
    torch.testing.assert_close(T.mm(a, b, out=out), a @ b, rtol=1e-4, atol=1e-5)


def test_negative_strides():
    T = tc.define(ADD)
    a = np.arange(12, dtype="f4").reshape(3, 4)
    np.testing.assert_array_equal(T.add(a[::-1, ::-1], a), a[::-1, ::-1] + a)
    out = np.zeros((3, 4), "f4")
    T.add(a, a, out=out[::-1])
    np.testing.assert_array_equal(out, (a + a)[::-1])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 1), (1, 64), (127, 1)])
def test_small_sizes(shape):
    T = tc.define(ADD + MM + "def total(float(M,N) A) -> (s) { s +=! A(m,n) }")
    a = torch.randn(shape)
    assert torch.equal(T.add(a, a), a + a)
    torch.testing.assert_close(T.total(a), a.sum())
    torch.testing.assert_close(T.mm(a, a.T), a @ a.T, rtol=1e-4, atol=1e-5)


def test_numbers_for_rank_0():
    T = tc.define("def f(float(N) A, float s, int32 k, bool on) -> (B) { B(i) = on ? A(i) * s + k : 0.0 }")
    a = torch.ones(3)
    assert T.f(a, 2.5, 3, True).tolist() == [5.5] * 3
    assert T.f(a, 2, np.int64(3), np.bool_(True)).tolist() == [5.0] * 3
    assert T.f(a, torch.tensor(2.0), torch.tensor(1, dtype=torch.int32), False).tolist() == [0.0] * 3
    wrong = [("x", 1, True, "'s' must be a tensor"), (1.0, 1.5, True, "'k' is a int32, a float was given")]
    wrong += [(1.0, 2**40, True, "'k'"), (1.0, 1, 3, "'on'")]
    for *bad, said in wrong:
        with pytest.raises(tc.ArgumentError, match=said):
            T.f(a, *bad)
    assert tc.define("def g(float s) -> (t) { t = s * 2 }").g(4.0) == 8


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16,
                                   torch.bfloat16, torch.float32, torch.float64])
def test_types(dtype):
    name = str(dtype).split(".")[1]
    T = tc.define(f"def f({name}(N) A) -> (B) {{ B(i) = A(i) }}")
    a = torch.randint(0, 2 if dtype == torch.bool else 100, (37,)).to(dtype)
    result = T.f(a)
    assert result.dtype == dtype and torch.equal(result, a)
    if dtype != torch.bfloat16:
        same = T.f(a.numpy())
        assert isinstance(same, np.ndarray) and np.array_equal(same, a.numpy())


def test_halves_accumulate_in_float():
    T = tc.define("def s(bfloat16(N,K) A) -> (S) { S(n) +=! A(n,k) }\ndef h(float16(N,K) A) -> (S) { S(n) +=! A(n,k) }")
    for function, dtype in [(T.s, torch.bfloat16), (T.h, torch.float16)]:
        a = torch.rand(3, 1000).to(dtype)
        result = function(a)
        assert result.dtype == dtype
        torch.testing.assert_close(result.double(), a.double().sum(1).to(dtype).double(), rtol=1e-2, atol=0)


# frameworks


def test_numpy():
    T = tc.define(MM)
    a, b = np.random.rand(5, 7).astype("f4"), np.random.rand(7, 9).astype("f4")
    a.flags.writeable = False
    result = T.mm(a, b)
    assert isinstance(result, np.ndarray) and result.dtype == np.float32
    np.testing.assert_allclose(result, a @ b, rtol=1e-5)
    assert isinstance(T.mm(torch.from_numpy(b.T.copy()), a.T.copy()), torch.Tensor)


def test_any_dlpack_tensor():
    class Foreign:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self):
            return self.tensor.__dlpack__()

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    T = tc.define(MM)
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    np.testing.assert_allclose(T.mm(Foreign(a), Foreign(b)), (a @ b).numpy(), rtol=1e-4, atol=1e-5)


def test_subclasses_of_tensor():
    class Mine(torch.Tensor):
        pass

    T = tc.define(MM)
    a, b = torch.randn(5, 7).as_subclass(Mine), torch.randn(7, 9)
    torch.testing.assert_close(T.mm(a, b), (a @ b).as_subclass(torch.Tensor))


def test_tensors_without_memory():
    from torch._subclasses.fake_tensor import FakeTensorMode

    T = tc.define(ADD)
    add = tc.compile(T.add, torch.ones(2, 3), torch.ones(2, 3))
    with FakeTensorMode():
        fake = torch.ones(2, 3)
        with pytest.raises(tc.ArgumentError, match="a mode of fake tensors is on: call the def"):
            add(fake, fake)
        assert T.add(fake, fake).shape == (2, 3)
    with pytest.raises(tc.ArgumentError, match="torch.func that it is called in .*: call the def"):
        torch.func.vmap(lambda a: add(a, a))(torch.ones(4, 2, 3))


def test_tensors_whose_framework_gives_an_error():
    class Lazy:
        def __dlpack__(self, **_):
            raise RuntimeError("not computed yet\nand more")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(tc.ArgumentError, match="'A' does not give its memory: not computed yet$"):
        tc.define(ADD).add(Lazy(), Lazy())


def test_outputs_are_on_the_cpu_whatever_the_default_device():
    a = torch.ones(2, 3)
    with torch.device("meta"):
        assert torch.equal(tc.define(ADD).add(a, a), a + a)


def test_lazily_negated_view():
    T = tc.define("def f(float(N) A) -> (B) { B(i) = A(i) }")
    negated = torch.randn(5, dtype=torch.complex64).conj().imag
    assert negated.is_neg()
    with pytest.raises(tc.ArgumentError, match="negated"):
        T.f(negated)


def test_masked_arrays_are_refused():
    T = tc.define("def f(float(N) A) -> (B) { B(i) = A(i) + 1 }")
    masked = np.ma.masked_array(np.arange(3, dtype="f4"), mask=[False, True, False])
    with pytest.raises(tc.ArgumentError, match="'A' is a masked array.*A.filled"):
        T.f(masked)
    with pytest.raises(tc.ArgumentError, match="'B' is a masked array"):
        T.f(masked.data, out=masked)
    assert masked.data.tolist() == [0, 1, 2]
    assert T.f(masked.filled(5)).tolist() == [1, 6, 3]


def test_capsules_that_are_no_tensors():
    class Strange:
        def __init__(self, capsule):
            self.capsule = capsule

        def __dlpack__(self, **_):
            return self.capsule

        def __dlpack_device__(self):
            return (1, 0)

    T = tc.define("def f(float(N) A) -> (B) { B(i) = A(i) }")
    used = torch.zeros(3).__dlpack__()
    torch.from_dlpack(used)
    for capsule in (None, 5, "text", used):
        with pytest.raises(tc.ArgumentError, match="no capsule of a DLPack tensor"):
            T.f(Strange(capsule))
