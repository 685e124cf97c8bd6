"""Timing: candidates take turns, samples are long enough, medians and quartiles are kept."""

import math
import time
from typing import Callable, Dict, List, Tuple

from .statistics import Spread, spread

SAMPLE_SECONDS = 2e-3
REST_SECONDS = 0.01
LONG_CALL = 0.1
MIN_ROUNDS, LEAST_ROUNDS, MAX_ROUNDS = 5, 3, 101


def seconds_of(function: Callable, calls: int) -> float:
    """Seconds of one call, from `calls` calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def calls_per_sample(function: Callable) -> int:
    """How many calls make a sample of SAMPLE_SECONDS."""
    function()
    calls = 1
    while True:
        elapsed = seconds_of(function, calls) * calls
        if elapsed >= SAMPLE_SECONDS / 2 or calls >= 1 << 16:
            return max(1, math.ceil(calls * SAMPLE_SECONDS / max(elapsed, 1e-9))) if elapsed < SAMPLE_SECONDS else calls
        calls *= 4


def goes_on(rounds: int, elapsed: float, budget: float) -> bool:
    """Is there to be another round?"""
    if rounds < LEAST_ROUNDS:
        return True
    return rounds < MAX_ROUNDS and elapsed < (4 * budget if rounds < MIN_ROUNDS else budget)


def warm_up(function: Callable, seconds: float) -> None:
    """One call, and more until `seconds` are over."""
    end = time.perf_counter() + seconds
    function()
    while time.perf_counter() < end:
        function()


def interleaved(
    functions: Dict[str, Callable],
    yardsticks: Dict[str, Callable],
    budget: float,
    threads: int,
    warm: float = 0.0,
    beside: bool = False,
) -> Tuple[Dict[str, Spread], Dict[str, List[float]]]:
    """Spreads of seconds for each function and the values of each yardstick, a function that measures a limit.

    Every round runs each function once for a sample, in turns, and then the yardsticks. One untimed call precedes each
    sample of short calls, so each function meets the caches as its own last call left them. With several threads a rest
    precedes it, in which the other candidate's idle threads stop spinning. With `warm` seconds, untimed calls go on for so long
    before a sample of short calls: systems that wake two threads on one core, as virtual machines do, take milliseconds until they
    have spread them, which calls in a row pay once. With `beside`, neither a rest nor an untimed call precedes a sample: the
    idle threads of the other candidates spin when it begins. Rounds go on for `budget` seconds, at least
    MIN_ROUNDS; where these would take four times the budget, LEAST_ROUNDS.
    """
    calls = {name: calls_per_sample(function) for name, function in functions.items()}
    times: Dict[str, List[float]] = {name: [] for name in functions}
    rates: Dict[str, List[float]] = {name: [] for name in yardsticks}
    start = time.perf_counter()
    rounds = 0
    while goes_on(rounds, time.perf_counter() - start, budget):
        for name, function in functions.items():
            if threads > 1 and not beside:
                time.sleep(REST_SECONDS)
            if not beside and (not times[name] or times[name][-1] < LONG_CALL):
                warm_up(function, warm)
            times[name].append(seconds_of(function, calls[name]))
        for name, yardstick in yardsticks.items():
            if threads > 1:
                time.sleep(REST_SECONDS)
            rates[name].append(yardstick())
        rounds += 1
    return {name: spread(values) for name, values in times.items()}, rates
