"""Functions, executables and layers as Python objects: copied, saved, inspected, shown, in workers and threads."""

import copy
import inspect
import io
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc
from test_torch_calls import LINEAR
from texts import MM


def copies(value):
    """`value` by each way of copying."""
    saved = io.BytesIO()
    torch.save(value, saved)
    saved.seek(0)
    return copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), torch.load(saved, weights_only=False)


def test_functions_are_copied_and_saved():
    T = tc.define(LINEAR + MM, name="layers.tc", options="tile=8x8", target="cpu:avx2")
    x, w, b = torch.randn(4, 3), torch.randn(2, 3), torch.randn(2)
    want = T.linear(x, w, b)
    for made in copies(T.linear):
        assert str(made) == str(T.linear)
        assert torch.equal(made(x, w, b), want)
        assert tc.compile(made, x, w, b).stats["target"] == tc.compile(T.linear, x, w, b).stats["target"]
        assert made._settings() is not None and made._origin.how == T.linear._origin.how
    for module in copies(T):
        assert list(module) == ["linear", "mm"]
        assert torch.equal(module.linear(x, w, b), want)


def test_what_is_made_of_functions_is_saved():
    T = tc.define(MM)
    a, b, seed = torch.randn(3, 4), torch.randn(4, 2), torch.randn(3, 2)
    g, j, v = tc.grad(T.mm, ["A"]), tc.jvp(T.mm), tc.vmap(T.mm, (0, None))
    for again in copies(g):
        assert type(again) is tc.Gradient and (again.wrt, again.seeds, again.unread) == (g.wrt, g.seeds, g.unread)
        assert torch.equal(again(a, b, seed), g(a, b, seed))
    assert all(again.tangents == j.tangents for again in copies(j))
    assert all(again.batched == ("C",) for again in copies(v))


def test_executables_are_copied_and_saved():
    T = tc.define(MM)
    a, b = torch.randn(16, 8), torch.randn(8, 4)
    for executable in (tc.compile(T.mm, a, b, options="tile=4x4"), tc.compile(T.mm, a, b, constants=["B"])):
        arguments = (a, b) if not executable._constants() else (a,)
        for again in copies(executable):
            assert torch.equal(again(*arguments), executable(*arguments))
            assert again.options == executable.options
    loaded = tc.load(tc.compile(T.mm, a, b).serialise())
    assert torch.equal(pickle.loads(pickle.dumps(loaded))(a, b), T.mm(a, b))


def test_a_pickle_is_read_by_another_process(tmp_path):
    T = tc.define(LINEAR)
    layer = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 3, "O": 2})
    x = torch.randn(4, 3)
    torch.save((layer, T.linear, x, layer(x).detach()), tmp_path / "layer.pt")
    text = (
        "import torch, sys\n"
        "layer, linear, x, want = torch.load(sys.argv[1], weights_only=False)\n"
        "assert torch.equal(layer(x), want) and torch.equal(linear(x, layer.W, layer.b), want)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", text, tmp_path / "layer.pt"], check=True, env=environment)


def test_a_layer_has_the_parameters_of_its_def():
    T = tc.define(LINEAR)
    layer = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 3, "O": 2}, init={"b": torch.nn.init.ones_})
    assert {name: tuple(p.shape) for name, p in layer.named_parameters()} == {"W": (2, 3), "b": (2,)}
    assert torch.equal(layer.b, torch.ones(2)) and 0 < layer.W.abs().max() <= 3**-0.5
    assert repr(layer) == "Module(linear, I=3, O=2)"
    x = torch.randn(4, 3)
    want = torch.nn.functional.linear(x, layer.W, layer.b)
    torch.testing.assert_close(layer(x), want)
    torch.testing.assert_close(layer(X=x), want)
    other = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 3, "O": 2})
    other.load_state_dict(layer.state_dict())
    for same in (other, *copies(layer)[1:]):
        torch.testing.assert_close(same(x), want)
        assert same.W is not layer.W


def test_what_a_layer_refuses():
    T = tc.define(LINEAR)
    with pytest.raises(tc.ArgumentError, match="needs the sizes O"):
        tc.torch.Module(T.linear, ["W"], sizes={"I": 3})
    with pytest.raises(tc.ArgumentError, match="no parameter 'V'"):
        tc.torch.Module(T.linear, ["V"])
    with pytest.raises(tc.ArgumentError, match=r"\['W'\]"):
        tc.torch.Module(T.linear, "W")
    layer = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 3, "O": 2})
    with pytest.raises(tc.ArgumentError, match="takes 'X'"):
        layer()
    with pytest.raises(tc.ArgumentError, match="fewer tensors"):
        layer(torch.randn(4, 3), torch.randn(4, 3))


def test_a_function_tells_what_it_is():
    linear = tc.define(LINEAR).linear
    assert linear.__name__ == linear.__qualname__ == "linear"
    assert str(inspect.signature(linear)) == (
        "(X: 'float32(B, I)', W: 'float32(O, I)', b: 'float32(O)', *, out=None) -> 'Y: float32'"
    )
    assert linear.__doc__.startswith("A product and a bias.\nWith the weight transposed.\n\ndef linear(")
    assert tc.Function.__doc__.startswith("One def of a text.")
    assert "Y(n, o) += b(o)" in linear._repr_html_() or "Y(n, o) = Y(n, o) + b(o)" in linear._repr_html_()
    executable = tc.compile(linear, tc.spec((4, 3)), tc.spec((2, 3)), tc.spec((2,)))
    assert executable.__name__ == "linear"
    assert "<td>input</td><td>X</td>" in executable._repr_html_()
    x, w, b = torch.randn(4, 3), torch.randn(2, 3), torch.randn(2)
    assert torch.equal(linear(b=b, X=x, W=w), linear(x, w, b))
    assert torch.equal(inspect.signature(linear).bind(x, W=w, b=b).args[1], w)


class Shuffled(torch.utils.data.Dataset):
    def __init__(self, linear, w, b):
        self.linear, self.w, self.b = linear, w, b

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.linear(torch.full((1, 3), float(i)), self.w, self.b)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader(method):
    data = Shuffled(tc.define(LINEAR).linear, torch.randn(2, 3), torch.randn(2))
    got = list(torch.utils.data.DataLoader(data, num_workers=2, multiprocessing_context=method))
    torch.testing.assert_close(torch.cat(got)[:, 0], torch.cat([data[i] for i in range(6)]))


def test_threads_train_one_layer():
    T = tc.define(LINEAR)
    layer = tc.torch.Module(T.linear, ["W", "b"], sizes={"I": 3, "O": 2})
    x = torch.randn(8, 3)
    want = torch.autograd.grad(torch.nn.functional.linear(x, layer.W, layer.b).square().sum(), layer.parameters())
    got = [None] * 4

    def work(k):
        got[k] = torch.autograd.grad(layer(x).square().sum(), layer.parameters())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    for each in got:
        torch.testing.assert_close(each, want)


def threads_of(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


PRINT = "import tensor_comprehensions as tc\n%s\nprint(tc.get_num_threads())"
RUN = "import numpy, torch\ntc.define('def f(float(N) A) -> (B) { B(i) = A(i) }').f(torch.ones(3))"


def test_threads_of_the_environment():
    assert threads_of(PRINT % "", OMP_NUM_THREADS="3,2") == ["3"]
    assert threads_of(PRINT % "tc.set_num_threads(5)", OMP_NUM_THREADS="3") == ["5"]
    environment = {"OMP_NUM_THREADS": ""}
    one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert threads_of(one + PRINT % "", **environment) == ["1"]


def test_threads_that_torch_is_set_to():
    assert threads_of(PRINT % "import torch; torch.set_num_threads(3)") == ["3"]
    assert threads_of(PRINT % f"import torch; torch.set_num_threads(3)\n{RUN}\ntorch.set_num_threads(2)") == ["3"]
    assert threads_of(PRINT % "import torch; torch.set_num_threads(3); tc.set_num_threads(4)") == ["4"]
