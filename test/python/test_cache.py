"""The compilation cache from Python: what a second process finds, options by hand, folders that go wrong."""

import os
import pathlib
import stat
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tensor_comprehensions as tc

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
A, B = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 5), dtype=np.float32)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """The cache of the environment is in a folder of the test's own."""
    monkeypatch.delenv("TC_CACHE_MODE")
    monkeypatch.setenv("TC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(script):
    """What a new process prints."""
    script = f"import numpy as np, tensor_comprehensions as tc\nMM = {MM!r}\nA, B = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)\n{script}"
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.strip()


def files(folder, part):
    return sorted(path for path in (folder / part).rglob("*") if path.is_file())


def test_a_second_process_reads_what_the_first_compiled(folder):
    script = "f = tc.compile(tc.define(MM).mm, A, B, options='cached'); print(f.from_cache, f(A, B).sum())"
    assert run(script) == "False 60.0"
    assert run(script) == "True 60.0"


def test_plain_calls_use_the_cache(folder):
    assert run("print(tc.define(MM).mm(A, B).sum())") == "60.0"
    assert len(files(folder, "code")) == 1
    before = files(folder, "code")[0].stat().st_mtime_ns
    assert run("print(tc.define(MM).mm(A, B).sum(), tc.compile(tc.define(MM).mm, A, B).from_cache)") == "60.0 True"
    assert files(folder, "code")[0].stat().st_mtime_ns == before


def test_modes_of_options(folder):
    T = tc.define(MM)
    with pytest.raises(tc.OptionsError, match="no tuned options for 'mm' with float32\\(3, 4\\).*tune it first"):
        tc.compile(T.mm, A, B, options="tuned")
    tc.cache.inject(T.mm, A, B, options="tile=2x2")
    mine = tc.MappingOptions(tile=[1, 2])
    for options, expected in [("tuned", "tile=2x2"), ("cached", "tile=2x2"), (None, "tile=2x2"), ("default", ""), ("tile=3x3", "tile=3x3"), (mine, "tile=1x2")]:
        kernel = tc.compile(T.mm, A, B, options=options)
        assert str(kernel.options) == expected
        np.testing.assert_array_equal(kernel(A, B), A @ B)


def test_options_of_the_environment_go_before_the_cache(folder, monkeypatch):
    T = tc.define(MM)
    tc.cache.inject(T.mm, A, B, options="tile=2x2")
    monkeypatch.setenv("TC_OPTIONS", "tile=4x4")
    assert str(tc.compile(T.mm, A, B).options) == "tile=4x4"
    assert str(tc.compile(T.mm, A, B, options="cached").options) == "tile=2x2"
    assert str(tc.compile(T.mm, A, B, options="default").options) == ""


def test_calls_take_up_new_options(folder):
    T = tc.define(MM)
    T.mm(A, B)
    count = len(files(folder, "code"))
    tc.cache.inject(T.mm, A, B, options="tile=2x2")
    np.testing.assert_array_equal(T.mm(A, B), A @ B)
    assert len(files(folder, "code")) == count + 1


def test_entries_say_what_is_known(folder):
    T = tc.define(MM)
    assert tc.cache.best(T.mm, A, B) is None
    measured = tc.cache.Measurement(median_ns=1500.0, least_ns=1400.0, runs=31, checked=True, threads=2, machine="m", build="b", taken_at=7)
    tc.cache.record(T.mm, A, B, options="tile=4x4", measured=measured, note="a note")
    tc.cache.record(T.mm, A, B, options="tile=8x8", measured=tc.cache.Measurement(1000.0))
    fast, slow = tc.cache.find(T.mm, A, B)
    assert str(fast.options) == "tile=8x8" and slow.measured == measured and slow.note == "a note"
    assert str(slow) == f"tile=4x4: 1.500 us for float32(3, 4), float32(4, 5) -> float32(3, 5) on {tc.host_target()}"
    tc.cache.inject(T.mm, A, B, options=tc.MappingOptions(tile=[2, 2]))
    assert str(tc.cache.best(T.mm, tc.spec((3, 4)), tc.spec((4, 5))).options) == "tile=2x2"
    assert tc.cache.best(T.mm, A, B, target="cpu:plain") is None
    assert [str(entry.options) for entry in tc.cache.entries()] == ["tile=2x2", "tile=8x8", "tile=4x4"]
    assert tc.cache.stat()["options"]["files"] == 3 and tc.cache.stat()["keys"] == 1


def test_measurements_say_where_and_when(folder):
    T = tc.define(MM)
    measured = tc.cache.Measurement.here(1000.0, runs=5)
    assert measured.threads == tc.get_num_threads() and measured.machine and measured.taken_at > 1.7e9
    tc.cache.record(T.mm, A, B, options="", measured=measured)
    assert tc.cache.best(T.mm, A, B).measured == measured


def test_nearest_shapes(folder):
    T = tc.define(MM)
    square = lambda n: (tc.spec((n, n)), tc.spec((n, n)))
    assert tc.cache.nearest(T.mm, *square(64)) is None
    for n in (32, 128, 1024):
        tc.cache.record(T.mm, *square(n), options=f"tile={n}x{n}", measured=tc.cache.Measurement(n * 1.0))
    near = tc.cache.nearest(T.mm, *square(100))
    assert str(near.options) == "tile=128x128" and near.distance > 0
    assert tc.cache.nearest(T.mm, *square(1024)).distance == 0


def test_names_of_iterators_follow_the_program(folder):
    T = tc.define(MM)
    tc.cache.inject(T.mm, A, B, options="vector_along=n")
    other = tc.define("def f(float(X,Y) P, float(Y,Z) Q) -> (R) { R(a,b) +=! P(a,c) * Q(c,b) }").f
    assert str(tc.cache.best(other, A, B).options) == "vector_along=b"
    assert str(tc.compile(other, A, B).options) == "vector_along=b"


def test_folders_merge_and_travel(folder, tmp_path):
    T = tc.define(MM)
    other = tc.cache.Cache(tmp_path / "other")
    other.inject(T.mm, A, B, options="tile=2x2")
    tc.compile(T.mm, A, B, cache=other)
    assert tc.cache.merge(other.folder) == {"taken": 1, "present": 0, "refused": 0}
    assert tc.cache.merge(other.folder) == {"taken": 0, "present": 1, "refused": 0}
    assert tc.cache.export(tmp_path / "shared") == 1
    third = tc.cache.Cache(tmp_path / "third")
    assert third.import_(tmp_path / "shared")["taken"] == 1
    assert str(third.best(T.mm, A, B).options) == "tile=2x2"
    assert third.code() == [] and len(other.code()) == 1
    with pytest.raises(tc.ArgumentError, match="is not, whole, an export"):
        third.import_(pathlib.Path(__file__))


def test_search_path(tmp_path):
    T = tc.define(MM)
    for name in ("shared", "override"):
        tc.cache.Cache(tmp_path / name).inject(T.mm, A, B, options="tile=2x2" if name == "shared" else "tile=3x3")
    sharing = tc.cache.Cache(tmp_path / "own", shared=[tmp_path / "shared"])
    assert str(sharing.best(T.mm, A, B).options) == "tile=2x2"
    overridden = tc.cache.Cache(tmp_path / "own", shared=[tmp_path / "shared"], override=tmp_path / "override")
    assert str(tc.compile(T.mm, A, B, options="tuned", cache=overridden).options) == "tile=3x3"
    assert not files(tmp_path / "shared", "code") and len(files(tmp_path / "own", "code")) == 1


def test_damage_is_a_warning_and_a_compile(folder):
    run("tc.define(MM).mm(A, B)")
    file = files(folder, "code")[0]
    file.write_bytes(file.read_bytes()[:-1])
    assert "is damaged" in tc.cache.verify()[0]
    T = tc.define(MM, options="default")
    with pytest.warns(RuntimeWarning, match="is damaged"):
        np.testing.assert_array_equal(T.mm(A, B), A @ B)
    assert tc.cache.verify() == []


def test_folders_that_others_may_write_hold_no_code(folder):
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 40 }")
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="machine code is not kept: others may write"):
        T.f(A[0])
    assert not (folder / "code").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T.f(A[1, :2])


def test_code_without_the_signature_of_the_users_key_is_not_run(folder, monkeypatch, tmp_path):
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 39 }", options="default")
    monkeypatch.setenv("TC_CACHE_KEY", str(tmp_path / "another" / "key"))
    T.f(A[0])
    assert stat.S_IMODE(os.stat(tmp_path / "another" / "key").st_mode) == 0o600 and len(tc.cache.code()) == 1
    monkeypatch.delenv("TC_CACHE_KEY")
    assert tc.cache.code() == [] and "is not signed with the key" in tc.cache.verify()[0]
    script = """
import warnings
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 39 }", options="default")
    print(T.f(A[0]).sum(), any("is not signed with the key" in str(each.message) for each in given))
"""
    assert run(script) == "160.0 True"
    assert len(tc.cache.code()) == 1 and tc.cache.verify() == []


def test_a_home_that_cannot_hold_a_key_costs_compiles_only(folder, monkeypatch):
    monkeypatch.setenv("TC_CACHE_KEY", "/proc/nothing/key")
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 38 }")
    with pytest.warns(RuntimeWarning, match="machine code is not kept.*TC_CACHE_KEY names another file"):
        np.testing.assert_array_equal(T.f(A[0]), A[0] + 38)


def test_notes_are_plain_text(folder):
    T = tc.define(MM)
    for note in ("\x1b[2J", "a\rb", "\u202e"):
        with pytest.raises(tc.ArgumentError, match="plain text"):
            tc.cache.inject(T.mm, A, B, options="tile=2x2", note=note)
    with pytest.raises(tc.ArgumentError, match="cannot be written as UTF-8"):
        tc.cache.inject(T.mm, A, B, options="tile=2x2", note="\udcff")
    assert tc.cache.entries() == []
    tc.cache.inject(T.mm, A, B, options="tile=2x2", note="Größe 3 µs")
    assert tc.cache.entries()[0].note == "Größe 3 µs"


def test_a_limit_of_file_sizes_costs_an_entry_only(folder):
    script = """
import resource, warnings
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    print(tc.define(MM).mm(A, B).sum(), any("File too large" in str(each.message) for each in given))
"""
    assert run(script) == "60.0 True"


def test_code_is_of_one_user(folder):
    tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 41 }").f(A[0])
    assert stat.S_IMODE(os.stat(folder / "code").st_mode) == 0o700


def test_the_laws_are_asked_again(folder, monkeypatch):
    monkeypatch.setenv("TC_VERIFY", "1")
    tc.define(MM).mm(A, B)
    tc.compile(tc.define(MM).mm, A, B, options="tile=2x2")
    assert tc.cache.verify(recompile=True) == []
    assert all("schedule" in entry["verified_stages"] for entry in tc.cache.code())


def test_a_cached_kernel_runs_within_5_ms(folder):
    script = """
import time
f = tc.define(MM).mm
start = time.perf_counter()
kernel = tc.compile(f, A, B, options="cached")
kernel(A, B)
print(kernel.from_cache, (time.perf_counter() - start) * 1e3)
"""
    assert run(script).startswith("False")
    for _ in range(40):  # the machine may be busy
        from_cache, milliseconds = run(script).split()
        assert from_cache == "True"
        if float(milliseconds) <= 5:
            return
    pytest.fail(f"{milliseconds} ms")


def test_off_and_read_only(folder, monkeypatch, tmp_path):
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 42 }")
    monkeypatch.setenv("TC_CACHE_MODE", "off")
    T.f(A[0])
    assert tc.cache.environment() is None
    with pytest.raises(tc.OptionsError, match="the cache is off"):
        tc.cache.stat()
    with pytest.raises(tc.OptionsError, match="there is no cache"):
        tc.compile(T.f, A[0], options="tuned")
    monkeypatch.setenv("TC_CACHE_MODE", "ro")
    T.f(A[0, :2])
    assert not folder.exists()
    with pytest.raises(tc.ResourceError, match="only read"):
        tc.cache.inject(T.f, A[0], options="tile=4")
    monkeypatch.setenv("TC_CACHE_MODE", "perhaps")
    with pytest.raises(tc.OptionsError, match="must be rw"):
        tc.cache.stat()
    monkeypatch.setenv("TC_CACHE_MODE", "rw")
    tc.compile(T.f, A[0, :3], cache=False)
    assert not folder.exists()


def test_gc(folder):
    T = tc.define("def f(float(N) X) -> (Y) { Y(n) = X(n) + 43 }")
    for n in range(1, 5):
        T.f(A[0, :n])
    assert tc.cache.gc()["removed"]["files"] == 0
    report = tc.cache.gc(max_size="0")
    assert report["removed"]["files"] == 4 and report["bytes_left"] == 0
    assert tc.cache.code() == []


def test_what_was_injected_can_be_removed(folder):
    T = tc.define(MM)
    T.mm(A, B)
    tc.cache.inject(T.mm, A, B, options="tile=2x2")
    assert str(tc.compile(T.mm, A, B).options) == "tile=2x2"
    (entry,) = tc.cache.entries()
    assert tc.cache.remove(entry.id) == 1 and tc.cache.best(T.mm, A, B) is None
    assert str(tc.compile(T.mm, A, B).options) == ""


def test_explanations_are_of_the_options_in_use(folder):
    T = tc.define(MM)
    tc.cache.inject(T.mm, A, B, options="tile=2x2,parallel=0")
    kernel = tc.compile(T.mm, A, B)
    again = tc.compile(tc.define(MM).mm, A, B, options="tile=2x2,parallel=0")
    assert kernel.explain() == again.explain()
    assert kernel.source == again.source != tc.compile(T.mm, A, B, options="default").source


def test_a_second_process_compiles_nothing_for_a_range_of_sizes(folder):
    script = """
for length in {}:
    f = tc.compile(tc.define(MM).mm, np.ones((length, 4), 'float32'), B, dynamic='M')
    print(f.from_cache, f.stats['sizes'], f(np.ones((length, 4), 'float32'), B).sum(), end='; ')"""
    assert run(script.format("(5,)")) == "False M from 5 to 16 100.0;"
    assert run(script.format("(6, 16)")) == "True M from 5 to 16 120.0; True M from 5 to 16 320.0;"
    assert len(files(folder, "code")) == 1
    (entry,) = tc.cache.Cache(folder).code()
    assert entry["tensors"] == "float32(16, 4), float32(4, 5) -> float32(16, 5), M from 5 to 16"
    assert not tc.cache.Cache(folder).verify(recompile=True)


def test_a_saved_executable_serves_the_sizes_of_its_range():
    mm = tc.define(MM).mm
    saved = tc.compile(mm, A, B, dynamic="M", cache=False).serialise()
    loaded = tc.load(saved)
    assert loaded.stats["sizes"] == "M from 2 to 4"
    assert np.array_equal(loaded(A, B), A @ B)
    other = np.arange(16, dtype=np.float32).reshape(4, 4)
    assert np.array_equal(loaded.for_tensors(other, B)(other, B), other @ B)
    with pytest.raises(tc.ArgumentError, match="this code of 'mm' is for M from 2 to 4, not for 9"):
        loaded.for_tensors(np.ones((9, 4), np.float32), B)
    with pytest.raises(tc.ArgumentError, match="is for the sizes of its tensors alone"):
        tc.compile(mm, A, B, cache=False).for_tensors(A, B)
