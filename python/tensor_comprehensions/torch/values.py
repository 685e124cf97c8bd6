"""What a node of a graph is while it is lowered: a tensor read through an index map, or a formula without memory."""

import math

from . import expression
from .expression import Index, Literal, Load
from .sizes import size


class Decline(Exception):
    """The lowering does not take a node; the text says why."""


class Tensor:
    """A dense tensor that has memory: an argument of a graph, or what statements write.

    `order` lists its dimensions from the outermost in memory to the innermost; the text has them in this order.
    `alias_of` names the tensor whose memory it shares, element by element in order of memory.
    """

    __slots__ = ("name", "dtype", "shape", "order", "alias_of")

    def __init__(self, name, dtype, shape, order=None, alias_of=None):
        self.name, self.dtype, self.shape = name, dtype, tuple(size(n) for n in shape)
        self.order = tuple(range(len(self.shape))) if order is None else tuple(order)
        self.alias_of = alias_of

    @property
    def stored_shape(self):
        return tuple(self.shape[d] for d in self.order)

    def __repr__(self):
        return f"<Tensor {self.name} {self.dtype}{list(self.shape)}>"


def affine(terms, constant, subscripts):
    """constant + sum of coefficient * subscripts[dimension], as an expression."""
    result = Literal(0, "int64")
    for dimension, coefficient in terms:
        result = result + subscripts[dimension] * coefficient
    return result + constant


class Value:
    """A tensor-valued thing with `shape`, `dtype` and elements `value[i, j]`."""

    shape: tuple
    dtype: str

    @property
    def rank(self):
        return len(self.shape)

    @property
    def numel(self):
        return math.prod(self.shape)

    def __getitem__(self, subscripts):
        subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        return self.at([expression.literal(s, "int64") for s in subscripts])


class Formula(Value):
    """A value computed wherever it is read: `function(subscripts)` is an expression."""

    def __init__(self, function, shape, dtype):
        self.function, self.shape, self.dtype = function, tuple(shape), dtype

    def at(self, subscripts):
        return self.function(list(subscripts))

    def remap(self, shape, rows):
        """The value of `shape` whose element s is this one's at `rows`: (terms, constant) for each own dimension."""
        return Formula(lambda s: self.at([affine(terms, constant, s) for terms, constant in rows]), shape, self.dtype)


class View(Value):
    """A tensor read through an affine map: for each dimension of the tensor (terms, constant) over dimensions of the view."""

    def __init__(self, tensor, shape=None, rows=None):
        self.tensor, self.dtype = tensor, tensor.dtype
        self.shape = tensor.shape if shape is None else tuple(size(n) for n in shape)
        self.rows = rows if rows is not None else [([(d, 1)], 0) for d in range(len(tensor.shape))]

    def at(self, subscripts):
        return Load(self.tensor, [affine(terms, constant, subscripts) for terms, constant in self.rows])

    def remap(self, shape, rows):
        return View(self.tensor, shape, [compose(row, rows) for row in self.rows])

    def is_expanded(self):
        """Whether elements are the same along a dimension."""
        read = {dimension for terms, _ in self.rows for dimension, _ in terms}
        return any(n > 1 and d not in read for d, n in enumerate(self.shape))

    def dense_order(self):
        """The tensor's dimension that each dimension of the view is, None unless the view only permutes or drops 1s."""
        found = []
        for dimension, size in enumerate(self.shape):
            uses = [d for d, (terms, _) in enumerate(self.rows) if any(t == dimension for t, _ in terms)]
            if size != 1 and len(uses) != 1:
                return None
            found.append(uses[0] if uses else None)
        for d, (terms, constant) in enumerate(self.rows):
            big = [(t, c) for t, c in terms if self.shape[t] != 1]
            whole = (
                not big
                and self.tensor.shape[d] == 1
                or len(big) == 1
                and big[0][1] == 1
                and self.shape[big[0][0]] == self.tensor.shape[d]
            )
            if constant or not whole:
                return None
        return found

    def is_stored_in_order(self):
        """Whether the elements of the view, row by row, are those of the tensor in order of memory."""
        order = self.dense_order()
        if order is None:
            return False
        seen = [order[k] for k, size in enumerate(self.shape) if size != 1]
        return seen == [d for d in self.tensor.order if self.tensor.shape[d] != 1]

    def is_memory_in_order(self):
        """Whether the elements of the view, row by row, are all of the tensor's memory in order."""
        steps, stored = [0] * self.rank, 1
        for d in reversed(self.tensor.order):
            terms, constant = self.rows[d]
            if constant:
                return False
            for dimension, coefficient in terms:
                steps[dimension] += coefficient * stored
            stored *= self.tensor.shape[d]
        return self.numel == stored and is_dense(self.shape, steps)


def is_dense(shape, strides):
    """Whether elements of `shape` with these strides lie row by row without gaps."""
    expected = 1
    for n, stride in reversed(list(zip(shape, strides))):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def compose(row, rows):
    """`row` over dimensions that are themselves `rows` over others."""
    terms, constant = row
    total, sums = constant, {}
    for dimension, coefficient in terms:
        inner, offset = rows[dimension]
        total += coefficient * offset
        for d, c in inner:
            sums[d] = sums.get(d, 0) + coefficient * c
    return [(d, c) for d, c in sorted(sums.items()) if c], total


def identity_rows(rank):
    return [([(d, 1)], 0) for d in range(rank)]


def _groups(old, new):
    """Pairs of runs of dimensions of two shapes with equal products, dimensions of size 1 left out."""
    a = [d for d, n in enumerate(old) if n != 1]
    b = [d for d, n in enumerate(new) if n != 1]
    i = j = 0
    while i < len(a):
        run_a, run_b, p, q = [a[i]], [b[j]], old[a[i]], new[b[j]]
        i, j = i + 1, j + 1
        while p != q:
            if p < q:
                run_a.append(a[i])
                p, i = p * old[a[i]], i + 1
            else:
                run_b.append(b[j])
                q, j = q * new[b[j]], j + 1
        yield run_a, run_b


def affine_reshape(view, shape):
    """`view` with another shape, None where that needs quotients.

    A run of dimensions that becomes one is first merged: in each row of the map their coefficients are those of
    consecutive digits. Then it is split.
    """
    if view.numel == 0:
        return None
    rows = [(list(terms), constant) for terms, constant in view.rows]
    result = [([], constant) for _, constant in rows]
    for old, new in _groups(view.shape, shape):
        for d, (terms, _) in enumerate(rows):
            coefficients = dict(terms)
            unit = coefficients.get(old[-1], 0)
            weight = 1
            for dimension in reversed(old):
                if coefficients.get(dimension, 0) != unit * weight:
                    return None
                weight *= view.shape[dimension]
            weight = unit
            for dimension in reversed(new):
                if weight:
                    result[d][0].append((dimension, weight))
                weight *= shape[dimension]
    return View(view.tensor, shape, [(sorted(terms), constant) for terms, constant in result])


def digits(subscripts, new, old):
    """The subscripts of shape `old` at the element that `subscripts` of shape `new` name, both row by row."""
    result = [Literal(0, "int64")] * len(old)
    for run_old, run_new in _groups(old, new):
        flat, weight = Literal(0, "int64"), math.prod(new[d] for d in run_new)
        for d in run_new:
            weight //= new[d]
            flat = flat + subscripts[d] * weight
        weight = math.prod(old[d] for d in run_old)
        for k, d in enumerate(run_old):
            weight //= old[d]
            digit = flat / weight
            result[d] = digit if k == 0 else digit % old[d]
    return result


def iterators(shape, names="ijklmnopqr"):
    """An iterator for each dimension."""
    return [Index(names[d] if d < len(names) else f"i{d}", n) for d, n in enumerate(shape)]
