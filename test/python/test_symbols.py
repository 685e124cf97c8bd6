"""What the extension shows to other libraries of the process."""

import shutil
import subprocess

import pytest

from tensor_comprehensions import _core


def defined_symbols():
    text = subprocess.run(["nm", "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm")
def test_no_isl_is_exported():
    symbols = defined_symbols()
    assert "PyInit__core" in symbols
    assert not [name for name in symbols if name.startswith("isl_")]
