"""Maxima with their sums of exponentials in one loop over blocks: values beside float64, special values, memory, and random texts."""

import pathlib
import random
import re
import sys

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc

TEXTS = """
def attention(float(N,K) Q, float(J,K) W, float(J,D) V) -> (O) {
  S(n,j) +=! Q(n,k) * W(j,k)
  T(n,j) = 0.5 * S(n,j)
  m(n) max=! T(n,j)
  E(n,j) = exp(T(n,j) - m(n))
  l(n) +=! E(n,j)
  P(n,j) = E(n,j) / l(n)
  O(n,d) +=! P(n,j) * V(j,d)
}
def guarded(float(N,J) S, float(J,D) V) -> (O, l) {
  m(n) max=! S(n,j)
  r(n) = m(n) == -inf ? 0 : m(n)
  E(n,j) = exp(S(n,j) - r(n))
  l(n) +=! E(n,j)
  O(n,d) +=! E(n,j) * V(j,d)
}
def plain(float(N,J) S, float(J,D) V) -> (O, l, m) {
  m(n) max=! S(n,j)
  E(n,j) = exp(S(n,j) - m(n))
  l(n) +=! E(n,j)
  O(n,d) +=! E(n,j) * V(j,d)
}
def log_sum_exp(float(N,J) S) -> (O) { m(n) max=! S(n,j)  l(n) +=! exp(S(n,j) - m(n))  O(n) = m(n) + log(l(n)) }
def cross_entropy(float(N,K) X, float(J,K) W, float(N,K) Y) -> (O) {
  Z(n,j) +=! X(n,k) * W(j,k)
  m(n) max=! Z(n,j)
  l(n) +=! exp(Z(n,j) - m(n))
  t(n) +=! X(n,k) * Y(n,k)
  O(n) = m(n) + log(l(n)) - t(n)
}
def warm(float(N,J) S, float(J,D) V) -> (O) {
  m(n) max=! S(n,j)
  E(n,j) = exp((S(n,j) - m(n)) / 0.7)
  l(n) +=! E(n,j)
  O(n,d) +=! E(n,j) * V(j,d) / l(n)
}
def pooling(float(N,J,D) X, float(D) w) -> (O) {
  s(n,j) +=! tanh(X(n,j,d)) * w(d)
  m(n) max=! s(n,j)
  e(n,j) = exp(s(n,j) - m(n))
  l(n) +=! e(n,j)
  O(n,d) +=! e(n,j) * X(n,j,d) / l(n)
}
def heads(float(H,N,K) Q, float(H,J,K) W, float(H,J,D) V) -> (O) {
  S(h,n,j) +=! Q(h,n,k) * W(h,j,k)
  m(h,n) max=! S(h,n,j)
  E(h,n,j) = exp(S(h,n,j) - m(h,n))
  l(h,n) +=! E(h,n,j)
  O(h,n,d) +=! E(h,n,j) * V(h,j,d) / l(h,n)
}
"""
needs_nvrtc = pytest.mark.skipif(not list(pathlib.Path(sys.prefix).rglob("libnvrtc.so*")), reason="NVRTC is not installed")

# Code without vectors compiles in half of the time.
PLAIN = "cpu:plain"
T = tc.define(TEXTS, target=PLAIN)
D = tc.define(TEXTS.replace("float(", "double("), target=PLAIN)


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def exponentials(scores):
    return np.exp(scores - scores.max(-1, keepdims=True))


def log_sum_exp(scores):
    return scores.max(-1) + np.log(exponentials(scores).sum(-1))


REFERENCES = {
    "attention": lambda q, w, v: (softmax(0.5 * q @ w.T) @ v,),
    "guarded": lambda s, v: (exponentials(s) @ v, exponentials(s).sum(-1)),
    "plain": lambda s, v: (exponentials(s) @ v, exponentials(s).sum(-1), s.max(-1)),
    "log_sum_exp": lambda s: (log_sum_exp(s),),
    "cross_entropy": lambda x, w, y: (log_sum_exp(x @ w.T) - (x * y).sum(-1),),
    "warm": lambda s, v: (softmax(s / 0.7) @ v,),
    "pooling": lambda x, w: (np.einsum("nj,njd->nd", softmax(np.tanh(x) @ w), x),),
}


def sizes_of(name, n, j):
    k, d = 4, 3
    return {
        "attention": [(n, k), (j, k), (j, d)],
        "guarded": [(n, j), (j, d)],
        "plain": [(n, j), (j, d)],
        "log_sum_exp": [(n, j)],
        "cross_entropy": [(n, k), (j, k), (n, k)],
        "warm": [(n, j), (j, d)],
        "pooling": [(n, j, d), (d,)],
    }[name]


def results(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", REFERENCES)
def test_values_beside_float64(name):
    sizes = [(5, 37, 8), (1, 1, 8), (3, 7, 1), (17, 40, 10)]
    for n, j, block in sizes if name == "attention" else sizes[: 1 + (name == "plain")]:
        tensors = [torch.randn(shape) * 2 for shape in sizes_of(name, n, j)]
        target = None if (n, name) == (17, "attention") else PLAIN
        rolled = tc.roll(T[name], *tensors, block=block, target=target)
        want = REFERENCES[name](*(tensor.double().numpy() for tensor in tensors))
        for got, value in zip(results(rolled.function(*tensors)), want):
            torch.testing.assert_close(got, torch.from_numpy(value).float(), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_of_halves_roll(dtype, rounds):
    half = str(dtype).removeprefix("torch.")
    function = tc.define(
        f"""
        def f({half}(N,K) Q, {half}(J,K) W, {half}(J,D) V) -> (O) {{
          S(n,j) +=! float32(Q(n,k)) * float32(W(j,k))
          m(n) max=! S(n,j)
          E(n,j) = exp(S(n,j) - m(n))
          l(n) +=! E(n,j)
          {f"P(n,j) = {half}(E(n,j))  U(n,d) +=! float32(P(n,j))" if rounds else "U(n,d) +=! E(n,j)"} * float32(V(j,d))
          O(n,d) = U(n,d) / l(n)
        }}""",
        target=PLAIN,
    ).f
    q, w, v = (torch.randn(shape).to(dtype) for shape in [(9, 4), (21, 4), (21, 3)])
    rolled = tc.roll(function, q, w, v, block=8, target=PLAIN)
    rolled.verify()
    want = softmax(q.double().numpy() @ w.double().numpy().T) @ v.double().numpy()
    # a rounding of each term, of values of up to 4, beside those of float32
    near = 4 * torch.finfo(dtype).eps if rounds else 2e-6
    torch.testing.assert_close(rolled.function(q, w, v), torch.from_numpy(want).float(), rtol=2e-5, atol=near)


def test_certificates_are_checked_again():
    tensors = [torch.randn(shape) for shape in sizes_of("attention", 3, 7)]
    rolled = tc.roll(T.attention, *tensors, block=3, target=PLAIN)
    rolled.verify()
    rolled.certificate = rolled.certificate.replace("* m_step(b, n)", "* m_from(b, n)")
    rolled.text = rolled.text.replace("* m_step(b, n)", "* m_from(b, n)")
    with pytest.raises(tc.InternalError, match="the certificate proves nothing"):
        rolled.verify()


def test_special_values_are_those_of_the_text():
    """Rows with all keys masked, masked blocks before and behind others, infinities and NaN."""
    inf, nan = float("inf"), float("nan")
    n, j = 8, 13
    scores, values = torch.randn(n, j), torch.randn(j, 3)
    scores[0] = -inf
    scores[1, :9] = -inf
    scores[2, 4:] = -inf
    scores[3, 5:] = -200.0
    scores[3, :5] = -inf
    scores[4, 6] = inf
    scores[5, 2] = nan
    scores[6] = torch.linspace(-100, 100, j)
    scores[7] = -1e30
    scores[7, :4] = -inf
    for name in ("plain", "guarded"):
        for block in (1, 4) if name == "plain" else (3, 13):
            rolled = tc.roll(T[name], scores, values, block=block, target=PLAIN).function
            for got, want in zip(results(rolled(scores, values)), results(T[name](scores, values))):
                assert torch.equal(got.isnan(), want.isnan())
                torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-6, equal_nan=True)
    masked = results(rolled(scores, values))
    assert masked[0][0].eq(0).all() and masked[1][0] == 0


def test_nothing_of_all_scores_is_kept():
    """Of 512 queries and keys in blocks of 64, the scores would take 2 MiB, as would the running sums of all blocks. Sums of two blocks take
    256 KiB; the scores of a tile of queries and a block of keys, and what rows need, as much at most."""
    shape = tc.spec((2, 512, 32))
    rolled = tc.roll(T.heads, shape, shape, shape, block=64, target=PLAIN)
    compiled = tc.compile(rolled.function, shape, shape, shape, target="cpu:avx512,cores=2,l2=256k", cache=False)
    buffers = [int(size) for size in re.findall(r"allocate \w+\[float32 \* (\d+)\]", compiled.source)]
    assert compiled.stats["workspace_bytes"] == 0 and buffers
    assert 4 * sum(buffers) <= 512 << 10


def test_gradients():
    shapes = [(3, 2), (7, 2), (7, 2)]
    tensors = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]
    rolled = tc.roll(D.attention, *(tensor.detach() for tensor in tensors), block=3, target=PLAIN).function
    assert torch.autograd.gradcheck(lambda *given: rolled(*given), tensors, fast_mode=True)


def test_refusals_name_the_reason():
    spec = tc.spec((5, 9))
    F = tc.define("""
    def whole(float(N,J) S) -> (O) { m(n) max=! S(n,j)  O(n,j) = exp(S(n,j) - m(n)) }
    def steep(float(N,J) S) -> (O) { m(n) max=! S(n,j)  O(n) +=! exp(2 * S(n,j) - m(n)) }
    """)
    with pytest.raises(tc.ArgumentError, match="whole cannot be rolled: 'O' reads 'm' and is no sum"):
        tc.roll(F.whole, spec)
    with pytest.raises(tc.ArgumentError, match="the exponent of 'O' is not c \\* \\(s - m\\)"):
        tc.roll(F.steep, spec)
    with pytest.raises(tc.ArgumentError, match="has no values|no elements"):
        tc.roll(T.log_sum_exp, tc.spec((5, 0)))
    with pytest.raises(tc.OptionsError, match="block is a whole number from 1 on"):
        tc.roll(T.log_sum_exp, spec, block=0)
    with pytest.raises(tc.ArgumentError, match="takes a def"):
        tc.roll("log_sum_exp", spec)


def random_text(draw):
    """A text that rolls, in some of its many forms."""
    product, guard, temporary = draw.random() < 0.5, draw.random() < 0.3, draw.random() < 0.5
    low = draw.random() < 0.3
    factor = draw.choice(["", "0.25 * ", "3 * "])
    scores = "S(n,j) +=! Q(n,k) * W(j,k)" if product else "S(n,j) = Q(n,j) - 0.5 * U(j)"
    extreme = "min" if low else "max"
    reference = "m"
    lines = [scores, f"m(n) {extreme}=! S(n,j)"]
    if guard:
        lines.append(f"r(n) = m(n) == {'' if low else '-'}inf ? 0 : m(n)")
        reference = "r"
    exponent = f"{reference}(n) - S(n,j)" if low else f"S(n,j) - {reference}(n)"
    exponential = f"exp({factor}({exponent}))"
    if temporary:
        lines.append(f"E(n,j) = {exponential}")
        exponential = "E(n,j)"
    lines.append(f"l(n) +=! {exponential}")
    for number in range(draw.randint(0, 2)):
        factors = [exponential, draw.choice(["V(j,d)", "V(j,d) * V(j,d)", "V(j,d) * U(j)"])]
        draw.shuffle(factors)
        lines.append(f"O{number}(n,d) +=! {' * '.join(factors)}{draw.choice(['', ' / l(n)', ' * U2(n)'])}")
    outputs = [line.split("(")[0] for line in lines if line[0] in "lO"]
    head = "double(N,K) Q, double(J,K) W, " if product else "double(N,J) Q, "
    return f"def f({head}double(J,D) V, double(J) U, double(N) U2) -> ({', '.join(outputs)}) {{ {'  '.join(lines)} }}", product


@pytest.mark.parametrize("seed", range(6))
def test_random_texts(seed):
    print("seed", seed)
    draw = random.Random(seed)
    text, product = random_text(draw)
    n, j, k, d = (draw.randint(1, 9) for _ in range(4))
    block = draw.randint(1, j + 1)
    shapes = [(n, k), (j, k)] if product else [(n, j)]
    shapes += [(j, d), (j,), (n,)]
    numbers = np.random.default_rng(seed)
    tensors = [numbers.normal(size=shape) for shape in shapes]
    function = tc.define(text, target=PLAIN).f
    rolled = tc.roll(function, *tensors, block=block, target=PLAIN)
    assert tc._core.check_derivation(rolled.certificate) == ""
    for got, want in zip(results(rolled.function(*tensors)), results(function(*tensors))):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13, err_msg=text)


def attention_on_a_gpu(shapes=((16, 512, 64),) * 3, **how):
    return tc.compile(T.heads, *map(tc.spec, shapes), target="cuda:sm_90", cache=False, **how)


@needs_nvrtc
def test_a_gpu_rolls_where_the_price_says_so():
    rolled = attention_on_a_gpu()
    (program,) = rolled.stats["derived"]
    assert program["after_us"] < program["before_us"] and program["source"] == "model"
    assert rolled.stats["launches"] == 1 and rolled.stats["workspace_bytes"] == 0
    assert any(rule.startswith("roll") for rule in program["rules"])


@needs_nvrtc
@pytest.mark.parametrize("how", [dict(partition="one"), dict(options="construct=rules"), dict(options="batch_invariant=1")])
def test_a_gpu_does_not_roll_where_the_text_is_to_stay(how):
    plain = attention_on_a_gpu(**how)
    assert plain.stats["derived"] == [] and plain.stats["launches"] == 3 and plain.stats["workspace_bytes"] > 0


@pytest.mark.parametrize("rows, columns, block", [(12, 10, 5), (7, 16, 4)])
def test_gradients_keep_no_matrix(rows, columns, block):
    torch.manual_seed(0)
    own = [torch.randn(*size) for size in ((rows, 4), (columns, 4), (columns, 3))]
    gradient = torch.randn(rows, 3)
    rolled = tc.roll(tc.grad(T.attention), *own, gradient, block=block, target=PLAIN)
    assert rolled.text.count("for b") == 3 and "(n, j)" not in rolled.text
    q, w, v = (value.double().requires_grad_() for value in own)
    (torch.softmax(0.5 * q @ w.T, 1) @ v).backward(gradient.double())
    for got, want in zip(rolled.function(*own, gradient), (q.grad, w.grad, v.grad)):
        assert float((got.double() - want).abs().max()) < 1e-5 * float(want.abs().max())


@needs_nvrtc
def test_the_gradient_of_attention_needs_no_workspace_on_a_gpu():
    """Of halves, where it is predicted to be faster: rows, then queries, then keys and values."""
    gradient = tc.define("""
        def f(bfloat16(H,N,K) Q, bfloat16(H,N,K) W, bfloat16(H,N,K) V, bfloat16(H,N,K) G, float(H,N) L, float(H,N) Z) -> (dQ, dW, dV) {
          S(h,n,j) +=! float32(Q(h,n,k)) * float32(W(h,j,k))
          E(h,n,j) = exp(S(h,n,j) - L(h,n))
          P(h,n,j) = bfloat16(E(h,n,j))
          A(h,n,j) +=! float32(G(h,n,k)) * float32(V(h,j,k))
          B(h,n,j) = bfloat16(E(h,n,j) * (A(h,n,j) - Z(h,n)))
          dQ(h,n,k) +=! float32(B(h,n,j)) * float32(W(h,j,k))
          dW(h,j,k) +=! float32(B(h,n,j)) * float32(Q(h,n,k))
          dV(h,j,k) +=! float32(P(h,n,j)) * float32(G(h,n,k))
        }""").f
    half = tc.spec((16, 1024, 64), dtype="bfloat16")
    compiled = tc.compile(gradient, half, half, half, half, tc.spec((16, 1024)), tc.spec((16, 1024)), target="cuda:sm_90", cache=False)
    assert len(compiled.stats["derived"]) == 1 and compiled.stats["launches"] == 2 and not compiled.stats["fallbacks"]
    assert compiled.stats["workspace_bytes"] == 0
