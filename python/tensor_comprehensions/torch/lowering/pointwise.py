"""Element by element: arithmetic, functions, comparisons, choices, limits, types."""

import math

from ..expression import FLOATS, INTEGERS, call, cast, literal, where
from ..values import Formula, iterators
from .elementwise import ALWAYS_BOOL, BOOL_TO_LONG, DEFAULT, INT_TO_FLOAT, elementwise, is_float, limited, pointwise
from .registry import lowers, number, operand, refuse


def _function(name, spelled=None, kind=INT_TO_FLOAT):
    pointwise(name, kind=kind, arity=1)(lambda x: call(spelled or name, x))


for _name in (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt rsqrt erf erfc sigmoid lgamma"
).split():
    _function(_name)
_function("silu")
_function("abs", kind=DEFAULT)


@lowers("floor", "ceil", "trunc", "round")
def rounding(b, x):
    name = b.node.target.overloadpacket.__name__
    return elementwise(b, [x], lambda v: call(name, v) if is_float(v) else v)


pointwise("neg")(lambda x: -x)
pointwise("relu")(lambda x: call("relu", x))
pointwise("reciprocal", kind=INT_TO_FLOAT)(lambda x: 1 / x)
pointwise("square", kind=BOOL_TO_LONG)(lambda x: x * x)


@pointwise("sign", "sgn")
def sign(x):
    return x if x.dtype == "bool" else where(x > 0, literal(1, x.dtype), where(x < 0, literal(-1, x.dtype), 0))


pointwise("logical_not", kind=ALWAYS_BOOL)(lambda x: ~cast(x, "bool"))
pointwise("isnan", kind=ALWAYS_BOOL)(lambda x: x.ne(x) if is_float(x) else where(x.eq(x), literal(False, "bool"), True))
pointwise("isinf", kind=ALWAYS_BOOL)(lambda x: call("abs", x).eq(math.inf) if is_float(x) else x.ne(x))


@lowers("bitwise_not")
def bitwise_not(b, x):
    return elementwise(b, [x], lambda v: ~v if v.dtype == "bool" else -v - 1)


# Two operands.


def _scaled(formula_of_bool, formula):
    """Lowers add and sub, whose second operand is multiplied by `alpha`."""

    def lowering(b, x, y, alpha=1):
        def value(p, q):
            if p.dtype == "bool":
                refuse(formula_of_bool is None or alpha not in (1, True), "bool with alpha")
                return formula_of_bool(p, q)
            return formula(p, q if alpha == 1 else q * scale_of(b, p, alpha))

        return elementwise(b, [x, y], value)

    return lowering


lowers("add.Tensor", "add.Scalar")(_scaled(lambda p, q: p | q, lambda p, q: p + q))
lowers("sub.Tensor", "sub.Scalar")(_scaled(None, lambda p, q: p - q))


@lowers("rsub.Tensor", "rsub.Scalar")
def rsub(b, x, y, alpha=1):
    return elementwise(b, [x, y], lambda p, q: q - (p if alpha == 1 else p * scale_of(b, p, alpha)))


def scale_of(b, element, alpha):
    """The factor `alpha` of a term, rounded to the type of the sum, as `element` is computed."""
    return cast(number(alpha, b.out_dtype), element.dtype)


pointwise("mul.Tensor", "mul.Scalar", exact=(0, 1))(lambda x, y: x & y if x.dtype == "bool" else x * y)
pointwise("div.Tensor", "div.Scalar", kind=INT_TO_FLOAT, exact=(1,))(lambda x, y: x / y)


@lowers("div.Tensor_mode", "div.Scalar_mode")
def div_mode(b, x, y, rounding_mode=None):
    refuse(b.out_dtype == "bool", "bool")
    if rounding_mode is None:
        return elementwise(b, [x, y], lambda p, q: p / q, INT_TO_FLOAT, exact=(1,))
    if b.out_dtype not in FLOATS:
        refuse_unless_positive(y, "a quotient")
        return elementwise(b, [x, y], (lambda p, q: p / q) if rounding_mode == "floor" else truncated_quotient)
    trunc = lambda p, q: call("trunc", p / q)
    return elementwise(b, [x, y], trunc if rounding_mode == "trunc" else floor_quotient, exact=(1,))


def refuse_unless_positive(divisor, what):
    """torch raises an error where an integer divisor is 0; the language has another result there."""
    fine = isinstance(divisor, int) and not isinstance(divisor, bool) and divisor > 0
    refuse(not fine, f"{what} of integers raises an error where the divisor is 0")


def truncated_quotient(p, q):
    return where(p < 0, -((-p) / q), p / q)


def floor_quotient(x, y):
    """As torch: from the exact remainder, so that rounding of the quotient does not show."""
    mod = call("fmod", x, y)
    div = (x - mod) / y
    div = where(mod.ne(0.0) & (y < 0.0).ne(mod < 0.0), div - 1.0, div)
    near = call("floor", div)
    near = where(div - near > 0.5, near + 1.0, near)
    signed_zero = call("copysign", literal(0.0, x.dtype), x / y)
    return where(y.eq(0.0), x / y, where(div.ne(0.0), near, signed_zero))


@lowers("remainder.Tensor", "remainder.Scalar")
def remainder(b, x, y):
    def value(p, q):
        if not is_float(p):
            refuse_unless_positive(y, "a remainder")
            return p % q
        mod = call("fmod", p, q)
        return where(mod.ne(0.0) & (q < 0.0).ne(mod < 0.0), mod + q, mod)

    return elementwise(b, [x, y], value)


@lowers("fmod.Tensor", "fmod.Scalar")
def fmod(b, x, y):
    def value(p, q):
        if is_float(p):
            return call("fmod", p, q)
        refuse_unless_positive(y, "a remainder")
        return where((p < 0) & (p % q).ne(0), p % q - q, p % q)

    return elementwise(b, [x, y], value)


@lowers("floor_divide")
def floor_divide(b, x, y):
    if b.out_dtype not in FLOATS:
        refuse_unless_positive(y, "a quotient")
    return elementwise(b, [x, y], lambda p, q: floor_quotient(p, q) if is_float(p) else p / q, exact=(1,))


@lowers("pow.Tensor_Scalar")
def pow_scalar(b, x, exponent):
    def value(v, e):
        known = {1: lambda: v, 2: lambda: v * v, 3: lambda: v * v * v}
        if exponent in known:
            return known[exponent]()
        refuse(not is_float(v), "a power of integers")
        known = {
            0.5: lambda: call("sqrt", v),
            -0.5: lambda: call("rsqrt", v),
            -1: lambda: 1 / v,
            -2: lambda: 1 / (v * v),
            0: lambda: where(v.eq(v), literal(1.0, v.dtype), 1.0),
        }
        return known[exponent]() if exponent in known else call("pow", v, e)

    return elementwise(b, [x, exponent], value)


@lowers("pow.Tensor_Tensor", "pow.Scalar")
def pow_tensor(b, x, exponent):
    refuse(b.out_dtype not in FLOATS, "a power of integers")
    return elementwise(b, [x, exponent], lambda v, e: call("pow", v, e))


for _name in "atan2 hypot copysign".split():
    lowers(_name, _name + ".Tensor", _name + ".Scalar")(
        lambda b, x, y, _f=_name: elementwise(
            b, [x, y], lambda p, q: call(_f, p, q), DEFAULT if _f == "hypot" else INT_TO_FLOAT
        )
    )


def _extreme(function, of_bool):
    return lambda p, q: of_bool(p, q) if p.dtype == "bool" else call(function, p, q)


pointwise("maximum")(_extreme("max", lambda p, q: p | q))
pointwise("minimum")(_extreme("min", lambda p, q: p & q))
pointwise("fmax", arity=2)(lambda p, q: _extreme("fmax" if is_float(p) else "max", lambda a, b: a | b)(p, q))
pointwise("fmin", arity=2)(lambda p, q: _extreme("fmin" if is_float(p) else "min", lambda a, b: a & b)(p, q))

_COMPARE = {
    "eq": lambda x, y: x.eq(y),
    "ne": lambda x, y: x.ne(y),
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
_COMPARE_BOOL = {
    "lt": lambda x, y: ~x & y,
    "le": lambda x, y: ~x | y,
    "gt": lambda x, y: x & ~y,
    "ge": lambda x, y: x | ~y,
    "eq": lambda x, y: x.eq(y),
    "ne": lambda x, y: x.ne(y),
}
for _name in _COMPARE:
    pointwise(_name + ".Tensor", _name + ".Scalar", kind=ALWAYS_BOOL, arity=2)(
        lambda x, y, _n=_name: (_COMPARE_BOOL if x.dtype == "bool" else _COMPARE)[_n](x, y)
    )

_LOGIC = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x.ne(y)}
for _name, _formula in _LOGIC.items():
    pointwise("logical_" + _name, kind=ALWAYS_BOOL, arity=2)(
        lambda x, y, _f=_formula: _f(cast(x, "bool"), cast(y, "bool"))
    )

    def _bitwise(b, x, y, _f=_formula):
        refuse(b.out_dtype != "bool", "the language has no operators on bits of integers")
        return elementwise(b, [x, y], _f)

    lowers(f"bitwise_{_name}.Tensor", f"bitwise_{_name}.Scalar")(_bitwise)


# Choices and limits.


@lowers("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where_self(b, condition, x, y):
    its = iterators(b.out_shape)
    dtype = b.out_dtype
    yes, no = operand(x, its, dtype), operand(y, its, dtype)
    return b.define(its, where(operand(condition, its, "bool"), yes, no))


@lowers("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b, x, mask, value):
    its = iterators(b.out_shape)
    return b.define(
        its, where(operand(mask, its, "bool"), operand(value, its, b.out_dtype), operand(x, its, b.out_dtype))
    )


@lowers("clamp", "clamp.Tensor", "clamp_min", "clamp_min.Tensor")
def clamp(b, x, min=None, max=None):
    return elementwise(b, [x, min, max], limited)


@lowers("clamp_max", "clamp_max.Tensor")
def clamp_max(b, x, max=None):
    return elementwise(b, [x, max], lambda v, high: limited(v, None, high))


@lowers("hardtanh")
def hardtanh(b, x, min_val=-1, max_val=1):
    return elementwise(b, [x], lambda v: limited(v, number(min_val, b.out_dtype), number(max_val, b.out_dtype)))


@lowers("relu6")
def relu6(b, x):
    return elementwise(b, [x], lambda v: limited(v, 0, 6))


# Sums of products.


@lowers("addcmul")
def addcmul(b, x, y, z, value=1):
    refuse(b.out_dtype == "bool", "bool")
    return elementwise(b, [x, y, z], lambda p, q, r: p + (q * r if value == 1 else q * value * r))


@lowers("addcdiv")
def addcdiv(b, x, y, z, value=1):
    return elementwise(b, [x, y, z], lambda p, q, r: p + (q / r if value == 1 else q / r * value))


@lowers("lerp.Scalar", "lerp.Tensor")
def lerp(b, x, y, weight):
    def value(p, q, w):
        return where(call("abs", w) < 0.5, p + w * (q - p), q - (q - p) * (1.0 - w))

    return elementwise(b, [x, y, weight], value, exact=(2,))


# Types and copies.


@lowers("_to_copy", "to.dtype", "prims::convert_element_type")
def to_copy(b, x, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None, **_):
    refuse(b.result().device.type != "cpu", "it moves to another device")
    to, own = b.out_dtype, x.dtype
    refuse(
        own in FLOATS and to in INTEGERS and to.startswith("u"), "a float as unsigned integer depends on the machine"
    )
    if to == own:
        return x
    if isinstance(x, Formula):
        return Formula(lambda s: cast(x.at(s), to), x.shape, to)
    its = iterators(x.shape)
    return b.define(its, cast(x.at(its), to))


@lowers("copy")
def copy(b, x, source, non_blocking=False):
    its = iterators(b.out_shape)
    return b.define(its, operand(source, its, b.out_dtype))
