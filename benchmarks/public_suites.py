"""PolyBench, TCCG and opt_einsum beside NumPy and torch: results compared, one table with ratios and their geometric means.

    .venv/bin/python benchmarks/public_suites.py                                  # one thread, all suites
    .venv/bin/python benchmarks/public_suites.py --suite tccg --only ijkl --seconds 2
    .venv/bin/python benchmarks/public_suites.py --markdown rows.md --json rows.json

Candidates take turns in one process and one thread, and the least processor time counts, so that work of others on the machine disturbs little. Peers: for PolyBench the
kernel in NumPy, vectorised where its order allows it; for contractions `torch.einsum`, of pairs in the order that opt_einsum finds where that
package is installed, else from left to right. `peer / ours` above 1: ours is faster.
"""

import argparse
import json
import math
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np
import torch

import tensor_comprehensions as tc
from suite import measure
from suite.public import einsums, polybench


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def agree(ours, wanted, what):
    """Fails where a result is further from the peer's than rounding in float64 explains."""
    for result, reference in zip(as_tuple(ours), as_tuple(wanted)):
        result, reference = np.asarray(result), np.asarray(reference)
        assert result.shape == reference.shape, what
        scale = max(1.0, float(np.abs(reference).max(initial=0)))
        assert np.abs(result - reference).max(initial=0) <= 1e-9 * scale, what


def peer_of(suite, program, arrays):
    """Its name and a function without arguments."""
    if suite == "polybench":
        return "numpy", lambda: program.reference(*arrays)
    tensors, equation = [torch.from_numpy(array) for array in arrays], program.equation
    return "torch", lambda: torch.einsum(equation, *tensors)


def processor_seconds(function, calls):
    """Seconds that the processor takes for one call, from `calls` calls in a row."""
    start = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - start) / calls


def least_times(functions, seconds):
    """The least processor time of each function: samples of 2 ms and more in turns, at least five, for so many `seconds`."""
    calls = {name: measure.calls_per_sample(function) for name, function in functions.items()}
    times = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["ours"]) < 5:
        for name, function in functions.items():
            times[name].append(processor_seconds(function, calls[name]))
    return {name: min(values) for name, values in times.items()}


def row_of(suite, program, seconds):
    """Compiles, compares and times one program: a row of the table."""
    arrays = program.draw(program.usual)
    start = time.perf_counter()
    kernel = tc.compile(tc.define(program.text)[program.entry], *arrays, cache=False)
    compiled = time.perf_counter() - start
    peer, other = peer_of(suite, program, arrays)
    agree(kernel(*arrays), other(), program.name)
    times = least_times({"ours": lambda: kernel(*arrays), "peer": other}, seconds)
    ours, theirs = times["ours"], times["peer"]
    return {"suite": suite, "program": program.name, "sizes": program.usual, "ours_s": ours, "peer": peer, "peer_s": theirs,
            "ratio": theirs / ours, "compile_s": compiled}


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def lines_of(rows):
    """The table in Markdown, with the geometric mean of each suite."""
    yield "| suite | program | sizes | ours, ms | peer | peer, ms | peer / ours |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        sizes = " ".join(f"{key}={value}" for key, value in row["sizes"].items())
        yield (f"| {row['suite']} | {row['program']} | {sizes} | {row['ours_s'] * 1e3:.3f} | {row['peer']} |"
               f" {row['peer_s'] * 1e3:.3f} | {row['ratio']:.2f} |")
    yield ""
    for suite in dict.fromkeys(row["suite"] for row in rows):
        ratios = [row["ratio"] for row in rows if row["suite"] == suite]
        yield (f"{suite}: {len(ratios)} programs, geometric mean {geomean(ratios):.2f}, least {min(ratios):.2f}, greatest {max(ratios):.2f},"
               f" {sum(ratio >= 1 for ratio in ratios)} at least as fast as the peer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=["polybench", "tccg", "opt_einsum", "by pairs"])
    parser.add_argument("--only", default="", help="a part of the names of programs")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, for each program")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    tc.set_num_threads(1)
    torch.set_num_threads(1)
    suites = {"polybench": polybench.programs(), "tccg": einsums.tccg(), "opt_einsum": einsums.opt_einsum(),
              "by pairs": einsums.opt_einsum_by_pairs()}
    rows = []
    for suite, programs in suites.items():
        for program in programs:
            if asked.suite in (None, suite) and asked.only in program.name:
                rows.append(row_of(suite, program, asked.seconds))
                print(f"{suite:11}{program.name:42}{rows[-1]['ours_s'] * 1e3:10.3f} ms {rows[-1]['ratio']:8.2f}", flush=True)
    lines = list(lines_of(rows))
    print("\n".join(lines[lines.index(""):]))
    if asked.markdown:
        asked.markdown.write_text("\n".join(lines) + "\n")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
