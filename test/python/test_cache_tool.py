"""The program tc_cache, as a person at a terminal uses it."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tensor_comprehensions as tc

TOOL = pathlib.Path(tc._core.__file__).resolve().parents[2] / "bin" / "tc_cache"
A = np.ones((3, 4), np.float32)
B = np.ones((4, 5), np.float32)
MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def run(*words, code=0, folder=None):
    """What the tool prints; on errors, what it says of them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TC_CACHE")}
    if folder is not None:
        environment["TC_CACHE_DIR"] = str(folder)
    result = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, env=environment)
    assert result.returncode == code, result.stdout + result.stderr
    assert bool(result.stderr) == (code != 0 and not result.stdout)
    return result.stdout or result.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with three entries of options for one key, and code that was compiled under the laws."""
    monkeypatch.setenv("TC_VERIFY", "1")
    cache = tc.cache.Cache(tmp_path / "cache")
    T = tc.define(MM)
    cache.record(T.mm, A, B, options="tile=4x4", measured=tc.cache.Measurement(2e6, checked=True, machine="a machine"))
    cache.record(T.mm, A, B, options="tile=8x8", measured=tc.cache.Measurement(1500.0))
    cache.inject(T.mm, A, B, options="tile=2x2", note="by hand")
    tc.compile(T.mm, A, B, cache=cache, options="tuned")
    return tmp_path / "cache"


def test_help_says_all():
    text = run("--help")
    for word in "ls show stat verify merge export import remove gc --dir --json --recompile --best_only --max_size --keep".split():
        assert f"  {word}" in text
    assert run(code=2) == text == run("help")


def test_ls(folder):
    lines = run("ls", folder=folder).splitlines()
    assert lines == run("ls", f"--dir={folder}").splitlines()
    assert lines[0].startswith("def i0(float32(i1, i2) i3") and lines[1].startswith("  float32(3, 4), float32(4, 5) -> ")
    assert [line.split()[1:] for line in lines[2:5]] == [["injected", "tile=2x2"], ["1.50", "us", "tile=8x8"], ["2.00", "ms", "tile=4x4"]]
    assert lines[5] == "machine code" and "def mm(float32(M, K) A" in lines[6] and lines[6].endswith("tile=2x2")
    assert "another build" not in lines[6]
    entries = [json.loads(line) for line in run("ls", "--json", folder=folder).splitlines()]
    assert [entry["options"] for entry in entries] == ["tile=2x2", "tile=8x8", "tile=4x4", "tile=2x2"]
    assert entries[1]["median_ns"] == 1500 and entries[0]["injected"] and entries[3]["this_build"]


def test_show(folder):
    identity = run("ls", folder=folder).splitlines()[4].split()[0]
    text = run("show", identity, folder=folder)
    assert "options       tile=4x4\n" in text and "machine       a machine\n" in text and "median_ns     2.00 ms\n" in text
    code = run("ls", folder=folder).splitlines()[6].split()[0]
    text = run("show", code, folder=folder)
    assert "C(m, n) +=! A(m, k) * B(k, n)" in text and "for (" in text and "verified      yes" in text
    assert "there is no entry 'zz'" in run("show", "zz", folder=folder, code=1)
    assert "takes the ids" in run("show", folder=folder, code=2)


def test_stat_and_verify(folder):
    assert json.loads(run("stat", "--json", folder=folder))["options"] == 3
    assert "options       3 files" in run("stat", folder=folder)
    assert run("verify", folder=folder) == run("verify", "--recompile", folder=folder) == ""
    file = next((folder / "options").rglob("*.options"))
    file.write_bytes(file.read_bytes()[:-1])
    assert run("verify", folder=folder, code=1) == f"'{file}' is damaged\n"
    assert run("gc", folder=folder).startswith("1 files removed")
    assert run("verify", folder=folder) == ""


def test_merge_export_import(folder, tmp_path):
    into = tmp_path / "into"
    assert run("merge", folder, f"--dir={into}") == f"{folder}: 3 new, 0 known\n"
    assert run("merge", folder, f"--dir={into}") == f"{folder}: 0 new, 3 known\n"
    file = tmp_path / "file"
    assert run("export", file, "--best_only", f"--dir={folder}") == f"1 entries written to {file}\n"
    assert run("import", file, f"--dir={tmp_path / 'third'}") == f"{file}: 1 new, 0 known\n"
    assert "machine code" not in run("ls", f"--dir={into}")
    assert "is not, whole, an export" in run("import", __file__, f"--dir={into}", code=2)
    assert "there is no folder" in run("merge", tmp_path / "nothing", f"--dir={into}", code=2)


def test_remove(folder):
    identity = run("ls", folder=folder).splitlines()[2].split()[0]
    assert run("remove", identity, folder=folder) == ""
    assert identity not in run("ls", folder=folder)
    assert "there is no entry" in run("remove", identity, folder=folder, code=1)
    assert "too short" in run("remove", "a", folder=folder, code=2)


@pytest.mark.parametrize("command", ["ls", "show 12", "stat", "verify", "export file", "remove 12", "gc"])
def test_a_folder_that_is_not_there_is_said(command, tmp_path):
    assert "there is no folder" in run(*command.split(), folder=tmp_path / "nothing", code=2)
    assert not (tmp_path / "nothing").exists()


def test_gc(folder):
    T = tc.define(MM)
    tc.cache.Cache(folder).record(T.mm, A, B, options="tile=16x16", measured=tc.cache.Measurement(3e6, checked=True, machine="a machine"))
    assert run("gc", "--keep=1", "--max_size=0", folder=folder).startswith("2 files removed"), "the slower one of its machine, and the code"
    assert [json.loads(line)["options"] for line in run("ls", "--json", folder=folder).splitlines()] == ["tile=2x2", "tile=8x8", "tile=4x4"]
    assert "must be a number of bytes" in run("gc", "--max_size=much", folder=folder, code=2)


def test_what_is_not_understood():
    assert "there is no command 'tidy'" in run("tidy", code=2)
    assert "ls takes no arguments" in run("ls", "more", code=2)


def test_nothing_commands_the_terminal(folder, tmp_path):
    strange = tmp_path / "a\x1b[2Jb\x9b31m"
    folder.rename(strange)
    file = next((strange / "options").rglob("*.options"))
    file.write_bytes(file.read_bytes()[:-1])
    shown = str(tmp_path / "a\\x1b[2Jb\\u009b31m")
    for words, code in [("ls", 0), ("stat", 0), ("verify", 1), (f"merge {strange} --dir={tmp_path / 'into'}", 0), ("show \x1b[2J", 1)]:
        text = run(*words.split(" "), folder=strange, code=code)
        assert text and not set(text) & {"\x1b", "\x9b"}, words
    assert shown in run("verify", folder=strange, code=1)
    assert json.loads(run("stat", "--json", folder=strange))["folder"] == str(strange)
    assert run("stat", "--json", folder=strange).isascii()


def test_export_replaces_no_other_file(folder, tmp_path):
    mine = tmp_path / "mine.cpp"
    mine.write_text("int main() {}")
    assert f"'{mine}' is not replaced: it holds something else" in run("export", mine, folder=folder, code=2)
    assert mine.read_text() == "int main() {}"
    assert "it is no regular file" in run("export", "/dev/null", folder=folder, code=2)
    assert run("export", tmp_path / "tuned", folder=folder) == run("export", tmp_path / "tuned", folder=folder)


def test_gc_refuses_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert "nothing is removed" in run("gc", "--max_size=0", folder=tmp_path / "link", code=2)
    assert "is a link" in run("gc", "--max_size=0", f"--dir={tmp_path / 'link'}/", code=2)
    assert len(run("ls", folder=folder).splitlines()) == 7
