"""Sums of table rows: the paper's embeddings."""

import torch
import torch.nn.functional as F

from ..case import Case, Goal, random, sized

ONE = """def lut1(float(E,D) T, int64(B,L) I) -> (O) {
  O(b,d) +=! T(I(b,l), d)
}"""
TWO = """def lut2(float(E1,D) T1, int64(B,L1) I1, float(E2,D) T2, int64(B,L2) I2) -> (O1, O2) {
  O1(b,d) +=! T1(I1(b,l), d)
  O2(b,d) +=! T2(I2(b,l), d)
}"""


def bag(table, indices):
    return F.embedding_bag(indices, table, mode="sum")


def gather(table, indices):
    return table[indices].sum(1)


def cases(size):
    entries, batch, length, depth = sized(size)(1_000_000, 128, 50, 64)
    touched = float(batch * length * (4 * depth + 8) + 4 * batch * depth)

    def pair():
        return random(entries, depth), torch.randint(0, entries, (batch, length))

    yield Case("lookups/1lut-1e6", ONE, pair, bag, terms=length, bytes=touched, also={"gather": gather})
    yield Case(
        "lookups/2lut-1e6",
        TWO,
        lambda: (*pair(), *pair()),
        lambda a, i, b, j: (bag(a, i), bag(b, j)),
        terms=length,
        bytes=2 * touched,
        goals=(Goal("eager", 1.2, 3.0),),
        also={"gather": lambda a, i, b, j: (gather(a, i), gather(b, j))},
    )
