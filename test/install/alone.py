"""In an environment of the wheel alone: values on buffers, the commands, and what is said where a library is missing. Of the machine's
libraries only those are loaded that manylinux promises."""

import array
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import tensor_comprehensions as tc

PROMISED = ("libc", "libm", "libstdc++", "libgcc_s", "libdl", "librt", "libpthread", "libutil", "libz", "ld-linux-x86-64")


assert not any(importlib.util.find_spec(name) for name in ("numpy", "torch"))
assert "environment" in tc.__file__, tc.__file__

text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
T = tc.define(text)
A, B = (memoryview(array.array("f", [1] * (rows * columns))).cast("B").cast("f", (rows, columns)) for rows, columns in ((3, 4), (4, 5)))
assert T.mm(A, B).tolist() == [[4.0] * 5] * 3
total = tc.define("def total(float(N) X) -> (S) { S +=! X(i) }").total(array.array("f", [1, 2, 3]))
assert total.tolist() == 6
assert "__global__" in tc.compile(T.mm, A, B, target="cuda:sm_90").source

for attribute in ("torch", "torch_op"):
    try:
        getattr(tc, attribute)
    except ModuleNotFoundError as error:
        assert "pip install 'tensor-comprehensions[torch]'" in str(error)
    else:
        raise AssertionError(attribute)
try:
    tc.define("def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:0 }").f(array.array("f", [1]))
except tc.ArgumentError as error:
    assert "pip install numpy" in str(error)
else:
    raise AssertionError("a memoryview has no sizes of 0")


def output_of(*command):
    environment = {name: value for name, value in os.environ.items() if name != "TC_CACHE_MODE"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


package = pathlib.Path(tc.__file__).parent
for file in [*package.rglob("*.so*"), *package.glob("bin/*"), *package.parent.glob("tensor_comprehensions.libs/*")]:
    lines = output_of("ldd", file)
    paths = [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", lines)]
    foreign = [path for path in paths if not path.is_relative_to(sys.prefix) and path.name.partition(".so")[0] not in PROMISED]
    assert not foreign and "not found" not in lines, (file, foreign, lines)

for program in ("tc_cache", "tc_autotune", "tc_libraries", "tc_proof"):
    output_of(program, "--help")
pathlib.Path("mm.tc").write_text(text)
output_of("tc_autotune", "mm.tc", "--sizes=M=8,K=8,N=8", "--candidates=1", "--budget=10", "--threads=1", "--cache=tuned")
assert "mm" in output_of("tc_cache", "ls", "--dir=tuned")
