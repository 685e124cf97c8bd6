"""With batch_invariant=1 the bits of a result do not depend on the sizes that it is not summed over."""

import os
import random

import pytest

torch = pytest.importorskip("torch")
import tensor_comprehensions as tc

INVARIANT = tc.MappingOptions(batch_invariant=True)

NORM = "m(n) +=! X(n,c)/C  v(n) +=! (X(n,c)-m(n))*(X(n,c)-m(n))/C  O(n,c) = (X(n,c)-m(n))/sqrt(v(n)+1e-5)"
SOFTMAX = "M(n) max=! X(n,c)  E(n,c) = exp(X(n,c)-M(n))  S(n) +=! E(n,c)  O(n,c) = E(n,c)/S(n)"
ATTENTION = """A(h,i,j) +=! Q(h,i,d) * K(h,j,d)  M(h,i) max=! A(h,i,j)  P(h,i,j) = exp(A(h,i,j) - M(h,i))  Z(h,i) +=! P(h,i,j)
  W(h,i,c) +=! P(h,i,j) * V(h,j,c)  O(h,i,c) = W(h,i,c) / Z(h,i)"""

# the text, shapes whose -1 is the batch, and where it is in the result
PROGRAMS = {
    "product_nt": ("def f(T(B,I) X, T(O,I) W) -> (Y) { Y(n,o) +=! X(n,i) * W(o,i) }", [(-1, 300), (257, 300)], 0),
    "product_nn": ("def f(T(B,I) X, T(I,O) W) -> (Y) { Y(n,o) +=! X(n,i) * W(i,o) }", [(-1, 1500), (1500, 130)], 0),
    "product_tt": ("def f(T(I,B) X, T(O,I) W) -> (Y) { Y(n,o) +=! X(i,n) * W(o,i) }", [(500, -1), (130, 500)], 0),
    "softmax": (f"def f(T(N,C) X) -> (O) {{ {SOFTMAX} }}", [(-1, 1000)], 0),
    "norm": (f"def f(T(N,C) X) -> (O) {{ {NORM} }}", [(-1, 777)], 0),
    "attention": (f"def f(T(H,L,D) Q, T(H,S,D) K, T(H,S,E) V) -> (O) {{ {ATTENTION} }}", [(4, -1, 64), (4, 100, 64), (4, 100, 48)], 1),
    "convolution": (
        "def f(T(N,C,H,W) I, T(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
        [(-1, 16, 12, 12), (24, 16, 3, 3)],
        0,
    ),
    "convolution_nhwc": (
        "def f(T(N,H,W,C) I, T(M,KH,KW,C) K) -> (O) { O(n,h,w,m) +=! I(n,h+kh,w+kw,c) * K(m,kh,kw,c) }",
        [(-1, 9, 9, 32), (24, 3, 3, 32)],
        0,
    ),
    "columns": ("def f(T(N,C) X) -> (O) { O(c) +=! X(n,c) * X(n,c) }", [(500, -1)], 0),
    "functions": ("def f(T(C,N) X) -> (O) { O(c,n) = X(c,n)*(1+erf(X(c,n))) + tanh(X(c,n)) + log(1+exp(-X(c,n))) }", [(37, -1)], 1),
}
BATCHES = [1, 3, 8, 33]
TYPES = {torch.float32: "float", torch.bfloat16: "bfloat16"}


def differing(function, tensors, dimensions, place, whole, sizes):
    """The sizes for which `function`, given the first elements of `tensors` along `dimensions` (-1: all), has other bits than `whole`."""
    result = []
    for size in sizes:
        parts = [t.narrow(d, 0, size).contiguous() if d >= 0 else t for t, d in zip(tensors, dimensions)]
        if not torch.equal(function(*parts), whole.narrow(place, 0, size)):
            result.append(size)
    return result


def check(name, dtype, options, batch=256):
    text, shapes, place = PROGRAMS[name]
    torch.manual_seed(1)
    tensors = [torch.rand([batch if s < 0 else s for s in shape]).sub(0.4).to(dtype) for shape in shapes]
    function = tc.define(text.replace("T(", TYPES[dtype] + "("), options=options).f
    dimensions = [shape.index(-1) if -1 in shape else -1 for shape in shapes]
    return differing(function, tensors, dimensions, place, function(*tensors), BATCHES)


# One type of each program, of the next program the other one; the other half by `make test-long`.
PAIRS = [(name, dtype) for name in PROGRAMS for dtype in TYPES]
HALF = [pair if k % 4 in (0, 3) else pytest.param(*pair, marks=pytest.mark.long) for k, pair in enumerate(PAIRS)]


@pytest.mark.parametrize("name, dtype", HALF)
def test_bits_do_not_depend_on_the_batch(name, dtype):
    assert check(name, dtype, INVARIANT) == []


def test_bits_depend_on_the_batch_without_the_option():
    assert check("product_nt", torch.float32, None) != []


def random_sum(draw):
    """A random sum of products, its sizes, and the iterators of its result and of its operands."""
    kept, reduced = list("abc")[: draw.randint(1, 3)], list("rst")[: draw.randint(1, 3)]
    sizes = {i: draw.choice([5, 16, 31, 40]) for i in kept} | {i: draw.choice([1, 3, 16, 31, 64, 100]) for i in reduced}
    operands = [draw.sample(every, draw.randint(1, len(every))) for every in [kept + reduced] * draw.randint(1, 3)]
    for iterator in kept + reduced:
        if not any(iterator in operand for operand in operands):
            operands[0].insert(draw.randint(0, len(operands[0])), iterator)
    draw.shuffle(kept)
    params = ", ".join(f"float({','.join('N' + i for i in operand)}) X{k}" for k, operand in enumerate(operands))
    value = " * ".join(f"X{k}({','.join(operand)})" for k, operand in enumerate(operands))
    result, own = ",".join(kept), ", ".join(f"{i} in 0:N{i}" for i in kept)
    last = draw.choice(["", f"  Y({result}) = Y({result}) / (1 + fabs(Z({result})))  ", f"  Y({result}) = exp(0 - fabs(Y({result})))"])
    other = f"  Z({result}) +=! {value} * {value}" if "Z" in last else ""
    return f"def f({params}) -> (Y) {{ Y({result}) +=! {value} where {own} {other}{last} }}", sizes, kept, operands


@pytest.mark.parametrize("seed", range(int(os.environ.get("TC_BATCH_SEED", 0)), int(os.environ.get("TC_BATCH_SEED", 0)) + int(os.environ.get("TC_BATCH_COUNT", 6))))
def test_bits_of_random_sums(seed):
    draw = random.Random(seed)
    text, sizes, kept, operands = random_sum(draw)
    torch.manual_seed(seed)
    tensors = [torch.rand([sizes[i] for i in operand]).sub(0.4) for operand in operands]
    function = tc.define(text, options=INVARIANT).f
    whole = function(*tensors)
    for place, iterator in enumerate(kept):
        dimensions = [operand.index(iterator) if iterator in operand else -1 for operand in operands]
        small = sorted({1, 2, draw.randint(1, sizes[iterator])})
        assert differing(function, tensors, dimensions, place, whole, small) == [], (text, sizes, iterator)


@pytest.mark.parametrize("how", [{"libraries": "auto"}, {"derive": 1}])
def test_programs_of_other_orders_are_refused(how):
    T = tc.define(PROGRAMS["product_nn"][0].replace("T(", "float("), options=INVARIANT, **how)
    with pytest.raises(tc.OptionsError, match="batch_invariant=1.*leave out"):
        T.f(torch.rand(3, 40), torch.rand(40, 5))
