"""Draws the pictures of docs/graphs.md: a residual block node by node, and in the parts that run."""

import pathlib

import tensor_comprehensions as tc

TEXT = """
def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) {
  Y(n,o,h,w) +=! h+r >= 1 && h+r <= H && w+s >= 1 && w+s <= W ? X(n,c,h+r-1,w+s-1) * K(o,c,r,s) : 0 where h in 0:H, w in 0:W }
def norm(float(N,C,H,W) X, float(C) scale, float(C) shift) -> (Y) { Y(n,c,h,w) = X(n,c,h,w) * scale(c) + shift(c) }
def positive(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }
def add(float(N,C,H,W) P, float(N,C,H,W) Q) -> (Y) { Y(n,c,h,w) = P(n,c,h,w) + Q(n,c,h,w) }
def block(float(N,C,H,W) X, float(C,C,3,3) K1, float(C) s1, float(C) t1, float(C,C,3,3) K2, float(C) s2, float(C) t2) -> (Y) {
  T1 = conv(X, K1)   T2 = norm(T1, s1, t1)   T3 = positive(T2)
  T4 = conv(T3, K2)  T5 = norm(T4, s2, t2)   T6 = add(T5, X)    Y = positive(T6)
}
"""


def main():
    kernel, vector = tc.spec((64, 64, 3, 3)), tc.spec((64,))
    arguments = [tc.spec((1, 64, 56, 56)), kernel, vector, vector, kernel, vector, vector]
    block = tc.define(TEXT).block
    for name, partition in (("nodes", "each"), ("parts", "auto")):
        graph = tc.compile(block, *arguments, partition=partition).graph
        pathlib.Path(__file__).with_name(f"graph_{name}.svg").write_text(graph.svg() + "\n")
        print(graph)


if __name__ == "__main__":
    main()
