"""Networks of torch.nn for tests and benchmarks: (module, inputs) by name, random weights, sizes by `width`."""

import torch
from torch import nn


class Residual(nn.Module):
    """A basic or a bottleneck block of a residual network."""

    def __init__(self, inputs, outputs, stride=1, bottleneck=False):
        super().__init__()
        inner = outputs // 4 if bottleneck else outputs
        shapes = (
            [(inputs, inner, 1, 1), (inner, inner, 3, stride), (inner, outputs, 1, 1)]
            if bottleneck
            else [(inputs, inner, 3, stride), (inner, outputs, 3, 1)]
        )
        layers = []
        for k, (a, b, size, step) in enumerate(shapes):
            layers += [nn.Conv2d(a, b, size, step, size // 2, bias=False), nn.BatchNorm2d(b)] + (
                [nn.ReLU()] if k + 1 < len(shapes) else []
            )
        self.body = nn.Sequential(*layers)
        self.skip = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
            if stride > 1 or inputs != outputs
            else nn.Identity()
        )

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def resnet(blocks=(2, 2, 2, 2), width=64, bottleneck=False, classes=1000):
    layers, inputs = [
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ], width
    for stage, count in enumerate(blocks):
        outputs = width * 2**stage * (4 if bottleneck else 1)
        for k in range(count):
            layers.append(Residual(inputs, outputs, 2 if stage and not k else 1, bottleneck))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


class Inverted(nn.Module):
    """An inverted residual of a mobile network."""

    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        layers = [nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6()] if expand > 1 else []
        layers += [
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(),
        ]
        layers += [nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.body, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


MOBILE = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def mobilenet_v2(stages=MOBILE, width=32, last=1280, classes=1000):
    layers, inputs = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()], width
    for expand, outputs, count, stride in stages:
        for k in range(count):
            layers.append(Inverted(inputs, outputs, stride if k == 0 else 1, expand))
            inputs = outputs
    layers += [
        nn.Conv2d(inputs, last, 1, bias=False),
        nn.BatchNorm2d(last),
        nn.ReLU6(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ]
    return nn.Sequential(*layers, nn.Linear(last, classes))


class Excited(nn.Module):
    """Channels scaled by what two small layers make of their means."""

    def __init__(self, channels, inner):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        scale = self.up(nn.functional.silu(self.down(x.mean((2, 3), keepdim=True))))
        return x * torch.sigmoid(scale)


class Efficient(nn.Module):
    """An inverted residual of EfficientNet: depthwise convolution, excitation, SiLU."""

    def __init__(self, inputs, outputs, size, stride, expand):
        super().__init__()
        hidden, layers = inputs * expand, []
        if expand > 1:
            layers += [nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.SiLU()]
        layers += [
            nn.Conv2d(hidden, hidden, size, stride, size // 2, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.SiLU(),
            Excited(hidden, max(1, inputs // 4)),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        ]
        self.body, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


EFFICIENT_B0 = (
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 40, 2, 5, 2),
    (6, 80, 3, 3, 2),
    (6, 112, 3, 5, 1),
    (6, 192, 4, 5, 2),
    (6, 320, 1, 3, 1),
)


def efficientnet_b0(stages=EFFICIENT_B0, width=32, last=1280, classes=1000):
    layers, inputs = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.SiLU()], width
    for expand, outputs, count, size, stride in stages:
        for k in range(count):
            layers.append(Efficient(inputs, outputs, size, stride if k == 0 else 1, expand))
            inputs = outputs
    layers += [nn.Conv2d(inputs, last, 1, bias=False), nn.BatchNorm2d(last), nn.SiLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, classes))


class VisionTransformer(nn.Module):
    def __init__(self, size=224, patch=16, width=192, heads=3, layers=4, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.body(x)[:, 0])


class Decoder(nn.Module):
    """A stack of causal attention blocks with token and place embeddings."""

    def __init__(self, words=5000, width=256, heads=4, layers=4, length=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.heads = heads
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "n1": nn.LayerNorm(width),
                    "qkv": nn.Linear(width, 3 * width),
                    "out": nn.Linear(width, width),
                    "n2": nn.LayerNorm(width),
                    "up": nn.Linear(width, 4 * width),
                    "down": nn.Linear(4 * width, width),
                }
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for b in self.blocks:
            q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in b["qkv"](b["n1"](x)).chunk(3, -1))
            a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + b["out"](a.transpose(1, 2).flatten(2))
            x = x + b["down"](nn.functional.gelu(b["up"](b["n2"](x)), approximate="tanh"))
        return self.norm(x)


class Encoder(nn.Module):
    """A bidirectional encoder of the size of BERT-base, with token, place and segment embeddings."""

    def __init__(self, words=30522, width=768, heads=12, layers=12, length=512):
        super().__init__()
        self.words, self.places, self.kinds = (
            nn.Embedding(words, width),
            nn.Embedding(length, width),
            nn.Embedding(2, width),
        )
        self.norm = nn.LayerNorm(width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)) + self.kinds(torch.zeros_like(ids))
        return self.body(self.norm(x))


class Unet(nn.Module):
    def __init__(self, width=16):
        super().__init__()

        def double(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU())

        self.down1, self.down2, self.middle = double(3, width), double(width, 2 * width), double(2 * width, 4 * width)
        self.rise2, self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), double(4 * width, 2 * width)
        self.rise1, self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2), double(2 * width, width)
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.max_pool2d(b, 2))
        b = self.up2(torch.cat([self.rise2(c), b], 1))
        return self.last(self.up1(torch.cat([self.rise1(b), a], 1)))


def dcgan(width=64, latent=100):
    layers, sizes = [], [
        (latent, 8 * width, 1, 0),
        (8 * width, 4 * width, 2, 1),
        (4 * width, 2 * width, 2, 1),
        (2 * width, width, 2, 1),
    ]
    for a, b, stride, pad in sizes:
        layers += [nn.ConvTranspose2d(a, b, 4, stride, pad, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh())


class Dlrm(nn.Module):
    def __init__(self, tables=8, rows=1000, width=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(pairs + width, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1), persistent=False)

    def forward(self, dense, ids):
        x = self.bottom(dense)
        all_ = torch.stack([x] + [table(ids[:, k]).sum(1) for k, table in enumerate(self.tables)], 1)
        dots = torch.bmm(all_, all_.transpose(1, 2))
        return self.top(torch.cat([x, dots[:, self.pairs[0], self.pairs[1]]], 1))


class LstmCells(nn.Module):
    def __init__(self, words=1000, width=64):
        super().__init__()
        self.words, self.cell, self.out = nn.Embedding(words, width), nn.LSTMCell(width, width), nn.Linear(width, words)

    def forward(self, ids):
        x = self.words(ids)
        h = c = x.new_zeros(ids.shape[0], x.shape[2])
        found = []
        for t in range(ids.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            found.append(h)
        return self.out(torch.stack(found, 1))


class Mixer(nn.Module):
    def __init__(self, tokens=16, width=32):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.n2(x))


def small(name):
    """(module, inputs) small enough for a test."""
    image = torch.randn(2, 3, 32, 32)
    words = torch.randint(0, 50, (2, 12))
    made = {
        "mlp": lambda: (
            nn.Sequential(
                nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 5), nn.LogSoftmax(-1)
            ),
            [torch.randn(4, 20)],
        ),
        "resnet_basic": lambda: (resnet((1, 1), 8, classes=10), [image]),
        "resnet_bottleneck": lambda: (resnet((1, 1), 8, True, 10), [image]),
        "mobilenet_v2": lambda: (mobilenet_v2(((1, 8, 1, 1), (4, 12, 2, 2)), 8, 32, 10), [image]),
        "efficientnet": lambda: (efficientnet_b0(((1, 8, 1, 3, 1), (4, 12, 2, 5, 2)), 8, 32, 10), [image]),
        "vit": lambda: (VisionTransformer(32, 8, 32, 2, 2, 10), [image]),
        "decoder": lambda: (Decoder(50, 32, 2, 2, 16), [words]),
        "encoder": lambda: (
            nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True),
            [torch.randn(2, 9, 32)],
        ),
        "unet": lambda: (Unet(4), [torch.randn(1, 3, 16, 16)]),
        "dcgan": lambda: (dcgan(4, 10), [torch.randn(2, 10, 1, 1)]),
        "dlrm": lambda: (Dlrm(3, 20, 8), [torch.randn(4, 13), torch.randint(0, 20, (4, 3, 2))]),
        "lstm_cells": lambda: (LstmCells(50, 16), [words]),
        "mixer": lambda: (Mixer(16, 32), [torch.randn(2, 16, 32)]),
        "group_norm": lambda: (
            nn.Sequential(
                nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Hardswish(), nn.AvgPool2d(2), nn.LeakyReLU()
            ),
            [image],
        ),
        "conv1d": lambda: (
            nn.Sequential(nn.Conv1d(4, 8, 5, dilation=2, groups=2), nn.SiLU(), nn.Conv1d(8, 4, 3, stride=2)),
            [torch.randn(2, 4, 40)],
        ),
        "conv3d": lambda: (
            nn.Sequential(nn.Conv3d(2, 4, 3, padding=1), nn.ReLU(), nn.AvgPool3d(2)),
            [torch.randn(1, 2, 6, 6, 6)],
        ),
    }
    return made[name]() if name else list(made)
