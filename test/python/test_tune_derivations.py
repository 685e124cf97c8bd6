"""tc.tune_derivations: what rules derive is measured, and compiles take the fastest."""

import pathlib
import subprocess

import numpy as np
import pytest

import tensor_comprehensions as tc

TOOL = pathlib.Path(tc._core.__file__).resolve().parents[2] / "bin" / "tc_autotune"
CHAIN = "def f(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }"
SHAPES = ((96, 96), (96, 96), (96,))


def test_what_was_measured_is_taken(tmp_path):
    function = tc.define(CHAIN).f
    cache = tc.cache.Cache(str(tmp_path))
    random = np.random.default_rng(1)
    tensors = [random.integers(-2, 3, shape).astype("float32") for shape in SHAPES]
    tuning = tc.tune_derivations(function, *tensors, depth=3, candidates=4, budget=0, cache=cache)
    part = tuning[0]
    assert part.kept and part.best.certificate and part.speedup > 1 and tuning.stop == "space", str(tuning)
    assert all(program.status in ("ok", "same", "slow") for program in part.programs), part
    derived = tc.compile(function, *tensors, derive=1, cache=cache)
    (node,) = derived.stats["derived"]
    assert node["source"] == "measured" and node["text"] == part.best.text and "(measured)" in derived.explain()
    np.testing.assert_array_equal(derived(*tensors), tc.compile(function, *tensors, cache=False)(*tensors))
    costs = [candidate.cost for candidate in tc.derive(function, *tensors, depth=3, cache=cache)]
    assert costs[0].source == "measured" and costs[0].microseconds == pytest.approx(node["after_us"], rel=1e-4)


def test_mistakes_are_told():
    function = tc.define(CHAIN).f
    specs = [tc.spec(shape) for shape in SHAPES]
    with pytest.raises(tc.ArgumentError, match="a def of a text, str was given"):
        tc.tune_derivations(CHAIN)
    with pytest.raises(tc.OptionsError, match="derives nothing that could be measured"):
        tc.tune_derivations(function, *specs, depth=0, cache=False)
    with pytest.raises(tc.ArgumentError, match="takes no 'w'"):
        tc.tune_derivations(function, *specs, constants=["w"], cache=False)


def test_the_program_measures_them_too(tmp_path):
    (tmp_path / "f.tc").write_text(CHAIN)
    command = [str(TOOL), str(tmp_path / "f.tc"), "--sizes=M=96,K=96,L=96", "--derive=3", "--candidates=4", f"--cache={tmp_path}/cache"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0 and "reassociate" in told.stdout, told
    assert "not kept" not in told.stdout and (tmp_path / "cache" / "derivations").is_dir()
