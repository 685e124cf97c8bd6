"""Times of GPU work by events: candidates take turns, the cache is flushed or kept, medians and quartiles are returned."""

import time
from typing import Callable, Dict

import torch

from suite.statistics import Spread, spread

DEVICE = "cuda"
FLUSH_BYTES = 256 << 20
MIN_ROUNDS, MAX_ROUNDS = 7, 60
GRAPH_SECONDS = 5e-4


class Cold:
    """Times of single calls, each after more bytes have been read than the cache holds: it then has nothing of the call's, and nothing
    that has still to be written. The host runs ahead of the device meanwhile, so that its own time does not count."""

    def __init__(self):
        self.buffer = torch.ones(FLUSH_BYTES // 4, device=DEVICE)
        self.total = torch.empty((), device=DEVICE)

    def sample(self, function: Callable):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.sum(self.buffer, 0, out=self.total)
        begin.record()
        function()
        end.record()
        return begin, end

    def times(self, functions: Dict[str, Callable], budget: float) -> Dict[str, Spread]:
        """Spreads of seconds, from rounds that fill about `budget` seconds."""
        samples = {name: [] for name in functions}
        start, rounds = time.perf_counter(), 0
        while rounds < MIN_ROUNDS or (rounds < MAX_ROUNDS and time.perf_counter() - start < budget):
            for name, function in functions.items():
                samples[name].append(self.sample(function))
            torch.cuda.synchronize()
            rounds += 1
        return {name: spread([begin.elapsed_time(end) * 1e-3 for begin, end in pairs[1:]]) for name, pairs in samples.items()}


def graph_of(function: Callable, calls: int) -> "torch.cuda.CUDAGraph":
    """A graph of so many calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            function()
    return graph


def warm_times(functions: Dict[str, Callable], estimates: Dict[str, float], budget: float):
    """Spreads of seconds of calls in a row, which find in the cache what the call before left there, by replays of graphs; and why
    others could not be recorded."""
    graphs, calls, lines = {}, {}, []
    for name, function in functions.items():
        calls[name] = max(1, min(100, round(GRAPH_SECONDS / max(estimates[name], 1e-6))))
        try:
            graphs[name] = graph_of(function, calls[name])
        except Exception as error:  # A peer that no graph takes has no warm time.
            torch.cuda.synchronize()
            lines.append(f"{name} cannot be recorded: {(str(error) or type(error).__name__).splitlines()[0]}")
    samples = {name: [] for name in graphs}
    start, rounds = time.perf_counter(), 0
    while graphs and (rounds < MIN_ROUNDS or (rounds < MAX_ROUNDS and time.perf_counter() - start < budget)):
        for name, graph in graphs.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            graph.replay()
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            samples[name].append(begin.elapsed_time(end) * 1e-3 / calls[name])
        rounds += 1
    return {name: spread(values) for name, values in samples.items()}, lines


def host_seconds(function: Callable, calls: int = 300, batches: int = 15) -> Spread:
    """Seconds the host spends in one call, the device at work on something shorter meanwhile."""
    values = []
    for _ in range(batches):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        values.append((time.perf_counter() - start) / calls)
    torch.cuda.synchronize()
    return spread(values)


def copy_rate(count: int = 1 << 29) -> float:
    """Bytes per second, read and written, of torch's copy of 2 GiB: the best of several."""
    source = torch.randn(count, device=DEVICE)
    target = torch.empty_like(source)
    best = 0.0
    for _ in range(6):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        best = max(best, 8.0 * count / (begin.elapsed_time(end) * 1e-3))
    return best
