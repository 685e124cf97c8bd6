#!/usr/bin/env python3
"""Plants faults in the compiler, one at a time, and counts those that no test of their floor notices.

    tools/mutants.py --seed 1 --count 40                         # in a copy of the checkout that has a build of its own
    tools/mutants.py --floor layout --count 10 --then programs   # survivors meet the programs of test/filetests too
    tools/mutants.py --list 20                                   # prints faults and plants none

A fault is a small change of one line: another comparison, operator, minimum or constant, a negated condition, exchanged arguments,
a call left out. Prices and messages are left aside: a wrong price gives slow code, not wrong code. A seed draws a floor, then a kind of
change, then a place; the fault is built, and the floor's tests run, up to three times as long as without it. What does not compile is drawn again.
Each result is a line of build/mutants.tsv; the table at the end has all survivors. A survivor is equivalent (it computes the same), or asks for
a test or a law. The sources are written back in every case.
"""

import argparse
import dataclasses
import pathlib
import random
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLOORS = {  # folder of tc/: the test program
    "polyhedral": "polyhedral", "halide_bridge": "halide_bridge", "cpu/stmt": "cpu", "autodiff": "autodiff", "derive": "derive",
    "layout": "layout", "graph": "graph",
}
ASIDE = re.compile(r"price|print|to_text|report|message|README", re.I)
SILENT = re.compile(r"^\s*(//|\*|#|static_assert|throw|using|namespace|template|case .*:$)|throw |TC_CHECK|internal_error|Error\(|str\(")
TOKENS = {
    "comparison": [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == ")],
    "operator": [(" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "), (" += ", " -= ")],
    "logic": [(" && ", " || "), (" || ", " && "), ("true", "false"), ("false", "true")],
    "extreme": [("std::min(", "std::max("), ("std::max(", "std::min("), ("std::any_of", "std::all_of"), ("std::all_of", "std::any_of"),
                (".front()", ".back()"), (".back()", ".front()")],
}


@dataclasses.dataclass(frozen=True)
class Fault:
    floor: str
    path: pathlib.Path
    line: int
    kind: str
    before: str
    after: str

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.kind}: `{self.before.strip()}` -> `{self.after.strip()}`"


def outside_of_strings(line, place):
    return line[:place].count('"') % 2 == 0 and "//" not in line[:place]


def replacements(line):
    """Pairs of a kind and the line with one change."""
    for kind, pairs in TOKENS.items():
        for old, new in pairs:
            for found in re.finditer((r"\b" + old + r"\b") if old.isalpha() else re.escape(old), line):
                if outside_of_strings(line, found.start()):
                    yield kind, line[: found.start()] + new + line[found.end():]
    for found in re.finditer(r"(?<![\w.<])\d+(?![\w.>])", line):
        if outside_of_strings(line, found.start()) and not re.match(r"\s*case ", line):
            yield "constant", line[: found.start()] + str(int(found.group()) + 1) + line[found.end():]
    found = re.match(r"^(\s*(?:} else )?if \()(.*)(\)( \{| return.*;| continue;| break;)?)$", line)
    if found and found[2].count("(") == found[2].count(")") and ";" not in found[2]:
        yield "negation", f"{found[1]}!({found[2]}){found[3]}"
    for found in re.finditer(r"(\w+)\((\w+), (\w+)([,)])", line):
        if outside_of_strings(line, found.start()) and found[2] != found[3] and not re.match(r"\s*(const )?\w[\w:<>]* \w+\(\w+ ", line):
            yield "exchange", line[: found.start()] + f"{found[1]}({found[3]}, {found[2]}{found[4]}" + line[found.end():]
    if re.match(r"^\s+[\w.\->:\[\]*]+\(.*\);$", line) or re.match(r"^\s+[\w.\->:\[\]()]+ [+|&]?= .*;$", line):
        yield "left out", re.match(r"\s*", line).group() + ";"


def faults_of(floor):
    """All faults of the sources of a floor, prices and messages aside."""
    for path in sorted((ROOT / "tc" / floor).rglob("*.cpp")):
        if ASIDE.search(path.name):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith(" ") and not SILENT.search(line):
                for kind, after in replacements(line):
                    yield Fault(floor, path, number, kind, line, after)


def drawn(floors, seed):
    """Faults without end: a floor in turn, a kind by chance, a place by chance."""
    source = random.Random(seed)
    faults = {}
    for floor in floors:
        for fault in faults_of(floor):
            faults.setdefault(floor, {}).setdefault(fault.kind, []).append(fault)
    while True:
        for floor in floors:
            kind = source.choice(sorted(faults[floor]))
            yield source.choice(faults[floor][kind])


def run(command, limit):
    """The exit status, None where the time limit ended it, and the seconds it took."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
        return done.returncode, time.monotonic() - start
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - start


def tests_pass(build, tests, limit):
    return run([f"{build}/bin/{tests}_test", "--gtest_brief=1", "--gtest_fail_fast"], limit)


def outcome(fault, build, limits, then):
    """`does not compile`, `killed` by which tests, or `survived`."""
    text = fault.path.read_text(encoding="utf-8")
    lines = text.split("\n")
    assert lines[fault.line - 1] == fault.before
    lines[fault.line - 1] = fault.after
    try:
        fault.path.write_text("\n".join(lines), encoding="utf-8")
        for tests in [FLOORS[fault.floor], *then]:
            if run(["ninja", "-C", build, f"{tests}_test"], 1800)[0] != 0:
                return "does not compile"
            if tests_pass(build, tests, limits[tests])[0] != 0:
                return f"killed by {tests}"
        return "survived"
    finally:
        fault.path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="faults that compile")
    parser.add_argument("--floor", choices=FLOORS, action="append")
    parser.add_argument("--then", action="append", default=[], help="a further test program that survivors meet: programs, engine, fuzz")
    parser.add_argument("--build", default="build")
    parser.add_argument("--list", type=int, default=0)
    asked = parser.parse_args()
    floors = asked.floor or list(FLOORS)
    faults = drawn(floors, asked.seed)
    if asked.list:
        print("\n".join(str(next(faults)) for _ in range(asked.list)))
        return
    limits = {}
    for tests in dict.fromkeys([*(FLOORS[floor] for floor in floors), *asked.then]):
        run(["ninja", "-C", asked.build, f"{tests}_test"], 3600)
        status, seconds = tests_pass(asked.build, tests, 1800)
        assert status == 0, f"{tests}_test fails without a fault"
        limits[tests] = 3 * seconds + 30
    results = []
    while len(results) < asked.count:
        fault = next(faults)
        result = outcome(fault, asked.build, limits, asked.then)
        print(f"{result}: {fault}", flush=True)
        with open(ROOT / asked.build / "mutants.tsv", "a", encoding="utf-8") as log:
            log.write(f"{asked.seed}\t{result}\t{fault}\n")
        if result != "does not compile":
            results.append((fault, result))
    print("\n| floor | faults | killed |\n|---|---|---|")
    for floor in floors:
        of_floor = [result for fault, result in results if fault.floor == floor]
        print(f"| {floor} | {len(of_floor)} | {sum(result != 'survived' for result in of_floor)} |")
    killed = sum(result != "survived" for _, result in results)
    print(f"\n{killed} of {len(results)} killed. Survivors:")
    print("\n".join(f"* {fault}" for fault, result in results if result == "survived"))


if __name__ == "__main__":
    main()
