"""Quick start: five tensor programs on torch tensors.

For each program: what the compiler inferred, how long compiling and running took beside torch, and the largest error
against torch in float64. Run it with `make demo`, or `.venv/bin/python examples/01_quick_start.py`.
"""

import time

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc

torch.manual_seed(0)

MATMUL = """
def mlp(float(B,I) X, float(O,I) W, float(O) b) -> (Y) {
  Y(n,o) +=! X(n,i) * W(o,i)
  Y(n,o) = fmax(Y(n,o) + b(o), 0)
}"""

CONVOLUTION = """
def conv2d(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) {
  O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw)
}"""

SOFTMAX = """
def softmax(float(N,C) X) -> (Y) {
  top(n)   max=! X(n,c)
  e(n,c)       = exp(X(n,c) - top(n))
  total(n) +=! e(n,c)
  Y(n,c)       = e(n,c) / total(n)
}"""

LAYER_NORM = """
def layer_norm(float(N,C) X, float(C) gain, float(C) bias) -> (Y) {
  mean(n) +=! X(n,c)
  mean(n)   = mean(n) / C
  var(n)  +=! (X(n,c) - mean(n)) * (X(n,c) - mean(n))
  Y(n,c)    = (X(n,c) - mean(n)) * rsqrt(var(n) / C + 1e-5) * gain(c) + bias(c)
}"""

EMBEDDING = """
def embedding(float(E,D) table, int64(B,L) index) -> (Y) {
  Y(b,d) +=! table(index(b,l), d)
}"""


def median_seconds(*functions, rounds=5, repeats=9):
    """The median wall time of a call of each, measured in turns.

    A pause goes before each turn: for milliseconds after a loop, threads of OpenMP look for the next one on the cores that
    the other function's threads need.
    """
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, own in zip(functions, times):
            time.sleep(0.02)
            function(), function()
            for _ in range(repeats):
                start = time.perf_counter()
                function()
                own.append(time.perf_counter() - start)
    return [sorted(own)[len(own) // 2] for own in times]


def show(title, text, name, inputs, reference):
    """Compiles `name` of `text`, runs it beside `reference` and prints one block of the report."""
    function = getattr(tc.define(text), name)
    info = function.infer(*inputs)
    start = time.perf_counter()
    result = function(*inputs)
    compile_ms = (time.perf_counter() - start) * 1e3
    doubles = [x.double() if x.is_floating_point() else x for x in inputs]
    expected = reference(*doubles)
    error = ((result.double() - expected).abs() / (1 + expected.abs())).max().item()
    ours, theirs = median_seconds(lambda: function(*inputs), lambda: reference(*inputs))
    print(f"\n{title}")
    print(f"  output    {', '.join(f'{o.name} {o.dtype}{tuple(o.shape)}' for o in info.outputs)}")
    for line in info.ranges:
        print(f"  range     {line}")
    cached = ", read from the cache" if tc.compile(function, *inputs).from_cache else ""
    print(f"  compile   {compile_ms:.0f} ms with the first run{cached}")
    print(f"  run       {ours * 1e3:.3f} ms   torch {theirs * 1e3:.3f} ms   ({theirs / ours:.2f}x)")
    print(f"  error     {error:.1e} (relative, against float64)")
    assert error < 1e-4, f"{title}: the error is too large"


def main():
    """Runs the five programs."""
    rand = torch.randn
    show("matmul + bias + relu, 256x512x512", MATMUL, "mlp", (rand(256, 512), rand(512, 512), rand(512)),
         lambda x, w, b: torch.relu(x @ w.T + b))
    show("2-D convolution, 8x32x34x34 with 64 3x3 filters", CONVOLUTION, "conv2d",
         (rand(8, 32, 34, 34), rand(64, 32, 3, 3)), F.conv2d)
    show("softmax, 4096x1024", SOFTMAX, "softmax", (rand(4096, 1024),), lambda x: torch.softmax(x, 1))
    show("layer norm, 4096x1024", LAYER_NORM, "layer_norm", (rand(4096, 1024), rand(1024), rand(1024)),
         lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, 1e-5))
    show("embedding look-up with sum, 100000x64 table", EMBEDDING, "embedding",
         (rand(100000, 64), torch.randint(0, 100000, (512, 20))), lambda t, i: F.embedding_bag(i, t, mode="sum"))


if __name__ == "__main__":
    main()
