"""Keeps what a random test found: of its output, each failure as a file, the reduced program as one of test/filetests/programs.

    test/fuzz/keep_finds.py OUTPUT FOLDER KIND SEED REVISION

Prints the names of the files. Of an output without a reduced program, as of a test that crashed, the whole is kept.
"""

import pathlib
import re
import sys

REDUCED = re.compile(
    r"TC_FUZZ_SEED=(?P<seed>\d+) TC_FUZZ_COUNT=1, options '(?P<options>[^']*)', target (?P<target>\S+?)(?P<strided>, strided)?\n"
    r"seed \d+\n(?P<text>(?:.*\n)*?\}\n)(?P<facts>(?:\w+(?: = |: \[).*\n)+)(?P<wrong>[^\n]*)"
)


def programs_of(output):
    """Pairs of a seed and the text of a program file, for each reduced program of the output."""
    for found in REDUCED.finditer(output):
        sizes = " ".join(f"{name}={size}" for name, size in re.findall(r"^(\w+) = (-?\d+)$", found["facts"], re.M))
        lines = [f"# {found['wrong'].strip() or 'a find'} (seed {found['seed']}{found['strided'] or ''})", f"# run: {sizes}".rstrip()]
        lines += [f"# data: {name} {low}:{high}" for name, low, high in re.findall(r"^(\w+): \[(-?\d+), (-?\d+)\)", found["facts"], re.M)]
        lines += [f"# special values: {name}" for name in re.findall(r"^(\w+): .* and special values$", found["facts"], re.M)]
        lines += [f"# options: {found['options']}", f"# target: {found['target']}"]
        yield found["seed"], "\n".join(lines) + "\n" + found["text"]


def keep(output, folder, kind, seed, revision):
    """Writes the files, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{kind}_{number}.tc": text for number, text in programs_of(output)}
    files[f"{kind}_{seed}.txt"] = f"{kind} from seed {seed} at {revision}\n{output}"
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


if __name__ == "__main__":
    source, into, *rest = sys.argv[1:]
    for path in keep(pathlib.Path(source).read_text(encoding="utf-8", errors="replace"), pathlib.Path(into), *rest):
        print(path)
