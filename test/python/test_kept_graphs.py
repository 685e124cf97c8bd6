"""Graphs that torch has compiled and keeps between processes: a second process runs what it has not traced."""

import os
import subprocess
import sys

import torch

import tensor_comprehensions as tc
from tensor_comprehensions.operators import operator_of
from tensor_comprehensions.transforms import made_again
from texts import MM

TRAINING = """
import torch, tensor_comprehensions as tc
from torch._dynamo.utils import counters
T = tc.define('''
def both(float(N,K) X, float(M,K) W) -> (Y, Z) { Y(n,m) +=! X(n,k) * W(m,k)  Z(n,m) = tanh(Y(n,m)) }
def square(float(N,M) Y) -> (S) { S(n,m) = Y(n,m) * Y(n,m) }''')

@torch.compile(fullgraph=True)
def loss(X, W, B):
    only_one_return_is_used = T.both(X, W)[1]
    rows = torch.vmap(lambda row: T.square(row))(B)
    return T.square(only_one_return_is_used).sum() + rows.sum()

X, W, B = (torch.ones(*s).div_(4).requires_grad_() for s in ((4, 3), (5, 3), (2, 3, 4)))
value = loss(X, W, B)
value.backward()
with torch.enable_grad():
    Z = torch.tanh(X @ W.t())
    want = torch.autograd.grad(Z.square().sum() + B.square().sum(), (X, W, B))
for given, tensor in zip(want, (X, W, B)):
    torch.testing.assert_close(tensor.grad, given)
print(counters["aot_autograd"]["autograd_cache_hit"])
"""


def test_a_second_process_trains_with_the_graph_of_the_first(tmp_path):
    program = tmp_path / "training.py"
    program.write_text(TRAINING)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "kept")}
    command = [sys.executable, str(program)]
    hits = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert [int(count) for count in hits] == [0, 1]


def test_the_name_of_an_operator_tells_how_it_is_made():
    mm = tc.define(MM).mm
    gradient = tc.grad(mm, ["B"], save=False)
    ways = {
        "grad_1_all_0": gradient,
        "grad_0x1_0_1": tc.grad(mm, ["A", "B"], ["C"]),
        "jvp_0_all": tc.jvp(mm, ["A"]),
        "vmap_0xn_0": tc.vmap(mm, (0, None)),
        "vmap_m1x0_1": tc.vmap(mm, (-1, 0), 1),
    }
    for way, made in ways.items():
        name = operator_of(made)._opname
        assert name == f"{operator_of(mm)._opname}__{way}"
        assert str(made_again(mm, way)) == str(made)
    second = tc.grad(gradient, ["A"])
    assert operator_of(second)._opname == f"{operator_of(gradient)._opname}__grad_0_all_1"


def test_a_name_is_looked_up_before_its_operator_is_made():
    mm = tc.define(MM.replace("mm", "looked_up")).looked_up
    name = operator_of(mm)._opname

    rows = getattr(torch.ops.tc, f"{name}__grad_1_all_1__vmap_0xnxn_0")
    a, b, seed = torch.randn(2, 3, 4), torch.randn(4, 5), torch.randn(3, 5)
    torch.testing.assert_close(rows(a, b, seed), a.mT @ seed)
    for way in ("grad", "grad_7_all_1", "grad_all", "jvp_n_all", "vmap_0_0", "made", "vmap_0x0_n", "grad_x_0_1", "vmap_0xn_0_"):
        assert not hasattr(torch.ops.tc, f"{name}__{way}")
