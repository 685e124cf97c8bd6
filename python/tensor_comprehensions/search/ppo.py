"""Search by proximal policy optimisation: actors that walk through spaces, and one critic that they share (ALT, section 5.2).

    fast point -> the actor moves each gene (far down, down, stay, up, far up) -> measured -> ... -> end of the walk
    reward of a step: log(time before / time after)      advantages: GAE from the critic's values      update: clipped ratios

An actor has outputs for numbered columns. A gene of the same name keeps its column from space to space, so what was learnt for the loops
of one layout serves those of the next.
"""

import contextlib
import dataclasses
import math
import random
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import _core
from .spaces import Point, Space, Trial

CLIP, DECAY, DISCOUNT, ENTROPY = 0.2, 0.95, 0.99, 0.01
"""Of ratios of probabilities, of GAE, of rewards; the share of the entropy in the loss."""
EPOCHS, RATE, HIDDEN = 4, 3e-3, 64
COLUMNS = {"layouts": 48, "loops": 64}
"""Columns of the state for each actor."""
MOVES = 5
STAY = 2
WALK, BATCH, FASTEST, TRIES = 2, 16, 2, 50
"""Steps of a walk; steps between updates; points from which walks begin; steps that look for a point not seen before."""
WARM_UP = 16
"""Points that are drawn before walks begin."""
CHANGED = 2.5
"""Genes that an actor moves at once before it has learnt."""
WORST, BEST = -2.0, 4.0
"""Bounds of log(first time / time); failures have the first."""
FAILED = -0.5
"""The reward of a step to a failure, which is not taken."""


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise _core.ResourceError("search='ppo' needs torch\nhelp: pip install 'tensor-comprehensions[torch]'") from error
    return torch


@contextlib.contextmanager
def _one_thread(torch):
    """For small networks, for which a team of threads takes longer than the work."""
    before = torch.get_num_threads()
    if before > 1:  # setting the number takes milliseconds
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if before > 1:
            torch.set_num_threads(before)


@dataclasses.dataclass
class Step:
    """A step of a walk."""

    state: Any
    mask: Any
    moves: Any
    probability: float
    """The logarithm of that of the moves when they were drawn."""
    reward: float = 0.0


class Agent:
    """The actors and the critic."""

    def __init__(self, seed: int):
        self.torch = _torch()
        self.generator = self.torch.Generator().manual_seed(seed)
        self.random = random.Random(seed)
        self.columns: Dict[Tuple[str, str], int] = {}
        width = sum(COLUMNS.values()) + 1
        self.actors = {role: self._network(width, count * MOVES, 0.01) for role, count in COLUMNS.items()}
        self.critic = self._network(width, 1, 1.0)
        parameters = [each for network in (*self.actors.values(), self.critic) for each in network.parameters()]
        self.optimiser = self.torch.optim.Adam(parameters, lr=RATE)
        self.losses: List[float] = []
        """Of the critic, one an update."""
        self.current: Dict[str, Any] = {}
        """The part of the state that each actor's last point is."""
        self.finished: List[Tuple[str, List[Step]]] = []

    def _network(self, inputs: int, outputs: int, last: float):
        """Two hidden layers. Weights are drawn without torch's own generator, which is the caller's."""
        nn, layers, sizes = self.torch.nn, [], (inputs, HIDDEN, HIDDEN, outputs)
        for i, (before, after) in enumerate(zip(sizes, sizes[1:])):
            layer = nn.utils.skip_init(nn.Linear, before, after)
            nn.init.orthogonal_(layer.weight, gain=last if i == 2 else math.sqrt(2), generator=self.generator)
            nn.init.zeros_(layer.bias)
            layers += [layer, nn.Tanh()]
        return nn.Sequential(*layers[:-1])

    def column(self, role: str, name: str) -> int:
        """Where gene `name` stands: the first free column, or a shared one where there are too many genes."""
        taken = sum(1 for each, _ in self.columns if each == role)
        return self.columns.setdefault((role, name), taken % COLUMNS[role])

    def state(self, role: str, space: Space, point: Point, left: int):
        """What the actors and the critic see: `point`, the last points of the other actors, and the part of the walk that is left."""
        own = self.torch.zeros(COLUMNS[role])
        for gene, value in zip(space.genes, point):
            own[self.column(role, gene.name)] = 2 * value / max(gene.count - 1, 1) - 1
        self.current[role] = own
        parts = [self.current.get(each, self.torch.zeros(count)) for each, count in COLUMNS.items()]
        return self.torch.cat([*parts, self.torch.tensor([left / WALK])])

    def mask(self, role: str, space: Space, point: Point):
        """What is added to the logits: 0 for moves that are possible, and for staying so much that few genes move at first."""
        result = self.torch.full((COLUMNS[role], MOVES), -math.inf)
        result[:, STAY] = 0
        chance = min(0.5, CHANGED / max(len(space.genes), 1))
        stay = math.log(2 * (1 - chance) / chance)
        for gene, value in zip(space.genes, point):
            row = result[self.column(role, gene.name)]
            row[STAY] = stay
            for move in range(MOVES):
                if move != STAY and moved(gene.count, value, move) != value:
                    row[move] = 0
        return result

    def act(self, role: str, state, mask):
        """Moves for all columns, and the logarithm of their probability."""
        with self.torch.no_grad():
            logs = self._logs(role, state, mask)
            moves = self.torch.multinomial(logs.exp(), 1, generator=self.generator).squeeze(-1)
            return moves, float(logs.gather(-1, moves[:, None]).sum())

    def _logs(self, role: str, states, masks):
        logits = self.actors[role](states).reshape(*states.shape[:-1], COLUMNS[role], MOVES)
        return self.torch.log_softmax(logits + masks, dim=-1)

    def learn(self, role: str, steps: List[Step]) -> None:
        """Takes a walk that has ended, and updates the networks once there are enough."""
        if steps:
            self.finished.append((role, steps))
        if sum(len(steps) for _, steps in self.finished) >= BATCH:
            with _one_thread(self.torch):
                self._update()
            self.finished.clear()

    def _advantages(self, steps: List[Step]) -> List[float]:
        with self.torch.no_grad():
            values = self.critic(self.torch.stack([step.state for step in steps])).squeeze(-1).tolist() + [0.0]
        result, advantage = [0.0] * len(steps), 0.0
        for i in reversed(range(len(steps))):
            error = steps[i].reward + DISCOUNT * values[i + 1] - values[i]
            result[i] = advantage = error + DISCOUNT * DECAY * advantage
        self._returns += [advantage + value for advantage, value in zip(result, values)]
        return result

    def _update(self) -> None:
        torch = self.torch
        self._returns: List[float] = []
        advantages = torch.tensor([each for _, steps in self.finished for each in self._advantages(steps)])
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        returns = torch.tensor(self._returns)
        all_steps = [(role, step) for role, steps in self.finished for step in steps]
        states = torch.stack([step.state for _, step in all_steps])
        for epoch in range(EPOCHS):
            loss = torch.zeros(())
            for role in COLUMNS:
                rows = [i for i, (of, _) in enumerate(all_steps) if of == role]
                if rows:
                    loss = loss + self._actor_loss(role, [all_steps[i][1] for i in rows], states[rows], advantages[rows])
            error = ((self.critic(states).squeeze(-1) - returns) ** 2).mean()
            if epoch == 0:
                self.losses.append(error.item())
            self.optimiser.zero_grad()
            (loss + 0.5 * error).backward()
            self.optimiser.step()

    def _actor_loss(self, role: str, steps: List[Step], states, advantages):
        torch = self.torch
        logs = self._logs(role, states, torch.stack([step.mask for step in steps]))
        taken = logs.gather(-1, torch.stack([step.moves for step in steps])[:, :, None]).squeeze(-1).sum(-1)
        ratio = (taken - torch.tensor([step.probability for step in steps])).exp()
        gain = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages).mean()
        spread = -(logs.exp() * logs.clamp(min=-100)).sum(-1).mean(0).sum()
        return -gain - ENTROPY * spread


def moved(count: int, value: int, move: int) -> int:
    """The value behind a move: far down, down, stay, up, far up."""
    far = max(2, count // 3)
    return min(max(value + (-far, -1, 0, 1, far)[move], 0), count - 1)


@dataclasses.dataclass
class Walk:
    """A walk that goes on: where it is, and its steps so far."""

    point: Point
    steps: List[Step] = dataclasses.field(default_factory=list)


class Walks:
    """A policy: the actor `role` of an agent walks through a space, from fast points on."""

    def __init__(self, agent: Agent, role: str, space: Space):
        self.agent, self.role, self.space = agent, role, space
        self.scores: Dict[Point, float] = {}
        self.proposed: set = set()
        self.first: Optional[float] = None
        self.waiting: Dict[Point, Walk] = {}
        self.walks: List[Walk] = []

    def ask(self, count: int) -> List[Point]:
        with _one_thread(self.agent.torch):
            return self._ask(count)

    def _ask(self, count: int) -> List[Point]:
        free, self.walks = self.walks, []
        found = []
        for _ in range(count):
            begins = len(self.proposed) < WARM_UP
            point = self._anywhere() if begins else self._next(free.pop() if free else self._begin())
            if point is None:
                break
            found.append(point)
        self.walks = free
        return found

    def _begin(self) -> Walk:
        if not self.scores:
            return Walk(self._drawn())
        fastest = sorted(self.scores, key=lambda point: -self.scores[point])[:FASTEST]
        return Walk(self.agent.random.choice(fastest))

    def _next(self, walk: Walk) -> Optional[Point]:
        """Goes on until a point that was not proposed before; None where none is found. What is known needs no measurement."""
        for _ in range(TRIES):
            point = self._step(walk)
            if point not in self.scores and point not in self.proposed:
                self.proposed.add(point)
                self.waiting[point] = walk
                return point
            if point in self.scores:
                walk = self._arrived(walk, point)
            else:
                walk.steps.pop()
        return self._anywhere()

    def _drawn(self) -> Point:
        """The fastest point with a part of its genes drawn anew: with all of them if none is known."""
        draw = self.agent.random
        fastest = max(self.scores, key=self.scores.__getitem__, default=None)
        part = draw.random() if fastest else 1.0
        values = [draw.randrange(gene.count) for gene in self.space.genes]
        if fastest:
            values = [new if draw.random() < part else old for new, old in zip(values, fastest)]
        return self.space.normalised(tuple(values))

    def _anywhere(self) -> Optional[Point]:
        for _ in range(TRIES):
            point = self._drawn()
            if point not in self.scores and point not in self.proposed:
                self.proposed.add(point)
                return point
        return None

    def _step(self, walk: Walk) -> Point:
        agent = self.agent
        state = agent.state(self.role, self.space, walk.point, WALK - len(walk.steps))
        mask = agent.mask(self.role, self.space, walk.point)
        moves, probability = agent.act(self.role, state, mask)
        walk.steps.append(Step(state, mask, moves, probability))
        point = []
        for gene, value in zip(self.space.genes, walk.point):
            point.append(moved(gene.count, value, int(moves[agent.column(self.role, gene.name)])))
        return self.space.normalised(tuple(point))

    def _arrived(self, walk: Walk, point: Point) -> Walk:
        """The walk at `point`, whose time is known: it, or another where it ends."""
        if self.scores[point] > WORST:
            walk.steps[-1].reward = self.scores[point] - self.scores.get(walk.point, 0.0)
            walk.point = point
        else:
            walk.steps[-1].reward = FAILED
        if len(walk.steps) < WALK:
            return walk
        self.agent.learn(self.role, walk.steps)
        return self._begin()

    def tell(self, trials: Sequence[Trial]) -> None:
        for point, seconds in trials:
            usable = math.isfinite(seconds) and seconds > 0
            if usable and self.first is None:
                self.first = seconds
            score = math.log(self.first / seconds) if usable and self.first else WORST
            self.scores[point] = max(self.scores.get(point, WORST), min(max(score, WORST), BEST))
        with _one_thread(self.agent.torch):
            for point, _ in trials:
                walk = self.waiting.pop(point, None)
                if walk is not None:
                    self.walks.append(self._arrived(walk, point))
