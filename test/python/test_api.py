"""The package's face: define, call, infer, compile, options, errors."""

import pickle
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

import tensor_comprehensions as tc
from texts import MM, TWO


def test_define_and_call():
    T = tc.define(MM + "\n" + TWO)
    assert list(T) == ["mm", "two"] and len(T) == 2 and T["mm"] is T.mm
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    torch.testing.assert_close(T.mm(a, b), a @ b)
    x, y = T.two(torch.ones(4))
    assert x.tolist() == [2.0] * 4 and y.tolist() == [2.0] * 4
    with pytest.raises(AttributeError, match="defines: mm, two"):
        T.nn


def test_compiles_once_per_shape_and_stride():
    T = tc.define(MM)
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    T.mm(a, b), T.mm(b.T[:, :7].contiguous()[:5], b), T.mm(a, b)
    assert T.mm._compiled_count() == 1
    T.mm(torch.randn(6, 7), b)
    T.mm(torch.randn(7, 5).T, b)
    assert T.mm._compiled_count() == 3


def test_a_function_keeps_what_it_ran_last():
    f = tc.define("def f(float(N) A) -> (O) { O(i) = A(i) * 2 }").f
    assert f.max_compiled == 256
    f.max_compiled = 2
    for n in (3, 4, 3, 5):  # 4 was called longest ago
        assert torch.equal(f(torch.ones(n)), torch.full((n,), 2.0))
    assert f._compiled_count() == 2
    f(torch.ones(3))
    assert f._compiled_count() == 2
    f.max_compiled = 1
    assert f._compiled_count() == 1 and f(torch.ones(4)).tolist() == [2.0] * 4
    for wrong in (0, -1, "many", None):
        with pytest.raises(tc.ArgumentError):
            f.max_compiled = wrong


def test_a_program_that_is_let_go_of_ends_when_nobody_runs_it():
    f = tc.define("def f(float(N,K) A) -> (O) { O(n) +=! A(n,k) }").f
    f.max_compiled = 1
    wrong = []

    def work(n):
        a = torch.ones(n, 1 << 12)
        wrong.extend(n for _ in range(8) if not torch.equal(f(a), a.sum(1)))

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert not wrong and f._compiled_count() == 1


def test_infer():
    T = tc.define("def conv(float(N,H) I, float(K) W) -> (O) { O(n,h) +=! I(n,h+k) * W(k) }\n"
                  "def shift(float(N) I) -> (O) { O(i) = I(i-3) }")
    info = T.conv.infer(tc.spec((2, 9)), torch.randn(3))
    (out,) = info.outputs
    assert (out.name, out.dtype, out.shape, out.strides, out.mins) == ("O", "float32", (2, 7), (7, 1), (0, 0))
    assert info.ranges == ("O(n,h): n in [0, 2), h in [0, 7), k in [0, 3)",)
    assert "O: float32[2, 7]" in str(info)
    assert T.shift.infer(tc.spec((9,))).outputs[0].mins == (3,)
    with pytest.raises(tc.ArgumentError, match=r"the extent of the range of index 'h' would be H - K \+ 1 = -5"):
        T.conv.infer(tc.spec((2, 3)), tc.spec((9,)))


def test_spec():
    spec = tc.spec((3, 4), torch.float64)
    assert (spec.shape, spec.strides, spec.dtype) == ((3, 4), (4, 1), "float64")
    assert tc.spec([2], np.int32).dtype == tc.spec([2], np.dtype("int32")).dtype == "int32"
    assert tc.spec((2,), torch.bool).dtype == tc.spec((2,), np.bool_).dtype == tc.spec((2,), bool).dtype == "bool"
    assert tc.spec((3, 4), "bfloat16", strides=(1, 3)).strides == (1, 3)
    assert pickle.loads(pickle.dumps(spec)) == spec and hash(spec) == hash(tc.spec((3, 4), "float64"))
    with pytest.raises(tc.ArgumentError, match="'float33' is no type of the language"):
        tc.spec((3,), "float33")
    with pytest.raises(tc.ArgumentError, match="has a negative size"):
        tc.spec((-1,))
    with pytest.raises(tc.ArgumentError, match="1 sizes with 2 strides"):
        tc.spec((3,), strides=(1, 1))


def test_compile_gives_an_executable():
    T = tc.define(MM)
    a, b = torch.randn(16, 32), torch.randn(32, 48)
    executable = tc.compile(T.mm, a, tc.spec((32, 48)), target="cpu", options="parallel=0")
    torch.testing.assert_close(executable(a, b), a @ b)
    out = torch.empty(16, 48)
    assert executable(a, b, out=out) is out
    assert "C" in executable.source and "for" in executable.source
    assert {"compile_ms", "stages_ms", "workspace_bytes", "code_bytes", "target"} <= executable.stats.keys()
    stages = list(executable.stats["stages_ms"])
    steps = "lower extract depend schedule choose map generate raise emit build".split()
    assert [stage for stage in stages if stage in steps] == steps
    text = executable.explain()
    for part in ["ranges", "schedule", "loop nest", "assembly", "domain:"]:
        assert part in text
    assert executable.profile(a, b)["total_us"] > 0
    with pytest.raises(tc.ArgumentError, match="was compiled for float32"):
        executable(b, a)


def test_binary_is_loaded_by_another_process(tmp_path):
    T = tc.define(MM)
    executable = tc.compile(T.mm, tc.spec((3, 4)), tc.spec((4, 5)))
    (tmp_path / "mm.bin").write_bytes(executable.binary)
    script = ("import sys, numpy as np, tensor_comprehensions as tc\n"
              "mm = tc.load(open(sys.argv[1], 'rb').read())\n"
              "a, b = np.ones((3, 4), 'f4'), np.ones((4, 5), 'f4')\n"
              "assert (mm(a, b) == 4).all() and 'torch' not in sys.modules\n")
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "mm.bin")], check=True)
    with pytest.raises(tc.ArgumentError, match="the bytes of an executable are damaged"):
        tc.load(executable.binary[:-1])
    with pytest.raises(tc.ArgumentError, match="these are not the bytes of an executable"):
        tc.load(b"")


def test_import_needs_neither_torch_nor_numpy():
    subprocess.run([sys.executable, "-c", "import sys, tensor_comprehensions as tc\n"
                    "tc.define('def f(float(N) A) -> (B) { B(i) = A(i) }')\n"
                    "assert 'torch' not in sys.modules and 'numpy' not in sys.modules"], check=True)


# errors


def test_all_errors_of_a_text_are_found_at_define():
    with pytest.raises(tc.SyntaxError) as caught:
        tc.define("def f(float(N) A) -> (B) { B(i) = A(i }\ndef g(float(N) A) -> (B) { B(i) = }")
    assert len(caught.value.diagnostics) >= 2
    first = caught.value.diagnostics[0]
    assert first.line == 1 and first.column > 30 and re.fullmatch(r"TC\d{3}", first.code) and first.message
    assert "^" in str(caught.value)
    with pytest.raises(tc.SemanticError) as caught:
        tc.define("def f(float(N) A) -> (B) {\n  B(i) = C(i)\n}\ndef g(float(N) A) -> (B) {\n  B(i) = D(i)\n}")
    assert [d.line for d in caught.value.diagnostics][:2] == [2, 5]


def test_hierarchy():
    for error in [tc.SyntaxError, tc.SemanticError, tc.OptionsError, tc.ArgumentError, tc.DeviceError, tc.ResourceError,
                  tc.InternalError]:
        assert issubclass(error, tc.Error) and issubclass(error, Exception)
    assert tc.Error("x").diagnostics == []
    with pytest.raises(tc.OptionsError, match="mapping option 'tile=-1': must be at most 16 sizes"):
        tc.define(MM, options="tile=-1")
    with pytest.raises(tc.OptionsError, match="gpu"):
        tc.define(MM, target="gpu")
    with pytest.raises(tc.OptionsError, match="the number of threads is 0"):
        tc.set_num_threads(0)


@pytest.mark.parametrize("arguments, text", [
    ((torch.ones(2, 3),), "takes 2 tensors"),
    ((torch.ones(2, 3), torch.ones(4, 5)), "K"),
    ((torch.ones(2, 3), torch.ones(3)), "B"),
    ((torch.ones(2, 3), torch.ones(3, 5, dtype=torch.float64)), "'B'.*float32.*float64"),
    ((torch.ones(2, 3), [[1.0]]), "'B' must be a tensor"),
    ((torch.ones(2, 3), 1.0), "'B' must be a tensor"),
    ((torch.ones(2, 3), torch.ones(3, 5, device="meta")), "'B'"),
    ((torch.ones(2, 3), torch.ones(3, 5).to_sparse()), "'B'"),
    ((torch.ones(2, 3), torch.ones(3, 5, dtype=torch.complex64)), "'B'"),
    ((np.ones((2, 3), ">f4"), np.ones((3, 5), "f4")), "'A'"),
])
def test_tensors_that_do_not_fit(arguments, text):
    with pytest.raises(tc.ArgumentError, match=text):
        tc.define(MM).mm(*arguments)


def test_a_tensor_that_requires_grad():
    T = tc.define(MM)
    a, b = torch.randn(2, 3, requires_grad=True), torch.randn(3, 4)
    with pytest.raises(tc.ArgumentError, match="'A' requires grad.*no_grad"):
        tc.compile(T.mm, a.detach(), b)(a, b)
    assert T.mm(a, b).requires_grad
    with torch.no_grad():
        torch.testing.assert_close(T.mm(a, b), a @ b)
    torch.testing.assert_close(T.mm(a.detach(), b), a.detach() @ b)
    parameter = torch.nn.Parameter(torch.randn(2, 3))
    assert T.mm(parameter, b).requires_grad
    with torch.no_grad():
        T.mm(parameter, b)


def test_an_index_outside_its_tensor():
    T = tc.define("def gather(float(E,D) T, int64(N) I) -> (O) { O(n,d) = T(I(n),d) }")
    table, out = torch.randn(5, 3), torch.full((2, 3), 7.0)
    for bad in [5, -1, 2**40, -(2**63)]:
        with pytest.raises(tc.ArgumentError, match="T"):
            T.gather(table, torch.tensor([1, bad]), out=out)
        assert (out == 7).all()
    torch.testing.assert_close(T.gather(table, torch.tensor([1, 4]), out=out), table[[1, 4]])


def test_a_table_of_ten_million_rows():
    T = tc.define("def lut(uint8(E,D) LUT, int64(B) I) -> (O) { O(b,d) = LUT(I(b),d) }\n"
                  "def total(uint8(E,D) LUT, int64(B,L) I) -> (O) { O(b,d) +=! int32(LUT(I(b,l),d)) }")
    table = torch.empty(10_000_000, 300, dtype=torch.uint8)  # memory that is never touched costs nothing
    rows = torch.tensor([0, 7_500_000, 9_999_999, 7_158_279])
    table[rows] = torch.randint(0, 255, (4, 300), dtype=torch.uint8)
    assert torch.equal(T.lut(table, rows), table[rows])
    pairs = rows.view(2, 2)
    assert torch.equal(T.total(table, pairs), table[pairs].int().sum(1, dtype=torch.int32))
    with pytest.raises(tc.ArgumentError, match=r"a value in I is not; I\(0\) is 10000000"):
        T.lut(table, torch.tensor([10_000_000]))


def test_a_precondition_that_does_not_hold():
    T = tc.define("def f(float(N) A, float(M) B) -> (C) { C(i) = A(i) + B(i+2) where i in 0:N }")
    torch.testing.assert_close(T.f(torch.ones(3), torch.ones(5)), torch.full((3,), 2.0))
    with pytest.raises(tc.ArgumentError, match="B"):
        T.f(torch.ones(3), torch.ones(4))


def test_limits():
    T = tc.define(MM)
    with pytest.raises(tc.ResourceError, match="time limit"):
        tc.compile(T.mm, tc.spec((21, 22)), tc.spec((22, 23)), time_limit=1e-6)


def test_a_schedule_given_as_text():
    T = tc.define(MM)
    a, b = torch.randn(5, 7), torch.randn(7, 9)
    first = tc.compile(T.mm, a, b)
    schedule = dict((name, text) for name, _, text in first._stages)["schedule"]
    torch.testing.assert_close(tc.compile(T.mm, a, b, schedule=schedule)(a, b), a @ b)
    with pytest.raises(tc.OptionsError, match="the replacement of stage 'schedule' is not a schedule tree"):
        tc.compile(T.mm, a, b, schedule="domain")


def test_warnings_are_warnings():
    with pytest.warns(UserWarning, match="C"):
        tc.define("def acc(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }", name="warned")


def test_calls_are_quick():
    T = tc.define("def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }")
    a, b = torch.ones(16), torch.ones(16)
    executable = tc.compile(T.add, a, b)
    for function in (T.add, executable):
        best = 1e9
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(200):
                function(a, b)
            best = min(best, (time.perf_counter() - start) / 200)
        assert best < 15e-6


def test_a_fallback_that_costs_speed_is_a_warning():
    with pytest.warns(RuntimeWarning, match="'mm' is compiled to slow code: .* ran out of its quota"):
        tc.compile(tc.define(MM).mm, tc.spec((3, 4)), tc.spec((4, 6)), options="quota=30")


def test_dumps(tmp_path, monkeypatch):
    monkeypatch.setenv("TC_DUMP", str(tmp_path))
    tc.compile(tc.define(MM).mm, tc.spec((3, 4)), tc.spec((4, 6)), options="quota=1999999")
    (schedule,) = (tmp_path / "mm").glob("*_schedule.txt")
    assert schedule.read_text().startswith("domain")


def test_a_gpu_target_compiles_without_a_gpu():
    pytest.importorskip("nvidia.cu13", reason="NVRTC is not installed")
    T = tc.define(MM)
    executable = tc.compile(T.mm, tc.spec((64, 32)), tc.spec((32, 48)), target="cuda:sm_90")
    assert 'extern "C" __global__ void' in executable.source and "const float* __restrict__ A" in executable.source
    assert executable.binary[:4] == b"\x7fELF"
    (kernel,) = executable.stats["kernels"]
    assert kernel["registers"] > 0 and kernel["spill_store_bytes"] == 0 and kernel["opcodes"]["FFMA"] > 0
    assert "CUDA" in executable.explain()
    copy = tc.load(executable.serialise())
    assert copy.source == executable.source and copy.binary == executable.binary


def test_a_gpu_target_says_what_to_do_without_a_driver(monkeypatch):
    pytest.importorskip("nvidia.cu13", reason="NVRTC is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    T = tc.define(MM)
    a, b = torch.ones(16, 32), torch.ones(32, 48)
    executable = tc.compile(T.mm, a, b, target="cuda:sm_80")
    with pytest.raises(tc.DeviceError, match="no CUDA driver was found.*run there, or compile for \"cpu\""):
        executable(a, b)
