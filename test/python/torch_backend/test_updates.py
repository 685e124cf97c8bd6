"""Inputs that a model updates: caches of keys and values that are stored into where they lie."""

import warnings

import pytest
import torch
import torch.nn.functional as F

import tensor_comprehensions.torch as tct


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    tct.reset()


def copies(tensors):
    """Copies with the strides and the sharing of memory that `tensors` have."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors}
    new = {key: s.clone() for key, s in storages.items()}
    return [torch.empty(0, dtype=t.dtype).set_(new[t.untyped_storage().data_ptr()], t.storage_offset(), t.shape, t.stride()) for t in tensors]


def check(model, *given, in_place=1, calls=2, options=None):
    """The backend gives what eager gives and leaves the same in the inputs, call after call; `in_place` of these are stored into."""
    ours, theirs = copies(given), copies(given)
    run = torch.compile(model, backend="tc", options=options)
    with torch.no_grad():
        for _ in range(calls):
            got, want = run(*ours), model(*theirs)
            got, want = (list(r) if isinstance(r, tuple) else [r] for r in (got, want))
            assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(got, want))
            assert all(torch.equal(a, b) or torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(ours, theirs))
    (report,) = tct.reports()
    assert not report.left, str(report)
    assert len(report.in_place) == in_place, report.in_place
    return report


def attention(q, keys, values):
    return F.scaled_dot_product_attention(q, keys, values)


def qkv(length=33, new=1, heads=3, width=8):
    torch.manual_seed(0)
    k, v = torch.randn(1, heads, new, width), torch.randn(1, heads, new, width)
    return torch.randn(1, heads, new, width), k, v, torch.randn(1, heads, length, width), torch.randn(1, heads, length, width)


def by_index_copy(q, k, v, keys, values, p):
    keys.index_copy_(2, p, k)
    values.index_copy_(2, p, v)
    return attention(q, keys, values)


def by_assignment(q, k, v, keys, values, p):
    keys[:, :, p] = k
    values[:, :, p] = v
    return attention(q, keys, values)


@pytest.mark.parametrize("model", [by_index_copy, by_assignment])
@pytest.mark.parametrize("p", [[5], [32], [4, 0, 7]])
def test_a_cache_is_stored_into(model, p):
    check(model, *qkv(new=len(p)), torch.tensor(p), in_place=2)


def test_repeated_heads_are_no_copies():
    """A view that repeats heads is read where it is, although its reshape is a copy in torch."""

    def model(q, k, v, keys, values, p):
        keys.index_copy_(2, p, k)
        values.index_copy_(2, p, v)
        repeat = lambda x: x[:, :, None].expand(1, 3, 2, 33, 8).reshape(1, 6, 33, 8)
        return attention(q.expand(1, 3, 2, 8).reshape(1, 6, 1, 8), repeat(keys), repeat(values))

    q, *others = qkv()
    report = check(model, q.mT.expand(1, 3, 8, 2).mT, *others, torch.tensor([5]), in_place=2)
    assert not any("(1,6,33,8) Y" in part.text.replace("float32", "") for part in report.parts)


def test_the_last_of_several_values_is_kept():
    check(lambda x, p, v: x.index_put_((p,), v).sum(), torch.randn(9, 4), torch.tensor([3, -1, 3, 8]), torch.randn(4, 4))


def test_a_row_for_each_sequence():
    def model(keys, k, p):
        keys[torch.arange(keys.shape[0]), :, p] = k
        return keys.sum(2)

    check(model, torch.randn(4, 3, 9, 5), torch.randn(4, 3, 5), torch.tensor([0, 8, 3, 3]))


def test_halves_and_whole_numbers():
    for dtype in (torch.bfloat16, torch.float16, torch.int32, torch.bool):
        torch._dynamo.reset()
        tct.reset()
        x, v = (torch.randint(0, 2, shape).to(dtype) for shape in ((12, 6), (2, 6)))
        check(lambda x, p, v: x.index_copy_(0, p, v)[0] == 1, x, torch.tensor([7, 2]), v)


def test_caches_in_any_strides():
    keys = torch.randn(1, 33, 3, 8).transpose(1, 2)
    q, k, v, _, values = qkv()
    check(by_index_copy, q, k, v, keys, values, torch.tensor([5]), in_place=2)
    torch._dynamo.reset()
    tct.reset()
    check(lambda x, p, v: x.index_copy_(1, p, v).sum(), torch.randn(7, 9)[::2, 1:6], torch.tensor([3]), torch.randn(4, 1))


def test_one_position_of_one():
    check(by_index_copy, *qkv(length=1), torch.tensor([0]), in_place=2)


def test_old_values_that_are_read_are_kept():
    def reads(x, p, v):
        before = x.sum()
        x.index_copy_(0, p, v)
        return before + x[0, 0]

    def shows(x, p, v):
        y = x.index_copy(0, p, v)
        x.copy_(y)
        return y * 1, y

    check(reads, torch.randn(9, 4), torch.tensor([3]), torch.randn(1, 4), in_place=0)
    torch._dynamo.reset()
    tct.reset()
    check(shows, torch.randn(9, 4), torch.tensor([3]), torch.randn(1, 4), in_place=0)


def test_updates_that_are_no_stores_are_copied():
    """If a part fails, torch runs it again: what it left must be what it would leave then."""
    check(lambda x, v: x.add_(v).sum(), torch.randn(9, 4), torch.randn(9, 4), in_place=0)
    torch._dynamo.reset()
    tct.reset()
    check(lambda x, p, v: x.index_add_(0, p, v).sum(), torch.randn(9, 4), torch.tensor([3, 3]), torch.randn(2, 4), in_place=0)


def test_caches_that_share_memory():
    both = torch.randn(2, 1, 3, 33, 8)
    q, k, v, _, _ = qkv()
    run, ours = torch.compile(by_index_copy, backend="tc"), both.clone()
    with torch.no_grad():
        want = by_index_copy(q, k, v, both[0], both[1], torch.tensor([5]))
        got = run(q, k, v, ours[0], ours[1], torch.tensor([5]))
    assert torch.allclose(got, want, atol=1e-5) and torch.equal(ours, both)


@pytest.mark.parametrize("position", [33, -34, 2**40])
def test_positions_outside_are_errors_of_torch_before_anything_is_written(position):
    given = qkv()
    run = torch.compile(by_assignment, backend="tc")
    with torch.no_grad():
        run(*given, torch.tensor([4]))
        before = [t.clone() for t in given]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(IndexError):
                run(*given, torch.tensor([position]))
    assert all(torch.equal(a, b) for a, b in zip(before, given))


class Counting(torch.nn.Module):
    """A cache that counts its entries, as the caches of the package transformers do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.out = torch.nn.Linear(4, 4)

    def forward(self, x):
        p = torch.arange(x.shape[0]) + self.count
        self.keys.index_copy_(0, p, x)
        self.count.add_(x.shape[0])
        return self.out(self.keys).sum(0)


@pytest.mark.parametrize("freeze", [False, True])
def test_a_cache_that_counts(freeze):
    torch.manual_seed(0)
    ours, theirs = Counting().eval(), Counting().eval()
    theirs.load_state_dict(ours.state_dict())
    run = torch.compile(ours, backend="tc", options={"freeze": freeze})
    with torch.no_grad():
        for _ in range(16):
            x = torch.randn(1, 4)
            assert torch.allclose(run(x), theirs(x), atol=1e-5)
    assert torch.equal(ours.keys, theirs.keys) and ours.count == 16
    (report,) = tct.reports()
    assert report.in_place and not report.left
    assert report.runners[0]()._bindings == int(freeze), "weights are held, what the model updates is not"


def test_training_keeps_old_values():
    def model(x, p, v):
        y = x.clone()
        y[p] = v
        return (y * y).sum()

    x, p = torch.randn(9, 4), torch.tensor([3, 5])
    grads = []
    for run in (model, torch.compile(model, backend="tc")):
        v = torch.arange(8.0).reshape(2, 4).requires_grad_()
        run(x, p, v).backward()
        grads.append(v.grad)
    assert torch.allclose(*grads)


STORES = {
    "index_copy": lambda cache, p, x: cache.index_copy(0, p, x),
    "index_put": lambda cache, p, x: torch.index_put(cache, (p,), x),
    "index_put, summed": lambda cache, p, x: torch.index_put(cache, (p % 3,), x, accumulate=True),
    "scatter": lambda cache, p, x: cache.scatter(0, p[:, None].expand_as(x), x),
    "scatter_add": lambda cache, p, x: cache.scatter_add(0, (p % 3)[:, None].expand_as(x), x),
    "slice_scatter": lambda cache, p, x: torch.slice_scatter(cache, x, 0, 2, 2 + len(x)),
    "select_scatter": lambda cache, p, x: torch.select_scatter(cache, x[0], 0, 3),
}


@pytest.mark.parametrize("name", STORES)
def test_stores_have_gradients(name):
    """Of the stored values and of the tensor that they are stored into, with values before and after that the gradient needs."""

    def model(cache, p, x):
        return STORES[name](cache * 1.5, p, x.sin()).square()

    torch.manual_seed(1)
    p = torch.randperm(12)[:4]
    given = [torch.randn(12, 5, dtype=torch.float64, requires_grad=True), p, torch.randn(4, 5, dtype=torch.float64, requires_grad=True)]
    run, seed = torch.compile(model, backend="tc"), torch.randn(12, 5, dtype=torch.float64)
    results = [torch.autograd.grad(f(*given), given[::2], seed) for f in (run, model)]
    for got, want in zip(*results):
        assert torch.allclose(got, want, rtol=1e-12, atol=1e-12)
    assert not any(report.left for report in tct.reports()), [str(report) for report in tct.reports()]
