"""Cases in which a value, an error or a stride of torch's is easily missed, each against eager."""

import warnings

import pytest
import torch
import torch.nn.functional as F

import tensor_comprehensions.torch as tct

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


def outcome(function, given):
    """The results of a call as a list, or the error of torch that it raised."""
    try:
        results = function(*given)
    except (RuntimeError, IndexError) as error:
        return error
    return list(results) if isinstance(results, (tuple, list)) else [results]


def same(ours, theirs):
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return type(ours) is type(theirs)
    if len(ours) != len(theirs):
        return False
    alike = all((a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride()) for a, b in zip(ours, theirs))
    close = (torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-6, equal_nan=True) for a, b in zip(ours, theirs))
    return alike and all(close)


def check(model, *given, taken=(), left=()):
    """The backend gives what eager gives; the operators `taken` are compiled, those `left` are not, and nothing is said of a failure."""
    theirs = outcome(model, given)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = outcome(torch.compile(model, backend="tc"), given)
    assert same(ours, theirs), (ours, theirs)
    reports = tct.reports()
    tct.reset()
    of = lambda pairs: {target.split(".")[1] for target in pairs}
    assert set(taken) <= of(target for r in reports for _, target in r.taken), [str(r) for r in reports]
    assert set(left) == of(target for r in reports for _, target, why in r.left if "view" not in why), [str(r) for r in reports]
    assert isinstance(theirs, Exception) or not told, [str(t.message) for t in told]


def gradient(model):
    def gradients(x, *rest):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(model(x, *rest).sum(), x)

    return gradients


TABLE, LABELS = torch.arange(20.0).reshape(4, 5) - 7, torch.tensor([1, 0, 4, 2])


# Indices whose values are known.


@pytest.mark.parametrize("first", [0, -4, -1])
def test_an_index_that_is_known(first):
    rows = lambda: torch.arange(first, first + 4)
    check(lambda h, labels: h[rows(), labels], TABLE, LABELS, taken=["index"])
    check(lambda h: h.index_put((rows(),), torch.ones(5), accumulate=True), TABLE, taken=["index_put"])
    check(lambda h: h[:, :4].index_put((rows(), rows()), h[:, 0], accumulate=True), TABLE, taken=["index_put"])


def test_rows_are_added_at_a_known_index():
    check(lambda x, v: x.index_add(0, torch.arange(3), v), torch.zeros(3, 2), torch.ones(3, 2), taken=["index_add"])
    check(lambda h: h.scatter_add(1, torch.arange(5).expand(4, 5), h), TABLE, taken=["scatter_add"])
    check(lambda h: h.gather(1, torch.arange(4)[:, None]), TABLE, taken=["gather"])


def test_a_known_index_outside_is_torchs_error():
    check(lambda h: h[torch.arange(1, 5)], TABLE, left=["index"])
    check(lambda h, v: h.index_add(0, torch.arange(-1, 3), v), TABLE, TABLE, left=["index_add"])
    check(lambda h, v, i: h.index_add(0, i, v), TABLE, TABLE, torch.arange(-1, 3), taken=["index_add"])
    check(lambda h, v: h.index_add(0, torch.arange(2, 4), v, alpha=3), TABLE, TABLE[:2], taken=["index_add"])


# Elements that lie on each other.


@pytest.mark.parametrize(
    "model",
    [
        lambda x, i: x.scatter_add(1, i[:, None].expand(4, 5), torch.ones(4, 5)),
        lambda x, i: x.scatter_add(1, i[:, None].expand(4, 5), x[:, :1].expand(4, 5)),
        lambda x, i: x.scatter_reduce(0, i[:1, None].expand(4, 5) % 4, torch.full((4, 5), 2.0), "prod"),
        lambda x, i: x.index_add(0, i[:1].expand(3), torch.ones(3, 5)),
        lambda x, i: x.index_put((i[:1].expand(3), i[1:2].expand(3)), torch.ones(()), accumulate=True),
        gradient(lambda x, i: x.gather(1, i[:, None].expand(4, 5))),
        gradient(lambda x, i: F.embedding(i[:1].expand(3), x)),
        gradient(lambda x, i: x[i[:1].expand(2, 3)]),
        gradient(lambda x, i: x.unfold(1, 3, 1)[..., :1].expand(4, 3, 7)),
    ],
)
def test_scatters_count_expanded_elements(model):
    check(model, TABLE, LABELS.clamp(max=3))


# Numbers of Python beside tensors.

NUMBERS = (0.1, 1 / 3, 2.7, -0.3, 1000.1, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_beside_halves_are_rounded_as_torch_rounds_them(dtype):
    near = torch.tensor(NUMBERS).to(dtype)  # with the others a whole number of vectors: torch rounds the rest of a sum otherwise
    x = torch.cat([near, near * (1 + 2**-7), near * (1 - 2**-7), torch.linspace(-9, 9, 106).to(dtype), torch.tensor([INF, -INF, NAN, -0.0], dtype=dtype)])

    def exactly(x):
        found = []
        for n in NUMBERS:
            found += [x == n, x != n, x < n, x <= n, x > n, x >= n, torch.where(x > 0, x, n), x.clamp(min=n), x.clamp(max=n)]
            found += [x + n, x - n, n - x, x * n, x / n, torch.add(x, x.flip(0), alpha=n), x.masked_fill(x > 0, n)]
            found += [x + torch.tensor(n), x * torch.tensor(n), x == torch.tensor(n), x * torch.tensor([3]), x + torch.tensor(2049)]
        return found

    for number, (ours, theirs) in enumerate(zip(torch.compile(exactly, backend="tc")(x), exactly(x))):
        assert ours.dtype == theirs.dtype and torch.equal(ours.isnan(), theirs.isnan())
        assert torch.equal(ours.nan_to_num(), theirs.nan_to_num()), number
    assert not tct.reports()[0].left


def test_whole_numbers_beside_halves_are_rounded_first():
    x, n = torch.tensor([0.0, 1.0]).half(), torch.tensor([2049, 4099])
    check(lambda x, n: (x + n, x == n, torch.maximum(x, n), x * n), x, n)


@pytest.mark.parametrize("dtype, large", [(torch.int8, 1000), (torch.uint8, 300), (torch.uint8, -1), (torch.int32, 2**40), (torch.float16, 1e6), (torch.float32, 1e300)])
@pytest.mark.parametrize(
    "model",
    [
        lambda x, n: x.clamp(max=n),
        lambda x, n: x.clamp(min=n),
        lambda x, n: x < n,
        lambda x, n: x + n,
        lambda x, n: torch.where(x > 0, x, n),
        lambda x, n: x.masked_fill(x > 0, n),
        lambda x, n: torch.full_like(x, n) + x,
        lambda x, n: F.pad(x, (1, 1), value=n),
        lambda x, n: F.hardtanh(x, min(n, 0), max(n, 0)),
        lambda x, n: x.scatter(0, torch.tensor([0]), n),
    ],
)
def test_a_number_outside_of_the_type(model, dtype, large):
    model_of_one = lambda x: model(x, large)
    x = torch.tensor([1, 2, 0]).to(dtype)
    theirs, ours = outcome(model_of_one, [x]), outcome(torch.compile(model_of_one, backend="tc"), [x])
    assert isinstance(ours, Exception) if isinstance(theirs, Exception) else same(ours, theirs), (ours, theirs)


# Errors of torch.


def test_a_scatter_outside_is_torchs_error():
    inside, outside = torch.tensor([[0], [1], [4], [2]]), torch.tensor([[0], [1], [5], [2]])
    for model in (lambda x, i: x.scatter(1, i, 2.0), lambda x, i: x.scatter(1, i, x[:, :1]), lambda x, i: torch.zeros(4, 5).scatter(1, i, 1.0)):
        torch._dynamo.reset()
        check(model, TABLE, inside, taken=["scatter"])
        check(model, TABLE, outside)
        check(model, TABLE, inside - 1)


def test_an_output_padding_that_is_too_wide_is_torchs_error():
    x, weight = torch.randn(1, 2, 4, 4), torch.randn(2, 3, 3, 3)
    check(lambda x, w: F.conv_transpose2d(x, w, output_padding=1), x, weight, left=["convolution"])
    check(lambda x, w: F.conv_transpose2d(x, w, stride=2, output_padding=1), x, weight, taken=["convolution"])
    check(lambda x, w: F.conv_transpose2d(x, w, dilation=2, output_padding=1), x, weight, taken=["convolution"])


def test_indices_that_are_copied_to_or_that_targets_name():
    check(lambda x, i: x.index_copy(0, i, x[:2]) * 2, TABLE, torch.tensor([0, 3]), taken=["index_copy"])
    check(lambda x, i: x.index_copy(0, i, x[:2]) * 2, TABLE, torch.tensor([0, 4]), taken=["index_copy"])
    check(lambda x, i: x.scatter(1, i, x), TABLE, torch.stack([torch.randperm(5) for _ in range(4)]), taken=["scatter"])
    check(lambda x, i: x.scatter(0, i, 3.0), TABLE, torch.tensor([[0, 3, 1], [0, 0, 2]]), taken=["scatter"])
    check(lambda x, i: x.index_put((i,), x[:2]), TABLE, torch.tensor([0, -1]), taken=["index_put"])
    check(lambda x, i: F.nll_loss(x, i), TABLE, torch.tensor([0, 1, 4, -100]), taken=["gather"])
    for model in (F.cross_entropy, F.multi_margin_loss, lambda x, i: x.index_select(1, i), lambda x, i: x.take(i * 5)):
        with pytest.raises((RuntimeError, IndexError)), pytest.warns(UserWarning, match="ran in torch"):
            torch.compile(model, backend="tc")(TABLE, torch.tensor([1, 0, 7, 2]))


def test_a_probability_outside_is_torchs_error():
    check(lambda x, t: F.binary_cross_entropy(x, t), TABLE, TABLE.sigmoid(), left=["binary_cross_entropy"])
    check(lambda x, t: F.binary_cross_entropy(x.sigmoid(), t), TABLE, TABLE.sigmoid(), taken=["sigmoid"], left=["binary_cross_entropy"])


@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_attention_keeps_nans(kind):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 4, 8)
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[:, 3] = False
    mask[2] = False
    mask = mask if kind is torch.bool else torch.zeros(4, 4).masked_fill(~mask, -INF)
    model = lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, mask)
    check(model, q, k, v, mask)
    k[0, 0, 3] = NAN
    check(model, q, k, v, mask)
    q[0, 1, 0] = NAN
    check(model, q, k, v, mask)


# Nodes that were more than their part could hold.


@pytest.mark.parametrize(
    "model",
    [
        lambda x: (x + 1, torch.arange(5).expand(3, 5)),
        lambda x: (x * 2, torch.full((1, 3), 2.0).expand(4, 3).t()),
        lambda x: torch.meshgrid(x[0], torch.arange(3.0), indexing="ij"),
        lambda x: (torch.relu(x[:, :1]).expand(4, 6), x.sum()),
        lambda x: torch.relu(x).flip(0),
        lambda x: (torch.relu(x).flip(0, 1)[:2].t(), x.flip(1)),
        gradient(lambda x: x.cumsum(1) * torch.arange(5.0)),
        lambda x: (x * 2).unfold(1, 3, 1),
    ],
)
def test_results_have_the_strides_of_torch(model):
    check(model, TABLE)


def test_fills_of_indices_are_stores():
    check(lambda x: torch.relu(x.index_fill(1, torch.tensor([0, 2]), -1.0)) * 3, TABLE, taken=["relu", "mul", "index_fill"])
    check(lambda x: x.index_fill(0, torch.tensor([-1]), 2.0) + x, TABLE, taken=["add", "index_fill"])
    check(lambda x: x.index_fill(0, torch.tensor(2), 0.5).sum(0), TABLE, taken=["index_fill", "sum"])


def test_a_node_that_is_left_leaves_the_others():
    check(lambda x: torch.relu(x)[torch.arange(1, 5)].exp(), TABLE, taken=["relu", "exp"], left=["index"])


@pytest.mark.parametrize("count", [330, pytest.param(600, marks=pytest.mark.long)])
def test_many_tensors_are_joined(count):
    pieces = [torch.arange(3.0)[None] + k for k in range(count)]
    check(lambda *given: torch.cat(given) * 2, *pieces, taken=["cat", "mul"])


def test_a_batch_of_nothing():
    layer, image = torch.nn.Linear(5, 6), torch.nn.Conv2d(2, 3, 3)
    with torch.no_grad():
        check(lambda x: torch.relu(layer(x)).reshape(-1, 2, 3).sum(1), torch.randn(0, 5), taken=["relu"])
        check(lambda x: (image(x).flatten(1), x.reshape(0, 4, 8).transpose(1, 2).sum(-1)), torch.randn(0, 2, 4, 4))
        check(lambda x: torch.cat([x, x * 2]).view(-1, 5).softmax(-1).sum(0), torch.randn(0, 5), left=["_softmax"])


def test_shapes_that_values_tell():
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(lambda x: (torch.relu(x * 2).nonzero() + 1, x @ x.t()), backend="tc", fullgraph=True)
        places, product = compiled(TABLE)
    assert torch.equal(places, torch.relu(TABLE * 2).nonzero() + 1) and torch.equal(product, TABLE @ TABLE.t())
    (report,) = tct.reports()
    assert {"mul", "relu", "mm"} <= {node.rstrip("_0123456789") for node, _ in report.taken}


def test_jagged_tensors():
    rows = torch.nested.nested_tensor([torch.randn(3, 4), torch.randn(5, 4)], layout=torch.jagged)
    weight = torch.randn(4, 6)
    model = lambda t, w: torch.relu(t @ w)
    ours = torch.compile(model, backend="tc")(rows, weight)
    assert torch.allclose(ours.values(), model(rows, weight).values(), atol=1e-5)
    assert not tct.reports()[-1].left


@pytest.mark.parametrize("freeze", [False, True])
def test_parameters_made_in_inference_mode(freeze):
    with torch.inference_mode():
        model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU())
        compiled, x = torch.compile(model, backend="tc", options={"freeze": freeze}), torch.randn(3, 4)
        assert torch.allclose(compiled(x), model(x), atol=1e-6)
        model[0].weight.mul_(2)
        assert torch.allclose(compiled(x), model(x), atol=1e-6)
    assert tct.reports()[-1].taken


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.SGD])
def test_a_step_of_a_fused_optimizer_is_noticed(kind):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU()).eval()
    fast, x = torch.compile(model, backend="tc", options={"freeze": True}), torch.randn(1, 3, 6, 6)
    optimizer = kind(model.parameters(), lr=0.1, fused=True)
    for _ in range(3):
        with torch.no_grad():
            torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    assert tct.reports()[-1].executables[0].stats["constants"]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last, padding", [(False, None), (True, 3)])
def test_bags_of_rows(mode, last, padding):
    bags = torch.nn.EmbeddingBag(9, 5, mode=mode, include_last_offset=last, padding_idx=padding).eval().requires_grad_(False)
    offsets = torch.tensor([0, 2, 2, 5] + [6] * 20 + ([11] if last else []))
    check(bags, torch.randint(0, 9, (11,)), offsets, taken=["_embedding_bag_forward_only"])


@pytest.mark.parametrize("k, dim", [(1, -1), (4, 1), (3, 0), (8, -1)])
def test_the_largest_elements(k, dim):
    torch.manual_seed(0)
    distinct = torch.randperm(80).view(8, 10)
    for x in (distinct.float(), distinct.bfloat16(), distinct.to(torch.int8) - 40, distinct):
        torch._dynamo.reset()
        check(lambda x: torch.topk(x, k, dim), x, taken=["topk"])


def test_the_largest_elements_of_special_values():
    x = torch.randperm(30).float().view(3, 10)
    x[0, 3], x[1, 2], x[1, 7], x[2, 0] = NAN, INF, -INF, -0.0
    check(lambda x: x.topk(5), x, taken=["topk"])
    check(lambda x: x.topk(3), torch.tensor([[NAN, -INF, INF]]), taken=["topk"])
    check(lambda x: x.topk(1), torch.ones(1, 1), taken=["topk"])
    ties = torch.tensor([[1.0, 3, 3, 2, 3], [NAN, 0, NAN, 0, -INF]])
    torch._dynamo.reset()
    assert torch.compile(lambda x: x.topk(4), backend="tc")(ties).indices.tolist() == [[1, 2, 4, 3], [0, 2, 1, 3]]


def test_ranks_that_torch_finds():
    x = torch.randn(3, 40)
    for model in (lambda x: x.topk(9), lambda x: x.topk(3, largest=False), lambda x: x.topk(3).values * 1):
        torch._dynamo.reset()
        check(model, x, left=["topk"])


@pytest.mark.parametrize("mode, weighted", [("sum", False), ("sum", True), ("mean", False)])
@pytest.mark.parametrize("last, padding", [(False, None), (True, 3)])
def test_gradients_of_bags(mode, weighted, last, padding):
    offsets = torch.tensor([0, 2, 2, 5] + [6] * 20 + ([11] if last else []))

    def gradients(table, indices, weights):
        table, weights = table.clone().requires_grad_(), weights.clone().requires_grad_()
        chosen = {"per_sample_weights": weights} if weighted else {}
        bags = F.embedding_bag(indices, table, offsets, mode=mode, include_last_offset=last, padding_idx=padding, **chosen)
        return torch.autograd.grad(bags.square().sum(), [table, *chosen.values()])

    taken = ["_embedding_bag", "_embedding_bag_backward"] + (["_embedding_bag_per_sample_weights_backward"] if weighted else [])
    check(gradients, torch.linspace(-1, 1, 45).view(9, 5), torch.tensor([3, 1, 8, 3, 3, 0, 2, 2, 7, 4, 3]), torch.linspace(0.5, 2, 11), taken=taken)


def test_gradients_of_bags_that_are_left_to_torch():
    def gradients(table, indices):
        table = table.clone().requires_grad_()
        return torch.autograd.grad(F.embedding_bag(indices, table, torch.tensor([0, 2, 5]), mode="max").sum(), table)

    check(gradients, torch.randn(9, 5), torch.randint(0, 9, (11,)), left=["_embedding_bag", "_embedding_bag_backward"])


def test_bags_whose_offsets_leave_the_indices_are_left_to_torch():
    bags = torch.nn.EmbeddingBag(9, 5, mode="sum").eval().requires_grad_(False)
    compiled, indices = torch.compile(bags, backend="tc"), torch.randint(0, 9, (11,))
    with torch.no_grad(), pytest.raises(RuntimeError, match="offsets"), pytest.warns(UserWarning, match=r"must ascend in \[0, 11\]"):
        compiled(indices, torch.tensor([0, 3] + [12] * 20))
