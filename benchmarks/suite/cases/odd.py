"""A hundred matrix products whose sizes lie around powers of two."""

import random as python_random

from .matmul import matmul

COUNT = 100


def sizes():
    """The sizes (m, n, k): powers of two from 128 to 1024, one or three off or not at all; at least one of them off."""
    generator = python_random.Random(20)
    drawn = set()
    while len(drawn) < COUNT:
        offsets = [generator.choice((-3, -1, 0, 1, 3)) for _ in range(3)]
        if any(offsets):
            drawn.add(tuple(2 ** generator.randint(7, 10) + offset for offset in offsets))
    return sorted(drawn)


def cases(size):
    for i, (m, n, k) in enumerate(sizes()):
        yield matmul(size, "nn", m, n, k, f"odd/{m}x{n}x{k}", goals=(), quick=i % 12 == 0)
