import os
import signal
import tempfile

import pytest
import torch

# Tests compile what they test, and leave the folders of users alone.
os.environ["TC_CACHE_MODE"] = "off"
state = tempfile.TemporaryDirectory(prefix="tc_test_state.")
os.environ["XDG_STATE_HOME"] = state.name
os.environ["TORCHINDUCTOR_CACHE_DIR"] = state.name + "/inductor"

# Jobs in the background of a shell ignore Ctrl-C, and so would the tests that send it to themselves or to what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def laws(monkeypatch):
    """Every compile of the tests runs all laws."""
    monkeypatch.setenv("TC_VERIFY", "1")
