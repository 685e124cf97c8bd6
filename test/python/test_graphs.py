"""Defs that call defs, compiled in parts."""

import os
import threading

import pytest
import torch

import tensor_comprehensions as tc

LAYERS = """
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def bias(float(N,K) X, float(K) b) -> (Y) { Y(n,k) = X(n,k) + b(k) }
def limit(float(N,K) X) -> (Y) { Y(n,k) = fmin(fmax(X(n,k), -8), 8) }
def gate(float(B,I) x, float(B,H) h, float(H,I) Wx, float(H,H) Wh) -> (Z) {
  Z(b,g) +=! x(b,i) * Wx(g,i)  Z(b,g) += h(b,k) * Wh(g,k) }
def step(float(B,I) x, float(B,H) h, float(B,H) c, float(H,I) Wx, float(H,H) Wh) -> (hn, cn) {
  U = gate(x, h, Wx, Wh)  F = gate(x, h, Wx, Wh)
  cn(b,j) = F(b,j) * c(b,j) + U(b,j)  hn(b,j) = U(b,j) - cn(b,j) }
"""


def chain(count):
    lines, before = [], "X"
    for k in range(count):
        after = "Y" if k == count - 1 else f"C{k}"
        lines.append(f"  A{k} = fc({before}, W)  B{k} = bias(A{k}, b)  {after} = limit(B{k})")
        before = after
    return LAYERS + "def main(float(N,C) X, float(C,C) W, float(C) b) -> (Y) {\n" + "\n".join(lines) + "\n}\n"


def integers(*shape):
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape).remainder(7) - 3


def expected(count, X, W, b):
    for _ in range(count):
        X = (X @ W.T + b).clamp(-8, 8)
    return X


X, W, B = integers(6, 5), integers(5, 5), integers(5)


@pytest.mark.parametrize("count", [3, 10, 100, 1000])
def test_a_chain(count):
    T = tc.define(chain(count), cache=False)
    assert torch.equal(T.main(X, W, B), expected(count, X, W, B))
    f = tc.compile(T.main, X, W, B, cache=False)
    assert f.stats["parts"] == count
    assert torch.equal(f(X, W, B), expected(count, X, W, B))


@pytest.mark.parametrize("partition, parts", [("auto", 3), ("each", 9), ("one", 1)])
def test_partition(partition, parts):
    T = tc.define(chain(3), cache=False)
    f = tc.compile(T.main, X, W, B, partition=partition, cache=False)
    assert f.stats["parts"] == parts
    assert torch.equal(f(X, W, B), expected(3, X, W, B))


def test_an_unknown_partition_is_an_error():
    with pytest.raises(tc.OptionsError, match="'auto', 'each' or 'one'"):
        tc.define(chain(3), partition="some")


def test_lstm_steps():
    text = LAYERS + (
        "def main(float(B,I) x, float(B,H) h0, float(B,H) c0, float(H,I) Wx, float(H,H) Wh) -> (h, c) {\n"
        "  (h, c) = step(x, h0, c0, Wx, Wh); (h, c) = step(x, h, c, Wx, Wh); (h, c) = step(x, h, c, Wx, Wh) }"
    )
    x, h, c, Wx, Wh = (integers(*shape).sign() for shape in [(2, 3), (2, 4), (2, 4), (4, 3), (4, 4)])
    got = tc.define(text, cache=False).main(x, h, c, Wx, Wh)
    for _ in range(3):
        gate = x @ Wx.T + h @ Wh.T
        c = gate * c + gate
        h = gate - c
    assert torch.equal(got[0], h) and torch.equal(got[1], c)


def test_a_graph_is_saved_loaded_explained_and_profiled():
    T = tc.define(chain(3), cache=False)
    f = tc.compile(T.main, X, W, B, cache=False)
    again = tc.load(f.serialise())
    assert torch.equal(again(X, W, B), expected(3, X, W, B))
    assert again.stats["parts"] == 3
    text = f.explain(X, W, B)
    assert "## comprehension" in text and "## loop nest" in text and "## work" in text
    assert f.work["flops"] == 3 * (2 * 6 * 5 * 5 + 6 * 5)
    profile = f.profile(X, W, B)
    assert [part for part, _ in profile["launches"]] == ["fc_bias_limit"] * 3
    assert sum(time for _, time in profile["launches"]) == pytest.approx(profile["kernels_us"])
    launches = text.split("## launches\n")[1].split("\n\n")[0].splitlines()
    assert len(launches) == 3 and all(line.endswith("fc_bias_limit: own code") and " us " in line for line in launches)
    assert "us" not in f.explain().split("## launches\n")[1].splitlines()[0]
    assert again.work["flops"] == f.work["flops"]


def test_parts_are_kept_on_disk(tmp_path):
    cache = tc.cache.Cache(tmp_path)
    f = tc.compile(tc.define(chain(3)).main, X, W, B, cache=cache)
    assert not f.from_cache
    longer = tc.compile(tc.define(chain(4).replace("C0", "Other")).main, X, W, B, cache=tc.cache.Cache(tmp_path))
    assert torch.equal(longer(X, W, B), expected(4, X, W, B))


def test_infer_of_many_calls():
    inference = tc.define(chain(30)).main.infer(X, W, B)
    assert inference.outputs[0].shape == (6, 5)
    assert inference.ranges[0] == "A0 = fc(X, W): Y(n,k): n in [0, 6), k in [0, 5), c in [0, 5)"
    with pytest.raises(tc.ArgumentError, match="in the call|dimension"):
        tc.define(chain(30)).main.infer(X, W, integers(4))


def test_threads_and_forks():
    T = tc.define(chain(5), cache=False)
    f = tc.compile(T.main, X, W, B, cache=False)
    wrong = []

    def work():
        for _ in range(50):
            if not torch.equal(f(X, W, B), expected(5, X, W, B)):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    child = os.fork()
    if child == 0:
        os._exit(0 if f(X, W, B).sum().item() == expected(5, X, W, B).sum().item() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_errors_of_a_large_def_are_told_when_it_is_defined():
    text = chain(30).replace("\n}\n", "\n  Z(n,k) = Y(n,k) + Q(n,k)\n}\n").replace("-> (Y) {\n  A0", "-> (Y, Z) {\n  A0")
    with pytest.raises(tc.Error, match="Q"):
        tc.define(text)
