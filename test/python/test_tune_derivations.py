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


def test_what_was_measured_travels_and_is_proved_again(tmp_path):
    function = tc.define(CHAIN).f
    cache, other = tc.cache.Cache(str(tmp_path / "a")), tc.cache.Cache(str(tmp_path / "b"))
    specs = [tc.spec(shape) for shape in SHAPES]
    tuning = tc.tune_derivations(function, *specs, depth=3, candidates=4, budget=0, cache=cache)
    assert tuning[0].kept and cache.stat()["derivations"]["files"] == len(tuning) and cache.verify() == []
    assert cache.export(tmp_path / "file") == len(tuning) and other.import_(tmp_path / "file")["taken"] == len(tuning)
    (node,) = tc.compile(function, *specs, derive=1, cache=other).stats["derived"]
    assert node["source"] == "measured" and node["text"] == tuning[0].best.text
    tool = [str(TOOL.with_name("tc_cache")), f"--dir={tmp_path / 'b'}"]
    listed = subprocess.run([*tool, "ls"], capture_output=True, text=True).stdout
    assert "prices of derived programs" in listed and "derived: " in listed
    shown = subprocess.run([*tool, "show", listed.split("prices of derived programs\n")[1].split()[0]], capture_output=True, text=True).stdout
    assert "kind          derivation" in shown and "step reassociate" in shown, shown
    assert subprocess.run([*tool, "verify"], capture_output=True, text=True).returncode == 0
    assert f"derivations   {len(tuning)} files" in subprocess.run([*tool, "stat"], capture_output=True, text=True).stdout


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
