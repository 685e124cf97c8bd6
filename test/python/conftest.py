import os

import pytest
import torch

# Tests compile what they test, and leave the folders of users alone.
os.environ["TC_CACHE_MODE"] = "off"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def laws(monkeypatch):
    """Every compile of the tests runs all laws."""
    monkeypatch.setenv("TC_VERIFY", "1")
