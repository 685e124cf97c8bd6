"""What a call from Python costs the host, beside torch's; and the limits of the device."""

import torch

import tensor_comprehensions as tc
from gpu_suite.timing import host_seconds

TEXT = """
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }
"""


def functions(a, b, x, y, through_inductor: bool) -> dict:
    """Calls by name. Those with `out` allocate nothing."""
    module = tc.define(TEXT)
    product, total = torch.empty_like(a), torch.empty_like(x)
    mm, add = tc.compile(module.mm, a, b), tc.compile(module.add, x, y)
    calls = {
        "T.mm(A, B)": lambda: module.mm(a, b),
        "T.mm(A, B, out=C)": lambda: module.mm(a, b, out=product),
        "executable(A, B, out=C)": lambda: mm(a, b, out=product),
        "torch.mm(A, B)": lambda: torch.mm(a, b),
        "torch.mm(A, B, out=C)": lambda: torch.mm(a, b, out=product),
        "T.add(X, Y)": lambda: module.add(x, y),
        "executable(X, Y, out=Z)": lambda: add(x, y, out=total),
        "torch.add(X, Y)": lambda: torch.add(x, y),
        "torch.add(X, Y, out=Z)": lambda: torch.add(x, y, out=total),
    }
    if through_inductor:
        fused = torch.compile(torch.add, dynamic=False)
        calls["compiled torch.add"] = lambda: fused(x, y)
    return calls


def run(results, dry: bool) -> None:
    """A row for each call: seconds of the host."""
    device = "cpu" if dry else "cuda"
    a, b = torch.randn(16, 16, device=device), torch.randn(16, 16, device=device)
    x, y = torch.randn(256, device=device), torch.randn(256, device=device)
    for name, function in functions(a, b, x, y, not dry).items():
        if results.tried(name):
            continue
        results.begin(name)
        row = {"case": name, "status": "ok"}
        try:
            function()
            if not dry:
                function()
                row["host"] = host_seconds(function)._asdict()
        except Exception as error:  # One call that fails leaves the others.
            row["status"] = f"failed: {(str(error) or type(error).__name__).splitlines()[0][:300]}"
        print(name, row["status"], flush=True)
        results.end(row)
