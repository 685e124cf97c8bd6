"""Children forked while another thread of the parent is at any kind of work do the same work, and none hangs; a process ends
whatever its daemon threads are at.

    TC_FORKS=50 TC_ENDS=50 pytest test/python/threads/test_forks.py        # of each kind
"""

import itertools
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

import tensor_comprehensions as tc
from children import wait_for

FORKS = int(os.environ.get("TC_FORKS", "2"))
MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
CALLS = MM + "def two(float(M,K) A, float(K,K) B) -> (D) { C = mm(A, B)  D = mm(C, B) }"
COLUMN = "def f(float(N) X) -> (O) { O(i) = X(i) * 2 + 1 }"
A, B = np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)
LONG = np.ones(1 << 16, np.float32)
fresh = itertools.count(65)
FOLDER = tempfile.TemporaryDirectory(prefix="tc_test_forks.")


def many_calls():
    """A def of so many statements that it is written out only when someone asks for that."""
    calls = "\n".join(f"  T{i + 1} = mm(T{i}, B)" for i in range(20))
    return MM + f"def chain(float(M,K) T0, float(K,K) B) -> (T20) {{\n{calls}\n}}"


def of_mm(work):
    """`work` of a function that has been compiled."""
    T = tc.define(MM)
    kernel = tc.compile(T.mm, A, B)
    return lambda: work(T, kernel)


def of_cache(work):
    """`work` of a function that has been compiled and a cache, a new one each time."""
    return of_mm(lambda T, _: work(T, tc.cache.Cache(f"{FOLDER.name}/{os.getpid()}-{next(fresh)}")))


def measured(work):
    """`work` for a number of threads for which the machine's limits are not known yet."""
    tc.set_num_threads(1 + next(fresh) % 16)
    return work()


KINDS = {
    "define": lambda: lambda: tc.define(CALLS),
    "define many calls": lambda: lambda: tc.define(many_calls()),
    "compile": lambda: of_mm(lambda T, _: tc.compile(T.mm, tc.spec((next(fresh), 8)), tc.spec((8, 9)))),
    "compile parts": lambda: lambda: tc.compile(tc.define(CALLS).two, tc.spec((next(fresh), 8)), tc.spec((8, 8))),
    "write out calls": lambda: lambda: tc.compile(tc.define(many_calls()).chain, tc.spec((4, 4)), tc.spec((4, 4)),
                                                  partition="one", options="fusion=min"),
    "compile for a GPU": lambda: of_mm(lambda T, _: tc.compile(T.mm, tc.spec((next(fresh), 8)), tc.spec((8, 9)),
                                                               target="cuda:sm_90")),
    "run": lambda: of_mm(lambda T, kernel: kernel(A, B)),
    "call": lambda: of_mm(lambda T, kernel: T.mm(A, B)),
    "run on threads": lambda: (lambda T: lambda: T.f(LONG))(tc.define(COLUMN)),
    "profile": lambda: of_mm(lambda T, kernel: kernel.profile(A, B)),
    "roofline": lambda: of_mm(lambda T, kernel: measured(kernel.roofline)),
    "explain": lambda: of_mm(lambda T, kernel: measured(lambda: kernel.explain(measure=True))),
    "serialise": lambda: of_mm(lambda T, kernel: tc.load(kernel.serialise())(A, B)),
    "gradient": lambda: of_mm(lambda T, _: tc.grad(T.mm)),
    "derive": lambda: of_mm(lambda T, _: tc.derive(T.mm, tc.spec((8, 8)), tc.spec((8, 8)), depth=1)),
    "keep code": lambda: of_cache(lambda T, cache: tc.compile(T.mm, A, B, cache=cache)),
    "inject": lambda: of_cache(lambda T, cache: cache.inject(T.mm, A, B, options="tile=8x8")),
    "look up": lambda: of_cache(lambda T, cache: (cache.best(T.mm, A, B), cache.nearest(T.mm, A, B))),
    "verify": lambda: of_cache(lambda T, cache: cache.verify()),
    "threads": lambda: of_mm(lambda T, kernel: (tc.set_num_threads(1 + next(fresh) % 3), kernel(A, B))),
    "libraries": lambda: of_mm(lambda T, _: tc.compile(T.mm, A, B, libraries="auto")(A, B)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_children_do_what_their_parent_is_at(kind, monkeypatch):
    monkeypatch.setenv("TC_VERIFY", "0")
    threads = tc.get_num_threads()
    work = KINDS[kind]()
    work()
    ends, failed = threading.Event(), []

    def go_on():
        while not ends.is_set():
            try:
                work()
            except Exception as error:
                failed.append(error)
                return

    other = threading.Thread(target=go_on)
    other.start()
    try:
        for _ in range(FORKS):
            time.sleep(random.random() * 0.03)
            child = os.fork()
            if child == 0:
                try:
                    work()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert wait_for(child) == 0
    finally:
        ends.set()
        other.join()
        tc.set_num_threads(threads)
    assert not failed


WORK = {
    "compile": "tc.compile(T.f, tc.spec((next(fresh),)))",
    "run": "T.f(X)",
    "define": "tc.define(text)",
    "gradient": "tc.grad(T.f)",
    "profile": "kernel.profile(X)",
}
SCRIPT = """
import itertools, sys, threading, time
import numpy as np
import tensor_comprehensions as tc

text = "def f(float(N) X) -> (O) {{\\n" + "".join(
    f"T{{i}}(i) = {{'X' if i == 0 else f'T{{i - 1}}'}}(i) * {{i % 5}} + 1\\n" for i in range(40)) + "O(i) = T39(i)\\n}}"
T = tc.define(text)
X = np.ones(1 << 14, np.float32)
kernel = tc.compile(T.f, X) if {compiled} else None
fresh = itertools.count(64)


def go_on():
    while True:
        {work}


for _ in range(2):
    threading.Thread(target=go_on, daemon=True).start()
time.sleep({seconds})
"""
ENDS = int(os.environ.get("TC_ENDS", "2"))


@pytest.mark.parametrize("work", WORK)
def test_daemon_threads_do_not_disturb_the_end(work):
    for i in range(ENDS):
        script = SCRIPT.format(work=WORK[work], compiled=work in ("run", "profile"), seconds=0.05 + 0.9 * i / ENDS)
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
                             env=dict(os.environ, TC_VERIFY="0", TC_CACHE_MODE="off"))
        assert run.returncode == 0 and not run.stderr, (i, run.returncode, run.stderr[-2000:])
