"""Runs the tests of a folder by pytest, each once. One that costs the GPU's state or does not end ends the process; the next process goes
on behind it.

    python3 -m gpu_suite.python_tests FOLDER RESULT.json
"""

import faulthandler
import os
import pathlib
import sys

import pytest

from gpu_suite.results import WRONG_ROWS, Results

SECONDS_OF_A_TEST = 60
DEVICE_LOST, NO_TESTS = 3, 5


def device_is_lost() -> bool:
    """Does the GPU do nothing more for this process?"""
    torch = sys.modules.get("torch")
    try:
        if torch and torch.cuda.is_available():
            torch.cuda.synchronize()
        return False
    except Exception:
        return True


class Recorder:
    """Writes down each test before and after it runs, and leaves out those that have run."""

    def __init__(self, results: Results):
        self.results = results
        self.status = "ok"

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if not self.results.tried(item.nodeid)]

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.status = "failed: " + str(report.longrepr).strip().splitlines()[-1][:300]
        elif report.skipped and self.status == "ok":
            self.status = "skipped"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.status = "ok"
        self.results.begin(item.nodeid)
        faulthandler.dump_traceback_later(SECONDS_OF_A_TEST, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()
        self.results.end({"case": item.nodeid, "status": self.status})
        if self.status.startswith("failed") and device_is_lost():
            print(f"\n{self.status}\nthe GPU's state is lost after {item.nodeid}", flush=True)
            os._exit(DEVICE_LOST)


def main() -> int:
    folder, path = sys.argv[1:]
    results = Results(pathlib.Path(path))
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=short", folder], plugins=[Recorder(results)])
    rows = results.content["rows"]
    if any(row["status"] not in ("ok", "skipped") for row in rows):
        return WRONG_ROWS
    return 0 if rows else int(code)


if __name__ == "__main__":
    sys.exit(main())
