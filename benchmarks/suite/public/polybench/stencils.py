"""PolyBench's stencils: loops over steps of time. A loop keeps all steps of a tensor; the last one is the result."""

import numpy as np

from ..program import Program


def jacobi_1d(steps, a, b):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def jacobi_2d(steps, a, b):
    def step(x, y):
        y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

    a, b = a.copy(), b.copy()
    for _ in range(steps):
        step(a, b)
        step(b, a)
    return a, b


def heat_3d(steps, a, b):
    def step(x, y):
        mid = x[1:-1, 1:-1, 1:-1]
        y[1:-1, 1:-1, 1:-1] = (0.125 * (x[2:, 1:-1, 1:-1] - 2 * mid + x[:-2, 1:-1, 1:-1])
                               + 0.125 * (x[1:-1, 2:, 1:-1] - 2 * mid + x[1:-1, :-2, 1:-1])
                               + 0.125 * (x[1:-1, 1:-1, 2:] - 2 * mid + x[1:-1, 1:-1, :-2]) + mid)

    a, b = a.copy(), b.copy()
    for _ in range(steps):
        step(a, b)
        step(b, a)
    return a, b


def seidel_2d(steps, a):
    """Elements with equal 2i + j do not depend on each other."""
    a, n = a.copy(), len(a)
    fronts = []
    for front in range(3, 3 * n):
        i = np.arange(max(1, (front - n + 3) // 2), min(n - 2, (front - 1) // 2) + 1)
        if len(i):
            fronts.append((i, front - 2 * i))
    for _ in range(steps):
        for i, j in fronts:
            a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1]
                       + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9
    return (a,)


def fdtd_2d(ex, ey, hz, fict):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for source in fict:
        ey[0] = source
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def adi(steps, u):
    u, n = u.copy(), len(u)
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    a = -n * n / steps
    d = a / 2
    inner = slice(1, -1)
    for _ in range(steps):
        v[0, inner], p[inner, 0], q[inner, 0], v[-1, inner] = 1, 0, 1, 1
        for j in range(1, n - 1):
            below = a * p[inner, j - 1] + 1 - 2 * a
            p[inner, j] = -a / below
            q[inner, j] = (-d * u[j, :-2] + (1 + 2 * d) * u[j, inner] - d * u[j, 2:] - a * q[inner, j - 1]) / below
        for j in range(n - 2, 0, -1):
            v[j, inner] = p[inner, j] * v[j + 1, inner] + q[inner, j]
        u[inner, 0], p[inner, 0], q[inner, 0], u[inner, -1] = 1, 0, 1, 1
        for j in range(1, n - 1):
            below = d * p[inner, j - 1] + 1 - 2 * d
            p[inner, j] = -d / below
            q[inner, j] = (-a * v[:-2, j] + (1 + 2 * a) * v[inner, j] - a * v[2:, j] - d * q[inner, j - 1]) / below
        for j in range(n - 2, 0, -1):
            u[inner, j] = p[inner, j] * u[inner, j + 1] + q[inner, j]
    return (u,)


PROGRAMS = [
    Program("jacobi-1d", """
def jacobi_1d(int T, double(N) A, double(N) B) -> (X, Y) {
  P(t,i) = A(i) where t in 0:T+1
  Q(t,i) = B(i) where t in 0:T+1
  for t in 1:T+1 {
    Q(t,i) = i >= 1 && i < N-1 ? 0.33333 * (P(t-1,i-1) + P(t-1,i) + P(t-1,i+1)) : B(i)
    P(t,i) = i >= 1 && i < N-1 ? 0.33333 * (Q(t,i-1) + Q(t,i) + Q(t,i+1)) : A(i)
  }
  X(i) = P(T,i)
  Y(i) = Q(T,i)
}""", jacobi_1d, dict(T=3, N=11), ((11,), (11,)), dict(T=500, N=2000), exact=False),
    Program("jacobi-2d", """
def jacobi_2d(int T, double(N,N) A, double(N,N) B) -> (X, Y) {
  P(t,i,j) = A(i,j) where t in 0:T+1
  Q(t,i,j) = B(i,j) where t in 0:T+1
  for t in 1:T+1 {
    Q(t,i,j) = i >= 1 && i < N-1 && j >= 1 && j < N-1
             ? 0.2 * (P(t-1,i,j) + P(t-1,i,j-1) + P(t-1,i,j+1) + P(t-1,i+1,j) + P(t-1,i-1,j)) : B(i,j)
    P(t,i,j) = i >= 1 && i < N-1 && j >= 1 && j < N-1
             ? 0.2 * (Q(t,i,j) + Q(t,i,j-1) + Q(t,i,j+1) + Q(t,i+1,j) + Q(t,i-1,j)) : A(i,j)
  }
  X(i,j) = P(T,i,j)
  Y(i,j) = Q(T,i,j)
}""", jacobi_2d, dict(T=3, N=8), ((8, 8), (8, 8)), dict(T=100, N=250), exact=False),
    Program("heat-3d", """
def heat_3d(int T, double(N,N,N) A, double(N,N,N) B) -> (X, Y) {
  P(t,i,j,k) = A(i,j,k) where t in 0:T+1
  Q(t,i,j,k) = B(i,j,k) where t in 0:T+1
  for t in 1:T+1 {
    Q(t,i,j,k) = i >= 1 && i < N-1 && j >= 1 && j < N-1 && k >= 1 && k < N-1
               ? 0.125 * (P(t-1,i+1,j,k) - 2 * P(t-1,i,j,k) + P(t-1,i-1,j,k))
               + 0.125 * (P(t-1,i,j+1,k) - 2 * P(t-1,i,j,k) + P(t-1,i,j-1,k))
               + 0.125 * (P(t-1,i,j,k+1) - 2 * P(t-1,i,j,k) + P(t-1,i,j,k-1)) + P(t-1,i,j,k) : B(i,j,k)
    P(t,i,j,k) = i >= 1 && i < N-1 && j >= 1 && j < N-1 && k >= 1 && k < N-1
               ? 0.125 * (Q(t,i+1,j,k) - 2 * Q(t,i,j,k) + Q(t,i-1,j,k))
               + 0.125 * (Q(t,i,j+1,k) - 2 * Q(t,i,j,k) + Q(t,i,j-1,k))
               + 0.125 * (Q(t,i,j,k+1) - 2 * Q(t,i,j,k) + Q(t,i,j,k-1)) + Q(t,i,j,k) : A(i,j,k)
  }
  X(i,j,k) = P(T,i,j,k)
  Y(i,j,k) = Q(T,i,j,k)
}""", heat_3d, dict(T=2, N=5), ((5, 5, 5), (5, 5, 5)), dict(T=50, N=40), exact=False),
    Program("seidel-2d", """
def seidel_2d(int T, double(N,N) A) -> (X) {
  V(t,i,j) = A(i,j) where t in 0:T+1
  for t in 1:T+1 { for i in 1:N-1 { for j in 1:N-1 {
    V(t,i,j) = (V(t,i-1,j-1) + V(t,i-1,j) + V(t,i-1,j+1) + V(t,i,j-1) + V(t-1,i,j) + V(t-1,i,j+1)
              + V(t-1,i+1,j-1) + V(t-1,i+1,j) + V(t-1,i+1,j+1)) / 9
  } } }
  X(i,j) = V(T,i,j)
}""", seidel_2d, dict(T=3, N=7), ((7, 7),), dict(T=20, N=400), exact=False),
    Program("fdtd-2d", """
def fdtd_2d(double(NX,NY) EX, double(NX,NY) EY, double(NX,NY) HZ, double(T) fict) -> (X, Y, Z) {
  ex(t,i,j) = EX(i,j) where t in 0:T+1
  ey(t,i,j) = EY(i,j) where t in 0:T+1
  hz(t,i,j) = HZ(i,j) where t in 0:T+1
  for t in 1:T+1 {
    ey(t,i,j) = i == 0 ? fict(t-1) : ey(t-1,i,j) - 0.5 * (hz(t-1,i,j) - hz(t-1,i-1,j))
    ex(t,i,j) = j == 0 ? ex(t-1,i,j) : ex(t-1,i,j) - 0.5 * (hz(t-1,i,j) - hz(t-1,i,j-1))
    hz(t,i,j) = i < NX-1 && j < NY-1
              ? hz(t-1,i,j) - 0.7 * (ex(t,i,j+1) - ex(t,i,j) + ey(t,i+1,j) - ey(t,i,j)) : hz(t-1,i,j)
  }
  X(i,j) = ex(T,i,j)
  Y(i,j) = ey(T,i,j)
  Z(i,j) = hz(T,i,j)
}""", fdtd_2d, dict(T=3, NX=6, NY=7), ((6, 7), (6, 7), (6, 7)), dict(T=100, NX=200, NY=240), exact=False),
    Program("adi", """
def adi(int T, double(N,N) A) -> (X) {
  a = -double(N) * N / T
  d = a / 2
  U(t,i,j) = A(i,j) where t in 0:T+1
  V(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  P(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  Q(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  W(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  R(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  S(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  Z(t,i,j) = double(0) where t in 0:T+1, i in 0:N, j in 0:N
  for t in 1:T+1 {
    for j in 0:N-1 {
      P(t,i,j) = j == 0 ? 0 : -a / (a * P(t,i,j-1) + 1 - 2 * a)
      Q(t,i,j) = j == 0 || i == 0 || i == N-1 ? 1
               : (-d * U(t-1,j,i-1) + (1 + 2 * d) * U(t-1,j,i) - d * U(t-1,j,i+1) - a * Q(t,i,j-1)) / (a * P(t,i,j-1) + 1 - 2 * a)
    }
    for s in 0:N {
      W(t,i,s) = s == 0 || s == N-1 ? 1 : P(t,i,N-1-s) * W(t,i,s-1) + Q(t,i,N-1-s)
    }
    V(t,j,i) = W(t,i,N-1-j) where i in 0:N, j in 0:N
    for j in 0:N-1 {
      R(t,i,j) = j == 0 ? 0 : -d / (d * R(t,i,j-1) + 1 - 2 * d)
      S(t,i,j) = j == 0 || i == 0 || i == N-1 ? 1
               : (-a * V(t,i-1,j) + (1 + 2 * a) * V(t,i,j) - a * V(t,i+1,j) - d * S(t,i,j-1)) / (d * R(t,i,j-1) + 1 - 2 * d)
    }
    for s in 0:N {
      Z(t,i,s) = s == 0 || s == N-1 ? 1 : R(t,i,N-1-s) * Z(t,i,s-1) + S(t,i,N-1-s)
    }
    U(t,i,j) = i >= 1 && i < N-1 ? Z(t,i,N-1-j) : U(t-1,i,j) where j in 0:N
  }
  X(i,j) = U(T,i,j)
}""", adi, dict(T=3, N=7), ((7, 7),), dict(T=20, N=200), exact=False),
]
