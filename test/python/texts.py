"""Texts that several tests define."""

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
TWO = "def two(float(N) A) -> (B, C) { B(n) = A(n) * 2 C(n) = A(n) + 1 }"
ADD = "def add(float(M,N) A, float(M,N) B) -> (C) { C(m,n) = A(m,n) + B(m,n) }"
