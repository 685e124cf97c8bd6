"""The benchmark suite's own parts: statistics, checks, thresholds, isolation, report."""

import json
import math
import os
import pathlib
import sys
import time

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from suite import acceptance, check, cli, measure, report, runner  # noqa: E402
from suite.case import Case, Goal, random  # noqa: E402
from suite.statistics import geomean, quantile, spread  # noqa: E402

COPY = Case(
    "x/copy",
    "def copy(float(N) X) -> (Y) { Y(i) = X(i) }",
    lambda: (random(9),),
    lambda x: x,
    flops=9,
    goals=(Goal("eager", 1.0, 2.0),),
)


@pytest.mark.parametrize(
    "values, share, expected", [([3, 1, 2], 0.5, 2), ([1, 2, 3, 4], 0.5, 2.5), ([5], 0.25, 5), ([0, 10], 0.25, 2.5)]
)
def test_quantile(values, share, expected):
    assert quantile(values, share) == expected


def test_spread_and_geomean():
    assert spread([4, 1, 3, 2, 5]) == (3, 2, 4, 5)
    assert geomean([1, 4, 16]) == pytest.approx(4)


@pytest.mark.parametrize(
    "value, must, aim, expected",
    [
        (0.9, 0.85, 0.93, "pass"),
        (0.93, 0.85, 0.93, "aim"),
        (0.84, 0.85, 0.93, "miss"),
        (0.85, 0.85, 0.93, "pass"),
        (0.5, None, 0.9, "short"),
        (0.95, None, 0.9, "aim"),
        (3.0, 1.0, None, "pass"),
        (0.9, 1.0, None, "miss"),
        (None, 1.0, 2.0, "-"),
    ],
)
def test_verdict(value, must, aim, expected):
    assert acceptance.verdict(value, must, aim) == expected


@pytest.mark.parametrize("value, verdict, margin", [(100, "miss", -0.2), (60, "pass", 80 / 60 - 1), (40, "aim", 1.0)])
def test_times_are_better_when_smaller(value, verdict, margin):
    goal = acceptance.judged("ms", value, 80, 50, at_most=True)
    assert (goal["verdict"], goal["margin"]) == (verdict, pytest.approx(margin))


def row(case="a/b", threads=1, ours=1.0, eager=2.0, goals=(), **more):
    peers = {"eager": {"median": eager}, **more.pop("peers", {})}
    return {
        "case": case,
        "threads": threads,
        "status": "ok",
        "ours": {"median": ours, "low": ours, "high": ours, "samples": 5},
        "peers": peers,
        "goals": list(goals),
        "flops": 4e9,
        "bytes": 2e9,
        "error": 0.1,
        "compile_ms": 10.0,
        **more,
    }


@pytest.mark.parametrize(
    "metric, more, expected",
    [
        ("eager", {}, 2.0),
        ("best", {}, None),
        ("best", {"peers": {"compile": {"median": 1.5}, "compile-max": {"median": 3.0}}}, 1.5),
        ("best", {"peers": {"compile": {"median": 9.0}}}, 2.0),
        ("peak", {"peak_gops": 8.0}, 0.5),
        ("peak", {}, None),
        ("copy", {"copy_gbs": 4.0}, 0.5),
    ],
)
def test_metrics(metric, more, expected):
    assert acceptance.metric_value(metric, row(**more)) == expected


def test_rows_are_judged_on_one_thread_and_where_the_machine_has_the_instructions():
    goals = [Goal("peak", 0.85, None), Goal("eager", 1.0, 3.0)]
    assert [g["verdict"] for g in acceptance.judge_row(goals, row(peak_gops=8.0))] == ["miss", "pass"]
    assert [g["metric"] for g in acceptance.judge_row(goals, row(peak_gops=0.0))] == ["eager"]
    assert acceptance.judge_row(goals, row(threads=2, peak_gops=8.0)) == []


def test_goals_of_groups():
    rows = [row("odd/1"), row("odd/2", ours=2.0), row("odd/3", ours=9.0) | {"status": "wrong"}]
    rows += [
        row("contractions/a", goals=[{}]),
        row("contractions/b", ours=0.25, goals=[{}]),
        row("contractions/c", ours=9.0),
    ]
    rows += [row("big", scaling=True, rested_gops=100.0), row("big", 2, ours=0.6, rested_gops=180.0)]
    goals = acceptance.judge_groups(rows, 2, {"compile_small_ms": 90.0})
    assert [(goal["metric"], round(goal["value"], 3), goal["verdict"]) for goal in goals] == [
        ("2 odd sizes: worst/best rate", 0.5, "miss"),
        ("2 contractions: geomean over einsum", 4.0, "aim"),
        ("2 threads over 1: big", round(1 / 0.6 / 1.8, 3), "pass"),
        ("compile_small_ms", 90.0, "miss"),
    ]


def test_lost_terms_wrong_elements_and_nan_are_errors():
    torch.manual_seed(0)
    a, b = torch.randn(64, 256), torch.randn(256, 64)
    right = (a.double() @ b.double(),)
    assert check.worst_error((a @ b,), right, 256) < 0.5
    assert check.worst_error((a[:, 1:] @ b[1:],), right, 256) > 100
    spoiled = a @ b
    spoiled[3, 4] = math.nan
    assert check.worst_error((spoiled,), right, 256) == math.inf
    with pytest.raises(ValueError, match="shape"):
        check.worst_error(((a @ b)[1:],), right, 256)


def test_integers_are_compared_exactly_and_bfloat16_by_its_own_rounding():
    right = torch.tensor([70000.0, -5.0], dtype=torch.float64)
    assert check.worst_error((torch.tensor([70000, -5], dtype=torch.int32),), (right,), 9) == 0
    assert check.worst_error((torch.tensor([70001, -5], dtype=torch.int32),), (right,), 9) == math.inf
    numbers = torch.randn(99, dtype=torch.float64)
    assert check.worst_error((numbers.bfloat16(),), (numbers,), 9) <= 1
    assert check.worst_error((numbers.bfloat16() * 1.02,), (numbers,), 9) > 1


@pytest.mark.parametrize(
    "rounds, elapsed, budget, expected",
    [
        (2, 99.0, 1.0, True),
        (3, 3.9, 1.0, True),
        (3, 4.1, 1.0, False),
        (5, 0.9, 1.0, True),
        (5, 1.1, 1.0, False),
        (101, 0.1, 1.0, False),
    ],
)
def test_rounds(rounds, elapsed, budget, expected):
    assert measure.goes_on(rounds, elapsed, budget) == expected


def test_candidates_take_turns():
    order = []
    functions = {name: lambda name=name: (order.append(name), time.sleep(2e-3)) for name in "ab"}
    times, rates = measure.interleaved(functions, {"peak": lambda: order.append("p") or float(len(order))}, 0.0, 1)
    assert "".join(order).endswith("aabbp" * 3)
    assert times["a"].samples == times["b"].samples and times["a"].median >= 2e-3
    assert len(rates["peak"]) == 3 and rates["peak"][-1] == len(order)


def test_short_calls_go_on_until_they_are_warm():
    calls = []
    measure.interleaved({"a": lambda: calls.append(time.perf_counter()) or time.sleep(2e-3)}, {}, 0.0, 1, warm=0.02)
    assert len(calls) >= 3 * 8, "three rounds, each with ten calls before its sample"
    calls.clear()
    measure.warm_up(lambda: calls.append(0), 0.0)
    assert calls == [0]


def test_samples_of_short_calls_are_long_enough():
    def short():
        end = time.perf_counter() + 2e-5
        while time.perf_counter() < end:
            pass

    assert 10 <= measure.calls_per_sample(short) <= 110
    assert measure.calls_per_sample(lambda: time.sleep(5e-3)) == 1


PLAN = runner.Plan([1], 0.0, ["eager"], 20.0)


def test_a_case_becomes_a_row():
    (found,) = runner.run_case(COPY, PLAN)
    assert (found["status"], found["threads"], found["error"], found["bytes"]) == ("ok", 1, 0.0, 72)
    assert (
        [goal["metric"] for goal in found["goals"]] == ["eager"]
        and found["peak_gops"] > 1
        and found["ours"]["samples"] >= 3
    )


def exits(*_):
    os._exit(3)


def sleeps(*_):
    time.sleep(60)


@pytest.mark.parametrize(
    "work, limit, status",
    [(exits, 20.0, "failed: the process ended with code 3"), (sleeps, 0.2, "failed: no result within 0 s")],
)
def test_a_crash_or_an_endless_case_costs_one_row(work, limit, status):
    plan = runner.Plan([1], 0.0, ["eager"], limit)
    assert [r["status"] for r in runner.run_case(COPY, plan, work)] == [status]


def test_a_program_that_does_not_compile_and_one_that_is_wrong():
    broken = Case("x/broken", "def f(float(N) X) -> (Y) { Y(i) = Z(i) }", COPY.inputs, COPY.eager)
    assert runner.run_case(broken, PLAN)[0]["status"].startswith("failed: ")
    wrong = Case("x/wrong", COPY.text, COPY.inputs, lambda x: x * 2)
    assert runner.run_case(wrong, PLAN)[0]["status"] == "wrong"


def test_report():
    goals = [acceptance.judged("peak", 0.5, 0.85, 0.93), acceptance.judged("best", None, 1.0, None)]
    failed = runner.empty_row(COPY, 1, "failed: because")
    result = {
        "machine": {"cores": 2},
        "limits": {"peak": 1.0},
        "latency": {"x_ms": 1.0},
        "groups": [acceptance.judged("g", 2.0, 1.0, 1.5)],
        "rows": [row(goals=goals, peak_gops=8.0, peers={"numpy": {"median": 3.0}}), failed],
    }
    text = report.table(result)
    for expected in (
        "MISS peak 50% of 85%/93% (-41%)",
        "  -  best",
        "failed: because",
        "numpy: 3.00",
        "AIM  g: 2.00 of 1/1.5",
        "2 rows; goals: 1 at their aim, 0 passed, 1 missed",
        "wrong or failed: x/copy",
    ):
        assert expected in text
    assert json.loads(json.dumps(result)) == result


def test_a_run_in_pieces(tmp_path):
    path = tmp_path / "result.json"
    first = {"rows": [row("a", ours=1.0), row("b")], "latency": {"x": 1.0, "y": 1.0}}
    assert report.with_earlier(first, str(path)) == first
    report.write_json(first, str(path))
    joined = report.with_earlier({"rows": [row("a", ours=2.0)], "latency": {"y": 2.0}}, str(path))
    assert [(r["case"], r["ours"]["median"]) for r in joined["rows"]] == [("b", 1.0), ("a", 2.0)]
    assert joined["latency"] == {"x": 1.0, "y": 2.0}


def test_an_interrupted_run_reports_what_it_has(monkeypatch):
    def interrupted(case, plan):
        if case.name == "batched/4096x16":
            raise KeyboardInterrupt
        return [runner.empty_row(case, 1, "ok")]

    monkeypatch.setattr(cli, "run_case", interrupted)
    monkeypatch.setattr(cli.machine, "keep_memory", lambda: None)
    result = cli.run(cli.parser().parse_args(["--cases", "batched/*", "--peers", "eager"]))
    assert [r["case"] for r in result["rows"]] == ["batched/tbmm-500x26x72x26"]


@pytest.mark.parametrize(
    "arguments, message",
    [(["--peers", "mkl"], "there is no peer mkl"), (["--cases", "nothing"], "no case has such a name")],
)
def test_options_that_name_nothing(arguments, message):
    with pytest.raises(SystemExit, match=message):
        cli.run(cli.parser().parse_args(arguments))


def test_list(capsys):
    cli.main(["--list", "--cases", "attention/*"])
    assert capsys.readouterr().out.split() == ["attention/8x512x64", "latency"]


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    from suite import plots

    rows = [
        row(
            "matmul/x",
            goals=[acceptance.judged("eager", 2.0, 1.0, 3.0)],
            peak_gops=8.0,
            peers={"compile": {"median": 1.5}},
        ),
        row("odd/1"),
        row("norms/y", flops=0),
    ]
    plots.draw({"rows": [r | {"family": r["case"].split("/")[0]} for r in rows]}, str(tmp_path / "plots"))
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "odd_1t.svg",
        "peak_1t.svg",
        "speedup_1t.svg",
    ]
    assert "matmul/x" in (tmp_path / "plots" / "speedup_1t.svg").read_text()


def test_the_peak_in_turns_is_the_median_and_other_limits_are_the_largest():
    assert runner.summarised("peak_gops", [1.0, 9.0, 2.0]) == 2.0
    assert runner.summarised("rested_gops", [1.0, 9.0, 2.0]) == 9.0
    assert list(runner.yardsticks_of(COPY, None, 72.0, 1)) == ["peak_gops", "rested_gops"]
    assert list(runner.yardsticks_of(COPY, None, 72.0, 2)) == ["peak_gops", "rested_gops"]
