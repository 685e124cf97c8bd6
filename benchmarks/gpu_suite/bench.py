"""Measures one family of cases on the GPU, beside torch and Triton, and writes each row when it is done.

    python3 -m gpu_suite.bench FAMILY RESULT.json [--dry-run]

A process that dies has named the case it was at in RESULT.json; started again it goes on behind it. Ends with 0, 4 where a row is
not right; anything else is a death. With --dry-run there is no GPU: cases
are compiled for sm_90 at full size, and run at tiny sizes on the CPU against float64.
"""

import argparse
import faulthandler
import os
import pathlib
import sys
import time
import traceback
import warnings

import torch

import tensor_comprehensions as tc
from gpu_suite import gpu_cases, overhead, timing
from gpu_suite.results import PATIENCE, WRONG_ROWS, Results
from suite import check
from suite.case import Case, full, moved_bytes, tiny

SECONDS_OF_A_CASE = 45
SMALL_BYTES = 32 << 20
SLACK = 10  # Peers may round more than we do: they are compared to see that they compute the same thing.


def kernel_facts(kernel) -> list:
    """What the machine code of each kernel says."""
    keys = ("name", "grid", "block", "registers", "spill_store_bytes", "shared_bytes", "instructions")
    return [{key: entry[key] for key in keys} for entry in kernel.stats.get("kernels", [])]


def compiled(case: Case, *tensors, **more):
    """The executable and the milliseconds of its compile."""
    start = time.perf_counter()
    kernel = tc.compile(tc.define(case.text)[case.entry], *tensors, **more)
    return kernel, (time.perf_counter() - start) * 1e3


def checked(case: Case, kernel, inputs: tuple, expected: tuple) -> tuple:
    """The error of the outputs as a share of what is allowed, and the outputs. Every element is poisoned before the run."""
    outputs = check.as_tuple(kernel(*inputs))
    for output in outputs:
        output.fill_(float("nan") if output.dtype.is_floating_point else 77)
    kernel(*inputs, out=outputs if len(outputs) > 1 else outputs[0])
    return check.worst_error(outputs, expected, case.terms, case.roundings), outputs


def peers_of(case: Case, inputs: tuple, expected: tuple, seconds: float):
    """Functions of the peers by name, and lines about those that failed."""
    makers = {"eager": lambda: lambda: case.eager(*inputs)}
    makers.update({name: lambda f=function: lambda: f(*inputs) for name, function in case.also.items()})
    if seconds > 1.5:
        if case.libraries != "none":
            makers["own code"] = lambda: own_code(case, inputs)
        if case.compiled:
            makers["compile"] = lambda: through_inductor(case, inputs)
        makers["triton"] = lambda: by_triton(case, inputs)
    ready, lines = {}, []
    for name, make in makers.items():
        try:
            function = make()
            if function is None:
                continue
            error = check.worst_error(check.as_tuple(function()), expected, case.terms, case.roundings)
            if error > SLACK:
                raise RuntimeError(f"its result is wrong by {error:.0f} times what rounding allows")
            ready[name] = function
        except Exception as error:  # A peer's failure is a fact about the peer.
            lines.append(f"{name} failed: {(str(error) or type(error).__name__).splitlines()[0][:200]}")
    return ready, lines


def through_inductor(case: Case, inputs: tuple):
    torch._dynamo.reset()
    function = torch.compile(case.eager, dynamic=False)
    function(*inputs)
    return lambda: function(*inputs)


def own_code(case: Case, inputs: tuple):
    kernel = compiled(case, *inputs)[0]
    kernel.prepare()
    return lambda: kernel(*inputs)


def by_triton(case: Case, inputs: tuple):
    from gpu_suite import triton_peers

    function = triton_peers.peer(case)
    return function and (lambda: function(*inputs))


def measure(case: Case, seconds: float, cold) -> dict:
    """The row of a case on the GPU."""
    with torch.device(timing.DEVICE):
        inputs = case.draw()
    kernel, milliseconds = compiled(case, *inputs, libraries=case.libraries)
    row = {"case": case.name, "compile_ms": milliseconds, "kernels": kernel_facts(kernel), "flops": case.flops}
    if case.libraries != "none" and not kernel.stats["library_calls"]:
        raise RuntimeError(f"no library is called: {kernel.stats['library_notes']}")
    expected = check.reference(case, inputs)
    error, outputs = checked(case, kernel, inputs, expected)
    row.update(error=error, status="ok" if error <= 1 else "wrong", bytes=moved_bytes(case, inputs, outputs))
    kernel.prepare()
    peers, lines = peers_of(case, inputs, expected, seconds)
    functions = {"": lambda: kernel(*inputs), **peers}
    budget = max(0.15, min(0.6, seconds / 3))
    times = cold.times(functions, budget)
    if "own code" in times:
        lines.append(f"own code {times['own code'].median * 1e6:.1f} us")
    row.update(cold={name: time._asdict() for name, time in times.items()}, lines=lines)
    if row["bytes"] <= SMALL_BYTES:
        warm, more = timing.warm_times(functions, {name: time.median for name, time in times.items()}, budget / 2)
        row.update(warm={name: time._asdict() for name, time in warm.items()}, lines=lines + more)
    return row


def rehearse(case: Case, small: Case) -> dict:
    """The row of a case without a GPU: compiled for one at full size, right on the CPU at a tiny size."""
    with torch.device("meta"):
        specs = [tc.spec(tuple(t.shape), t.dtype) for t in case.draw()]
    kernel, milliseconds = compiled(case, *specs, target="cuda:sm_90")
    inputs = small.draw()
    error, _ = checked(small, compiled(small, *inputs)[0], inputs, check.reference(small, inputs))
    return {"case": case.name, "status": "ok" if error <= 1 else "wrong", "compile_ms": milliseconds, "error": error,
            "kernels": kernel_facts(kernel), "flops": case.flops, "lines": []}


def guarded(case: Case, work) -> dict:
    """What `work` makes, or a row that says why there is none. An error of the device ends the process: nothing works after it."""
    try:
        return work()
    except tc.DeviceError:
        traceback.print_exc()
        sys.exit(3)
    except Exception as error:
        traceback.print_exc()
        text = (str(error) or type(error).__name__).splitlines()[0]
        if "CUDA error" in text or "Accelerator" in type(error).__name__:
            sys.exit(3)
        return {"case": case.name, "status": f"failed: {text[:300]}"}


def run(family: str, results: Results, dry: bool) -> None:
    end = time.monotonic() + float(os.environ.get("TC_SECTION_SECONDS", "600")) - 3
    cases = gpu_cases.FAMILIES[family](full)
    small = {case.name: case for case in gpu_cases.FAMILIES[family](tiny)}
    cold = None
    if not dry:
        results.content.setdefault("copy_bytes_per_second", []).append(timing.copy_rate())
        cold = timing.Cold()
        results.content["floor"] = cold.times({"nothing": lambda: None}, 0.05)["nothing"]._asdict()
    left = [case for case in cases if not results.tried(case.name)]
    for number, case in enumerate(left):
        seconds = (end - time.monotonic()) / (len(left) - number)
        if seconds < 0.2:
            results.content["notes"].append(f"no time was left for {case.name} and {len(left) - number - 1} others")
            break
        results.begin(case.name)
        faulthandler.dump_traceback_later(SECONDS_OF_A_CASE * (PATIENCE if dry else 1), exit=True)
        row = guarded(case, lambda: rehearse(case, small[case.name]) if dry else measure(case, seconds, cold))
        faulthandler.cancel_dump_traceback_later()
        print(row["case"], row["status"], flush=True)
        results.end(row)
    if not dry:
        results.content["copy_bytes_per_second"].append(timing.copy_rate())
    results.save()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=[*gpu_cases.FAMILIES, "overhead"])
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--dry-run", action="store_true")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    results = Results(arguments.result)
    with torch.no_grad():
        if arguments.family == "overhead":
            overhead.run(results, arguments.dry_run)
        else:
            run(arguments.family, results, arguments.dry_run)
    bad = [row for row in results.content["rows"] if row["status"] != "ok"]
    return WRONG_ROWS if bad or not results.content["rows"] else 0


if __name__ == "__main__":
    sys.exit(main())
