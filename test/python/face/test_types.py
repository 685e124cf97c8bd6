"""What a checker of types says of a user's file."""

import os
import pathlib
import re
import sys

import pytest

SAMPLE = pathlib.Path(__file__).with_name("typed_sample.py")


def test_a_users_file_passes_strict_but_for_its_mistakes(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-torch.*,jax.*]\nfollow_imports = skip\nignore_missing_imports = True\n")
    said, failure, _ = api.run(["--strict", "--python-executable", sys.executable, "--cache-dir", os.devnull, "--no-error-summary", str(SAMPLE)])
    assert failure == ""
    found = {(int(line), code) for line, code in re.findall(r"typed_sample.py:(\d+): error: .*\[([a-z-]+)\]$", said, re.M)}
    marked = re.compile(r"# error: ([a-z-]+)$")
    wanted = {(number, match[1]) for number, line in enumerate(SAMPLE.read_text().splitlines(), 1) if (match := marked.search(line))}
    assert found == wanted, said
