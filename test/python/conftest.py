import os
import signal
import tempfile
import zlib

import pytest
import torch

# Tests compile what they test, and leave the folders of users alone.
os.environ["TC_CACHE_MODE"] = "off"
state = tempfile.TemporaryDirectory(prefix="tc_test_state.")
os.environ["XDG_STATE_HOME"] = state.name
os.environ["TORCHINDUCTOR_CACHE_DIR"] = state.name + "/inductor"
# What inductor compiles around our operators need not be fast: without vectors it includes less, and tries no instruction sets.
os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "0"

# Jobs in the background of a shell ignore Ctrl-C, and so would the tests that send it to themselves or to what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


# What asserts a time, or counts on cores that no other test takes: `make test` runs it in one process, and the rest in more.
# Tests by files; None: all of a file.
ALONE = {
    "test_thread_teams.py": None,
    "test_threads.py": None,
    "test_tune_derivations.py": None,
    "test_api.py": {"test_calls_are_quick"},
    "test_cache.py": {"test_a_cached_kernel_runs_within_5_ms"},
    "test_gpu_script.py": {"test_a_section_without_end_is_ended_with_what_it_started"},
}


def pytest_collection_modifyitems(items):
    for item in items:
        names = ALONE.get(item.path.name, ())
        if names is None or item.name in names:
            item.add_marker("alone")


def pytest_ignore_collect(collection_path, config):
    """Files without tests that run alone are not imported for these: that would take ten seconds."""
    alone = config.option.markexpr.startswith("alone")
    return True if alone and collection_path.name.startswith("test_") and collection_path.name not in ALONE else None


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


# Tests whose subject is what the compiler makes of many programs: the compiles of every third of them run all laws. So does every
# compile of all tests where TC_TEST_LAWS=1, as in `make test-long`; other tests are of the face, and laws take half of a compile.
UNDER_LAWS = {"test_programs.py", "test_public_suites.py", "test_layouts.py", "test_random_models.py"}


@pytest.fixture(autouse=True)
def laws(monkeypatch, request):
    sampled = request.path.name in UNDER_LAWS and zlib.crc32(request.node.name.encode()) % 3 == 0
    if sampled or os.environ.get("TC_TEST_LAWS") == "1":
        monkeypatch.setenv("TC_VERIFY", "1")
