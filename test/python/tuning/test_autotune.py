"""Tuning from Python, and the program tc_autotune, as their users see them."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import tensor_comprehensions as tc
from tensor_comprehensions.tuning import Candidate, Display, progress_line, seconds_left, seconds_text
from tensor_comprehensions.tuning_report import _even_numbers, _round_numbers, importance, levels, remark

TOOL = pathlib.Path(tc._core.__file__).resolve().parents[2] / "bin" / "tc_autotune"
MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
A = np.arange(24 * 20, dtype=np.float32).reshape(24, 20) % 7
B = np.arange(20 * 32, dtype=np.float32).reshape(20, 32) % 5
QUICK = dict(candidates=6, population=6, progress=False)


@pytest.fixture
def cache(tmp_path):
    return tc.cache.Cache(tmp_path / "cache")


def test_the_result_and_what_the_cache_has_of_it(cache, tmp_path):
    T = tc.define(MM, cache=cache)
    result = tc.autotune(T.mm, A, B, cache=cache, **QUICK)
    assert result.stop == "candidates" and result.kept and result.generations >= 1
    assert len(result.candidates) == 7 and str(result.candidates[0].options) == ""
    assert 0 < result.best.time <= result.default.time and result.speedup >= 1
    assert sum(result.counts().values()) == 7
    assert set(result.counts()) <= {"ok", "same", "slow"}
    np.testing.assert_array_equal(result.executable(A, B), A @ B)
    entry = cache.best(T.mm, A, B)
    assert entry.options == result.best.options and entry.measured.checked
    program = (
        "import sys, numpy as np, tensor_comprehensions as tc\n"
        f"T = tc.define({MM!r}); A = np.ones((24, 20), np.float32); B = np.ones((20, 32), np.float32)\n"
        "kernel = tc.compile(T.mm, A, B, options='tuned'); print(kernel.from_cache, kernel.options)\n"
        "assert (T.mm(A, B) == 20).all()"
    )
    environment = {**os.environ, "TC_CACHE_MODE": "rw", "TC_CACHE_DIR": cache.folder, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout == f"True {result.best.options}\n"


def test_nests_that_prices_propose_are_measured_and_kept(cache):
    T = tc.define(MM, cache=cache)
    result = tc.autotune(T.mm, A, B, cache=cache, search="price", candidates=8, progress=False)
    nests = [c for c in result.candidates if c.options.nest]
    assert len(nests) == 8 and {c.status for c in nests} <= {"ok", "same", "slow"}
    assert all(c.predicted > 0 for c in nests)
    # A def with other names has the same nests.
    other = tc.define(MM.replace("M", "Rows").replace("n", "column").replace("C", "Product"), cache=cache)
    for candidate in nests:
        kernel = tc.compile(other.mm, A, B, options=candidate.options, cache=False)
        assert kernel.options == candidate.options
        np.testing.assert_array_equal(kernel(A, B), A @ B)
    assert "column" in tc.compile(other.mm, A, B, options=nests[0].options, cache=False).nest


def test_what_is_shown(cache):
    T = tc.define(MM)
    seen = []
    result = tc.autotune(T.mm, tc.spec((24, 20)), tc.spec((20, 32)), cache=False, ranking="learned", **{**QUICK, "progress": seen.append})
    assert seen and {"generation", "best", "median", "failed", "elapsed"} <= set(seen[0])
    assert not result.kept
    text = str(result)
    assert text.startswith("mm: ") and "(default)" in text and "vs default" in text
    page = result._repr_html_()
    assert page.count("<tr") == len(result.finalists) + 1 and "<svg" in page and "best time so far" in page
    assert all(each.predicted > 0 and each.device == -1 for each in result.candidates)
    points = result.convergence()
    assert points[0][1] == result.candidates[0].time and points == sorted(points, key=lambda point: -point[1])


def test_plain_lines_where_there_is_no_terminal():
    stream = io.StringIO()
    display = Display(stream, every=0)
    progress = dict(generation=2, tried=30, usable=20, same=4, slow=5, failed=1, default=2e-3, best=1e-3, median=1.5e-3, elapsed=7.2, budget=60, candidates=0)
    display(progress)
    display(progress)
    display.close()
    line = "generation 2, 30 tried: best 1 ms (2.00x), median 1.5 ms; 4 same, 5 slow, 1 failed; 7 s, 53 s left\n"
    assert stream.getvalue() == 2 * line and progress_line(progress) + "\n" == line


@pytest.mark.parametrize(
    "limits, left",
    [(dict(budget=60, candidates=0), 50), (dict(budget=0, candidates=40), 30), (dict(budget=12, candidates=40), 2), (dict(budget=0, candidates=0), None)],
)
def test_the_time_that_is_left(limits, left):
    assert seconds_left(dict(elapsed=10, tried=10, **limits)) == left


def of_times(*pairs):
    return [Candidate(tc.MappingOptions(text), "ok", time, 0.0, "", 1, float(at)) for at, (text, time) in enumerate(pairs)]


def test_importance_tells_options_that_matter_from_others():
    tried = of_times(
        *[(f"tile={tile},pack={pack}", (1.0 if pack else 3.0) * (1 + 0.001 * tile)) for tile in (8, 16, 32) for pack in (0, 1)],
        *[(f"tile={tile}", 1.0 + 0.001 * tile) for tile in (8, 16, 32)],
    )
    shares = dict(importance(tried))
    assert shares["pack"] > 0.9 and shares["tile 1"] < 0.05
    assert levels("tile=8x0x9,pack=0,unroll=4,vector_along=n") == {
        "tile 1": "2^3", "tile 2": "0", "tile 3": "2^3", "pack": "0", "unroll": "2^2", "vector_along": "n",
    }  # fmt: skip
    assert importance(of_times(("", 1.0))) == [] and importance(of_times(("tile=8", 1.0), ("tile=9", 2.0)))[0][1] == 0


def test_pictures_are_well_formed(cache):
    result = tc.autotune(tc.define(MM).mm, A, B, cache=False, **QUICK)
    for picture in (result.convergence_svg(), result.importance_svg()):
        assert not picture or xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")


def test_axes_have_round_numbers():
    assert _even_numbers(18.5) == [0, 5, 10, 15] and _even_numbers(60) == [0, 10, 20, 30, 40, 50, 60] and len(_even_numbers(0.3)) >= 3
    assert [f"{each:.3g}" for each in _round_numbers(1.1e-4, 4e-4)] == ["0.00015", "0.0002", "0.0003"]
    assert len(_round_numbers(1.0e-4, 1.3e-4)) >= 2 and len(_round_numbers(1e-6, 1)) >= 3


def test_options_within_noise_are_explained():
    def measured(text, time):
        return types.SimpleNamespace(options=text, time=time)

    def result(*finalists):
        return types.SimpleNamespace(finalists=finalists, default=next(each for each in finalists if not each.options))

    assert remark(result(measured("", 1.0), measured("tile=8", 0.9))).endswith("beyond noise")
    assert remark(result(measured("tile=8", 0.9), measured("", 1.0), measured("tile=9", 1.1))) == ""


def test_what_calls_take_is_told(cache):
    T = tc.define(MM)
    cache.record(T.mm, A, B, options="tile=1x1", measured=tc.cache.Measurement.here(1.0))
    result = tc.autotune(T.mm, A, B, cache=cache, **QUICK)
    assert result.used == result.best.options == cache.best(T.mm, A, B).options and "calls take" not in str(result)
    assert tc.compile(T.mm, A, B, cache=cache, options="tuned").options == result.used
    cache.inject(T.mm, A, B, options="tile=2x2")
    result = tc.autotune(T.mm, A, B, cache=cache, **{**QUICK, "candidates": 1})
    assert str(result.used) == "tile=2x2"
    assert result.best.options == result.used or "calls take tile=2x2, which go before these in the cache" in str(result)
    result = tc.autotune(T.mm, A, B, cache=False, starts=["tile=2x2"], **{**QUICK, "candidates": 1})
    assert str(result.used) == ""


@pytest.mark.parametrize("seconds, text", [(2, "2 s"), (0.25, "250 ms"), (1.5e-3, "1.5 ms"), (3e-6, "3 us"), (4e-8, "40 ns")])
def test_times_as_text(seconds, text):
    assert seconds_text(seconds) == text


def test_ctrl_c_ends_with_the_best_so_far():
    T = tc.define(MM)
    seen = threading.Event()
    threading.Thread(target=lambda: (seen.wait(60), time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT))).start()
    result = tc.autotune(T.mm, A, B, budget=60, cache=False, progress=lambda progress: seen.set())
    assert result.stop == "interrupt" and result.elapsed < 30 and result.best.time > 0


def test_ctrl_c_that_strikes_the_display_ends_with_the_best_so_far_too():
    def show(progress):
        raise KeyboardInterrupt

    result = tc.autotune(tc.define(MM).mm, A, B, budget=60, cache=False, progress=show)
    assert result.stop == "interrupt" and result.elapsed < 30 and result.best.time > 0


def test_other_errors_of_the_display_are_the_callers():
    def show(progress):
        raise ValueError("no more paper")

    with pytest.raises(ValueError, match="no more paper"):
        tc.autotune(tc.define(MM).mm, A, B, budget=60, cache=False, progress=show)


def test_ctrl_c_before_there_is_a_result_is_a_keyboard_interrupt():
    T = tc.define(MM)
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt, match="before the default options"):
        tc.autotune(T.mm, tc.spec((512, 512)), tc.spec((512, 512)), cache=False, progress=False, budget=60)


def processes_below(parent):
    """The processes that `parent` started, and those they started."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    below = {parent}
    for _ in range(4):
        below |= {process for process, above in parents.items() if above in below}
    return below - {parent}


def runs(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_tuning_that_is_killed_leaves_no_processes():
    program = (
        "import tensor_comprehensions as tc\n"
        f"T = tc.define({MM!r})\n"
        "show = lambda progress: print(progress['tried'], flush=True)\n"
        "tc.autotune(T.mm, tc.spec((24, 20)), tc.spec((20, 32)), budget=60, cache=False, progress=show)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    tuning = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
    tuning.stdout.readline()
    workers = processes_below(tuning.pid)
    assert workers
    tuning.kill()
    tuning.communicate()
    end = time.monotonic() + 5
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(runs, workers))


def test_an_exception_of_the_progress_function_ends_it():
    T = tc.define(MM)

    def fail(progress):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        tc.autotune(T.mm, A, B, budget=60, cache=False, progress=fail)


def test_starts_seeds_and_checkpoints(tmp_path):
    T = tc.define(MM)
    tried = lambda **how: [str(c.options) for c in tc.autotune(T.mm, A, B, cache=False, **{**QUICK, **how}).candidates]
    first = tried(starts=["tile=9x9"], seed=3, checkpoint=tmp_path / "point")
    assert first[:2] == ["", "tile=9x9"]
    assert tried(starts=["tile=9x9"], seed=3) == first != tried(seed=4, search="random")
    assert tried(starts=["tile=9x9"], seed=3, checkpoint=tmp_path / "point", candidates=9)[:7] == first


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(effort="much"), "there are quick and full"),
        (dict(search="annealing"), "there is no search 'annealing'\nhelp: there are price, genetic, random and ppo"),
        (dict(ranking="magic"), "there are none, model and learned"),
        (dict(starts=["tile=-1"]), "tile"),
    ],
)
def test_what_is_not_understood(how, message):
    with pytest.raises(tc.OptionsError, match=message):
        tc.autotune(tc.define(MM).mm, A, B, cache=False, progress=False, **how)


def test_a_gpu_that_is_missing_is_said():
    program = (
        "import tensor_comprehensions as tc\n"
        f"T = tc.define({MM!r})\n"
        "tc.autotune(T.mm, tc.spec((24, 20)), tc.spec((20, 32)), budget=9, cache=False, target='cuda:sm_90')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TC_CUDA_DRIVER": "/nonexistent/libcuda.so"}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "DeviceError: no CUDA driver was found" in other.stderr


def tool(*words, code=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TC_CACHE")}
    result = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, env=environment)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stderr if code else result.stdout


def test_a_full_disk_costs_the_log_only(tmp_path):
    source = tmp_path / "mm.tc"
    source.write_text(MM)
    words = [TOOL, source, "--sizes=M=8,K=8,N=8", "--candidates=3", "--quiet", f"--cache={tmp_path / 'cache'}", "--log=/dev/full"]
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("mm M=8,K=8,N=8: ")
    assert result.stderr == "tc_autotune: --log: '/dev/full' cannot be written any more\n"


@pytest.mark.parametrize("limits", [dict(budget=-1), dict(budget=float("nan")), dict(budget=0), dict(budget=0, candidates=0), dict(candidates=-5)])
def test_limits_that_mean_nothing(limits):
    with pytest.raises(tc.OptionsError, match="means nothing|needs a budget|number from 0 on"):
        tc.autotune(tc.define(MM).mm, A, B, cache=False, progress=False, **limits)


def test_the_program(cache, tmp_path):
    source, log = tmp_path / "mm.tc", tmp_path / "log.json"
    source.write_text(MM)
    sizes = "M=24,K=20,N=32"
    flags = ["--candidates=5", "--population=5", "--quiet", f"--cache={cache.folder}", f"--log={log}"]
    lines = tool(source, f"--sizes={sizes};M=8,K=8,N=8", *flags).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"mm {sizes}", "mm M=8,K=8,N=8"]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(entries) == 14 and entries[0]["status"] == "ok" and entries[6]["kept"]
    assert {(entry["def"], entry["sizes"]) for entry in entries[:7]} == {("mm", sizes)}
    T = tc.define(MM, cache=cache)
    assert str(tc.compile(T.mm, A, B, cache=cache, options="tuned").options) == entries[6]["best"]


def test_each_list_of_sizes_has_a_checkpoint(tmp_path):
    source = tmp_path / "mm.tc"
    source.write_text(MM)
    flags = ["--sizes=M=8,K=8,N=8;M=4,K=4,N=4", "--candidates=3", "--quiet", f"--cache={tmp_path / 'cache'}", f"--checkpoint={tmp_path / 'point'}"]
    tool(source, *flags)
    assert {each.name for each in tmp_path.glob("point*")} == {"point.1", "point.2"}


def test_a_list_of_sizes_from_a_file(tmp_path):
    source, shapes = tmp_path / "mm.tc", tmp_path / "shapes.txt"
    source.write_text(MM)
    shapes.write_text("M=8,K=8,N=8\nM=4,K=4,N=4\n")
    lines = tool(source, f"--sizes=@{shapes}", "--candidates=1", "--quiet", f"--cache={tmp_path / 'cache'}").splitlines()
    assert [line.split(": ")[0] for line in lines] == ["mm M=8,K=8,N=8", "mm M=4,K=4,N=4"]
    assert "cannot be read" in tool(source, "--sizes=@nothing", code=2)


def test_help_says_all_and_mistakes_are_told(tmp_path):
    text = tool("--help")
    for flag in "def sizes target devices budget candidates search method ranking seed population threads start cache checkpoint log quiet".split():
        assert f"  --{flag}" in text
    source = tmp_path / "mm.tc"
    source.write_text(MM + "\n" + MM.replace("mm", "other"))
    assert "one file" in tool(code=2)
    assert "cannot be read" in tool("nothing.tc", code=2)
    assert "there are mm, other" in tool(source, code=2)
    assert "no value for 'N'" in tool(source, "--def=mm", "--sizes=M=1,K=1", code=2)
    assert "gives a value for 'Q'" in tool(source, "--def=mm", "--sizes=M=1,K=1,N=1,Q=1", code=2)
    assert "must be a name" in tool(source, "--def=mm", "--sizes=M=x", code=2)
