"""The table of decompositions that graphs are traced with."""

import torch
import torch.nn.functional as F
from torch._decomp import core_aten_decompositions

aten = torch.ops.aten

_KEPT = (
    "_scaled_dot_product_flash_attention_for_cpu",  # its decomposition gives attention's backward wrong numbers
    "index_add",  # becomes index_put, which counts negative indices from the end, where index_add has an error
    "index_copy",
    "index_fill",
    "binary_cross_entropy",  # raises an error for inputs outside of 0 to 1
    "embedding_dense_backward",  # becomes index_put after eight comparisons: torch's own is one call
    "roll",
    "native_layer_norm_backward",
    "_softmax_backward_data",
    "_log_softmax_backward_data",
    "gelu_backward",
    "silu_backward",
    "sigmoid_backward",
    "tanh_backward",
    "silu",
    "leaky_relu",
    "elu",
    "addcmul",
    "addcdiv",
    "lerp",
    "masked_fill",
    "native_group_norm",
    "hardswish",
    "hardsigmoid",
    "addmv",
    "baddbmm",
    "upsample_nearest2d",
)
"""Operators the language says better than their decompositions do."""


def _encoder_layer(
    src,
    embed_dim,
    num_heads,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    use_gelu,
    norm_first,
    eps,
    norm_weight_1,
    norm_bias_1,
    norm_weight_2,
    norm_bias_2,
    ffn_weight_1,
    ffn_bias_1,
    ffn_weight_2,
    ffn_bias_2,
    mask=None,
    mask_type=None,
):
    """The fused layer that nn.TransformerEncoderLayer runs in inference, in operators that have texts."""
    if mask is not None:
        return NotImplemented
    approximate = "tanh" if src.is_cuda else "none"  # cuBLAS has no other

    def attend(x):
        q, k, v = (
            t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in F.linear(x, qkv_weight, qkv_bias).chunk(3, -1)
        )
        return F.linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2), proj_weight, proj_bias)

    def feed(x):
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        activated = F.gelu(hidden, approximate=approximate) if use_gelu else F.relu(hidden)
        return F.linear(activated, ffn_weight_2, ffn_bias_2)

    def norm(x, weight, bias):
        return F.layer_norm(x, (embed_dim,), weight, bias, eps)

    if norm_first:
        src = src + attend(norm(src, norm_weight_1, norm_bias_1))
        return src + feed(norm(src, norm_weight_2, norm_bias_2))
    src = norm(src + attend(src), norm_weight_1, norm_bias_1)
    return norm(src + feed(src), norm_weight_2, norm_bias_2)


def decompositions():
    """The decompositions that graphs are traced with: torch's core table without what the language says better."""
    kept = {getattr(aten, name) for name in _KEPT if hasattr(aten, name)}
    table = {op: f for op, f in core_aten_decompositions().items() if getattr(op, "overloadpacket", None) not in kept}
    table[aten._transformer_encoder_layer_fwd.default] = _encoder_layer
    return table
