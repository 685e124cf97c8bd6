"""The machine's own limits: multiply-add peaks and copy bandwidth, from the library of peak.cpp."""

import ctypes
import math
import pathlib
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECOVERY = 0.012
KINDS = {"fp32": 0, "bf16": 1, "u8s8": 2, "bf16_tiles": 3, "u8s8_tiles": 4}


def load(path: pathlib.Path = ROOT / "build" / "bin" / "libtc_bench_peak.so") -> ctypes.CDLL:
    """The library, built by `make build`."""
    library = ctypes.CDLL(str(path))
    library.tc_bench_peak.restype = library.tc_bench_copy.restype = ctypes.c_double
    library.tc_bench_copy.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
    ]
    return library


class Limits:
    """Measures limits now; ask often, because a virtual machine's speed changes from minute to minute."""

    def __init__(self):
        self._library = load()
        self._buffers = {}
        self._times = {}

    def peak(self, kind: str, threads: int) -> float:
        """10^9 operations a second of independent multiply-adds, in about 2 ms. 0: the machine has no such instruction."""
        key = kind, threads
        if key not in self._times:
            self._times[key] = 1
            rate = self.peak(kind, threads)
            self._times[key] = max(1, min(20, math.ceil(rate * 2e6 / (1_200_000 * 64)))) if rate else 1
        return self._library.tc_bench_peak(KINDS[kind], threads, self._times[key])

    def ceiling(self, kind: str, threads: int) -> float:
        """The peak a program on this type can reach: in tiles where there are any; bfloat16 may be widened, and its own
        instructions may be slower.

        0 where the machine has no instructions for the type.
        """
        own = max(self.peak(kind, threads), self.peak(f"{kind}_tiles", threads) if f"{kind}_tiles" in KINDS else 0)
        return max(own, self.peak("fp32", threads)) if own and kind == "bf16" else own

    def rested_ceiling(self, kind: str, threads: int) -> float:
        """The ceiling once the clock has recovered from what ran before: RECOVERY seconds of the loop come first."""
        until = time.perf_counter() + RECOVERY
        while time.perf_counter() < until:
            self.peak(kind, threads)
        return self.ceiling(kind, threads)

    def copy(self, total: float, threads: int) -> float:
        """GB/s read plus written by a copy that moves `total` bytes: the faster of memcpy and streaming stores."""
        size = max(4096, int(total / 2) // 4096 * 4096)
        if size not in self._buffers:
            # Written once, so that their pages exist; aligned for the streaming stores.
            self._buffers = {size: [ctypes.create_string_buffer(b"\1" * (size + 64), size + 64) for _ in range(2)]}
        to, source = ((ctypes.addressof(buffer) + 63) // 64 * 64 for buffer in self._buffers[size])
        times = max(1, int(2e-3 * 20e9 / (2 * size)))
        return max(self._library.tc_bench_copy(to, source, size, threads, times, stream) for stream in (0, 1))

    def summary(self, threads_list) -> dict:
        """The best of several measurements of every limit, for the record."""
        large = 2 * 64 << 20
        return {
            **{f"{kind}_gops_{t}t": max(self.peak(kind, t) for _ in range(7)) for kind in KINDS for t in threads_list},
            **{f"copy_gbs_{t}t": max(self.copy(large, t) for _ in range(3)) for t in threads_list},
        }
