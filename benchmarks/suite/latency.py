"""Times that are not about kernels: compiling, first results, calls."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict

import torch

import tensor_comprehensions as tc

from .cases import mlp
from .cases.matmul import subscripts

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = "def f(float(N,M) X) -> (Y) {{ Y(i,j) = X(i,j) * {}.5 + 1 }}"
COLD = (
    "import numpy, tensor_comprehensions as tc;"
    "tc.define('def f(float(N,M) X) -> (Y) { Y(i,j) = X(i,j) * 2 + 1 }').f(numpy.ones((128, 128), 'float32'))"
)


WARM = (
    "import sys, time, numpy, tensor_comprehensions as tc; x = numpy.ones((128, 128), 'float32');"
    "f = tc.define('def f(float(N,M) X) -> (Y) { Y(i,j) = X(i,j) * 2 + 1 }').f; start = time.perf_counter();"
    "tc.compile(f, x, options='cached', cache=tc.cache.Cache(sys.argv[1]))(x); print((time.perf_counter() - start) * 1e3)"
)


def median_ms(function: Callable, repeats: int) -> float:
    """Median milliseconds of calls, after one that is not counted."""
    times = []
    for i in range(repeats + 1):
        start = time.perf_counter()
        function(i)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[1:])


def compile_ms(text: str, *shapes, repeats: int) -> float:
    """Milliseconds from text to machine code in a warm process; a new name each time, so that no cache helps."""
    specs = [tc.spec(shape) for shape in shapes]
    entry = text[len("def ") : text.index("(")]

    def once(i):
        name = f"{entry}_{i}"
        tc.compile(tc.define(text.replace(f"def {entry}", f"def {name}", 1))[name], *specs)

    return median_ms(once, repeats)


def warm_start_ms(repeats: int) -> float:
    """Milliseconds of `compile` and the first call in a new process that finds the kernel in the cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WARM, folder]
        times = [float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeats + 1)]
    return statistics.median(times[1:])


def call_us(call: Callable) -> float:
    """Microseconds of one call from Python, median of seven runs of 2000."""
    return median_ms(lambda _: [call() for _ in range(2000)], 7) / 2000 * 1e3


def latency(quick: bool) -> Dict[str, float]:
    """All of them; the C++ calls are measured by the program call_overhead."""
    repeats = 5 if quick else 11
    x, y, square = torch.ones(8), torch.empty(8), torch.randn(128, 128)
    add = tc.define("def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }").f
    result = {
        "compile_small_ms": compile_ms(SMALL.format(3), (128, 128), repeats=repeats),
        "compile_matmul_1024_ms": compile_ms(subscripts("nn"), (1024, 1024), (1024, 1024), repeats=repeats),
        "compile_mlp3_ms": compile_ms(
            mlp.MLP3, (128, 128), (64, 128), (64,), (32, 64), (32,), (2, 32), (2,), repeats=repeats
        ),
        "define_to_first_result_ms": median_ms(lambda i: tc.define(SMALL.format(i)).f(square), repeats),
        "cold_start_ms": median_ms(
            lambda _: subprocess.run([sys.executable, "-c", COLD], check=True), 3 if quick else 7
        ),
        "warm_start_ms": warm_start_ms(3 if quick else 7),
        "python_call_out_us": call_us(lambda: add(x, out=y)),
        "python_call_us": call_us(lambda: add(x)),
    }
    program = ROOT / "build" / "bin" / "call_overhead"
    if program.exists():
        cpp = json.loads(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
        result.update({f"cpp_{name}": value for name, value in cpp.items()})
    return result
