"""Measures what rules and what prices choose for kernels, and kernels drawn by chance beside their prices: one process a program, as
many at once as there are cores.

    python3 -m gpu_suite.prices PROGRAM FOLDER COUNT SEED       turns.jsonl, prices.jsonl, prices.json in FOLDER
"""

import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import List

from gpu_suite.layout import with_libraries

SECONDS_OF_A_PROGRAM = 70
WRONG = 1e-3  # of the largest element: inputs are small whole numbers, sums are exact


def lines_of(program: str, *words: str) -> List[str]:
    """What one run of the program prints; what it printed until its time ran out."""
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=SECONDS_OF_A_PROGRAM,
                              env=with_libraries(dict(os.environ)))
        if done.returncode:
            print(*words, done.returncode, done.stderr.strip(), flush=True)
        return done.stdout.splitlines()
    except subprocess.TimeoutExpired as error:
        print(*words, "ran out of time", flush=True)
        text = error.stdout or b""
        return (text.decode() if isinstance(text, bytes) else text).splitlines()[:-1]


def measure(program: str, names: List[str], path: pathlib.Path, pool, command: str, *words: str) -> List[dict]:
    """The lines of all programs, which `path` gets."""
    rows = []
    with open(path, "w") as out:
        for lines in pool.map(lambda name: lines_of(program, command, name, *words), names):
            out.write("".join(line + "\n" for line in lines))
            out.flush()
            rows += [json.loads(line) for line in lines]
    return rows


def gain(turns: List[dict]) -> float:
    """How many times as fast as the rules' what prices choose is, in the geometric mean."""
    pairs = zip(turns[::2], turns[1::2])
    logs = [math.log(rules["seconds"] / priced["seconds"]) for rules, priced in pairs]
    return math.exp(sum(logs) / max(len(logs), 1))


def main() -> int:
    program, folder, count, seed = sys.argv[1:]
    folder = pathlib.Path(folder)
    names = lines_of(program, "list")
    with tempfile.NamedTemporaryFile() as lock, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        turns = measure(program, names, folder / "turns.jsonl", pool, "turns", lock.name)
        drawn = measure(program, names, folder / "prices.jsonl", pool, "measure", count, seed, lock.name) if int(count) else []
    wrong = sum(row["difference"] > WRONG for row in turns + drawn)
    result = {"kernels": len(turns) + len(drawn), "wrong": wrong, "gain": gain(turns)}
    (folder / "prices.json").write_text(json.dumps(result))
    print(f"{result['kernels']} mappings of {len(names)} programs measured, {wrong} wrong; prices choose {result['gain']:.2f} times as fast as rules")
    return int(wrong > 0 or not turns)


if __name__ == "__main__":
    sys.exit(main())
