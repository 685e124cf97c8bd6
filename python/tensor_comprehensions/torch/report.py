"""What the backend took of a graph, what it left to torch, and why."""

import dataclasses
import logging
import os
from typing import Callable, Dict, List, Tuple

from .work import Work

log = logging.getLogger("tensor_comprehensions.torch")


def _from_environment():
    """`TC_LOGS=torch` or `TC_LOGS=all`: reports on standard error, without a line of Python."""
    wanted = set(os.environ.get("TC_LOGS", "").replace("+", "").split(","))
    if wanted & {"torch", "all"} and not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[tc] %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


_from_environment()


@dataclasses.dataclass
class Part:
    """What one node, or some fused ones, became: the text of its def, the nodes in it, floating-point operations of one run."""

    text: str
    nodes: Tuple[str, ...]
    flops: int


@dataclasses.dataclass
class Report:
    """One compiled graph. `kind` is "inference", "forward" or "backward"."""

    kind: str
    taken: List[Tuple[str, str]] = dataclasses.field(default_factory=list)
    """(node, operator) that run in compiled parts; views cost nothing and are counted."""
    left: List[Tuple[str, str, str]] = dataclasses.field(default_factory=list)
    """(node, operator, reason) that torch runs."""
    work: Dict[str, Work] = dataclasses.field(default_factory=dict)
    """Operations and bytes of each node, by its operator and shapes: counted alike for what is taken and what is left."""
    parts: List[Part] = dataclasses.field(default_factory=list)
    reproducers: List[str] = dataclasses.field(default_factory=list)
    """Folders with what is needed to report a part that failed to compile."""
    sizes: str = ""
    """Of a graph with symbolic sizes: which of them it is for, and why not for more."""
    in_place: List[str] = dataclasses.field(default_factory=list)
    """Nodes that store into the memory of an input of the graph, whose other elements are not copied."""
    launches: int = 0
    """Launches of one run, after fusion."""
    seconds: float = 0.0
    """From the graph to the runnable thing, compiling included."""
    not_recorded: str = ""
    """Why a graph that was to be recorded (`mode="reduce-overhead"`) is not."""
    runners: List[Callable] = dataclasses.field(default_factory=list, repr=False)
    """Weak references to what runs the compiled parts."""

    @property
    def executables(self) -> list:
        """The executables that run the compiled parts now, for `explain` and `profile`; of a model that is gone, none."""
        found = [runner() for runner in self.runners]
        return [runner.executable for runner in found if runner is not None and runner.executable is not None]

    @property
    def flops_taken(self) -> int:
        return sum(self.work[node].flops for node, _ in self.taken)

    @property
    def flops_left(self) -> int:
        return sum(self.work[node].flops for node, _, _ in self.left)

    @property
    def share(self) -> float:
        """Share of operations in compiled parts; 1 where there are none."""
        total = self.flops_taken + self.flops_left
        return self.flops_taken / total if total else 1.0

    def __str__(self):
        total = max(1, self.flops_taken + self.flops_left)
        lines = [
            f"{self.kind}: {len(self.taken)} nodes in {self.launches} launches, {len(self.left)} left to torch, "
            f"{100 * self.share:.1f} % of work taken, {self.seconds:.2f} s"
        ]
        for node, target, reason in self.left:
            share = 100 * self.work[node].flops / total
            lines.append(f"  left {node} ({target}{f', {share:.1f} % of work' if share >= 0.05 else ''}): {reason}")
        lines += [f"  sizes: {self.sizes}"] if self.sizes else []
        lines += [f"  not recorded: {self.not_recorded}"] if self.not_recorded else []
        lines += [f"  a part failed to compile: {path}" for path in self.reproducers]
        return "\n".join(lines)


_reports: List[Report] = []
MOST_REPORTS = 256


def keep(report: Report):
    _reports.append(report)
    del _reports[:-MOST_REPORTS]
    log.info("%s", report)


def reports() -> List[Report]:
    """Reports of the graphs this process compiled, the oldest first; `reset` empties the list."""
    return list(_reports)


def reset():
    _reports.clear()
