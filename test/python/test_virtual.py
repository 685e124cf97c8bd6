"""Operators that know no layouts, from Python: calls, and plans."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import tensor_comprehensions as tc
from tensor_comprehensions import virtual


def whole(*shape):
    return torch.randint(-3, 4, shape).float()


def network(run, x, k, b, w):
    """A block of ResNet and a classifier: the same text runs at once, or is recorded."""
    y = run.relu(run.bias_add(run.conv(x, k, top=1, left=1, bottom=1, right=1), b))
    y = run.max_pool(run.add(y, x), height=2, width=2, stride=2)
    return run.matmul(run.mean(y), w)


@pytest.fixture
def tensors():
    return whole(2, 16, 8, 8), whole(16, 16, 3, 3), whole(16), whole(4, 16)


def expected(x, k, b, w):
    return F.max_pool2d(F.relu(F.conv2d(x, k, b, padding=1)) + x, 2).mean((2, 3)) @ w.T


def constants(k, b, w):
    return [virtual.tensor(t, dims, constant=True) for t, dims in ((k, "OIRS"), (b, "C"), (w, "OC"))]


def test_one_network_runs_at_once_and_planned(tensors):
    x, *weights = tensors
    run = virtual.Runtime("own")
    held = constants(*weights)
    for given in (x, x.to(memory_format=torch.channels_last)):
        at_once = network(run, virtual.tensor(given, "NCHW"), *held)
        assert (at_once.dims, at_once.shape, at_once.size("N")) == ("NC", (2, 4), 2)
        assert np.array_equal(run.plain(at_once), expected(*tensors))
        layout = virtual.tensor(given, "NCHW").layout
        program = run.record(lambda net: network(net, net.input(x.shape, "NCHW", layout=layout), *held))
        for choice in ("asked", "both", "shared"):
            plan = program.plan(choice)
            assert np.array_equal(run.plain(plan(virtual.tensor(given, "NCHW"))), expected(*tensors))
            assert len(plan.profile(virtual.tensor(given, "NCHW"))) == len(plan.steps)
    assert [step[0] for step in plan.steps] == ["conv", "bias_add", "relu", "add", "max_pool", "mean", "matmul"]
    assert plan.steps[0] == ("conv", "own", "own code") and plan.conversions == 0 and "relu (own code)" in str(plan)
    assert plan.stats["workspace_bytes"] > 0


def test_the_layout_of_an_array_is_that_of_its_strides():
    x = whole(2, 3, 4, 5)
    assert str(virtual.tensor(x, "NCHW").layout) == "identity"
    y = virtual.tensor(x.to(memory_format=torch.channels_last), "NCHW")
    assert y.layout == tc.layout("NHWC") and np.asarray(y).shape == (2, 4, 5, 3)
    run = virtual.Runtime()
    assert np.array_equal(run.plain(y), x)
    blocked = run.converted(virtual.tensor(whole(1, 32, 4, 4), "NCHW"), "NCHW16c")
    assert np.asarray(blocked).shape == (1, 2, 4, 4, 16) and run.conversions == 2
    column = np.arange(16, dtype="float32").reshape(16, 1, 1, 1)
    assert str(virtual.tensor(column, "OIRS").layout) == "identity" and np.asarray(run.plain(virtual.tensor(column, "OIRS"))).shape == column.shape
    with pytest.raises(tc.ArgumentError, match="must be dense"):
        virtual.tensor(x[:, :2], "NCHW")
    with pytest.raises(tc.ArgumentError, match="take float32"):
        virtual.tensor(x.double(), "NCHW")
    with pytest.raises(tc.ArgumentError, match="of the dimensions NC"):
        virtual.tensor(x, "NC")


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (0, 16, 4, 4), (1, 16, 1, 1), (2, 16, 1, 5)])
def test_extents_of_none_and_of_one(shape):
    run, x, k = virtual.Runtime("own"), whole(*shape), whole(16, shape[1], 1, 1)
    given, held = virtual.tensor(x, "NCHW"), virtual.tensor(k, "OIRS", constant=True)
    blocked = run.converted(run.conv(given, held), "NCHW16c")
    assert np.array_equal(run.plain(run.relu(blocked)), F.relu(F.conv2d(x, k)))
    plan = run.record(lambda net: net.relu(net.conv(net.input(shape, "NCHW"), held))).plan()
    assert np.array_equal(run.plain(plan(given)), F.relu(F.conv2d(x, k)))


def test_what_is_refused(tensors):
    x, *weights = tensors
    run = virtual.Runtime("reference")
    given = virtual.tensor(x, "NCHW")
    with pytest.raises(AttributeError, match="no operator 'convolve'"):
        run.convolve(given)
    with pytest.raises(tc.ArgumentError, match="no attribute 'strides'"):
        run.relu(given, strides=2)
    with pytest.raises(tc.OptionsError, match="onemkl"):
        virtual.Runtime("onemkl")
    with pytest.raises(tc.ArgumentError, match="no constant"):
        run.record(lambda net: net.relu(given))
    with pytest.raises(tc.ArgumentError, match="another program"):
        run.record(lambda net: run.record(lambda other: other.relu(net.input((2, 3), "NC"))))
    program = run.record(lambda net: net.relu(net.input(x.shape, "NCHW")))
    with pytest.raises(tc.OptionsError, match="layouts are chosen as"):
        program.plan("best")
    with pytest.raises(tc.ArgumentError, match="another tensor was given"):
        program.plan()(virtual.tensor(x[:1], "NCHW"))
    text = virtual.text("add", given, virtual.tensor(weights[1], "C"))
    assert text == "def add(float(N,C,H,W) A, float(C) B) -> (Y) { Y(n,c,h,w) = A(n,c,h,w) + B(c) }"
    assert set(virtual.OPERATORS) <= set(dir(run)) and len(virtual.OPERATORS) == 16
