"""Which items of a program become one def: element-wise neighbours join the one that writes what they read."""

import dataclasses
from typing import List

from . import expression
from .builder import Item
from .program import root_tensor

MOST_STATEMENTS = 12


@dataclasses.dataclass
class Group:
    items: List[Item]

    @property
    def statements(self):
        return sum(len(item.statements) for item in self.items)


def is_pointwise(item: Item) -> bool:
    return all(s.operator == "=" for s in item.statements)


def is_contraction(item: Item) -> bool:
    return any(
        s.operator == "+=!" and len(expression.loads(s.value)) >= 2 and s.points >= 4096 for s in item.statements
    )


def _joins(group: Group, item: Item) -> bool:
    """Whether `item` becomes part of `group`, which writes the last of what it reads."""
    if group.statements + len(item.statements) > MOST_STATEMENTS:
        return False
    shape = item.statements[-1].target.shape
    here = any(s.target.shape == shape for other in group.items for s in other.statements)
    if is_pointwise(item):
        return here
    return not is_contraction(item) and all(is_pointwise(other) for other in group.items) and group.statements <= 4


def fuse(items: List[Item], pinned=frozenset()) -> List[Group]:
    """Groups in an order in which each reads only what earlier ones wrote; reshapes are groups of their own.

    A group is placed where its first item stands; an item joins the last group among those that write what it reads, so
    that everything it reads exists there.
    """
    groups, owner = [], {}
    for item in items:
        if item.reshape:
            owner[item.reshape[0]] = owner.get(item.reshape[1], -1)
            groups.append(Group([item]))
            owner[item.reshape[0]] = len(groups) - 1
            continue
        last = max((owner.get(t, -1) for t in item.reads), default=-1)
        if last >= 0 and not groups[last].items[0].reshape and _joins(groups[last], item):
            groups[last].items.append(item)
        else:
            groups.append(Group([item]))
            last = len(groups) - 1
        for t in item.writes:
            owner[t] = last
    return groups
