"""Trains a small transformer whose blocks are defs, beside the same network of torch: equal loss curves.

It learns to repeat a sequence backwards. Run it with `.venv/bin/python examples/04_train_transformer.py`; it ends with 0 when the
curves agree. `--compile` trains ours under `torch.compile(fullgraph=True)`.
"""

import copy
import sys

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc

LAYERS = tc.define("""
def embed(int64(N,L) I, float(E,D) T, float(L,D) P) -> (O) {
  O(n,l,d) = T(I(n,l),d) + P(l,d)
}
def layer_norm(float(N,L,D) X, float(D) g, float(D) b) -> (O) {
  mean(n,l) +=! X(n,l,d)
  mean(n,l) = mean(n,l) / D
  var(n,l) +=! (X(n,l,d) - mean(n,l)) * (X(n,l,d) - mean(n,l))
  var(n,l) = var(n,l) / D
  O(n,l,d) = (X(n,l,d) - mean(n,l)) * rsqrt(var(n,l) + 1e-5) * g(d) + b(d)
}
# Attention of one head, and what it is given.
def attention(float(N,L,D) X, float(3,D,D) W, float(D,D) U) -> (O) {
  Q(n,l,d) +=! X(n,l,k) * W(0,d,k)
  K(n,l,d) +=! X(n,l,k) * W(1,d,k)
  V(n,l,d) +=! X(n,l,k) * W(2,d,k)
  score(n,l,s) +=! Q(n,l,d) * K(n,s,d)
  score(n,l,s) = score(n,l,s) * rsqrt(float(D))
  top(n,l) max=! score(n,l,s)
  score(n,l,s) = exp(score(n,l,s) - top(n,l))
  total(n,l) +=! score(n,l,s)
  Y(n,l,d) +=! score(n,l,s) * V(n,s,d)
  Y(n,l,d) = Y(n,l,d) / total(n,l)
  O(n,l,d) +=! Y(n,l,k) * U(d,k)
}
def mlp(float(N,L,D) X, float(F,D) A, float(F) a, float(D,F) B, float(D) b) -> (O) {
  H(n,l,f) +=! X(n,l,d) * A(f,d)
  H(n,l,f) = relu(H(n,l,f) + a(f))
  O(n,l,d) +=! H(n,l,f) * B(d,f)
  O(n,l,d) = O(n,l,d) + b(d)
}
def logits(float(N,L,D) X, float(E,D) T) -> (O) {
  O(n,l,e) +=! X(n,l,d) * T(e,d)
}
""")

WORDS, LENGTH, WIDTH, INNER = 12, 8, 32, 64


class Parameters(torch.nn.Module):
    """What both networks learn, by the names that defs give them."""

    def __init__(self):
        super().__init__()
        part = lambda name, *parameters: tc.torch.Module(
            LAYERS[name], parameters, sizes={"E": WORDS, "L": LENGTH, "D": WIDTH, "F": INNER},
            init={p: torch.nn.init.ones_ for p in parameters if p == "g"},
        )
        self.embed, self.norm1, self.norm2 = part("embed", "T", "P"), part("layer_norm", "g", "b"), part("layer_norm", "g", "b")
        self.attention, self.mlp = part("attention", "W", "U"), part("mlp", "A", "a", "B", "b")


class Ours(Parameters):
    def forward(self, words):
        x = self.embed(words)
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return LAYERS.logits(x, self.embed.T)


class Theirs(Parameters):
    def forward(self, words):
        x = F.embedding(words, self.embed.T) + self.embed.P
        y = F.layer_norm(x, (WIDTH,), self.norm1.g, self.norm1.b)
        q, k, v = (y @ w.T for w in self.attention.W)
        x = x + F.scaled_dot_product_attention(q, k, v) @ self.attention.U.T
        y = F.layer_norm(x, (WIDTH,), self.norm2.g, self.norm2.b)
        x = x + F.linear(torch.relu(F.linear(y, self.mlp.A, self.mlp.a)), self.mlp.B, self.mlp.b)
        return x @ self.embed.T.T


def curve(network, run, steps=60):
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        words = torch.randint(0, WORDS, (64, LENGTH), generator=generator)
        optimiser.zero_grad()
        loss = F.cross_entropy(run(words).flatten(0, 1), words.flip(1).flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def main(arguments):
    torch.manual_seed(0)
    ours, theirs = Ours(), Theirs()
    theirs.load_state_dict(copy.deepcopy(ours.state_dict()))
    run = torch.compile(ours, fullgraph=True) if "--compile" in arguments else ours
    mine, other = curve(ours, run), curve(theirs, theirs)
    for k in range(0, len(mine), 12):
        print(f"step {k:2d}   ours {mine[k]:.6f}   torch {other[k]:.6f}")
    difference = (mine - other).abs().max().item()
    print(f"largest difference of a loss {difference:.1e}; the last is {mine[-1]:.3f}")
    return 0 if difference < 1e-3 and mine[-1] < 0.7 * mine[0] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
