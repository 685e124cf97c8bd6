"""Random programs of torch: lists of steps, each an operator on values before it, for small integers as inputs."""

import random

import torch
import torch.nn.functional as F

MOST_ELEMENTS, MOST_DIMENSIONS = 20000, 5
LARGEST_EXACT, LARGEST = 2**16, 200
"""Magnitudes: sums of products of exact values stay below 2^24, and functions of the others do not overflow."""


class Program:
    """A program under construction: `steps[k](values, parameters)` is value k behind the inputs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.inputs, self.parameters, self.steps = [], [], []
        self.values, self.exact, self.words = [], [], []

    def integers(self, shape, low=-2, high=3):
        return torch.randint(low, high, shape, generator=self.generator).float()

    def input(self, shape):
        """An input; one of four lies on itself: elements of an expanded tensor, windows of a row."""
        kind, (*lead, rows, columns) = self.random.randrange(8), shape
        whole = self.integers((*lead, rows + columns - 1) if kind == 0 else (*lead, 1, columns) if kind == 1 else shape, -3, 4)
        self.inputs.append(whole.unfold(-1, columns, 1) if kind == 0 else whole.expand(shape))
        self._append(self.inputs[-1], True, "input")

    def parameter(self, shape, low=-2, high=3):
        self.parameters.append(self.integers(shape, low, high))
        return len(self.parameters) - 1

    def add(self, words, function, exact):
        """Adds a step, unless torch refuses it or its value is of no use."""
        try:
            value = function(self.values, self.parameters)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            return
        if not 0 < value.numel() <= MOST_ELEMENTS or value.dim() > MOST_DIMENSIONS:
            return
        if value.is_floating_point() and not value.abs().max() <= (LARGEST_EXACT if exact else LARGEST):
            return
        self.steps.append(function)
        self._append(value, exact, words)

    def _append(self, value, exact, words):
        self.values.append(value)
        self.exact.append(exact)
        self.words.append(words)

    def run(self, inputs, parameters):
        values = list(inputs)
        for step in self.steps:
            values.append(step(values, parameters))
        return values[-min(3, len(self.steps)) :]

    def __str__(self):
        lines = (f"  {k} {w} {tuple(v.shape)}" for k, (w, v) in enumerate(zip(self.words, self.values)))
        return "\n".join(lines)


def of_one(table):
    """A kind of step that applies a function of the table {name: (function, keeps_exact)} to one value."""

    def kind(p, i, x):
        name = p.random.choice(sorted(table))
        function, keeps = table[name]
        p.add(f"{name}({i})", lambda v, _: function(v[i]), p.exact[i] and keeps)

    return kind


def only_exact(kind):
    """The kind for exact values alone: a jump of a rounded value may go either way."""
    return lambda p, i, x: kind(p, i, x) if p.exact[i] else None


pointwise = of_one(
    {
        "relu": (torch.relu, True),
        "neg": (torch.neg, True),
        "abs": (torch.abs, True),
        "clamp": (lambda t: t.clamp(-2, 1.5), True),
        "2x+1": (lambda t: t * 2 + 1, True),
        "3-x": (lambda t: 3 - t, True),
        "square": (torch.square, True),
        "leaky_relu": (lambda t: F.leaky_relu(t, 0.5), True),
        "threshold": (lambda t: F.threshold(t, 1.0, -2.0), True),
        "sigmoid": (torch.sigmoid, False),
        "tanh": (torch.tanh, False),
        "gelu": (F.gelu, False),
        "gelu tanh": (lambda t: F.gelu(t, approximate="tanh"), False),
        "silu": (F.silu, False),
        "softplus": (F.softplus, False),
        "mish": (F.mish, False),
        "elu": (F.elu, False),
        "hardswish": (F.hardswish, False),
        "exp": (lambda t: torch.exp(-t.abs()), False),
        "log1p": (lambda t: torch.log1p(t.abs()), False),
        "rsqrt": (lambda t: torch.rsqrt(t.abs() + 1), False),
        "pow": (lambda t: t.pow(3) / 8, False),
        "sin": (torch.sin, False),
        "erf": (torch.erf, False),
        "reciprocal": (lambda t: torch.reciprocal(t.abs() + 2), False),
    }
)
jump = only_exact(
    of_one(
        {
            "sign": (torch.sign, True),
            "floor": (lambda t: torch.floor(t / 2), True),
            "ceil": (lambda t: torch.ceil(t / 4), True),
            "round": (lambda t: torch.round(t / 2), True),
            "trunc": (lambda t: torch.trunc(t / 4), True),
            "remainder": (lambda t: torch.remainder(t, 3), True),
            "fmod": (lambda t: torch.fmod(t, 3), True),
            "> 0": (lambda t: t > 0, True),
            "int": (lambda t: t.int(), True),
            "long": (lambda t: t.long(), True),
            "argmax": (lambda t: t.argmax(-1), True),
            "argmin": (lambda t: t.argmin(0), True),
            "half >= 0.3": (lambda t: t.clamp(-99, 99).half() / 10 >= 0.3, True),
            "half == 0.1": (lambda t: torch.where(t.clamp(-99, 99).half() / 10 == 0.1, 2, t), True),
            "half": (lambda t: t.clamp(-99, 99).half().float(), True),
            "bfloat16": (lambda t: t.clamp(-99, 99).bfloat16().float(), True),
            "masked_fill": (lambda t: t.masked_fill(t > 1, -2.0), True),
        }
    )
)
made = of_one(
    {
        "arange": (lambda t: t + torch.arange(t.shape[-1], dtype=t.dtype), True),
        "full_like": (lambda t: torch.full_like(t, 2.5) - t, True),
        "eye": (lambda t: t + torch.eye(t.shape[-2], t.shape[-1]), True),
        "causal": (lambda t: t.masked_fill(torch.ones(t.shape[-2:], dtype=torch.bool).triu(1), -1.0), True),
        "double": (lambda t: (t.double() * 3).float(), True),
    }
)
BINARY = {
    "+": (torch.add, True),
    "-": (torch.sub, True),
    "*": (torch.mul, True),
    "maximum": (torch.maximum, True),
    "minimum": (torch.minimum, True),
    "+ 2": (lambda a, b: torch.add(a, b, alpha=2), True),
    "/": (lambda a, b: a / (b.abs() + 1), False),
    "lerp": (lambda a, b: torch.lerp(a, b, 0.25), False),
    "atan2": (lambda a, b: torch.atan2(a, b.abs() + 1), False),
}


def binary(p, i, x):
    j, name = p.random.randrange(len(p.values)), p.random.choice(sorted(BINARY))
    function, keeps = BINARY[name]
    p.add(f"{i} {name} {j}", lambda v, _: function(v[i], v[j]), keeps and p.exact[i] and p.exact[j])


def view(p, i, x):
    r, d = p.random, x.dim()
    k = r.randrange(d)
    order = r.sample(range(d), d)
    begin, step, length = r.randrange(x.shape[k]), r.choice([1, 2, 3]), r.randint(1, x.shape[k])
    rows = r.choice([n for n in range(1, x.numel() + 1) if x.numel() % n == 0])
    words, function = r.choice(
        [
            (f"permute{order}", lambda t: t.permute(order)),
            (f"reshape({rows}, -1)", lambda t: t.reshape(rows, -1)),
            (f"slice {k} {begin}::{step}", lambda t: t[(slice(None),) * k + (slice(begin, None, step),)]),
            (f"select {k} {begin}", lambda t: t.select(k, begin)),
            (f"expand {k}", lambda t: t.unsqueeze(k).expand(*t.shape[:k], 2, *t.shape[k:])),
            (f"flip {k}", lambda t: t.flip(k)),
            (f"roll {begin} {k}", lambda t: t.roll(begin, k)),
            (f"flatten {k}", lambda t: t.flatten(k)),
            (f"chunk {k}", lambda t: t.chunk(2, k)[-1]),
            (f"repeat_interleave {k}", lambda t: t.repeat_interleave(2, k)),
            (f"repeat {k}", lambda t: t.repeat(*[2 if n == k else 1 for n in range(d)])),
            (f"unfold {k} {length}", lambda t: t.unfold(k, length, min(step, 2))),
            ("diagonal", lambda t: t.diagonal(dim1=-2, dim2=-1)),
            (f"tril {begin}", lambda t: t.tril(begin - 1)),
            ("contiguous", lambda t: t.transpose(0, -1).contiguous()),
            ("channels_last", lambda t: t.contiguous(memory_format=torch.channels_last)),
        ]
    )
    p.add(f"{words}({i})", lambda v, _: function(v[i]), p.exact[i])


def join(p, i, x):
    j = p.random.choice([j for j, y in enumerate(p.values) if (y.shape, y.dtype) == (x.shape, x.dtype)])
    k, function = p.random.randrange(x.dim()), p.random.choice([torch.cat, torch.stack])
    p.add(f"{function.__name__} {i} {j} {k}", lambda v, _: function([v[i], v[j]], k), p.exact[i] and p.exact[j])


def pad(p, i, x):
    mode = p.random.choice(["constant", "reflect", "replicate", "circular"])
    widths = [p.random.randint(-1 if mode == "constant" else 0, 2) for _ in range(2 * p.random.randint(1, 2))]
    more = {"value": 1.5} if mode == "constant" else {}
    p.add(f"pad {mode} {widths}({i})", lambda v, _: F.pad(v[i], widths, mode=mode, **more), p.exact[i])


def reduction(p, i, x):
    r = p.random
    k, keep = r.randrange(x.dim()), r.random() < 0.5
    words, function, keeps = r.choice(
        [
            ("sum", lambda t: t.sum(k, keepdim=keep), True),
            ("sum of two", lambda t: t.sum((0, -1)), True),
            ("amax", lambda t: t.amax(k, keepdim=keep), True),
            ("amin", lambda t: t.amin(k, keepdim=keep), True),
            ("max", lambda t: t.max(k, keepdim=keep).values, True),
            ("cumsum", lambda t: t.cumsum(k), True),
            ("norm 1", lambda t: t.norm(1, dim=k), True),
            ("prod", lambda t: t.clamp(-1, 1.5).prod(k), False),
            ("mean", lambda t: t.mean(k, keepdim=keep), False),
            ("var", lambda t: t.var(k, keepdim=keep, correction=0), False),
            ("softmax", lambda t: t.softmax(k), False),
            ("log_softmax", lambda t: t.log_softmax(k), False),
            ("logsumexp", lambda t: t.logsumexp(k, keepdim=keep), False),
        ]
    )
    p.add(f"{words} {k}({i})", lambda v, _: function(v[i]), keeps and p.exact[i])


def product(p, i, x):
    r = p.random
    fitting = [j for j, y in enumerate(p.values) if y.dim() > 1 and y.dtype == x.dtype and y.shape[-2] == x.shape[-1]]
    j = r.choice(fitting or [i])
    out = r.choice([1, 3, 8, 17])
    weight, bias = p.parameter((out, x.shape[-1])), p.parameter((out,))
    words, function, exact = r.choice(
        [
            (f"linear({i})", lambda v, w: F.linear(v[i], w[weight], w[bias]), p.exact[i]),
            (f"{i} @ {i}.mT", lambda v, _: v[i] @ v[i].mT, p.exact[i]),
            (f"{i} @ {j}", lambda v, _: v[i] @ v[j], p.exact[i] and p.exact[j]),
            (f"einsum({i})", lambda v, _: torch.einsum("abc,adc->bd", v[i], v[i]), p.exact[i]),
            (f"attention({i})", lambda v, _: F.scaled_dot_product_attention(v[i] / 2, v[i], v[i]), False),
        ]
    )
    p.add(words, function, exact)


def convolution(p, i, x):
    r = p.random
    images, groups = x.dim() - 2, r.choice([1, 1, x.shape[1]])
    window = [r.choice([1, 2, 3, 5]) for _ in range(images)]
    stride, padding, dilation = (r.choice(choices) for choices in ([1, 1, 2], [0, 1, 2], [1, 1, 2]))
    out = groups * r.choice([1, 2, 3, 8])
    weight, bias = p.parameter((out, x.shape[1] // groups, *window)), p.parameter((out,))
    turned = p.parameter((x.shape[1], out // groups, *window))
    plain, transposed = {1: (F.conv1d, F.conv_transpose1d), 2: (F.conv2d, F.conv_transpose2d)}[images]
    words, function = r.choice(
        [
            ("conv", lambda v, w: plain(v[i], w[weight], w[bias], stride, padding, dilation, groups)),
            ("conv_transpose", lambda v, w: transposed(v[i], w[turned], None, stride, padding, 0, groups, dilation)),
        ]
    )
    p.add(f"{words} {window} {stride} {padding} {dilation} {groups}({i})", function, p.exact[i])


def pooling(p, i, x):
    r = p.random
    window, stride, ceil = r.choice([1, 2, 3]), r.choice([1, 2, 3]), r.random() < 0.3
    padding, size = r.choice([0, window // 2]), r.choice([1, 2, 3])
    words, function, keeps = r.choice(
        [
            ("max_pool2d", lambda t: F.max_pool2d(t, window, stride, padding, ceil_mode=ceil), True),
            ("avg_pool2d", lambda t: F.avg_pool2d(t, window, stride, padding, ceil, size < 2), False),
            ("adaptive_avg_pool2d", lambda t: F.adaptive_avg_pool2d(t, size), False),
            ("adaptive_max_pool2d", lambda t: F.adaptive_max_pool2d(t, size), True),
            ("nearest", lambda t: F.interpolate(t, scale_factor=2), True),
            ("bilinear", lambda t: F.interpolate(t, scale_factor=2, mode="bilinear", align_corners=False), False),
            ("pixel_shuffle", lambda t: F.pixel_shuffle(t, 2), True),
            ("pixel_unshuffle", lambda t: F.pixel_unshuffle(t, 2), True),
        ]
    )
    p.add(f"{words} {window} {stride} {padding} {ceil} {size}({i})", lambda v, _: function(v[i]), keeps and p.exact[i])


def norm(p, i, x):
    r = p.random
    channels = x.shape[1 if x.dim() > 2 else -1]
    scale, shift, mean = (p.parameter((channels,)) for _ in range(3))
    variance, groups = p.parameter((channels,), 1, 4), r.choice([n for n in range(1, channels + 1) if channels % n == 0])
    words, function = r.choice(
        [
            ("layer_norm", lambda v, w: F.layer_norm(v[i], v[i].shape[-1:], eps=0.1)),
            ("rms_norm", lambda v, w: F.rms_norm(v[i], v[i].shape[-1:], eps=0.1)),
            ("batch_norm", lambda v, w: F.batch_norm(v[i], w[mean].detach(), w[variance].detach(), w[scale], w[shift])),
            (f"group_norm {groups}", lambda v, w: F.group_norm(v[i], groups, w[scale], w[shift], eps=0.1)),
            ("instance_norm", lambda v, w: F.instance_norm(v[i], eps=0.1)),
        ]
    )
    p.add(f"{words}({i})", function, False)


def chosen(p, i, x):
    r = p.random
    k = r.randrange(x.dim())
    index = torch.randint(0, x.shape[k], (r.choice([1, 2, 5]),), generator=p.generator)
    whole = torch.randint(0, x.shape[k], x.shape, generator=p.generator)
    few = whole.narrow(r.randrange(x.dim()), 0, 1).expand_as(whole)
    rows = lambda t: torch.arange(-first, t.shape[k] - first)
    first, columns = r.randrange(x.shape[k] + 1), torch.randint(0, x.shape[-1], (x.shape[k],), generator=p.generator)
    begin, ones = r.randrange(x.shape[k]), torch.ones(())

    def assigned(t):
        t = t.clone()
        t[(slice(None),) * k + (slice(begin, None, 2),)] = 3
        return t.mul_(2)

    words, function = r.choice(
        [
            (f"index_select {k}", lambda t: t.index_select(k, index)),
            (f"index {k}", lambda t: t[(slice(None),) * k + (index,)]),
            (f"gather {k}", lambda t: t.gather(k, whole)),
            (f"index_add {k}", lambda t: t.index_add(k, index, t.index_select(k, index))),
            (f"scatter_add {k}", lambda t: t.scatter_add(k, whole, t)),
            (f"scatter_add expanded {k}", lambda t: t.scatter_add(k, few, torch.ones_like(t))),
            (f"gather expanded {k}", lambda t: t.gather(k, few)),
            (f"index_put arange {k}", lambda t: t.movedim(k, 0).index_put((rows(t),), ones, accumulate=True)),
            (f"index arange {k}", lambda t: t.movedim(k, 0)[rows(t), ..., columns] if t.dim() > 1 else t[rows(t)]),
            (f"scatter_reduce {k}", lambda t: t.scatter_reduce(k, whole, t, "amax")),
            (f"index_put {k}", lambda t: t.movedim(k, 0).index_put((index,), ones, accumulate=True)),
            (f"scatter {k}", lambda t: t.scatter(k, whole.narrow(k, 0, 1), 2.0)),
            (f"assigned {k} {begin}", assigned),
        ]
    )
    p.add(f"{words}({i})", lambda v, _: function(v[i]), p.exact[i])


KINDS = 3 * [pointwise, reduction] + 4 * [binary] + 5 * [view] + 2 * [join, product, convolution, pooling, chosen]
KINDS += [jump, made, pad, norm]


def program_of(seed, most_steps):
    p = Program(seed)
    r = p.random
    sizes = [r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17]) for _ in range(4)]
    for _ in range(r.randint(1, 3)):
        p.input([r.choice(sizes) for _ in range(r.choice([2, 3, 4, 4]))])
    steps = r.randint(3, most_steps)
    for _ in range(30 * steps):
        if len(p.steps) == steps:
            break
        i = r.randrange(max(0, len(p.values) - 4), len(p.values)) if r.random() < 0.8 else r.randrange(len(p.values))
        x = p.values[i]
        if not x.is_floating_point() and r.random() < 0.7:
            p.add(f"float({i})", lambda v, _, i=i: v[i].float(), True)
            continue
        kind = r.choice(KINDS)
        if x.dim() >= {convolution: 3, pooling: 4, pad: 1, product: 2, norm: 2, pointwise: 0}.get(kind, 1):
            if kind is not convolution or x.dim() <= 4:
                kind(p, i, x)
    return p
