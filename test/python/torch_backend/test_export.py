"""Models as texts."""

from suite import networks
import pytest
import torch

import tensor_comprehensions as tc


def exported(name):
    torch.manual_seed(1)
    model, inputs = networks.small(name)
    return model.eval(), inputs, tc.torch.export(model.eval(), *inputs)


@pytest.mark.parametrize("name", ["mlp", "dlrm", "group_norm"])
def test_the_text_is_a_program_and_computes_what_the_model_does(name):
    model, inputs, text = exported(name)
    with torch.no_grad():
        expected = model(*inputs)
        (ours,) = text(*inputs)
        whole = tc.define(text.text).main(*text.in_order(*inputs))
    assert torch.allclose(ours, expected, atol=1e-5) and not torch.allclose(torch.zeros_like(ours), expected, atol=1e-5)
    assert torch.allclose(whole.detach(), expected, atol=1e-5)


def test_names_are_those_of_the_model():
    _, _, text = exported("decoder")
    assert "float32(50,32) words_weight" in text.text and "int64(2,12) ids" in text.text
    assert "blocks_0_qkv" in text.text
    assert tc.define(text.text).main


def test_equal_operators_share_a_def():
    _, _, text = exported("decoder")
    assert text.text.count("def native_layer_norm") == 1 and text.text.count("= native_layer_norm(") == 5


def test_what_has_no_text_is_named():
    class Sorts(torch.nn.Module):
        def forward(self, x):
            return torch.sort(x).values * 2

    with pytest.raises(tc.torch.Decline, match="aten.sort.default.*no text for it"):
        tc.torch.export(Sorts(), torch.randn(4))
