"""Running sums and recurrences beside torch: its running sums, its LSTM-like loops written in Python, and copies.

    .venv/bin/python benchmarks/sequences.py                         # one thread
    .venv/bin/python benchmarks/sequences.py --threads 2 --seconds 2

Candidates take turns on the same random data, in one process; results are compared in float64. `peer / ours` is torch's time over
ours. `copy` is the time of `clone()` over ours for running sums: 1 where a sum takes as long as a copy.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch

import tensor_comprehensions as tc
from suite import measure

TEXT = """
def running(float(N,T) X) -> (S) { S(n,i) +=! k <= i ? X(n,k) : 0 where i in 0:T }
def columns(float(T,N) X) -> (S) { S(i,n) +=! k <= i ? X(k,n) : 0 where i in 0:T }
def highest(float(N,T) X) -> (S) { S(n,i) max=! k <= i ? X(n,k) : -inf where i in 0:T }
def linear(float(B,T,N) X, float(N) a) -> (H) {
  for t in 0:T { H(b,t,n) = X(b,t,n) + (t >= 1 ? a(n) * H(b,t-1,n) : 0) }
}
def recurrent(float(T,B,I) X, float(H,I) W, float(H,H) U) -> (float(T,B,H) Y) {
  for t in 0:T {
    G(t,b,h) +=! W(h,i) * X(t,b,i)
    R(t,b,h) +=! U(h,k) * (t >= 1 ? Y(t-1,b,k) : 0)
    Y(t,b,h) = tanh(G(t,b,h) + R(t,b,h))
  }
}
def selective(float(T,D) X, float(T,D,S) A, float(T,S) B, float(T,S) C) -> (Y) {
  for t in 0:T {
    H(t,d,s) = B(t,s) * X(t,d) + (t >= 1 ? A(t,d,s) * H(t-1,d,s) : 0)
    Y(t,d) +=! C(t,s) * H(t,d,s)
  }
}
"""


def steps(first, step, count):
    state, states = first, [first]
    for t in range(1, count):
        state = step(t, state)
        states.append(state)
    return states


def torch_linear(x, a):
    return torch.stack(steps(x[:, 0], lambda t, h: torch.addcmul(x[:, t], a, h), x.shape[1]), 1)


def torch_recurrent(x, w, u):
    inputs, transposed = x @ w.T, u.T.contiguous()
    return torch.stack(steps(torch.tanh(inputs[0]), lambda t, h: torch.tanh(torch.addmm(inputs[t], h, transposed)), len(x)))


def torch_selective(x, a, b, c):
    added = x[:, :, None] * b[:, None, :]
    return torch.einsum("ts,tds->td", c, torch.stack(steps(added[0], lambda t, h: torch.addcmul(added[t], a[t], h), len(x))))


def cases():
    for length in (10, 100, 1000, 10**4, 10**5, 10**6, 10**7):
        yield f"running sum {length}", "running", lambda x: x.cumsum(1), [torch.randn(1, length)], True
    yield "running sum 1000x1000", "running", lambda x: x.cumsum(1), [torch.randn(1000, 1000)], True
    yield "running sum 1000x1000, columns", "columns", lambda x: x.cumsum(0), [torch.randn(1000, 1000)], True
    yield "running maximum 1000x1000", "highest", lambda x: x.cummax(1).values, [torch.randn(1000, 1000)], True
    yield "linear scan 64x4096x256", "linear", torch_linear, [torch.randn(64, 4096, 256), torch.rand(256)], False
    yield "recurrent layer 64x16, 128 to 256", "recurrent", torch_recurrent, [
        torch.randn(64, 16, 128), torch.randn(256, 128) / 16, torch.randn(256, 256) / 16], False
    yield "selective scan 1024x256x16", "selective", torch_selective, [
        torch.randn(1024, 256), torch.rand(1024, 256, 16), torch.randn(1024, 16), torch.randn(1024, 16)], False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, for each case")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    torch.manual_seed(0)
    tc.set_num_threads(asked.threads)
    torch.set_num_threads(asked.threads)
    functions, rows = tc.define(TEXT), {}
    print(f"torch {torch.__version__}, {asked.threads} thread(s)\n{'case':36} {'ours ms':>9} {'peer/ours':>9} {'copy/ours':>9}")
    for name, which, peer, inputs, copies in cases():
        ours = tc.compile(getattr(functions, which), *inputs, cache=False)
        exact = peer(*(x.double() for x in inputs))
        scale = exact.abs().max()
        assert (ours(*inputs) - exact).abs().max() <= 1e-4 * scale, name
        candidates = {"ours": lambda: ours(*inputs), "peer": lambda: peer(*inputs)}
        if copies:
            candidates["copy"] = inputs[0].clone
        times, _ = measure.interleaved(candidates, {}, asked.seconds, asked.threads)
        median = {key: value.median for key, value in times.items()}
        rows[name] = {"ours_s": median["ours"]} | {k: median[k] / median["ours"] for k in median if k != "ours"}
        copy = f"{rows[name]['copy']:9.2f}" if copies else ""
        print(f"{name:36} {median['ours'] * 1e3:9.3f} {rows[name]['peer']:9.2f} {copy}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
