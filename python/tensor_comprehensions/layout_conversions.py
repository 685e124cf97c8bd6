"""Copies of tensors from and to layouts, and layouts in the cache."""

import math
import statistics
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import _core
from .cache import Cache, Measurement
from .executable import Executable, compiled
from .function import Function
from .layouts import as_layout
from .options import Options

Layouts = Mapping[str, _core.Layout]

ROUNDS, SAMPLE_SECONDS = 25, 2e-3
GAIN, SURE = 1.01, 0.7
"""An executable is faster than another one by this ratio of lower quartiles, and in so many of the rounds."""


def conversion(tensor, target: _core.Layout, source: Optional[_core.Layout] = None) -> Executable:
    """Copies tensors whose logical shape is that of `tensor`, from the layout `source` (without it: plain) to `target`."""
    source = source or _core.Layout("identity")
    function = Function(_core.layout_conversion(tensor, source, target), _core.Settings())
    dtype = _core.kind_of(tensor)[0]
    return compiled(function, (_core.TensorSpec(list(source.map(tuple(tensor.shape)).physical), dtype),), None, Options())


def samples_in_turns(runs: Sequence[Callable[[], Any]]) -> List[List[float]]:
    """Seconds of a call of each of `runs`, one sample a round each: of the processor's time where one thread runs them, so that waiting for a core
    does not count."""
    clock = time.thread_time if _core.get_num_threads() == 1 else time.perf_counter
    counts = []
    for run in runs:
        run()
        begin = clock()
        run()
        counts.append(max(1, math.ceil(SAMPLE_SECONDS / max(clock() - begin, 1e-6))))
    samples: List[List[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, count, own in zip(runs, counts, samples):
            begin = clock()
            for _ in range(count):
                run()
            own.append((clock() - begin) / count)
    return samples


def is_faster(challenger: Sequence[float], incumbent: Sequence[float]) -> bool:
    """Is the first faster beyond noise, by samples taken in turns?"""
    wins = sum(a < b for a, b in zip(challenger, incumbent))
    quartiles = [statistics.quantiles(samples, n=4)[0] for samples in (challenger, incumbent)]
    return quartiles[1] >= GAIN * quartiles[0] and wins >= SURE * len(challenger)


def conversion_seconds(shapes: Mapping[str, Any], layouts: Layouts, returns: Sequence[str]) -> Dict[str, float]:
    """Seconds to convert each tensor of `shapes` that has a layout: parameters into it, `returns` back."""
    result = {}
    for name, spec in shapes.items():
        if name in layouts:
            back = name in returns
            run = conversion(spec, _core.Layout("identity"), layouts[name]) if back else conversion(spec, layouts[name])
            tensors = [sample(argument) for _, argument, is_output in run._arguments() if not is_output]
            result[name] = statistics.median(samples_in_turns([lambda: run(*tensors)])[0])
    return result


def sample(spec, seed: int = 0):
    """A tensor with made-up numbers like `spec`: floats between -1 and 1, and zeros of other types, which are inside of whatever they index."""
    try:
        import numpy as np
    except ImportError as error:
        raise _core.ResourceError("layouts=True needs numpy\nhelp: pip install 'tensor-comprehensions[numpy]'") from error
    shape = tuple(spec.shape)
    if spec.dtype in ("float32", "float64"):
        return np.random.default_rng(seed).uniform(-1, 1, shape).astype(spec.dtype)
    if spec.dtype in ("bfloat16", "float16", "half"):
        import torch

        return torch.zeros(shape, dtype=torch.bfloat16 if spec.dtype == "bfloat16" else torch.float16)
    return np.zeros(shape, dtype=spec.dtype)


def keep_layouts(store: Cache, key: _core.CacheKey, function: Function, layouts: Layouts, seconds: float) -> None:
    """Keeps `layouts` as the fastest ones for `key`, "" for the plain ones: as numbers of tensors, since names do not matter in a cache."""
    names = _core.tensor_names(function)
    note = "; ".join(f"{names.index(name)}: {layout}" for name, layout in sorted(layouts.items()))
    measured = Measurement.here(seconds * 1e9, checked=True)
    store._core.put(key.of_layouts(), _core.MappingOptions(), False, {**vars(measured)}, note)


def kept_layouts(store: Cache, key: _core.CacheKey, function: Function) -> Optional[Dict[str, _core.Layout]]:
    """The layouts that a tuning found to be the fastest for `key`; None where none was kept, or it does not fit."""
    entry = next(iter(store._core.find(key.of_layouts())), None)
    if entry is None:
        return None
    names = _core.tensor_names(function)
    try:
        parts = [part.split(": ", 1) for part in filter(None, entry["note"].split("; "))]
        return {names[int(number)]: as_layout(text) for number, text in parts}
    except (ValueError, IndexError, _core.Error):
        return None
