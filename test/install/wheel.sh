#!/usr/bin/env bash
# Builds the wheel from the objects of the build folder BUILD, installs it into an environment in FOLDER that has nothing
# else but what the wheel itself asks for, and runs there what README.md promises; torch is borrowed from the environment
# of PYTHON, which builds.
#   wheel.sh PYTHON BUILD FOLDER
set -euo pipefail
python=$1 build=$2 folder=$3
cd "$(dirname "$0")/../.."

export CMAKE_GENERATOR=Ninja  # that of the build folder
rm -rf "$folder"
"$python" -m pip wheel . --quiet --no-deps --no-build-isolation -C "build-dir=$build" --wheel-dir "$folder"
"$python" -m venv "$folder/environment"
"$folder/environment/bin/python" -m pip install --quiet "$folder"/*.whl

test=$PWD/test/install
torch=$("$python" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)')
cd "$folder"
export TC_CACHE_MODE=off PATH=$folder/environment/bin:$PATH
python "$test/with_numpy.py"
PYTHONPATH=$torch python "$test/with_torch.py"
for program in tc_cache tc_autotune tc_libraries; do "$program" --help > /dev/null; done
