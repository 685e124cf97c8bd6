"""Tunes layouts and loops together, and loops alone with as many candidates, and measures the winners in turns.

.venv/bin/python benchmarks/joint_tuning.py --candidates 16 --out joint.json
"""

import argparse
import json
import math
import statistics

import tensor_comprehensions as tc
from tensor_comprehensions import _core
from tensor_comprehensions.executable import compiled
from tensor_comprehensions.joint_tuning import Converted
from tensor_comprehensions.layout_conversions import sample, samples_in_turns
from tensor_comprehensions.options import Options
from tensor_comprehensions.tuning_result import layouts_text

OPERATORS = {
    "C1D": ("float(N,C,L) X, float(O,C,R) K", "Y(n,o,l) +=! X(n,c,l+r) * K(o,c,r)", [(1, 64, 130), (64, 64, 3)]),
    "C2D": ("float(N,C,H,W) X, float(O,C,R,S) K", "Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s)", [(1, 64, 30, 30), (64, 64, 3, 3)]),
    "GRP": ("float(N,G,C,H,W) X, float(G,O,C,R,S) K", "Y(n,g,o,h,w) +=! X(n,g,c,h+r,w+s) * K(g,o,c,r,s)", [(1, 4, 16, 30, 30), (4, 16, 16, 3, 3)]),
    "DEP": ("float(N,C,H,W) X, float(C,R,S) K", "Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s)", [(1, 64, 58, 58), (64, 3, 3)]),
    "DIL": ("float(N,C,H,W) X, float(O,C,R,S) K", "Y(n,o,h,w) +=! X(n,c,h+2*r,w+2*s) * K(o,c,r,s)", [(1, 64, 32, 32), (64, 64, 3, 3)]),
    "C3D": ("float(N,C,D,H,W) X, float(O,C,Q,R,S) K", "Y(n,o,d,h,w) +=! X(n,c,d+q,h+r,w+s) * K(o,c,q,r,s)", [(1, 16, 10, 16, 16), (32, 16, 3, 3, 3)]),
    "GMM": ("float(M,K) A, float(K,N) B", "Y(m,n) +=! A(m,k) * B(k,n)", [(256, 256), (256, 256)]),
    "T2D": (
        "float(N,C,H,W) X, float(C,O,R,S) K",
        "Y(n,o,h,w) +=! h >= r && w >= s && (h-r) % 2 == 0 && (w-s) % 2 == 0 && (h-r)/2 < H && (w-s)/2 < W ? X(n,c,(h-r)/2,(w-s)/2) * K(c,o,r,s) : 0 where h in 0:2*H, w in 0:2*W",
        [(1, 32, 14, 14), (32, 32, 4, 4)],
    ),
    "T3D": (
        "float(N,C,D,H,W) X, float(C,O,Q,R,S) K",
        "Y(n,o,d,h,w) +=! d >= q && h >= r && w >= s && (d-q) % 2 == 0 && (h-r) % 2 == 0 && (w-s) % 2 == 0 && (d-q)/2 < D && (h-r)/2 < H && (w-s)/2 < W ? X(n,c,(d-q)/2,(h-r)/2,(w-s)/2) * K(c,o,q,r,s) : 0 where d in 0:2*D, h in 0:2*H, w in 0:2*W",
        [(1, 16, 4, 8, 8), (16, 16, 4, 4, 4)],
    ),
}


def ratio(above, below):
    """The median of the ratios of the rounds, and their quartiles."""
    return [round(each, 4) for each in statistics.quantiles([a / b for a, b in zip(above, below)], n=4)]


def measured(name, args):
    parameters, statement, shapes = OPERATORS[name]
    function = tc.define(f"def {name.lower()}({parameters}) -> (Y) {{ {statement} }}")[name.lower()]
    tensors = [sample(tc.spec(shape), i) for i, shape in enumerate(shapes)]
    how = {"candidates": args.candidates, "search": args.search, "ranking": args.ranking, "seed": args.seed, "cache": False, "progress": False}
    loops = tc.autotune(function, *tensors, **how)
    joint = tc.autotune(function, *tensors, layouts=True, **how)
    entrants = {"default": ("", {}), "loops": (str(loops.best.options), {}), "joint": (str(joint.best.options), dict(joint.layouts))}
    # The fastest in other layouts, even where it did not pass for faster.
    tried = [each for each in joint.tried if each.layouts]
    fastest = min(tried, key=lambda each: each.time, default=None)
    if fastest:
        best = min((c for c in joint.candidates if c.layouts == layouts_text(fastest.layouts) and c.time), key=lambda c: c.time)
        entrants["layouts"] = (str(best.options), dict(fastest.layouts))
    calls = []
    for options, layouts in entrants.values():
        placed = Converted(function, tensors, layouts)
        run = compiled(placed.function, tuple(placed.tensors), None, Options(options=options or "default", cache=False))
        out = run(*placed.tensors)
        calls.append(lambda run=run, given=placed.tensors, out=out: run(*given, out=out))
    samples = dict(zip(entrants, [sum(parts, []) for parts in zip(*(samples_in_turns(calls) for _ in range(3)))]))
    return {
        "operator": name,
        **{f"default/{each}": ratio(samples["default"], samples[each]) for each in entrants if each != "default"},
        "loops/joint": ratio(samples["loops"], samples["joint"]),
        "loops/layouts": ratio(samples["loops"], samples["layouts"]) if "layouts" in samples else None,
        "default_us": round(1e6 * statistics.median(samples["default"]), 2),
        "tried": [[str(each), each.predicted, each.time] for each in joint.tried],
        "layouts": {each: str(layout) for each, layout in joint.layouts.items()},
        "conversions_us": {each: round(1e6 * seconds, 2) for each, seconds in joint.conversions.items()},
        "model": [str(loops.model), str(joint.model)],
        "candidates": [len(loops.candidates), len(joint.candidates)],
        "elapsed": [round(loops.elapsed, 1), round(joint.elapsed, 1)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=16, help="measured by each tuning (16)")
    parser.add_argument("--operators", default=",".join(OPERATORS), help="separated by commas (all)")
    parser.add_argument("--search", default="price")
    parser.add_argument("--ranking", default="none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", help="a file to which a line of JSON is added for each operator")
    args = parser.parse_args()
    _core.set_num_threads(args.threads)
    gains = []
    for name in args.operators.split(","):
        found = measured(name, args)
        gains.append(found["loops/joint"][1])
        print(f"{name}: {found['loops/joint'][1]:.3f} of loops alone ({found['loops/joint'][0]:.3f} to {found['loops/joint'][2]:.3f}), {found['layouts'] or 'plain'}", flush=True)
        if args.out:
            with open(args.out, "a") as file:
                file.write(json.dumps({**vars(args), **found}) + "\n")
    print(f"geometric mean {math.exp(sum(map(math.log, gains)) / len(gains)):.3f}")


if __name__ == "__main__":
    main()
