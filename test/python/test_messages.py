"""What users write by mistake is answered with what to write instead."""

import numpy as np
import pytest

import tensor_comprehensions as tc

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def says(work, *words, type=tc.ArgumentError):
    with pytest.raises(type) as error:
        work()
    for word in words:
        assert word in str(error.value), str(error.value)


def test_keyword_arguments():
    T = tc.define(MM)
    a, b = np.ones((2, 3), "f4"), np.ones((3, 4), "f4")
    out = np.zeros((2, 4), "f4")
    assert T.mm(A=a, B=b).tolist() == [[3.0] * 4] * 2
    assert T.mm(a, B=b, out=out) is out and out.tolist() == [[3.0] * 4] * 2
    assert T.mm.infer(B=b, A=a).outputs[0].shape == (2, 4)
    executable = tc.compile(T.mm, B=tc.spec((3, 4)), A=tc.spec((2, 3)))
    assert executable(B=b, A=a).tolist() == [[3.0] * 4] * 2
    for call in (T.mm, executable):
        says(lambda: call(a, b, D=b), "no parameter 'D'", "A, B")
        says(lambda: call(a, A=a), "'A'", "twice")
        says(lambda: call(A=a), "'B'", "not given")


def test_a_def_that_is_not_there():
    T = tc.define(MM)
    says(lambda: T["foo"], "no def 'foo'", "mm")
    says(lambda: T["foo"], type=KeyError)
    says(lambda: T.foo, "no def 'foo'", "mm", type=AttributeError)


def test_a_text_where_a_def_is_meant():
    T = tc.define(MM)
    a = np.ones((2, 2), "f4")
    says(lambda: tc.compile(T, a, a), "T.mm")
    says(lambda: T(a, a), "T.mm")
    says(lambda: tc.compile(MM, a, a), "tc.define(text)")
    says(lambda: tc.compile(3, a, a), "int was given")


def test_a_path_where_a_text_is_meant(tmp_path):
    path = tmp_path / "mm.tc"
    path.write_text(MM)
    for given in (path, str(path), "no_such_file.tc"):
        says(lambda: tc.define(given), "not a path", "open(")
    says(lambda: tc.define(3), "takes a text", "int")
    assert tc.define(path.read_text(), name=str(path)).mm.name == "mm"


def test_an_index_out_of_range_names_value_and_place():
    T = tc.define("def take(float(R,D) table, int(N) index) -> (O) { O(n,d) = table(index(n), d) }")
    index = np.array([0, 1, 7, 2], "i4")
    says(lambda: T.take(np.ones((4, 2), "f4"), index), "index(2) is 7", "[0, 4)")


def test_two_sizes_for_one_index_are_a_warning():
    with pytest.warns(UserWarning, match="'k' runs over the smaller of the sizes K and N"):
        tc.define("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }")


def test_define_is_interrupted():
    import _thread
    import threading
    import time

    text = "def f(float(N) A, float(N) B) -> (O) {" + "O(i) = A(i) * 2 + B(i)\n" * 40000 + "}"
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tc.define(text)
        time.sleep(30)  # a machine that was faster than the timer
    assert time.monotonic() - start < 20
    timer.join()


def test_a_quotient_of_python():
    says(lambda: tc.define("def f(int(N) X) -> (Y) { Y(i) = X(i) // 2 }"), "'//' begins a comment", "written with '/'", type=tc.SyntaxError)
    with pytest.warns(UserWarning, match="'//' begins a comment"):
        tc.define("def f(int(N) X) -> (Y) {\n  Y(i) = X(i) // 2\n}")
