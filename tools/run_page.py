"""Runs the code of pages of Markdown, and makes notebooks of them.

    run_page.py [--write] PAGE...        runs the blocks of each page in order; --write puts into the page what they print
    run_page.py --notebook PAGE...       writes PAGE.ipynb beside each page

A block ```python is run, all blocks of a page in one namespace. A block without a language that directly follows it is what it prints; there `…` stands for any
text. The defs of a block ```tc become attributes of `T`. Other blocks are not run.
"""

import argparse
import contextlib
import difflib
import io
import json
import pathlib
import re
import sys
import types

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


class PageError(Exception):
    """A block prints something else than its page says."""


def blocks(text):
    """The blocks of `text` that count: (language, code, place in the text, what it is to print or None)."""
    found = list(BLOCK.finditer(text))
    for block, behind in zip(found, found[1:] + [None]):
        if block[1] not in ("python", "tc"):
            continue
        printed = behind if behind and not behind[1] and not text[block.end() : behind.start()].strip() else None
        yield block[1], block[2], block, printed if block[1] == "python" else None


def matches(printed: str, wanted: str) -> bool:
    """Is `printed` as `wanted`, whose `…` stand for any text?"""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    pattern = ".*".join(map(re.escape, wanted.strip("\n").split("…")))
    return re.fullmatch(pattern, "\n".join(lines), re.S) is not None


def run_code(language, code, namespace, name) -> str:
    """Runs a block in `namespace`; what it prints."""
    if language == "tc":
        import tensor_comprehensions as tc

        defs = tc.define(code, name=name)
        vars(namespace.setdefault("T", types.SimpleNamespace())).update({each: defs[each] for each in defs})
        return ""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, name, "exec"), namespace)
    return out.getvalue()


def run(page: pathlib.Path, write=False) -> int:
    """Runs the blocks of `page`, and returns how many there are. Raises PageError where one prints something else than the page says, unless it is to `write` that."""
    text, namespace, count = page.read_text(encoding="utf-8"), {"__name__": "page"}, 0
    made, done = [], 0
    for language, code, block, printed in blocks(text):
        count += 1
        line = text[: block.start()].count("\n") + 2
        result = run_code(language, "\n" * (line - 1) + code if language == "python" else code, namespace, str(page))
        if printed is None or matches(result, printed[2]):
            continue
        if not write:
            diff = difflib.unified_diff(printed[2].splitlines(), result.splitlines(), "page", "printed", lineterm="")
            raise PageError(f"{page}:{line}: the block prints something else than the page says\n" + "\n".join(diff))
        made += [text[done : printed.start(2)], result.strip("\n") + "\n"]
        done = printed.end(2)
    if write and made:
        page.write_text("".join(made) + text[done:], encoding="utf-8")
    return count


def notebook(page: pathlib.Path) -> str:
    """The page as a notebook: its code in cells to run, all else as text."""
    text, cells, done = page.read_text(encoding="utf-8"), [], 0
    for language, code, block, printed in blocks(text):
        if language != "python":
            continue
        cells += [("markdown", text[done : block.start()]), ("code", code)]
        done = (printed or block).end()
    cells.append(("markdown", text[done:]))
    written = []
    for number, (kind, content) in enumerate(cells):
        if not content.strip():
            continue
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": content.strip("\n").splitlines(keepends=True)}
        written.append({**cell, "execution_count": None, "outputs": []} if kind == "code" else cell)
    head = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return json.dumps({"cells": written, "metadata": head, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put what blocks print into the page")
    parser.add_argument("--notebook", action="store_true", help="write a notebook beside each page")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    for page in arguments.pages:
        if arguments.notebook:
            page.with_suffix(".ipynb").write_text(notebook(page), encoding="utf-8")
        else:
            print(f"{page}: {run(page, arguments.write)} blocks", file=sys.stderr)


if __name__ == "__main__":
    main()
