"""Runs the sections and writes the report; `benchmarks/gpu.sh` is its face.

    python3 -m gpu_suite.run ROOT RESULTS [--only a,b] [--minutes 8.7] [--dry-run] [--list]
"""

import argparse
import pathlib
import sys
import tempfile
import threading
import time
from typing import Dict, List

from gpu_suite import layout, report, sections

MINUTES = 8.7


def chosen(only: str) -> List[sections.Section]:
    """The sections of these names, all without names."""
    if not only:
        return list(sections.SECTIONS)
    names = only.split(",")
    unknown = set(names) - {section.name for section in sections.SECTIONS}
    if unknown:
        sys.exit(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in sections.SECTIONS)}")
    return [section for section in sections.SECTIONS if section.name in names]


class Binding:
    """The compile of the extension, beside the sections that do without."""

    def __init__(self, plan: sections.Plan, wanted: bool):
        self.outcome = sections.Outcome("binding", "ok", 0, "built with this tree")
        self.thread = threading.Thread(target=self.build, args=(plan,)) if wanted else None
        if self.thread:
            self.thread.start()

    def build(self, plan: sections.Plan) -> None:
        self.outcome = sections.run(sections.BINDING, plan)

    def wait(self) -> sections.Outcome:
        if self.thread:
            self.thread.join()
        return self.outcome


def run_all(wanted: List[sections.Section], plan: sections.Plan, results: pathlib.Path) -> Dict[str, sections.Outcome]:
    """How each section ended. The report is written after each, for the case that the time of all ends early."""
    binding = Binding(plan, plan.layout.is_bundle and any(section.needs_binding for section in wanted))
    outcomes: Dict[str, sections.Outcome] = {}
    for section in wanted:
        if section.needs_binding:
            built = binding.wait()
            outcomes["binding"] = built
            if built.status != "ok":
                outcomes[section.name] = sections.Outcome(section.name, "failed", 0, "the extension could not be compiled")
                continue
        outcome = sections.run(section, plan)
        outcomes[section.name] = outcome
        print(f"{section.name:10} {outcome.status:10} {outcome.seconds:6.1f} s", flush=True)
        report.write(results, plan, outcomes)
    outcomes["binding"] = binding.wait()
    report.write(results, plan, outcomes)
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--minutes", type=float, help=f"for all sections; {MINUTES} if not given, an hour for a dry run")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(section.name for section in sections.SECTIONS))
        return 0
    wanted = chosen(arguments.only)
    minutes = arguments.minutes or (60 if arguments.dry_run else MINUTES)
    with tempfile.TemporaryDirectory() as work:
        plan = sections.Plan(layout.find(arguments.root), pathlib.Path(work), arguments.dry_run, time.monotonic() + 60 * minutes)
        outcomes = run_all(wanted, plan, arguments.results)
    print((arguments.results / "report.md").read_text())
    return int(not all(outcome.is_good for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
