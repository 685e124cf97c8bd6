#!/bin/sh
# Tests and measures the CUDA back end on a machine with a GPU, and writes report.md, report.json and logs.txt.
#
#   benchmarks/gpu.sh                                  # this tree, where it has been built; else build/gpu_bundle.tar
#   benchmarks/gpu.sh --bundle gpu_bundle.tar --out results
#   benchmarks/gpu.sh --only prelude,kernels,sgemm     # some sections; --list names them
#   benchmarks/gpu.sh --dry-run                        # without a GPU: everything but what one computes and how fast
#
# Other options: --minutes 8.7 (of all sections), --work FOLDER (where the bundle is unpacked). PYTHON names the Python to use: one with
# torch. Ends with 0 where every section is right.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
bundle="" work="" out="" rest=""
while [ $# -gt 0 ]; do
  case "$1" in
    --bundle) bundle=$2; shift 2 ;;
    --work) work=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --only|--minutes) rest="$rest $1 $2"; shift 2 ;;
    --dry-run|--list) rest="$rest $1"; shift ;;
    -h|--help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "gpu.sh: unknown option $1; --help lists them" >&2; exit 2 ;;
  esac
done

# The first Python that has torch, else any.
python=${PYTHON:-}
for candidate in "$root/.venv/bin/python" python3 python; do
  [ -n "$python" ] && break
  "$candidate" -c 'import torch' 2>/dev/null && python=$candidate
done
python=${python:-$(command -v python3 || command -v python || true)}
[ -n "$python" ] || { echo "gpu.sh: there is no Python: set PYTHON" >&2; exit 2; }

# A bundle that was asked for is used; else this tree, where this Python can import what was built; else the tree's bundle.
if [ -z "$bundle" ] && ! PYTHONPATH="$root/build/python" "$python" -c 'import tensor_comprehensions' 2>/dev/null; then
  bundle="$root/build/gpu_bundle.tar"
  [ -f "$bundle" ] || { echo "gpu.sh: nothing is built here for $python and there is no bundle: run make gpu-bundle where it is built" >&2; exit 2; }
fi
if [ -n "$bundle" ]; then
  work=${work:-$(mktemp -d "${TMPDIR:-/tmp}/tc_gpu.XXXXXX")}
  "$python" - "$bundle" "$work" <<'END'
import io, sys, tarfile
bundle, work = sys.argv[1:]
with tarfile.open(bundle) as outer:
    for name in ("libraries.tar.xz", "project.tar.xz"):
        with tarfile.open(fileobj=outer.extractfile(name), mode="r:xz") as inner:
            inner.extractall(work)
END
  root=$work
fi
out=${out:-$PWD/gpu_results}
mkdir -p "$out"
export PYTHONPATH="$root/benchmarks"
exec "$python" -m gpu_suite.run "$root" "$(cd "$out" && pwd)" $rest
