"""A decoder with a cache that grows by a token with each call, through torch.compile: eager, tc and inductor.

    .venv/bin/python benchmarks/growing_cache.py --tokens 512           # a block of GPT-2's architecture, random weights
    .venv/bin/python benchmarks/growing_cache.py --threads 2 --backends eager,tc

`first` is all calls, tracing and compiles among them, `again` the same calls once more, the least of three; both in seconds of processor time, with that of
compilers that are called, because other processes change it less than they change wall time. `codes` counts what tc
compiled, a graph for one range of lengths each; `left` the nodes that it left to torch. Results are compared with eager's.
"""

import argparse
import resource

import torch
import torch.nn.functional as F

import tensor_comprehensions.torch as tct
from tensor_comprehensions.torch import runner


class Block(torch.nn.Module):
    """Attention of the new token over the cache and a perceptron, each behind a norm, as in GPT-2."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x, keys, values):
        split = lambda t: t.view(1, 1, self.heads, -1).transpose(1, 2)
        q, k, v = map(split, self.qkv(self.norms[0](x)).chunk(3, -1))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        x = x + self.out(F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(1, 1, -1))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh")), keys, values


def seconds():
    """Processor time of this process and of its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def decode(call, tokens, heads):
    """The outputs for `tokens`, one by one, and the seconds it took."""
    keys = values = torch.zeros(1, heads, 1, tokens.shape[-1] // heads)
    results, start = [], seconds()
    with torch.no_grad():
        for token in tokens:
            x, keys, values = call(token, keys, values)
            results.append(x)
    return torch.cat(results), seconds() - start


def count_codes():
    """A set that fills with the compiles of tc: texts and ranges."""
    made, compile_text = set(), runner.Compiler._compile

    def noting(self, text, *args, **how):
        result = compile_text(self, text, *args, **how)
        if "copy" not in text or len(text) > 100:
            made.add((text, result.stats["sizes"] or str(args)))
        return result

    runner.Compiler._compile = noting
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--backends", default="eager,tc,inductor")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    block, tokens = Block(given.width, given.heads).eval(), torch.randn(given.tokens, 1, 1, given.width)
    want, codes = decode(block, tokens, given.heads)[0], count_codes()
    print("| backend | first | again | codes | left |\n|---|---|---|---|---|")
    for name in given.backends.split(","):
        torch._dynamo.reset()
        call = block if name == "eager" else torch.compile(block, backend=name)
        got, first = decode(call, tokens, given.heads)
        torch.testing.assert_close(got, want, atol=1e-3, rtol=1e-3)
        again = min(decode(call, tokens, given.heads)[1] for _ in range(3))
        told = f"{len(codes)} | {sum(len(r.left) for r in tct.reports())}" if name == "tc" else "|"
        print(f"| {name} | {first:.2f} | {again:.3f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
