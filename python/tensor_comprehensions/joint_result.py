"""The end of a tuning of layouts and loops: its winner against the plain layouts, and what the cache keeps."""

import statistics
import time
from typing import Any, Dict, List, Optional, Sequence

from . import _core
from .cache import Cache
from .executable import Executable, compiled
from .function import Function
from .joint_tuning import Converted, Joint
from .laid_out import compile_in_layouts
from .layout_conversions import conversion, conversion_seconds, is_faster, keep_layouts, sample, samples_in_turns
from .options import Options
from .tuning_result import layouts_text


def tune_jointly(joint: Joint, function: Function, tensors: Sequence[Any], target: Optional[str], store: Optional[Cache]) -> Dict[str, Any]:
    """Runs `joint`; its result as a tuning without layouts gives it, with `layouts`, `conversions`, `tried` and `executable`."""
    begin = time.monotonic()
    found = joint.run(store)
    key = function._cache_key(tuple(tensors), None, _core.Settings(target=target))
    decided = _compared(joint, found, function, tensors, target)
    layouts = decided["layouts"]
    if store and store.writable:
        keep_layouts(store, key, function, layouts, decided["best"]["time"])
        decided["kept"] = True
    used = store.best(function, *tensors, target=target) if store else None
    returns = function._returns()
    operands = {name: spec for name, spec in _specs(decided["plain"]).items() if name in layouts}
    how = Options(target=target, options=str(decided["best"]["options"]) or "default")
    executable = compile_in_layouts(function, tensors, layouts, None, how, []) if layouts else compiled(function, tuple(tensors), None, how)
    decided.pop("plain")
    return {
        **found,
        **decided,
        "executable": executable,
        "conversions": conversion_seconds(operands, layouts, returns),
        "tried": tuple(joint.tried),
        "used": str(used.options) if used else "",
        "elapsed": time.monotonic() - begin,
    }


def _specs(executable: Executable) -> Dict[str, Any]:
    return {name: spec for name, spec, _ in executable._arguments()}


def _compared(joint: Joint, found: Dict[str, Any], function: Function, tensors: Sequence[Any], target: Optional[str]) -> Dict[str, Any]:
    """The default, the fastest plain loops and those in layouts, measured in turns; the layouts are left out where they are not faster."""
    given = [sample(tensor, i) if isinstance(tensor, _core.TensorSpec) else tensor for i, tensor in enumerate(tensors)]
    layouts, options = found["layouts"], str(found["best"]["options"])
    plain_options = joint.plain_options if layouts else options
    entrants: List[Dict[str, Any]] = [{"options": "", "layouts": {}}]
    if plain_options:
        entrants.append({"options": plain_options, "layouts": {}})
    if layouts:
        entrants.append({"options": options, "layouts": layouts})
    for each in entrants:
        placed = Converted(function, given, each["layouts"])
        how = Options(target=target, options=each["options"] or "default")
        each["run"] = compiled(placed.function, tuple(placed.tensors), None, how)
        each["tensors"] = placed.tensors
    if layouts and not _agree(entrants[0], entrants[-1], function):
        entrants.pop()
    for each, samples in zip(entrants, samples_in_turns([_call(each) for each in entrants])):
        each["samples"] = samples
    best = entrants[0]
    for each in entrants[1:]:
        if is_faster(each["samples"], best["samples"]):
            best = each
    finalists = sorted((_measured(each) for each in entrants if each is not best), key=lambda each: each["time"])
    return {
        "best": _measured(best),
        "default": _measured(entrants[0]),
        "finalists": [_measured(best), *finalists],
        "layouts": best["layouts"],
        "plain": entrants[0]["run"],
    }


def _call(entrant):
    run, tensors = entrant["run"], entrant["tensors"]
    out = run(*tensors)
    return lambda: run(*tensors, out=out)


def _measured(entrant) -> Dict[str, Any]:
    samples = entrant["samples"]
    low, middle, high = statistics.quantiles(samples, n=4)
    return {
        "options": entrant["options"],
        "time": middle,
        "least": min(samples),
        "spread": high - low,
        "runs": len(samples),
        "layouts": layouts_text(entrant["layouts"]),
    }


def _agree(plain, other, function: Function) -> bool:
    """Do both give the same results?"""
    import numpy as np

    def outputs(entrant):
        result = entrant["run"](*entrant["tensors"])
        return result if isinstance(result, tuple) else (result,)

    specs = _specs(plain["run"])
    for name, expected, result in zip(function._returns(), outputs(plain), outputs(other)):
        if name in other["layouts"]:
            result = conversion(specs[name], _core.Layout("identity"), other["layouts"][name])(result)
        a, b = (np.asarray(each.float() if hasattr(each, "float") else each) for each in (expected, result))
        is_float = np.issubdtype(a.dtype, np.floating)
        close = np.allclose(a, b, rtol=1e-3, atol=1e-3 * max(1.0, float(np.abs(a).max(initial=0)))) if is_float else np.array_equal(a, b)
        if not close:
            return False
    return True
