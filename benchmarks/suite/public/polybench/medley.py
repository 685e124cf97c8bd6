"""PolyBench's other kernels: an edge filter, shortest paths, and the folding of a strand of RNA."""

import numpy as np

from ..program import Program


def deriche(a1, a2, a3, a4, b1, b2, image):
    """One pass of the filter along rows and one along columns, each forwards and backwards."""
    def along_rows(x):
        columns = x.shape[1]
        forward, backward = np.zeros_like(x), np.zeros_like(x)

        def at(array, j):
            return array[:, j] if 0 <= j < columns else 0

        for j in range(columns):
            forward[:, j] = a1 * x[:, j] + a2 * at(x, j - 1) + b1 * at(forward, j - 1) + b2 * at(forward, j - 2)
        for j in range(columns - 1, -1, -1):
            backward[:, j] = a3 * at(x, j + 1) + a4 * at(x, j + 2) + b1 * at(backward, j + 1) + b2 * at(backward, j + 2)
        return forward + backward

    return (along_rows(along_rows(image).T).T,)


def floyd_warshall(path):
    path = path.copy()
    for k in range(len(path)):
        path = np.minimum(path, path[:, k:k + 1] + path[k:k + 1, :])
    return (path,)


def nussinov(strand):
    n = len(strand)
    spans = np.zeros((n, n), np.int32)
    for d in range(1, n):
        i = np.arange(n - d)
        best = np.maximum(spans[d - 1, i], spans[d - 1, i + 1])
        if d >= 2:
            best = np.maximum(best, spans[d - 2, i + 1] + (strand[i] + strand[i + d] == 3))
        for k in range(1, d):
            best = np.maximum(best, spans[k, i] + spans[d - 1 - k, i + k + 1])
        spans[d, i] = best
    table = np.zeros((n, n), np.int32)
    for d in range(n):
        table[np.arange(n - d), np.arange(d, n)] = spans[d, : n - d]
    return (table,)


def small_coefficients(arrays):
    return [*(array / 16 for array in arrays[:6]), arrays[6]]


def lengths(arrays):
    return [np.abs(arrays[0]) * 7 + 1]


def bases(arrays):
    return [arrays[0] % 4]


PROGRAMS = [
    Program("deriche", """
def deriche(double a1, double a2, double a3, double a4, double b1, double b2, double(W,H) I) -> (O) {
  F(i,j) = double(0) where i in 0:W, j in 0:H
  B(i,j) = double(0) where i in 0:W, j in 0:H
  for j in 0:H {
    F(i,j) = a1 * I(i,j) + (j >= 1 ? a2 * I(i,j-1) + b1 * F(i,j-1) : 0) + (j >= 2 ? b2 * F(i,j-2) : 0) where i in 0:W
    B(i,j) = (j >= 1 ? a3 * I(i,H-j) + b1 * B(i,j-1) : 0) + (j >= 2 ? a4 * I(i,H+1-j) + b2 * B(i,j-2) : 0) where i in 0:W
  }
  M(i,j) = F(i,j) + B(i,H-1-j) where i in 0:W, j in 0:H
  G(i,j) = double(0) where i in 0:W, j in 0:H
  C(i,j) = double(0) where i in 0:W, j in 0:H
  for i in 0:W {
    G(i,j) = a1 * M(i,j) + (i >= 1 ? a2 * M(i-1,j) + b1 * G(i-1,j) : 0) + (i >= 2 ? b2 * G(i-2,j) : 0) where j in 0:H
    C(i,j) = (i >= 1 ? a3 * M(W-i,j) + b1 * C(i-1,j) : 0) + (i >= 2 ? a4 * M(W+1-i,j) + b2 * C(i-2,j) : 0) where j in 0:H
  }
  O(i,j) = G(i,j) + C(W-1-i,j) where i in 0:W
}""", deriche, dict(W=6, H=9), ((6, 9),), dict(W=720, H=480), exact=False, prepare=small_coefficients),
    Program("floyd-warshall", """
def floyd_warshall(int32(N,N) P) -> (X) {
  V(k,i,j) = P(i,j) where k in 0:N+1
  for k in 1:N+1 { V(k,i,j) = min(V(k-1,i,j), V(k-1,i,k-1) + V(k-1,k-1,j)) }
  X(i,j) = V(N,i,j)
}""", floyd_warshall, dict(N=9), ((9, 9),), dict(N=250), prepare=lengths),
    Program("nussinov", """
def nussinov(int32(N) S) -> (X) {
  T(d,i) = 0 where d in 0:N, i in 0:N
  for d in 1:N {
    M(d,i) max=! k >= 1 && k < d && i + d < N ? T(k,i) + T(d-1-k,i+k+1) : 0 where k in 0:N, i in 0:N
    T(d,i) = i + d >= N ? 0
           : max(max(T(d-1,i), T(d-1,i+1)), max(M(d,i), d >= 2 ? T(d-2,i+1) + (S(i) + S(i+d) == 3 ? 1 : 0) : 0)) where i in 0:N
  }
  X(i,j) = j >= i ? T(j-i,i) : 0 where i in 0:N, j in 0:N
}""", nussinov, dict(N=11), ((11, 11),), dict(N=500), prepare=bases),
]
