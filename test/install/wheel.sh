#!/usr/bin/env bash
# Makes the wheel from the objects of the build folder BUILD, installs it into an environment in FOLDER that has nothing else, and
# runs there what README.md promises: alone, with NumPy, and with torch, which is borrowed from the environment of PYTHON.
# No library is taken from this machine but those of the C library and the compiler.
#   wheel.sh PYTHON BUILD FOLDER
set -euo pipefail
python=$1 build=$2 folder=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
test=$root/test/install

rm -rf "$folder"
"$python" "$root/packaging/make_wheel.py" "$build" "$folder"
wheel=$(echo "$folder"/*.whl)
case $wheel in
  *-manylinux_2_*) ;;
  *) echo "$wheel: no tag of manylinux"; exit 1 ;;
esac
[ "$(stat -c %s "$wheel")" -le 100000000 ] || { echo "$wheel is larger than 100 MB"; exit 1; }
# The archive of the sources has all of them.
tar --list --file "$folder"/*.tar.gz | sed 's|^[^/]*/||' | sort > "$folder/archived"
git -C "$root" ls-files | sort | comm -23 - "$folder/archived" > "$folder/forgotten"
[ ! -s "$folder/forgotten" ] || { cat "$folder/forgotten"; exit 1; }

"$python" -m venv "$folder/environment"
"$folder/environment/bin/python" -m pip install --quiet "$wheel"

torch=$("$python" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)')
cd "$folder"
export TC_CACHE_MODE=off PATH=$folder/environment/bin:$PATH
python "$test/alone.py"
python -m pip install --quiet "$wheel[numpy]"
python "$test/with_numpy.py"
PYTHONPATH=$torch python "$test/with_torch.py"
