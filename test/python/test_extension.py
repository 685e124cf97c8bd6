"""A package whose extension is for another Python, or not built, says so in one line."""

import pathlib
import subprocess
import sys

import pytest
import tensor_comprehensions


@pytest.mark.parametrize("extension, says", [
    ("_core.cpython-38-x86_64-linux-gnu.so", "built for another one (_core.cpython-38-x86_64-linux-gnu.so)"),
    (None, "is not built"),
])
def test_an_extension_that_does_not_fit_is_named(tmp_path, extension, says):
    package = tmp_path / "tensor_comprehensions"
    package.mkdir()
    for file in pathlib.Path(tensor_comprehensions.__file__).parent.iterdir():
        if not file.name.startswith("_core"):
            (package / file.name).symlink_to(file.resolve())
    if extension:
        (package / extension).touch()
    run = subprocess.run([sys.executable, "-c", "import tensor_comprehensions"], env={"PYTHONPATH": str(tmp_path)},
                         capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("ImportError: tensor_comprehensions cannot run on this")
    assert says in run.stderr and "circular" not in run.stderr
