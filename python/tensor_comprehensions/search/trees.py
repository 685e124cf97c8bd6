"""A cost model on the terms of prices: boosted trees (xgboost) that learn log(measured / price)."""

import math
from typing import Any, List, Optional, Sequence, Tuple

from .. import _core
from .ranks import spearman

FEWEST = 6
"""Samples for which trees are trained; of fewer the price alone ranks."""
ROUNDS = 40
FOLDS = 8
"""Parts that are left out in turn to measure the rank."""
PARAMETERS = {"max_depth": 3, "eta": 0.2, "lambda": 1.0, "min_child_weight": 1, "nthread": 1, "verbosity": 0, "base_score": 0.0}

Nest = Tuple[str, float, Sequence[float], float]
"""Options, price, terms of the price, measured seconds (0: none)."""


def _xgboost() -> Any:
    try:
        import xgboost
    except ImportError as error:
        raise _core.ResourceError("ranking='xgboost' needs xgboost\nhelp: pip install 'tensor-comprehensions[xgboost]'") from error
    return xgboost


class Trees:
    """Called with the nests of a pool, it returns their prices as corrected by the nests that were measured. It is trained anew each
    time, so a tuning that goes on from a checkpoint has the same model."""

    def __init__(self, seed: int):
        self._xgboost = _xgboost()
        self._parameters = {**PARAMETERS, "seed": seed}

    def __call__(self, pool: Sequence[Nest]) -> List[float]:
        measured = [nest for nest in pool if nest[3] > 0]
        if len(measured) < FEWEST:
            return [nest[1] for nest in pool]
        return self._corrected(measured, pool)

    def _corrected(self, measured: Sequence[Nest], pool: Sequence[Nest]) -> List[float]:
        targets = [math.log(nest[3] / nest[1]) for nest in measured]
        mean = sum(targets) / len(targets)
        samples = self._matrix(measured, [target - mean for target in targets])
        trees = self._xgboost.train(self._parameters, samples, ROUNDS)
        return [nest[1] * math.exp(mean + float(each)) for nest, each in zip(pool, trees.predict(self._matrix(pool)))]

    def _matrix(self, nests: Sequence[Nest], targets=None):
        import numpy as np

        # The price is a feature too: trees may correct small kernels otherwise than large ones.
        rows = np.array([[*nest[2], math.log(nest[1])] for nest in nests], dtype=np.float32)
        return self._xgboost.DMatrix(rows, label=targets)

    def held_out_rank(self, nests: Sequence[Nest]) -> Optional[float]:
        """Spearman's correlation of the times of measured `nests` with predictions of models trained without them."""
        if len(nests) < FEWEST + 2:
            return None
        predicted = [0.0] * len(nests)
        for fold in range(min(FOLDS, len(nests))):
            left_out = range(fold, len(nests), FOLDS)
            known = [nest for i, nest in enumerate(nests) if i % FOLDS != fold]
            for i, price in zip(left_out, self._corrected(known, [nests[i] for i in left_out])):
                predicted[i] = price
        return spearman(predicted, [nest[3] for nest in nests])
