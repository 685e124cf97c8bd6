"""PolyBench's products of matrices and vectors, and its two kernels of statistics."""

import numpy as np

from ..program import Program


def gemm(alpha, beta, c, a, b):
    return (alpha * (a @ b) + beta * c,)


def gemver(alpha, beta, a, u1, v1, u2, v2, y, z):
    updated = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * (y @ updated) + z
    return updated, x, alpha * (updated @ x)


def symm(alpha, beta, c, a, b):
    lower = np.tril(a)
    return (beta * c + alpha * ((lower + np.tril(a, -1).T) @ b),)


def lower_part(new, old):
    return np.tril(new) + np.triu(old, 1)


def syrk(alpha, beta, c, a):
    return (lower_part(beta * c + alpha * (a @ a.T), c),)


def syr2k(alpha, beta, c, a, b):
    return (lower_part(beta * c + alpha * (a @ b.T + b @ a.T), c),)


def trmm(alpha, a, b):
    return (alpha * (b + np.tril(a, -1).T @ b),)


def covariance(data):
    centered = data - data.mean(0)
    return (centered.T @ centered / (len(data) - 1),)


def correlation(data):
    deviation = data.std(0)
    deviation = np.where(deviation <= 0.1, 1, deviation)
    scaled = (data - data.mean(0)) / (np.sqrt(len(data)) * deviation)
    result = scaled.T @ scaled
    np.fill_diagonal(result, 1)
    return (result,)


PROGRAMS = [
    Program("gemm", """
def gemm(double alpha, double beta, double(NI,NJ) C, double(NI,NK) A, double(NK,NJ) B) -> (O) {
  O(i,j) = beta * C(i,j)
  O(i,j) += alpha * A(i,k) * B(k,j)
}""", gemm, dict(NI=5, NJ=7, NK=6), ((5, 7),), dict(NI=1000, NJ=1100, NK=1200)),
    Program("gemver", """
def gemver(double alpha, double beta, double(N,N) A, double(N) u1, double(N) v1, double(N) u2, double(N) v2, double(N) y, double(N) z) -> (H, X, W) {
  H(i,j) = A(i,j) + u1(i) * v1(j) + u2(i) * v2(j)
  X(i) +=! H(j,i) * y(j)
  X(i) = beta * X(i) + z(i)
  W(i) +=! H(i,j) * X(j)
  W(i) = alpha * W(i)
}""", gemver, dict(N=9), ((9, 9), (9,), (9,)), dict(N=2000)),
    Program("gesummv", """
def gesummv(double alpha, double beta, double(N,N) A, double(N,N) B, double(N) x) -> (Y) {
  S(i) +=! A(i,j) * x(j)
  Y(i) +=! B(i,j) * x(j)
  Y(i) = alpha * S(i) + beta * Y(i)
}""", lambda alpha, beta, a, b, x: (alpha * (a @ x) + beta * (b @ x),), dict(N=9), ((9,),), dict(N=1300)),
    Program("symm", """
def symm(double alpha, double beta, double(M,N) C, double(M,M) A, double(M,N) B) -> (O) {
  O(i,j) +=! (k <= i ? A(i,k) : A(k,i)) * B(k,j)
  O(i,j) = beta * C(i,j) + alpha * O(i,j)
}""", symm, dict(M=6, N=7), ((6, 7),), dict(M=1000, N=1200)),
    Program("syr2k", """
def syr2k(double alpha, double beta, double(N,N) C, double(N,M) A, double(N,M) B) -> (O) {
  S(i,j) +=! A(j,k) * B(i,k) + B(j,k) * A(i,k)
  O(i,j) = j <= i ? beta * C(i,j) + alpha * S(i,j) : C(i,j)
}""", syr2k, dict(N=7, M=5), ((7, 7),), dict(N=1200, M=1000)),
    Program("syrk", """
def syrk(double alpha, double beta, double(N,N) C, double(N,M) A) -> (O) {
  S(i,j) +=! A(i,k) * A(j,k)
  O(i,j) = j <= i ? beta * C(i,j) + alpha * S(i,j) : C(i,j)
}""", syrk, dict(N=7, M=5), ((7, 7),), dict(N=1200, M=1000)),
    Program("trmm", """
def trmm(double alpha, double(M,M) A, double(M,N) B) -> (O) {
  S(i,j) +=! k > i ? A(k,i) * B(k,j) : 0
  O(i,j) = alpha * (B(i,j) + S(i,j))
}""", trmm, dict(M=6, N=7), ((6, 7),), dict(M=1000, N=1200)),
    Program("2mm", """
def mm2(double alpha, double beta, double(NI,NK) A, double(NK,NJ) B, double(NJ,NL) C, double(NI,NL) D) -> (O) {
  T(i,j) +=! alpha * A(i,k) * B(k,j)
  O(i,l) = beta * D(i,l)
  O(i,l) += T(i,j) * C(j,l)
}""", lambda alpha, beta, a, b, c, d: (alpha * (a @ b) @ c + beta * d,), dict(NI=5, NJ=6, NK=7, NL=8), ((5, 8),),
            dict(NI=800, NJ=900, NK=1100, NL=1200)),
    Program("3mm", """
def mm3(double(NI,NK) A, double(NK,NJ) B, double(NJ,NM) C, double(NM,NL) D) -> (G) {
  E(i,j) +=! A(i,k) * B(k,j)
  F(j,l) +=! C(j,m) * D(m,l)
  G(i,l) +=! E(i,j) * F(j,l)
}""", lambda a, b, c, d: ((a @ b) @ (c @ d),), dict(NI=5, NJ=6, NK=7, NL=8, NM=4), ((5, 8),),
            dict(NI=800, NJ=900, NK=1000, NL=1100, NM=1200)),
    Program("atax", """
def atax(double(M,N) A, double(N) x) -> (Y) {
  T(i) +=! A(i,j) * x(j)
  Y(j) +=! A(i,j) * T(i)
}""", lambda a, x: ((a @ x) @ a,), dict(M=7, N=9), ((9,),), dict(M=1900, N=2100)),
    Program("bicg", """
def bicg(double(N,M) A, double(M) p, double(N) r) -> (S, Q) {
  S(j) +=! r(i) * A(i,j)
  Q(i) +=! A(i,j) * p(j)
}""", lambda a, p, r: (r @ a, a @ p), dict(N=7, M=9), ((9,), (7,)), dict(N=2100, M=1900)),
    Program("doitgen", """
def doitgen(double(NR,NQ,NP) A, double(NP,NP) C4) -> (O) {
  O(r,q,p) +=! A(r,q,s) * C4(s,p)
}""", lambda a, c4: (a @ c4,), dict(NR=3, NQ=4, NP=5), ((3, 4, 5),), dict(NR=150, NQ=140, NP=160)),
    Program("mvt", """
def mvt(double(N,N) A, double(N) x1, double(N) x2, double(N) u, double(N) v) -> (Z1, Z2) {
  Z1(i) = x1(i)
  Z1(i) += A(i,j) * u(j)
  Z2(i) = x2(i)
  Z2(i) += A(j,i) * v(j)
}""", lambda a, x1, x2, u, v: (x1 + a @ u, x2 + v @ a), dict(N=9), ((9,), (9,)), dict(N=2000)),
    Program("covariance", """
def covariance(double(N,M) D) -> (S) {
  mean(j) +=! D(i,j)
  C(i,j) = D(i,j) - mean(j) / N
  S(i,j) +=! C(k,i) * C(k,j)
  S(i,j) = S(i,j) / (N - 1)
}""", covariance, dict(N=8, M=7), ((7, 7),), dict(N=1400, M=1200), exact=False),
    Program("correlation", """
def correlation(double(N,M) D) -> (S) {
  mean(j) +=! D(i,j)
  mean(j) = mean(j) / N
  var(j) +=! (D(i,j) - mean(j)) * (D(i,j) - mean(j))
  dev(j) = sqrt(var(j) / N)
  dev(j) = dev(j) <= 0.1 ? 1 : dev(j)
  C(i,j) = (D(i,j) - mean(j)) / (sqrt(double(N)) * dev(j))
  S(i,j) +=! C(k,i) * C(k,j)
  S(i,j) = i == j ? 1 : S(i,j)
}""", correlation, dict(N=8, M=7), ((7, 7),), dict(N=1400, M=1200), exact=False),
]
