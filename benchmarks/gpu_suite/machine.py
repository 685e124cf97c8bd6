"""Writes what runs here: the GPU, its driver, versions of everything that is compared.

    python3 -m gpu_suite.machine RESULT.json
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys

QUERY = "name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu,compute_mode"
PACKAGES = ("torch", "triton", "numpy", "pytest", "nvidia-cuda-nvrtc", "nvidia-cublas", "nvidia-cudnn-cu13", "cupy-cuda13x")


def first_line(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return ""


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def gpu() -> dict:
    """What torch says of the device; why there is none, without."""
    try:
        import torch

        properties = torch.cuda.get_device_properties(0)
        return {
            "name": properties.name,
            "architecture": f"sm_{properties.major}{properties.minor}",
            "multiprocessors": properties.multi_processor_count,
            "memory_bytes": properties.total_memory,
            "l2_bytes": getattr(properties, "L2_cache_size", 0),
            "devices": torch.cuda.device_count(),
            "torch_cuda": torch.version.cuda,
        }
    except Exception as error:  # Whatever is wrong with torch is what the report is to say.
        return {"missing": f"{type(error).__name__}: {error}".splitlines()[0]}


def description() -> dict:
    return {
        "gpu": gpu(),
        "nvidia-smi": dict(zip(QUERY.split(","), first_line("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader").split(", "))),
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "c++": first_line("g++", "--version"),
        "packages": {name: version_of(name) for name in PACKAGES if version_of(name)},
    }


if __name__ == "__main__":
    text = json.dumps(description(), indent=1)
    pathlib.Path(sys.argv[1]).write_text(text)
    print(text)
