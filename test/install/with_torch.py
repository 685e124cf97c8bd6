"""The first program of README.md, and a model compiled by the backend that the package makes known to torch."""

import pathlib
import re

import torch

readme = pathlib.Path(__file__).resolve().parents[2] / "README.md"
names = {}
exec(re.search(r"```python\n(.*?)```", readme.read_text(), re.S).group(1), names)
Y = names["Y"]
assert Y.shape == (256, 512) and (Y >= 0).all()
assert "environment" in names["tc"].__file__, names["tc"].__file__

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).eval()
x = torch.randn(3, 8)
with torch.no_grad():
    assert torch.allclose(torch.compile(model, backend="tc")(x), model(x), atol=1e-5)
