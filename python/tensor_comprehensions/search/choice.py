"""The search of a tuning, from what its caller asks for."""

import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from .. import _core
from .policies import make_policy, options_policy
from .ranks import ModelReport, spearman
from .trees import FEWEST, Nest, Trees

SEARCHES = ("price", "genetic", "random", "ppo")
DEFAULT = "genetic"

Search = Union[str, Callable[[_core.SearchSpace], Any]]
"""A name, or a function that makes a policy for the space of a tuning."""


def named_search(search: Optional[Search], method: Optional[str], default: str = DEFAULT) -> Search:
    """What is asked for by `search`, or by `method`, its former name. Raises OptionsError for other names."""
    if method is not None:
        if search is not None:
            raise _core.OptionsError("search= and method= are the same: give search= only")
        warnings.warn("method= is called search= now", DeprecationWarning, stacklevel=3)
    wanted: Search = default if search is None and method is None else search or method or ""
    if not callable(wanted) and wanted not in SEARCHES:
        raise _core.OptionsError(f"there is no search {wanted!r}\nhelp: there are {', '.join(SEARCHES[:-1])} and {SEARCHES[-1]}, or a function")
    return wanted


class PriceModel:
    """What corrects the prices of a search by price, and tells afterwards how good it was."""

    def __init__(self, trees: Optional[Trees]):
        self._trees = trees
        self._pool: Sequence[Nest] = ()

    def __call__(self, pool: Sequence[Nest]) -> List[float]:
        self._pool = pool
        return self._trees(pool) if self._trees else [nest[1] for nest in pool]

    def report(self, candidates: Sequence[dict]) -> Optional[ModelReport]:
        """How well it ordered the `candidates` of a tuning; None for fewer than there is an order of."""
        times = {str(each["options"]): each["time"] for each in candidates if each["status"] in ("ok", "same") and each["time"] > 0}
        nests = [(*nest[:3], times[nest[0]]) for nest in self._pool if nest[0] in times]
        if not nests:
            nests = [(str(each["options"]), each["predicted"], (), times[str(each["options"])]) for each in candidates if each["predicted"] > 0 and str(each["options"]) in times]
        if len(nests) < FEWEST:
            return None
        price_rank = spearman([nest[1] for nest in nests], [nest[3] for nest in nests])
        rank = self._trees.held_out_rank(nests) if self._trees and self._pool else None
        return ModelReport("xgboost" if self._trees else "price", price_rank, rank, len(nests))


class Chosen:
    """The search of one tuning."""

    def __init__(self, search: Search, ranking: str, seed: int):
        self._search, self._ranking, self._seed = search, ranking, seed
        if ranking == "xgboost" and search != "price":
            raise _core.OptionsError("ranking='xgboost' corrects prices of nests\nhelp: give search='price'")
        self.model = PriceModel(Trees(seed) if ranking == "xgboost" else None)

    def settings(self) -> Dict[str, Any]:
        """What C++ is told."""
        made: Dict[str, Any] = {"policy": None, "prices": None, "ranking": self._ranking}
        if self._ranking == "xgboost":
            made.update(prices=self.model, ranking="none")
        if callable(self._search):
            name = getattr(self._search, "__qualname__", type(self._search).__qualname__)
            return {**made, "search": name, "policy": self._search}
        if self._search == "ppo":
            made["policy"] = options_policy(lambda space: make_policy("ppo", space, self._seed))
        return {**made, "search": self._search}

    def report(self, candidates: Sequence[dict]) -> Optional[ModelReport]:
        """Of a search by price."""
        return self.model.report(candidates) if self._search == "price" else None
