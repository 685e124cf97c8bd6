"""Compiles the Python extension of an unpacked bundle for the Python that runs this, with this machine's C++ compiler.

    python3 build_binding.py ROOT       # ROOT/package/tensor_comprehensions
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

# Standard libraries differ in which headers include which.
INCLUDED_FIRST = ("algorithm", "cstddef", "cstdint", "cstring", "functional", "memory", "optional", "string", "utility")
FLAGS = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w")


def compiler() -> str:
    """The C++ compiler: the one CXX names, g++ or clang++."""
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name
    sys.exit("there is no C++ compiler: set CXX")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr[-6000:]}")


def include_folders(root):
    """Where headers are. pybind11 is the bundle's, Python's headers are this machine's."""
    python = sysconfig.get_paths()["include"]
    if not (pathlib.Path(python) / "Python.h").exists():
        sys.exit(f"Python's headers are missing: {python}/Python.h (a package python3-dev has them)")
    return [root, root / "include", root / "python/bindings", python, sysconfig.get_paths()["platinclude"]]


def compile_all(root, objects):
    """The object files of the extension, compiled side by side."""
    command = [*compiler().split(), *FLAGS, *(word for name in INCLUDED_FIRST for word in ("-include", name))]
    command += [word for folder in include_folders(root) for word in ("-isystem", str(folder))]
    if json.loads((root / "manifest.json").read_text())["isl_is_archive"]:
        command.append("-DTC_ISL_BUNDLED")
    sources = sorted((root / "python/bindings").glob("*.cpp"), key=lambda path: -path.stat().st_size)
    jobs = {source: objects / f"{source.stem}.o" for source in sources}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda job: run([*command, "-c", str(job[0]), "-o", str(job[1])]), jobs.items()))
    return list(jobs.values())


def shared_standard_library():
    """The path of the C++ library that other extensions of the process use. Named on the command line, it is linked by compilers, too,
    that would else put a copy of it into the extension: streams of two copies end the process. Compilers that come without a shared
    one name no path; the loader knows the system's."""
    for name in ("libstdc++.so", "libstdc++.so.6"):
        found = subprocess.run([*compiler().split(), f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        if os.path.isabs(found):
            return [found]
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    known = subprocess.run([ldconfig, "-p"], capture_output=True, text=True).stdout if os.path.exists(ldconfig) else ""
    return re.findall(r"libstdc\+\+\.so\.6 .*x86-64.* => (\S+)", known)[:1]


def needed_by(library):
    """Names of the shared libraries that `library` says it needs."""
    dynamic = subprocess.run(["readelf", "-d", "-W", str(library)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic)


def link(root, objects, out):
    """isl stands before LLVM, which has an older isl of its own; the extension finds the bundle's libraries by itself."""
    archives = sorted((root / "archives").glob("libtc_*.a"))
    isl = root / "archives/libisl.a"
    whole = ["-Wl,--push-state,--whole-archive", str(isl), "-Wl,--pop-state"] if isl.exists() else []
    libraries = sorted((root / "lib").glob("*.so*"), key=lambda path: not path.name.startswith("libisl"))
    run([
        *compiler().split(), "-shared", "-o", str(out), *map(str, objects), "-Wl,--no-as-needed", *shared_standard_library(), *whole,
        "-Wl,--exclude-libs,ALL", "-Wl,--start-group", *map(str, archives), "-Wl,--end-group",
        "-Wl,--as-needed", *map(str, libraries), "-Wl,--allow-shlib-undefined",
        f"-Wl,--disable-new-dtags,-rpath,{root / 'lib'}", "-pthread", "-ldl",
    ])
    if not any(name.startswith(("libstdc++", "libc++")) for name in needed_by(out)):
        sys.exit(f"{compiler()} links a C++ library of its own into {out.name}, which ends processes that load torch: set CXX to a compiler that does not")


def build(root):
    """The folder to put on Python's path."""
    package, objects = root / "package/tensor_comprehensions", root / "objects"
    out = package / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    objects.mkdir(exist_ok=True)
    shutil.copytree(root / "python/tensor_comprehensions", package, dirs_exist_ok=True)
    link(root, compile_all(root, objects), out)
    return package.parent


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]).resolve()
    print(f"{compiler()}: {build(folder)}")
