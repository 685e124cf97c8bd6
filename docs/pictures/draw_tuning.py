"""Draws the pictures of docs/autotuning.md from a tuning: python docs/pictures/draw_tuning.py [--budget 30]

tuning_progress.svg     what a terminal shows
tuning_convergence.svg  result.convergence_svg()
tuning_importance.svg   result.importance_svg()
tuning_notebook.png     what a notebook shows; needs wkhtmltoimage, and is left as it was without it
"""

import argparse
import html
import io
import pathlib
import shutil
import subprocess
import tempfile

import torch
from PIL import Image

import tensor_comprehensions as tc
from tensor_comprehensions.tuning import Display

FOLDER = pathlib.Path(__file__).resolve().parent
MTTKRP = "def mttkrp(float(I,J,K) X, float(J,R) B, float(K,R) C) -> (A) { A(i,r) +=! X(i,j,k) * B(j,r) * C(k,r) }"
SHAPES = ((64, 64, 64), (64, 16), (64, 16))
CALL = "tc.autotune(T.mttkrp, X, B, C, budget={budget:g})"
STYLE = "body { font: 13px sans-serif; } td, th { padding: 2px 10px; text-align: right; font-size: 12px; }"
COLUMN, ROW, MARGIN = 7.3, 18, 14


def tuned(budget: float):
    """A tuning on one thread, and the lines that it showed."""
    torch.manual_seed(0)
    tc.set_num_threads(1)
    shown = io.StringIO()
    inputs = [torch.randn(shape) for shape in SHAPES]
    result = tc.autotune(tc.define(MTTKRP).mttkrp, *inputs, budget=budget, cache=False, progress=Display(shown, every=budget / 6))
    return result, shown.getvalue().splitlines()


def terminal_svg(lines) -> str:
    """Lines of a terminal as a picture."""
    width = round(max(map(len, lines)) * COLUMN + 2 * MARGIN)
    height = len(lines) * ROW + 2 * MARGIN
    texts = [
        f"<text x='{MARGIN}' y='{MARGIN + 13 + i * ROW}' xml:space='preserve'>{html.escape(line)}</text>" for i, line in enumerate(lines)
    ]
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' role='img' font-family='monospace' font-size='12' "
        f"fill='#ddd'><rect width='100%' height='100%' rx='6' fill='#222'/>{''.join(texts)}</svg>\n"
    )


def draw_page(page: str, path: pathlib.Path) -> None:
    """HTML as a picture."""
    program = shutil.which("wkhtmltoimage")
    if program is None:
        return print(f"{path.name} is left as it was: there is no wkhtmltoimage")
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(f"<html><head><meta charset='utf-8'><style>{STYLE}</style></head><body>{page}</body></html>")
        file.flush()
        subprocess.run([program, "--quiet", "--width", "720", file.name, str(path)], check=True)
    Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=32).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws the pictures of docs/autotuning.md.")
    parser.add_argument("--budget", type=float, default=30, help="seconds of the tuning (30)")
    budget = parser.parse_args().budget
    result, lines = tuned(budget)
    lines = [f">>> result = {CALL.format(budget=budget)}", *lines, ">>> print(result)", *str(result).splitlines()]
    (FOLDER / "tuning_progress.svg").write_text(terminal_svg(lines))
    (FOLDER / "tuning_convergence.svg").write_text(result.convergence_svg() + "\n")
    (FOLDER / "tuning_importance.svg").write_text(result.importance_svg() + "\n")
    draw_page(result._repr_html_(), FOLDER / "tuning_notebook.png")


if __name__ == "__main__":
    main()
