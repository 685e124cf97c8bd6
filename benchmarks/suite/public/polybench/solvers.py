"""PolyBench's solvers. A loop of the language reads what is written already, or a tensor that has a value before the loop: so sums over
the columns that are done run over whole rows of a tensor that begins with zeros."""

import numpy as np

from ..program import Program


def positive_definite(arrays):
    """The first matrix becomes a symmetric one with a diagonal that dominates."""
    a = arrays[0]
    return [a + a.T + 8 * len(a) * np.eye(len(a)), *arrays[1:]]


def unit_lower(arrays):
    """The first matrix becomes a lower one with a diagonal of ones and few other entries: its solutions are small whole numbers."""
    a = arrays[0]
    return [np.tril(np.where(a == 1, 1.0, 0.0), -1) * (np.arange(len(a)) % 3 == 0) + np.eye(len(a)), *arrays[1:]]


def small_entries(arrays):
    """Entries of a sequence that Durbin's recurrence is stable for."""
    return [arrays[0] / (8 * len(arrays[0])), *arrays[1:]]


def full_rank(arrays):
    """A matrix with columns that are far from each other's span."""
    a = arrays[0]
    return [a + 8 * np.eye(*a.shape), *arrays[1:]]


def cholesky(a):
    work = a.copy()
    for k in range(len(a)):
        work[k, k] = np.sqrt(work[k, k])
        work[k + 1:, k] /= work[k, k]
        work[k + 1:, k + 1:] -= np.outer(work[k + 1:, k], work[k + 1:, k])
    return (np.tril(work),)


def lu(a):
    work = a.copy()
    for k in range(len(a)):
        work[k + 1:, k] /= work[k, k]
        work[k + 1:, k + 1:] -= np.outer(work[k + 1:, k], work[k, k + 1:])
    return (work,)


def ludcmp(a, b):
    (work,), n = lu(a), len(a)
    y, x = np.zeros(n), np.zeros(n)
    for i in range(n):
        y[i] = b[i] - work[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - work[i, i + 1:] @ x[i + 1:]) / work[i, i]
    return (x,)


def trisolv(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return (x,)


def durbin(r):
    y = np.zeros(len(r))
    y[0] = alpha = -r[0]
    beta = 1.0
    for k in range(1, len(r)):
        beta *= 1 - alpha * alpha
        alpha = -(r[k] + r[k - 1::-1][:k] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1::-1][:k]
        y[k] = alpha
    return (y,)


def gramschmidt(a):
    work, n = a.copy(), a.shape[1]
    q, r = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(work[:, k] @ work[:, k])
        q[:, k] = work[:, k] / r[k, k]
        r[k, k + 1:] = q[:, k] @ work[:, k + 1:]
        work[:, k + 1:] -= np.outer(q[:, k], r[k, k + 1:])
    return q, r


FACTORS = """
  U(k,j) = double(0) where k in 0:N, j in 0:N
  L(i,k) = double(0) where i in 0:N, k in 0:N
  for k in 0:N {
    S(k,j) +=! L(k,p) * U(p,j)
    U(k,j) = j >= k ? A(k,j) - S(k,j) : 0
    R(i,k) +=! L(i,p) * U(p,k)
    L(i,k) = i > k ? (A(i,k) - R(i,k)) / U(k,k) : 0
  }"""

PROGRAMS = [
    Program("cholesky", """
def cholesky(double(N,N) A) -> (L) {
  L(i,k) = double(0) where i in 0:N, k in 0:N
  for k in 0:N {
    S(i,k) +=! L(i,p) * L(k,p)
    D(k) = sqrt(A(k,k) - S(k,k))
    L(i,k) = i > k ? (A(i,k) - S(i,k)) / D(k) : i == k ? D(k) : 0
  }
}""", cholesky, dict(N=7), ((7, 7),), dict(N=400), exact=False, prepare=positive_definite),
    Program("lu", "\ndef lu(double(N,N) A) -> (O) {" + FACTORS + """
  O(i,j) = i > j ? L(i,j) : U(i,j)
}""", lu, dict(N=7), ((7, 7),), dict(N=400), exact=False, prepare=positive_definite),
    Program("ludcmp", "\ndef ludcmp(double(N,N) A, double(N) b) -> (X) {" + FACTORS + """
  Y(i) = double(0) where i in 0:N
  for i in 0:N {
    F(i) +=! L(i,p) * Y(p)
    Y(i) = b(i) - F(i)
  }
  Z(i) = double(0) where i in 0:N
  for i in 0:N {
    G(i) +=! U(N-1-i,N-1-p) * Z(p) where p in 0:N
    Z(i) = (Y(N-1-i) - G(i)) / U(N-1-i,N-1-i)
  }
  X(i) = Z(N-1-i) where i in 0:N
}""", ludcmp, dict(N=7), ((7,),), dict(N=400), exact=False, prepare=positive_definite),
    Program("trisolv", """
def trisolv(double(N,N) L, double(N) b) -> (X) {
  X(i) = double(0) where i in 0:N
  for i in 0:N {
    S(i) +=! j < i ? L(i,j) * X(j) : 0
    X(i) = (b(i) - S(i)) / L(i,i)
  }
}""", trisolv, dict(N=9), ((9,),), dict(N=2000), prepare=unit_lower),
    Program("durbin", """
def durbin(double(N) r) -> (double(N) Z) {
  Y(k,i) = double(0) where k in 0:N, i in 0:N
  alpha(k) = double(0) where k in 0:N
  beta(k) = double(1) where k in 0:N
  for k in 0:N {
    beta(k) = k >= 1 ? (1 - alpha(k-1) * alpha(k-1)) * beta(k-1) : 1
    S(k) +=! i < k ? r(k-1-i) * Y(k-1,i) : 0 where i in 0:N
    alpha(k) = -(r(k) + S(k)) / beta(k)
    Y(k,i) = i == k ? alpha(k) : i < k ? Y(k-1,i) + alpha(k) * Y(k-1,k-1-i) : 0
  }
  Z(i) = Y(N-1,i)
}""", durbin, dict(N=9), ((9,),), dict(N=2000), exact=False, prepare=small_entries),
    Program("gramschmidt", """
def gramschmidt(double(M,N) A) -> (Q, R) {
  V(k,i,j) = A(i,j) where k in 0:N+1
  for k in 1:N+1 {
    nrm(k) +=! V(k-1,i,k-1) * V(k-1,i,k-1)
    P(k,i) = V(k-1,i,k-1) / sqrt(nrm(k))
    D(k,j) +=! P(k,i) * V(k-1,i,j)
    V(k,i,j) = j >= k ? V(k-1,i,j) - P(k,i) * D(k,j) : V(k-1,i,j)
  }
  Q(i,j) = P(j+1,i) where j in 0:N
  R(i,j) = i == j ? sqrt(nrm(i+1)) : i < j ? D(i+1,j) : 0 where i in 0:N
}""", gramschmidt, dict(M=8, N=6), ((8, 6), (6, 6)), dict(M=240, N=200), exact=False, prepare=full_rank),
]
