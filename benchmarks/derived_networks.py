"""The seven networks of EINNET's evaluation as graphs, each layer of those that are stacks and the whole as they are written and with derive=N, in turns.

    python benchmarks/derived_networks.py [--threads 1] [--rounds 9] [--only InfoGAN] [--libraries none] [--depth 5] [--tune 8]

Each network is run on integers, and on normal numbers, beside PyTorch in float64: integers must be equal, of numbers the relative
distance is told. Weights are constants. With --tune, what is derived from a layer is measured first, for so many seconds.
"""

import argparse
import statistics
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from derivation import convolution, transposed, turns
from written_networks import Gcn, Longformer, ResNet18

import tensor_comprehensions as tc

RELU = "fmax(X(n,c,h,w) + b(c), 0)"
TANH = "tanh(X(n,c,h,w) + b(c))"


class Layer:
    """A convolution, plain or transposed, a bias and an activation."""

    def __init__(self, kind, channels, size, filters, kernel, stride=1, pad=0, dilation=1, activation=RELU):
        self.kind, self.channels, self.size, self.filters, self.activation = kind, channels, size, filters, activation
        self.how = {"stride": stride, "padding": pad} | ({"dilation": dilation} if kind == "conv" else {})
        if kind == "conv":
            made = convolution(1, channels, size, filters, (kernel, kernel), (pad, pad), stride, dilation)
            self.made = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
        else:
            made = transposed(1, channels, size, filters, kernel, stride, pad)
            self.made = (size - 1) * stride - 2 * pad + kernel
        self.text, shapes, _ = made
        self.weights = shapes[1]

    def __str__(self):
        name = "transposed " if self.kind != "conv" else "dilated " if self.how.get("dilation", 1) > 1 else ""
        return f"{name}{self.weights[2]}×{self.weights[3]}, {self.channels} of {self.size}×{self.size} to {self.filters} of {self.made}×{self.made}"

    def defs(self):
        """Its text, and the names of its defs."""
        word = "_".join(map(str, (self.kind, self.channels, self.size, self.filters, self.weights[2], *self.how.values())))
        act = "tanh" if self.activation == TANH else "relu"
        texts = {word: self.text.replace("def program", f"def {word}"),
                 f"bias_{act}": f"def bias_{act}(float(N,C,H,W) X, float(C) b) -> (Y) {{ Y(n,c,h,w) = {self.activation} }}"}
        return texts

    def reference(self, x, weights, bias):
        product = F.conv2d if self.kind == "conv" else F.conv_transpose2d
        made = product(x, weights, bias, **self.how)
        return torch.tanh(made) if self.activation == TANH else torch.relu(made)


NETWORKS = {
    "InfoGAN": [Layer("transposed", 228, 1, 448, 2), Layer("transposed", 448, 2, 256, 4, 2, 1), Layer("transposed", 256, 4, 128, 4, 2, 1),
                Layer("transposed", 128, 8, 64, 4, 2, 1), Layer("transposed", 64, 16, 3, 4, 2, 1, activation=TANH)],
    "DCGAN": [Layer("transposed", 100, 1, 512, 4), Layer("transposed", 512, 4, 256, 4, 2, 1), Layer("transposed", 256, 8, 128, 4, 2, 1),
              Layer("transposed", 128, 16, 64, 4, 2, 1), Layer("transposed", 64, 32, 3, 4, 2, 1, activation=TANH)],
    "FSRCNN": [Layer("conv", 1, 32, 56, 5, pad=2), Layer("conv", 56, 32, 12, 1), *[Layer("conv", 12, 32, 12, 3, pad=1) for _ in range(4)],
               Layer("conv", 12, 32, 56, 1), Layer("transposed", 56, 32, 1, 9, 4, 3)],
    "CSRNet": [Layer("conv", c, 14, f, 3, pad=2, dilation=2)
               for c, f in ((512, 512), (512, 512), (512, 512), (512, 256), (256, 128), (128, 64))],
}


def other_networks():
    """Those that are no stack of layers, the rows and the band of Longformer a twentieth and an eighth."""
    return {"GCN": Gcn(numbers), "ResNet-18": ResNet18(numbers), "Longformer": Longformer(numbers)}


class Stack:
    """Layers, one behind another, as a graph."""

    exact = True  # integers stay integers

    def __init__(self, layers):
        self.layers = layers
        self.names = [name for i in range(len(layers)) for name in (f"K{i}", f"b{i}")]
        self.exact = layers[-1].activation != TANH

    def function(self):
        shapes = [text for layer in self.layers for text in (str(tuple(layer.weights)), f"({layer.filters})")]
        params = ", ".join(f"float{shape.replace(' ', '')} {name}" for name, shape in zip(self.names, shapes))
        first = self.layers[0]
        steps, last = [], "X"
        texts = {}
        for i, layer in enumerate(self.layers):
            product, act = layer.defs()
            texts |= layer.defs()
            steps.append(f"  P{i} = {product}({last}, K{i})  {'Y' if i + 1 == len(self.layers) else f'A{i}'} = {act}(P{i}, b{i})")
            last = f"A{i}"
        head = f"def network(float(1,{first.channels},{first.size},{first.size}) X, {params}) -> (Y) {{"
        return tc.define("\n".join([*texts.values(), head, *steps, "}"])).network

    def tensors(self, whole):
        """An input and weights: integers of which few are not 0, so that sums stay exact, or normal numbers."""
        random = np.random.default_rng(1)
        first = self.layers[0]
        result = [numbers(random, (1, first.channels, first.size, first.size), 1, whole)]
        for layer in self.layers:
            result += [numbers(random, layer.weights, np.prod(layer.weights) / layer.filters, whole), numbers(random, (layer.filters,), 2, whole)]
        return result

    def reference(self, tensors):
        """The network in float64."""
        x, *rest = (torch.from_numpy(tensor).double() for tensor in tensors)
        for layer, weights, bias in zip(self.layers, rest[::2], rest[1::2]):
            x = layer.reference(x, weights, bias)
        return x.numpy()


def numbers(random, shape, terms, whole, kept=3):
    """Normal numbers whose sums of `terms` have a variance of 1, or integers of which `kept` in `terms` are not 0."""
    if not whole:
        return (random.normal(size=shape) / np.sqrt(terms)).astype("float32")
    return (random.integers(-1, 2, shape) * (random.random(shape) < min(1, kept / terms))).astype("float32")


def compiled(network, tensors, **how):
    return tc.compile(network.function(), *tensors, constants=network.names, **how)


def check(name, network, **how):
    """Are integers equal to float64? The relative distance of normal numbers."""
    for whole in (True, False):
        tensors = network.tensors(whole)
        want, got = network.reference(tensors), compiled(network, tensors, **how)(*tensors[: len(tensors) - len(network.names)])
        distance = np.linalg.norm(got - want) / np.linalg.norm(want)
        if whole and network.exact and not np.array_equal(got, want) or not np.any(want):
            raise SystemExit(f"{name}: integers differ")
        if whole and distance > 1e-6:
            raise SystemExit(f"{name}: integers differ by {distance}")
    return distance


def rules(executable):
    """What was derived, in the order of the nodes."""
    lines = []
    for node in executable.stats["derived"]:
        lines.append(", ".join(rule.split(":")[0] for rule in node["rules"]) + f" ({node['source']})")
    return "; ".join(lines) or "–"


def row(name, network, rounds, seconds, store, depth, **how):
    """A line of the table: microseconds as written and derived, the median of the ratios of the turns with its quartiles, and the rules. What is derived is measured first, for so many seconds, into `store`."""
    tensors = network.tensors(True)
    given = tensors[: len(tensors) - len(network.names)]
    if seconds:
        tc.tune_derivations(network.function(), *tensors, depth=depth, constants=network.names, budget=seconds, cache=store, **how)
    written = compiled(network, tensors, cache=False, **how)
    begin = time.perf_counter()
    derived = compiled(network, tensors, derive=depth, cache=store, **how)
    took = time.perf_counter() - begin
    outs = [f(*given) for f in (written, derived)]
    if not np.allclose(*outs, rtol=1e-6 if network.exact else 1e-5, atol=0 if network.exact else 1e-6):
        raise SystemExit(f"{name}: what is derived computes something else")
    times = turns([lambda f=f, o=o: f(*given, out=o) for f, o in zip((written, derived), outs)], rounds)
    before, after = map(statistics.median, times)
    low, middle, high = statistics.quantiles([a / b for a, b in zip(*times)], n=4)
    count = f"{written.stats['launches']}, {derived.stats['launches']}"
    print(f"| {name} | {before:.0f} | {after:.0f} | {middle:.2f} ({low:.2f}, {high:.2f}) | {count} | {took:.1f} | {rules(derived)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--libraries", default="none")
    parser.add_argument("--only", default="")
    parser.add_argument("--tune", type=float, default=0, help="seconds for measuring what is derived from a layer; 0: none")
    parser.add_argument("--whole", action="store_true", help="networks alone, without a line for each layer")
    arguments = parser.parse_args()
    tc.set_num_threads(arguments.threads)
    print(f"us, {arguments.threads} threads of {tc.host_target()}, libraries {arguments.libraries}, derive={arguments.depth}")
    print("| layer | as written | derived | gain | launches | compile s | rules |")
    print("|---|---|---|---|---|---|---|")
    how = {"libraries": arguments.libraries}
    for name, network in (NETWORKS | other_networks()).items():
        if arguments.only not in name:
            continue
        store = tc.cache.Cache(tempfile.mkdtemp(prefix="tc_networks_")) if arguments.tune else False
        layers = network if isinstance(network, list) else []
        for layer in [] if arguments.whole else dict.fromkeys(map(str, layers)):
            one = next(each for each in layers if str(each) == layer)
            row(f"{name}: {layer}", Stack([one]), arguments.rounds, arguments.tune, store, depth=arguments.depth, **how)
        whole = Stack(layers) if layers else network
        row(name, whole, arguments.rounds, 0 if layers else arguments.tune, store, depth=arguments.depth, **how)
        distance = check(name, whole, derive=arguments.depth, cache=False, **how)
        print(f"{name}: {'integers are equal, of' if whole.exact else 'of'} normal numbers the relative distance is {distance:.1e}", flush=True)


if __name__ == "__main__":
    main()
