"""Loops on torch's OpenMP threads and on the library's own: which team runs, the same bits, many callers, forks."""

import os
import random
import subprocess
import sys
import threading
import time

import pytest
import torch

import tensor_comprehensions as tc
from children import wait_for

TEXT = """
def scale(float(N,K) A) -> (B) { B(n,k) = A(n,k) * 2 + 1 }
def total(float(N,K) A) -> (S) { S(n) +=! A(n,k) * A(n,k) }
"""
T = tc.define(TEXT)

needs_openmp = pytest.mark.skipif(not torch.backends.openmp.is_available() or len(os.sched_getaffinity(0)) < 2,
                                  reason="torch runs no OpenMP threads beside each other")


@pytest.fixture(autouse=True)
def threads():
    """Two threads of torch, whatever tests before have set; all as it was behind the test."""
    before, of_torch = tc.get_num_threads(), torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    tc.set_threads("auto")
    tc.set_num_threads(before)
    torch.set_num_threads(of_torch)


def becomes(wanted, asked, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if asked() == wanted:
            return True
    return False


@needs_openmp
def test_torchs_threads_run_loops_while_they_are_awake():
    tc.set_num_threads(torch.get_num_threads())
    a, large = torch.randn(400, 300), torch.randn(1 << 20)

    def team_behind_torch():
        large + large
        T.scale(a)
        return tc.get_threads()

    def team_behind_a_pause():
        time.sleep(0.3)
        T.scale(a)
        return tc.get_threads()

    assert becomes("openmp", team_behind_torch)
    assert becomes("own", team_behind_a_pause)


@needs_openmp
def test_another_number_of_threads_than_torchs_keeps_the_own_team():
    tc.set_num_threads(torch.get_num_threads() + 1)
    a, large = torch.randn(400, 300), torch.randn(1 << 20)
    for _ in range(50):
        large + large
        T.scale(a)
        assert tc.get_threads() == "own"


def test_a_team_can_be_asked_for():
    tc.set_num_threads(3)
    a = torch.randn(400, 300)
    for threads in ("own", "openmp") if torch.backends.openmp.is_available() else ("own",):
        tc.set_threads(threads)
        assert becomes(threads, lambda: (T.scale(a), tc.get_threads())[1])
    with pytest.raises(tc.OptionsError, match="must be 'auto', 'own' or 'openmp'"):
        tc.set_threads("tbb")


def test_teams_give_the_same_bits():
    tc.set_num_threads(3)
    a = torch.randn(777, 333)
    results = []
    for threads in ("own", "openmp", "auto"):
        tc.set_threads(threads)
        results += [T.total(a) for _ in range(5)]
    assert all(torch.equal(result, results[0]) for result in results)


def test_changes_of_torchs_threads_between_calls():
    before = torch.get_num_threads()
    a, large = torch.randn(400, 300), torch.randn(1 << 20)
    expected = a * 2 + 1
    try:
        for count in random.Random(1).choices(range(1, 5), k=60):
            torch.set_num_threads(count)
            large + large
            assert torch.equal(T.scale(a), expected)
    finally:
        torch.set_num_threads(before)


def test_the_environment_names_the_team():
    script = """
import torch, tensor_comprehensions as tc
tc.set_num_threads(2)
try:
    T = tc.define("def f(float(N,K) A) -> (B) { B(n,k) = A(n,k) * 2 }")
    a = torch.ones(300, 300)
    [T.f(a) for _ in range(20)]
    print(tc.get_threads())
except tc.OptionsError as error:
    print(error)
"""

    def last_line(choice):
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240,
                                env=dict(os.environ, TC_THREADS=choice, TC_VERIFY="0"))
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()[-1]

    assert last_line("own") == "own"
    assert last_line("openmp") == "openmp"
    assert "must be 'auto', 'own' or 'openmp'" in last_line("mine")


def call_beside_torch(callers, calls):
    """Wrong results of so many callers, each of which calls defs and torch in turns."""
    wrong = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        a = torch.randint(-5, 5, (150 + seed, 67), generator=generator).float()
        for _ in range(calls):
            if not torch.equal(T.scale(a), a * 2 + 1) or not torch.equal(T.total(a), (a * a).sum(1)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(callers)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    return wrong


def test_many_callers_beside_torch():
    tc.set_num_threads(2)
    assert not call_beside_torch(8, int(os.environ.get("TC_TEAM_CALLS", 100)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("threads", ["auto", "openmp"])
def test_forks_at_random_moments(threads):
    """A child runs its loops in one thread: OpenMP has no threads there."""
    tc.set_num_threads(2)
    tc.set_threads(threads)
    a = torch.randn(200, 150)
    expected = a * 2 + 1
    seed = int(os.environ.get("TC_TEAM_SEED", random.randrange(1 << 30)))
    print("TC_TEAM_SEED", seed)
    moments, stop = random.Random(seed), threading.Event()

    def keep_busy():
        large = torch.randn(1 << 18)
        while not stop.is_set():
            large + large
            T.scale(a)

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        for _ in range(int(os.environ.get("TC_TEAM_FORKS", 10))):
            time.sleep(moments.random() * 0.01)
            T.scale(a)
            child = os.fork()
            if child == 0:
                same = all(bool((T.scale(a).numpy() == expected.numpy()).all()) for _ in range(3))
                os._exit(0 if same else 1)
            assert wait_for(child, seconds=120) == 0
    finally:
        stop.set()
        busy.join()


@needs_openmp
@pytest.mark.parametrize("before, after", [("", "import tensor_comprehensions as tc"),
                                           ("import tensor_comprehensions as tc", "")])
@pytest.mark.parametrize("threads", ["auto", "openmp"])
def test_a_child_of_a_process_that_ran_torch_alone(threads, before, after):
    """The parent's OpenMP threads are not there, whether the child imports tc or its parent did."""
    script = f"""
import os, torch
{before}
torch.set_num_threads(2)
large, a = torch.randn(1 << 20), torch.ones(300, 300)
large + large
child = os.fork()
if child == 0:  # torch's own parallel loops would wait for ever here
    {after}
    tc.set_num_threads(2)
    T = tc.define("def f(float(N,K) A) -> (B) {{ B(n,k) = A(n,k) * 2 }}")
    good = all(bool((T.f(a).numpy() == 2).all()) for _ in range(20))
    os._exit(0 if good and tc.get_threads() != "openmp" else 1)
print(os.waitpid(child, 0)[1])
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240,
                            env=dict(os.environ, TC_THREADS=threads, TC_VERIFY="0"))
    assert result.stdout.split() == ["0"], result.stderr
