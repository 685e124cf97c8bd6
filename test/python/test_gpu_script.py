"""The script for machines with a GPU (benchmarks/gpu.sh), as far as it runs without one: through a driver that runs nothing."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
import types

import pytest

import tensor_comprehensions as tc

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from gpu_suite import bench, build_binding, gpu_cases, kernels, layout, make_bundle, report, sections, timing  # noqa: E402
from suite.case import full, tiny  # noqa: E402

NVRTC = list(pathlib.Path(sys.prefix).rglob("libnvrtc.so*"))
needs_nvrtc = pytest.mark.skipif(not NVRTC, reason="NVRTC is not installed")


def test_nvrtc_is_there():
    """Without it the tests of machine code for GPUs are skipped, and a run of all tests would say nothing about it."""
    assert NVRTC, "make setup installs NVRTC into .venv"


def plan(folder, seconds=90):
    return sections.Plan(layout.of_tree(ROOT), folder, True, time.monotonic() + seconds)


def section(text, **more):
    return sections.Section("test", 90, lambda plan: sections.python("-c", text), **more)


def cases(names, exiting="", aborting=""):
    """A section that tries the cases called `names`, some of which end its process."""
    return section(f"""
import os, pathlib
from gpu_suite.results import Results
results = Results(pathlib.Path('test.json'))
for name in {names!r}:
    if results.tried(name): continue
    results.begin(name)
    if name in {exiting!r}: os._exit(1)
    if name in {aborting!r}: os.abort()
    results.end({{'case': name, 'status': 'ok'}})
""", continues=True)


@pytest.mark.parametrize("text, status, shown", [
    ("print('fine')", "ok", "fine"),
    ("print('bad'); raise SystemExit(1)", "failed", "bad"),
    ("import os; print('dead', flush=True); os.abort()", "failed", "dead"),
])
def test_outcomes(tmp_path, text, status, shown):
    outcome = sections.run(section(text), plan(tmp_path))
    assert outcome.status == status and shown in outcome.text


def test_a_section_without_end_is_ended_with_what_it_started(tmp_path):
    text = "import subprocess, time; subprocess.Popen(['sleep', '77.125']); print('started', flush=True); time.sleep(77)"
    start = time.monotonic()
    outcome = sections.run(section(text), plan(tmp_path, 6))
    assert outcome.status == "timed out" and "started" in outcome.text and time.monotonic() - start < 15
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "sleep 77.125" not in left.splitlines()


def test_without_time_a_section_is_skipped(tmp_path):
    assert sections.run(section("print(1)"), plan(tmp_path, 1)).status == "skipped"


def test_a_benchmark_continues_behind_the_case_it_died_of(tmp_path):
    outcome = sections.run(cases("abcd", exiting="b", aborting="c"), plan(tmp_path))
    rows = json.loads((tmp_path / "test.json").read_text())["rows"]
    assert [(row["case"], row["status"][:4]) for row in rows] == [("a", "ok"), ("b", "died"), ("c", "died"), ("d", "ok")]
    assert outcome.status == "failed"


def test_a_section_in_which_every_case_died_says_so_first(tmp_path):
    outcome = sections.run(cases("ab", exiting="ab"), plan(tmp_path))
    assert outcome.text.startswith("EVERY CASE DIED: 2 of 2") and outcome.status == "failed"
    rows = json.loads((tmp_path / "test.json").read_text())["rows"]
    content = {"conv": {"rows": rows}, "sections": {"conv": {"text": outcome.text}}}
    assert report.family_text(content, "conv").splitlines()[2].startswith("EVERY CASE DIED")


def test_a_benchmark_that_does_not_begin_is_not_tried_again(tmp_path):
    text = "import pathlib; p = pathlib.Path('count'); p.write_text(p.read_text() + 'x' if p.exists() else 'x'); raise SystemExit(1)"
    assert sections.run(section(text, continues=True), plan(tmp_path)).status == "failed"
    assert (tmp_path / "count").read_text() == "x"


def test_tests_go_on_behind_one_that_ends_the_process(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_some.py").write_text("""
import os, pytest
def test_a(): pass
def test_b(): os._exit(3)
def test_c(): assert 1 == 2
def test_d(): pytest.skip("not here")
""")
    part = sections.Section("python", 90, lambda plan: sections.python("-m", "gpu_suite.python_tests", str(tmp_path / "tests"), str(tmp_path / "python.json")),
                            continues=True)
    outcome = sections.run(part, plan(tmp_path))
    rows = json.loads((tmp_path / "python.json").read_text())["rows"]
    assert [row["status"].split(":")[0] for row in rows] == ["ok", "died", "failed", "skipped"], outcome.text
    assert outcome.status == "failed"
    assert "4 tests, 1 right, 1 skipped" in report.python_text({"python": {"rows": rows}})


def test_lines_of_tc_check_kernels():
    lines = ["ok 0 run 0, options ''", "WRONG 1 run 0, options 'x': C[1] is 2", "and more", "FAULT 2 run 1: lost"]
    assert [(c["status"], c["case"]) for c in kernels.cases_of(lines)] == [("ok", 0), ("WRONG", 1), ("FAULT", 2)]
    assert kernels.cases_of(lines)[1]["text"].endswith("and more")


def test_programs_go_on_behind_a_fault(tmp_path):
    program = tmp_path / "program"
    program.write_text("""#!/bin/sh
case "$2" in
  --from=0) echo "ok 0 run"; echo "FAULT 1 run"; exit 3 ;;
  --from=2) echo "ok 2 run"; kill -SEGV $$ ;;
  *) echo "ok 4 run"; exit 0 ;;
esac
""")
    program.chmod(0o755)
    entry = kernels.check_file(str(program), pathlib.Path("f.tc"), [])
    assert [(c["status"], c["case"]) for c in entry["cases"]] == [("ok", 0), ("FAULT", 1), ("ok", 2), ("DIED", 3), ("ok", 4)]
    assert entry["failed"]


def test_cases_have_names_of_their_own_and_texts_that_compile():
    names = []
    for family in gpu_cases.FAMILIES.values():
        for case, small in zip(family(full), family(tiny)):
            assert case.name == small.name
            names.append(case.name)
            assert tc.define(case.text)[case.entry].name == case.entry
    assert len(set(names)) == len(names) > 40


@needs_nvrtc
@pytest.mark.parametrize("name", ["memory/transpose-8192", "paper/mlp3-128x128-64-32-2", "conv/stencil-5x5-2048", "gemm/f16-tn-1024",
                                  "libraries/fp32-linear-gelu-4096x3072x768", "attention/bf16-128x512x512x64"])
def test_a_rehearsal(name):
    family = gpu_cases.FAMILIES[name.partition("/")[0]]
    case, small = next(pair for pair in zip(family(full), family(tiny)) if pair[0].name == name)
    row = bench.rehearse(case, small)
    assert row["status"] == "ok" and row["kernels"][0]["registers"] > 0


class Event:
    """A CUDA event on the clock of the host."""

    def __init__(self, enable_timing=False):
        self.time = None

    def record(self):
        self.time = time.perf_counter()

    def elapsed_time(self, other):
        return (other.time - self.time) * 1e3

    def synchronize(self):
        pass


@pytest.fixture
def host_in_place_of_the_gpu(monkeypatch):
    monkeypatch.setattr(timing, "DEVICE", "cpu")
    monkeypatch.setattr(timing, "FLUSH_BYTES", 1 << 20)
    monkeypatch.setattr(timing.torch.cuda, "Event", Event)
    monkeypatch.setattr(timing.torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(timing.torch.cuda, "CUDAGraph", lambda: types.SimpleNamespace(replay=lambda: None))
    monkeypatch.setattr(timing.torch.cuda, "graph", lambda graph: contextlib.nullcontext())


@pytest.mark.parametrize("name", ["memory/copy-64M", "paper/mlp3-128x128-64-32-2", "paper/2lut-1e6"])
def test_a_case_is_measured_beside_its_peers(host_in_place_of_the_gpu, name):
    case = next(case for case in gpu_cases.FAMILIES[name.partition("/")[0]](tiny) if case.name == name)
    row = bench.measure(case, 0.5, timing.Cold())
    assert row["status"] == "ok" and {"", "eager"} <= set(row["cold"]) and {"", "eager"} <= set(row["warm"]), row
    assert row["cold"][""]["median"] > 0 and "compile" not in row["cold"]
    rate = timing.copy_rate(1 << 12)
    assert len(report.bench_row(row, rate)) == 12


def test_a_wrong_result_is_a_wrong_row(host_in_place_of_the_gpu):
    case = next(case for case in gpu_cases.FAMILIES["memory"](tiny) if case.name == "memory/copy-64M")
    wrong = type(case)(**{**case.__dict__, "text": case.text.replace("X(i)", "X(i) + 0.001")})
    row = bench.measure(wrong, 0.5, timing.Cold())
    assert row["status"] == "wrong" and row["error"] > 1


def spread(median):
    return {"median": median, "low": 0.9 * median, "high": 1.1 * median, "samples": 9}


def content_of_a_run():
    row = {"case": "sgemm/nn-4096", "status": "ok", "cold": {"": spread(3e-3), "eager": spread(2.7e-3), "compile": spread(2.8e-3)},
           "bytes": 2e8, "flops": 1.37e11, "kernels": []}
    copy = {"case": "memory/copy-64M", "status": "ok", "cold": {"": spread(1.3e-4), "eager": spread(1.25e-4)}, "bytes": 5.4e8, "flops": 0,
            "kernels": [], "lines": ["triton failed: no"]}
    small = {"case": "paper/tmm-128x32x256", "status": "ok", "cold": {"": spread(5e-6), "eager": spread(9e-6)}, "bytes": 1e6, "flops": 2e6,
             "warm": {"": spread(2e-6), "eager": spread(4e-6)}, "kernels": []}
    product = {**row, "case": "gemm/bf16-nt-4096", "cold": {"": spread(2e-4), "eager": spread(1.7e-4)}}
    odd = {**row, "case": "odd/bf16-nn-1000x3000x700", "cold": {"": spread(1.3e-4), "eager": spread(1.1e-4)}}
    whole = {**odd, "case": "odd/bf16-nn-1000x3000x700-whole", "cold": {"": spread(1e-4), "eager": spread(1e-4)}}
    lookup = {**copy, "case": "paper/2lut-1e6", "cold": {"": spread(1e-5), "eager": spread(1.6e-5)}}
    died = {"case": "conv/x", "status": "died: see the log"}
    rate = {"copy_bytes_per_second": [4.2e12]}
    return {
        "dry_run": False, "bundle": {}, "machine": {"gpu": {"name": "A GPU"}}, "limits": {"ffma_flops": 6e13}, "kernels": [
            {"file": "f.tc", "failed": True, "error": "", "cases": [{"status": "WRONG", "case": 0, "text": "0 run 0: C[3]"}]}],
        "units": [{"case": "bf16-nn-4096 tile", "status": "ok", "seconds": 2e-4, "operations": 1.2e11}, {"case": "x", "status": "failed"}],
        "sections": {"prelude": {"status": "failed", "seconds": 3, "text": "WRONG tc_div"}},
        "overhead": {"rows": [{"case": "T.mm(A, B)", "status": "ok", "host": spread(7e-6)}]},
        "sgemm": {"rows": [row], **rate}, "memory": {"rows": [copy], **rate}, "paper": {"rows": [small, lookup], **rate}, "conv": {"rows": [died], **rate},
        "gemm": {"rows": [product], **rate}, "odd": {"rows": [odd, whole], **rate}, "libraries": {"rows": []}, "attention": {"rows": []},
    }


def test_the_report_judges_the_aims():
    text = report.markdown(content_of_a_run())
    for line in ("| fp32 products, eager / ours, worst (sgemm/nn-4096) | 0.9 | 1 | missed |",
                 "| bf16 products from 2048 on, eager / ours, worst (gemm/bf16-nt-4096) | 0.85 | 0.55 | met |",
                 "| f16 products from 2048 on, eager / ours, worst | not measured | 0.55 | - |",
                 "| odd sizes, worst, time over that of the next whole size | 1.3 | at most 1.2 | missed |",
                 "| odd/bf16-nn-1000x3000x700 | 130.0 | 100.0 | 1.30 | 1.10 |",
                 "| the paper's kernels, torch / ours, worst (paper/2lut-1e6) | 1.6 | 1 | met |", "| 2LUT | 10 us | at most 12 us | met |",
                 "| bf16-nn-4096 tile | ok | 200.0 | 600.0 |", "| x | failed | - | - |", "| call from Python | 7 us | at most 4 us | missed |", "FFMA peak 60.0 TFLOP/s", "triton failed: no", "f.tc: WRONG 0 run 0",
                 "| conv/x | died: see the log |", "WRONG tc_div"):
        assert line in text, line + "\n" + text


def test_the_bundle_holds_the_whole_package():
    packed = {str(file.relative_to(ROOT)) for file in make_bundle.sources()}
    package = (ROOT / "python/tensor_comprehensions").rglob("*.py*")
    assert {str(file.relative_to(ROOT)) for file in package if "__pycache__" not in file.parts} <= packed
    assert "python/tensor_comprehensions/torch/builder.py" in packed


def test_the_extension_uses_the_standard_library_of_the_process(tmp_path, monkeypatch):
    source = tmp_path / "a.cpp"
    source.write_text("#include <iostream>\nvoid f() { std::cout << 1; }\n")
    monkeypatch.setenv("CXX", "g++ -static-libstdc++")
    subprocess.run(["g++", "-fPIC", "-c", str(source), "-o", str(tmp_path / "a.o")], check=True)
    build_binding.link(tmp_path, [tmp_path / "a.o"], tmp_path / "a.so")
    assert "libstdc++.so.6" in build_binding.needed_by(tmp_path / "a.so")
    monkeypatch.setattr(build_binding, "shared_standard_library", lambda: [])
    with pytest.raises(SystemExit, match="of its own"):
        build_binding.link(tmp_path, [tmp_path / "a.o"], tmp_path / "b.so")


def test_stand_ins_have_the_symbols_and_versions(tmp_path):
    library = make_bundle.make_stand_in("libxml2.so.2", [("xmlFree", "LIBXML2_2.4.30", "OBJECT"), ("xmlDoc", "LIBXML2_2.6.0", "FUNC")], tmp_path)
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", str(library)], capture_output=True, text=True).stdout
    assert "xmlFree@@LIBXML2_2.4.30" in symbols and "xmlDoc@@LIBXML2_2.6.0" in symbols


@needs_nvrtc
@pytest.mark.parametrize("sections", ["prelude,runtime,overhead", pytest.param("prelude,runtime,limits,units,overhead", marks=pytest.mark.long)])
def test_the_script_runs_in_this_tree(sections, tmp_path):
    done = subprocess.run(["sh", str(ROOT / "benchmarks/gpu.sh"), "--dry-run", "--out", str(tmp_path), "--only", sections],
                          capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((tmp_path / "report.json").read_text())
    assert {name: entry["status"] for name, entry in content["sections"].items()} == dict.fromkeys([*sections.split(","), "binding"], "ok")
    assert "A dry run" in (tmp_path / "report.md").read_text() and "all right" in (tmp_path / "logs.txt").read_text()
