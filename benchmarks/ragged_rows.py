"""Reductions over rows of different lengths, beside torch's operators: bags, products of a matrix in CSR, sums and maxima of segments.

    taskset -c 0 .venv/bin/python benchmarks/ragged_rows.py        # rows, entries, columns: 50000 of 1000000 x 64 and smaller ones

One thread. Calls take turns; medians of seven, in us. Rows end at random entries. Results are compared with torch's, at 1e-5.
"""

import statistics
import time

import torch
import torch.nn.functional as F

import tensor_comprehensions as tc

T = tc.define("""
def bag(int64(E) P, int64(N) C, float(V,D) X) -> (Y) { Y(r,d) +=! X(C(j),d) where j in P(r):P(r+1) }
def spmm(int64(E) P, int64(N) C, float(N) W, float(V,D) X) -> (Y) { Y(r,d) +=! W(j) * X(C(j),d) where j in P(r):P(r+1) }
def spmv(int64(E) P, int64(N) C, float(N) W, float(V) X) -> (Y) { Y(r) +=! W(j) * X(C(j)) where j in P(r):P(r+1) }
def sums(int64(E) P, float(N) W) -> (Y) { Y(r) +=! W(j) where j in P(r):P(r+1) }
def maxima(int64(E) P, float(N) W) -> (Y) { Y(r) max=! W(j) where j in P(r):P(r+1) }
""")


def cases(rows, entries, columns, table):
    P = torch.cat([torch.zeros(1), torch.randint(0, entries + 1, (rows - 1,)).sort().values, torch.tensor([entries])]).long()
    C, W, X = torch.randint(0, table, (entries,)), torch.randn(entries), torch.randn(table, columns)
    A, x = torch.sparse_csr_tensor(P, C, W, (rows, table)), X[:, 0].contiguous()
    bags = dict(mode="sum", include_last_offset=True)
    return {
        "bag / embedding_bag": (lambda: T.bag(P, C, X), lambda: F.embedding_bag(C, X, P, **bags)),
        "weighted / embedding_bag": (lambda: T.spmm(P, C, W, X), lambda: F.embedding_bag(C, X, P, per_sample_weights=W, **bags)),
        "spmm / csr @ dense": (lambda: T.spmm(P, C, W, X), lambda: A @ X),
        "spmv / csr @ vector": (lambda: T.spmv(P, C, W, x), lambda: A @ x),
        "sums / segment_reduce": (lambda: T.sums(P, W), lambda: torch.segment_reduce(W, "sum", offsets=P)),
        "maxima / segment_reduce": (lambda: T.maxima(P, W), lambda: torch.segment_reduce(W, "max", offsets=P)),
    }


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| rows x entries x columns | case | tc, us | torch, us | torch / tc |\n|---|---|---|---|---|")
    for sizes in ((100, 2000, 64, 500), (20000, 200000, 100, 20000), (50000, 1000000, 64, 100000)):
        for name, (ours, theirs) in cases(*sizes).items():
            torch.testing.assert_close(torch.as_tensor(ours()), theirs(), rtol=1e-5, atol=1e-5 * sizes[1] / sizes[0])
            pairs = [(seconds(ours), seconds(theirs)) for _ in range(7)]
            tc_time, torch_time = (statistics.median(times) * 1e6 for times in zip(*pairs, strict=True))
            print(f"| {' x '.join(map(str, sizes[:3]))} | {name} | {tc_time:.1f} | {torch_time:.1f} | {torch_time / tc_time:.2f} |", flush=True)


if __name__ == "__main__":
    main()
