"""Some operators on torch's own samples; operators.py runs them all and writes the table."""

import operators
import pytest
import torch

from tensor_comprehensions.options import Options
from tensor_comprehensions.torch.compiler import Compiler

NAMES = (
    """add addmm amax argmax baddbmm bmm cat clamp copysign cummax cummin cumsum div.no_rounding_mode div.floor_rounding eq erf exp
    expm1 flip floor fmod gather index_add index_put index_select logical_and masked_fill max.reduction_with_dim maximum mean mm nn.functional.avg_pool2d
    nn.functional.conv2d nn.functional.conv_transpose2d nn.functional.embedding nn.functional.gelu nn.functional.group_norm
    nn.functional.layer_norm logcumsumexp nn.functional.max_pool2d nn.functional.pad.constant nn.functional.scaled_dot_product_attention prod
    remainder rsub scatter_add scatter_reduce.amax scatter_reduce.prod scatter_reduce.sum sigmoid softmax std sub sum var where""".split()
)
FEW = """add amax argmax bmm cat cumsum floor gather index_add index_put masked_fill nn.functional.avg_pool2d
    nn.functional.conv2d nn.functional.embedding nn.functional.layer_norm nn.functional.scaled_dot_product_attention scatter_reduce.amax
    softmax sum where""".split()
"""One of each kind of lowering."""
TABLE = dict(operators.operators())


def test_the_names_are_torchs():
    assert set(FEW) <= set(NAMES) <= set(TABLE)


@pytest.fixture(scope="module")
def compiler():
    return Compiler(Options(cache=False))


def names_and_types():
    """Each operator in float32 and in one of its other types, the rest with `-m long`."""
    for k, name in enumerate(NAMES):
        first, *others = [t for t in (torch.float32, torch.bfloat16, torch.int64) if t in TABLE[name].supported_dtypes("cpu")]
        yield name, first
        for j, dtype in enumerate(others):
            yield pytest.param(name, dtype, marks=() if j == k % len(others) else pytest.mark.long)


@pytest.mark.parametrize("name, dtype", names_and_types())
def test_operator(name, dtype, compiler):
    row = operators.run_operator(TABLE[name], dtype, 2, compiler)
    assert not row.failed, row.notes
    assert row.passed or row.left or dtype != torch.float32, row.notes


@pytest.mark.parametrize("disguise, inside", operators.DISGUISES)
@pytest.mark.parametrize("names", [FEW, pytest.param(NAMES, marks=pytest.mark.long)], ids=["few", "all"])
def test_operators_in_disguise(names, disguise, inside, compiler):
    if names is FEW:  # half of them in each disguise
        names = FEW[operators.DISGUISES.index((disguise, inside)) % 2::2]
    failed, own = [], ("nn.functional.conv2d", "nn.functional.gelu") if disguise is operators.special else ()
    for name in sorted(set(names) - set(own)):  # docs/models.md: torch's own results at infinities depend on sizes
        row = operators.run_operator(TABLE[name], torch.float32, 1, compiler, disguise, inside)
        failed += [f"{name}: {note}" for note in row.notes if note.startswith("failed")]
    assert not failed, "\n".join(failed)


def test_a_wrong_result_is_noticed():
    x = torch.linspace(1, 2, 6)
    assert operators.close(x, x.clone())[0]
    assert not operators.close(torch.zeros(6), x)[0]
    assert not operators.close(x * (1 + 1e-3), x)[0]
    assert not operators.close(x.reshape(2, 3), x.reshape(3, 2).t())[0]
    assert not operators.close(torch.where(x > 1.5, torch.nan, x), x)[0]
