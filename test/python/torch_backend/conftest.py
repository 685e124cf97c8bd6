import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"))


@pytest.fixture(autouse=True)
def laws():
    """The laws of the compiler are for its own tests: here hundreds of defs are compiled to be compared with torch."""
