"""benchmarks/tune.py: what is run, what is kept, what is told."""

import json
import pathlib
import sys
import types

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

import tensor_comprehensions as tc  # noqa: E402
from suite import nearest, tuning, tuning_report  # noqa: E402


def time_of(median):
    return {"median": median, "low": median * 0.98, "high": median * 1.02, "samples": 9}


def fake(case, job, connection):
    """A tuning whose numbers follow from the job."""
    speedup = (2.0 if job.method == "genetic" else 1.5) + job.seed
    row = {
        "case": case.name, "status": "ok", "speedup": speedup, "options": "tile=8", "candidates": 5,
        "counts": {"ok": 5}, "generations": 1, "elapsed": 1.0, "seconds_to_95_percent": 3.0,
        "convergence": [[1.0, 4e-3], [2.0, 1.02e-3 if job.ranking == "learned" else 3e-3], [5.0, 1e-3 if job.ranking == "learned" else 2e-3]],
    }  # fmt: skip
    if job.part == tuning.GAINS:
        row.update(tuned=time_of(1e-3), constructed=time_of(1.25e-3), default=time_of(2e-3), torch=time_of(4e-3))
    if job.part == tuning.PRICES:
        row.update(default=time_of(3e-3), price=time_of(1.5e-3), genetic=time_of(2e-3), price_elapsed=8.0, genetic_elapsed=60.0)
        row.update(price_candidates=16, genetic_candidates=200)
    connection.send([row])


def run(path, *words, work=fake):
    return tuning.run(tuning.parser().parse_args([*words, "--result", str(path)]), work)


def test_there_are_eight_cases():
    assert [case.name for case in tuning.chosen(tuning.CASES)] == list(tuning.CASES)


def test_everything_is_run_once_and_the_page_sums_it_up(tmp_path):
    path = tmp_path / "result.json"
    result = run(path)
    assert len(result["rows"]) == 8 + 8 * 3 * 2
    page = path.with_suffix(".md").read_text()
    assert "Geometric means: 2.000 times the default's speed, 4.00 times torch's" in page
    assert "Constructed: 0.800 of the tuned speed in the geometric mean, at least 0.80, below 0.8 in 0 of 8 cases" in page
    assert "Of 8 cases by the fastest candidate genetic search wins 0, 8 are draws (within 1%), random search wins 0" in page
    assert "after the finals genetic search wins 8, 0 are draws (within 1%), random search wins 0" in page
    assert "| matmul/nn-1024 | 2.000 | 2.000 | draw | 3.000 | 2.500 | genetic | 3 |" in page
    assert "beyond noise: none" in page
    run(path, work=lambda *_: pytest.fail("nothing is run twice"))
    assert json.loads(path.read_text()) == result


def test_rankings_are_compared_by_the_time_to_what_the_best_found(tmp_path):
    path = tmp_path / "result.json"
    run(path, "--part", "rankings", "--seeds", "1", "--cases", "matmul/nn-1024")
    page = path.with_suffix(".md").read_text()
    assert "| matmul/nn-1024 | 0 | 2.00 | never | 2.00 | never | 2.00 | 2 s |" in page


def test_nests_by_price_are_compared_with_options_by_genes(tmp_path):
    path = tmp_path / "result.json"
    run(path, "--part", "prices", "--cases", "matmul/nn-1024")
    page = path.with_suffix(".md").read_text()
    assert "| matmul/nn-1024 | 3 ± 2% | 1.5 ± 2% | 2 ± 2% | 2.00 | 1.33 | 16 | 200 | 8 | 60 |" in page
    assert "2.000 times the default's speed, and 1.333 times the speed that genes find" in page


def test_a_run_goes_on_where_it_failed(tmp_path):
    path = tmp_path / "result.json"
    words = ["--part", "gains", "--cases", "norms/layer-norm-4096x4096", "--cases", "matmul/nn-1024"]

    def fail(case, job, connection):
        fake(case, job, connection) if case.name.startswith("norms") else connection.close()

    first = run(path, *words, work=fail)
    assert [row["status"] for row in first["rows"]] == ["ok", "failed: the process ended with code 0"]
    assert "* matmul/nn-1024: failed" in path.with_suffix(".md").read_text()
    assert [row["status"] for row in run(path, *words)["rows"]] == ["ok", "ok"]


def test_slower_means_beyond_the_quartiles():
    row = {"tuned": time_of(1.03), "default": time_of(1.0)}
    assert not tuning_report.slower_beyond_noise(row)
    assert tuning_report.slower_beyond_noise({**row, "tuned": time_of(1.1)})


def test_the_page_of_nearest_shapes():
    row = {"program": "mm", "shapes": "8x8, 8x8", "distance": 1.5, "default": time_of(3e-3), "own": time_of(1e-3), "nearest": time_of(2e-3)}
    page = nearest.page([row], 10)
    assert "| mm | 8x8, 8x8 | 1.50 | 3 ± 2% | 1 ± 2% | 2 ± 2% | 2.00 | 3.00 |" in page
    assert "regret 2.000 (worst 2.00); the default options 3.000" in page


def test_the_nearest_of_the_others():
    function = tc.define(nearest.PROGRAMS["mm"])["mm"]
    found = lambda options: types.SimpleNamespace(best=types.SimpleNamespace(options=options, time=1e-3))
    shapes = [((8, 8), (8, 8)), ((16, 8), (8, 8)), ((64, 64), (64, 64))]
    tuned = {shape: found(tc.MappingOptions(f"tile={i + 1}")) for i, shape in enumerate(shapes)}
    options, distance = nearest.nearest_of_others(function, tuned, shapes[0])
    assert str(options) == "tile=2" and 0 < distance < 3


@pytest.mark.parametrize("genetic, random, who", [(1.2, 1.0, "genetic"), (1.0, 1.2, "random"), (1.005, 1.0, "draw")])
def test_verdicts(genetic, random, who):
    assert tuning_report.verdict(genetic, random) == who
