"""Recurrent layers of torch as defs whose loops run along time.

    lstm(x, [h, c], weights, ...)  ->  for each layer and direction  X = linear(x, W)   Y, C = lstm(X, h, c, U)

Torch's own decomposition has a copy of a step for each element of the sequence.
"""

import functools
from typing import Callable, Dict

import torch
import torch.nn.functional as F

from ..api import define
from ..autograd import node_of

TEXT = """
def lstm(R(T,B,4,H) X, R(B,H) h, R(B,H) c, R(4,H,H) U) -> (R(T,B,H) Y, R(T,B,H) C, i, f, g, o) {
  for t in 0:T {
    G(t,b,q,n) +=! (t >= 1 ? Y(t-1,b,k) : h(b,k)) * U(q,n,k)
    i(t,b,n) = sigmoid(X(t,b,0,n) + G(t,b,0,n))
    f(t,b,n) = sigmoid(X(t,b,1,n) + G(t,b,1,n))
    g(t,b,n) = tanh(X(t,b,2,n) + G(t,b,2,n))
    o(t,b,n) = sigmoid(X(t,b,3,n) + G(t,b,3,n))
    C(t,b,n) = f(t,b,n) * (t >= 1 ? C(t-1,b,n) : c(b,n)) + i(t,b,n) * g(t,b,n)
    Y(t,b,n) = o(t,b,n) * tanh(C(t,b,n))
  }
}
def gru(R(T,B,3,H) X, R(B,H) h, R(H) d, R(3,H,H) U) -> (R(T,B,H) Y, r, z, s, g) {
  for t in 0:T {
    G(t,b,q,n) +=! (t >= 1 ? Y(t-1,b,k) : h(b,k)) * U(q,n,k)
    r(t,b,n) = sigmoid(X(t,b,0,n) + G(t,b,0,n))
    z(t,b,n) = sigmoid(X(t,b,1,n) + G(t,b,1,n))
    s(t,b,n) = G(t,b,2,n) + d(n)
    g(t,b,n) = tanh(X(t,b,2,n) + r(t,b,n) * s(t,b,n))
    Y(t,b,n) = g(t,b,n) + z(t,b,n) * ((t >= 1 ? Y(t-1,b,n) : h(b,n)) - g(t,b,n))
  }
}
def rnn_tanh(R(T,B,H) X, R(B,H) h, R(H,H) U) -> (R(T,B,H) Y) {
  for t in 0:T {
    G(t,b,n) +=! (t >= 1 ? Y(t-1,b,k) : h(b,k)) * U(n,k)
    Y(t,b,n) = tanh(X(t,b,n) + G(t,b,n))
  }
}
def rnn_relu(R(T,B,H) X, R(B,H) h, R(H,H) U) -> (R(T,B,H) Y) {
  for t in 0:T {
    G(t,b,n) +=! (t >= 1 ? Y(t-1,b,k) : h(b,k)) * U(n,k)
    Y(t,b,n) = relu(X(t,b,n) + G(t,b,n))
  }
}
"""
"""What X has of the input, with biases; h and c are the first states, U the weights of states. Gates are returned for the gradient."""


@functools.cache
def _defs(turned):
    """The defs; where `turned`, of weights whose columns are contiguous along results: loops read vectors of these, and those of gradients rows."""
    return define(TEXT.replace("U(q,n,k)", "U(q,k,n)").replace("U(n,k)", "U(k,n)") if turned else TEXT)


def _run(name, *tensors):
    """The results of the def `name`, whose last parameter is U: computed with turned weights, differentiated as it is written."""
    function = _defs(False)[name]._for_values(tensors)

    def run(*given):
        return _defs(True)[name](*given[:-1], given[-1].transpose(-1, -2))

    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return node_of(function).apply(function, run, *tensors)
    return run(*tensors)


def _lstm_layer(x, state, w, u, w_bias=None, u_bias=None):
    """(outputs, (last h, last c)) of one layer in one direction."""
    of_input = F.linear(x, w, None if w_bias is None else w_bias + u_bias)
    y, c, *_ = _run("lstm", of_input.unflatten(2, (4, -1)), *state, u.unflatten(0, (4, -1)))
    return y, (y[-1], c[-1])


def _gru_layer(x, state, w, u, w_bias=None, u_bias=None):
    """The bias of the state in the candidate is inside of the reset gate, so that it is no part of what the input gives."""
    (h,) = state
    if w_bias is None:
        inner = u.new_zeros(u.shape[1])
    else:
        outer, inner = u_bias.split((2 * u.shape[1], u.shape[1]))
        w_bias = w_bias + F.pad(outer, (0, u.shape[1]))
    y, *_ = _run("gru", F.linear(x, w, w_bias).unflatten(2, (3, -1)), h, inner, u.unflatten(0, (3, -1)))
    return y, (y[-1],)


def _plain_layer(kind, x, state, w, u, w_bias=None, u_bias=None):
    of_input = F.linear(x, w, None if w_bias is None else w_bias + u_bias)
    y = _run(kind, of_input, *state, u)
    return y, (y[-1],)


def _layers(layer, x, first, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """What torch's function of all layers gives: outputs, and the last states of each layer and direction."""
    first = first if isinstance(first, (tuple, list)) else [first]
    directions, count = 2 if bidirectional else 1, 4 if has_biases else 2
    x = x.transpose(0, 1) if batch_first else x
    last = []
    for number in range(num_layers):
        outputs = []
        for place in range(number * directions, (number + 1) * directions):
            backward = place % directions == 1
            own = weights[place * count : (place + 1) * count]
            y, state = layer(x.flip(0) if backward else x, [h[place] for h in first], *own)
            outputs.append(y.flip(0) if backward else y)
            last.append(state)
        x = torch.cat(outputs, 2) if bidirectional else outputs[0]
        if train and dropout and number + 1 < num_layers:
            x = torch.dropout(x, dropout, train)
    return (x.transpose(0, 1) if batch_first else x), *(torch.stack(states) for states in zip(*last))


def _all_layers(layer) -> Callable:
    def along_time(*arguments):
        return _layers(layer, *arguments)

    return along_time


_TAKEN: Dict[Callable, Callable] = {
    torch._VF.lstm: _all_layers(_lstm_layer),
    torch._VF.gru: _all_layers(_gru_layer),
    torch._VF.rnn_tanh: _all_layers(functools.partial(_plain_layer, "rnn_tanh")),
    torch._VF.rnn_relu: _all_layers(functools.partial(_plain_layer, "rnn_relu")),
}


def run_along_time(module: torch.fx.GraphModule) -> None:
    """Replaces the recurrent layers in a graph of Dynamo's that defs take."""
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target in _TAKEN and _is_taken(node):
            node.target = _TAKEN[node.target]
    module.recompile()


def _is_taken(node):
    """Whether all tensors are on the CPU and of one type, the sequences are not packed and states have the size of outputs."""
    if len(node.args) != 9 or not isinstance(node.args[2], (tuple, list)):
        return False
    value = lambda n: n.meta.get("example_value")
    tensors = list(map(value, node.all_input_nodes))
    if not all(isinstance(t, torch.Tensor) and t.device.type == "cpu" and t.dtype is tensors[0].dtype and t.dim() > 0 for t in tensors):
        return False
    x, made = value(node.args[0]), value(node)
    states = {t.shape[-1] for t in (map(value, node.args[1]) if isinstance(node.args[1], (tuple, list)) else [value(node.args[1])])}
    return tensors[0].is_floating_point() and len(states) == 1 and x.dim() == 3 and 0 not in x.shape and made[0].dtype is x.dtype
