"""Activations and their gradients, element by element."""

import math

from ..expression import call, literal, where
from .elementwise import elementwise, limited, pointwise
from .registry import lowers


def _gelu_inner(x):
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)


@lowers("gelu")
def gelu(b, x, approximate="none"):
    if approximate == "none":
        return elementwise(b, [x], lambda v: call("gelu", v))
    return elementwise(b, [x], lambda v: 0.5 * v * (1.0 + call("tanh", _gelu_inner(v))))


@lowers("gelu_backward")
def gelu_backward(b, grad, x, approximate="none"):
    def erf_form(g, v):
        density = call("exp", -0.5 * v * v) * (1 / math.sqrt(2 * math.pi))
        return g * (0.5 * (1.0 + call("erf", v * math.sqrt(0.5))) + v * density)

    def tanh_form(g, v):
        t = call("tanh", _gelu_inner(v))
        slope = math.sqrt(2 / math.pi) * (1.0 + 3 * 0.044715 * v * v)
        return g * (0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * slope)

    return elementwise(b, [grad, x], erf_form if approximate == "none" else tanh_form)


pointwise("sigmoid_backward", arity=2)(lambda g, y: g * (y * (1.0 - y)))
pointwise("tanh_backward", arity=2)(lambda g, y: g * (1.0 - y * y))
pointwise("hardswish")(lambda x: x * limited(x + 3.0, 0.0, 6.0) / 6.0)
pointwise("hardsigmoid")(lambda x: limited(x + 3.0, 0.0, 6.0) / 6.0)


@pointwise("silu_backward", arity=2)
def silu_backward(g, x):
    s = call("sigmoid", x)
    return g * s * (1.0 + x * (1.0 - s))


@lowers("threshold_backward")
def threshold_backward(b, grad, x, threshold):
    return elementwise(b, [grad, x], lambda g, v: where(v <= threshold, literal(0, g.dtype), g))


@lowers("leaky_relu")
def leaky_relu(b, x, negative_slope=0.01):
    return elementwise(b, [x], lambda v: where(v > 0.0, v, v * negative_slope))


@lowers("elu")
def elu(b, x, alpha=1, scale=1, input_scale=1):
    return elementwise(b, [x], lambda v: where(v > 0.0, v * scale, call("expm1", v * input_scale) * (alpha * scale)))
