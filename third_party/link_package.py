"""Makes the package built in build/python importable from .venv: one .pth file that names the folder."""

import pathlib
import sysconfig

root = pathlib.Path(__file__).resolve().parent.parent
package_root = root / "build" / "python"
pth = pathlib.Path(sysconfig.get_paths()["purelib"]) / "tensor_comprehensions_build.pth"
text = f"{package_root}\n"
if not pth.exists() or pth.read_text() != text:
    pth.write_text(text)
