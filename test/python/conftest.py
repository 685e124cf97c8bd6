import pytest
import torch


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def laws(monkeypatch):
    """Every compile of the tests runs all laws."""
    monkeypatch.setenv("TC_VERIFY", "1")
