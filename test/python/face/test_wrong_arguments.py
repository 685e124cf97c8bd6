"""Arguments of wrong types and values, objects that throw or change others: errors are typed, and nothing crashes."""

import copyreg
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest
import torch

import tensor_comprehensions as tc
from tensor_comprehensions import _core

T = tc.define(
    "def add(float(M,N) A, float(M,N) B) -> (O) { O(m,n) = A(m,n) + B(m,n) }\n"
    "def two(float(M) A) -> (O, P) { O(m) = A(m) + 1  P(m) = A(m) * 2 }"
)
A = torch.ones(2, 3)


def in_a_process(text):
    """Runs Python in a process of its own, which must end by itself."""
    head = f"import sys; sys.path[:] = {sys.path!r}\nimport numpy, threading, tensor_comprehensions as tc\n"
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(text)], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_a_list_of_outputs_that_a_tensor_changes():
    in_a_process("""
        T = tc.define("def two(float(M) A) -> (O, P) { O(m) = A(m) + 1  P(m) = A(m) * 2 }")
        outputs = []

        class Clearing:
            array = numpy.ones(100_000, "float32")
            def __dlpack_device__(self): return self.array.__dlpack_device__()
            def __dlpack__(self, **how):
                outputs.clear()
                return self.array.__dlpack__(**how)

        run = tc.compile(T.two, Clearing.array)
        for call in (T.two, run, lambda a, out: run.profile(a, out=out), T.two._run, lambda a, out: tc.compile(T.two, a, out=out)):
            outputs += [numpy.zeros(100_000, "float32") for _ in range(2)]
            first = outputs[0]
            call(Clearing(), out=outputs)
            assert outputs == []
        assert first is not None
    """)


def test_a_list_of_outputs_that_another_thread_changes():
    in_a_process("""
        T = tc.define("def two(float(M) A) -> (O, P) { O(m) = A(m) + 1  P(m) = A(m) * 2 }")
        a, outputs, ends = numpy.ones(200_000, "float32"), [], threading.Event()

        def change():
            while not ends.is_set():
                outputs.clear()
                outputs.extend(numpy.zeros(200_000, "float32") for _ in range(2))

        other = threading.Thread(target=change)
        other.start()
        for _ in range(300):
            try:
                T.two(a, out=outputs)
            except tc.ArgumentError:
                pass  # it was empty
        ends.set()
        other.join()
    """)


def test_a_list_of_outputs_is_given_back():
    outputs = [torch.zeros(3), torch.zeros(3)]
    assert T.two(torch.ones(3), out=outputs) is outputs
    assert torch.equal(outputs[0], torch.full((3,), 2.0)) and torch.equal(outputs[1], outputs[0])


@pytest.mark.parametrize("strides", [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_an_output_whose_elements_share_memory_is_refused_before_the_compile(strides):
    out = torch.zeros(9).as_strided((2, 3), strides)
    for call in (lambda: T.add(A, A, out=out), lambda: tc.compile(T.add, A, A, out=tc.spec((2, 3), "float32", strides), time_limit=1e-9)):
        with pytest.raises(tc.ArgumentError, match="output 'O' has elements that share memory"):
            call()


@pytest.mark.parametrize("call", [
    lambda text: tc.define(text),
    lambda text: tc.define("def f(float A) -> (B) { B = A }", name=text),
    lambda text: tc.compile(T.add, A, A, target=text),
    lambda text: tc.compile(T.add, A, A, options=text),
    lambda text: tc.compile(T.add, A, A, libraries=text),
    lambda text: tc.compile(T.add, A, A, layouts=text),
    lambda text: tc.compile(T.add, A, A, schedule=text),
    lambda text: tc.compile(T.add, A, A, constants=[text]),
    lambda text: tc.spec((2, 3), text),
    lambda text: tc.layout(text),
    lambda text: tc.grad(T.add, [text]),
    lambda text: tc.MappingOptions(fusion=text),
    lambda text: tc.MappingOptions(parallel_along=[text]),
])  # fmt: skip
def test_texts_that_are_no_unicode(call):
    with pytest.raises((tc.ArgumentError, tc.OptionsError)):
        call("a\ud800b")


def test_limits_beyond_all_memory_and_numbers_that_are_none():
    assert tc.compile(T.add, A, A, memory_limit=1e30, time_limit=1e300, cache=False)
    for name, value in (("memory_limit", "much"), ("memory_limit", float("nan")), ("time_limit", "long"), ("derive", 1.5), ("derive", 2**70), ("partition", 3)):
        with pytest.raises(tc.OptionsError, match=name.replace("_", ".")):
            tc.compile(T.add, A, A, **{name: value})


class Odd:
    """A tensor whose DLPack functions do as they are told."""

    def __init__(self, device, capsule):
        self._device, self._capsule = device, capsule

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **how):
        return self._capsule(**how)


@pytest.mark.parametrize("device", ["cpu", None, (1,), (1, 0, 0), (2**70, 0), ("cpu", 0), 1])
def test_a_device_that_is_none(device):
    with pytest.raises(tc.ArgumentError, match="__dlpack_device__ of 'A' gave no pair of integers"):
        T.add(Odd(device, A.__dlpack__), A)


@pytest.mark.parametrize("thrown", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_goes_through_dlpack(thrown):
    def throw(**_):
        raise thrown

    with pytest.raises(thrown):
        T.add(Odd((1, 0), throw), A)


def test_errors_whose_text_is_an_error():
    class Silent(Exception):
        def __str__(self):
            raise ValueError("no text")

    def throw(**_):
        raise Silent

    with pytest.raises(tc.ArgumentError, match="'A' does not give its memory: a Silent"):
        T.add(Odd((1, 0), throw), A)


def test_a_capsule_is_taken_once():
    """As DLPack says: a capsule that was read is used, and frees nothing a second time."""
    array = numpy.ones((2, 3), "float32")
    capsule = array.__dlpack__()
    assert numpy.array_equal(T.add(Odd((1, 0), lambda **_: capsule), A), A + 1)
    with pytest.raises(tc.ArgumentError, match="one that was used"):
        T.add(Odd((1, 0), lambda **_: capsule), A)


CLASSES = [value for value in vars(_core).values() if isinstance(value, type) and not issubclass(value, Exception)]


@pytest.mark.parametrize("kind", [*CLASSES, tc.Executable, tc.Function, tc.Gradient], ids=lambda kind: kind.__module__ + "." + kind.__name__)
def test_objects_whose_init_did_not_run(kind):
    made = kind.__new__(kind)
    for name in dir(kind):
        member = getattr(kind, name)
        if name.startswith("__") and name not in ("__call__", "__repr__", "__str__", "__hash__", "__eq__", "__getstate__", "__reduce_ex__"):
            continue
        arguments = [2] if name == "__reduce_ex__" else [made] if name == "__eq__" else []
        try:
            member(made, *arguments) if callable(member) else getattr(made, name)
        except (tc.ArgumentError, TypeError, AttributeError):
            pass
    for call in (lambda: T.add(made, A), lambda: tc.compile(made), lambda: tc.compile(T.add, made, made), lambda: tc.grad(made)):
        with pytest.raises(tc.Error):
            call()


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_methods_of_none(kind):
    """pybind11 takes None for a null pointer, and a method bound by its address for one of that."""
    for name, member in vars(kind).items():
        for function in (getattr(kind, name), getattr(member, "fget", None), getattr(member, "fset", None)):
            for arguments in [(None,), (None, None)] if callable(function) and not isinstance(function, type) else []:
                try:
                    function(*arguments)
                except (tc.ArgumentError, TypeError, AttributeError):
                    pass


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_by_all_protocols(protocol):
    for value in (tc.MappingOptions("tile=8"), tc.spec((2, 3)), T.add):
        assert str(pickle.loads(pickle.dumps(value, protocol))) == str(value)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(tc.layout("split(1, 4)"), protocol)


@pytest.mark.parametrize("value", [tc.spec((2, 3)), T.add, tc.layout("split(1, 4)")], ids=lambda value: type(value).__name__)
def test_objects_of_the_base_of_all_classes(value):
    base = next(kind for kind in type(value).__mro__ if kind.__name__ == "pybind11_object")
    made = [lambda: object.__reduce__(value), lambda: copyreg._reduce_ex(value, 0), base, type("Derived", (base,), {}), lambda: base.__new__(base)]
    for make in made:
        with pytest.raises(TypeError, match="no class of C\\+\\+ stands behind it"):
            make()


@pytest.mark.parametrize("state", [(), (1,), ("a", 2, 3, 4), (1, 2, 3), None, [b""] * 3])
def test_states_that_are_none(state):
    for kind in (tc.TensorSpec, tc.MappingOptions):
        with pytest.raises(tc.ArgumentError, match="__setstate__' does not take"):
            kind.__new__(kind).__setstate__(state)


def test_wrong_types_say_who_takes_what():
    with pytest.raises(tc.ArgumentError, match=r"'Layout.split' does not take \(dim: str, tuple\)"):
        tc.layout.split("x")
    with pytest.raises(tc.ArgumentError, match="int of more than 63 bits"):
        tc.layout.pad(0, 2**70, 1)


@pytest.mark.parametrize("domain", ["{ S[i] }", "{ S0[m, n] : 0 <= m <= 1 and 0 <= n <= 1 }", "{ O[m, n] : 0 <= m <= 1 and 0 <= n <= 2 }", "{ }"])
def test_a_schedule_of_other_instances(domain):
    with pytest.raises(tc.OptionsError, match="the replacement of stage 'schedule' is no schedule of this program"):
        tc.compile(T.add, A, A, schedule=f'domain: "{domain}"')


def test_threads_may_pass_a_list_that_grows():
    """Items are taken once: what is appended behind them is of no call."""
    names, ends = ["A"], threading.Event()

    def grow():
        while not ends.is_set():
            names.append("B")
            del names[1:]

    other = threading.Thread(target=grow)
    other.start()
    try:
        for _ in range(50):
            assert tc.grad(T.add, names).wrt in (("A",), ("A", "B"))
    finally:
        ends.set()
        other.join()
