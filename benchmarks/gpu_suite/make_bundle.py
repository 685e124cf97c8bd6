"""Packs what a machine with a GPU, a C++ compiler and another Python needs to test and measure this tree into one archive.

    make gpu-bundle                     # build/gpu_bundle.tar

Libraries of this system travel along, but for those of the compiler and the C library. Two big ones that LLVM names and kernels never
reach (libz3, libxml2) are replaced by stand-ins with the same symbols. The libraries are packed once and kept while they stay the same.
"""

import hashlib
import io
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LIMIT = 60 << 20
PROGRAMS = ("tc_check_prelude", "tc_check_kernels", "gpu_runtime_test", "gpu_limits", "gpu_units", "grid_model")
FAKE_DRIVER = BUILD / "test/cuda/libtc_fake_driver.so"
SYSTEM = ("libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64", "linux-vdso", "libpthread", "libdl", "librt")
STAND_INS = {"libz3": "Z3_", "libxml2": "xml"}
FOLDERS = {
    "python/bindings": ("*.cpp", "*.h"),
    "python/tensor_comprehensions": ("**/*.py", "**/*.pyi", "py.typed"),
    "benchmarks/suite": ("*.py",),
    "benchmarks/suite/cases": ("*.py",),
    "benchmarks/gpu_suite": ("*.py",),
    "test/gpu": ("*.py",),
    "test/filetests/programs": ("*/*.tc",),
}


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stem(name):
    return name.partition(".so")[0]


def libraries_of(files):
    """The shared libraries that files need, by name; those of the compiler and of the C library are everywhere."""
    found = {}
    for file in files:
        for name, path in re.findall(r"(\S+) => (/\S+)", output_of("ldd", file)):
            if stem(name) not in SYSTEM:
                found[name] = pathlib.Path(path)
    return found


def wanted_symbols(library, prefix):
    """Names, versions and kinds of what `library` takes from elsewhere and begins with `prefix`."""
    wanted = []
    for line in output_of("readelf", "--dyn-syms", "-W", library).splitlines():
        match = re.search(rf"\s(FUNC|OBJECT|NOTYPE)\s.*\sUND ({prefix}\w*)(?:@@?(\S+))?", line)
        if match:
            wanted.append((match[2], match[3] or "", match[1]))
    return sorted(wanted)


def make_stand_in(name, symbols, folder):
    """A library `name` with `symbols`, each of which ends the process when it is called."""
    source, script, out = folder / "stand_in.c", folder / "versions", folder / name
    source.write_text("#include <stdlib.h>\n" + "".join(f"void {symbol}(void) {{ abort(); }}\n" for symbol, _, _ in symbols))
    versions = {version for _, version, _ in symbols if version}
    nodes = [f"{v} {{ global: {' '.join(s + ';' for s, of, _ in symbols if of == v)} }};\n" for v in sorted(versions)]
    script.write_text("".join(nodes))
    versioned = [f"-Wl,--version-script={script}"] if nodes else []
    subprocess.run(["gcc", "-shared", "-fPIC", "-Os", f"-Wl,-soname,{name}", *versioned, "-o", out, source], check=True)
    return out


def needed_without(libraries, replaced):
    """`libraries` without those that only the replaced ones need."""
    kept = {name: path for name, path in libraries.items() if name not in replaced}
    while True:
        needed = set()
        for path in [*kept.values(), *ours()]:
            needed.update(re.findall(r"NEEDED\s+(\S+)", output_of("objdump", "-p", path)))
        unneeded = [name for name in kept if name not in needed]
        if not unneeded:
            return kept
        for name in unneeded:
            del kept[name]


def ours():
    return [BUILD / "bin" / program for program in PROGRAMS] + [BUILD / "lib/libtensor_comprehensions.so"]


def digest_of(paths):
    total = hashlib.sha256()
    for path in paths:
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


def pack_libraries(folder):
    """The archive of shared libraries, made anew only where one of them has changed."""
    libraries = libraries_of(ours())
    replaced = [name for name in libraries if stem(name) in STAND_INS]
    kept = needed_without(libraries, replaced)
    archive = BUILD / "gpu_bundle" / f"libraries-{digest_of([*kept.values(), pathlib.Path(__file__)])}.tar.xz"
    if archive.exists():
        return archive
    archive.parent.mkdir(exist_ok=True)
    for old in archive.parent.glob("libraries-*"):
        old.unlink()
    files = []
    for name, path in kept.items():
        shutil.copyfile(path, folder / name)
        subprocess.run(["strip", "--strip-unneeded", folder / name], check=True)
        files.append(folder / name)
    for name in replaced:
        symbols = sum((wanted_symbols(path, STAND_INS[stem(name)]) for path in kept.values()), [])
        files.append(make_stand_in(name, sorted(set(symbols)), folder))
    with tarfile.open(archive, "w:xz", preset=6) as tar:
        for file in files:
            tar.add(file, f"lib/{file.name}")
    return archive


def headers(tar):
    """The headers that the binding includes: ours, isl's, DLPack's and pybind11's."""
    for header in sorted((ROOT / "tc").rglob("*.h")):
        tar.add(header, f"include/{header.relative_to(ROOT)}")
    cache = (BUILD / "CMakeCache.txt").read_text()
    dlpack = pathlib.Path(re.search(r"TC_DLPACK_INCLUDE:\w+=(.+)", cache)[1])
    isl = ROOT / ".deps/isl/include"
    if not isl.exists():
        isl = pathlib.Path(re.search(r"TC_ISL_INCLUDE:\w+=(.+)", cache)[1])
    import pybind11

    for name, folder in (("dlpack", dlpack), ("isl", isl), ("pybind11", pathlib.Path(pybind11.get_include()))):
        tar.add(folder / name, f"include/{name}")


def archives():
    """Our static libraries, and isl's where it is one."""
    isl = ROOT / ".deps/isl/lib/libisl.a"
    return sorted(BUILD.glob("tc/*/libtc_*.a")) + ([isl] if isl.exists() else [])


def add_stripped(tar, path, name, folder):
    copy = folder / path.name
    shutil.copy(path, copy)
    subprocess.run(["strip", "--strip-debug" if path.suffix == ".a" else "--strip-unneeded", copy], check=True)
    tar.add(copy, name)


def manifest(libraries):
    def commit():
        try:
            return output_of("git", "-C", str(ROOT), "describe", "--always", "--dirty").strip()
        except (OSError, subprocess.CalledProcessError):
            return "unknown"

    return {
        "commit": commit(),
        "compiler": output_of("c++", "--version").splitlines()[0],
        "built_with_python": platform.python_version(),
        "libraries": libraries,
        "isl_is_archive": (ROOT / ".deps/isl/lib/libisl.a").exists(),
    }


def sources():
    """Our files of FOLDERS that travel as they are."""
    return [file for name, patterns in FOLDERS.items() for pattern in patterns for file in sorted((ROOT / name).glob(pattern))]


def pack_project(path, folder, libraries):
    """Our own part: programs, static libraries, headers, sources of the binding, tests, benchmarks."""
    with tarfile.open(path, "w:xz", preset=6) as tar:
        for program in PROGRAMS:
            add_stripped(tar, BUILD / "bin" / program, f"bin/{program}", folder)
        add_stripped(tar, FAKE_DRIVER, f"bin/{FAKE_DRIVER.name}", folder)
        for archive in archives():
            add_stripped(tar, archive, f"archives/{archive.name}", folder)
        headers(tar)
        for file in sources():
            tar.add(file, str(file.relative_to(ROOT)))
        content = json.dumps(manifest(libraries), indent=1).encode()
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))


def main():
    bundle = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else BUILD / "gpu_bundle.tar"
    missing = [str(path) for path in [*ours(), FAKE_DRIVER] if not path.exists()]
    if missing or sysconfig.get_platform() != "linux-x86_64":
        sys.exit(f"cannot make a bundle: missing {', '.join(missing) or 'a Linux x86-64 machine'}; run make build")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "libraries").mkdir()
        libraries = pack_libraries(folder / "libraries")
        names = [member.name for member in tarfile.open(libraries).getmembers()]
        pack_project(folder / "project.tar.xz", folder, names)
        with tarfile.open(bundle, "w") as tar:
            tar.add(libraries, "libraries.tar.xz")
            tar.add(folder / "project.tar.xz", "project.tar.xz")
    size = bundle.stat().st_size
    print(f"{bundle}: {size / (1 << 20):.1f} MiB")
    if size > LIMIT:
        sys.exit(f"the bundle is larger than {LIMIT >> 20} MiB")


if __name__ == "__main__":
    main()
