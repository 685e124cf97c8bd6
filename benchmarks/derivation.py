"""Programs and what is derived from them: the def itself, the cheapest candidate by the model, and the fastest measured, in turns.

    python benchmarks/derivation.py [--threads 1] [--rounds 15] [--only conv] [--libraries none openblas onednn+openblas] [--prices FILE] [--tune 20]
    python benchmarks/derivation.py --ablations [--only conv]

All run on integers and must be equal; on normal numbers the relative distance of what is chosen from the same def in float64 is told. Tensors that the
program names as weights are constants: what depends on them alone is computed by the compile. A set of libraries is what a compile may choose from,
beside own code, by the prices that `tc_libraries --measure` left in the file that --prices names.
With --tune, candidates are first measured for so many seconds a program, into a cache of its own, and derive=N is shown with
these prices, too.
With --ablations nothing is run: what the search finds, by the model, with less depth and without its parts.
"""

import argparse
import pathlib
import statistics
import tempfile
import time

import numpy as np

import tensor_comprehensions as tc



def convolution(batch, channels, size, filters, kernel, pad=(0, 0), stride=1, dilation=1):
    """A convolution of squares of `size`, padded by zeros: text, shapes, weights."""
    (kh, kw), (ph, pw) = kernel, pad
    height = (size + 2 * ph - dilation * (kh - 1) - 1) // stride + 1
    width = (size + 2 * pw - dilation * (kw - 1) - 1) // stride + 1
    at = lambda x, r, p: f"{stride}*{x} + {dilation}*{r} - {p}".replace("1*", "").replace(" - 0", "")
    y, x = at("h", "r", ph), at("w", "s", pw)
    inside = " && ".join(f"{i} >= 0 && {i} < {size}" for i, p in ((y, ph), (x, pw)) if p)
    product = f"X(n,c,{y},{x}) * K(f,c,r,s)"
    text = f"""def program(float({batch},{channels},{size},{size}) X, float({filters},{channels},{kh},{kw}) K) -> (O) {{
  O(n,f,h,w) +=! {f"{inside} ? {product} : 0" if inside else product} where h in 0:{height}, w in 0:{width} }}"""
    return text, [(batch, channels, size, size), (filters, channels, kh, kw)], ["K"]


def transposed(batch, channels, size, filters, kernel, stride, pad):
    """A transposed convolution: text, shapes, weights."""
    made = (size - 1) * stride - 2 * pad + kernel
    y, x = f"h + {pad} - r", f"w + {pad} - s"
    inside = " && ".join(f"({i}) % {stride} == 0 && {i} >= 0 && {i} < {size * stride}" for i in (y, x))
    text = f"""def program(float({batch},{channels},{size},{size}) X, float({channels},{filters},{kernel},{kernel}) K) -> (O) {{
  O(n,f,h,w) +=! {inside} ? X(n,c,({y})/{stride},({x})/{stride}) * K(c,f,r,s) : 0 where h in 0:{made}, w in 0:{made} }}"""
    return text, [(batch, channels, size, size), (channels, filters, kernel, kernel)], ["K"]


def banded(heads, rows, depth, band, dilation):
    """The products of each row with the rows near it: text, shapes, weights."""
    reach = band // 2 * dilation
    text = f"""def program(float({heads},{rows},{depth}) A, float({heads},{rows},{depth}) C) -> (O) {{
  O(b,m,w) +=! m + {dilation}*w >= {reach} && m + {dilation}*w < {rows + reach} ? A(b,m,k) * C(b,m+{dilation}*w-{reach},k) : 0
    where w in 0:{band}, m in 0:{rows} }}""".replace("1*w", "w")
    return text, [(heads, rows, depth), (heads, rows, depth)], []


# name, depth, (text, shapes, weights). Sizes of networks are those of EINNET's evaluation (OSDI 2023), batch 1, but for the banded products
# of Longformer, whose rows and bands are a twentieth and an eighth.
CASES = [
    ("chain A B v, 512", 3, ("def program(float(M,K) A, float(K,L) B, float(L) v) -> (y) { T(m,l) +=! A(m,k) * B(k,l)  y(m) +=! T(m,l) * v(l) }",
     [(512, 512), (512, 512), (512,)], [])),
    ("factor in a sum", 3, ("def program(float(M,N) A, float(N) b, float(K) c) -> (y) { y(m) +=! A(m,n) * b(n) * c(k) }",
     [(512, 512), (512,), (256,)], [])),
    ("ResNet-18: conv 3x3, 128 of 14x14", 6, convolution(1, 128, 14, 128, (3, 3), (1, 1))),
    ("ResNet-18: conv 3x3, 512 of 7x7", 6, convolution(1, 512, 7, 512, (3, 3), (1, 1))),
    ("InfoGAN: transposed 4x4, 448 of 2x2, batch 16", 5, transposed(16, 448, 2, 256, 4, 2, 1)),
    ("InfoGAN: transposed 4x4, 256 of 4x4", 5, transposed(1, 256, 4, 128, 4, 2, 1)),
    ("DCGAN: transposed 4x4, 512 of 4x4", 5, transposed(1, 512, 4, 256, 4, 2, 1)),
    ("SRCNN: conv 5x5 to 1, 32 of 224x224", 4, convolution(1, 32, 224, 1, (5, 5), (2, 2))),
    ("FSRCNN: conv 3x3, 12 of 32x32", 6, convolution(1, 12, 32, 12, (3, 3), (1, 1))),
    ("FSRCNN: conv 1x1, 56 to 12 of 32x32", 4, convolution(1, 56, 32, 12, (1, 1))),
    ("FSRCNN: transposed 9x9 to 1, 56 of 32x32", 5, transposed(1, 56, 32, 1, 9, 4, 3)),
    ("CSRNet: conv 3x3 dilated by 2, 512 of 14x14", 6, convolution(1, 512, 14, 512, (3, 3), (2, 2), dilation=2)),
    ("GCN: conv 1x7, 2048 of 7x7", 6, convolution(1, 2048, 7, 128, (1, 7), (0, 3))),
    ("Longformer: banded, 8 x 512 x 64, band 65", 3, banded(8, 512, 64, 65, 1)),
    ("Longformer: banded, dilated by 4", 3, banded(8, 512, 64, 65, 4)),
]


# Sizes whole, for searches alone.
WHOLE = [
    ("Table 3: conv 5x5 to 1, 32 of 224x224, batch 16", 0, convolution(16, 32, 224, 1, (5, 5), (2, 2))),
    ("Table 3: banded, 8 x 10000 x 64, band 1001, dilated by 4", 0, banded(8, 10000, 64, 1001, 4)),
    ("conv 9x9, 16 to 32 of 224x224, batch 8", 0, convolution(8, 16, 224, 32, (9, 9), (4, 4))),
]


def turns(runs, rounds):
    """Microseconds of each in each round, measured in turns, with its weights in the caches that hold them: the second of two calls."""
    times = [[] for _ in runs]
    for _ in range(rounds):
        for i, run in enumerate(runs):
            run()
            begin = time.perf_counter()
            run()
            times[i].append(1e6 * (time.perf_counter() - begin))
    return times


def medians(runs, rounds):
    """The medians of turns()."""
    return [statistics.median(values) for values in turns(runs, rounds)]


def executable(function, tensors, weights, **how):
    """A call of `function` with its weights bound."""
    f = tc.compile(function, *tensors, constants=weights, **how)
    taken = [tensor for name, tensor in zip(function._parameters(), tensors) if name not in weights]
    return f, taken


def new_cache(libraries, prices):
    """An empty cache but for the measured prices of the libraries `libraries`."""
    store = tc.cache.Cache(tempfile.mkdtemp(prefix="tc_derivation_"))
    if libraries != "none":
        head, machine, *lines = pathlib.Path(prices).read_text().splitlines()
        kept = [line for line in lines if line.split()[0] in libraries.split("+")]
        pathlib.Path(store.folder, "library_prices.txt").write_text("\n".join([head, machine, *kept]) + "\n")
    return store


def tuned(store, function, tensors, weights, depth, seconds, **how):
    """Puts measured prices of what is derived from `function` into `store`; how many programs they are of."""
    parts = tc.tune_derivations(function, *tensors, depth=depth, constants=weights, budget=seconds, cache=store, **how)
    return sum(program.cost is not None for part in parts for program in part.programs[1:])


def distance(text, shapes, weights, chosen):
    """The relative distance of what `chosen` computes of normal numbers from the def in float64."""
    random = np.random.default_rng(2)
    tensors = [random.normal(size=shape).astype("float32") for shape in shapes]
    want = tc.define(text.replace("float(", "double(")).program(*[tensor.astype("float64") for tensor in tensors])
    f, taken = chosen(tensors)
    return np.linalg.norm(f(*taken) - want) / np.linalg.norm(want)


def measure(name, depth, program, libraries, arguments):
    """A line of the table."""
    text, shapes, weights = program
    random = np.random.default_rng(1)
    tensors = [random.integers(-2, 3, shape).astype("float32") for shape in shapes]
    function = tc.define(text).program
    plain, measured = new_cache(libraries, arguments.prices), new_cache(libraries, arguments.prices)
    how = {"libraries": "none" if libraries == "none" else "auto"}
    found = tc.derive(function, *tensors, depth=depth, constants=weights, cache=plain, **how)
    compiled = [executable(function, tensors, weights, cache=plain, **how), executable(function, tensors, weights, cache=plain, derive=depth, **how)]
    priced = 0
    if arguments.tune:
        priced = tuned(measured, function, tensors, weights, depth, arguments.tune, **how)
        compiled.append(executable(function, tensors, weights, cache=measured, derive=depth, **how))
    first = len(compiled)
    derived = [candidate for candidate in found if candidate.steps]
    compiled += [executable(tc.define(each.text).program, tensors, weights, cache=plain, **how) for each in derived]
    outs = [f(*taken) for f, taken in compiled]
    if not all(np.array_equal(outs[0], out) for out in outs):
        raise SystemExit(f"{name}: a candidate computes something else")
    far = distance(text, shapes, weights, lambda own: executable(function, own, weights, cache=measured if arguments.tune else plain, derive=depth, **how))
    times = medians([lambda c=c, o=o: c[0](*c[1], out=o) for c, o in zip(compiled, outs)], arguments.rounds)
    best = min(range(first, len(times)), key=times.__getitem__, default=None)
    original = next(candidate for candidate in found if not candidate.steps)
    fastest = "none" if best is None else f"{times[best]:.0f} ({derived[best - first].cost.microseconds:.0f}) {calls(compiled[best][0])}"
    taken = [f"{times[i]:.0f}" + ("" if compiled[i][0].stats["derived"] else ", stays") for i in range(1, first)]
    if arguments.tune:
        taken[-1] += f" of {priced}"
    return (f"| {name} | {times[0]:.0f} ({original.cost.microseconds:.0f}) {calls(compiled[0][0])} | {fastest} | {' | '.join(taken)} "
            f"| {far:.0e} | {found.statistics['seconds']:.1f} | {found.statistics['states']} | {len(derived)} |")


ABLATIONS = [(f"depth {depth}", {"depth": depth}) for depth in range(1, 8)] + [
    ("no converging", {"depth": 7, "converge": False}), ("no fingerprints, depth 3", {"depth": 3, "fingerprints": False})]


def ablations(name, program):
    """A line for each search: what it makes of the def's price, its seconds, programs made and those that were there already."""
    text, shapes, _ = program
    function, specs = tc.define(text).program, [tc.spec(shape) for shape in shapes]
    for what, how in ABLATIONS:
        found = tc.derive(function, *specs, **how)
        original = next(candidate for candidate in found if not candidate.steps)
        gain, counts = original.cost.microseconds / found[0].cost.microseconds, found.statistics
        yield f"| {name} | {what} | {gain:.2f} | {len(found[0].steps)} | {counts['seconds']:.2f} | {counts['states']} | {counts['pruned']} | {counts['cut']} |"


def wanted(name, words):
    return any(word in name for word in words)


def calls(f):
    """How many launches are calls of libraries."""
    count = len(f.stats["library_calls"])
    return f"{count} of {f.stats['launches']}" if count else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--libraries", nargs="*", default=["none"], help="none, or names joined by +: a table for each")
    parser.add_argument("--prices", help="a library_prices.txt")
    parser.add_argument("--only", nargs="*", default=[""], help="programs whose names hold one of these")
    parser.add_argument("--tune", type=float, default=0, help="seconds for measuring the candidates of a program; 0: none")
    parser.add_argument("--ablations", action="store_true")
    arguments = parser.parse_args()
    tc.set_num_threads(arguments.threads)
    if arguments.ablations:
        print("| program | search | price of the def over that of the cheapest | rules | seconds | programs | there already | cut |")
        print("|---|---|---|---|---|---|---|---|")
        for name, _, program in CASES + WHOLE:
            for line in ablations(name, program) if wanted(name, arguments.only) else ():
                print(line, flush=True)
        return
    for libraries in arguments.libraries:
        print(f"us (model), {arguments.threads} threads of {tc.host_target()}, libraries {libraries}: launches that are calls of them")
        measured = " derive=N, measured of programs |" if arguments.tune else ""
        print(f"| program | the def | fastest candidate | derive=N |{measured} distance | search s | states | candidates |")
        print("|---|---|---|---|---|---|---|---|" + ("---|" if arguments.tune else ""))
        for name, depth, program in CASES:
            if wanted(name, arguments.only):
                print(measure(name, depth, program, libraries, arguments), flush=True)


if __name__ == "__main__":
    main()
