import pytest


@pytest.fixture(autouse=True)
def laws():
    """The laws of the compiler are for its own tests: here hundreds of defs are compiled to be compared with torch."""
