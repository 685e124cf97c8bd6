"""A user's file that `mypy --strict` passes, but for the lines marked "error:" with the code of what it says there."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

import tensor_comprehensions as tc

T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", dynamic="M")
Matrix = npt.NDArray[np.float32]


def product(a: Matrix, b: Matrix) -> Matrix:
    function: tc.Function = T.mm
    same: tc.Function = T["mm"]
    made: Matrix = function(a, b)
    same(a, B=b, out=made)
    return made


def compiled(a: Matrix, b: Matrix) -> tc.Executable:
    executable = tc.compile(T.mm, a, B=b, options=tc.MappingOptions("tile=32x32", fusion="max"), cache=False, libraries="none")
    text: str = executable.explain(a, b) + executable.nest
    print(text, executable.stats["options"], executable.options.replace(tile=[32, 32]).tile[0] + 1)
    return tc.compile(T.mm, tc.spec((3, 4)), tc.spec((4, 5), "float32"), target="cpu:avx2", layouts={"A": tc.layout("split(1, 16)")})


def made_of() -> tc.Function:
    gradient: tc.Gradient = tc.grad(T.mm, ["A"])
    print(gradient.wrt[0].upper(), tc.vmap(T.mm, (0, None)).batched, tc.jvp(T.mm).tangents, [name for name in T], len(T))
    shapes = [output.shape for output in T.mm.infer(tc.spec((3, 4)), tc.spec((4, 5))).outputs]
    print(shapes[0][0] + 1)
    return gradient


def tuned(a: Matrix, b: Matrix) -> float:
    result: tc.TuneResult = tc.autotune(T.mm, a, b, budget=1.0, checkpoint=Path("tuned"), progress=False)
    best = tc.cache.best(T.mm, a, b)
    if best is not None:
        tc.cache.inject(T.mm, a, b, options=best.options, note="by hand")
    tc.cache.export("all.options", best_only=True)
    return result.speedup


def mistyped(a: Matrix, b: Matrix) -> None:
    tc.defin("")  # error: attr-defined
    tc.define("", optoins="default")  # error: call-arg
    tc.compile(T.mm, a, b, optoins="default")  # error: arg-type
    tc.compile(T.mm, a, b, dervie=2)  # error: arg-type
    tc.compile(T.mm, a, b, derive="two")  # error: arg-type
    tc.compile(T, a, b)  # error: arg-type
    T.mm("a", b)  # error: arg-type
    tc.MappingOptions(tiles=[32])  # error: call-arg
    tc.MappingOptions().replace(fusoin="max")  # error: call-arg
    tc.grad(T.mm, wrt=["A"], off=["C"])  # error: call-arg
    tc.vmap(T.mm, in_dims="0")  # error: arg-type
    tc.autotune(T.mm, a, b, buget=1.0)  # error: call-arg
    tc.spec((3, 4), stride=(4, 1))  # error: call-arg
    tc.cache.best(T.mm, a, b, targte="cpu")  # error: call-arg
    tc.cache.inject(T.mm, a, b)  # error: call-arg
    tc.load("path")  # error: arg-type
    compiled(a, b).profil(a, b)  # error: attr-defined
    T.mm.infer(a, b).output  # error: attr-defined
