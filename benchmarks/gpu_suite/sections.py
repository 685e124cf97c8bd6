"""What a run consists of: sections, each in processes of its own with a limit of seconds."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Callable, List, Optional

from gpu_suite.layout import Layout, with_libraries
from gpu_suite.results import PATIENCE, WRONG_ROWS

NO_TESTS = 5  # pytest's status where every file is skipped
MOST_DEATHS = 12
PRICED_MAPPINGS, PRICED_SEED = os.environ.get("TC_PRICED_MAPPINGS", "24"), os.environ.get("TC_PRICED_SEED", "1")  # of each program


@dataclasses.dataclass(frozen=True)
class Plan:
    """One run: where things are, where results go, what runs and until when."""

    layout: Layout
    results: pathlib.Path
    dry: bool
    deadline: float  # of time.monotonic()

    def left(self) -> float:
        return self.deadline - time.monotonic()


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a run. `command` makes its command line; one that `continues` is started again where it ended early."""

    name: str
    limit: float
    command: Callable[[Plan], List[str]]
    needs_binding: bool = False
    is_program: bool = False
    continues: bool = False


@dataclasses.dataclass
class Outcome:
    """How a section ended."""

    name: str
    status: str  # "ok", "failed", "timed out", "skipped"
    seconds: float = 0
    text: str = ""  # the last lines it printed

    @property
    def is_good(self) -> bool:
        return self.status in ("ok", "skipped")


def python(*arguments: str) -> List[str]:
    return [sys.executable, *arguments]


def prelude(plan: Plan) -> List[str]:
    return [str(plan.layout.programs / "tc_check_prelude"), *(["--compare=false"] if plan.dry else [])]


def runtime(plan: Plan) -> List[str]:
    return [str(plan.layout.programs / "gpu_runtime_test"), "--gtest_brief=1"]


def kernels(plan: Plan) -> List[str]:
    folder = plan.layout.root / "test/filetests/programs"
    return python("-m", "gpu_suite.kernels", str(plan.layout.programs / "tc_check_kernels"), str(folder),
                  str(plan.results / "kernels.json"), *(["--compare=false"] if plan.dry else []))


def limits(plan: Plan) -> List[str]:
    return [str(plan.layout.programs / "gpu_limits"), str(plan.results / "limits.json"), *(["1048576"] if plan.dry else [])]


def units(plan: Plan) -> List[str]:
    return [str(plan.layout.programs / "gpu_units"), str(plan.results / "units.jsonl"), *(["--dry-run"] if plan.dry else [])]


def prices(plan: Plan) -> List[str]:
    return python("-m", "gpu_suite.prices", str(plan.layout.programs / "grid_model"), str(plan.results),
                  "0" if plan.dry else PRICED_MAPPINGS, PRICED_SEED)


def python_tests(plan: Plan) -> List[str]:
    return python("-m", "gpu_suite.python_tests", str(plan.layout.root / "test/gpu"), str(plan.results / "python.json"))


def models(plan: Plan) -> List[str]:
    return python("-m", "gpu_suite.models", str(plan.results / "models.json"), *(["--dry-run"] if plan.dry else []))


def benchmark(family: str) -> Callable[[Plan], List[str]]:
    return lambda plan: python("-m", "gpu_suite.bench", family, str(plan.results / f"{family}.json"),
                               *(["--dry-run"] if plan.dry else []))


BINDING = Section("binding", 240, lambda plan: python("-m", "gpu_suite.build_binding", str(plan.layout.root)))
SECTIONS = (
    Section("machine", 60, lambda plan: python("-m", "gpu_suite.machine", str(plan.results / "machine.json"))),
    Section("prelude", 60, prelude, is_program=True),
    Section("runtime", 60, runtime, is_program=True),
    Section("limits", 30, limits, is_program=True),
    Section("units", 45, units, is_program=True),
    Section("gemm", 100, benchmark("gemm"), needs_binding=True, continues=True),
    Section("odd", 75, benchmark("odd"), needs_binding=True, continues=True),
    Section("conv", 70, benchmark("conv"), needs_binding=True, continues=True),
    Section("memory", 70, benchmark("memory"), needs_binding=True, continues=True),
    Section("paper", 70, benchmark("paper"), needs_binding=True, continues=True),
    Section("attention", 75, benchmark("attention"), needs_binding=True, continues=True),
    Section("models", 150, models, needs_binding=True, continues=True),
    Section("overhead", 30, benchmark("overhead"), needs_binding=True, continues=True),
    Section("sgemm", 50, benchmark("sgemm"), needs_binding=True, continues=True),
    Section("libraries", 60, benchmark("libraries"), needs_binding=True, continues=True),
    Section("kernels", 110, kernels),
    Section("python", 90, python_tests, needs_binding=True, continues=True),
    Section("prices", 240, prices),
)


def kill(process: subprocess.Popen) -> None:
    """Ends a process with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_once(section: Section, plan: Plan, log, seconds: float) -> Optional[int]:
    """The exit status of the section's command, None where the time ran out."""
    environment = plan.layout.environment(plan.dry)
    if section.is_program:
        environment = with_libraries(environment)
    if section.continues:
        environment["TC_SECTION_SECONDS"] = str(seconds)
    process = subprocess.Popen(section.command(plan), stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env=environment, cwd=plan.results, start_new_session=True)
    try:
        return process.wait(max(seconds, 0.1))
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill(process)


def status_of(section: Section, code: Optional[int]) -> str:
    if code is None:
        return "timed out"
    if section.name == "python" and code == NO_TESTS:
        return "skipped"
    return "ok" if code == 0 else "failed"


def run(section: Section, plan: Plan) -> Outcome:
    """Runs a section. One that died continues behind the case that it died of, as long as there is time."""
    start = time.monotonic()
    end = min(start + section.limit * (PATIENCE if plan.dry else 1), plan.deadline)
    if end - start < 5:
        return Outcome(section.name, "skipped", 0, "no time was left")
    path, result = plan.results / f"{section.name}.log", plan.results / f"{section.name}.json"
    deaths, before = 0, None
    with open(path, "wb") as log:
        while True:
            try:
                code = run_once(section, plan, log, end - time.monotonic())
            except OSError as error:
                return Outcome(section.name, "failed", time.monotonic() - start, str(error))
            died = section.continues and code not in (0, WRONG_ROWS, NO_TESTS, None)
            after = result.read_bytes() if result.exists() else None
            deaths += died
            if not died or after == before or deaths > MOST_DEATHS or end - time.monotonic() < 10:
                break
            before = after
    status = "failed" if deaths and code == 0 else status_of(section, code)
    tail = path.read_bytes()[-4000:].decode(errors="replace")
    return Outcome(section.name, status, time.monotonic() - start, nothing_came_of(result) + (tail if status != "ok" else tail[-800:]))


def nothing_came_of(result: pathlib.Path) -> str:
    """A line that says so where every case in the file of a section died; else nothing."""
    content = json.loads(result.read_text()) if result.exists() else {}
    rows = content.get("rows", []) if isinstance(content, dict) else []
    if not rows or any(not row["status"].startswith("died") for row in rows):
        return ""
    return f"EVERY CASE DIED: {len(rows)} of {len(rows)}, nothing was measured\n"
