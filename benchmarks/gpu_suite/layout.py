"""Where things are: in an unpacked bundle, or in this tree with its build."""

import dataclasses
import os
import pathlib
import sys
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Layout:
    """Folders of one installation."""

    root: pathlib.Path
    programs: pathlib.Path  # compiled ones
    package: pathlib.Path  # holds tensor_comprehensions
    libraries: Optional[pathlib.Path]  # those that travelled along
    fake_driver: pathlib.Path
    is_bundle: bool

    def environment(self, dry: bool) -> dict:
        """What sections find in their environment. Libraries that travelled along are named for those who start compiled programs;
        Python itself has some of them in another version."""
        variables = {**os.environ, "TC_CACHE_MODE": "off", "PYTHONUNBUFFERED": "1"}
        variables["PYTHONPATH"] = os.pathsep.join([str(self.package), str(self.root / "benchmarks")])
        if dry:
            variables["TC_CUDA_DRIVER"] = str(self.fake_driver)
        if self.libraries:
            variables["TC_BUNDLE_LIBRARIES"] = str(self.libraries)
        return variables


def nvrtc() -> Optional[str]:
    """The compiler of kernels among the packages of this Python, the newest; None without."""
    found = [str(path) for folder in sys.path for path in pathlib.Path(folder or ".").glob("nvidia/cu*/lib/libnvrtc.so.1[0-9]")]
    return max(found, key=lambda path: int(path.rpartition(".")[2]), default=None)


def with_libraries(variables: dict) -> dict:
    """An environment for compiled programs: the bundle's libraries first, and the compiler of kernels that Python would find."""
    folders = [variables.get("TC_BUNDLE_LIBRARIES"), variables.get("LD_LIBRARY_PATH")]
    result = {**variables, "LD_LIBRARY_PATH": os.pathsep.join(folder for folder in folders if folder)}
    if "TC_NVRTC" not in result and nvrtc():
        result["TC_NVRTC"] = nvrtc()
    return result


def of_bundle(root: pathlib.Path) -> Layout:
    return Layout(root, root / "bin", root / "package", root / "lib", root / "bin/libtc_fake_driver.so", True)


def of_tree(root: pathlib.Path) -> Layout:
    build = root / "build"
    return Layout(root, build / "bin", build / "python", None, build / "test/cuda/libtc_fake_driver.so", False)


def find(root: pathlib.Path) -> Layout:
    """A bundle has a manifest."""
    return of_bundle(root) if (root / "manifest.json").exists() else of_tree(root)
