"""The peers of the benchmark suite: failures, wrong and slow ones; oneDNN and Halide where they are built."""

import dataclasses
import pathlib
import sys
import time

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from suite import native, peers  # noqa: E402
from suite.case import Case, random  # noqa: E402

COPY = Case("x/copy", "def copy(float(N) X) -> (Y) { Y(i) = X(i) }", lambda: (random(9),), lambda x: x)


def fails(*_):
    raise RuntimeError("no such thing\nat all")


def test_peers_that_fail_are_wrong_or_slow(monkeypatch):
    monkeypatch.setattr(peers, "SLOW_SECONDS", 0.05)
    case = dataclasses.replace(
        COPY, also={"broken": fails, "slow": lambda x: time.sleep(0.06) or x}, numpy=lambda x: x + 1
    )
    inputs = case.draw()
    ready, slow, lines = peers.functions(case, inputs, ["eager", "numpy"], (inputs[0].double(),))
    assert list(ready) == ["eager"] and list(slow) == ["slow"] and slow["slow"] >= 0.05
    assert lines == ["x/copy: peer broken failed: no such thing", "x/copy: peer numpy failed: its result is wrong"]


def test_torch_compile_is_a_peer_of_one_thread():
    makers = [name for name, _, _ in peers.makers(COPY, COPY.draw(), ["compile"], 1)]
    assert makers == ["compile"] and not list(peers.makers(COPY, COPY.draw(), ["compile"], 2))


@pytest.mark.parametrize(
    "kind, right, operation",
    [
        (("matmul", "nn", 5, 6, 7), lambda a, b: a @ b, ((5, 7), (7, 6))),
        (("matmul", "tt", 5, 6, 7), lambda a, b: a.T @ b.T, ((7, 5), (6, 7))),
        (("conv", 2, 1, 3, 4, 8, 3, 1), torch.nn.functional.conv2d, ((2, 3, 8, 8), (4, 3, 3, 3))),
        (
            ("conv", 2, 4, 2, 2, 9, 3, 2),
            lambda i, k: torch.nn.functional.conv2d(i, k, stride=2, groups=4),
            ((2, 8, 9, 9), (8, 2, 3, 3)),
        ),
        (("softmax", 6, 40), lambda x: torch.softmax(x, 1), ((6, 40),)),
    ],
    ids=lambda value: str(value) if isinstance(value, tuple) else None,
)
@pytest.mark.parametrize("name", ["onednn", "halide"])
def test_native_peers(name, kind, right, operation):
    if native.library(name) is None or (name, kind[0]) == ("onednn", "softmax"):
        pytest.skip(native.MISSING[name])
    inputs = tuple(torch.randn(shape) for shape in operation)
    expected = right(*inputs)
    output = torch.empty_like(expected)
    native.makers(kind, inputs, output, 1, [name])[name]()()
    torch.testing.assert_close(output, expected, rtol=1e-4, atol=1e-4)
