"""Models of the package transformers, small and with random weights, through the backend: run by hand.

    pip install transformers          # no part of the tests' environment
    .venv/bin/python test/python/torch_backend/transformers_models.py [--only bert,gpt2] [--inference]

Each line: a model, whether inference and gradients agree with float64, and what was taken. The exit status counts failures.
"""

import argparse
import copy
import sys
import time
import warnings

import torch
import transformers as hf

import tensor_comprehensions.torch as tct

EPSILON = torch.finfo(torch.float32).eps
SIZES = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=200)
DECODER = SIZES | dict(num_key_value_heads=2, max_position_embeddings=64, use_cache=False)
GPT = dict(n_embd=64, n_layer=2, n_head=4, vocab_size=200, n_positions=64, use_cache=False)
T5 = dict(d_model=64, d_ff=128, num_layers=2, num_heads=4, d_kv=16, vocab_size=200, use_cache=False)
VISION = dict(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8
)

MODELS = {
    "bert": ("Bert", SIZES, "ids"),
    "roberta": ("Roberta", SIZES, "ids"),
    "distilbert": ("DistilBert", dict(dim=64, n_layers=2, n_heads=4, hidden_dim=128, vocab_size=200), "ids"),
    "albert": ("Albert", SIZES | dict(embedding_size=32), "ids"),
    "electra": ("Electra", SIZES | dict(embedding_size=32), "ids"),
    "mpnet": ("MPNet", SIZES, "ids"),
    "camembert": ("Camembert", SIZES, "ids"),
    "xlm_roberta": ("XLMRoberta", SIZES, "ids"),
    "mobilebert": (
        "MobileBert",
        SIZES | dict(embedding_size=32, intra_bottleneck_size=64, num_feedforward_networks=2),
        "ids",
    ),
    "squeezebert": ("SqueezeBert", SIZES | dict(embedding_size=64), "ids"),
    "convbert": ("ConvBert", SIZES | dict(embedding_size=64), "ids"),
    "deberta_v2": ("DebertaV2", SIZES, "ids"),
    "modernbert": ("ModernBert", SIZES | dict(pad_token_id=0), "ids"),
    "gpt2": ("GPT2", GPT, "ids"),
    "gpt_neo": (
        "GPTNeo",
        dict(
            hidden_size=64,
            num_layers=2,
            num_heads=4,
            intermediate_size=128,
            vocab_size=200,
            attention_types=[[["global", "local"], 1]],
            use_cache=False,
        ),
        "ids",
    ),
    "gpt_neox": ("GPTNeoX", SIZES | dict(use_cache=False), "ids"),
    "opt": (
        "OPT",
        dict(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=128,
            vocab_size=200,
            word_embed_proj_dim=64,
            use_cache=False,
        ),
        "ids",
    ),
    "llama": ("Llama", DECODER, "ids"),
    "mistral": ("Mistral", DECODER, "ids"),
    "qwen2": ("Qwen2", DECODER, "ids"),
    "qwen3": ("Qwen3", DECODER | dict(head_dim=16), "ids"),
    "phi": ("Phi", DECODER, "ids"),
    "gemma": ("Gemma", DECODER | dict(head_dim=16), "ids"),
    "bloom": ("Bloom", dict(hidden_size=64, n_layer=2, n_head=4, vocab_size=200, use_cache=False), "ids"),
    "t5": ("T5", T5, "pairs"),
    "bart": (
        "Bart",
        dict(
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            vocab_size=200,
            use_cache=False,
        ),
        "pairs",
    ),
    "vit": ("ViT", VISION, "image"),
    "deit": ("DeiT", VISION, "image"),
    "beit": ("Beit", VISION, "image"),
    "dinov2": ("Dinov2", VISION, "image"),
    "convnext": ("ConvNext", dict(hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1]), "image"),
    "resnet": ("ResNet", dict(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"), "image"),
    "mobilenet_v2": ("MobileNetV2", dict(image_size=32, depth_multiplier=0.35), "image"),
    "regnet": ("RegNet", dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=8), "image"),
    "segformer": (
        "Segformer",
        dict(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[16, 32],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
        ),
        "image",
    ),
    "swin": (
        "Swin",
        dict(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4),
        "image",
    ),
}


class First(torch.nn.Module):
    """A model that gives its first result, so that it looks like any module."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)))[0]


def make(name):
    family, settings, kind = MODELS[name]
    torch.manual_seed(0)
    config = getattr(hf, family + "Config")(**settings)
    for dropout in (
        "hidden_dropout_prob",
        "attention_probs_dropout_prob",
        "dropout",
        "attention_dropout",
        "drop_path_rate",
        "resid_pdrop",
        "embd_pdrop",
        "attn_pdrop",
        "classifier_dropout_prob",
        "dropout_rate",
        "activation_dropout",
    ):
        if hasattr(config, dropout):
            setattr(config, dropout, 0.0)
    model = getattr(hf, family + "Model")(config).eval()
    ids, image = torch.randint(3, 200, (2, 16)), torch.randn(2, 3, 32, 32)
    inputs = {
        "ids": (["input_ids"], [ids]),
        "pairs": (["input_ids", "decoder_input_ids"], [ids, ids[:, :8]]),
        "image": (["pixel_values"], [image]),
    }
    names, tensors = inputs[kind]
    return First(model, names), tensors


def doubled(inputs):
    return [x.double() if x.is_floating_point() else x for x in inputs]


def agrees(ours, eager, exact):
    """As near to float64 as eager, up to a factor and roundings of the largest magnitude; zeros are not."""
    size = exact.abs().max().item()
    error, theirs = ((t.double() - exact).abs().max().item() for t in (ours, eager))
    return error <= 8 * theirs + 512 * EPSILON * size and (size < 1e-6 or error < size / 2)


def gradients(model, inputs):
    model.zero_grad()
    result = model(*inputs)
    weights = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).reshape(result.shape).to(result.dtype)
    (result * weights).sum().backward()
    return {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def check(name, training):
    model, inputs = make(name)
    exact_model = copy.deepcopy(model).double()
    torch._dynamo.reset()
    tct.reset()
    started = time.perf_counter()
    compiled = torch.compile(model, backend="tc")
    with torch.no_grad():
        good = agrees(compiled(*inputs), model(*inputs), exact_model(*doubled(inputs)))
    verdict = [f"inference {'ok' if good else 'WRONG'}"]
    if training:
        ours, eager, exact = (
            gradients(compiled, inputs),
            gradients(model, inputs),
            gradients(exact_model, doubled(inputs)),
        )
        scale = max(g.abs().max().item() for g in exact.values())
        bad = [
            n
            for n in exact
            if exact[n].abs().max() > 1e-6 * scale
            and not agrees(ours["_orig_mod." + n] if "_orig_mod." + n in ours else ours[n], eager[n], exact[n])
        ]
        good = good and not bad
        verdict.append(f"gradients {'ok' if not bad else 'WRONG: ' + ', '.join(bad[:4])}")
    reports = tct.reports()
    taken, left = sum(len(r.taken) for r in reports), sum(len(r.left) for r in reports)
    share = sum(r.flops_taken for r in reports) / max(1, sum(r.flops_taken + r.flops_left for r in reports))
    reproducers = [b for r in reports for b in r.reproducers]
    why = sorted(
        {
            f"{target.removeprefix('aten.')}: {reason}"
            for r in reports
            for _, target, reason in r.left
            if not reason.startswith("a view")
        }
    )
    print(
        f"{name}: {', '.join(verdict)}; {len(reports)} graphs, {taken} nodes taken, {left} left, {100 * share:.1f} % of work, {time.perf_counter() - started:.0f} s",
        *[f"\n    {w[:150]}" for w in why[:8]],
        *[f"\n    REPRODUCER {b}" for b in reproducers],
        flush=True,
    )
    return good and not reproducers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--inference", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = []
    for name in options.only.split(",") if options.only else MODELS:
        try:
            good = check(name, not options.inference)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            good = False
        failed += [] if good else [name]
    print(f"{len(failed)} failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
