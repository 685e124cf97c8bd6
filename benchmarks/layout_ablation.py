"""ALT's ablation: layouts of tensors between nodes chosen in five ways, whole models in turns.

    python benchmarks/layout_ablation.py [--models resnet18,mobilenet_v2,bert_base,bert_tiny] [--batch 1,16] [--rounds 15] [--switches OL,WP,full]

| switch | `layouts=` | |
|---|---|---|
| OL | `constants` | loops only; constants are in panels |
| WP | `adjacent` | nodes with reductions choose, others pass no layout on |
| FP, BP | `forward`, `backward` | a node takes its inputs as they are produced, or gives its result as it is read |
| full | `resolve` | the exact choice |
| best | `measured` | OL or full, whichever runs faster |

A row a model, batch and switch: milliseconds, the median with quartiles (in one thread of processor time), the speed relative to the first switch, by the
median of the quotients of each round with its quartiles, tensors in layouts, and seconds of the first call, with code that
switches before have. Results are compared with torch's.
"""

import argparse
import os
import statistics
import tempfile
import time

import libraries
import models
import torch

import tensor_comprehensions as tc

SWITCHES = {"OL": "constants", "WP": "adjacent", "FP": "forward", "BP": "backward", "full": "resolve", "best": "measured"}


def laid_out():
    """Tensors that a run computes, in layouts of their own, in the graph that was compiled last."""
    lines = [line for report in tc.torch.reports()[-1:] for f in report.executables for line in f.stats["layouts"]]
    return sum(": " in line and "converted" not in line for line in lines)


def measure(name, batch, switches, rounds):
    made, tensors = [], []
    with tempfile.TemporaryDirectory() as folder:
        store = tc.cache.Cache(folder)  # of code that several switches have
        for switch in switches:
            made.append(libraries.compiled(name, batch, "none", SWITCHES[switch], store))
            tensors.append(laid_out())
    clock = time.thread_time if tc.get_num_threads() == 1 else time.perf_counter
    times = [[] for _ in switches]
    with torch.no_grad():
        for _ in range(rounds):
            for (f, inputs, _), own in zip(made, times):
                f(*inputs)
                begin = clock()
                f(*inputs)
                own.append((clock() - begin) * 1e3)
    for switch, own, (_, _, first), count in zip(switches, times, made, tensors):
        low, median, high = statistics.quantiles(own, n=4)
        least, speed, most = statistics.quantiles([a / b for a, b in zip(times[0], own)], n=4)
        print(f"| {name} | {batch} | {switch} | {median:.2f} ({low:.2f} to {high:.2f}) | {speed:.3f} ({least:.3f} to {most:.3f}) | {count} | {first:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet18,mobilenet_v2,bert_base,bert_tiny")
    parser.add_argument("--batch", default="1")
    parser.add_argument("--switches", default=",".join(SWITCHES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    models.set_threads(given.threads)
    print(f"{given.threads} threads of {tc.host_target()}; load {os.getloadavg()[0]:.1f}; {given.rounds} rounds\n")
    print("| model | batch | switch | ms | speed | tensors in layouts | seconds of the first call |")
    print("|---|---|---|---|---|---|---|")
    for name in given.models.split(","):
        for batch in map(int, given.batch.split(",")):
            measure(name, batch, given.switches.split(","), given.rounds)


if __name__ == "__main__":
    main()
