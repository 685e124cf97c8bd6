"""Programs with inputs and, where torch has the operator, a reference in float64.

Numbers are those of the acceptance list. Names in lower case that are not on the left are reductions.
"""

import dataclasses
import math
from typing import Callable, Optional

import pytest
import torch
import torch.nn.functional as F


@dataclasses.dataclass
class Program:
    id: str
    text: str
    inputs: tuple
    reference: Optional[Callable] = None
    """Of the inputs, floats widened to float64; None: the interpreter alone decides."""

    @property
    def name(self):
        last = self.text.strip().rpartition("def ")[2]
        return last[: last.index("(")]


def r(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def ints(low, high, *shape, dtype=torch.int32):
    return torch.randint(low, high, shape).to(dtype)




def cases(of, every):
    """The programs `of` as cases of a test: each `every`-th for `make test`, the others for `make test-long`."""
    return [program if k % every == 0 else pytest.param(program, marks=pytest.mark.long) for k, program in enumerate(of)]


def programs():
    """All programs; inputs are drawn anew."""
    torch.manual_seed(1)
    yield from pointwise()
    yield from contractions()
    yield from reductions()
    yield from convolutions()
    yield from movement()
    yield from irregular()


def pointwise():
    yield Program("1-copy1", "def f(float(N) I) -> (O) { O(i) = I(i) }", (r(33),), lambda i: i)
    yield Program("1-copy3", "def f(float(A,B,C) I) -> (O) { O(i,j,k) = I(i,j,k) }", (r(3, 5, 17),), lambda i: i)
    yield Program("1-copy5", "def f(float(A,B,C,D,E) I) -> (O) { O(a,b,c,d,e) = I(a,b,c,d,e) }", (r(2, 3, 2, 3, 5),),
                  lambda i: i)
    yield Program("2-transpose2", "def f(float(M,N) I) -> (O) { O(n,m) = I(m,n) }", (r(7, 33),), lambda i: i.T)
    yield Program("2-transpose4", "def f(float(N,C,H,W) I) -> (O) { O(c,n,w,h) = I(n,c,h,w) }", (r(3, 4, 5, 6),),
                  lambda i: i.permute(1, 0, 3, 2))
    yield Program("3-scale", "def f(float(M,N) I, float s) -> (O) { O(m,n) = I(m,n) * s }", (r(5, 19), r()),
                  lambda i, s: i * s)
    yield Program("3-sub", "def f(float(N) A, float(N) B) -> (C) { C(i) = A(i) - B(i) }", (r(31), r(31)),
                  lambda a, b: a - b)
    yield Program("4-index", "def f(float(N,M) A) -> (O) { O(n0,n1) = A(n0,n1) + n0 + n1 + N }", (r(6, 9),),
                  lambda a: a + torch.arange(6)[:, None] + torch.arange(9) + 6)
    yield Program("5-hadamard", "def f(float(B,D) U, float(B,D) V, float(B,D) W) -> (Z) { Z(b,d) = U(b,d) * V(b,d) * W(b,d) }",
                  (r(4, 17), r(4, 17), r(4, 17)), lambda u, v, w: u * v * w)
    yield Program("6-relu", "def f(float(N) I) -> (O) { O(i) = fmax(I(i), 0) }", (r(64),), torch.relu)
    yield Program("6-sigmoid", "def f(float(N) I) -> (O) { O(i) = 1 / (1 + exp(-I(i))) }", (r(64),), torch.sigmoid)
    yield Program("6-tanh", "def f(float(N) I) -> (O, P) { O(i) = tanh(I(i)) P(i) = cos(I(i)) }", (r(64),),
                  lambda i: (torch.tanh(i), torch.cos(i)))
    yield Program("6-abs", "def f(float(N) I) -> (O) { O(i) = fabs(I(i)) }", (r(17),), torch.abs)
    yield Program("7-nest", "def f(float(N,M) A, float(M,N) B, float(N) C) -> (O) {"
                  " O(n0,n1) = nextafter(C(n0), exp(A(n0,n1))) + log(B(n1,n0)) }",
                  (r(5, 7), r(7, 5).abs() + 0.1, r(5)), None)
    yield Program("8-cast", "def f(float(M,N) A, int32 four) -> (int32(M,N) output) { output(m,n) = int32(A(m,n) + four) }",
                  (r(5, 7) * 10, torch.tensor(4, dtype=torch.int32)), lambda a, four: (a + four).to(torch.int32))
    yield Program("10-compare", "def f(float(N) A, float(N) B) -> (O) { O(i) = float((A(i) > B(i) && A(i) > 0) || !(B(i) <= 1)) }",
                  (r(64), r(64)), lambda a, b: (((a > b) & (a > 0)) | ~(b <= 1)).double())
    yield Program("10-minmax", "def f(float(N) A, float(N) B) -> (O) { O(i) = min(max(A(i), B(i)), 0.5) }", (r(64), r(64)),
                  lambda a, b: torch.clamp(torch.maximum(a, b), max=0.5))
    yield Program("10-mod", "def f(int32(N) A) -> (O, P) { O(i) = A(i) % 5 P(i) = A(i) / 5 }", (ints(-50, 50, 64),),
                  lambda a: (a % 5, a // 5))
    yield Program("11-scalar", "def f(float a) -> (b) { b = a }", (r(),), lambda a: a)
    yield Program("11-broadcast", "def f(float a) -> (b) { b(i) = a where i in 0:10 }", (r(),), lambda a: a.expand(10))
    yield Program("12-fill", "def f(float(N) A, float c) -> (B) { B(i) = c where exists A(i) }", (r(9), r()),
                  lambda a, c: c.expand(9))
    yield Program("12-let", "def f(float(N) a) -> (b) { b(i) = 2 * foo where foo = a(i) }", (r(9),), lambda a: 2 * a)
    yield Program("13-chain", "def f(float(N) I) -> (O1, O2) { O1(i) = I(i) O2(i) = O1(i) }", (r(9),), lambda i: (i, i))
    yield Program("13-ranks", "def f(float(N) I1, float(M,N) I2) -> (O1, O2) { O1(n) = I1(n) O2(a,b) = I2(a,b) }",
                  (r(9), r(3, 9)), lambda a, b: (a, b))
    yield Program("14-updates", "def f(float(N) O0, float(N,K) I) -> (O) { O(n) = 0 where n in 0:N O(n) += O0(n) O(n) += I(n,q) O(n) = O(n) / K }",
                  (r(9), r(9, 5)), lambda o, i: (o + i.sum(1)) / 5)


def contractions():
    yield Program("15-mm", "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", (r(17, 33), r(33, 31)),
                  torch.matmul)
    yield Program("15-tn", "def f(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }", (r(33, 17), r(33, 31)),
                  lambda a, b: a.T @ b)
    yield Program("15-nt", "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }", (r(17, 33), r(31, 33)),
                  lambda a, b: a @ b.T)
    yield Program("15-tt", "def f(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }", (r(33, 17), r(31, 33)),
                  lambda a, b: a.T @ b.T)
    yield Program("16-tmm", "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,q) * B(n,q) }", (r(4, 130), r(20, 130)),
                  lambda a, b: a @ b.T)
    yield Program("18-fc3", """def f(float(B,M) I, float(N,M) W1, float(N) B1, float(O,N) W2, float(O) B2, float(P,O) W3) -> (O1, O2, O3) {
        O1(b,n) +=! I(b,m) * W1(n,m)
        O1(b,n)   = fmax(O1(b,n) + B1(n), 0)
        O2(b,o) +=! O1(b,n) * W2(o,n)
        O2(b,o)   = fmax(O2(b,o) + B2(o), 0)
        O3(b,p) +=! O2(b,o) * W3(p,o) }""", (r(5, 17), r(9, 17), r(9), r(7, 9), r(7), r(3, 7)), fc3)
    yield Program("19-bmm", "def f(float(B,N,M) X, float(B,M,K) Y) -> (Z) { Z(b,n,k) +=! X(b,n,q) * Y(b,q,k) }",
                  (r(5, 26, 13), r(5, 13, 26)), torch.bmm)
    yield Program("20-two", "def f(float(M,K) A, float(K,N) B, float(K,P) C) -> (D, E) { D(m,n) +=! A(m,k) * B(k,n) E(m,p) +=! A(m,k) * C(k,p) }",
                  (r(7, 9), r(9, 11), r(9, 5)), lambda a, b, c: (a @ b, a @ c))
    yield Program("21-tensordot", "def f(float(N,C1,C2,H,W) I0, float(N,C2,C3,H,W) I1) -> (O) { O(n,c1,c3,h,w) +=! I0(n,c1,q,h,w) * I1(n,q,c3,h,w) }",
                  (r(2, 3, 4, 5, 6), r(2, 4, 3, 5, 6)), lambda a, b: torch.einsum("nabhw,nbchw->nachw", a, b))
    yield Program("22-six", "def f(float(A,B,C,D) X, float(D,C,E,F) Y) -> (Z) { Z(a,b,e,g) +=! X(a,b,c,d) * Y(d,c,e,g) }",
                  (r(2, 3, 4, 5), r(5, 4, 3, 2)), lambda x, y: torch.einsum("abcd,dceg->abeg", x, y))
    yield Program("23-mv", "def f(float(R,C) A, float(C) x) -> (o) { o(i) +=! A(i,c) * x(c) }", (r(33, 65), r(65)), torch.mv)
    yield Program("24-kronecker", """def f(float(D0,N0) W0, float(D1,N1) W1, float(D2,N2) W2, float(M,N0,N1,N2) X) -> (Y, XW1, XW2) {
        XW2(m,n0,n1,d2) +=! X(m,n0,n1,n2) * W2(d2,n2)
        XW1(m,n0,d1,d2) +=! XW2(m,n0,n1,d2) * W1(d1,n1)
        Y(m,d0,d1,d2)   +=! XW1(m,n0,d1,d2) * W0(d0,n0) }""", (r(3, 4), r(2, 5), r(4, 3), r(2, 4, 5, 3)),
                  lambda w0, w1, w2, x: (torch.einsum("ax,by,cz,mxyz->mabc", w0, w1, w2, x),
                                         torch.einsum("by,cz,mxyz->mxbc", w1, w2, x), torch.einsum("cz,mxyz->mxyc", w2, x)))
    yield Program("25-masked", "def f(float(M,N) L, float(N,M) U) -> (LU) { LU(a,b) +=! (q >= a && q <= b) ? L(a,q) * U(q,b) : 0 }",
                  (r(9, 12), r(12, 9)), lambda l, u: torch.stack(
                      [torch.stack([(l[a, a:b + 1] * u[a:b + 1, b]).sum() for b in range(9)]) for a in range(9)]))
    yield Program("26-mm-grad", "def f(float(M,K) A, float(K,N) B, float(M,N) dC) -> (dA, dB) { dA(m,k) +=! dC(m,q) * B(k,q) dB(k,n) +=! dC(q,n) * A(q,k) }",
                  (r(5, 7), r(7, 9), r(5, 9)), lambda a, b, c: (c @ b.T, a.T @ c))
    yield Program("27-sum", """def f(float(N0,N1,N2,N3) A, float(N0,N1) B, float(N0,N1) C, float(N0,N1) D) -> (O1, O2, O3) {
        O1(i,j) +=! A(i,j,p,q) * B(i,j)
        O2(i,j) = C(i,j) * D(i,j)
        O3(i,j) = O1(i,j) + O2(i,j) }""", (r(3, 4, 5, 6), r(3, 4), r(3, 4), r(3, 4)),
                  lambda a, b, c, d: (a.sum((2, 3)) * b, c * d, a.sum((2, 3)) * b + c * d))
    yield Program("28-blockdiag", "def f(float(B,K,N0) I, float(K,N0,N1) W) -> (O) { O(b,k,n1) +=! I(b,k,q) * W(k,q,n1) }",
                  (r(3, 4, 9), r(4, 9, 7)), lambda i, w: torch.einsum("bkq,kqn->bkn", i, w))


def fc3(i, w1, b1, w2, b2, w3):
    o1 = torch.relu(i @ w1.T + b1)
    o2 = torch.relu(o1 @ w2.T + b2)
    return o1, o2, o2 @ w3.T


def reductions():
    yield Program("29-sum1", "def f(float(N) I) -> (O) { O +=! I(i) }", (r(1000),), torch.sum)
    yield Program("29-sum3", "def f(float(A,B,C) I) -> (O) { O +=! I(i,j,k) }", (r(7, 9, 33),), torch.sum)
    yield Program("30-moments", """def f(float(N,K) I) -> (mean, var) {
        mean(n) +=! I(n,k)
        mean(n)   = mean(n) / K
        var(n)  +=! I(n,k) * I(n,k)
        var(n)    = var(n) / K - mean(n) * mean(n) }""", (r(17, 130),), lambda i: (i.mean(1), i.var(1, correction=0)))
    yield Program("31-columns", "def f(float(M,N) A) -> (S, L, G, P) { S(n) +=! A(m,n) L(m) min=! A(m,n) G(m) max=! A(m,n) P(n) *=! A(m,n) }",
                  (r(9, 33),), lambda a: (a.sum(0), a.amin(1), a.amax(1), a.prod(0)))
    yield Program("31-bools", "def f(float(M,N) A) -> (all, any) { all(m) &&=! A(m,n) > 0 - 2 any(m) ||=! A(m,n) > 2 }", (r(33, 17),),
                  lambda a: ((a > -2).all(1), (a > 2).any(1)))
    yield Program("32-diagonal", "def f(float(J,L,K) I) -> (O) { O(i) +=! I(j,i+j,k) }", (r(3, 7, 4),),
                  lambda i: torch.stack([sum(i[j, n + j].sum() for j in range(3)) for n in range(5)]))
    yield Program("33-softmax", """def f(float(N,D) I) -> (O) {
        top(n) max=! I(n,d)
        total(n) +=! exp(I(n,d) - top(n))
        O(n,d) = exp(I(n,d) - top(n)) / total(n) }""", (r(9, 130),), lambda i: torch.softmax(i, 1))
    yield Program("34-softmax-tmp", """def f(float(N,D) I) -> (O) {
        tmp(n) max=! I(n,d)
        O(n,d)   = exp(I(n,d) - tmp(n))
        tmp(n) +=! O(n,d)
        O(n,d)   = O(n,d) / tmp(n) }""", (r(9, 33),), lambda i: torch.softmax(i, 1))
    yield Program("35-layernorm", """def f(float(T,B,C) I) -> (O, mean, centered, var) {
        mean(t,b)       +=! I(t,b,c)
        mean(t,b)         = mean(t,b) / C
        centered(t,b,c)   = I(t,b,c) - mean(t,b)
        var(t,b)        +=! centered(t,b,c) * centered(t,b,c)
        var(t,b)          = var(t,b) / C
        O(t,b,c)          = centered(t,b,c) * rsqrt(var(t,b) + 1e-5) }""", (r(7, 8, 64),),
                  lambda i: (F.layer_norm(i, (64,)), i.mean(2), i - i.mean(2, keepdim=True), i.var(2, correction=0)))
    yield Program("36-batchnorm", """def f(float(N,C,H,W) I, float(C) rMeanIn, float(C) rVarIn) -> (O, rMeanOut, rVarOut, mean, var) {
        mean(c) +=! I(q0,c,q1,q2)
        mean(c)   = mean(c) / (N * H * W)
        rMeanOut(c) = 0.9 * rMeanIn(c) + 0.1 * mean(c)
        var(c)  +=! (I(q0,c,q1,q2) - mean(c)) * (I(q0,c,q1,q2) - mean(c))
        var(c)    = var(c) / (N * H * W)
        rVarOut(c) = 0.9 * rVarIn(c) + 0.1 * var(c)
        O(n,c,h,w) = (I(n,c,h,w) - mean(c)) * rsqrt(var(c) + 1e-5) }""", (r(3, 4, 5, 6), r(4), r(4).abs()), batch_norm)
    yield Program("37-groupnorm", """def f(float(N,G,D,H,W) I, float(G,D) gamma, float(G,D) beta) -> (O) {
        s(n,g)  +=! I(n,g,d,h,w)
        s2(n,g) +=! I(n,g,d,h,w) * I(n,g,d,h,w)
        O(n,g,d,h,w) = gamma(g,d) * (I(n,g,d,h,w) - s(n,g) / (D*H*W))
                       * rsqrt(s2(n,g) / (D*H*W) - (s(n,g) / (D*H*W)) * (s(n,g) / (D*H*W)) + 1e-5) + beta(g,d) }""",
                  (r(2, 3, 4, 5, 6), r(3, 4), r(3, 4)),
                  lambda i, g, b: F.group_norm(i.reshape(2, 12, 5, 6), 3, g.reshape(12), b.reshape(12)).reshape(i.shape))
    yield Program("38-cosine", """def f(float(B,D) X, float(B,D) Y) -> (C) {
        xy(b) +=! X(b,d) * Y(b,d)
        xx(b) +=! X(b,d) * X(b,d)
        yy(b) +=! Y(b,d) * Y(b,d)
        C(b) = xy(b) * rsqrt(xx(b)) * rsqrt(yy(b)) }""", (r(5, 33), r(5, 33)), F.cosine_similarity)
    yield Program("39-avgpool", "def f(float(B,C,H,W) I) -> (O) { O(b,c) +=! I(b,c,p,q) O(b,c) = O(b,c) / (H * W) }", (r(2, 3, 5, 7),),
                  lambda i: i.mean((2, 3)))
    yield Program("40-argmin", """def f(float(M,K) L, uint8(N,M) Codes) -> (S, v, where_min) {
        S(n) +=! L(m, int32(Codes(n,m)))
        v min=! S(n)
        where_min min=! (S(n) == v) ? n : N }""", (r(4, 16), ints(0, 16, 33, 4, dtype=torch.uint8)), argmin)


def batch_norm(i, running_mean, running_var):
    mean, var = i.mean((0, 2, 3)), i.var((0, 2, 3), correction=0)
    return F.batch_norm(i, None, None, training=True), 0.9 * running_mean + 0.1 * mean, 0.9 * running_var + 0.1 * var, mean, var


def argmin(table, codes):
    s = sum(table[m, codes[:, m].long()] for m in range(table.shape[0]))
    return s, s.min(), s.argmin()


def convolutions():
    conv = "def f(float(N,C,H,W) I, float(M,C,KH,KW) W1) -> (O) { O(n,m,h,w) +=! I(n,c,%s) * W1(m,c,kh,kw) }"
    yield Program("42-conv", conv % "h+kh,w+kw", (r(2, 3, 9, 10), r(4, 3, 3, 2)), F.conv2d)
    yield Program("42-conv-bias", """def f(float(N,C,H,W) I, float(M,C,KH,KW) W1, float(M) B) -> (O) {
        O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * W1(m,c,kh,kw)
        O(n,m,h,w) = O(n,m,h,w) + B(m) }""", (r(2, 3, 9, 10), r(4, 3, 3, 3), r(4)), F.conv2d)
    yield Program("43-strided", conv % "2*h+kh,3*w+kw", (r(2, 3, 9, 12), r(4, 3, 3, 3)), lambda i, k: F.conv2d(i, k, stride=(2, 3)))
    yield Program("44-group", "def f(float(N,G,C,H,W) I, float(G,F,C,KH,KW) W1) -> (O) { O(n,g,o,h,w) +=! I(n,g,q,h+kh,w+kw) * W1(g,o,q,kh,kw) }",
                  (r(2, 3, 4, 7, 8), r(3, 5, 4, 3, 3)),
                  lambda i, k: F.conv2d(i.reshape(2, 12, 7, 8), k.reshape(15, 4, 3, 3), groups=3).reshape(2, 3, 5, 5, 6))
    yield Program("45-mobilenet", """def f(float(C1,H,W) I, float(C1,KH,KW) W1, float(C2,C1) W2) -> (O1, O2) {
        O1(c1,h,w) +=! I(c1,h+kh,w+kw) * W1(c1,kh,kw)
        O1(c1,h,w)   = fmax(O1(c1,h,w), 0)
        O2(c2,h,w) +=! O1(c1,h,w) * W2(c2,c1) }""", (r(4, 8, 9), r(4, 3, 3), r(5, 4)), mobilenet)
    yield Program("46-conv-grad-input", """def f(float(N,M,OH,OW) dO, float(M,C,KH,KW) W1) -> (dI) {
        dI(n,c,h,w) +=! (h-kh >= 0 && h-kh < OH && w-kw >= 0 && w-kw < OW) ? dO(n,m,h-kh,w-kw) * W1(m,c,kh,kw) : 0
          where h in 0:OH+KH-1, w in 0:OW+KW-1 }""", (r(2, 4, 6, 7), r(4, 3, 3, 3)), F.conv_transpose2d)
    yield Program("46-conv-grad-weight", """def f(float(N,M,OH,OW) dO, float(N,C,H,W) I) -> (dW) {
        dW(m,c,kh,kw) +=! dO(n,m,h,w) * I(n,c,h+kh,w+kw) }""", (r(2, 4, 6, 7), r(2, 3, 8, 9)),
                  lambda g, i: torch.nn.grad.conv2d_weight(i, (4, 3, 3, 3), g))
    yield Program("47-pad", """def f(float(N,C,H,W) I) -> (pad) {
        pad(n,c,h,w) = (h >= 5 && h < H + 5 && w >= 7 && w < W + 7) ? I(n,c,h-5,w-7) : 0 where h in 0:H+9, w in 0:W+9 }""",
                  (r(2, 3, 5, 6),), lambda i: F.pad(i, (7, 2, 5, 4)))
    yield Program("47-shift", "def f(float(H,W) I) -> (O) { O(h,w) = I(h-5,w-7) }", (r(5, 6),), lambda i: i)
    yield Program("48-weird", "def f(float(C) I, float(KH) K) -> (O) { O(h,w) +=! I(2*h + 3*w + kh) * K(kh) where w in 0:3 }",
                  (r(20), r(3)), lambda i, k: torch.stack(
                      [torch.stack([(i[2 * h + 3 * w:2 * h + 3 * w + 3] * k).sum() for w in range(3)]) for h in range(6)]))
    yield Program("49-full", "def f(float(X) A, float(Y) K) -> (B) { B(x) +=! (x - q >= 0 && x - q < Y) ? A(q) * K(x-q) : 0 where x in 0:X+Y-1, q in 0:X }",
                  (r(9), r(4)), lambda a, k: F.conv1d(a[None, None], k.flip(0)[None, None], padding=3)[0, 0])
    yield Program("50-perforated", "def f(float(N,C,H,W) I, float(M,C,KH,KW) W1, int32(N,L) Index) -> (O) { O(n,m,l) +=! I(n,c,Index(n,l)+kh,Index(n,l)+kw) * W1(m,c,kh,kw) where l in 0:L }",
                  (r(2, 3, 9, 9), r(4, 3, 3, 3), ints(0, 7, 2, 5)), perforated)
    yield Program("51-local-sparse", """def f(float(N,C,H,W) I, float(O,KC,KH,KW) W1) -> (R) {
        R(n,c,o,h,w) +=! I(n,kc % c,h+kh,w+kw) * W1(o,kc,kh,kw) where c in 1:C }""", (r(2, 4, 5, 6), r(3, 2, 2, 2)), None)
    yield Program("52-masked", "def f(float(C,H,W) I, float(F,C,KH,KW) W1, uint8(F,C) Mask) -> (O) { O(g,h,w) +=! (Mask(g,c) == 1) ? fmax(0, I(c,h+kh,w+kw)) * W1(g,c,kh,kw) : 0 }",
                  (r(3, 7, 8), r(4, 3, 3, 3), ints(0, 2, 4, 3, dtype=torch.uint8)),
                  lambda i, w, m: F.conv2d(torch.relu(i)[None], w * m[:, :, None, None])[0])
    yield Program("53-maxpool", "def f(float(B,C,H,W) I) -> (O) { O(b,c,h,w) max=! I(b,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2 }",
                  (r(2, 3, 8, 6),), lambda i: F.max_pool2d(i, 2))
    yield Program("54-graph2", """def f(float(N,C,H,W) I, float(N,C,R,T) J, float(KH,KW) W1) -> (O, Out) {
        O(n,c,h,w) +=! J(n,c,h+kh,w+kw) * W1(kh,kw)
        Out(c0,c1) +=! I(n,c0,h,w) * O(n,c1,h,w) }""", (r(2, 3, 5, 6), r(2, 3, 8, 9), r(3, 3)), graph2)


    yield Program("56-causal", "def f(float(C,T) X, float(C,K) W) -> (O) { O(c,t) +=! (t+k >= K-1) ? X(c,t+k-(K-1)) * W(c,k) : 0 where t in 0:T }",
                  (r(5, 33), r(5, 4)), lambda x, w: F.conv1d(F.pad(x, (3, 0))[None], w[:, None], groups=5)[0])
    yield Program("clamped", "def f(float(H) I) -> (O) { O(h) +=! I(min(max(h+k-1,0),H-1)) where h in 0:H, k in 0:3 }", (r(17),),
                  lambda i: F.avg_pool1d(F.pad(i[None, None], (1, 1), mode="replicate"), 3, 1)[0, 0] * 3)


def mobilenet(i, w1, w2):
    o1 = torch.relu(F.conv2d(i[None], w1[:, None], groups=4)[0])
    return o1, torch.einsum("chw,dc->dhw", o1, w2)


def perforated(i, w, index):
    rows = []
    for n in range(i.shape[0]):
        patches = torch.stack([i[n, :, p:p + 3, p:p + 3] for p in index[n].long()])
        rows.append(torch.einsum("lchw,mchw->ml", patches, w))
    return torch.stack(rows)


def graph2(i, j, w):
    o = F.conv2d(j.reshape(6, 1, 8, 9), w[None, None]).reshape(2, 3, 6, 7)
    return o, torch.einsum("nchw,ndhw->cd", i, o[:, :, :5, :6])


def movement():
    yield Program("57-subsample", "def f(float(N) B) -> (O) { O(i) = B(2*i) }", (r(17),), lambda b: b[::2])
    yield Program("57-reverse", "def f(float(N) B) -> (O) { O(i) = B(10-i) where i in 0:11 }", (r(11),), lambda b: b.flip(0))
    yield Program("57-shift", "def f(float(N) I) -> (O) { O(i) = I(i+5) }", (r(11),), None)
    yield Program("59-slice", "def f(float(M,N) I) -> (O) { O(i,j) = I(i,j) where i in 3:M-1 }", (r(9, 5),), lambda i: i[3:-1])
    yield Program("60-stack", "def f(float(M,N) A, float(M,N) B) -> (O) { O(n,i,m) = (i == 0) ? A(m,n) : B(m,n) where i in 0:2 }",
                  (r(4, 5), r(4, 5)), lambda a, b: torch.stack([a.T, b.T], 1))
    yield Program("61-gather", "def f(float(V,W) I, int32(L) index) -> (O) { O(l,w) = I(index(l),w) }", (r(9, 7), ints(0, 9, 12)),
                  lambda i, index: i[index.long()])
    yield Program("62-lut", "def f(float(E,D) LUT, int64(B,L) I) -> (O) { O(b,d) +=! LUT(I(b,l),d) }",
                  (r(50, 17), ints(0, 50, 9, 6, dtype=torch.int64)), lambda t, i: t[i].sum(1))
    yield Program("63-shifted", "def f(float(E,D) LUT, int32(B,L) I) -> (O) { O(b,d) +=! LUT(I(b,l)+1,d) }",
                  (r(50, 17), ints(-1, 49, 9, 6)), lambda t, i: t[i.long() + 1].sum(1))
    yield Program("64-row", "def f(float(E,D) LUT, int32(B,N) I) -> (O) { O(b,n) +=! LUT(I(b,n),q) }", (r(20, 17), ints(0, 20, 5, 6)),
                  lambda t, i: t.sum(1)[i.long()])
    yield Program("64-scatter", "def f(float(L,D) X, int32(L) I, float(E,D) T) -> (O) { O(e,d) = T(e,d)  O(I(l),d) += X(l,d) }",
                  (r(33, 5), ints(0, 19, 33), r(19, 5)), lambda x, i, t: t.index_add(0, i.long(), x))
    yield Program("64-scatter-max", "def f(float(L) X, int64(L) I) -> (float(20) O) { O(I(l)+1) max=! X(l) where l in 0:L }",
                  (r(133), ints(-1, 19, 133, dtype=torch.int64)),
                  lambda x, i: torch.full((20,), -math.inf, dtype=x.dtype).scatter_reduce(0, i + 1, x, "amax"))
    yield Program("65-periodic", "def f(float(M) a, float(N) like) -> (b) { b(i) = a(i % 3) where i in 0:N }", (r(3), r(10)),
                  lambda a, like: a.repeat(4)[:10])
    yield Program("66-strided", "def f(float(J,K) I) -> (O) { O(i,j) = I(j,2*i+1) }", (r(5, 9),), lambda i: i[:, 1::2].T)


def irregular():
    yield Program("68-prefix", "def f(int32(K) Segments) -> (Idx) { Idx(k) +=! (q < k) ? Segments(q) : 0 where k in 0:K+1 }",
                  (ints(0, 5, 9),), lambda s: torch.cat([torch.zeros(1, dtype=s.dtype), s.cumsum(0).to(s.dtype)]))
    yield Program("70-counts", "def f(float(K,L) Like) -> (T, P) { T(k,a) +=! (a >= q) ? 0.0 : 1.0 where a in 0:L, q in 0:k+1, k in 0:K P(k) +=! T(k,a) }"
                  .replace("q in 0:k+1", "q in 0:L").replace("k in 0:K", "k in 0:K"), (r(3, 5),), None)
    yield Program("71-dots", """def f(int32(K) Start, int32(K) Count, float(N,C) X, float(L) Like) -> (Dots) {
        Dots(k,a,b) +=! (a < Count(k) && b < Count(k)) ? X(Start(k)+a,c) * X(Start(k)+b,c) : 0 where a in 0:L, b in 0:L }""",
                  (torch.tensor([0, 2, 5, 9], dtype=torch.int32), torch.tensor([2, 3, 4, 1], dtype=torch.int32), r(10, 7), r(5)), dots)
    yield Program("reversed-in-place", "def f(float(N) A) -> (B) { B(i) = A(i) * 2  B(i) = B(N-1-i) + B(i) }", (r(33),),
                  lambda a: 2 * a.flip(0) + 2 * a)
    yield Program("int8-product", "def f(int8(M,K) A, uint8(K,N) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(k,n)) }",
                  (ints(-128, 128, 9, 70, dtype=torch.int8), ints(0, 256, 70, 11, dtype=torch.uint8)),
                  lambda a, b: a.long() @ b.long())
    yield Program("int64-wraps", "def f(int64(N) A) -> (P, S) { P *=! A(i)  S(i) = A(i) * A(i) * A(i) }",
                  (ints(-(2**40), 2**40, 17, dtype=torch.int64),), lambda a: (a.prod(), a * a * a))
    yield Program("float64-product", "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                  (r(33, 65, dtype=torch.float64), r(65, 17, dtype=torch.float64)), torch.matmul)
    yield Program("72-normalise", "def f(float(N,C) I) -> (S, O) { S(n) +=! I(n,c) * I(n,c) O(n,c) = I(n,c) / sqrt(S(n) + 1e-12) }",
                  (r(5, 33),), lambda i: ((i * i).sum(1), i / (i * i).sum(1, keepdim=True).sqrt()))


def dots(start, count, x, like):
    result = torch.zeros(len(start), len(like), len(like), dtype=x.dtype)
    for k, (s, n) in enumerate(zip(start.tolist(), count.tolist())):
        result[k, :n, :n] = x[s:s + n] @ x[s:s + n].T
    return result
