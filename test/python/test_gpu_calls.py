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

class OnGpu:
    "Float32 memory that says it is a CUDA device's."
    def __init__(self, *shape, device=0):
        self.array = np.zeros(shape, "f4")
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        tensor = Tensor(self.array.ctypes.data, Device(2, device), len(shape), Type(2, 32, 1), ctypes.addressof(self.shape), None, 0)
        self.managed = Managed(tensor, None, None)
    def __dlpack__(self, max_version=None):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)
    def __dlpack_device__(self):
        return (2, self.managed.tensor.device.id)

T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\\n"
              "def scale(float(N) A, float s) -> (B) { B(i) = A(i) * s }")
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
