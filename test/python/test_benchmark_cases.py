"""The cases of the benchmark suite at small sizes: their texts compile and give what torch gives."""

import pathlib
import sys

import pytest
import torch

import tensor_comprehensions as tc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from suite import cases, check  # noqa: E402
from suite.case import Goal, moved_bytes, tiny  # noqa: E402

TINY = cases.all_cases(tiny)
DISTINCT = list({case.text: case for case in TINY}.values())
ACCEPTANCE = {
    "matmul/nn-512": [("peak", 0.85, 0.93), ("eager", 1.0, 1.15)],
    "matmul/tt-2048": [("peak", 0.85, 0.93), ("eager", 1.0, 1.15)],
    "matmul/tmm-128x4096x16384": [("peak", 0.85, 0.93), ("eager", 1.0, 1.15)],
    "matmul/u8s8-1024": [("peak", 0.6, 0.9), ("eager", 1.0, None)],
    "batched/tbmm-500x26x72x26": [("eager", 1.5, 2.5)],
    "conv/grouped-c4-128@56": [("eager", 3.0, 10.0)],
    "conv/grouped-c8-256@28": [("eager", 1.2, 2.0)],
    "conv/depthwise-32@112": [("eager", 1.2, 3.0)],
    "conv/depthwise-192@56": [("eager", 4.0, 15.0)],
    "conv/stencil-5x5-2048": [("eager", 5.0, 30.0)],
    "conv/resnet-conv1-7x7": [("eager", 0.7, 1.1)],
    "norms/softmax-128x32768": [("eager", 1.5, 2.5), ("best", 1.1, 1.5), ("copy", None, 0.9)],
    "memory/transpose-2048": [("best", 1.0, None), ("copy", None, 0.9)],
    "lookups/2lut-1e6": [("eager", 1.2, 3.0)],
    "attention/8x512x64": [("eager", 1.2, 3.0)],
    "contractions/abcd-aebf-dfce": [("eager", 0.9, 1.3)],
}


@pytest.mark.parametrize("case", DISTINCT, ids=lambda case: case.name)
def test_case_is_right(case, monkeypatch):
    monkeypatch.delenv("TC_VERIFY", raising=False)
    inputs = case.draw()
    outputs = check.as_tuple(tc.define(case.text)[case.entry](*inputs))
    assert check.worst_error(outputs, check.reference(case, inputs), case.terms) <= 1


@pytest.mark.parametrize("case", [case for case in DISTINCT if case.also or case.numpy], ids=lambda case: case.name)
def test_other_peers_compute_the_same(case):
    inputs = case.draw()
    expected = check.reference(case, inputs)
    if case.numpy and inputs[0].dtype == torch.float32:
        arrays = check.as_tuple(case.numpy(*[tensor.numpy() for tensor in inputs]))
        assert check.worst_error(tuple(torch.from_numpy(a) for a in arrays), expected, case.terms) <= 1
    for name, function in case.also.items():
        if name != "int_mm s8s8":
            assert check.worst_error(check.as_tuple(function(*inputs)), expected, case.terms) <= 1


def test_byte_product_of_torch_is_exact():
    case = next(case for case in TINY if case.name == "matmul/u8s8-1024")
    inputs = case.draw()
    assert torch.equal(case.eager(*inputs).double(), check.reference(case, inputs)[0])


def test_names_are_unique_and_there_are_a_hundred_odd_sizes():
    names = [case.name for case in TINY]
    assert len(set(names)) == len(names)
    assert sum(case.family == "odd" for case in TINY) == 100


@pytest.mark.parametrize("name", ACCEPTANCE)
def test_thresholds_of_the_acceptance_table(name):
    case = next(case for case in TINY if case.name == name)
    assert list(case.goals) == [Goal(*goal) for goal in ACCEPTANCE[name]]


def test_full_sizes_and_costs():
    by_name = {case.name: case for case in cases.all_cases()}
    assert by_name["matmul/tmm-128x4096x16384"].flops == 2 * 128 * 4096 * 16384
    assert by_name["conv/grouped-c4-128@56"].flops == 2 * 8 * 56 * 56 * 128 * 4 * 9
    assert by_name["attention/8x512x64"].flops == 4 * 8 * 512 * 512 * 64
    softmax = by_name["norms/softmax-4096x1024"]
    inputs = softmax.draw()
    assert moved_bytes(softmax, inputs, (inputs[0],)) == 2 * 4 * 4096 * 1024


def test_inputs_are_the_same_every_time():
    case = TINY[0]
    first, second = case.draw(), case.draw()
    assert all(torch.equal(a, b) for a, b in zip(first, second))
    assert first[0].std() > 0.1


@pytest.mark.parametrize(
    "patterns, quick, expected",
    [
        (["conv/resnet-64@56"], False, ["conv/resnet-64@56"]),
        (["attention/*", "batched/t*"], True, ["batched/tbmm-500x26x72x26", "attention/8x512x64"]),
        (["alt/gmm*"], True, ["alt/gmm-960x512x1280"]),
        (["nothing"], False, []),
    ],
)
def test_choice_by_name(patterns, quick, expected):
    assert [case.name for case in cases.chosen(TINY, patterns, quick)] == expected


def test_quick_leaves_cases_out():
    quick = {case.name for case in cases.chosen(TINY, [], True)}
    assert quick < {case.name for case in TINY}
    assert quick >= set(ACCEPTANCE)
