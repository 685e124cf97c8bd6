"""The faults that tools/mutants.py plants."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

import mutants  # noqa: E402


def changed(line):
    return {kind: after for kind, after in mutants.replacements(line)}


def test_what_is_changed_in_a_line():
    assert changed("    if (a < b && c) return;")["comparison"] == "    if (a <= b && c) return;"
    assert changed("    if (a < b && c) return;")["logic"] == "    if (a < b || c) return;"
    assert changed("    if (a < b && c) return;")["negation"] == "    if (!(a < b && c)) return;"
    assert changed("    rounds();") == {"left out": "    ;"}
    assert changed("    int x = f(a, b) + 3;")["exchange"] == "    int x = f(b, a) + 3;"
    assert changed("    int x = f(a, b) + 3;")["constant"] == "    int x = f(a, b) + 4;"
    assert changed('    text = "a < b";') == {"left out": "    ;"}


def test_each_floor_has_faults_and_a_seed_names_them():
    first, again = (mutants.drawn(["graph", "layout"], 3) for _ in range(2))
    faults = [next(first) for _ in range(6)]
    assert faults == [next(again) for _ in range(6)] and [fault.floor for fault in faults[:2]] == ["graph", "layout"]
    for fault in faults:
        assert fault.path.read_text(encoding="utf-8").split("\n")[fault.line - 1] == fault.before != fault.after


def test_a_fault_is_taken_back(monkeypatch):
    fault, written = next(mutants.drawn(["graph"], 1)), []
    monkeypatch.setattr(mutants, "run", lambda command, limit: (0, 0.0))
    monkeypatch.setattr(mutants.pathlib.Path, "write_text", lambda self, text, encoding: written.append(text))
    assert mutants.outcome(fault, "build", {"graph": 1}, []) == "survived"
    assert written[0] != written[1] == fault.path.read_text(encoding="utf-8")
