"""Philox 4x32 written with the language's operators on bits, against the known answers of its authors."""

import numpy as np
import torch

import tensor_comprehensions as tc

ROUND = """
def philox_round(uint32(N,4) C, uint32(N,2) K) -> (O, L) {
  O(n,j) = j == 0 ? uint32(p >> 32) ^ C(n,1) ^ K(n,0) : j == 1 ? uint32(p) : j == 2 ? uint32(q >> 32) ^ C(n,3) ^ K(n,1) : uint32(q)
    where j in 0:4, q = uint64(C(n,0)) * 3528531795, p = uint64(C(n,2)) * 3449720151
  L(n,j) = K(n,j) + (j == 0 ? 2654435769 : 3144134277)
}
"""
TEXT = ROUND + "def philox(uint32(N,4) C, uint32(N,2) K) -> (O) {\n  O, L = philox_round(C, K)\n" + 9 * "  O, L = philox_round(O, L)\n" + "}\n"

# Random123, kat_vectors: counter, key, result after ten rounds.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(column):
    return np.array([[int(word, 16) for word in row[column].split()] for row in KNOWN], dtype=np.uint32)


def test_ten_rounds():
    assert np.array_equal(tc.define(TEXT).philox(words(0), words(1)), words(2))


def test_dropout_has_a_gradient():
    T = tc.define(
        ROUND
        + """
def dropout(float(N) X, uint32(N,4) C, uint32(N,2) K) -> (Y) {
  O, L = philox_round(C, K)
  Y(n) = (O(n,0) & 1) == 1 ? X(n) * 2 : 0
}"""
    )
    x = torch.ones(3, requires_grad=True)
    counter, key = (torch.from_numpy(words(k)) for k in (0, 1))
    y = T.dropout(x, counter, key)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
