"""Policies that propose candidates to a tuning: `ask(count)` returns candidates to measure, `tell(trials)` takes pairs of a candidate
and its seconds, infinity for failures. See docs/autotuning.md#policies.

    spaces      what can be chosen: genes with numbered values
    policies    random and genetic search in such a space, and the door to the options of a tuning
    ppo         walks that learn from what they measured (torch)
    trees       a cost model on the terms of prices (xgboost)
"""

from .policies import Genetic, Policy, Random, make_policy, options_policy
from .spaces import Gene, OptionSpace, Point, Space

__all__ = ["Gene", "Genetic", "OptionSpace", "Point", "Policy", "Random", "Space", "make_policy", "options_policy"]
