"""Takes the picture of docs/show.md with Chromium (`apt-get install chromium`): the page of a product with a bias, its first statement pinned."""

import pathlib
import subprocess
import tempfile

import numpy as np

import tensor_comprehensions as tc

TEXT = """
def layer(float(M,K) A, float(K,N) B, float(N) b) -> (Y) {
  C(m,n) +=! A(m,k) * B(k,n)
  Y(m,n) = fmax(C(m,n) + b(n), 0)
}
"""


def main():
    A, B, b = np.ones((256, 512), "f4"), np.ones((512, 512), "f4"), np.ones(512, "f4")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "layer.html"
        tc.compile(tc.define(TEXT).layer, A, B, b).show(page, A, B, b)
        picture = pathlib.Path(__file__).with_name("show.png")
        how = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        window = ["--window-size=1400,1300", f"--screenshot={picture}"]
        subprocess.run(["chromium", *how, *window, f"file://{page}#pin=0-0"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
