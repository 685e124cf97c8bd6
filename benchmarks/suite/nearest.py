"""The regret of taking the options of the nearest shapes."""

import argparse
import pathlib
import tempfile
from typing import Dict, List, Optional, Tuple

import tensor_comprehensions as tc

from . import measure, report, tuning_report
from .cases.norms import LAYER_NORM
from .limits import ROOT
from .machine import cores, description
from .statistics import Spread, geomean

PROGRAMS = {
    "mm": "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
    "tbmm": "def tbmm(float(B,N,M) X, float(B,K,M) Y) -> (Z) { Z(b,n,k) +=! X(b,n,m) * Y(b,k,m) }",
    "layer_norm": LAYER_NORM,
    "mttkrp": "def mttkrp(float(I,J,K) X, float(J,R) B, float(K,R) C) -> (A) { A(i,r) +=! X(i,j,k) * B(j,r) * C(k,r) }",
    "correlation": "def correlation(float(N,H,W) A, float(N,P,Q) B) -> (C) { C(n,y,x) +=! A(n,h,w) * B(n,h+y,w+x) }",
}
SHAPES = {
    "mm": [((m, k), (k, n)) for m, k, n in ((512, 512, 512), (640, 512, 512), (512, 1024, 512), (128, 1024, 1024))],
    "tbmm": [((b, n, m), (b, k, m)) for b, n, m, k in ((500, 26, 72, 26), (400, 26, 72, 26), (500, 32, 64, 32))],
    "layer_norm": [((n, c), (c,), (c,)) for n, c in ((1024, 1024), (2048, 1024), (1024, 2048))],
    "mttkrp": [((i, j, k), (j, r), (k, r)) for i, j, k, r in ((64, 64, 64, 16), (96, 64, 64, 16), (64, 96, 64, 32))],
    "correlation": [((n, h, w), (n, h + y, w + y)) for n, h, w, y in ((8, 60, 60, 4), (16, 60, 60, 4), (8, 92, 60, 6))],
}
SECONDS, WARM_SECONDS = 1.0, 0.01

Shapes = Tuple[Tuple[int, ...], ...]


def specs(shapes: Shapes) -> list:
    return [tc.spec(shape) for shape in shapes]


def inputs(shapes: Shapes) -> list:
    """Random tensors, the same ones for the same shapes."""
    import torch

    torch.manual_seed(1)
    return [torch.randn(shape) for shape in shapes]


def nearest_of_others(function, tuned: Dict[Shapes, tc.TuneResult], shapes: Shapes):
    """The winner of the nearest of the other shapes, as a cache without these would give it, and its distance."""
    with tempfile.TemporaryDirectory() as folder:
        cache = tc.cache.Cache(pathlib.Path(folder) / "cache")
        for other, result in tuned.items():
            if other != shapes:
                cache.record(function, *specs(other), options=result.best.options, measured=tc.cache.Measurement.here(result.best.time * 1e9))
        found = cache.nearest(function, *specs(shapes))
        return found.options, found.distance


def times_of(function, shapes: Shapes, options: Dict[str, object]) -> Dict[str, Spread]:
    """The time of a call with each of the options, in turns; equal options are measured once."""
    tensors = inputs(shapes)
    texts = {name: str(each) for name, each in options.items()}
    kernels = {text: tc.compile(function, *tensors, options=tc.MappingOptions(text), cache=False) for text in set(texts.values())}
    calls = {text: (lambda kernel=kernel: kernel(*tensors)) for text, kernel in kernels.items()}
    found, _ = measure.interleaved(calls, {}, SECONDS, cores(), WARM_SECONDS)
    return {name: found[text] for name, text in texts.items()}


def rows_of(name: str, budget: float) -> List[dict]:
    """A row for each shape of a program."""
    function = tc.define(PROGRAMS[name])[name]
    tuned = {shapes: tc.autotune(function, *inputs(shapes), budget=budget, cache=False, progress=False) for shapes in SHAPES[name]}
    rows = []
    for shapes, result in tuned.items():
        options, distance = nearest_of_others(function, tuned, shapes)
        times = times_of(function, shapes, {"default": tc.MappingOptions(), "own": result.best.options, "nearest": options})
        shape = ", ".join("x".join(map(str, each)) for each in shapes)
        rows.append({"program": name, "shapes": shape, "distance": distance, **{key: each._asdict() for key, each in times.items()}})
    return rows


def page(rows: List[dict], budget: float) -> str:
    """A table of rows, and the means below."""
    lines = ["| program | shapes | distance | default ms | own ms | nearest ms | nearest / own | default / own |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        own = row["own"]["median"]
        times = " | ".join(tuning_report.milliseconds(row[name]) for name in ("default", "own", "nearest"))
        ratios = f"{row['nearest']['median'] / own:.2f} | {row['default']['median'] / own:.2f}"
        lines.append(f"| {row['program']} | {row['shapes']} | {row['distance']:.2f} | {times} | {ratios} |")
    regret = geomean(row["nearest"]["median"] / row["own"]["median"] for row in rows)
    without = geomean(row["default"]["median"] / row["own"]["median"] for row in rows)
    worst = max(row["nearest"]["median"] / row["own"]["median"] for row in rows)
    return "\n".join(
        [*lines, "", f"Tuned {budget:g} s a shape. Geometric means: regret {regret:.3f} (worst {worst:.2f}); the default options {without:.3f}.", ""]
    )


def main(arguments: Optional[List[str]] = None) -> None:
    p = argparse.ArgumentParser(prog="nearest.py", description="Measures the regret of the options of the nearest shapes.")
    p.add_argument("--budget", type=float, default=10, help="seconds of tuning for each shape (10)")
    p.add_argument("--programs", default=",".join(PROGRAMS), metavar="LIST", help="(%(default)s)")
    p.add_argument("--result", default=str(ROOT / "build" / "bench" / "nearest.json"), metavar="PATH",
                   help="JSON, and a page .md beside it; keeps what it has of other programs")  # fmt: skip
    args = p.parse_args(arguments)
    before = tuning_report.load(pathlib.Path(args.result)) or {"rows": []}
    rows = [row for row in before["rows"] if row["program"] not in args.programs.split(",")]
    for name in args.programs.split(","):
        rows += rows_of(name, args.budget)
        report.write_json({"machine": description(), "budget": args.budget, "rows": rows}, args.result)
        pathlib.Path(args.result).with_suffix(".md").write_text(page(rows, args.budget))
    print(page(rows, args.budget))
