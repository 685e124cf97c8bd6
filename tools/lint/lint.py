"""Checks of the sources that a compiler does not make: `make lint`.

    lint.py [--format] [--rule NAME ...]

Prints findings as path:line: rule: message and exits with 1 if there are any. --format checks the layout too, with
clang-format of .venv. Rules are in rules.py.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lint import imports, prose, rules  # noqa: E402
from lint.source import Source  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent


def tracked_files():
    """The files under version control; without a repository, those of the tree."""
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode == 0:
        return [file for file in found.stdout.split("\n") if file and (ROOT / file).is_file()]
    skip = ("build", ".venv", ".git")
    return [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not str(p.relative_to(ROOT)).startswith(skip)]


def all_findings(files):
    """The findings of every rule for the tracked files."""
    cpp = [file for file in files if file.endswith((".h", ".cpp"))]
    read = {file: Source.read(ROOT / file) for file in cpp}
    library = {path: source for path, source in read.items() if path.startswith("tc/")}
    tests = {path: source for path, source in read.items() if path.startswith("test/")}
    headers = {path: source for path, source in read.items() if path.endswith(".h")}
    yield from rules.long_functions(read)
    yield from rules.functions_without_contract(library)
    yield from rules.passes_without_tests(library, tests)
    yield from rules.unused_includes(read, headers)
    shipped = {path: source for path, source in read.items() if path.startswith(("tc/", "python/", "tools/"))}
    yield from rules.plain_locks(shipped)
    yield from rules.destroyed_statics(library)
    yield from rules.crowded_folders(files)
    python = {file: (ROOT / file).read_text(encoding="utf-8") for file in files if file.startswith("python/") and file.endswith((".py", ".pyi"))}
    yield from (rules.Finding(path, line, "import-cycle", message) for path, line, message in imports.findings(list(python), python, "python"))
    yield from (rules.Finding(path, line, "prose", message) for path, line, message in prose.findings(ROOT, files))


def format_findings(files):
    """The files whose layout clang-format would change."""
    cpp = [file for file in files if file.endswith((".h", ".cpp"))]
    tool = ROOT / ".venv/bin/clang-format"
    run = subprocess.run([str(tool), "--dry-run", "-Werror", *cpp], cwd=ROOT, capture_output=True, text=True)
    seen = sorted({line.split(":")[0] for line in run.stderr.split("\n") if ": error:" in line})
    if run.returncode and not seen:
        raise SystemExit(f"clang-format failed:\n{run.stderr}")
    for path in seen:
        yield rules.Finding(path, 1, "format", "run 'make format'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", action="store_true", help="check the layout too")
    parser.add_argument("--rule", action="append", help="only findings of this rule")
    arguments = parser.parse_args()
    files = tracked_files()
    findings = list(all_findings(files))
    if arguments.format:
        findings += format_findings(files)
    if arguments.rule:
        findings = [finding for finding in findings if finding.rule in arguments.rule]
    for finding in findings:
        print(finding)
    print(f"lint: {len(findings)} finding{'' if len(findings) == 1 else 's'} in {len(files)} files", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os._exit(1)
