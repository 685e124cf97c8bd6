"""Measures kernels drawn by chance beside their prices: one process a program, as many at once as there are cores.

    python3 -m gpu_suite.prices PROGRAM LINES.jsonl RESULT.json COUNT SEED
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import List

from gpu_suite.layout import with_libraries

SECONDS_OF_A_PROGRAM = 150


def lines_of(program: str, name: str, count: str, seed: str, lock: str) -> List[str]:
    """What one program prints; what it printed until its time ran out."""
    try:
        done = subprocess.run([program, "measure", name, count, seed, lock], capture_output=True, text=True,
                              timeout=SECONDS_OF_A_PROGRAM, env=with_libraries(dict(os.environ)))
        if done.returncode:
            print(name, done.returncode, done.stderr.strip(), flush=True)
        return done.stdout.splitlines()
    except subprocess.TimeoutExpired as error:
        print(name, "ran out of time", flush=True)
        text = error.stdout or b""
        return (text.decode() if isinstance(text, bytes) else text).splitlines()[:-1]


def main() -> int:
    program, path, result, count, seed = sys.argv[1:]
    names = subprocess.run([program, "list"], capture_output=True, text=True, env=with_libraries(dict(os.environ))).stdout.split()
    total = wrong = 0
    with tempfile.NamedTemporaryFile() as lock, open(path, "w") as out, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(lambda name: lines_of(program, name, count, seed, lock.name), names):
            for line in lines:
                total += 1
                wrong += json.loads(line)["difference"] > 1e-3
            out.write("".join(line + "\n" for line in lines))
            out.flush()
            pathlib.Path(result).write_text(json.dumps({"kernels": total, "wrong": wrong}))
    print(f"{total} mappings of {len(names)} programs measured, {wrong} wrong")
    return int(wrong > 0 or total == 0)


if __name__ == "__main__":
    sys.exit(main())
