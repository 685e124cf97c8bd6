"""Generation of text with a cache of fixed length (StaticCache of transformers): eager torch, Inductor and tc in turns, in one process.

    pip install transformers                               # no part of the tests' environment
    .venv/bin/python benchmarks/static_cache.py --threads 1 --lengths 512,2048 --models gpt2,llama

Models have random weights and are made of a configuration. A round generates tokens greedily, one a call, after a prompt of 8 tokens, which eager torch reads.
Each backend has a cache of its own; its tokens, logits and cache are compared with those of eager torch. Times are medians over rounds, `first` is
the first call in seconds, compiles included. `--clock cpu` counts the seconds of the process, for one thread on a busy machine.
"""

import argparse
import copy
import statistics
import time
import warnings

import torch
import transformers as hf

import tensor_comprehensions as tc
import tensor_comprehensions.torch as tct

PROMPT, VOCABULARY = 8, 8000


def configuration(kind, width, layers):
    positions = dict(vocab_size=VOCABULARY, bos_token_id=0, eos_token_id=0)
    if kind == "gpt2":
        return hf.GPT2Config(n_embd=width, n_layer=layers, n_head=8, n_positions=4096, **positions)
    return hf.LlamaConfig(
        hidden_size=width, intermediate_size=8 * width // 3, num_hidden_layers=layers, num_attention_heads=8, num_key_value_heads=4,
        max_position_embeddings=4096, **positions
    )  # fmt: skip


class Generator:
    """A model with a cache of `length` positions, of which `compiled` makes what runs a step."""

    def __init__(self, config, weights, length, compiled):
        self.model = copy.deepcopy(weights)
        self.cache = hf.StaticCache(config=config, max_cache_len=length)
        heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
        self.cache.early_initialization(1, heads, config.hidden_size // config.num_attention_heads, torch.float32, torch.device("cpu"))
        self.step = compiled(self._step)
        self.first = 0.0

    def _step(self, ids, cache):
        logits = self.model(input_ids=ids, past_key_values=cache, use_cache=True).logits
        return logits[:, -1].argmax(-1, keepdim=True), logits

    def generate(self, prompt, count, clock):
        """The tokens after a prompt, the last logits, and seconds of `clock` for a token."""
        self.cache.reset()
        token, logits = self._step(prompt, self.cache)
        tokens, begun = [], clock()
        for _ in range(count):
            token, logits = self.step(token, self.cache)
            tokens.append(token)
        seconds = (clock() - begun) / count
        return torch.cat(tokens), logits, seconds

    def state(self):
        return [t for layer in self.cache.layers for t in (layer.keys, layer.values)]


COMPILED = {
    "eager": lambda step: step,
    "inductor": lambda step: torch.compile(step, dynamic=False),
    "tc": lambda step: torch.compile(step, backend="tc", dynamic=False),
    "tc frozen": lambda step: torch.compile(step, backend="tc", dynamic=False, options={"freeze": True}),
}


def same(ours, theirs):
    """Whether results agree but for rounding."""
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(ours, theirs))


def measure(kind, length, options):
    torch._dynamo.reset()
    tct.reset()
    torch.manual_seed(0)
    config = configuration(kind, options.width, options.layers)
    weights = hf.AutoModelForCausalLM.from_config(config).eval()
    generators = {name: Generator(config, weights, length, COMPILED[name]) for name in options.backends.split(",")}
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    prompt, seconds = torch.randint(0, VOCABULARY, (1, PROMPT)), {name: [] for name in generators}
    for name, generator in generators.items():
        begun = clock()
        generator.generate(prompt, 1, clock)
        generator.first = clock() - begun
    for _ in range(options.rounds):
        want = None
        for name, generator in generators.items():
            tokens, logits, time_of_token = generator.generate(prompt, options.tokens, clock)
            seconds[name].append(time_of_token)
            found = [tokens.float(), logits, *generator.state()]
            want = found if want is None else want
            if not same(found, want):
                print(f"{name} differs from {next(iter(generators))}: {[float((a - b).abs().max()) for a, b in zip(found, want)]}")
    rates = {name: 1 / statistics.median(times) for name, times in seconds.items()}
    cells = [f"{rate:.1f} ({generators[name].first:.1f} s)" for name, rate in rates.items()]
    print(f"| {kind} | {length} | {options.threads} | " + " | ".join(cells) + " |", flush=True)
    for report in tct.reports():
        print(f"    {len(report.left)} nodes left, {len(report.in_place)} stores in place, {report.launches} launches, {100 * report.share:.1f} % of work", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="gpt2,llama")
    parser.add_argument("--lengths", default="512,2048")
    parser.add_argument("--backends", default="eager,inductor,tc,tc frozen")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    torch.set_num_threads(options.threads)
    tc.set_num_threads(options.threads)
    print("| model | cache | threads | " + " | ".join(f"{name}, tokens/s (first)" for name in options.backends.split(",")) + " |")
    for kind in options.models.split(","):
        for length in map(int, options.lengths.split(",")):
            measure(kind, length, options)


if __name__ == "__main__":
    main()
