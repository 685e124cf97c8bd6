"""In an environment without torch: a product on arrays of NumPy."""

import importlib.util

import numpy
import tensor_comprehensions as tc

assert importlib.util.find_spec("torch") is None
assert "environment" in tc.__file__, tc.__file__
T = tc.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
A, B = numpy.ones((3, 4), "float32"), numpy.ones((4, 5), "float32")
assert (numpy.asarray(T.mm(A, B)) == 4).all()
