"""Runs tc_check_kernels on every program of a folder, several at a time, and again behind each case that cost the GPU's state.

    python3 -m gpu_suite.kernels PROGRAM FOLDER RESULT.json [--compare=false]
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
from typing import List

from gpu_suite.layout import with_libraries
from gpu_suite.results import PATIENCE

NO_DEVICE, DEVICE_LOST = 2, 3
SECONDS_OF_A_FILE = 60


def run(command: List[str], seconds: float):
    """Exit status and lines of a command; None where it took too long or died of a signal."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=with_libraries(dict(os.environ)))
    except subprocess.TimeoutExpired as error:
        text = error.stdout or b""
        return None, (text.decode() if isinstance(text, bytes) else text).splitlines(), f"no end within {seconds} s"
    lines = done.stdout.splitlines()
    if done.returncode < 0:
        return None, lines, f"died of signal {-done.returncode}"
    return done.returncode, lines, done.stderr.strip()


def cases_of(lines: List[str]) -> List[dict]:
    """Lines "ok 3 run 0, options ''" as entries; what follows a line belongs to it."""
    cases: List[dict] = []
    for line in lines:
        status, _, rest = line.partition(" ")
        if status in ("ok", "WRONG", "FAULT", "FAILED"):
            cases.append({"status": status, "case": int(rest.split()[0]), "text": rest})
        elif cases:
            cases[-1]["text"] += "\n" + line
    return cases


def check_file(program: str, path: pathlib.Path, options: List[str]) -> dict:
    """All cases of a file."""
    cases: List[dict] = []
    first, error = 0, ""
    seconds = SECONDS_OF_A_FILE * (PATIENCE if options else 1)
    for _ in range(10):
        code, lines, error = run([program, str(path), f"--from={first}", *options], seconds)
        found = cases_of(lines)
        cases += found
        if code not in (DEVICE_LOST, None):
            break
        first = found[-1]["case"] + 1 if found else first + 1
        if code is None:
            cases.append({"status": "DIED", "case": first, "text": f"{first}: {error}"})
            first += 1
    failed = code == NO_DEVICE or any(case["status"] != "ok" for case in cases)
    return {"file": path.name, "failed": failed, "cases": cases, "error": error if failed else ""}


def main() -> int:
    program, folder, result, *options = sys.argv[1:]
    paths = sorted(pathlib.Path(folder).rglob("*.tc"), key=lambda path: path.name)
    files = []
    with concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)) - 2)) as pool:
        for entry in pool.map(lambda path: check_file(program, path, options), paths):
            files.append(entry)
            bad = [case for case in entry["cases"] if case["status"] != "ok"]
            for case in bad:
                print(f"{entry['file']}: {case['status']} {case['text'][:1500]}", flush=True)
            if entry["failed"] and not bad:
                print(f"{entry['file']}: {entry['error'][:1500]}", flush=True)
            pathlib.Path(result).write_text(json.dumps(files, indent=1))
    count = sum(len(entry["cases"]) for entry in files)
    good = sum(case["status"] == "ok" for entry in files for case in entry["cases"])
    print(f"{len(files)} programs, {count} cases, {good} right; {sum(entry['failed'] for entry in files)} programs with failures")
    return int(any(entry["failed"] for entry in files) or not files)


if __name__ == "__main__":
    sys.exit(main())
