"""What ran where: the processor, the versions of everything measured, and the settings that change times."""

import ctypes
import os
import pathlib
import platform
import subprocess

import numpy
import torch

import tensor_comprehensions as tc

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def keep_memory():
    """Makes malloc keep what is freed: no call pays for new pages of its outputs, whoever allocates them."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(M_TOP_PAD, 64 << 20)


def processor() -> str:
    """The model name of the processor."""
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def cores() -> int:
    return len(os.sched_getaffinity(0))


def compiler_version() -> str:
    """The first line of the C++ compiler that torch.compile calls, or nothing."""
    try:
        return subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return ""


def description() -> dict:
    """Machine and versions; no names of hosts, users or paths."""
    return {
        "processor": processor(),
        "cores": cores(),
        "target": str(tc.host_target()),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "tensor_comprehensions": tc.__version__,
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "c++": compiler_version(),
        "load_average": os.getloadavg()[0],
    }
