"""Policies behind ask and tell: on made-up landscapes, and as the search of a tuning."""

import math
import random
import sys

import numpy as np
import pytest

import tensor_comprehensions as tc
from tensor_comprehensions.search import Gene, Genetic, Random
from tensor_comprehensions.search.choice import PriceModel
from tensor_comprehensions.search.ranks import spearman
from tensor_comprehensions.search.trees import Trees

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
A = np.arange(24 * 20, dtype=np.float32).reshape(24, 20) % 7
B = np.arange(20 * 32, dtype=np.float32).reshape(20, 32) % 5
QUICK = dict(candidates=6, population=6, progress=False, cache=False)


@pytest.fixture
def one_thread():
    """torch on one thread, which is faster for small networks than to change the number each time."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Landscape:
    """Times that grow with the distance from one fast point, along each gene and for pairs of genes; some points fail."""

    def __init__(self, seed, genes=12, values=10):
        draw = random.Random(1000 + seed)
        self.genes = [Gene(f"g{i}", values) for i in range(genes)]
        self.fast = [draw.randrange(values) for _ in self.genes]
        self.weights = [draw.uniform(0.1, 1) for _ in self.genes]
        self.pairs = [(draw.randrange(genes), draw.randrange(genes), draw.uniform(0, 0.6)) for _ in range(genes)]
        self.seed = seed

    def normalised(self, point):
        return tuple(point)

    def seconds(self, point):
        far = [abs(a - b) / (gene.count - 1) for a, b, gene in zip(point, self.fast, self.genes)]
        cost = sum(w * d for w, d in zip(self.weights, far)) + sum(w * min(1, far[i] + far[j]) for i, j, w in self.pairs)
        noise = random.Random(str((self.seed, point))).uniform(0, 0.1)
        return math.inf if noise > 0.093 else 1e-3 * math.exp(cost + noise)


def walked(policy, landscape, budget=96, batch=8):
    """What it proposes, and the logarithm of the best time over the least possible one."""
    asked, best = [], math.inf
    while len(asked) < budget:
        points = policy.ask(min(batch, budget - len(asked)))
        trials = [(point, landscape.seconds(point)) for point in points]
        policy.tell(trials)
        asked += points
        best = min(best, *(seconds for _, seconds in trials))
    return asked, math.log(best / 1e-3)


def ppo_in(landscape, seed):
    from tensor_comprehensions.search.ppo import Agent, Walks

    return Walks(Agent(seed), "loops", landscape)


def sign_test(wins, rounds):
    """The probability of so many wins, or more, by chance."""
    return sum(math.comb(rounds, i) for i in range(wins, rounds + 1)) / 2**rounds


def test_ppo_beats_random_on_landscapes(one_thread):
    landscapes = [Landscape(seed) for seed in range(20)]
    by_ppo = [walked(ppo_in(each, seed), each)[1] for seed, each in enumerate(landscapes)]
    by_chance = [walked(Random(each, seed), each)[1] for seed, each in enumerate(landscapes)]
    wins = sum(a < b for a, b in zip(by_ppo, by_chance))
    assert sign_test(wins, 20) < 0.05, f"{wins} of 20"


def test_genetic_beats_random_on_landscapes():
    landscapes = [Landscape(seed) for seed in range(20)]
    wins = sum(walked(Genetic(each, i), each)[1] < walked(Random(each, i), each)[1] for i, each in enumerate(landscapes))
    assert sign_test(wins, 20) < 0.05


@pytest.mark.parametrize("make", [Random, Genetic, ppo_in])
def test_proposals_repeat_for_a_seed_and_none_comes_twice(make, one_thread):
    landscape = Landscape(3, genes=6, values=4)
    first, again, other = (walked(make(landscape, seed), landscape, 96)[0] for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == len(first) == 96


def test_the_networks_of_ppo_change(one_thread):
    from tensor_comprehensions.search.ppo import Agent, Walks

    landscape = Landscape(5, genes=6)
    agent = Agent(0)
    before = [each.clone() for each in agent.actors["loops"].parameters()]
    walked(Walks(agent, "loops", landscape), landscape, 64)
    assert agent.losses and any((a != b).any() for a, b in zip(before, agent.actors["loops"].parameters()))


def test_actor_and_critic_learn_a_reward(one_thread):
    from tensor_comprehensions.search.ppo import MOVES, STAY, Agent, Step

    landscape, agent = Landscape(5, genes=2, values=9), Agent(0)
    up = MOVES - 2
    point = (4, 4)

    def chance_of_up():
        logs = agent._logs("loops", agent.state("loops", landscape, point, 4), agent.mask("loops", landscape, point))
        return logs[0].exp()[up].item()

    before = chance_of_up()
    for _ in range(30 * 16):
        state, mask = agent.state("loops", landscape, point, 4), agent.mask("loops", landscape, point)
        moves, probability = agent.act("loops", state, mask)
        agent.learn("loops", [Step(state, mask, moves, probability, 1.0 if moves[0] == up else 0.0)])
    assert chance_of_up() > 2 * before and STAY != up
    assert sum(agent.losses[-5:]) < 0.5 * sum(agent.losses[:5])


def test_torch_is_left_as_it_was():
    torch = pytest.importorskip("torch")
    landscape = Landscape(5, genes=6)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    walked(ppo_in(landscape, 0), landscape, 32)
    assert torch.equal(state, torch.get_rng_state()) and threads == torch.get_num_threads()


def test_ppo_ends_where_the_space_does(one_thread):
    landscape = Landscape(0, genes=2, values=3)
    policy = ppo_in(landscape, 0)
    seen = set()
    for _ in range(20):
        points = policy.ask(4)
        policy.tell([(point, landscape.seconds(point)) for point in points])
        seen |= set(points)
    assert len(seen) == 9


def test_ppo_tunes_a_def_and_goes_on_from_a_checkpoint(tmp_path):
    pytest.importorskip("torch")
    T = tc.define(MM)
    tried = lambda **how: [str(c.options) for c in tc.autotune(T.mm, A, B, search="ppo", **{**QUICK, **how}).candidates]
    first = tried(seed=3, checkpoint=tmp_path / "point", candidates=4)
    assert len(set(first)) == 5
    # The proposals that follow depend on measured times, so only those of the file are the same.
    assert tried(seed=3, checkpoint=tmp_path / "point", candidates=6)[:5] == first


class Tiler:
    """A policy of a caller: tiles in turn."""

    def __init__(self, space):
        assert any(option == "tile" for option, _, _ in space.genes)
        self.next, self.told = 1, []

    def ask(self, count):
        self.next += count
        return [f"tile={n}x{n}" for n in range(self.next - count, self.next)]

    def tell(self, trials):
        self.told += trials


def test_a_policy_of_the_caller():
    made = []

    def policy(space):
        made.append(Tiler(space))
        return made[-1]

    result = tc.autotune(tc.define(MM).mm, A, B, search=policy, **QUICK)
    assert [str(c.options) for c in result.candidates] == ["", *(f"tile={n}x{n}" for n in range(1, 7))]
    told = {str(options): seconds for options, seconds in made[0].told}
    assert told == {str(c.options): c.time if c.status in ("ok", "same") else math.inf for c in result.candidates}


def test_errors_of_a_policy_are_the_callers():
    class Broken(Tiler):
        def ask(self, count):
            raise ValueError("no idea")

    class Vague(Tiler):
        def ask(self, count):
            return [3]

    for policy, error, message in [(Broken, ValueError, "no idea"), (Vague, tc.ArgumentError, "mapping options or their texts; .*int")]:
        with pytest.raises(error, match=message):
            tc.autotune(tc.define(MM).mm, A, B, search=policy, **QUICK)


def test_the_space_that_policies_see():
    seen = []

    class Looker(Tiler):
        def ask(self, count):
            return []

    def policy(space):
        seen.append(space)
        return Looker(space)

    assert tc.autotune(tc.define(MM).mm, A, B, search=policy, **QUICK).stop == "space"
    space = seen[0]
    nothing = [0] * len(space.genes)
    assert str(space.options(nothing)) == "" and space.normalised(nothing) == nothing == space.choice(tc.MappingOptions(""))
    with pytest.raises(tc.ArgumentError, match="genes, not 1"):
        space.options([0])
    with pytest.raises(tc.ArgumentError, match="has no value"):
        space.options([1000, *nothing[1:]])


def test_what_is_missing_is_named(monkeypatch):
    T = tc.define(MM)
    for module, how, help in [("torch", dict(search="ppo"), r"help: .*\[torch\]"), ("xgboost", dict(search="price", ranking="xgboost"), r"help: .*\[xgboost\]")]:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(tc.ResourceError, match=help):
            tc.autotune(T.mm, A, B, **how, **QUICK)
    with pytest.raises(tc.OptionsError, match="help: give search='price'"):
        tc.autotune(T.mm, A, B, ranking="xgboost", **QUICK)


def test_the_former_name_of_search():
    T = tc.define(MM)
    with pytest.warns(DeprecationWarning, match="search="):
        result = tc.autotune(T.mm, A, B, method="random", **{**QUICK, "candidates": 1})
    assert len(result.candidates) == 2
    with pytest.raises(tc.OptionsError, match="the same"):
        tc.autotune(T.mm, A, B, method="random", search="price", **QUICK)


def test_rank_correlation():
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 2, 2, 3], [1, 3, 3, 9]) == pytest.approx(1)
    assert spearman([1, 2, 3], [5, 5, 5]) == 0


def made_up_nests(count):
    """Nests whose memory, the second term, takes a fourth of its price."""
    draw = random.Random(7)
    nests = []
    for i in range(count):
        price, memory = draw.uniform(1, 3), (0.1, 0.5, 0.9)[i % 3]
        nests.append((f"unroll={i + 1}", price, (1 - memory, memory), price * (1 - 0.75 * memory)))
    return nests


def test_the_rank_of_prices_is_reported():
    nests = made_up_nests(40)
    candidates = [{"options": name, "status": "ok", "time": seconds, "predicted": price} for name, price, _, seconds in nests]
    report = PriceModel(None).report(candidates)
    assert report.rank is None and report.samples == 40 and 0 < report.price_rank < 0.9
    assert PriceModel(None).report(candidates[:3]) is None


def test_trees_learn_what_prices_are_wrong_about():
    pytest.importorskip("xgboost")
    nests = made_up_nests(40)
    trees = Trees(0)
    pool = [(*nest[:3], nest[3] if i < 24 else 0.0) for i, nest in enumerate(nests)]
    corrected = trees(pool)
    actual = [nest[3] for nest in nests]
    assert spearman(corrected[24:], actual[24:]) > 0.9 > spearman([nest[1] for nest in nests[24:]], actual[24:])
    assert trees.held_out_rank(nests) > 0.9 and trees(pool) == corrected
    assert trees([(*nest[:3], 0.0) for nest in nests]) == [nest[1] for nest in nests]


def test_a_tuning_with_trees():
    pytest.importorskip("xgboost")
    result = tc.autotune(tc.define(MM).mm, A, B, search="price", ranking="xgboost", **{**QUICK, "candidates": 16})
    assert result.model.model == "xgboost" and -1 <= result.model.rank <= 1 and result.model.samples >= 8
    assert "held out" in str(result)
