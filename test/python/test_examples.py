"""The examples that train end with the loss curves of torch, also compiled, copied, saved and in threads."""

import importlib.util
import io
import pathlib
import threading

import pytest
import torch

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def without_laws(monkeypatch):
    """The programs of the examples are compiled under all laws elsewhere; here they train."""
    monkeypatch.delenv("TC_VERIFY", raising=False)


@pytest.mark.parametrize("name, arguments", [
    ("03_train_cnn", []),
    ("04_train_transformer", ["--compile"]),
    pytest.param("03_train_cnn", ["--compile"], marks=pytest.mark.long),
    pytest.param("04_train_transformer", [], marks=pytest.mark.long),
])
def test_curves_are_those_of_torch(name, arguments):
    assert example(name).main(arguments) == 0


def test_training_goes_on_after_a_copy_in_threads():
    cnn = example("03_train_cnn")
    torch.manual_seed(0)
    network = cnn.Ours()
    cnn.curve(network, network, steps=3)
    saved = io.BytesIO()
    torch.save(network.state_dict(), saved)
    curves = [None] * 4

    def work(k):
        saved_here = io.BytesIO(saved.getvalue())
        copied = cnn.Ours()
        copied.load_state_dict(torch.load(saved_here))
        curves[k] = cnn.curve(copied, copied, steps=5)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    want = cnn.curve(network, network, steps=5)
    assert all(torch.equal(curve, want) for curve in curves)
