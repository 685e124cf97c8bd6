"""Evidence that comes with kernels: Executable.proof, tc_proof and tc_cache verify."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import tensor_comprehensions as tc

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
TOOLS = pathlib.Path(tc._core.__file__).resolve().parents[2] / "bin"


def product(**how):
    return tc.compile(tc.define(MM).mm, tc.spec((40, 30)), tc.spec((30, 50)), **how)


def test_a_product_is_proved():
    proof = product(cache=False).proof
    assert proof and str(proof) == proof.outcome == "proved"
    assert not (proof.law or proof.statement or proof.reason) and proof.milliseconds > 0
    for part in ("C(m, n) +=! A(m, k) * B(k, n)", "size M = 40", "S1 of S1", 'mark: "vector"'):
        assert part in proof.text
    assert len(proof.evidence) == 1


def test_a_loaded_kernel_is_proved():
    assert tc.load(product(cache=False).serialise()).proof


def test_programs_beyond_the_checker_are_not_decided():
    gather = tc.compile(tc.define("def f(float(N) T, int32(M) I) -> (O) { O(m) = T(I(m)) }").f, tc.spec((9,)), tc.spec((5,), "int32"), cache=False)
    assert not gather.proof and gather.proof.outcome == "not decided" and gather.proof.law == "text"
    assert str(gather.proof).startswith("not decided, law 'text': ")


def test_parts_of_a_graph_are_proved_one_by_one():
    text = "def one(float(N) X) -> (Y) { Y(i) = X(i) + 1 } def two(float(N) X) -> (Z) { A = one(X)  B = one(A)  Z(i) = A(i) * B(i) }"
    graph = tc.compile(tc.define(text).two, tc.spec((100,)), partition="each", cache=False)
    assert graph.proof.outcome == "not decided" and graph.proof.law == "graph" and "2 of 2 different parts are proved" in graph.proof.reason


@pytest.mark.skipif(not (TOOLS / "tc_proof").exists(), reason="the tools are not built")
def test_commands_check_files_and_caches(tmp_path):
    def run(*words):
        return subprocess.run(words, capture_output=True, text=True, env=os.environ | {"TC_CACHE_DIR": str(tmp_path / "cache")})

    kernel = product(cache=tc.cache.Cache(str(tmp_path / "cache")))
    (tmp_path / "kernel").write_bytes(kernel.serialise())
    (tmp_path / "evidence").write_bytes(kernel.proof.evidence[0])
    done = run(TOOLS / "tc_proof", tmp_path / "kernel", tmp_path / "evidence", "--show")
    assert done.returncode == 0 and done.stdout.count(": proved") == 2 and "S1 of S1" in done.stdout
    (tmp_path / "evidence").write_bytes(kernel.proof.evidence[0].replace(b"-> acc_C[m, n]", b"-> acc_C[n, m]", 1))
    done = run(TOOLS / "tc_proof", tmp_path / "evidence")
    assert done.returncode == 1 and "refused: law '" in done.stdout
    done = run(TOOLS / "tc_cache", "verify")
    assert done.returncode == 0 and not done.stdout
