"""`autotune(..., layouts=True)`: the search for layouts and loops together.

    joint stage      layouts proposed by a policy -> the def in them -> a short tuning of its loops -> the best time is told to the policy
    loops only       the rest of the budget for the loops in the fastest layouts
    comparison       its winner and the plain one in turns, in this process
"""

import dataclasses
import math
import time
from typing import Any, Callable, Dict, List, Sequence

from . import _core
from .checkpoint import StageLog
from .function import Function
from .layout_conversions import conversion
from .search.layout_space import CheapestLayouts, Layouts, LayoutSpace
from .search.policies import make_policy, options_policy
from .tuning_result import TriedLayouts, layouts_text

JOINT, FEW_JOINT, FEW = 0.3, 0.5, 32
"""The part of the budget that is the joint stage; the same for up to `FEW` candidates."""
LAYOUTS, MOST_EACH = 8, 8
"""Layouts of the joint stage at least, if there are so many candidates; candidates in each at most."""
DRAWN, PRICING = 12, 0.1
"""Layouts that are drawn and priced for each of the joint stage; the part of a budget of seconds after which no more are priced."""
ATTEMPTS = 4
"""Layouts that are proposed, for each that is measured: a def may not take all."""
QUICK = {"finalists": 1, "final_seconds": 0.05, "interpret_limit": 0.3}
"""Of a tuning in the joint stage, whose winner is measured again."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a budget is spent. Numbers of candidates count the compiler's own loops in each layout, too; 0: no limit but the time."""

    layouts: int
    each: int
    loops: int
    joint_seconds: float
    loop_seconds: float

    @property
    def joint(self) -> int:
        """Candidates of the joint stage."""
        return self.layouts * self.each


def plan(candidates: int, seconds: float) -> Plan:
    """The plan for a tuning of so many candidates and seconds; 0 for no limit.

    candidates=1000     37 layouts with 8 candidates each, then 704 candidates in the best
    candidates=16       8 layouts with the compiler's own loops each, then 8 candidates in the best
    """
    share = FEW_JOINT if 0 < candidates <= FEW else JOINT
    if not candidates:
        return Plan(LAYOUTS, MOST_EACH, 0, share * seconds, (1 - share) * seconds)
    joint = max(1, int(share * candidates))
    layouts = min(joint, max(LAYOUTS, joint // MOST_EACH))
    each = min(MOST_EACH, joint // layouts)
    return Plan(layouts, each, candidates - layouts * each, share * seconds, (1 - share) * seconds)


class Converted:
    """The tensors of a def in layouts."""

    def __init__(self, function: Function, tensors: Sequence[Any], layouts: Layouts):
        self.layouts = layouts
        if not layouts:
            self.function, self.tensors = function, list(tensors)
            return
        definition, specs = _core.in_layouts(function, list(tensors), layouts)
        self.function = Function(definition, function._settings())
        names = function._parameters()
        self.tensors = [self._placed(tensor, spec, layouts.get(name)) for name, tensor, spec in zip(names, tensors, specs)]

    @staticmethod
    def _placed(tensor, spec, layout):
        if layout is None or isinstance(tensor, _core.TensorSpec):
            return spec if isinstance(tensor, _core.TensorSpec) else tensor
        return conversion(tensor, layout)(tensor)


class Joint:
    """One tuning of layouts and loops."""

    def __init__(self, function: Function, tensors, target, settings: Dict[str, Any], tune: Callable[..., dict], show, checkpoint: str):
        self._function, self._tensors, self._target = function, tensors, target
        self._settings, self._tune, self._show = settings, tune, show
        self._plan = plan(settings["candidates"], settings["budget"])
        self._space = LayoutSpace(function, tensors)
        self._agent = self._new_agent()
        self._policy = self._new_policy()
        self._checkpoint = checkpoint
        self._log = StageLog(checkpoint, "tensor_comprehensions joint tuning 1", self._identity())
        self.tried: List[TriedLayouts] = []
        self.candidates: List[dict] = []

    def _new_agent(self):
        if self._settings["search"] != "ppo":
            return None
        from .search.ppo import Agent

        return Agent(self._settings["seed"])

    def _new_policy(self):
        search, seed = self._settings["search"], self._settings["seed"]
        if search == "ppo":
            from .search.ppo import Walks

            return Walks(self._agent, "layouts", self._space)
        if search in ("genetic", "random"):
            return make_policy(search, self._space, seed)
        return CheapestLayouts(self._space, seed, DRAWN * self._plan.layouts, PRICING * self._settings["budget"] or math.inf)

    def _identity(self) -> dict:
        shapes = [[list(getattr(tensor, "shape", ())), str(getattr(tensor, "dtype", ""))] for tensor in self._tensors]
        asked = {name: str(self._settings[name]) for name in ("search", "ranking", "seed", "candidates", "budget")}
        return {"def": str(self._function), "shapes": shapes, "target": self._target, **asked, "compiler": _core.compiler_build()}

    def run(self, store) -> dict:
        """Both stages; what the second one found, with its layouts."""
        return self._loops_only(self._joint_stage(), store)

    def _joint_stage(self) -> dict:
        begin = time.monotonic()
        count = measured = 0
        while measured < self._plan.layouts and count < ATTEMPTS * self._plan.layouts:
            late = self._settings["budget"] and time.monotonic() - begin > self._plan.joint_seconds
            # The plain layouts go first, whatever the policy proposes: other ones compete with them.
            points = [self._space.plain] if count == 0 else self._policy.ask(1)
            if count == len(self._log.entries):
                if not points or (late and count > 0):
                    break
                self._log.add(self._try(points[0]))
            entry = self._log.entries[count]
            self._policy.tell([(tuple(entry["point"]), entry["time"])])
            count += 1
            measured += bool(entry["candidates"])
        for entry in self._log.entries[:count]:
            self._note(entry)
        assert sum(each.measurements for each in self.tried) <= self._plan.joint, "the joint stage exceeds its budget"
        return min(self._log.entries[: len(self.tried)], key=lambda entry: entry["time"])

    def _try(self, point) -> dict:
        """The best time in the layouts of `point`."""
        seconds = self._plan.joint_seconds / self._plan.layouts if self._settings["budget"] else 0.0
        entry: Dict[str, Any] = {"point": list(point), "layouts": {}, "time": math.inf, "options": "", "candidates": []}
        try:
            layouts = self._space.layouts(point)
            entry["layouts"] = {name: str(layout) for name, layout in layouts.items()}
            # A tuning without time measures the compiler's own loops, and ends.
            limits = {"candidates": self._plan.each - 1, "budget": seconds} if self._plan.each > 1 else {"candidates": 0, "budget": 1e-3}
            found = self._tune_loops(layouts, {**limits, **QUICK}, None, "", self._agent)
        except (_core.OptionsError, _core.ResourceError):
            return entry
        usable = [each for each in found["candidates"] if each["status"] in ("ok", "same")]
        fastest = min(usable, key=lambda each: each["time"])
        kept = [{**each, "options": str(each["options"])} for each in found["candidates"]]
        return {**entry, "time": fastest["time"], "options": str(fastest["options"]), "candidates": kept}

    @property
    def plain_options(self) -> str:
        """The fastest that the joint stage found for the plain layouts; "" for the compiler's own choice."""
        return self._log.entries[0]["options"] if self._log.entries else ""

    def _note(self, entry: dict) -> None:
        layouts = {name: _core.Layout(text) for name, text in entry["layouts"].items()}
        predicted = getattr(self._policy, "priced", {}).get(tuple(entry["point"]), 0.0)
        self.tried.append(TriedLayouts(layouts, predicted, entry["time"], len(entry["candidates"])))
        self.candidates += [{**each, "layouts": layouts_text(layouts)} for each in entry["candidates"]]

    def _loops_only(self, best: dict, store) -> dict:
        layouts = {name: _core.Layout(text) for name, text in best["layouts"].items()}
        left = self._plan.loops
        limits = {"candidates": max(left - 1, 1) if self._settings["candidates"] else 0, "budget": self._plan.loop_seconds}
        starts = [*([] if layouts else self._settings["starts"]), *filter(None, [best["options"]])]
        checkpoint = f"{self._checkpoint}.loops" if self._checkpoint else ""
        # A policy that goes on from a checkpoint repeats its calls: it does not begin with what the joint stage taught.
        agent = None if checkpoint else self._agent
        found = self._tune_loops(layouts, {**limits, "starts": starts}, store, checkpoint, agent)
        tried = [{**each, "layouts": layouts_text(layouts)} for each in found["candidates"]]
        assert not self._settings["candidates"] or len(tried) <= max(left, 2), "the stage of loops exceeds its budget"
        return {**found, "candidates": [*self.candidates, *tried], "layouts": layouts}

    def _tune_loops(self, layouts: Layouts, how: Dict[str, Any], store, checkpoint: str, agent) -> dict:
        placed = Converted(self._function, self._tensors, layouts)
        settings = {**self._settings, **how}
        # Options of the caller are for the def without layouts.
        starts = how.get("starts", [] if layouts else settings["starts"])
        settings["starts"] = [_core.MappingOptions(str(start)) for start in starts]
        if agent is not None:
            from .search.ppo import Walks

            settings["search"] = options_policy(lambda space: Walks(agent, "loops", space))
        return self._tune(placed.function, tuple(placed.tensors), None, self._target, settings, store, self._show, checkpoint)

