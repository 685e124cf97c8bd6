"""What explain() says of a kernel's work: FLOPs, bytes, its place under the machine's limits."""

import numpy as np
import pytest

import tensor_comprehensions as tc

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
A, B = np.ones((60, 70), "f4"), np.ones((70, 80), "f4")
CPU = "cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m"


def mm(**options):
    return tc.compile(tc.define(MM).mm, A, B, target=CPU, **options)


def test_work_is_told_in_numbers():
    work = mm().work
    assert work["flops"] == 2 * 60 * 70 * 80 and work["exact"] and work["not_predicted"] is None
    assert work["operations"]["adds"] == work["operations"]["multiplies"] == 60 * 70 * 80
    assert list(work["bytes"]) == ["registers-L1", "L1-L2", "L2-L3", "L3-memory"]
    assert work["compulsory_bytes"] == {"read": (60 * 70 + 70 * 80) * 4, "written": 60 * 80 * 4}
    memory = work["bytes"]["L3-memory"]
    assert 1 <= memory["read"] / work["compulsory_bytes"]["read"] < 2.5
    assert work["intensity"] == pytest.approx(work["flops"] / (memory["read"] + memory["written"]))
    assert work["tensors"]["A"]["argument"] and work["tensors"]["A"]["unique"]["read"] == A.nbytes


def test_explain_has_a_section_of_work():
    text = mm().explain()
    work = text.split("## work\n")[1].split("##")[0]
    assert "FLOPs: 672000 (adds 336000, multiplies 336000)" in work and "L3-memory" in work
    assert "measured" not in work


@pytest.mark.parametrize("measured", [{"measure": True}, "tensors"])
def test_explain_measures_when_asked(measured):
    kernel = mm()
    text = kernel.explain(A, B) if measured == "tensors" else kernel.explain(**measured)
    for part in ["measured: ", "GFLOP/s", "memory: no limit, because all data (", "bound by: "]:
        assert part in text


def test_roofline_in_numbers():
    kernel = mm(options="parallel=0")
    position = kernel.roofline(A, B)
    assert position["gflops"] == pytest.approx(672000 / position["seconds"] / 1e9)
    assert position["threads"] == 1 and position["bound"] in ("arithmetic", "memory", "neither", "unknown")
    if position["peak_gflops"]:
        assert position["share_of_peak"] == pytest.approx(position["gflops"] / position["peak_gflops"])
    again = kernel.roofline()
    assert (again["peak_gflops"], again["peak_gbytes"]) == (position["peak_gflops"], position["peak_gbytes"])


def test_a_loaded_binary_tells_what_it_can():
    kernel = mm(options="tile=16x16")
    loaded = tc.load(kernel.serialise())
    assert loaded.work == kernel.work != mm(options="default").work
    assert "mapped anew" in loaded.explain() and "mapped anew" not in kernel.explain()
    assert "measured: " in loaded.explain(A, B)


def test_conditionals_give_a_bound():
    text = "def f(float(N) X, bool(N) P) -> (Y) { Y(i) = P(i) ? exp(X(i)) : X(i) }"
    kernel = tc.compile(tc.define(text).f, tc.spec((9,)), tc.spec((9,), "bool"))
    assert not kernel.work["exact"] and "FLOPs: at most 9 (functions 9)" in kernel.explain()


def test_a_wrong_tensor_is_an_error_of_arguments():
    with pytest.raises(tc.ArgumentError, match=r"input 'A' was compiled for float32\(60, 70\), float32\(70, 80\) was given"):
        mm().explain(B, A)
