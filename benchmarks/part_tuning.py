"""A model whose parts are tuned one by one, beside the same model tuned as a whole with the same budget.

    python benchmarks/part_tuning.py [--model resnet18] [--budget 15,60] [--ways whole,parts] [--rounds 20]

The model is exported as text; weights are constants, norms are folded. A row a budget and way to tune: candidates that were tried, seconds, and
the speed of the model relative to the untuned one, measured in turns (in one thread of processor time): medians with quartiles of the quotients.
Results are compared.
"""

import argparse
import os
import statistics
import tempfile
import time

import models
import torch

import tensor_comprehensions as tc
import tensor_comprehensions.torch  # noqa: F401  (export)

HOW = {"fold_scales": True}


def speed(plain, tuned, x, rounds):
    clock = time.thread_time if tc.get_num_threads() == 1 else time.perf_counter
    times = ([], [])
    for _ in range(rounds):
        for f, own in zip((plain, tuned), times):
            f(*x)
            begin = clock()
            f(*x)
            own.append(clock() - begin)
    return statistics.quantiles([a / b for a, b in zip(*times)], n=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--budget", default="15,60")
    parser.add_argument("--ways", default="whole,parts")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    models.set_threads(given.threads)
    model, inputs = models.make(given.model, 1)
    with torch.no_grad():
        models.take_statistics(model, inputs)
        text = tc.torch.export(model, *inputs)
        main = tc.define(text.text).main
        tensors = text.in_order(*inputs)
    names = list(main._parameters())
    of_inputs = {id(tensor) for tensor in inputs}
    constants = [name for name, tensor in zip(names, tensors) if id(tensor) not in of_inputs]
    x = [tensor for tensor in tensors if id(tensor) in of_inputs]
    plain = tc.compile(main, *tensors, constants=constants, cache=False, **HOW)
    print(f"{given.model}, {given.threads} threads of {tc.host_target()}; load {os.getloadavg()[0]:.1f}\n")
    print("| budget, s | tuned | candidates | took, s | speed |")
    print("|---|---|---|---|---|")
    for budget in map(float, given.budget.split(",")):
        for way in given.ways.split(","):
            with tempfile.TemporaryDirectory() as folder:
                store = tc.cache.Cache(folder)
                if way == "parts":
                    found = tc.tune_parts(main, *tensors, constants=constants, budget=budget, cache=store, **HOW)
                    tried = found.candidates
                else:
                    found = tc.autotune(main, *tensors, budget=budget, cache=store, progress=False)
                    tried = len(found.candidates)
                tuned = tc.compile(main, *tensors, constants=constants, cache=store, options="cached", **HOW)
                torch.testing.assert_close(tuned(*x), plain(*x), rtol=1e-3, atol=1e-3)
                low, median, high = speed(plain, tuned, x, given.rounds)
            print(f"| {budget:.0f} | {way} | {tried} | {found.elapsed:.0f} | {median:.3f} ({low:.3f} to {high:.3f}) |", flush=True)
            if way == "parts":
                print("\n".join(f"<!-- {line} -->" for line in str(found).splitlines()))


if __name__ == "__main__":
    main()
