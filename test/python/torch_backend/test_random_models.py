"""Random programs of torch through the backend; random_models.py runs as many as one likes."""

import os

import pytest
import random_models
import random_programs
import torch


FIRST, COUNT = int(os.environ.get("TC_MODELS_FIRST", 0)), int(os.environ.get("TC_MODELS", 5))


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, 5))
def test_random_models(first):
    wrong = [random_models.check(seed) for seed in range(first, first + 5)]
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_a_wrong_value_is_noticed():
    p = random_programs.program_of(1, 14)
    assert not random_models.differences(p, False, p.run)
    for wrong in (torch.zeros_like, lambda t: t * (1 + 1e-3), lambda t: t.flatten()[:1]):
        assert random_models.differences(p, False, lambda *given: [wrong(t) for t in p.run(*given)])
