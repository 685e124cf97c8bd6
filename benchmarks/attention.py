"""Attention as a def, and as a model writes it, against torch's scaled_dot_product_attention, in turns.

    .venv/bin/python benchmarks/attention.py                                   # all shapes, one thread
    .venv/bin/python benchmarks/attention.py --shapes 8x1024x64 --threads 2 --seconds 2 --json build/attention.json

Shapes are heads x length x size of a head, of float32. `plain` and `causal` are defs; `written out` is torch.softmax(q @ k.T / 8) @ v through
torch.compile(backend="tc"), whose peer is the same text in eager mode. Numbers are the peer's time over ours. Results are compared with torch in
float64 first. `bytes` is the workspace of the plain def; the scores of all heads would take `scores`.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc
from suite import measure

SHAPES = "12x128x64,12x197x64,12x512x64,16x512x64,8x1000x64,8x1024x64,8x4096x64"
PLAIN = """def attention(float(H,L,D) Q, float(H,S,D) K, float(H,S,E) V) -> (O) {
  s(h,i,j) +=! Q(h,i,d) * K(h,j,d)
  t(h,i) max=! s(h,i,j)
  p(h,i,j) = exp(0.125 * (s(h,i,j) - t(h,i)))
  l(h,i) +=! p(h,i,j)
  O(h,i,c) +=! p(h,i,j) * V(h,j,c)
  O(h,i,c) = O(h,i,c) / l(h,i)
}"""
CAUSAL = """def attention(float(H,L,D) Q, float(H,S,D) K, float(H,S,E) V) -> (O) {
  s(h,i,j) +=! j <= i ? Q(h,i,d) * K(h,j,d) : 0
  t(h,i) max=! j <= i ? s(h,i,j) : -inf
  p(h,i,j) = j <= i ? exp(0.125 * (s(h,i,j) - t(h,i))) : 0
  l(h,i) +=! j <= i ? p(h,i,j) : 0
  O(h,i,c) +=! j <= i ? p(h,i,j) * V(h,j,c) : 0
  O(h,i,c) = O(h,i,c) / l(h,i)
}"""


def written_out(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v


def check(ours, inputs, causal):
    want = F.scaled_dot_product_attention(*(tensor.double()[None] for tensor in inputs), is_causal=causal)[0]
    torch.testing.assert_close(ours(*inputs).double(), want, rtol=1e-4, atol=1e-5)


def ratio(ours, peer, seconds, threads):
    times, _ = measure.interleaved({"ours": ours, "peer": peer}, {}, seconds, threads)
    return {"ours_us": times["ours"].median * 1e6, "peer_us": times["peer"].median * 1e6, "ratio": times["peer"].median / times["ours"].median}


def row(shape, seconds, threads):
    """The ratios of one shape, and the bytes of workspace."""
    torch.manual_seed(0)
    inputs = [torch.randn(shape) for _ in range(3)]
    batch = [tensor[None] for tensor in inputs]
    result = {}
    for name, text, causal in (("plain", PLAIN, False), ("causal", CAUSAL, True)):
        ours = tc.compile(tc.define(text).attention, *inputs, cache=False)
        check(ours, inputs, causal)
        result[name] = ratio(
            lambda: ours(*inputs), lambda: F.scaled_dot_product_attention(*batch, is_causal=causal), seconds, threads
        )
        result[name]["bytes"] = ours.stats["workspace_bytes"]
    compiled = torch.compile(written_out, backend="tc")
    check(lambda *tensors: compiled(*batch)[0], inputs, False)
    result["written out"] = ratio(lambda: compiled(*batch), lambda: written_out(*batch), seconds, threads)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, for each ratio")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    rows = {}
    for text in asked.shapes.split(","):
        shape = tuple(int(extent) for extent in text.split("x"))
        rows[text] = row(shape, asked.seconds, asked.threads)
        scores = math.prod((shape[0], shape[1], shape[1])) * 4
        listed = "   ".join(f"{name} {values['ratio']:.2f} ({values['ours_us']:.0f} us)" for name, values in rows[text].items())
        print(f"{text:12} {listed}   bytes {rows[text]['plain']['bytes']}, scores {scores}", flush=True)
    for name in ("plain", "causal", "written out"):
        print(f"{name}: {statistics.geometric_mean(values[name]['ratio'] for values in rows.values()):.2f} in the geometric mean")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
