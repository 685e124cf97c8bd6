"""Functions on zeros, infinities, NaN and the ends of types: as PyTorch has them."""

import pytest
import tensor_comprehensions as tc

torch = pytest.importorskip("torch")

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
NAMES = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64", torch.uint8: "uint8",
         torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64"}

UNARY = {
    "abs(A(i))": torch.abs, "-A(i)": torch.neg, "fabs(A(i))": torch.abs, "ceil(A(i))": torch.ceil, "floor(A(i))": torch.floor,
    "trunc(A(i))": torch.trunc, "round(A(i))": torch.round, "sqrt(A(i))": torch.sqrt, "exp(A(i))": torch.exp, "log(A(i))": torch.log,
    "sin(A(i))": torch.sin, "tanh(A(i))": torch.tanh, "atan(A(i))": torch.atan, "relu(A(i))": torch.relu, "erf(A(i))": torch.erf,
    "sigmoid(A(i))": torch.sigmoid, "1.0 / abs(A(i))": lambda a: 1 / torch.abs(a), "isnan(A(i))": torch.isnan,
    "isinf(A(i))": torch.isinf, "expm1(A(i))": torch.expm1, "log1p(A(i))": torch.log1p,
}  # fmt: skip
BINARY = {
    "min(A(i), B(i))": torch.minimum, "max(A(i), B(i))": torch.maximum, "A(i) + B(i)": torch.add, "A(i) - B(i)": torch.sub,
    "A(i) * B(i)": torch.mul,
}  # fmt: skip
# Without fmod: PyTorch gives NaN where the quotient is huge, the language and C the exact remainder.
FLOAT_BINARY = {
    "fmin(A(i), B(i))": torch.fmin, "fmax(A(i), B(i))": torch.fmax, "copysign(A(i), B(i))": torch.copysign,
    "A(i) / B(i)": torch.div, "atan2(A(i), B(i))": torch.atan2, "hypot(A(i), B(i))": torch.hypot, "pow(A(i), B(i))": torch.pow,
}  # fmt: skip
INTEGER_UNARY = {"abs(A(i))": torch.abs, "-A(i)": torch.neg}


def special_values(dtype):
    if not dtype.is_floating_point:
        ends = torch.iinfo(dtype)
        return torch.tensor([ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, 3], dtype=dtype)
    ends = torch.finfo(dtype)
    positive = [0.0, float("inf"), float("nan"), ends.tiny, ends.max, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]
    return torch.tensor(positive + [-x for x in positive], dtype=torch.float64).to(dtype)


def check(formulas, dtype, exact):
    values = special_values(dtype)
    a, b = values.repeat_interleave(len(values)), values.repeat(len(values))
    names = [f"R{r}" for r in range(len(formulas))]
    body = "  ".join(f"{name}(i) = {formula} where exists A(i), exists B(i)" for name, formula in zip(names, formulas, strict=True))
    kind = NAMES[dtype]
    module = tc.define(f"def f({kind}(N) A, {kind}(N) B) -> ({', '.join(names)}) {{ {body} }}")
    for got, (formula, reference) in zip(module.f(a, b), formulas.items(), strict=True):
        got, want = torch.as_tensor(got), reference(a) if "B(" not in formula else reference(a, b)
        if not got.is_floating_point():
            assert torch.equal(got, want), formula
            continue
        tolerance = 0 if exact else 4 * torch.finfo(dtype).eps
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance, equal_nan=True, msg=lambda m, f=formula: f"{f}: {m}")
        if not formula.startswith(("min", "max", "fmin", "fmax", "relu")):
            zero = want == 0
            assert torch.equal(torch.signbit(got[zero]), torch.signbit(want[zero])), formula


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_floats(dtype):
    check({**UNARY, **BINARY, **FLOAT_BINARY}, dtype, exact=False)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_functions_of_integers(dtype):
    check({**INTEGER_UNARY, **BINARY}, dtype, exact=True)


def test_literals_take_the_type_beside_them():
    x = torch.rand(7, dtype=torch.float64)
    k = torch.arange(7, dtype=torch.float64)
    module = tc.define("""
        def f(float64(N) X) -> (A, B, C, float64(N) D) {
          A(i) = X(i) * (1.0 / N)  B(i) = X(i) + 0.1 * i  C(i) = X(i) * cospi(2.0 * i / N)  D(i) = 0.1 * i where i in 0:N
        }""")
    wanted = [x * (1.0 / 7), x + 0.1 * k, x * torch.cos(2 * torch.pi * k / 7), 0.1 * k]
    for got, want in zip(module.f(x), wanted, strict=True):
        torch.testing.assert_close(torch.as_tensor(got), want, rtol=1e-14, atol=1e-15)
