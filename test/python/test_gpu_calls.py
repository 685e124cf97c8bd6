"""Calls on tensors of a GPU, through a driver that only writes its calls down (test/cuda/fake_driver.cpp)."""

import pathlib
import subprocess
import sys

import pytest

import tensor_comprehensions as tc

pytest.importorskip("nvidia.cu13", reason="NVRTC is not installed")

drivers = sorted(pathlib.Path(tc._core.__file__).resolve().parents[2].rglob("libtc_fake_driver.so"))

PRELUDE = """
import ctypes, os, sys
import numpy as np
import tensor_comprehensions as tc

driver = ctypes.CDLL(os.environ["TC_CUDA_DRIVER"])
driver.fake_calls.restype = ctypes.c_char_p
calls = lambda: driver.fake_calls().decode()

class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]

class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int), ("dtype", Type),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

streams = []

class OnGpu:
    "Float32 memory that says it is a CUDA device's."
    def __init__(self, *shape, device=0):
        self.array = np.zeros(shape, "f4")
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        tensor = Tensor(self.array.ctypes.data, Device(2, device), len(shape), Type(2, 32, 1), ctypes.addressof(self.shape), None, 0)
        self.managed = Managed(tensor, None, None)
    def __dlpack__(self, *, stream=None, max_version=None):
        streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)
    def __dlpack_device__(self):
        return (2, self.managed.tensor.device.id)

T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\\n"
              "def scale(float(N) A, float s) -> (B) { B(i) = A(i) * s }")
"""


STUB_OF_TORCH = """
import types

class TorchTensor(OnGpu):
    requires_grad = False
    def is_neg(self): return False
    def detach(self): return self
    def data_ptr(self): return self.array.ctypes.data

made = []

def make(what):
    def function(shape, *value, dtype, device):
        made.append((what, tuple(shape), *value, dtype, device))
        return TorchTensor(*shape, device=int(device[5:]))
    return function

torch = types.ModuleType("torch")
torch.Tensor, torch.device, torch.float32 = TorchTensor, lambda name: name, "float32"
torch.empty, torch.full = make("empty"), make("full")
torch.autograd = types.SimpleNamespace(graph=types.SimpleNamespace(increment_version=lambda tensor: None))
current = {"stream": 0x70}
torch.nn = types.SimpleNamespace(Parameter=type("Parameter", (TorchTensor,), {}))
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: current["stream"] + device)
sys.modules["torch"] = torch
"""


def run(text, **variables):
    assert drivers, "build the target tc_fake_driver"
    environment = {"TC_CUDA_DRIVER": str(drivers[0]), "PYTHONPATH": ":".join(sys.path), "PATH": "", **variables}
    done = subprocess.run([sys.executable, "-c", PRELUDE + text], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tensors_of_a_gpu_select_its_back_end():
    out = run("""
a, b, c = OnGpu(8, 16), OnGpu(16, 32), OnGpu(8, 32)
assert T.mm(a, b, out=c) is c
print(calls())
""")
    assert out.count("cuModuleLoadData on 0x100") == 1 and "cuLaunchKernel mm " in out


def test_one_code_serves_a_range_of_sizes():
    """Of a size that `dynamic` names: loaded once, launched on as many blocks as each call needs."""
    out = run("""
R = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", dynamic="M", cache=False)
b = OnGpu(64, 64)
for rows in (65, 512, 300, 66):
    R.mm(OnGpu(rows, 64), b, out=OnGpu(rows, 64))
print(calls())
executable = tc.compile(R.mm, OnGpu(300, 64), b, dynamic="M", cache=False)
print("sizes:", executable.stats["sizes"])
""")
    # of the product: the kernel before it copies the operand that has the size, rounded up
    launches = [line.split() for line in out.splitlines() if line.startswith("cuLaunchKernel mm_1")]
    assert out.count("cuModuleLoadData") == 1 and "sizes: M from 65 to 512" in out
    blocks = [int(launch[2].split("x")[1]) * int(launch[2].split("x")[0]) for launch in launches]
    assert blocks[1] > blocks[2] > blocks[0] == blocks[3]


def test_tensors_that_begin_anywhere_are_specialised_on():
    out = run("""
class Tail(OnGpu):
    "What begins an element later."
    def __init__(self, n):
        super().__init__(n + 4)
        self.managed.tensor.data += 4
        self.shape[0] = n
text = tc.define("def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }")
x, y, c, tail = OnGpu(1024), OnGpu(1024), OnGpu(1024), Tail(1024)
for a in (x, tail, x, tail):
    text.add(a, y, out=c)
assert text.add._compiled_count() == 2
assert calls().count("cuLaunchKernel add ") == 4
text.add(x, y, out=tail)
assert text.add._compiled_count() == 3
aligned, anywhere = tc.compile(text.add, x, y, out=c), tc.compile(text.add, tail, y, out=c)
assert "tc_load<4>(A" in aligned.source and "tc_load<4>(A" not in anywhere.source
anywhere(tail, y, out=c)
anywhere(x, y, out=c)
try:
    aligned(tail, y, out=c)
except tc.ArgumentError as error:
    print(error)
""")
    assert "'A' does not begin at a multiple of 16 bytes, as 'add' was compiled for" in out


def test_each_device_runs_its_own_kernels():
    out = run("""
for device in (0, 1, 1):
    T.mm(OnGpu(8, 16, device=device), OnGpu(16, 32, device=device), out=OnGpu(8, 32, device=device))
print(calls())
""")
    assert out.count("cuModuleLoadData on 0x100") == 1 and out.count("cuModuleLoadData on 0x101") == 1
    assert out.count("cuLaunchKernel") == 3


def test_the_same_def_runs_on_both_machines():
    run("""
ones = np.ones((8, 16), "f4"), np.ones((16, 32), "f4")
T.mm(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
assert (T.mm(*ones) == 16).all()
T.mm(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
assert calls().count("cuLaunchKernel") == 2
""")


def test_torch_allocates_outputs_on_the_device_of_the_inputs():
    out = run(STUB_OF_TORCH + """
c = T.mm(TorchTensor(8, 16, device=1), TorchTensor(16, 32, device=1))
assert type(c) is TorchTensor and made == [("empty", (8, 32), "float32", "cuda:1")], made
print(calls())
""")
    launch = next(line for line in out.splitlines() if line.startswith("cuLaunchKernel mm"))
    assert launch.split()[5] == "0x71", "not in torch's current stream"


def test_torch_makes_tensors_of_numbers():
    run(STUB_OF_TORCH + """
T.scale(TorchTensor(8), 2.5)
assert ("full", (), 2.5, "float32", "cuda:0") in made, made
""")


def test_torch_tensors_are_taken_without_waiting():
    run(STUB_OF_TORCH + """
T.scale(TorchTensor(8), 2.5, out=TorchTensor(8))
assert set(streams) == {-1}, streams
""")


def test_others_make_their_data_ready_for_the_stream_of_the_kernels():
    run("""
T.mm(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
assert set(streams) == {1}, streams
""")
    run(STUB_OF_TORCH + """
T.mm(OnGpu(8, 16, device=1), OnGpu(16, 32, device=1), out=OnGpu(8, 32, device=1))
assert set(streams) == {0x71}, streams
""")


def test_tensors_without_streams():
    run("""
class Plain(OnGpu):
    def __dlpack__(self):
        return super().__dlpack__()

T.mm(Plain(8, 16), Plain(16, 32), out=Plain(8, 32))
assert calls().count("cuLaunchKernel mm") == 1
""")


def test_compile_takes_the_device_of_example_tensors():
    run("""
e = tc.compile(T.mm, OnGpu(8, 16), OnGpu(16, 32))
assert e.stats["target"].startswith("cuda:sm_90") and "__global__" in e.source
assert "__global__" in e.explain()
""")


def test_a_capture_on_a_stream_of_its_own_uses_the_prepared_block():
    run(STUB_OF_TORCH + """
U = tc.define("def norm(float(N,M) A) -> (B) { S(i) +=! A(i,j) * A(i,j)\\n B(j,i) = A(i,j) / S(i) }")
A, B = TorchTensor(64, 96), TorchTensor(96, 64)
e = tc.compile(U.norm, A, options="fusion=min")
assert e.stats["workspace_bytes"] > 0
e.prepare()
current["stream"] = 0x99
driver.fake_capture(1)
driver.fake_forget()
e(A, out=B)
assert {line.split()[0] for line in calls().splitlines()} == {"cuLaunchKernel"}, calls()
""")


@pytest.mark.parametrize("call, text", [
    ("T.mm(OnGpu(8, 16), np.ones((16, 32), 'f4'), out=OnGpu(8, 32))", "input 'B' is in the memory of the CPU"),
    ("T.mm(OnGpu(8, 16), OnGpu(16, 32, device=1), out=OnGpu(8, 32))", "input 'B' is on device 1, another tensor on device 0"),
    ("T.mm(OnGpu(8, 16), OnGpu(16, 32))", "pass them as out="),
    ("T.scale(OnGpu(8), 2.0, out=OnGpu(8))", "'s' is a number and the other tensors are on a GPU"),
    ("tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target='cpu')(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))",
     "input 'A' is on a GPU"),
    ("tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target='cuda:sm_90')(np.ones((8, 16), 'f4'), np.ones((16, 32), 'f4'))",
     "input 'A' is in the memory of the CPU"),
])
def test_tensors_in_the_wrong_place(call, text):
    out = run(f"""
try:
    {call}
except tc.ArgumentError as error:
    print(error)
""")
    assert text in out


def test_a_fault_is_a_device_error():
    out = run("""
driver.fake_fail(b"cuLaunchKernel", 700)
try:
    T.mm(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
except tc.DeviceError as error:
    print(error)
T.mm(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
""")
    assert "a kernel faulted" in out


def test_a_prepared_executable_can_be_captured():
    out = run("""
e = tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target="cuda:sm_90")
e.prepare()
driver.fake_forget()
driver.fake_capture(1)
e(OnGpu(8, 16), OnGpu(16, 32), out=OnGpu(8, 32))
print(calls())
""")
    assert out.split()[0] == "cuLaunchKernel" and len(out.strip().splitlines()) == 1


def test_without_a_compiler_of_kernels():
    out = run("""
try:
    tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target="cuda:sm_90", cache=False)
except tc.DeviceError as error:
    print(error)
""", TC_NVRTC="/nowhere/libnvrtc.so")
    assert "NVRTC, was not found: run `pip install" in out and "/nowhere/libnvrtc.so" in out


def test_without_a_driver():
    out = run("""
e = tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target="cuda:sm_90")
os.environ["TC_CUDA_DRIVER"] = "/nowhere/libcuda.so"
try:
    e.prepare()
except tc.DeviceError as error:
    print(error)
""")
    assert "no CUDA driver was found" in out and "/nowhere/libcuda.so" in out


GATHER = """
import ctypes
G = tc.define("def f(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }").f

class Indices(OnGpu):
    def __init__(self, n):
        super().__init__(n)
        self.array = np.zeros(n, "i4")
        self.managed.tensor.data, self.managed.tensor.dtype = self.array.ctypes.data, Type(0, 32, 1)

A, I, B = OnGpu(100), Indices(30), OnGpu(30)
e = tc.compile(G, A, I, out=B)
driver.fake_give_byte(1)
"""


def test_tests_of_index_tensors_are_awaited_or_deferred():
    out = run(GATHER + """
try:
    e(A, I, out=B)
except tc.ArgumentError as error:
    print(type(error).__name__, error)
e.defer_checks()
driver.fake_forget()
e(A, I, out=B)
driver.fake_give_byte(0)
assert "Synchronize" not in calls(), calls()
try:
    e(A, I, out=B)
except tc.EarlierRunError as error:
    print(error)
e(A, I, out=B)
tc.check()
driver.fake_give_byte(1)
e(A, I, out=B)
try:
    tc.check()
except tc.ArgumentError as error:
    print("check:", error)
tc.check()
assert "cuCtxSynchronize" in calls()
driver.fake_give_byte(0)
e.defer_checks(False)
driver.fake_forget()
e(A, I, out=B)
assert "cuStreamSynchronize" in calls()
""")
    lines = out.splitlines()
    assert lines[0].startswith("ArgumentError subscript 0 of A, 'I(i)', must be in [0, 100)")
    assert lines[1].startswith("in an earlier run of 'f', which did not wait for its tests, subscript 0 of A") and lines[2].startswith("check: in an")


def test_deferred_tests_are_captured():
    run(GATHER + """
e.defer_checks()
e.prepare()
driver.fake_forget()
driver.fake_capture(1)
e(A, I, out=B)
assert {line.split()[0] for line in calls().splitlines()} == {"cuLaunchKernel"}, calls()
""")


cublaslt = sorted(pathlib.Path(tc._core.__file__).resolve().parents[2].rglob("libtc_fake_cublaslt.so"))


def test_a_product_is_a_call_of_cublaslt():
    """The stand-in test/cuda/fake_cublaslt.cpp multiplies in memory of the host."""
    out = run("""
import pickle
a, b, c = OnGpu(8, 16), OnGpu(16, 32), OnGpu(8, 32)
a.array[:], b.array[:] = np.arange(128).reshape(8, 16) % 7, np.arange(512).reshape(16, 32) % 5
e = tc.compile(T.mm, a, b, libraries="cublaslt")
for f in (e, tc.load(e.serialise()), pickle.loads(pickle.dumps(e))):
    c.array[:] = 0
    f(a, b, out=c)
    assert (c.array == a.array @ b.array).all()
    assert f.stats["kernels"] == [] and f.stats["target"].startswith("cuda:sm_90")
assert "cuLaunchKernel" not in calls()
print(e.stats["library_calls"])
print(e.explain())
e.show()
U = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", libraries="cublaslt")
c.array[:] = 0
U.mm(a, b, out=c)
assert (c.array == a.array @ b.array).all()
""", TC_CUBLASLT=str(cublaslt[0]))
    assert out.startswith("['matmul of cublaslt 13.1.0: B=1 K=16 M=8 N=32; float32 strides") and "calls matmul of cublaslt" in out


def test_without_cublaslt():
    out = run("""
try:
    tc.compile(T.mm, tc.spec((8, 16)), tc.spec((16, 32)), target="cuda:sm_90", libraries="cublaslt")
except tc.OptionsError as error:
    print(error)
""", TC_CUBLASLT="/nowhere/libcublasLt.so")
    assert "'cublaslt' is not on this machine (set TC_CUBLASLT" in out and "/nowhere/libcublasLt.so" in out


def test_nothing_is_deferred_on_a_cpu():
    e = tc.compile(tc.define("def f(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }").f, tc.spec((4,)), tc.spec((2,), "int32"))
    e.defer_checks()
    np = pytest.importorskip("numpy")
    with pytest.raises(tc.ArgumentError, match="must be in"):
        e(np.zeros(4, "f4"), np.full(2, 4, "i4"))
    tc.check()
