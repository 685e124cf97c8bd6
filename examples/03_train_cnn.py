"""Trains a small convolutional network whose layers are defs, beside the same network of torch: equal loss curves.

Digits are drawn, so nothing is downloaded. Run it with `.venv/bin/python examples/03_train_cnn.py`; it ends with 0 when the
curves agree. `--compile` trains ours under `torch.compile(fullgraph=True)`.
"""

import sys

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc

LAYERS = tc.define("""
# A 3 × 3 convolution of an image with zeros around it, a bias, and a rectifier.
def conv_relu(float(N,C,H,W) I, float(M,C,3,3) K, float(M) B) -> (O) {
  O(n,m,h,w) +=! h + kh >= 1 && h + kh <= H && w + kw >= 1 && w + kw <= W
                 ? I(n,c,h+kh-1,w+kw-1) * K(m,c,kh,kw) : 0 where h in 0:H, w in 0:W
  O(n,m,h,w) = relu(O(n,m,h,w) + B(m))
}
# Means of 2 × 2 blocks.
def pool(float(N,C,H,W) I) -> (O) {
  O(n,c,h,w) +=! 0.25 * I(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2
}
# A product over all that an image has.
def dense(float(N,C,H,W) I, float(O,C,H,W) K, float(O) B) -> (Y) {
  Y(n,o) +=! I(n,c,h,w) * K(o,c,h,w)
  Y(n,o) = Y(n,o) + B(o)
}
# The mean of the negative logarithms of what softmax gives the right class.
def cross_entropy(float(N,D) X, int64(N) T) -> (loss) {
  top(n) max=! X(n,d)
  total(n) +=! exp(X(n,d) - top(n))
  loss +=! (log(total(n)) + top(n) - X(n,T(n))) / N
}
""")


class Ours(torch.nn.Module):
    def __init__(self):
        super().__init__()
        layer = tc.torch.Module
        self.first = layer(LAYERS.conv_relu, ["K", "B"], sizes={"M": 8, "C": 1})
        self.second = layer(LAYERS.conv_relu, ["K", "B"], sizes={"M": 16, "C": 8})
        self.last = layer(LAYERS.dense, ["K", "B"], sizes={"O": 4, "C": 16, "H": 4, "W": 4})

    def forward(self, images, labels):
        x = LAYERS.pool(self.first(images))
        x = LAYERS.pool(self.second(x))
        return LAYERS.cross_entropy(self.last(x), labels)


class Theirs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.Conv2d(8, 16, 3, padding=1)
        self.last = torch.nn.Linear(256, 4)

    def forward(self, images, labels):
        x = F.avg_pool2d(torch.relu(self.first(images)), 2)
        x = F.avg_pool2d(torch.relu(self.second(x)), 2)
        return F.cross_entropy(self.last(x.flatten(1)), labels)


def take_weights(ours, theirs):
    """Gives torch's network the weights of ours."""
    with torch.no_grad():
        for mine, other in ((ours.first, theirs.first), (ours.second, theirs.second), (ours.last, theirs.last)):
            other.weight.copy_(mine.K.reshape(other.weight.shape))
            other.bias.copy_(mine.B)


def drawn(count, generator):
    """Noisy 16 × 16 images of bars, and which of four ways the bar lies."""
    labels = torch.randint(0, 4, (count,), generator=generator)
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    shift = torch.randint(-3, 4, (count, 1, 1), generator=generator)
    distance = torch.stack([y - 7.5, x - 7.5, (x - y) * 0.7, (x + y - 15) * 0.7])[labels] - shift
    noise = torch.rand(count, 16, 16, generator=generator)
    return ((distance.abs() < 1.5) + 0.5 * noise - 0.5)[:, None].contiguous(), labels


def curve(network, step, steps=30):
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = step(*drawn(32, generator))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def main(arguments):
    torch.manual_seed(0)
    ours, theirs = Ours(), Theirs()
    take_weights(ours, theirs)
    step = torch.compile(ours, fullgraph=True) if "--compile" in arguments else ours
    mine, other = curve(ours, step), curve(theirs, theirs)
    for k in range(0, len(mine), 6):
        print(f"step {k:2d}   ours {mine[k]:.6f}   torch {other[k]:.6f}")
    difference = (mine - other).abs().max().item()
    print(f"largest difference of a loss {difference:.1e}; the last is {mine[-1]:.3f}")
    return 0 if difference < 1e-3 and mine[-1] < 0.5 * mine[0] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
