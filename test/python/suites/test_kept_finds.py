"""What `make fuzz` keeps of a test that failed: the reduced program, as a file that test/filetests/programs can hold."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "test" / "fuzz"))

import keep_finds  # noqa: E402

OUTPUT = """test/support/fuzz_run.cpp:66: Failure
Failed
TC_FUZZ_SEED=17 TC_FUZZ_COUNT=1, options 'fusion=max,tile=3', target cpu:avx2,l1=1k, strided
seed 17
def f(float(N,2*M+1) A) -> (B) {
  B(i) +=! A(i,j)
}
M = 4
N = 3
A: [-4, 5) and special values
'B' is 3 at [1] but is to be 4
"""


def test_a_reduced_program_becomes_a_file(tmp_path):
    program, whole = keep_finds.keep(OUTPUT, tmp_path / "finds", "programs", "10", "abc")
    assert program.name == "programs_17.tc" and whole.name == "programs_10.txt"
    assert program.read_text() == (
        "# 'B' is 3 at [1] but is to be 4 (seed 17, strided)\n# run: M=4 N=3\n# data: A -4:5\n# special values: A\n"
        "# options: fusion=max,tile=3\n# target: cpu:avx2,l1=1k\ndef f(float(N,2*M+1) A) -> (B) {\n  B(i) +=! A(i,j)\n}\n"
    )
    assert whole.read_text().startswith("programs from seed 10 at abc\n")


def test_a_crash_is_kept_whole(tmp_path):
    assert [path.name for path in keep_finds.keep("Segmentation fault\n", tmp_path, "loops", "5", "abc")] == ["loops_5.txt"]
