"""Peers that are C++ programs, loaded from the build folder where they were built: oneDNN and Halide."""

import contextlib
import ctypes
import functools
import os
import pathlib
from typing import Callable, Dict, Optional

import torch

LIBRARIES = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"
HALIDE_CACHE = 32 << 20
MISSING = {
    "onednn": "built without oneDNN (package libdnnl-dev)",
    "halide": "built without Halide's autoscheduler Adams2019",
}


@functools.lru_cache(maxsize=None)
def library(name: str) -> Optional[ctypes.CDLL]:
    """The library of a peer; None where it was not built or does not load. Its own oneDNN comes before torch's."""
    try:
        return ctypes.CDLL(
            str(LIBRARIES / f"libtc_bench_{name}.so"), mode=os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)
        )
    except OSError:
        return None


@contextlib.contextmanager
def silent_errors():
    """Keeps what C++ libraries write to the error stream (Adams2019 reports its search) off it."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def operation(name: str, kind: str, *numbers: int) -> Optional[ctypes.c_void_p]:
    """An operation of a library, ready to run; None where it has none."""
    make = getattr(library(name), f"tc_{name}_{kind}", None)
    if make is None:
        return None
    make.restype = ctypes.c_void_p
    with silent_errors():
        handle = make(*[ctypes.c_int64(number) for number in numbers])
    return ctypes.c_void_p(handle) if handle else None


def onednn(handle: ctypes.c_void_p, inputs: tuple, output: torch.Tensor) -> Callable:
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (*inputs, output)]
    run = library("onednn").tc_onednn_run

    def call():
        run(handle, *pointers)
        return output

    return call


def halide(handle: ctypes.c_void_p, inputs: tuple, output: torch.Tensor) -> Callable:
    pointers = (ctypes.c_void_p * len(inputs))(*[tensor.data_ptr() for tensor in inputs])
    run, result = library("halide").tc_halide_run, ctypes.c_void_p(output.data_ptr())

    def call():
        if not run(handle, pointers, result):
            raise RuntimeError("Halide reports an error")
        return output

    return call


def numbers_of(native: tuple) -> tuple:
    """The arguments of the C functions of an operation."""
    kind, *rest = native
    if kind == "matmul":
        layout, m, n, k = rest
        return kind, (m, n, k, layout[0] == "t", layout[1] == "t")
    if kind == "conv":
        n, g, c, f, image, kernel, stride = rest
        return kind, (n, g, c, f, image, image, kernel, stride)
    return kind, tuple(rest)


def made(name: str, kind: str, numbers: tuple, inputs: tuple, output: torch.Tensor) -> Callable:
    """A function that runs the operation on the tensors."""
    handle = operation(name, kind, *numbers)
    if handle is None:
        raise RuntimeError("it has no such operation")
    return (onednn if name == "onednn" else halide)(handle, inputs, output)


def makers(native: tuple, inputs: tuple, output: torch.Tensor, threads: int, wanted) -> Dict[str, Callable]:
    """Name to a function that makes a peer's function. Names with "alone" leave the reorders of layouts out."""
    kind, numbers = numbers_of(native)
    variants = {}
    if "onednn" in wanted and kind == "matmul":
        variants = {"onednn": (*numbers, threads)}
    elif "onednn" in wanted and kind == "conv":
        variants = {"onednn": (*numbers, 0, threads), "onednn alone": (*numbers, 1, threads)}
    if "halide" in wanted:
        variants["halide"] = (*numbers, threads, HALIDE_CACHE)
    return {
        name: lambda name=name, all_numbers=all_numbers: made(name.split()[0], kind, all_numbers, inputs, output)
        for name, all_numbers in variants.items()
    }
