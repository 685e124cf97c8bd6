"""Threads, forked children and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch

import tensor_comprehensions as tc
from texts import MM


def test_threads_run_one_function():
    T = tc.define("def f(float(N,K) A) -> (S) { t(n) +=! A(n,k) u(n) = t(n) * 2 S(n) = u(n) + t(n) }")
    wrong = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        a = torch.randint(-5, 5, (17, 33), generator=generator).float()
        for _ in range(100):
            if not torch.equal(T.f(a), 3 * a.sum(1)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


def test_threads_compile_at_once():
    T = tc.define(MM)
    results = {}

    def work(size):
        a, b = torch.ones(size, 40), torch.ones(40, size)
        results[size] = bool((T.mm(a, b) == 40).all())

    threads = [threading.Thread(target=work, args=(size,)) for size in (41, 42, 43, 41, 42, 43)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert results == {41: True, 42: True, 43: True}


def test_same_bits_for_any_number_of_threads():
    T = tc.define(MM + "def total(float(N) A) -> (s) { s +=! A(n) }")
    a, b, v, long = torch.randn(65, 129), torch.randn(129, 67), torch.randn(10001), torch.randn(5000003)
    before = tc.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, before):
            tc.set_num_threads(threads)
            assert tc.get_num_threads() == threads
            results.append((T.mm(a, b), T.total(v), T.total(long)))
        for others in results[1:]:
            assert all(torch.equal(other, first) for other, first in zip(others, results[0]))
        assert abs(results[0][2].item() - long.double().sum().item()) < 0.1
    finally:
        tc.set_num_threads(before)


def test_a_forked_child_works():
    T = tc.define(MM)
    a, b = torch.ones(64, 64), torch.ones(64, 64)
    T.mm(a, b)
    child = os.fork()
    if child == 0:
        good = bool((T.mm(a, b) == 64).all()) and bool((T.mm(a[:5], b) == 64).all())
        os._exit(0 if good else 1)
    for _ in range(600):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert status == 0


def test_ctrl_c_ends_a_compile():
    statements = "\n".join(f"  B{i}(x,y) +=! B{i - 1}(x+a,y+b) * K(a,b)" for i in range(1, 25))
    text = f"def deep(float(H,W) B0, float(KH,KW) K) -> (B24) {{\n{statements}\n}}"
    script = (f"import tensor_comprehensions as tc, os, signal, threading, time\n"
              f"T = tc.define({text!r})\n"
              "timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))\n"
              "start = time.time()\n"
              "timer.start()\n"
              "try:\n"
              "    tc.compile(T.deep, tc.spec((200, 200)), tc.spec((3, 3)))\n"
              "    print('finished')\n"
              "except KeyboardInterrupt:\n"
              "    print('interrupted', time.time() - start)\n"
              "F = tc.define('def f(float(N) A) -> (B) { B(i) = A(i) }')\n"
              "tc.compile(F.f, tc.spec((3,)))\n")
    environment = dict(os.environ, TC_VERIFY="0")
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("interrupted")
    assert float(result.stdout.split()[1]) < 30


@pytest.mark.parametrize("make", ["tc.grad(T.deep)", "tc.jvp(T.deep)", "tc.vmap(T.deep)",
                                  "tc.compile(T.deep, tc.spec((64, 64)), derive=9)",
                                  "tc.derive(T.deep, tc.spec((64, 64)), depth=9)"])
def test_ctrl_c_ends_what_is_made_of_a_def(make):
    statements = "\n".join(f"  S{i}(x) +=! B{i - 1}(x,y) * B{i - 1}(x,y)   B{i}(x,y) = tanh(B{i - 1}(x,y)) / (1 + S{i}(x))"
                           for i in range(1, 400 if "grad" in make or "jvp" in make or "vmap" in make else 60))
    text = f"def deep(float(H,W) B0) -> (B{statements.count('tanh')}) {{\n{statements}\n}}"
    script = (f"import tensor_comprehensions as tc, os, signal, threading, time\n"
              f"T = tc.define({text!r})\n"
              "ticks = []\n"
              "def tick():\n"
              "    while True:\n"
              "        ticks.append(time.time()); time.sleep(0.001)\n"
              "threading.Thread(target=tick, daemon=True).start()\n"
              "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
              "start = time.time()\n"
              "try:\n"
              f"    {make}\n"
              "    print('finished')\n"
              "except KeyboardInterrupt:\n"
              "    print('interrupted', time.time() - start, sum(t > start for t in ticks))\n")
    word, seconds, ticks = in_a_process(script).split()
    assert word == "interrupted" and float(seconds) < 10 and int(ticks) > 10


def in_a_process(script, timeout=240):
    """The last line that `script` prints in a process of its own, which must end by itself."""
    environment = dict(os.environ, TC_VERIFY="0")
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout,
                            env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1]


def test_want_of_memory_for_outputs_is_a_resource_error():
    script = """
import resource, torch, tensor_comprehensions as tc
T = tc.define("def outer(float(N) A) -> (B) { B(n,m) = A(n) * A(m) }")
long = torch.zeros(16000)
kernels = [(tc.compile(T.outer, x, cache=False), x) for x in (long, long.numpy())]
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (16 << 20), -1))
seen = []
for kernel, x in kernels:
    try:
        kernel(x)
        seen.append("done")
    except tc.ResourceError:
        seen.append("refused")
print(seen)
"""
    assert in_a_process(script) == "['refused', 'refused']"


def test_limits_are_numbers():
    T = tc.define(MM)
    specs = tc.spec((4, 5)), tc.spec((5, 6))
    tc.compile(T.mm, *specs, time_limit=float("inf"), memory_limit=float("inf"), cache=False)
    for limit in (-1, float("nan")):
        with pytest.raises(tc.OptionsError, match="limit"):
            tc.compile(T.mm, *specs, time_limit=limit, cache=False)
        with pytest.raises(tc.OptionsError, match="limit"):
            tc.compile(T.mm, *specs, memory_limit=limit, cache=False)
